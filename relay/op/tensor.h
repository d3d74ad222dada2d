// Builders of calls of the operators on tensors of any shape.
//
//   Expr y = Add(x, Const(2.0f));
//   Expr z = Reshape(Transpose(y, {1, 0}), {-1});

#ifndef BATON_RELAY_OP_TENSOR_H_
#define BATON_RELAY_OP_TENSOR_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/tensor_attrs.h"

namespace baton::relay {

// Constants. A scalar has the element type of the C++ type: Const(2.0f) is a
// float32, Const(2) an int32.
Constant Const(Tensor value);
template <typename T>
Constant Const(T value) {
  return Const(Tensor::Scalar<T>(value));
}
Constant Const(double value, DType dtype);

// One operand.
Expr Abs(Expr data);
Expr Acos(Expr data);
Expr Acosh(Expr data);
Expr Asin(Expr data);
Expr Asinh(Expr data);
Expr Atan(Expr data);
Expr Atanh(Expr data);
Expr BitwiseNot(Expr data);
Expr Ceil(Expr data);
Expr Copy(Expr data);
Expr Cos(Expr data);
Expr Cosh(Expr data);
Expr Erf(Expr data);
Expr Exp(Expr data);
Expr FastErf(Expr data);
Expr FastExp(Expr data);
Expr FastTanh(Expr data);
Expr Floor(Expr data);
Expr IsFinite(Expr data);
Expr IsInf(Expr data);
Expr IsNan(Expr data);
Expr Log(Expr data);
Expr Log10(Expr data);
Expr Log2(Expr data);
Expr LogicalNot(Expr data);
Expr Negative(Expr data);
Expr OnesLike(Expr data);
Expr Round(Expr data);
Expr Rsqrt(Expr data);
Expr Sigmoid(Expr data);
Expr Sign(Expr data);
Expr Sin(Expr data);
Expr Sinh(Expr data);
Expr Sqrt(Expr data);
Expr Tan(Expr data);
Expr Tanh(Expr data);
Expr Trunc(Expr data);
Expr ZerosLike(Expr data);

// Two operands, broadcast against each other.
Expr Add(Expr lhs, Expr rhs);
Expr BitwiseAnd(Expr lhs, Expr rhs);
Expr BitwiseOr(Expr lhs, Expr rhs);
Expr BitwiseXor(Expr lhs, Expr rhs);
Expr Divide(Expr lhs, Expr rhs);
Expr Equal(Expr lhs, Expr rhs);
Expr FloorDivide(Expr lhs, Expr rhs);
Expr FloorMod(Expr lhs, Expr rhs);
Expr Greater(Expr lhs, Expr rhs);
Expr GreaterEqual(Expr lhs, Expr rhs);
Expr LeftShift(Expr lhs, Expr rhs);
Expr Less(Expr lhs, Expr rhs);
Expr LessEqual(Expr lhs, Expr rhs);
Expr LogicalAnd(Expr lhs, Expr rhs);
Expr LogicalOr(Expr lhs, Expr rhs);
Expr LogicalXor(Expr lhs, Expr rhs);
Expr Maximum(Expr lhs, Expr rhs);
Expr Minimum(Expr lhs, Expr rhs);
Expr Mod(Expr lhs, Expr rhs);
Expr Multiply(Expr lhs, Expr rhs);
Expr NotEqual(Expr lhs, Expr rhs);
Expr Power(Expr lhs, Expr rhs);
Expr RightShift(Expr lhs, Expr rhs);
Expr Subtract(Expr lhs, Expr rhs);
Expr TruncDivide(Expr lhs, Expr rhs);
Expr TruncMod(Expr lhs, Expr rhs);

Expr Clip(Expr data, double a_min, double a_max);
Expr Where(Expr condition, Expr x, Expr y);

// Element types.
Expr Cast(Expr data, DType dtype);
Expr CastLike(Expr data, Expr dtype_like);
Expr Reinterpret(Expr data, DType dtype);

// Shapes.
Expr ExpandDims(Expr data, int axis, int num_newaxis = 1);
// Drops all axes of extent 1 if `axis` is not given.
Expr Squeeze(Expr data, std::optional<std::vector<int64_t>> axis = {});
Expr Reshape(Expr data, std::vector<int64_t> newshape);
Expr ReverseReshape(Expr data, std::vector<int64_t> newshape);
Expr ReshapeLike(Expr data, Expr shape_like, ReshapeLikeAttrs attrs = {});
// Reverses the axes if `axes` is not given.
Expr Transpose(Expr data, std::optional<std::vector<int64_t>> axes = {});
Expr LayoutTransform(Expr data, std::string src_layout, std::string dst_layout);
Expr BroadcastTo(Expr data, std::vector<int64_t> shape);
Expr BroadcastToLike(Expr data, Expr broadcast_type);
Expr CollapseSumLike(Expr data, Expr collapse_type);
Expr ShapeOf(Expr data, DType dtype = DType::Int(32));
Expr NdarraySize(Expr data, DType dtype = DType::Int(32));

// New tensors.
Expr Zeros(std::vector<int64_t> shape, DType dtype);
Expr Ones(std::vector<int64_t> shape, DType dtype);
// The element type is that of `fill_value` if `dtype` is void.
Expr Full(Expr fill_value, std::vector<int64_t> shape, DType dtype = DType());
Expr FullLike(Expr data, Expr fill_value);
Expr Arange(Expr start, Expr stop, Expr step, DType dtype);

// Several tensors.
Expr Concatenate(std::vector<Expr> data, int axis);
Expr Stack(std::vector<Expr> data, int axis);
// A tuple of `sections` equal parts.
Expr Split(Expr data, int64_t sections, int axis = 0);
// A tuple of the parts between the positions.
Expr SplitAt(Expr data, std::vector<int64_t> indices, int axis = 0);

// Parts and repetitions.
struct StridedSliceOptions {
  std::vector<int64_t> strides = {1};
  std::optional<std::vector<int64_t>> axes;
  std::string slice_mode = "end";
};
Expr StridedSlice(Expr data, std::vector<int64_t> begin,
                  std::vector<int64_t> end, StridedSliceOptions options = {});
Expr SliceLike(Expr data, Expr shape_like,
               std::optional<std::vector<int64_t>> axes = {});
Expr Take(Expr data, Expr indices, TakeAttrs attrs = {});
Expr Gather(Expr data, int axis, Expr indices);
Expr GatherNd(Expr data, Expr indices, GatherNDAttrs attrs = {});
Expr Repeat(Expr data, int64_t repeats, int64_t axis);
Expr Tile(Expr data, std::vector<int64_t> reps);
Expr Reverse(Expr data, int64_t axis);
Expr OneHot(Expr indices, Expr on_value, Expr off_value, OneHotAttrs attrs);

// Reductions: `Sum(x, {.axis = {{2, 3}}, .keepdims = true})`.
Expr All(Expr data, ReduceAttrs attrs = {});
Expr Any(Expr data, ReduceAttrs attrs = {});
Expr ArgMax(Expr data, ArgReduceAttrs attrs = {});
Expr ArgMin(Expr data, ArgReduceAttrs attrs = {});
Expr Max(Expr data, ReduceAttrs attrs = {});
Expr Mean(Expr data, ReduceAttrs attrs = {});
Expr Min(Expr data, ReduceAttrs attrs = {});
Expr Prod(Expr data, ReduceAttrs attrs = {});
Expr Sum(Expr data, ReduceAttrs attrs = {});
// Computes the mean first.
Expr Variance(Expr data, VarianceAttrs attrs = {});
Expr Std(Expr data, VarianceAttrs attrs = {});

// Order.
Expr Argsort(Expr data, ArgsortAttrs attrs = {});
Expr Sort(Expr data, ArgsortAttrs attrs = {});
Expr TopK(Expr data, TopKAttrs attrs);
Expr CumSum(Expr data, ScanopAttrs attrs = {});

// Annotations.
Expr StopFusion(Expr data);

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_TENSOR_H_
