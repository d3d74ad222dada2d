#include "baton/relay/transform/device_domains.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/status_macros.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/virtual_device.h"

namespace baton::relay {

absl::StatusOr<DeviceConfig> DeviceConfig::Make(std::vector<AttrValue> targets,
                                                bool complete,
                                                int64_t fallback_device_type) {
  DeviceConfig config;
  config.complete_ = complete;
  if (targets.empty()) {
    BATON_ASSIGN_OR_RETURN(targets.emplace_back(),
                           MakeTargetValue("llvm", AttrValue()));
  }
  for (const AttrValue& target : targets) {
    if (EntryOf(target, "host").is_none()) continue;
    config.host_target_ = WithHost(EntryOf(target, "host"), AttrValue());
    break;
  }
  for (const AttrValue& target : targets) {
    if (!config.host_target_.is_none()) break;
    if (DeviceTypeOf(target) == VirtualDevice::kCpu) {
      config.host_target_ = WithHost(target, AttrValue());
    }
  }
  if (config.host_target_.is_none()) {
    BATON_ASSIGN_OR_RETURN(config.host_target_,
                           MakeTargetValue("llvm", AttrValue()));
  }
  config.host_ = {.device_type = DeviceTypeOf(config.host_target_),
                  .id = 0,
                  .target = config.host_target_};
  for (AttrValue& target : targets) {
    target = WithHost(std::move(target), config.host_target_);
    if (std::find(config.targets_.begin(), config.targets_.end(), target) ==
        config.targets_.end()) {
      config.targets_.push_back(std::move(target));
    }
  }
  int64_t type = fallback_device_type;
  if (type <= 0) {
    type = DeviceTypeOf(config.targets_[0]);
    for (const AttrValue& target : config.targets_) {
      if (DeviceTypeOf(target) != type) type = VirtualDevice::kCpu;
    }
  }
  BATON_ASSIGN_OR_RETURN(config.fallback_,
                         config.Canonical({.device_type = type, .id = 0}));
  return config;
}

absl::StatusOr<VirtualDevice> DeviceConfig::Canonical(
    VirtualDevice device) const {
  if (!device.target.is_none() ||
      device.device_type == VirtualDevice::kAnyType) {
    return device;
  }
  for (const AttrValue& target : targets_) {
    if (DeviceTypeOf(target) == device.device_type) {
      device.target = target;
      return device;
    }
  }
  const absl::string_view kind = DefaultTargetKind(device.device_type);
  if (complete_ || kind.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "there is no target for devices of type ", device.device_type));
  }
  BATON_ASSIGN_OR_RETURN(device.target, MakeTargetValue(kind, host_target_));
  return device;
}

DeviceDomains::DeviceDomains(const DeviceConfig& config) : config_(config) {
  devices_.emplace_back();
  host_ = AddDevice(config.host());
  fallback_ = AddDevice(config.fallback());
}

int DeviceDomains::AddDevice(const VirtualDevice& device) {
  const auto it = std::find(devices_.begin(), devices_.end(), device);
  if (it != devices_.end()) return static_cast<int>(it - devices_.begin());
  devices_.push_back(device);
  return static_cast<int>(devices_.size()) - 1;
}

absl::StatusOr<int> DeviceDomains::DeviceOf(const AttrValue& value) {
  for (const auto& [known, device] : known_) {
    if (known == value) return device;
  }
  BATON_ASSIGN_OR_RETURN(VirtualDevice device, VirtualDevice::FromValue(value));
  BATON_ASSIGN_OR_RETURN(device, config_.Canonical(std::move(device)));
  return known_.emplace_back(value, AddDevice(device)).second;
}

std::optional<int> DeviceDomains::Join(int a, int b) {
  if (a == b || b == kAny) return a;
  if (a == kAny) return b;
  const auto [it, inserted] = joins_.try_emplace({a, b});
  if (inserted) {
    const std::optional<VirtualDevice> joined =
        ::baton::relay::Join(devices_[a], devices_[b]);
    if (joined.has_value()) it->second = AddDevice(*joined);
  }
  return it->second;
}

int DeviceDomains::Defaulted(int device, int defaults) {
  if (device == defaults || device == kAny) return defaults;
  const auto [it, inserted] = defaulted_.try_emplace({device, defaults});
  if (inserted) {
    it->second = AddDevice(WithDefaults(devices_[device], devices_[defaults]));
  }
  return it->second;
}

