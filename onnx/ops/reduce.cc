// Converters of reductions over axes.

#include "baton/relay/op/tensor/reduce.h"

#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/base/dtype.h"
#include "baton/base/number_range.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/onnx/converter.h"
#include "baton/onnx/operator_table.h"
#include "baton/onnx/ops/extents.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/tensor/create.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/op/tensor/indexing.h"
#include "baton/relay/op/tensor/sequence.h"
#include "baton/relay/op/tensor/shape.h"

namespace baton::onnx {
namespace {

using relay::Call;
using relay::ReduceAttrs;

// The operand, the axes and the final shape of a reduction.
struct Reduction {
  Expr x;
  // Null: nothing is reduced. The axes are named, and there is one at least.
  std::optional<ReduceAttrs> over;
  // The shape that the result is given afterwards; null: it has its shape.
  Expr shape;
};

// The reduction over axes that are computed: each axis becomes two, what is
// kept and what is reduced, one of which has the extent of the axis and the
// other 1, and the second of each two is reduced.
absl::StatusOr<Reduction> ReduceOverComputed(NodeContext& node, int rank,
                                             bool keepdims) {
  const bool is_noop = node.Int("noop_with_empty_axes", 0) != 0;
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* axes_type,
                         TensorTypeOf(node.Input(1)));
  if (axes_type->rank() != 1) {
    return absl::InvalidArgumentError("the axes must be a vector");
  }
  // The number of axes that stay.
  std::optional<int64_t> kept;
  if (const Dim& count = axes_type->dim(0); count.is_const()) {
    kept = count.value() == 0 && !is_noop ? 0 : rank - count.value();
  }
  if (!keepdims && (!kept.has_value() || *kept < 0)) {
    // The rank of the result depends on the axes.
    BATON_RETURN_IF_ERROR(node.ConstantInts(1).status());
  }
  std::vector<int64_t> all(rank);
  std::iota(all.begin(), all.end(), 0);
  const Expr given = AsInt64(node.Input(1));
  const Expr count = relay::Const(Tensor::Scalar<int64_t>(rank));
  const Expr zero = relay::Const(Tensor::Scalar<int64_t>(0));
  const Expr from_front =
      relay::Where(relay::Less(given, zero), relay::Add(given, count), given);
  Expr is_reduced =
      relay::Any(relay::Equal(relay::ExpandDims(VectorConstant(all), 1),
                              relay::ExpandDims(from_front, 0)),
                 {.axis = std::vector<int64_t>{1}});
  if (!is_noop) {
    is_reduced = relay::LogicalOr(
        std::move(is_reduced),
        relay::Equal(relay::NdarraySize(given, DType::Int(64)), zero));
  }
  BATON_ASSIGN_OR_RETURN(is_reduced, node.Typed(std::move(is_reduced)));
  const Expr extents = ShapeVector(node.Input(0));
  const Expr ones = VectorConstant(std::vector<int64_t>(rank, 1));
  BATON_ASSIGN_OR_RETURN(const Expr kept_extents,
                         node.Typed(relay::Where(is_reduced, ones, extents)));
  const Expr pairs =
      relay::Stack({kept_extents, relay::Where(is_reduced, extents, ones)}, 1);
  Reduction result;
  BATON_ASSIGN_OR_RETURN(
      result.x,
      node.Typed(Call(BATON_OP("dyn.reshape"),
                      {node.Input(0), relay::Reshape(pairs, {2 * rank})},
                      Attrs::Make(relay::ReshapeAttrs{.allowzero = true}))));
  result.over.emplace();
  result.over->axis.emplace();
  for (int i = 0; i < rank; ++i) result.over->axis->push_back(2 * i + 1);
  if (keepdims) return result;
  if (*kept == 0) {
    result.shape = VectorConstant({});
    return result;
  }
  // The places of the axes that stay.
  const Expr places = relay::Reshape(
      Call(BATON_OP("argwhere"), {relay::LogicalNot(is_reduced)}), {*kept});
  result.shape = relay::Take(kept_extents, places, {.axis = 0});
  return result;
}

// Axes were an attribute, then an input: of ReduceSum since opset 13, of the
// others since 18.
absl::StatusOr<Reduction> ReductionOf(NodeContext& node,
                                      int64_t axes_input_since) {
  Reduction result{.x = node.Input(0)};
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(result.x));
  const bool keepdims = node.Int("keepdims", 1) != 0;
  std::optional<std::vector<int64_t>> axes;
  if (node.opset() < axes_input_since) {
    axes = node.Ints("axes");
  } else if (node.HasInput(1)) {
    const TensorTypeNode* type = node.Input(1)->tensor_type();
    if (type != nullptr && type->rank() == 1 && type->dim(0).is_const(0)) {
      axes.emplace();
    } else {
      absl::StatusOr<std::vector<int64_t>> known = node.ConstantInts(1);
      if (!known.ok()) return ReduceOverComputed(node, rank, keepdims);
      axes = *std::move(known);
    }
  }
  if (axes.has_value() && !axes->empty()) {
    BATON_ASSIGN_OR_RETURN(axes, DistinctAxes(*std::move(axes), rank));
  } else if (node.Int("noop_with_empty_axes", 0) != 0) {
    return result;
  } else {
    // Named, so that the result of a scalar is one.
    axes.emplace(rank);
    std::iota(axes->begin(), axes->end(), 0);
  }
  if (axes->empty()) return result;
  result.over = ReduceAttrs{.axis = std::move(axes), .keepdims = keepdims};
  return result;
}

