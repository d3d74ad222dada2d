#include "baton/transform/limits_config.h"

#include <cstdint>

#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/limits.h"
#include "baton/transform/config.h"

namespace baton {
namespace {

struct Settings {
  ConfigKey<int64_t> max_rank{
      "limits.max_rank", Limits().max_rank,
      "The most axes that a tensor may have: a program with more is "
      "refused."};
  ConfigKey<int64_t> max_fields{
      "limits.max_fields", Limits().max_fields,
      "The most fields of a tuple whose number of fields is an attribute, such "
      "as the parts of a split."};
  ConfigKey<int64_t> max_tensor_bytes{
      "limits.max_tensor_bytes", Limits().max_tensor_bytes,
      "The most bytes that one tensor may take when a program is evaluated or "
      "its constants are folded."};
  ConfigKey<int64_t> max_type_parts{
      "limits.max_type_parts", Limits().max_type_parts,
      "The most parts of the types of a module, written out: types that share "
      "their parts can be much larger than the program. Types of few parts do "
      "not count."};
  ConfigKey<int64_t> max_copied_nodes{
      "limits.max_copied_nodes", Limits().max_copied_nodes,
      "The most nodes that a pass may add by copying parts of a program: to a "
      "module of Relay, functions into those that call them; to a function of "
      "loops, their bodies."};
  ConfigKey<int64_t> max_calls{
      "limits.max_calls", Limits().max_calls,
      "The most calls of functions when a program is evaluated."};
  ConfigKey<int64_t> max_stream_bytes{
      "limits.max_stream_bytes", Limits().max_stream_bytes,
      "The most bytes of an input that is no regular file."};
};

const Settings& LimitSettings() {
  static const auto* const settings = new Settings;
  return *settings;
}

// Registered before any context is made.
[[maybe_unused]] const Settings& registered_settings = LimitSettings();

// Calls `fn` for each setting and the limit that it sets.
template <typename Fn>
void ForEachLimit(Limits& limits, Fn&& fn) {
  const Settings& settings = LimitSettings();
  fn(settings.max_rank, limits.max_rank);
  fn(settings.max_fields, limits.max_fields);
  fn(settings.max_tensor_bytes, limits.max_tensor_bytes);
  fn(settings.max_type_parts, limits.max_type_parts);
  fn(settings.max_copied_nodes, limits.max_copied_nodes);
  fn(settings.max_calls, limits.max_calls);
  fn(settings.max_stream_bytes, limits.max_stream_bytes);
}

void Read(const AttrMap& config, const ConfigKey<int64_t>& key,
          int64_t& value) {
  // The last one counts, as on a command line.
  for (const auto& [name, given] : config) {
    if (name == key.name()) {
      AttrTraits<int64_t>::FromValue(given, &value).IgnoreError();
    }
  }
}

}  // namespace

Limits LimitsOf(const AttrMap& config) {
  Limits limits;
  ForEachLimit(limits, [&](const ConfigKey<int64_t>& key, int64_t& limit) {
    Read(config, key, limit);
  });
  return limits;
}

bool IsLimit(absl::string_view name) {
  Limits limits;
  bool found = false;
  ForEachLimit(limits, [&](const ConfigKey<int64_t>& key, int64_t& /*limit*/) {
    found = found || key.name() == name;
  });
  return found;
}

}  // namespace baton
