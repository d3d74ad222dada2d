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
#include "baton/base/attr_value.h"
#include "baton/base/near_names.h"

namespace baton {
namespace {

struct Entry {
  ConfigInfo info;
  bool conflicting = false;  // registered again, and differently
};

struct Registry {
  std::mutex mutex;
  std::map<std::string, Entry> entries;
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
  const auto [it, is_new] = registry.entries.try_emplace(info.name);
  Entry& entry = it->second;
  if (is_new) {
    entry.info = std::move(info);
  } else if (entry.info.type_name != info.type_name ||
             entry.info.default_value != info.default_value) {
    entry.conflicting = true;
  }
}

}  // namespace internal

std::vector<ConfigInfo> ListConfigs() {
  Registry& registry = GlobalRegistry();
  const std::lock_guard<std::mutex> lock(registry.mutex);
  std::vector<ConfigInfo> result;
  for (const auto& [name, entry] : registry.entries) {
    result.push_back(entry.info);
  }
  return result;
}

absl::Status CheckConfig(absl::string_view name, const AttrValue& value) {
  const auto error = [name](const auto&... what) {
    return absl::InvalidArgumentError(
        absl::StrCat("config ", name, ": ", what...));
  };
  Registry& registry = GlobalRegistry();
  const std::lock_guard<std::mutex> lock(registry.mutex);
  const auto it = registry.entries.find(std::string(name));
  if (it == registry.entries.end()) {
    std::vector<std::string> names;
    for (const auto& [known, entry] : registry.entries) names.push_back(known);
    return error("there is no such setting", DidYouMean(name, names),
                 " (known: ", absl::StrJoin(names, ", "), ")");
  }
  if (it->second.conflicting) {
    return error("registered twice, with different types or defaults");
  }
  const absl::Status status = it->second.info.check(value);
  return status.ok() ? status : error(status.message());
}

}  // namespace baton
