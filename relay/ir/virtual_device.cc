#include "baton/relay/ir/virtual_device.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/status_macros.h"

namespace baton::relay {
namespace {

// The kinds of targets of the reference, the usual one of a device first.
struct TargetKind {
  absl::string_view name;
  int64_t device_type;
  std::initializer_list<absl::string_view> keys;
};
constexpr TargetKind kTargetKinds[] = {
    {"llvm", 1, {"cpu"}},
    {"c", 1, {"cpu"}},
    {"stackvm", 1, {"cpu"}},
    {"cuda", 2, {"cuda", "gpu"}},
    {"nvptx", 2, {"cuda", "gpu"}},
    {"opencl", 4, {"opencl", "gpu"}},
    {"vulkan", 7, {"vulkan", "gpu"}},
    {"metal", 8, {"metal", "gpu"}},
    {"rocm", 10, {"rocm", "gpu"}},
    {"ext_dev", 12, {}},
    {"webgpu", 15, {"webgpu", "gpu"}},
    {"hexagon", 16, {"hexagon", "cpu"}},
};

// The names of devices; those of the others are their kinds of targets.
constexpr std::pair<absl::string_view, int64_t> kDeviceNames[] = {{"cpu", 1},
                                                                  {"gpu", 2}};

std::optional<int64_t> DeviceTypeOfName(absl::string_view name) {
  for (const auto& [known, type] : kDeviceNames) {
    if (name == known) return type;
  }
  for (const TargetKind& kind : kTargetKinds) {
    if (name == kind.name) return kind.device_type;
  }
  return std::nullopt;
}

// True if `value` is a dictionary with exactly these keys, in this order.
bool HasKeys(const AttrValue& value,
             std::initializer_list<absl::string_view> keys) {
  const AttrMap* map = value.As<AttrMap>();
  return map != nullptr &&
         std::equal(map->begin(), map->end(), keys.begin(), keys.end(),
                    [](const std::pair<std::string, AttrValue>& entry,
                       absl::string_view key) { return entry.first == key; });
}

template <typename T>
bool Is(const AttrValue& map, absl::string_view key) {
  return EntryOf(map, key).As<T>() != nullptr;
}

bool AreStrings(const AttrValue& value) {
  const AttrList* list = value.As<AttrList>();
  return list != nullptr &&
         std::all_of(list->begin(), list->end(), [](const AttrValue& item) {
           return item.As<std::string>() != nullptr;
         });
}

// True if `value` is a target with valid hosts.
bool IsTarget(const AttrValue& value) {
  const AttrValue* target = &value;
  do {
    if (!HasKeys(*target,
                 {"attrs", "features", "host", "keys", "kind", "tag"})) {
      return false;
    }
    const AttrValue& kind = EntryOf(*target, "kind");
    if (!Is<AttrMap>(*target, "attrs") || !Is<AttrMap>(*target, "features") ||
        !Is<std::string>(*target, "tag") ||
        !AreStrings(EntryOf(*target, "keys")) ||
        !HasKeys(kind, {"default_device_type", "default_keys", "name"}) ||
        !Is<int64_t>(kind, "default_device_type") ||
        !Is<std::string>(kind, "name") ||
        !AreStrings(EntryOf(kind, "default_keys"))) {
      return false;
    }
    target = &EntryOf(*target, "host");
  } while (!target->is_none());
  return true;
}

}  // namespace

const AttrValue& EntryOf(const AttrValue& map, absl::string_view key) {
  const AttrMap& entries = *map.As<AttrMap>();
  return std::find_if(entries.begin(), entries.end(),
                      [key](const auto& entry) { return entry.first == key; })
      ->second;
}

bool IsVirtualDevice(const AttrValue& value) {
  if (!HasKeys(value, {"device_type_int", "memory_scope", "target",
                       "virtual_device_id"}) ||
      !Is<int64_t>(value, "device_type_int") ||
      !Is<std::string>(value, "memory_scope") ||
      !Is<int64_t>(value, "virtual_device_id")) {
    return false;
  }
  const AttrValue& target = EntryOf(value, "target");
  return target.is_none() || IsTarget(target);
}

absl::StatusOr<VirtualDevice> VirtualDevice::FromValue(const AttrValue& value) {
  VirtualDevice device;
  if (value.is_none()) return device;
  if (const std::string* name = value.As<std::string>()) {
    const std::vector<absl::string_view> parts = absl::StrSplit(*name, ':');
    const std::optional<int64_t> type = DeviceTypeOfName(parts[0]);
    device.id = 0;
    if (!type.has_value() || parts.size() > 2 ||
        (parts.size() == 2 &&
         (!absl::SimpleAtoi(parts[1], &device.id) || device.id < 0))) {
      return absl::InvalidArgumentError(
          absl::StrCat("`", *name, "` is not the name of a device"));
    }
    device.device_type = *type;
    return device;
  }
  const AttrMap* map = value.As<AttrMap>();
  if (map == nullptr) return ExpectedError("a device", value);
  for (const auto& [key, item] : *map) {
    if (key == "device_type_int") {
      BATON_RETURN_IF_ERROR(
          AttrTraits<int64_t>::FromValue(item, &device.device_type));
    } else if (key == "virtual_device_id") {
      BATON_RETURN_IF_ERROR(AttrTraits<int64_t>::FromValue(item, &device.id));
    } else if (key == "memory_scope") {
      BATON_RETURN_IF_ERROR(
          AttrTraits<std::string>::FromValue(item, &device.memory_scope));
    } else if (key == "target") {
      device.target = item;
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat("`", key, "` is not a property of a device"));
    }
  }
  if (const std::string* text = device.target.As<std::string>()) {
    BATON_ASSIGN_OR_RETURN(device.target, MakeTargetValue(*text, AttrValue()));
  }
  if (device.target.is_none()) return device;
  if (!IsTarget(device.target)) return ExpectedError("a target", device.target);
  const int64_t type = DeviceTypeOf(device.target);
  if (device.device_type == kAnyType) device.device_type = type;
  if (device.device_type != type) {
    return absl::InvalidArgumentError(
        absl::StrCat("a device of type ", device.device_type,
                     " has a target for devices of type ", type));
  }
  return device;
}