int DeviceDomains::Make(const Type& type, int device) {
  const int root = Add({.device = device});
  struct Item {
    const TypeNode* type;
    int domain;
  };
  absl::InlinedVector<Item, 16> stack = {{type.get(), root}};
  while (!stack.empty()) {
    const Item item = stack.back();
    stack.pop_back();
    if (item.type == nullptr || item.type->kind() != FuncTypeNode::kKind) {
      continue;
    }
    const auto* function = static_cast<const FuncTypeNode*>(item.type);
    const int first = static_cast<int>(parts_.size());
    const int num_parts = static_cast<int>(function->args().size()) + 1;
    parts_.resize(first + num_parts);
    for (int i = 0; i < num_parts - 1; ++i) {
      parts_[first + i] = Add({});
      stack.push_back({function->args()[i].get(), parts_[first + i]});
    }
    parts_[first + num_parts - 1] =
        Add({.device = domains_[item.domain].device});
    stack.push_back({function->result().get(), parts_[first + num_parts - 1]});
    domains_[item.domain] = {.first_part = first, .num_parts = num_parts};
  }
  return root;
}

int DeviceDomains::OfFunction(absl::Span<const int> params_and_result) {
  const int first = static_cast<int>(parts_.size());
  parts_.insert(parts_.end(), params_and_result.begin(),
                params_and_result.end());
  return Add({.first_part = first,
              .num_parts = static_cast<int>(params_and_result.size())});
}

// Roots are joined by size, so that no way to a root is long.
int DeviceDomains::Find(int domain) const {
  while (domains_[domain].parent >= 0) domain = domains_[domain].parent;
  return domain;
}

int DeviceDomains::ResultDevice(int domain) const {
  while (IsFunction(domain)) domain = result(domain);
  return domains_[Find(domain)].device;
}

void DeviceDomains::SetRoot(int root, Domain domain) {
  if (changes_ != nullptr) changes_->push_back({root, domains_[root]});
  domains_[root] = domain;
}

bool DeviceDomains::Unify(int a, int b) {
  absl::InlinedVector<std::pair<int, int>, 16> stack = {{a, b}};
  while (!stack.empty()) {
    int x = Find(stack.back().first);
    int y = Find(stack.back().second);
    stack.pop_back();
    if (x == y) continue;
    if (domains_[x].size < domains_[y].size) std::swap(x, y);
    const Domain from = domains_[y];
    Domain to = domains_[x];
    if (from.num_parts != to.num_parts) {
      error_ = "one is a function of other parameters than the other";
      return false;
    }
    const std::optional<int> device = Join(to.device, from.device);
    if (!device.has_value()) {
      error_ = absl::StrCat("one is on ", devices_[from.device].ToString(),
                            ", the other on ", devices_[to.device].ToString());
      return false;
    }
    to.device = *device;
    to.size += from.size;
    SetRoot(x, to);
    SetRoot(y, {.parent = x});
    for (int i = 0; i < to.num_parts; ++i) {
      stack.push_back({parts_[to.first_part + i], parts_[from.first_part + i]});
    }
  }
  return true;
}

bool DeviceDomains::TryUnify(int a, int b) {
  std::vector<Change> changes;
  changes_ = &changes;
  const bool unified = Unify(a, b);
  changes_ = nullptr;
  if (unified) return true;
  for (size_t i = changes.size(); i-- > 0;) {
    domains_[changes[i].index] = changes[i].before;
  }
  return false;
}

// Calls `fn` for the domains in `domain` that are no functions.
template <typename Fn>
void DeviceDomains::ForEachDevice(int domain, Fn&& fn) {
  absl::InlinedVector<int, 16> stack = {domain};
  while (!stack.empty()) {
    const int root = Find(stack.back());
    stack.pop_back();
    const Domain& found = domains_[root];
    if (found.num_parts == 0) {
      fn(root);
      continue;
    }
    for (int i = found.num_parts; i-- > 0;) {
      stack.push_back(parts_[found.first_part + i]);
    }
  }
}

bool DeviceDomains::UnifyAll(int device, int domain) {
  bool unified = true;
  ForEachDevice(domain,
                [&](int root) { unified = unified && Unify(device, root); });
  return unified;
}

void DeviceDomains::SetDefault(int domain, int device) {
  ForEachDevice(domain, [&](int root) {
    Domain set = domains_[root];
    set.device = Defaulted(set.device, device);
    SetRoot(root, set);
  });
}

void DeviceDomains::SetDefaultResultFirst(int domain, int device) {
  int last = domain;
  while (IsFunction(last)) last = result(last);
  SetDefault(last, device);
  SetDefault(domain, ResultDevice(domain));
}

}  // namespace baton::relay
