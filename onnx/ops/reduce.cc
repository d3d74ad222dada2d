// Converters of reductions over axes.

#include "baton/relay/op/tensor/reduce.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/type.h"
#include "baton/onnx/converter.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/tensor/create.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/op/tensor/sequence.h"
#include "baton/relay/op/tensor/shape.h"

namespace baton::onnx {
namespace {

using relay::ReduceAttrs;

// The axes of a reduction; nullopt if the data stays unchanged. Axes were an
// attribute, then an input: for ReduceSum since opset 13, for the others since
// 18.
absl::StatusOr<std::optional<ReduceAttrs>> ReduceOver(
    NodeContext& node, int64_t axes_input_since) {
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(node.Input(0)));
  ReduceAttrs result;
  result.keepdims = node.Int("keepdims", 1) != 0;
  std::optional<std::vector<int64_t>> axes;
  if (node.opset() < axes_input_since) {
    axes = node.Ints("axes");
  } else if (node.HasInput(1)) {
    BATON_ASSIGN_OR_RETURN(axes, node.ConstantInts(1));
  }
  if (axes.has_value() && !axes->empty()) {
    BATON_ASSIGN_OR_RETURN(result.axis, NormalAxes(*std::move(axes), rank));
    return result;
  }
  if (node.Int("noop_with_empty_axes", 0) != 0) return std::nullopt;
  // Named, so that the result of a scalar is one.
  result.axis.emplace(rank);
  std::iota(result.axis->begin(), result.axis->end(), 0);
  return result;
}

using Element = Expr (*)(const Expr& x);
Expr Same(const Expr& x) { return x; }
Expr Square(const Expr& x) { return relay::Multiply(x, x); }
Expr AbsOf(const Expr& x) { return relay::Abs(x); }
Expr LogOf(const Expr& x) { return relay::Log(x); }
Expr SqrtOf(const Expr& x) { return relay::Sqrt(x); }

template <Expr (*kReduce)(Expr, ReduceAttrs), Element kBefore = Same,
          Element kAfter = Same, int kAxesInputSince = 18>
absl::StatusOr<Outputs> Reduce(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(const std::optional<ReduceAttrs> over,
                         ReduceOver(node, kAxesInputSince));
  Expr x = kBefore(node.Input(0));
  if (over.has_value() && !over->axis->empty()) {
    x = kReduce(std::move(x), *over);
  }
  return One(kAfter(x));
}

absl::StatusOr<Outputs> ReduceLogSumExp(NodeContext& node) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const std::optional<ReduceAttrs> over,
                         ReduceOver(node, 18));
  if (!over.has_value() || over->axis->empty()) return One(x);
  ReduceAttrs kept = *over;
  kept.keepdims = true;
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(x));
  for (const int64_t axis : *over->axis) {
    // Nothing can be taken out of no elements.
    if (type->dim(static_cast<int>(axis)).is_const(0)) {
      return One(relay::Log(relay::Sum(relay::Exp(x), *over)));
    }
  }
  // As the reference: the maximum is taken out, so that nothing overflows.
  const Expr max = relay::Max(x, kept);
  Expr result = relay::Add(
      relay::Log(relay::Sum(relay::Exp(relay::Subtract(x, max)), kept)), max);
  if (!over->keepdims) result = relay::Squeeze(std::move(result), over->axis);
  return One(std::move(result));
}

// The maximum, or the minimum: of no elements it is the least value of the
// type, or the greatest; of bools it is whether any is true, or all are.
template <bool kMax>
absl::StatusOr<Outputs> Extremum(NodeContext& node) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const std::optional<ReduceAttrs> over,
                         ReduceOver(node, 18));
  if (!over.has_value() || over->axis->empty()) return One(x);
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(x));
  const bool is_empty =
      std::any_of(over->axis->begin(), over->axis->end(), [type](int64_t axis) {
        return type->dim(static_cast<int>(axis)).is_const(0);
      });
  const DType dtype = type->dtype();
  if (is_empty) {
    // The sum of nothing has the shape of the result.
    const Expr shape = relay::Sum(relay::Cast(x, DType::Float(32)), *over);
    Tensor value;
    VisitDType(dtype, [&]<typename T>() {
      using Limits = std::numeric_limits<T>;
      if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
        const float infinity = std::numeric_limits<float>::infinity();
        value = Tensor::Scalar<T>(static_cast<T>(kMax ? -infinity : infinity));
      } else if constexpr (Limits::has_infinity) {
        value =
            Tensor::Scalar<T>(kMax ? -Limits::infinity() : Limits::infinity());
      } else {
        value = Tensor::Scalar<T>(kMax ? Limits::lowest() : Limits::max());
      }
    });
    return One(relay::FullLike(relay::Cast(shape, dtype), relay::Const(value)));
  }
  if (dtype.is_bool()) {
    return One(kMax ? relay::Any(x, *over) : relay::All(x, *over));
  }
  return One(kMax ? relay::Max(x, *over) : relay::Min(x, *over));
}

template <Expr (*kReduce)(Expr, relay::ArgReduceAttrs)>
absl::StatusOr<Outputs> ArgReduce(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(node.Input(0)));
  BATON_ASSIGN_OR_RETURN(const int axis, NormalAxis(node.Int("axis", 0), rank));
  return One(relay::Cast(
      kReduce(node.Input(0),
              {.axis = std::vector<int64_t>{axis},
               .keepdims = node.Int("keepdims", 1) != 0,
               .select_last_index = node.Int("select_last_index", 0) != 0}),
      DType::Int(64)));
}

// The sums or the products of the elements up to each.
template <bool kProduct>
absl::StatusOr<Outputs> Scan(NodeContext& node) {
  Expr x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(x));
  BATON_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, node.ConstantInts(1));
  if (axes.size() != 1) {
    return absl::InvalidArgumentError("the axis is no scalar");
  }
  BATON_ASSIGN_OR_RETURN(const int axis, NormalAxis(axes[0], rank));
  BATON_ASSIGN_OR_RETURN(const DType dtype, ElementTypeOf(x));
  const bool reverse = node.Int("reverse", 0) != 0;
  if (reverse) x = relay::Reverse(x, axis);
  const relay::ScanopAttrs attrs = {
      .axis = axis, .dtype = dtype, .exclusive = node.Int("exclusive", 0) != 0};
  x = kProduct ? Call(BATON_OP("cumprod"), {x}, Attrs::Make(attrs))
               : relay::CumSum(x, attrs);
  if (reverse) x = relay::Reverse(x, axis);
  return One(std::move(x));
}

BATON_ONNX_CONVERTERS({
    {"ArgMax", ArgReduce<relay::ArgMax>},
    {"ArgMin", ArgReduce<relay::ArgMin>},
    {"CumProd", Scan<true>, 26},
    {"CumSum", Scan<false>, 11},
    {"ReduceL1", Reduce<relay::Sum, AbsOf>},
    {"ReduceL2", Reduce<relay::Sum, Square, SqrtOf>},
    {"ReduceLogSum", Reduce<relay::Sum, Same, LogOf>},
    {"ReduceLogSumExp", ReduceLogSumExp},
    {"ReduceMax", Extremum<true>},
    {"ReduceMean", Reduce<relay::Mean>},
    {"ReduceMin", Extremum<false>},
    {"ReduceProd", Reduce<relay::Prod>},
    {"ReduceSum", Reduce<relay::Sum, Same, Same, 13>},
    {"ReduceSumSquare", Reduce<relay::Sum, Square>},
});

}  // namespace
}  // namespace baton::onnx