AttrValue VirtualDevice::ToValue() const {
  if (IsUnconstrained()) return AttrValue();
  return AttrMap{{"device_type_int", device_type},
                 {"memory_scope", memory_scope},
                 {"target", target},
                 {"virtual_device_id", id}};
}

std::string VirtualDevice::ToString() const {
  std::vector<std::string> parts;
  if (device_type != kAnyType) {
    parts.push_back(absl::StrCat("device_type=", device_type));
  }
  if (id != kAnyId) parts.push_back(absl::StrCat("virtual_device_id=", id));
  if (!target.is_none()) {
    parts.push_back(absl::StrCat("target=", TargetKindOf(target)));
  }
  if (!memory_scope.empty()) {
    parts.push_back(absl::StrCat("memory_scope='", memory_scope, "'"));
  }
  return absl::StrCat("VirtualDevice(",
                      parts.empty() ? "?" : absl::StrJoin(parts, ", "), ")");
}

std::optional<VirtualDevice> Join(const VirtualDevice& a,
                                  const VirtualDevice& b) {
  VirtualDevice joined = WithDefaults(a, b);
  return joined == WithDefaults(b, a) ? std::optional(std::move(joined))
                                      : std::nullopt;
}

VirtualDevice WithDefaults(VirtualDevice device,
                           const VirtualDevice& defaults) {
  if (device.device_type == VirtualDevice::kAnyType) {
    device.device_type = defaults.device_type;
  }
  if (device.id == VirtualDevice::kAnyId) device.id = defaults.id;
  // A target stays with its device.
  if (device.target.is_none() && device.device_type == defaults.device_type) {
    device.target = defaults.target;
  }
  if (device.memory_scope.empty()) device.memory_scope = defaults.memory_scope;
  return device;
}

absl::StatusOr<AttrValue> MakeTargetValue(absl::string_view text,
                                          const AttrValue& host) {
  const std::vector<absl::string_view> words =
      absl::StrSplit(text, ' ', absl::SkipEmpty());
  const absl::string_view name = words.empty() ? "" : words[0];
  const auto* const kind = std::find_if(
      std::begin(kTargetKinds), std::end(kTargetKinds),
      [name](const TargetKind& known) { return known.name == name; });
  if (kind == std::end(kTargetKinds)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "unknown kind of target `", name, "`; known are ",
        absl::StrJoin(kTargetKinds, ", ",
                      [](std::string* out, const TargetKind& known) {
                        absl::StrAppend(out, known.name);
                      })));
  }
  AttrMap attrs;
  for (size_t i = 1; i < words.size(); ++i) {
    absl::string_view word = words[i];
    while (!word.empty() && word[0] == '-') word.remove_prefix(1);
    const std::pair<absl::string_view, absl::string_view> setting =
        absl::StrSplit(word, absl::MaxSplits('=', 1));
    int64_t number = 0;
    AttrValue value;
    if (setting.second.empty()) {
      value = true;
    } else if (absl::SimpleAtoi(setting.second, &number)) {
      value = number;
    } else {
      value = setting.second;
    }
    attrs.emplace_back(std::string(setting.first), std::move(value));
  }
  AttrList keys;
  for (const absl::string_view key : kind->keys) keys.push_back(key);
  return AttrValue(AttrMap{
      {"attrs", std::move(attrs)},
      {"features", AttrMap()},
      {"host", host},
      {"keys", keys},
      {"kind", AttrMap{{"default_device_type", kind->device_type},
                       {"default_keys", keys},
                       {"name", kind->name}}},
      {"tag", ""},
  });
}

AttrValue WithHost(AttrValue target, const AttrValue& host) {
  AttrMap map = *target.As<AttrMap>();
  for (auto& [key, value] : map) {
    if (key == "host") value = host;
  }
  return map;
}

int64_t DeviceTypeOf(const AttrValue& target) {
  return *EntryOf(EntryOf(target, "kind"), "default_device_type").As<int64_t>();
}

std::string TargetKindOf(const AttrValue& target) {
  return *EntryOf(EntryOf(target, "kind"), "name").As<std::string>();
}

absl::string_view DefaultTargetKind(int64_t device_type) {
  for (const TargetKind& kind : kTargetKinds) {
    if (kind.device_type == device_type) return kind.name;
  }
  return "";
}

}  // namespace baton::relay
