// Properties of operators that several passes use. They are set where the
// operator is registered.

#ifndef BATON_RELAY_OP_OP_FLAGS_H_
#define BATON_RELAY_OP_OP_FLAGS_H_

#include "baton/ir/op.h"

namespace baton::relay {

// Operators that compute nothing: annotations, storage, device placement.
// Constant folding skips their calls.
OpProperty<bool>& NonComputationalOps();

// Operators for which the value of a call depends on more than its arguments
// (random numbers), or the call has an effect. Such calls are neither merged,
// nor dropped, nor folded.
OpProperty<bool>& StatefulOps();

// Operators that change the shape and keep the elements in row-major order.
OpProperty<bool>& ReshapeOps();

// Operators that only move or repeat elements: the result has each element of
// the first argument, or of its tensors, at least once, and no others.
OpProperty<bool>& RearrangingOps();

// Operators whose fusion pattern is elementwise or broadcast, but for which an
// element of the result depends on its indices, too.
OpProperty<bool>& IndexDependentOps();

// Annotations that end a group of fused operators. The result is the argument.
OpProperty<bool>& StopFusionOps();

// The result is the argument, on another device. Constant folding skips such
// calls: a constant has no device.
OpProperty<bool>& DeviceCopyOps();

// Operators on quantized tensors, which are lowered to other operators before
// compilation.
OpProperty<bool>& QuantizedOps();

// Operators whose result shape may depend on the values of arguments. If it
// does (the type has an unknown dimension), the call is not fused.
OpProperty<bool>& DataDependentShapeOps();

// Operators whose result depends only on the shape of the argument: the
// argument's type determines the result.
enum class ShapeQuery {
  kShape,        // a vector of the extents
  kNumElements,  // a scalar
};
OpProperty<ShapeQuery>& ShapeQueries();

// Each of these is false for an operator without an entry, and for expressions
// that are not operators.
inline bool IsNonComputational(const Expr& op) {
  return NonComputationalOps().Get(op) != nullptr;
}
inline bool IsStateful(const Expr& op) {
  return StatefulOps().Get(op) != nullptr;
}
inline bool IsReshape(const Expr& op) {
  return ReshapeOps().Get(op) != nullptr;
}
inline bool IsRearranging(const Expr& op) {
  return RearrangingOps().Get(op) != nullptr;
}
inline bool IsIndexDependent(const Expr& op) {
  return IndexDependentOps().Get(op) != nullptr;
}
inline bool StopsFusion(const Expr& op) {
  return StopFusionOps().Get(op) != nullptr;
}
inline bool IsDeviceCopy(const Expr& op) {
  return DeviceCopyOps().Get(op) != nullptr;
}
inline bool IsQuantized(const Expr& op) {
  return QuantizedOps().Get(op) != nullptr;
}
inline bool MayHaveDataDependentShape(const Expr& op) {
  return DataDependentShapeOps().Get(op) != nullptr;
}

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_OP_FLAGS_H_