// `x` as the result of `reduction`.
Expr Finished(const Reduction& reduction, Expr x) {
  if (!reduction.shape.defined()) return x;
  return Call(BATON_OP("dyn.reshape"), {std::move(x), reduction.shape},
              Attrs::Make(relay::ReshapeAttrs{.allowzero = true}));
}

// Roots and logarithms, which of integers are those in float64, cut off.
Expr RealFunction(Expr (*function)(Expr), Expr x, DType dtype) {
  if (dtype.is_float()) return function(std::move(x));
  return relay::Cast(function(relay::Cast(std::move(x), DType::Float(64))),
                     dtype);
}

// A row of kReductions.
absl::StatusOr<Outputs> Reduce(NodeContext& node) {
  const ReductionRow& row =
      RowOf(kReductions, &ReductionRow::onnx, node.node().op_type);
  BATON_ASSIGN_OR_RETURN(const Reduction reduction,
                         ReductionOf(node, row.axes_input_since));
  BATON_ASSIGN_OR_RETURN(const DType dtype, ElementTypeOf(node.Input(0)));
  Expr x = reduction.x;
  if (row.form == ReductionForm::kAbs) x = relay::Abs(x);
  if (row.form == ReductionForm::kSquares ||
      row.form == ReductionForm::kRootOfSquares) {
    x = relay::Multiply(x, x);
  }
  if (reduction.over.has_value()) {
    const bool is_other = dtype.is_bool() && !row.of_bools.empty();
    x = Call(Op::Find(is_other ? row.of_bools : row.relay), {std::move(x)},
             Attrs::Make(*reduction.over));
  }
  if (row.form == ReductionForm::kRootOfSquares) {
    x = RealFunction(relay::Sqrt, std::move(x), dtype);
  }
  if (row.form == ReductionForm::kLogarithm) {
    x = RealFunction(relay::Log, std::move(x), dtype);
  }
  return One(Finished(reduction, std::move(x)));
}

