// DeviceDomains: equations between the devices of values, solved by
// unification.
//
// The domain of a value is a device, some properties of which may be unknown.
// The domain of a function consists of the domains of its parameters and of its
// result; the function itself is on the device of its result. Tuples,
// references and data types have one device for all their parts.
//
// Domains and devices are numbers. Device 0 is unconstrained.

#ifndef BATON_RELAY_TRANSFORM_DEVICE_DOMAINS_H_
#define BATON_RELAY_TRANSFORM_DEVICE_DOMAINS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/hash_table.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/virtual_device.h"

namespace baton::relay {

// The targets that a program is compiled for.
class DeviceConfig {
 public:
  // `targets` may lack their host. All get the host of the first target that
  // has one; otherwise the first target for a CPU; otherwise llvm. If
  // `complete`, there are no devices but those of the targets; otherwise each
  // type of device has a target.
  static absl::StatusOr<DeviceConfig> Make(std::vector<AttrValue> targets,
                                           bool complete,
                                           int64_t fallback_device_type);

  // The device of shapes.
  const VirtualDevice& host() const { return host_; }
  // The device of values without constraints.
  const VirtualDevice& fallback() const { return fallback_; }
  // Returns `device` with its target. An error if its type has no target.
  absl::StatusOr<VirtualDevice> Canonical(VirtualDevice device) const;

 private:
  std::vector<AttrValue> targets_;
  AttrValue host_target_;
  bool complete_ = false;
  VirtualDevice host_;
  VirtualDevice fallback_;
};

// The domains of the values of a program.
class DeviceDomains {
 public:
  explicit DeviceDomains(const DeviceConfig& config);

  // Devices.
  static constexpr int kAny = 0;
  absl::StatusOr<int> DeviceOf(const AttrValue& value);
  const VirtualDevice& device(int i) const { return devices_[i]; }
  int host() const { return host_; }
  int fallback() const { return fallback_; }
  // The device with the properties of both; nullopt if they contradict each
  // other.
  std::optional<int> Join(int a, int b);

  // Domains. `type` is the type of the value; null means any type except
  // functions.
  int Free(const Type& type) { return Make(type, kAny); }
  // The domain of a value whose result is on `device`.
  int Make(const Type& type, int device);
  int OfFunction(absl::Span<const int> params_and_result);

  bool IsFunction(int domain) const {
    return domains_[Find(domain)].num_parts > 0;
  }
  // The parts of the domain of a function.
  int num_params(int domain) const {
    return domains_[Find(domain)].num_parts - 1;
  }
  int param(int domain, int i) const {
    return parts_[domains_[Find(domain)].first_part + i];
  }
  int result(int domain) const { return param(domain, num_params(domain)); }
  // The device of the value; for a function, of its final result.
  int ResultDevice(int domain) const;

  // Unifies the two domains. Returns false if they contradict each other:
  // error() says how, and the domains may be partly unified.
  bool Unify(int a, int b);
  // As Unify, but changes nothing if it fails.
  bool TryUnify(int a, int b);
  // Unifies the domain `device`, which is not that of a function, with all
  // parts of `domain`.
  bool UnifyAll(int device, int domain);
  const std::string& error() const { return error_; }

  // Sets unknown properties of the devices in `domain` to those of `device`.
  // SetDefaultResultFirst() does so for the final result only, and then sets
  // the unknown properties of the other devices to those of the result.
  void SetDefault(int domain, int device);
  void SetDefaultResultFirst(int domain, int device);

 private:
  struct Domain {
    int parent = -1;  // -1: a root
    int size = 1;     // of the class, for a root
    int device = kAny;
    int first_part = 0;
    int num_parts = 0;  // for a function: parameters and result; otherwise 0
  };
  // A root before it was changed.
  struct Change {
    int index;
    Domain before;
  };

  int Add(Domain domain) {
    domains_.push_back(domain);
    return static_cast<int>(domains_.size()) - 1;
  }
  int AddDevice(const VirtualDevice& device);
  int Defaulted(int device, int defaults);
  int Find(int domain) const;
  void SetRoot(int root, Domain domain);
  template <typename Fn>
  void ForEachDevice(int domain, Fn&& fn);

  const DeviceConfig& config_;
  std::vector<VirtualDevice> devices_;
  // The devices that DeviceOf() has looked up: a program has few.
  std::vector<std::pair<AttrValue, int>> known_;
  FlatHashMap<std::pair<int, int>, std::optional<int>> joins_;
  FlatHashMap<std::pair<int, int>, int> defaulted_;
  int host_ = kAny;
  int fallback_ = kAny;
  std::vector<Domain> domains_;
  std::vector<int> parts_;
  std::string error_;
  // The changes made by TryUnify so far; null outside of it.
  std::vector<Change>* changes_ = nullptr;
};

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_DEVICE_DOMAINS_H_
