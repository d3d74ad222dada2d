#include "baton/relay/op/device/on_device.h"

#include <utility>

#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/device/device.h"

namespace baton::relay {

const Op& OnDeviceOp() { return BATON_OP("on_device"); }

const CallNode* AsOnDevice(const Expr& expr) {
  const auto* call = expr.As<CallNode>();
  return call != nullptr && call->op() == OnDeviceOp() && call->num_args() == 1
             ? call
             : nullptr;
}

const Expr& IgnoringOnDevice(const Expr& expr) {
  const CallNode* call = AsOnDevice(expr);
  return call == nullptr ? expr : call->arg(0);
}

bool IsNormalOnDevice(const CallNode* on_device) {
  const auto* attrs = on_device->attrs_as<OnDeviceAttrs>();
  return attrs != nullptr && attrs->constrain_body && !attrs->constrain_result;
}

bool IsFixedOnDevice(const CallNode* on_device) {
  const auto* attrs = on_device->attrs_as<OnDeviceAttrs>();
  return attrs != nullptr && attrs->constrain_body && attrs->constrain_result;
}

bool TakesOnDevice(const Expr& expr) {
  switch (ExprKindOf(expr)) {
    case ExprKind::kOp:
    case ExprKind::kConstructor:
    case ExprKind::kGlobalVar:
    case ExprKind::kVar:
    case ExprKind::kFunction:
      return false;
    case ExprKind::kConstant:
    case ExprKind::kCall:
    case ExprKind::kTuple:
    case ExprKind::kTupleGetItem:
    case ExprKind::kLet:
    case ExprKind::kIf:
    case ExprKind::kRefCreate:
    case ExprKind::kRefRead:
    case ExprKind::kRefWrite:
    case ExprKind::kMatch:
      return true;
  }
  return false;
}

Expr OnDeviceLike(const CallNode* on_device, const Expr& expr) {
  return OnDevice(expr, on_device->attrs());
}

Expr OnDevice(const Expr& expr, const Attrs& given) {
  const auto* outer = given.As<OnDeviceAttrs>();
  if (outer == nullptr ||
      (!outer->constrain_result && !outer->constrain_body)) {
    return expr;
  }
  if (!TakesOnDevice(expr)) return expr;
  const CallNode* call = AsOnDevice(expr);
  const auto* inner =
      call == nullptr ? nullptr : call->attrs_as<OnDeviceAttrs>();
  if (inner == nullptr) {
    return Call(OnDeviceOp(), {expr}, given, {}, expr->type(), expr->span());
  }
  // The annotation between the two has no effect.
  if (!outer->constrain_result && !inner->constrain_body) return call->arg(0);
  OnDeviceAttrs attrs = *outer;
  attrs.constrain_body = inner->constrain_body;
  return Call(OnDeviceOp(), {call->arg(0)}, Attrs::Make(std::move(attrs)), {},
              expr->type(), expr->span());
}

}  // namespace baton::relay
