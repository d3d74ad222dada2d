// Operators that compute nothing: annotations, device placement, storage and
// the virtual machine's own (`annotation.*`, `on_device`, `device_copy`,
// `memory.*`, `vm.*`).

#ifndef BATON_RELAY_OP_DEVICE_DEVICE_H_
#define BATON_RELAY_OP_DEVICE_DEVICE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/base/fields.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

// annotation.compiler_begin, annotation.compiler_end
struct CompilerAttrs {
  std::string compiler;

  static constexpr char kTypeKey[] = "relay.attrs.CompilerAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("compiler", &CompilerAttrs::compiler, "Name of the external compiler.",
      kRequired);
  }
};

// annotation.cast_hint
struct CastHintAttrs {
  DType dtype;

  static constexpr char kTypeKey[] = "relay.attrs.CastHintAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("dtype", &CastHintAttrs::dtype, "The element type that may be used.",
      kRequired);
  }
};

// on_device. A device is null if any will do.
struct OnDeviceAttrs {
  AttrValue virtual_device;
  bool constrain_result = false;
  bool constrain_body = true;

  static constexpr char kTypeKey[] = "relay.attrs.OnDeviceAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("virtual_device", &OnDeviceAttrs::virtual_device, "The device.");
    v("constrain_result", &OnDeviceAttrs::constrain_result,
      "Whether the result must be on the device.");
    v("constrain_body", &OnDeviceAttrs::constrain_body,
      "Whether the argument must be on the device.");
  }
};

// device_copy
struct DeviceCopyAttrs {
  AttrValue src_virtual_device;
  AttrValue dst_virtual_device;

  static constexpr char kTypeKey[] = "relay.attrs.DeviceCopyAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("src_virtual_device", &DeviceCopyAttrs::src_virtual_device,
      "The device to copy from.", kRequired);
    v("dst_virtual_device", &DeviceCopyAttrs::dst_virtual_device,
      "The device to copy to.", kRequired);
  }
};

struct AllocStorageAttrs {
  DType dtype = DType::Float(32);
  AttrValue virtual_device;

  static constexpr char kTypeKey[] = "relay.attrs.AllocStorageAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("dtype", &AllocStorageAttrs::dtype, "Element type of the result.");
    v("virtual_device", &AllocStorageAttrs::virtual_device, "The device.",
      kRequired);
  }
};

struct AllocTensorAttrs {
  DType dtype = DType::Float(32);
  AttrValue const_shape;
  Dims assert_shape;

  static constexpr char kTypeKey[] = "relay.attrs.AllocTensorAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("dtype", &AllocTensorAttrs::dtype, "Element type of the result.");
    v("const_shape", &AllocTensorAttrs::const_shape,
      "The shape, if it is a constant.", kRequired);
    v("assert_shape", &AllocTensorAttrs::assert_shape, "The shape to assume.",
      kRequired);
  }
};

struct ShapeFuncAttrs {
  std::vector<int64_t> is_input;

  static constexpr char kTypeKey[] = "relay.attrs.ShapeFuncAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("is_input", &ShapeFuncAttrs::is_input,
      "1 for each input that is passed as a tensor, 0 for one whose shape is "
      "passed.",
      kRequired);
  }
};

struct ReshapeTensorAttrs {
  Dims newshape;

  static constexpr char kTypeKey[] = "relay.attrs.ReshapeTensorAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("newshape", &ReshapeTensorAttrs::newshape, "The shape wanted.",
      kRequired);
  }
};

struct CallLoweredAttrs {
  AttrMap metadata;

  static constexpr char kTypeKey[] = "relay.attrs.CallLoweredAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("metadata", &CallLoweredAttrs::metadata,
      "What the compiler noted about the callee.");
  }
};

// Builders of calls.

// Annotations.
Expr StopFusion(Expr data);

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_DEVICE_DEVICE_H_
