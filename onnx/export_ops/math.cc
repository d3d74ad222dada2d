// Exporters of element-wise operators and reductions.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/number_range.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/onnx/export_ops/simple.h"
#include "baton/onnx/exporter.h"
#include "baton/onnx/graph_builder.h"
#include "baton/onnx/operator_table.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/layout_rules.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/op/tensor/reduce.h"
#include "baton/relay/op/tensor/sequence.h"

namespace baton::onnx {
namespace {

using Ints = std::vector<int64_t>;

ValueId Truncated(CallExport& call, ValueId x) {
  return call.Node("Mul", {call.Node("Sign", {x}),
                           call.Node("Floor", {call.Node("Abs", {x})})});
}

absl::StatusOr<Values> Trunc(CallExport& call) {
  if (call.ElementType(0).is_integral()) return FirstOperand(call);
  return Values{Truncated(call, call.Arg(0))};
}

absl::StatusOr<Values> Rsqrt(CallExport& call) {
  return Values{call.Node("Reciprocal", {call.Node("Sqrt", {call.Arg(0)})})};
}

// The logarithm to a base.
absl::StatusOr<Values> LogOf(CallExport& call, double base) {
  return Values{
      call.Node("Mul", {call.Node("Log", {call.Arg(0)}),
                        call.Scalar(1 / std::log(base), call.ElementType(0))})};
}
absl::StatusOr<Values> Log2(CallExport& call) { return LogOf(call, 2); }
absl::StatusOr<Values> Log10(CallExport& call) { return LogOf(call, 10); }

absl::StatusOr<Values> Negative(CallExport& call) {
  const DType dtype = call.ElementType(0);
  if (!dtype.is_uint()) return Same<"Neg">(call);
  return Values{call.Node("Sub", {call.Scalar(0, dtype), call.Arg(0)})};
}

// Since opset 20 of all floats.
ValueId IsInfOf(CallExport& call) {
  const DType dtype = call.ElementType(0);
  const bool is_known = call.opset() >= 20 || dtype.bits() >= 32;
  return call.Node("IsInf", {call.Cast(call.Arg(0), dtype,
                                       is_known ? dtype : DType::Float(32))});
}

absl::StatusOr<Values> IsInf(CallExport& call) { return Values{IsInfOf(call)}; }

absl::StatusOr<Values> IsFinite(CallExport& call) {
  const ValueId x = call.Arg(0);
  return Values{call.Node(
      "Not", {call.Node("Or", {call.Node("IsNaN", {x}), IsInfOf(call)})})};
}

// Before opset 14 there is no arithmetic on integers of less than 32 bits.
absl::StatusOr<Values> Arithmetic(CallExport& call, absl::string_view name) {
  const DType dtype = call.ElementType(0);
  if (call.opset() >= 14 || !dtype.is_integral() || dtype.bits() >= 32) {
    return SameNode(call, name);
  }
  const DType wide = DType::Int(32);
  const ValueId result = call.Node(name, {call.Cast(call.Arg(0), dtype, wide),
                                          call.Cast(call.Arg(1), dtype, wide)});
  return Values{call.Cast(result, wide, dtype)};
}

absl::StatusOr<Values> NotEqual(CallExport& call) {
  return Values{
      call.Node("Not", {call.Node("Equal", {call.Arg(0), call.Arg(1)})})};
}

// A product with a reciprocal square root is a quotient, one node less.
absl::StatusOr<Values> Multiply(CallExport& call) {
  for (int i = 0; i < 2; ++i) {
    const auto* factor = call.Definition(i).As<relay::CallNode>();
    if (factor != nullptr && factor->op().get() == BATON_OP("rsqrt").get()) {
      const ValueId root = call.Node("Sqrt", {call.Of(factor->arg(0))});
      return Values{call.Node("Div", {call.Arg(1 - i), root})};
    }
  }
  return Arithmetic(call, "Mul");
}

// The quotient rounded down: of integers, ONNX rounds towards zero.
ValueId FloorQuotient(CallExport& call, ValueId a, ValueId b, DType dtype) {
  const ValueId quotient = call.Node("Div", {a, b});
  if (dtype.is_float()) return call.Node("Floor", {quotient});
  if (dtype.is_uint()) return quotient;
  // One less where there is a rest and the signs differ.
  const ValueId zero = call.Scalar(0, dtype);
  const ValueId rest = call.Node("Sub", {a, call.Node("Mul", {quotient, b})});
  const ValueId is_exact = call.Node("Equal", {rest, zero});
  const ValueId signs_differ = call.Node(
      "Xor", {call.Node("Less", {rest, zero}), call.Node("Less", {b, zero})});
  const ValueId is_lower =
      call.Node("And", {call.Node("Not", {is_exact}), signs_differ});
  return call.Node(
      "Where", {is_lower, call.Node("Sub", {quotient, call.Scalar(1, dtype)}),
                quotient});
}

absl::StatusOr<Values> FloorDivide(CallExport& call) {
  return Values{
      FloorQuotient(call, call.Arg(0), call.Arg(1), call.ElementType(0))};
}

absl::StatusOr<Values> TruncDivide(CallExport& call) {
  const ValueId quotient = call.Node("Div", {call.Arg(0), call.Arg(1)});
  return Values{call.ElementType(0).is_integral() ? quotient
                                                  : Truncated(call, quotient)};
}

// The rest has the sign of the dividend.
absl::StatusOr<Values> TruncMod(CallExport& call) {
  return Values{call.Node("Mod", {call.Arg(0), call.Arg(1)},
                          NodeAttributes().Int("fmod", 1))};
}

// The rest has the sign of the divisor.
absl::StatusOr<Values> FloorMod(CallExport& call) {
  const ValueId a = call.Arg(0);
  const ValueId b = call.Arg(1);
  if (call.ElementType(0).is_integral()) {
    return Values{call.Node("Mod", {a, b})};
  }
  // Mod of floats has the sign of the dividend, and is exact: the difference
  // with a rounded quotient is not, and is infinite where the quotient is.
  const ValueId zero = call.Scalar(0, call.ElementType(0));
  const ValueId rest =
      call.Node("Mod", {a, b}, NodeAttributes().Int("fmod", 1));
  const ValueId signs_differ = call.Node(
      "Xor", {call.Node("Less", {rest, zero}), call.Node("Less", {b, zero})});
  const ValueId is_lower = call.Node(
      "And",
      {call.Node("Not", {call.Node("Equal", {rest, zero})}), signs_differ});
  return Values{
      call.Node("Where", {is_lower, call.Node("Add", {rest, b}), rest})};
}

// ONNX shifts unsigned integers only: for others a shift is a product with a
// power of 2, or the quotient by one, rounded down.
absl::StatusOr<Values> SignedShift(CallExport& call, bool is_left) {
  const DType dtype = call.ElementType(0);
  const DType wide = DType::Int(64);
  ValueId power = kNoValue;
  if (const Tensor* by = call.Constant(1)) {
    BATON_ASSIGN_OR_RETURN(MutableTensor powers,
                           MutableTensor::Create(wide, by->shape()));
    for (int64_t k = 0; k < by->num_elements(); ++k) {
      const int64_t bits = by->AtAsInt64(k);
      if (bits < 0 || bits > 62) {
        return absl::UnimplementedError(absl::StrCat("by ", bits, " bits"));
      }
      powers.span<int64_t>()[k] = int64_t{1} << bits;
    }
    power = call.TensorConstant(std::move(powers).Freeze());
  } else {
    const DType positive = DType::UInt(64);
    power = call.Cast(
        call.Node("BitShift",
                  {call.Scalar(1, positive),
                   call.Cast(call.Arg(1), call.ElementType(1), positive)},
                  NodeAttributes().String("direction", "LEFT")),
        positive, wide);
  }
  const ValueId x = call.Cast(call.Arg(0), dtype, wide);
  if (is_left) {
    return Values{call.Cast(call.Node("Mul", {x, power}), wide, dtype)};
  }
  const ValueId rest = call.Node("Mod", {x, power});  // not negative
  const ValueId quotient =
      call.Node("Div", {call.Node("Sub", {x, rest}), power});
  return Values{call.Cast(quotient, wide, dtype)};
}

template <OpName kDirection>
absl::StatusOr<Values> Shift(CallExport& call) {
  if (!call.ElementType(0).is_uint()) {
    return SignedShift(call, kDirection.view() == "LEFT");
  }
  return Values{
      call.Node("BitShift", {call.Arg(0), call.Arg(1)},
                NodeAttributes().String("direction", kDirection.view()))};
}

absl::StatusOr<Values> Bitwise(CallExport& call, absl::string_view name) {
  const DType dtype = call.ElementType(0);
  if (dtype.is_bool()) {
    return absl::UnimplementedError("of bools: use the logical operator");
  }
  BATON_RETURN_IF_ERROR(call.Needs(18));
  return SameNode(call, name);
}

// The operand as bools.
ValueId AsBool(CallExport& call, int i) {
  return call.Cast(call.Arg(i), call.ElementType(i), DType::Bool());
}

absl::StatusOr<Values> Logical(CallExport& call, absl::string_view name) {
  Values inputs;
  for (int i = 0; i < call.num_args(); ++i) inputs.push_back(AsBool(call, i));
  return Values{call.Cast(call.Node(name, inputs), DType::Bool(),
                          call.ResultType()->dtype())};
}

absl::StatusOr<Values> Where(CallExport& call) {
  return Values{
      call.Node("Where", {AsBool(call, 0), call.Arg(1), call.Arg(2)})};
}

absl::StatusOr<Values> Cast(CallExport& call) {
  return Values{
      call.Cast(call.Arg(0), call.ElementType(0), call.ResultType()->dtype())};
}

absl::StatusOr<Values> Clip(CallExport& call) {
  const auto& attrs = call.attrs<relay::ClipAttrs>();
  const DType dtype = call.ElementType(0);
  const double infinity = std::numeric_limits<double>::infinity();
  const auto limit = [&](double value, double none) {
    return value == none ? kNoValue : call.Scalar(value, dtype);
  };
  return Values{call.Node("Clip", {call.Arg(0), limit(attrs.a_min, -infinity),
                                   limit(attrs.a_max, infinity)})};
}

absl::StatusOr<Values> Relu(CallExport& call) {
  const DType dtype = call.ElementType(0);
  if (dtype.is_float() || call.opset() >= 14) return Same<"Relu">(call);
  return Values{call.Node("Max", {call.Arg(0), call.Scalar(0, dtype)})};
}

// --- Reductions ------------------------------------------------------------

// Reduces `x`. That no axes are reduced is not the same as none being given.
ValueId Reduce(CallExport& call, absl::string_view op, ValueId x,
               const Ints& axes, bool keepdims) {
  if (axes.empty()) return x;
  NodeAttributes attributes;
  attributes.Int("keepdims", keepdims ? 1 : 0);
  if (call.opset() >=
      RowOf(kReductions, &ReductionRow::onnx, op).axes_input_since) {
    return call.Node(op, {x, call.Ints(axes)}, std::move(attributes));
  }
  attributes.Ints("axes", axes);
  return call.Node(op, {x}, std::move(attributes));
}

// The type in which ONNX reduces elements of a type.
DType ReducedIn(DType dtype) {
  return dtype.is_integral() && dtype.bits() < 32 ? DType::Int(32) : dtype;
}

// An extremum in int32 of elements of a narrower type, as it is in that type.
// They differ where there are no elements.
ValueId OfNarrowType(CallExport& call, absl::string_view op, ValueId x,
                     DType dtype) {
  const bool is_max = op == "ReduceMax";
  const DType wide = DType::Int(32);
  if (dtype.is_bool()) {
    return call.Node("Greater", {x, call.Scalar(0, wide)});
  }
  const NumberRange range = *FiniteRange(dtype);
  const ValueId end = call.Scalar(is_max ? range.low : range.high, wide);
  return call.Cast(call.Node(is_max ? "Max" : "Min", {x, end}), wide, dtype);
}

absl::StatusOr<Values> IntegerMean(CallExport& call);

// A row of kReductions with the form kSame.
absl::StatusOr<Values> Reduction(CallExport& call, absl::string_view name) {
  const auto& attrs = call.attrs<relay::ReduceAttrs>();
  const DType dtype = call.ElementType(0);
  if (name == "ReduceMean" && !dtype.is_float()) return IntegerMean(call);
  const DType wide = ReducedIn(dtype);
  const Ints axes =
      relay::layouts::ReducedAxes(attrs.axis, attrs.exclude, call.Rank(0));
  const ValueId result = Reduce(call, name, call.Cast(call.Arg(0), dtype, wide),
                                axes, attrs.keepdims);
  const bool is_extremum = name == "ReduceMax" || name == "ReduceMin";
  const bool may_be_empty =
      std::any_of(axes.begin(), axes.end(), [&call](int64_t axis) {
        const Dim& dim = call.ArgType(0)->dim(static_cast<int>(axis));
        return !dim.is_const() || dim.is_const(0);
      });
  if (is_extremum && wide != dtype && may_be_empty) {
    return Values{OfNarrowType(call, name, result, dtype)};
  }
  return Values{call.Cast(result, wide, call.ResultType()->dtype())};
}

// cumprod, which ONNX has from opset 26 on: the products of what a triangle of
// conditions selects.
absl::StatusOr<Values> CumProd(CallExport& call) {
  constexpr int64_t kMaxExtent = 1024;
  const auto& attrs = call.attrs<relay::ScanopAttrs>();
  const DType dtype = call.ResultType()->dtype();
  const DType wide = ReducedIn(dtype);
  const int rank = call.Rank(0);
  ValueId x = call.Cast(call.Arg(0), call.ElementType(0), wide);
  if (!attrs.axis.has_value() && rank != 1) {
    return absl::UnimplementedError("over several axes");
  }
  int64_t axis = attrs.axis.value_or(0);
  if (axis < 0) axis += rank;
  const Dim& extent = call.ArgType(0)->dim(static_cast<int>(axis));
  if (!extent.is_const() || extent.value() > kMaxExtent) {
    return absl::UnimplementedError(
        absl::StrCat("over an axis of more than ", kMaxExtent,
                     " elements, or of an unknown number"));
  }
  const int64_t size = extent.value();
  Ints shape(rank - axis + 1, 1);
  shape[0] = shape[1] = size;
  BATON_ASSIGN_OR_RETURN(MutableTensor mask,
                         MutableTensor::Create(DType::Bool(), shape));
  const absl::Span<bool> selected = mask.span<bool>();
  for (int64_t i = 0; i < size; ++i) {
    for (int64_t k = 0; k < size; ++k) {
      selected[i * size + k] = attrs.exclusive ? k < i : k <= i;
    }
  }
  x = call.Node("Unsqueeze", {x, call.Ints({axis})});
  x = call.Node("Where", {call.TensorConstant(std::move(mask).Freeze()), x,
                          call.Scalar(1, wide)});
  return Values{
      call.Cast(Reduce(call, "ReduceProd", x, {axis + 1}, false), wide, dtype)};
}

// The number of elements that are reduced, less `less`, as a scalar.
absl::StatusOr<ValueId> ReducedCount(CallExport& call, const Ints& axes,
                                     DType dtype, double less = 0) {
  double count = 1;
  bool is_known = true;
  for (const int64_t axis : axes) {
    const Dim& dim = call.ArgType(0)->dim(static_cast<int>(axis));
    is_known = is_known && dim.is_const();
    if (is_known) count *= static_cast<double>(dim.value());
  }
  if (is_known) return call.Scalar(count - less, dtype);
  const ValueId extents =
      call.Node("Gather", {call.Node("Shape", {call.Arg(0)}), call.Ints(axes)},
                NodeAttributes().Int("axis", 0));
  const ValueId product = call.Cast(
      Reduce(call, "ReduceProd", extents, {0}, false), DType::Int(64), dtype);
  return less == 0 ? product
                   : call.Node("Sub", {product, call.Scalar(less, dtype)});
}

// The mean of integers is written as their 64-bit sum divided by the count.
// ONNX does not define how ReduceMean rounds; its integer division truncates.
absl::StatusOr<Values> IntegerMean(CallExport& call) {
  const DType dtype = call.ElementType(0);
  const auto& attrs = call.attrs<relay::ReduceAttrs>();
  const Ints axes =
      relay::layouts::ReducedAxes(attrs.axis, attrs.exclude, call.Rank(0));
  const DType wide =
      dtype.is_uint() && dtype.bits() == 64 ? dtype : DType::Int(64);
  const ValueId sum =
      Reduce(call, "ReduceSum", call.Cast(call.Arg(0), dtype, wide), axes,
             attrs.keepdims);
  BATON_ASSIGN_OR_RETURN(const ValueId count, ReducedCount(call, axes, wide));
  return Values{call.Cast(call.Node("Div", {sum, count}), wide,
                          call.ResultType()->dtype())};
}

// The axis of an operator that has one, and what it is applied to: the whole
// tensor as a vector if no axis is given.
absl::StatusOr<std::pair<ValueId, int64_t>> OneAxis(
    CallExport& call, const std::optional<Ints>& given, bool exclude) {
  const int rank = call.Rank(0);
  const Ints axes = relay::layouts::ReducedAxes(given, exclude, rank);
  if (axes.size() == 1) return std::pair(call.Arg(0), axes[0]);
  if (static_cast<int>(axes.size()) == rank) {
    return std::pair(call.Reshape(call.Arg(0), {-1}), int64_t{0});
  }
  return absl::UnimplementedError(absl::StrCat("over ", axes.size(), " axes"));
}

template <OpName kName>
absl::StatusOr<Values> ArgReduction(CallExport& call) {
  const auto& attrs = call.attrs<relay::ArgReduceAttrs>();
  BATON_ASSIGN_OR_RETURN(const auto along,
                         OneAxis(call, attrs.axis, attrs.exclude));
  const bool is_flat = along.first != call.Arg(0);
  if (is_flat && attrs.keepdims) {
    return absl::UnimplementedError("over all axes with keepdims");
  }
  NodeAttributes attributes;
  attributes.Int("axis", along.second);
  attributes.Int("keepdims", attrs.keepdims ? 1 : 0);
  if (attrs.select_last_index) attributes.Int("select_last_index", 1);
  const ValueId result =
      call.Node(kName.view(), {along.first}, std::move(attributes));
  return Values{call.Cast(result, DType::Int(64), call.ResultType()->dtype())};
}

absl::StatusOr<Values> Variance(CallExport& call) {
  const auto& attrs = call.attrs<relay::VarianceAttrs>();
  const Ints axes =
      relay::layouts::ReducedAxes(attrs.axis, attrs.exclude, call.Rank(0));
  const ValueId x = call.Arg(0);
  // The second argument is the mean, with all axes.
  const ValueId centered = call.Node("Sub", {x, call.Arg(1)});
  const ValueId squares = call.Node("Mul", {centered, centered});
  if (!attrs.unbiased) {
    return Values{Reduce(call, "ReduceMean", squares, axes, attrs.keepdims)};
  }
  const DType dtype = call.ElementType(0);
  BATON_ASSIGN_OR_RETURN(const ValueId count,
                         ReducedCount(call, axes, dtype, 1));
  return Values{call.Node(
      "Div",
      {Reduce(call, "ReduceSum", squares, axes, attrs.keepdims), count})};
}

// min(max(x, low), high) of scalars `low` and `high` is one node.
absl::StatusOr<Values> Minimum(CallExport& call) {
  if (call.ElementType(0).is_bool()) return Same<"And">(call);
  const relay::CallNode* maximum = call.Definition(0).As<relay::CallNode>();
  if (maximum != nullptr && call.Rank(1) == 0 &&
      relay::IsCallTo(call.Definition(0), BATON_OP("maximum")) &&
      maximum->arg(1)->tensor_type()->rank() == 0) {
    return Values{call.Node("Clip", {call.Of(maximum->arg(0)),
                                     call.Of(maximum->arg(1)), call.Arg(1)})};
  }
  return Same<"Min">(call);
}

absl::StatusOr<Values> Maximum(CallExport& call) {
  return call.ElementType(0).is_bool() ? Same<"Or">(call) : Same<"Max">(call);
}

// Comparisons of order, which ONNX has of numbers only.
absl::StatusOr<Values> Ordered(CallExport& call, absl::string_view name) {
  const DType dtype = call.ElementType(0);
  if (!dtype.is_bool()) return SameNode(call, name);
  return Values{
      call.Node(name, {call.Cast(call.Arg(0), dtype, DType::Int(32)),
                       call.Cast(call.Arg(1), dtype, DType::Int(32))})};
}

// --- Registrations ---------------------------------------------------------

absl::StatusOr<Values> OneToOne(CallExport& call) {
  const Elementwise& row =
      RowOf(kElementwise, &Elementwise::relay, call.call().op_node()->name());
  switch (row.form) {
    case ElementwiseForm::kArithmetic:
      return Arithmetic(call, row.onnx);
    case ElementwiseForm::kOrdered:
      return Ordered(call, row.onnx);
    case ElementwiseForm::kBitwise:
      return Bitwise(call, row.onnx);
    case ElementwiseForm::kLogical:
      return Logical(call, row.onnx);
    case ElementwiseForm::kRounding:
      if (call.ElementType(0).is_integral()) return FirstOperand(call);
      break;
    case ElementwiseForm::kSame:
    case ElementwiseForm::kOwn:
      break;
  }
  return SameNode(call, row.onnx);
}

[[maybe_unused]] const bool elementwise_is_registered = [] {
  for (const Elementwise& row : kElementwise) {
    if (row.form == ElementwiseForm::kOwn) continue;
    OpExtension(row.relay).Set(OnnxExporters(), OneToOne);
  }
  return true;
}();

absl::StatusOr<Values> ReductionOfRow(CallExport& call) {
  const absl::string_view name = call.call().op_node()->name();
  for (const ReductionRow& row : kReductions) {
    if (row.form == ReductionForm::kSame &&
        (row.relay == name || row.of_bools == name)) {
      return Reduction(call, row.onnx);
    }
  }
  return absl::InternalError(absl::StrCat(name, " is no reduction"));
}

[[maybe_unused]] const bool reductions_are_registered = [] {
  for (const ReductionRow& row : kReductions) {
    if (row.form != ReductionForm::kSame) continue;
    for (const absl::string_view op : {row.relay, row.of_bools}) {
      if (!op.empty()) OpExtension(op).Set(OnnxExporters(), ReductionOfRow);
    }
  }
  return true;
}();

BATON_EXTEND_OP("erf").Set(OnnxExporters(), Same<"Erf">);
BATON_EXTEND_OP("fast_erf").Set(OnnxExporters(), Same<"Erf">);
BATON_EXTEND_OP("fast_exp").Set(OnnxExporters(), Same<"Exp">);
BATON_EXTEND_OP("fast_tanh").Set(OnnxExporters(), Same<"Tanh">);
BATON_EXTEND_OP("isinf").Set(OnnxExporters(), IsInf);
BATON_EXTEND_OP("trunc").Set(OnnxExporters(), Trunc);
BATON_EXTEND_OP("rsqrt").Set(OnnxExporters(), Rsqrt);
BATON_EXTEND_OP("log2").Set(OnnxExporters(), Log2);
BATON_EXTEND_OP("log10").Set(OnnxExporters(), Log10);
BATON_EXTEND_OP("negative").Set(OnnxExporters(), Negative);
BATON_EXTEND_OP("isfinite").Set(OnnxExporters(), IsFinite);
BATON_EXTEND_OP("copy").Set(OnnxExporters(), FirstOperand);
BATON_EXTEND_OP("annotation.stop_fusion").Set(OnnxExporters(), FirstOperand);
BATON_EXTEND_OP("on_device").Set(OnnxExporters(), FirstOperand);

BATON_EXTEND_OP("multiply").Set(OnnxExporters(), Multiply);
BATON_EXTEND_OP("power").Set(OnnxExporters(), Same<"Pow">);
BATON_EXTEND_OP("maximum").Set(OnnxExporters(), Maximum);
BATON_EXTEND_OP("minimum").Set(OnnxExporters(), Minimum);
BATON_EXTEND_OP("not_equal").Set(OnnxExporters(), NotEqual);
BATON_EXTEND_OP("floor_divide").Set(OnnxExporters(), FloorDivide);
BATON_EXTEND_OP("trunc_divide").Set(OnnxExporters(), TruncDivide);
BATON_EXTEND_OP("floor_mod").Set(OnnxExporters(), FloorMod);
BATON_EXTEND_OP("mod").Set(OnnxExporters(), TruncMod);
BATON_EXTEND_OP("trunc_mod").Set(OnnxExporters(), TruncMod);
BATON_EXTEND_OP("left_shift").Set(OnnxExporters(), Shift<"LEFT">);
BATON_EXTEND_OP("right_shift").Set(OnnxExporters(), Shift<"RIGHT">);
BATON_EXTEND_OP("where").Set(OnnxExporters(), Where);
BATON_EXTEND_OP("cast").Set(OnnxExporters(), Cast);
BATON_EXTEND_OP("cast_like").Set(OnnxExporters(), Cast);
BATON_EXTEND_OP("clip").Set(OnnxExporters(), Clip);
BATON_EXTEND_OP("nn.relu").Set(OnnxExporters(), Relu);

BATON_EXTEND_OP("cumprod").Set(OnnxExporters(), CumProd);
BATON_EXTEND_OP("argmax").Set(OnnxExporters(), ArgReduction<"ArgMax">);
BATON_EXTEND_OP("argmin").Set(OnnxExporters(), ArgReduction<"ArgMin">);
BATON_EXTEND_OP("variance").Set(OnnxExporters(), Variance);

}  // namespace
}  // namespace baton::onnx
