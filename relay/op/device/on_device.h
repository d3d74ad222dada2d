// on_device: an annotation with the device of its argument. Passes look through
// it.

#ifndef BATON_RELAY_OP_DEVICE_ON_DEVICE_H_
#define BATON_RELAY_OP_DEVICE_ON_DEVICE_H_

#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

const Op& OnDeviceOp();

// The call; null if `expr` is not a call of on_device.
const CallNode* AsOnDevice(const Expr& expr);

// The argument of an on_device; any other expression itself.
const Expr& IgnoringOnDevice(const Expr& expr);

// IsNormalOnDevice(): true if the annotation constrains only its argument to
// the device. IsFixedOnDevice(): true if it constrains the argument and the
// result.
bool IsNormalOnDevice(const CallNode* on_device);
bool IsFixedOnDevice(const CallNode* on_device);

// True for expressions that annotations can enclose; false for those whose
// device is determined otherwise: variables, functions and operators.
bool TakesOnDevice(const Expr& expr);

// Annotates `expr` as the call `on_device` annotates its argument. An
// expression for which TakesOnDevice() is false gets no annotation, and two
// annotations become one.
Expr OnDeviceLike(const CallNode* on_device, const Expr& expr);
// As OnDeviceLike, with the attributes of an annotation. An annotation has the
// type of its argument.
Expr OnDevice(const Expr& expr, const Attrs& attrs);

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_DEVICE_ON_DEVICE_H_