// log(sum(exp(x))): the maximum is taken out, so that nothing overflows; one
// that is finite, since that of no elements, or of masked ones, is not.
absl::StatusOr<Outputs> ReduceLogSumExp(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(const Reduction reduction, ReductionOf(node, 18));
  if (!reduction.over.has_value()) return One(reduction.x);
  const Expr& x = reduction.x;
  BATON_ASSIGN_OR_RETURN(const DType dtype, ElementTypeOf(x));
  ReduceAttrs kept = *reduction.over;
  kept.keepdims = true;
  Expr max = relay::Max(x, kept);
  const DType real = dtype.is_float() ? dtype : DType::Float(64);
  if (dtype.is_float()) {
    const double most = FiniteRange(dtype)->high;
    max = relay::Clip(std::move(max), -most, most);
  }
  // Differences of unsigned integers would wrap.
  const auto as_real = [&](const Expr& value) {
    return dtype.is_float() ? value : relay::Cast(value, real);
  };
  Expr log = relay::Log(
      relay::Sum(relay::Exp(relay::Subtract(as_real(x), as_real(max))), kept));
  if (!dtype.is_float()) log = relay::Cast(std::move(log), dtype);
  Expr result = relay::Add(std::move(log), max);
  if (!reduction.over->keepdims) {
    result = relay::Squeeze(std::move(result), reduction.over->axis);
  }
  return One(Finished(reduction, std::move(result)));
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

template <bool kProduct>
Expr ScanAlong(Expr x, int axis, DType dtype, bool exclusive, bool reverse) {
  if (reverse) x = relay::Reverse(std::move(x), axis);
  const relay::ScanopAttrs attrs = {
      .axis = axis, .dtype = dtype, .exclusive = exclusive};
  x = kProduct ? Call(BATON_OP("cumprod"), {std::move(x)}, Attrs::Make(attrs))
               : relay::CumSum(std::move(x), attrs);
  if (reverse) x = relay::Reverse(std::move(x), axis);
  return x;
}

// The sums or the products of the elements up to each.
template <bool kProduct>
absl::StatusOr<Outputs> Scan(NodeContext& node) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(x));
  BATON_ASSIGN_OR_RETURN(const DType dtype, ElementTypeOf(x));
  const bool exclusive = node.Int("exclusive", 0) != 0;
  const bool reverse = node.Int("reverse", 0) != 0;
  BATON_ASSIGN_OR_RETURN(const Expr axis_input, ScalarInput(node, 1));
  const absl::StatusOr<std::vector<int64_t>> known = node.ConstantInts(1);
  if (known.ok()) {
    BATON_ASSIGN_OR_RETURN(const int axis, NormalAxis((*known)[0], rank));
    return One(ScanAlong<kProduct>(x, axis, dtype, exclusive, reverse));
  }
  if (rank == 0) {
    return absl::InvalidArgumentError("the data must have one axis or more");
  }
  // The axis that is computed chooses among all.
  const Expr axis = AsInt64(axis_input);
  const auto number = [](int64_t value) {
    return relay::Const(Tensor::Scalar<int64_t>(value));
  };
  Expr result = ScanAlong<kProduct>(x, rank - 1, dtype, exclusive, reverse);
  for (int i = 0; i + 1 < rank; ++i) {
    const Expr is_it = relay::LogicalOr(relay::Equal(axis, number(i)),
                                        relay::Equal(axis, number(i - rank)));
    result =
        relay::If(is_it, ScanAlong<kProduct>(x, i, dtype, exclusive, reverse),
                  std::move(result));
  }
  return One(std::move(result));
}

[[maybe_unused]] const bool reductions_are_registered = [] {
  for (const ReductionRow& row : kReductions) {
    RegisterOpConverters({{row.onnx, Reduce}});
  }
  return true;
}();

BATON_ONNX_CONVERTERS({
    {"ArgMax", ArgReduce<relay::ArgMax>},
    {"ArgMin", ArgReduce<relay::ArgMin>},
    {"CumProd", Scan<true>, 26},
    {"CumSum", Scan<false>, 11},
    {"ReduceLogSumExp", ReduceLogSumExp},
});

}  // namespace
}  // namespace baton::onnx
