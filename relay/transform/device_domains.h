// Equations between the places of values, and their solution by unification.
//
// A domain is where a value is: a device of which more or less is known, or,
// for a function, the domains of its parameters and of its result. A function
// itself is where its result is. Tuples, references and data types have one
// device for all that is in them.
//
// Domains and devices are numbers. Device 0 may be any.

#ifndef BATON_RELAY_TRANSFORM_DEVICE_DOMAINS_H_
#define BATON_RELAY_TRANSFORM_DEVICE_DOMAINS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
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
  // `targets` may lack their host, which all of them get: that of the first
  // that has one, or else the first for a CPU, or else llvm. `complete`: there
  // are no devices but theirs; else each type of device has a target.
  static absl::StatusOr<DeviceConfig> Make(std::vector<AttrValue> targets,
                                           bool complete,
                                           int64_t fallback_device_type);

  // Where shapes are.
  const VirtualDevice& host() const { return host_; }
  // Where what may be anywhere is.
  const VirtualDevice& fallback() const { return fallback_; }
  // The same device with its target. An error if there is none for its type.
  absl::StatusOr<VirtualDevice> Canonical(VirtualDevice device) const;

 private:
  std::vector<AttrValue> targets_;
  AttrValue host_target_;
  bool complete_ = false;
  VirtualDevice host_;
  VirtualDevice fallback_;
};

class DeviceDomains {
 public:
  explicit DeviceDomains(const DeviceConfig& config);

  // Devices.
  static constexpr int kAny = 0;
  absl::StatusOr<int> DeviceOf(const AttrValue& value);
  const VirtualDevice& device(int i) const { return devices_[i]; }
  int host() const { return host_; }
  int fallback() const { return fallback_; }
  // The device that is both; none if they contradict each other.
  std::optional<int> Join(int a, int b);

  // Domains. `type` is that of the value; null is any that is not a function.
  int Free(const Type& type) { return Make(type, kAny); }
  // The domain of a value whose result is on `device`.
  int Make(const Type& type, int device);
  int OfFunction(absl::Span<const int> params_and_result);

  bool IsFunction(int domain) const {
    return domains_[Find(domain)].num_parts > 0;
  }
  // Of a function.
  int num_params(int domain) const {
    return domains_[Find(domain)].num_parts - 1;
  }
  int param(int domain, int i) const {
    return parts_[domains_[Find(domain)].first_part + i];
  }
  int result(int domain) const { return param(domain, num_params(domain)); }
  // Of the value, or of what the function returns in the end.
  int ResultDevice(int domain) const;

  // Makes the two domains one. False if they contradict each other: error()
  // says how, and all may be half done.
  bool Unify(int a, int b);
  // The same, but if it fails, nothing has changed.
  bool TryUnify(int a, int b);
  // Makes `device`, no function, and all that is in `domain` one.
  bool UnifyAll(int device, int domain);
  const std::string& error() const { return error_; }

  // What is not known of the devices in `domain` is as in `device`; those of
  // its result first if `result_first`, and then those of the rest as there.
  void SetDefault(int domain, int device);
  void SetDefaultResultFirst(int domain, int device);

 private:
  struct Domain {
    int parent = -1;  // -1: a root
    int size = 1;     // of the class, if it is a root
    int device = kAny;
    int first_part = 0;
    int num_parts = 0;  // of a function: parameters and result; else 0
  };
  // What a root was before it was changed.
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
  // What DeviceOf() was asked for: a program names few.
  std::vector<std::pair<AttrValue, int>> known_;
  FlatHashMap<std::pair<int, int>, std::optional<int>> joins_;
  FlatHashMap<std::pair<int, int>, int> defaulted_;
  int host_ = kAny;
  int fallback_ = kAny;
  std::vector<Domain> domains_;
  std::vector<int> parts_;
  std::string error_;
  // What TryUnify changed so far; null outside of it.
  std::vector<Change>* changes_ = nullptr;
};

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_DEVICE_DOMAINS_H_
