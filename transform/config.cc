#include "baton/transform/config.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/registry.h"
#include "baton/base/status_macros.h"

namespace baton {

Registry<ConfigInfo>& ConfigRegistry() {
  static auto& kRegistry = *Registry<ConfigInfo>::NewGlobal("config");
  return kRegistry;
}

namespace internal {

void RegisterConfig(ConfigInfo info, CodeLocation location) {
  const std::string name = info.name;
  ConfigRegistry().Register(name, std::move(info), location);
}

}  // namespace internal

absl::StatusOr<std::vector<ConfigInfo>> ListConfigs() {
  BATON_ASSIGN_OR_RETURN(const std::vector<const ConfigInfo*> configs,
                         ConfigRegistry().List());
  std::vector<ConfigInfo> result;
  for (const ConfigInfo* config : configs) result.push_back(*config);
  return result;
}

absl::Status CheckConfig(absl::string_view name, const AttrValue& value) {
  const Registry<ConfigInfo>& registry = ConfigRegistry();
  const auto error = [name](const auto&... what) {
    return absl::InvalidArgumentError(
        absl::StrCat("config ", name, ": ", what...));
  };
  const ConfigInfo* config = registry.Find(name);
  if (config == nullptr) {
    BATON_RETURN_IF_ERROR(registry.CheckUnique(name));
    return error("there is no such setting", registry.Suggestion(name),
                 " (known: ", absl::StrJoin(registry.Names(), ", "), ")");
  }
  const absl::Status status = config->check(value);
  return status.ok() ? status : error(status.message());
}

}  // namespace baton
