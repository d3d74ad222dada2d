// on_device: an annotation that names the device of its argument; passes look
// through it.

#ifndef BATON_RELAY_OP_DEVICE_ON_DEVICE_H_
#define BATON_RELAY_OP_DEVICE_ON_DEVICE_H_

#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

const Op& OnDeviceOp();

// Null if `expr` is no call of on_device.
const CallNode* AsOnDevice(const Expr& expr);

// The argument of an on_device; any other expression as it is.
const Expr& IgnoringOnDevice(const Expr& expr);

// Whether the argument, or the result too, must be on the device.
bool IsNormalOnDevice(const CallNode* on_device);
bool IsFixedOnDevice(const CallNode* on_device);

// `expr` with the annotation that the call `on_device` puts on its argument. An
// expression whose device is known otherwise (a variable, function or operator)
// gets none, and two annotations become one.
Expr OnDeviceLike(const CallNode* on_device, const Expr& expr);
// The same with the attributes of an annotation. An annotation has the type of
// its argument.
Expr OnDevice(const Expr& expr, const Attrs& attrs);

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_DEVICE_ON_DEVICE_H_
