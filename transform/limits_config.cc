#include "baton/transform/limits_config.h"

#include <cstdint>

#include "baton/base/attr_value.h"
#include "baton/base/limits.h"
#include "baton/transform/config.h"

namespace baton {
namespace {

struct Settings {
  ConfigKey<int64_t> max_rank{
      "limits.max_rank", Limits().max_rank,
      "The most axes that a tensor may have: a program that asks for more is "
      "refused."};
  ConfigKey<int64_t> max_fields{
      "limits.max_fields", Limits().max_fields,
      "The most fields of a tuple whose number of fields is an attribute, such "
      "as the parts of a split."};
  ConfigKey<int64_t> max_tensor_bytes{
      "limits.max_tensor_bytes", Limits().max_tensor_bytes,
      "The most bytes that one tensor may take when a program is evaluated or "
      "its constants are folded."};
};

const Settings& LimitSettings() {
  static const auto* const settings = new Settings;
  return *settings;
}

// Registered before any context is made.
[[maybe_unused]] const Settings& registered_settings = LimitSettings();

void Read(const AttrMap& config, const ConfigKey<int64_t>& key,
          int64_t* value) {
  // The last one counts, as on a command line.
  for (const auto& [name, given] : config) {
    if (name == key.name()) {
      AttrTraits<int64_t>::FromValue(given, value).IgnoreError();
    }
  }
}

}  // namespace

Limits LimitsOf(const AttrMap& config) {
  Limits limits;
  const Settings& settings = LimitSettings();
  Read(config, settings.max_rank, &limits.max_rank);
  Read(config, settings.max_fields, &limits.max_fields);
  Read(config, settings.max_tensor_bytes, &limits.max_tensor_bytes);
  return limits;
}

}  // namespace baton
