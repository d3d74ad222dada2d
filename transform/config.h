// Settings of a PassContext for the passes that run in it.
//
// A setting is registered once, where it is read:
//
//   BATON_REGISTER_CONFIG(kMaxDepth, int64_t, "relay.FuseOps.max_depth", 256,
//                         "Most operators in one fused function.");
//   ...
//   const int64_t max_depth = context.Get(kMaxDepth);
//
// and set by name:
//
//   PassContext({.config = {{"relay.FuseOps.max_depth", 8}}})
//   --config=relay.FuseOps.max_depth=8
//
// An unknown name or a value of the wrong type is an error when the context is
// made.

#ifndef BATON_TRANSFORM_CONFIG_H_
#define BATON_TRANSFORM_CONFIG_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/registry.h"

namespace baton {

// A registered setting.
struct ConfigInfo {
  std::string name;
  std::string type_name;
  AttrValue default_value;
  std::string doc;
  absl::Status (*check)(const AttrValue& value);
};

// All registered settings, sorted by name. An error if a name was registered
// twice.
absl::StatusOr<std::vector<ConfigInfo>> ListConfigs();

// The registry of settings; a test can override an entry with ScopedOverride.
Registry<ConfigInfo>& ConfigRegistry();

// OK if `name` is registered and accepts `value`. The error names the nearest
// known settings and lists all.
absl::Status CheckConfig(absl::string_view name, const AttrValue& value);

// The key of a registered setting of type T.
template <typename T>
class ConfigKey {
 public:
  // Registers the setting for the rest of the process. If two settings have one
  // name, setting it is an error (base/registry.h).
  ConfigKey(absl::string_view name, T default_value, absl::string_view doc,
            CodeLocation location = CodeLocation::Current());

  const std::string& name() const { return name_; }
  const T& default_value() const { return default_value_; }

 private:
  std::string name_;
  T default_value_;
};

#define BATON_REGISTER_CONFIG(key, type, name, default_value, doc) \
  const ::baton::ConfigKey<type> key(name, default_value, doc)

// Implementation details below.

namespace internal {
void RegisterConfig(ConfigInfo info, CodeLocation location);
}  // namespace internal

template <typename T>
ConfigKey<T>::ConfigKey(absl::string_view name, T default_value,
                        absl::string_view doc, CodeLocation location)
    : name_(name), default_value_(std::move(default_value)) {
  internal::RegisterConfig(
      {name_, AttrTraits<T>::Name(), AttrTraits<T>::ToValue(default_value_),
       std::string(doc),
       [](const AttrValue& value) {
         T ignored{};
         return AttrTraits<T>::FromValue(value, &ignored);
       }},
      location);
}

}  // namespace baton

#endif  // BATON_TRANSFORM_CONFIG_H_
