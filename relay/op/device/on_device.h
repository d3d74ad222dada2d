// on_device: a note of where its argument is computed, which passes look
// through.

#ifndef BATON_RELAY_OP_DEVICE_ON_DEVICE_H_
#define BATON_RELAY_OP_DEVICE_ON_DEVICE_H_

#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

const Op& OnDeviceOp();

// Null if `expr` is no call of on_device.
const CallNode* AsOnDevice(const Expr& expr);

// The argument of an on_device; any other expression as it is.
const Expr& IgnoringOnDevice(const Expr& expr);

// `expr` with the note that `on_device`, a call, puts on its argument. What
// says itself where it is (variables, functions, operators) gets none, and two
// notes become one.
Expr OnDeviceLike(const CallNode* on_device, const Expr& expr);

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_DEVICE_ON_DEVICE_H_
