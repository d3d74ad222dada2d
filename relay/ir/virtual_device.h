// VirtualDevice: the device of a value, as in TVM.
//
// In attributes a device is a dictionary of its set properties, with exactly
// the keys device_type_int, memory_scope, target and virtual_device_id. In text
// it is `meta[VirtualDevice][N]`. The target is None or a dictionary with the
// keys attrs, features, host, keys, kind and tag.

#ifndef BATON_RELAY_IR_VIRTUAL_DEVICE_H_
#define BATON_RELAY_IR_VIRTUAL_DEVICE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"

namespace baton::relay {

// Attributes of a function: the device of its result, and the devices of its
// parameters. The latter is a list with a device, or None, for each parameter;
// the text is `%x {virtual_device=...}`.
inline constexpr char kVirtualDevice[] = "virtual_device";
inline constexpr char kParamVirtualDevices[] = "param_virtual_devices";

// True if `value` is a device, with all its keys.
bool IsVirtualDevice(const AttrValue& value);

// The entry `key` of a dictionary, which must have it.
const AttrValue& EntryOf(const AttrValue& map, absl::string_view key);

// The device of a value. A property that is not set is unconstrained.
struct VirtualDevice {
  static constexpr int64_t kAnyType = -1;
  static constexpr int64_t kAnyId = -1;
  static constexpr int64_t kCpu = 1;

  // The numbers of DLPack: 1 is a CPU, 2 a CUDA device.
  int64_t device_type = kAnyType;
  int64_t id = kAnyId;
  AttrValue target;
  std::string memory_scope;

  // Makes a device from an attribute: a dictionary, which may lack keys if it
  // is written by hand; a name, `cuda` or `cuda:1`; or None.
  static absl::StatusOr<VirtualDevice> FromValue(const AttrValue& value);
  AttrValue ToValue() const;

  bool IsUnconstrained() const {
    return device_type == kAnyType && id == kAnyId && target.is_none() &&
           memory_scope.empty();
  }
  friend bool operator==(const VirtualDevice& a, const VirtualDevice& b) {
    return a.device_type == b.device_type && a.id == b.id &&
           a.target == b.target && a.memory_scope == b.memory_scope;
  }

  // TVM's form: `VirtualDevice(device_type=1, ...)`.
  std::string ToString() const;
};

// The device with the set properties of both; nullopt if they contradict each
// other.
std::optional<VirtualDevice> Join(const VirtualDevice& a,
                                  const VirtualDevice& b);
// Returns `device` with its unset properties taken from `defaults`.
VirtualDevice WithDefaults(VirtualDevice device, const VirtualDevice& defaults);

// Makes a target from its text, `cuda -arch=sm_86`, and its host, which may be
// None.
absl::StatusOr<AttrValue> MakeTargetValue(absl::string_view text,
                                          const AttrValue& host);
// Returns `target` with another host.
AttrValue WithHost(AttrValue target, const AttrValue& host);
// The device type and the kind (`llvm`, `cuda`) of a target.
int64_t DeviceTypeOf(const AttrValue& target);
std::string TargetKindOf(const AttrValue& target);
// The default kind of target of a device type; empty if there is none.
absl::string_view DefaultTargetKind(int64_t device_type);

}  // namespace baton::relay

#endif  // BATON_RELAY_IR_VIRTUAL_DEVICE_H_
