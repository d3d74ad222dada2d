#include "baton/transform/config.h"

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "baton/ir/attr_value.h"
#include "baton/ir/diagnostics.h"

namespace baton {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, ConfigInfo, std::less<>> infos;
};

Registry& GlobalRegistry() {
  static auto* const registry = new Registry;
  return *registry;
}

}  // namespace

namespace internal {

void RegisterConfig(ConfigInfo info) {
  Registry& registry = GlobalRegistry();
  const std::lock_guard<std::mutex> lock(registry.mutex);
  std::string name = info.name;
  registry.infos.insert_or_assign(std::move(name), std::move(info));
}

}  // namespace internal

std::vector<ConfigInfo> ListConfigs() {
  Registry& registry = GlobalRegistry();
  const std::lock_guard<std::mutex> lock(registry.mutex);
  std::vector<ConfigInfo> result;
  for (const auto& [name, info] : registry.infos) result.push_back(info);
  return result;
}

absl::Status CheckConfig(absl::string_view name, const AttrValue& value) {
  std::vector<std::string> names;
  for (const ConfigInfo& info : ListConfigs()) {
    if (info.name == name) {
      absl::Status status = info.check(value);
      if (status.ok()) return status;
      return absl::Status(status.code(), absl::StrCat("config ", name, ": ",
                                                      status.message()));
    }
    names.push_back(info.name);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "config ", name, ": there is no such setting", DidYouMean(name, names),
      " (known: ", absl::StrJoin(names, ", "), ")"));
}

}  // namespace baton
