// Exporters of operators that make, rearrange, cut, gather and sort tensors.

#include "baton/relay/op/tensor/shape.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/onnx/export_ops/layouts.h"
#include "baton/onnx/export_ops/simple.h"
#include "baton/onnx/exporter.h"
#include "baton/onnx/graph_builder.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/dim_math.h"
#include "baton/relay/op/dyn/dyn.h"
#include "baton/relay/op/nn/dense.h"
#include "baton/relay/op/tensor/create.h"
#include "baton/relay/op/tensor/indexing.h"
#include "baton/relay/op/tensor/sequence.h"
#include "baton/relay/op/tensor/strided_slice.h"
#include "baton/relay/op/vision/vision.h"

namespace baton::onnx {
namespace {

using relay::CallNode;
using relay::IsCallTo;

using Ints = std::vector<int64_t>;

constexpr DType kInt64 = DType::Int(64);

Ints Iota(int64_t size) {
  Ints result(size);
  std::iota(result.begin(), result.end(), 0);
  return result;
}

// An argument that holds integers, as int64.
ValueId AsInt64(CallExport& call, int i) {
  return call.Cast(call.Arg(i), call.ElementType(i), kInt64);
}

// A result of int64 in the element type that Relay gives it.
ValueId FromInt64(CallExport& call, ValueId value, DType dtype) {
  return call.Cast(value, kInt64, dtype);
}

// --- Shapes ----------------------------------------------------------------

bool HasZero(absl::Span<const Dim> shape) {
  return std::any_of(shape.begin(), shape.end(),
                     [](const Dim& dim) { return dim.is_const(0); });
}

// The attributes of a Reshape to `shape`: without allowzero, 0 stands for the
// extent that the axis has.
absl::StatusOr<NodeAttributes> ReshapeAttributes(CallExport& call,
                                                 absl::Span<const Dim> shape) {
  NodeAttributes attributes;
  if (HasZero(shape)) {
    BATON_RETURN_IF_ERROR(call.Needs(14));
    attributes.Int("allowzero", 1);
  }
  return attributes;
}

// `x` in the shape of the result: each dimension is a number, that of an axis
// of one of the arguments, or, once, what is left.
absl::StatusOr<ValueId> InResultShape(CallExport& call, ValueId x) {
  const absl::Span<const Dim> shape = call.ResultType()->shape();
  const bool has_zero = HasZero(shape);
  BATON_ASSIGN_OR_RETURN(NodeAttributes attributes,
                         ReshapeAttributes(call, shape));
  const absl::Span<const Dim> own = call.ArgType(0)->shape();
  Ints numbers;
  std::vector<size_t> open;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i].is_const()) {
      numbers.push_back(shape[i].value());
    } else if (!has_zero && i < own.size() &&
               relay::ProvablyEqual(shape[i], own[i])) {
      numbers.push_back(0);
    } else {
      numbers.push_back(-1);
      open.push_back(i);
    }
  }
  // A tensor without elements does not say what is left.
  if (open.empty() || (open.size() == 1 && !has_zero)) {
    return has_zero ? call.Node("Reshape", {x, call.Ints(numbers)},
                                std::move(attributes))
                    : call.Reshape(x, numbers);
  }
  // The extents of axes elsewhere, cut out of shapes.
  std::vector<ValueId> parts;
  for (const int64_t number : numbers) parts.push_back(call.Ints({number}));
  bool is_left = false;
  for (const size_t i : open) {
    bool is_found = false;
    for (int arg = 0; arg < call.num_args() && !is_found; ++arg) {
      const TensorTypeNode* type = call.ArgType(arg);
      for (int axis = 0; axis < type->rank() && !is_found; ++axis) {
        is_found = relay::ProvablyEqual(shape[i], type->dim(axis));
        if (!is_found) continue;
        parts[i] =
            call.Node("Slice", {call.Node("Shape", {call.Arg(arg)}),
                                call.Ints({axis}), call.Ints({axis + 1})});
      }
    }
    if (!is_found && (is_left || has_zero)) {
      return absl::UnimplementedError(
          "several dimensions of the result are not known");
    }
    is_left = is_left || !is_found;
  }
  const ValueId wanted =
      call.Node("Concat", parts, NodeAttributes().Int("axis", 0));
  return call.Node("Reshape", {x, wanted}, std::move(attributes));
}

// An operand of a product of three axes with the axes that a reshape made one.
const Expr* BeforeMerge(CallExport& call, const Expr& operand, int rank) {
  const auto* reshape = call.Definition(operand).As<CallNode>();
  if (reshape == nullptr || reshape->op().get() != BATON_OP("reshape").get()) {
    return nullptr;
  }
  const Expr& whole = reshape->arg(0);
  const TensorTypeNode* from = whole->tensor_type();
  const TensorTypeNode* to = operand->tensor_type();
  if (from->rank() != rank || to->rank() != 3) return nullptr;
  for (int i = 1; i <= 2; ++i) {
    if (!relay::ProvablyEqual(from->dim(rank - i), to->dim(3 - i))) {
      return nullptr;
    }
  }
  return &whole;
}

// Relay's product of matrices has one axis for the batch, ONNX's any number:
// the product of what was reshaped for it, if the result has the axes of both
// again. Nullopt for other reshapes.
std::optional<ValueId> ProductWithBatch(CallExport& call) {
  const auto* product = call.Definition(0).As<CallNode>();
  const absl::Span<const Dim> shape = call.ResultType()->shape();
  const int rank = static_cast<int>(shape.size());
  if (product == nullptr || rank <= 3 ||
      product->op().get() != BATON_OP("nn.batch_matmul").get()) {
    return std::nullopt;
  }
  const auto& attrs =
      AttrsOrDefaults<relay::BatchMatmulAttrs>(product->attrs());
  const DType dtype = product->tensor_type()->dtype();
  for (int i = 1; i <= 2; ++i) {
    if (!relay::ProvablyEqual(shape[rank - i],
                              product->tensor_type()->dim(3 - i))) {
      return std::nullopt;
    }
  }
  ValueId operands[2];
  for (int k = 0; k < 2; ++k) {
    const Expr* whole = BeforeMerge(call, product->arg(k), rank);
    if (whole == nullptr) return std::nullopt;
    const TensorTypeNode& type = *(*whole)->tensor_type();
    if (type.dtype() != dtype || !(dtype.is_float() || dtype.bits() >= 32)) {
      return std::nullopt;
    }
    for (int i = 0; i < rank - 2; ++i) {
      if (!relay::ProvablyEqual(type.dim(i), shape[i])) return std::nullopt;
    }
    operands[k] = call.Of(*whole);
    if (k == 0 ? attrs.transpose_a : attrs.transpose_b) {
      operands[k] = call.Transpose(operands[k], WithLastTwoSwapped(rank));
    }
  }
  return call.Node("MatMul", {operands[0], operands[1]});
}

// `x` in a shape that is put together as the numbers of Relay's reshape say, of
// which 0 is an extent that is kept, and -3 two axes that become one. Nullopt
// if others are among them.
std::optional<ValueId> ByNumbers(CallExport& call, const Ints& numbers) {
  const ValueId x = call.Arg(0);
  const ValueId shape = call.Node("Shape", {x});
  const int64_t rank = call.Rank(0);
  const auto extent = [&](int64_t axis) {
    return call.Node("Slice",
                     {shape, call.Ints({axis}), call.Ints({axis + 1})});
  };
  std::vector<ValueId> parts;
  int64_t axis = 0;  // of `x`
  bool is_left = false;
  for (const int64_t number : numbers) {
    const int64_t count = number == -3 ? 2 : 1;
    if (axis + count > rank) return std::nullopt;
    if (number > 0) {
      parts.push_back(call.Ints({number}));
    } else if (number == 0) {
      parts.push_back(extent(axis));
    } else if (number == -3 && !is_left) {
      is_left = true;
      parts.push_back(call.Ints({-1}));
    } else if (number == -3) {
      parts.push_back(call.Node("Mul", {extent(axis), extent(axis + 1)}));
    } else {
      return std::nullopt;
    }
    axis += count;
  }
  if (axis != rank) return std::nullopt;
  const ValueId wanted =
      call.Node("Concat", parts, NodeAttributes().Int("axis", 0));
  return call.Node("Reshape", {x, wanted});
}

absl::StatusOr<Values> Reshape(CallExport& call) {
  if (const auto product = ProductWithBatch(call)) return Values{*product};
  const auto& attrs = call.attrs<relay::ReshapeAttrs>();
  const bool is_plain =
      !attrs.allowzero &&
      std::all_of(attrs.newshape.begin(), attrs.newshape.end(),
                  [](int64_t dim) { return dim >= -1; });
  const bool is_known = call.ResultType()->is_static();
  if (is_plain && !is_known) {
    return Values{call.Reshape(call.Arg(0), attrs.newshape)};
  }
  absl::StatusOr<ValueId> result = InResultShape(call, call.Arg(0));
  if (!result.ok() && !attrs.allowzero) {
    if (const auto made = ByNumbers(call, attrs.newshape)) result = *made;
  }
  BATON_RETURN_IF_ERROR(result.status());
  return Values{*result};
}

absl::StatusOr<Values> ReshapedToResult(CallExport& call) {
  BATON_ASSIGN_OR_RETURN(const ValueId result,
                         InResultShape(call, call.Arg(0)));
  return Values{result};
}

absl::StatusOr<Values> ReshapeLike(CallExport& call) {
  if (const auto product = ProductWithBatch(call)) return Values{*product};
  const auto& attrs = call.attrs<relay::ReshapeLikeAttrs>();
  if (call.ResultType()->is_static() || attrs.lhs_begin != 0 ||
      attrs.rhs_begin != 0 || attrs.lhs_end.has_value() ||
      attrs.rhs_end.has_value()) {
    const absl::StatusOr<ValueId> result = InResultShape(call, call.Arg(0));
    if (result.ok()) return Values{*result};
    // Some axes of the other shape in place of some of its own.
    const int64_t rank = call.Rank(0);
    const int64_t other_rank = call.Rank(1);
    std::vector<ValueId> parts;
    const auto add = [&](int arg, int64_t begin, int64_t end) {
      if (begin >= end) return;
      parts.push_back(
          call.Node("Slice", {call.Node("Shape", {call.Arg(arg)}),
                              call.Ints({begin}), call.Ints({end})}));
    };
    add(0, 0, FromFront(attrs.lhs_begin, rank));
    add(1, FromFront(attrs.rhs_begin, other_rank),
        FromFront(attrs.rhs_end.value_or(other_rank), other_rank));
    add(0, FromFront(attrs.lhs_end.value_or(rank), rank), rank);
    BATON_ASSIGN_OR_RETURN(NodeAttributes attributes,
                           ReshapeAttributes(call, call.ResultType()->shape()));
    const ValueId wanted =
        call.Node("Concat", parts, NodeAttributes().Int("axis", 0));
    return Values{
        call.Node("Reshape", {call.Arg(0), wanted}, std::move(attributes))};
  }
  return Values{
      call.Node("Reshape", {call.Arg(0), call.Node("Shape", {call.Arg(1)})})};
}

absl::StatusOr<Values> DynSqueeze(CallExport& call) {
  BATON_RETURN_IF_ERROR(call.Needs(13));  // Before, axes were an attribute.
  return Values{call.Node("Squeeze", {call.Arg(0), AsInt64(call, 1)})};
}

absl::StatusOr<Values> DynReshape(CallExport& call) {
  NodeAttributes attributes;
  if (call.attrs<relay::ReshapeAttrs>().allowzero) {
    BATON_RETURN_IF_ERROR(call.Needs(14));
    attributes.Int("allowzero", 1);
  }
  return Values{call.Node("Reshape", {call.Arg(0), AsInt64(call, 1)},
                          std::move(attributes))};
}

absl::StatusOr<Values> Transpose(CallExport& call) {
  const auto& attrs = call.attrs<relay::TransposeAttrs>();
  const int rank = call.Rank(0);
  Ints axes;
  for (int i = rank - 1; i >= 0; --i) axes.push_back(i);
  if (attrs.axes.has_value()) {
    axes = *attrs.axes;
    for (int64_t& axis : axes) axis = FromFront(axis, rank);
  }
  return Values{call.Transpose(call.Arg(0), axes)};
}

// Parts of an axis are axes of their own for a while.
absl::StatusOr<Values> LayoutTransform(CallExport& call) {
  const auto& attrs = call.attrs<relay::LayoutTransformAttrs>();
  BATON_ASSIGN_OR_RETURN(
      const ValueId result,
      InLayout(call, call.Arg(0), attrs.src_layout, attrs.dst_layout));
  return Values{result};
}

absl::StatusOr<Values> Squeeze(CallExport& call) {
  const auto& attrs = call.attrs<relay::SqueezeAttrs>();
  Ints axes;
  if (attrs.axis.has_value()) {
    axes = *attrs.axis;
    for (int64_t& axis : axes) axis = FromFront(axis, call.Rank(0));
    std::sort(axes.begin(), axes.end());
  } else {
    const absl::Span<const Dim> shape = call.ArgType(0)->shape();
    for (size_t i = 0; i < shape.size(); ++i) {
      if (shape[i].is_const(1)) axes.push_back(static_cast<int64_t>(i));
    }
  }
  return Values{call.Squeeze(call.Arg(0), axes)};
}

absl::StatusOr<Values> ExpandDims(CallExport& call) {
  const auto& attrs = call.attrs<relay::ExpandDimsAttrs>();
  const int64_t begin = FromFront(attrs.axis, call.Rank(0) + 1);
  Ints axes;
  for (int i = 0; i < attrs.num_newaxis; ++i) axes.push_back(begin + i);
  return Values{call.Unsqueeze(call.Arg(0), axes)};
}

absl::StatusOr<Values> BroadcastTo(CallExport& call) {
  BATON_ASSIGN_OR_RETURN(const Ints shape, call.ResultShape());
  return Values{call.Node("Expand", {call.Arg(0), call.Ints(shape)})};
}

absl::StatusOr<Values> BroadcastToLike(CallExport& call) {
  if (call.ResultType()->is_static()) return BroadcastTo(call);
  return Values{
      call.Node("Expand", {call.Arg(0), call.Node("Shape", {call.Arg(1)})})};
}

absl::StatusOr<Values> DynBroadcastTo(CallExport& call) {
  return Values{call.Node("Expand", {call.Arg(0), AsInt64(call, 1)})};
}

absl::StatusOr<Values> ShapeOf(CallExport& call) {
  return Values{FromInt64(call, call.Node("Shape", {call.Arg(0)}),
                          call.ResultType()->dtype())};
}

absl::StatusOr<Values> NdarraySize(CallExport& call) {
  return Values{FromInt64(call, call.Node("Size", {call.Arg(0)}),
                          call.ResultType()->dtype())};
}

// --- Making tensors --------------------------------------------------------

// A tensor of `shape`, a value, that has one element everywhere.
ValueId FilledWith(CallExport& call, double value, DType dtype, ValueId shape) {
  const absl::StatusOr<Tensor> element =
      Tensor::ScalarOf(dtype, value).Reshaped({1});
  return call.Node("ConstantOfShape", {shape},
                   NodeAttributes().TensorValue("value", *element));
}

template <int kValue>
absl::StatusOr<Values> Filled(CallExport& call) {
  BATON_ASSIGN_OR_RETURN(const Ints shape, call.ResultShape());
  return Values{
      FilledWith(call, kValue, call.ResultType()->dtype(), call.Ints(shape))};
}

template <int kValue>
absl::StatusOr<Values> FilledLike(CallExport& call) {
  if (call.ResultType()->is_static()) return Filled<kValue>(call);
  return Values{FilledWith(call, kValue, call.ResultType()->dtype(),
                           call.Node("Shape", {call.Arg(0)}))};
}

template <int kValue>
absl::StatusOr<Values> DynFilled(CallExport& call) {
  return Values{
      FilledWith(call, kValue, call.ResultType()->dtype(), AsInt64(call, 0))};
}

ValueId Fill(CallExport& call, int value, ValueId shape) {
  const DType dtype = call.ResultType()->dtype();
  if (const Tensor* known = call.Constant(value);
      known != nullptr && known->num_elements() == 1 && dtype.bits() <= 32) {
    return FilledWith(call, known->AtAsDouble(0), dtype, shape);
  }
  return call.Node(
      "Expand",
      {call.Cast(call.Arg(value), call.ElementType(value), dtype), shape});
}

absl::StatusOr<Values> Full(CallExport& call) {
  BATON_ASSIGN_OR_RETURN(const Ints shape, call.ResultShape());
  return Values{Fill(call, 0, call.Ints(shape))};
}

absl::StatusOr<Values> FullLike(CallExport& call) {
  const absl::StatusOr<Ints> shape = call.ResultShape();
  return Values{
      Fill(call, 1,
           shape.ok() ? call.Ints(*shape) : call.Node("Shape", {call.Arg(0)}))};
}

absl::StatusOr<Values> DynFull(CallExport& call) {
  return Values{Fill(call, 0, AsInt64(call, 1))};
}

absl::StatusOr<Values> Arange(CallExport& call) {
  const DType wanted = call.ResultType()->dtype();
  // ONNX counts in no narrow floats.
  const DType dtype =
      wanted.is_float() && wanted.bits() < 32 ? DType::Float(32) : wanted;
  Values inputs;
  for (int i = 0; i < 3; ++i) {
    ValueId value = call.Cast(call.Arg(i), call.ElementType(i), dtype);
    if (call.Rank(i) != 0) value = call.Reshape(value, {});
    inputs.push_back(value);
  }
  return Values{call.Cast(call.Node("Range", inputs), dtype, wanted)};
}

absl::StatusOr<Values> Trilu(CallExport& call) {
  BATON_RETURN_IF_ERROR(call.Needs(14));
  ValueId k = AsInt64(call, 1);
  if (call.Rank(1) != 0) k = call.Reshape(k, {});
  return Values{
      call.Node("Trilu", {call.Arg(0), k},
                NodeAttributes().Int(
                    "upper", call.attrs<relay::TriluAttrs>().upper ? 1 : 0))};
}

// --- Joining and cutting ---------------------------------------------------

absl::StatusOr<Values> Concatenate(CallExport& call) {
  const int axis = call.attrs<relay::ConcatenateAttrs>().axis;
  return Values{
      call.Node("Concat", call.Fields(0), NodeAttributes().Int("axis", axis))};
}

absl::StatusOr<Values> Stack(CallExport& call) {
  const int64_t axis = FromFront(call.attrs<relay::StackAttrs>().axis,
                                 call.ResultType()->rank());
  const Values fields = call.Fields(0);
  Values inputs;
  for (ValueId field : fields) {
    inputs.push_back(call.Unsqueeze(field, {axis}));
  }
  return Values{
      call.Node("Concat", inputs, NodeAttributes().Int("axis", axis))};
}

// Parts of an axis whose extent is not known.
absl::StatusOr<Values> SplitUnknown(CallExport& call, int64_t axis) {
  const auto& attrs = call.attrs<relay::SplitAttrs>();
  const ValueId x = call.Arg(0);
  if (const int64_t* parts = attrs.indices_or_sections.As<int64_t>()) {
    NodeAttributes attributes;
    attributes.Int("axis", axis);
    if (call.opset() >= 18) attributes.Int("num_outputs", *parts);
    return call.Nodes("Split", {x}, std::move(attributes),
                      static_cast<int>(*parts));
  }
  Ints cuts;
  BATON_RETURN_IF_ERROR(
      AttrTraits<Ints>::FromValue(attrs.indices_or_sections, &cuts));
  cuts.insert(cuts.begin(), 0);
  cuts.push_back(INT64_MAX);
  Values result;
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    result.push_back(
        call.Node("Slice", {x, call.Ints({cuts[i]}), call.Ints({cuts[i + 1]}),
                            call.Ints({axis})}));
  }
  return result;
}

absl::StatusOr<Values> Split(CallExport& call) {
  const auto& attrs = call.attrs<relay::SplitAttrs>();
  const int64_t axis = FromFront(attrs.axis, call.Rank(0));
  Ints sizes;
  for (const Type& field : call.call().tuple_type()->fields()) {
    const Dim& dim = field.As<TensorTypeNode>()->dim(static_cast<int>(axis));
    if (!dim.is_const()) return SplitUnknown(call, axis);
    sizes.push_back(dim.value());
  }
  return call.Nodes("Split", {call.Arg(0), call.Ints(sizes)},
                    NodeAttributes().Int("axis", axis),
                    static_cast<int>(sizes.size()));
}

// A call of repeat, and the calls of repeat that its argument comes from.
struct Repeats {
  ValueId x;                 // the argument of the first
  std::vector<float> times;  // how often the elements of each axis occur
  int num_calls = 0;
};

Repeats RepeatsOf(CallExport& call) {
  const auto repeats_axis = [](const Expr& expr) {
    if (!IsCallTo(expr, BATON_OP("repeat"))) return false;
    const auto* attrs = expr.As<CallNode>()->attrs_as<relay::RepeatAttrs>();
    return attrs->axis.has_value() && attrs->repeats > 0;
  };
  const int rank = call.Rank(0);
  Repeats result = {.x = kNoValue,
                    .times = std::vector<float>(static_cast<size_t>(rank), 1)};
  Expr x(&call.call());
  while (repeats_axis(call.Definition(x))) {
    if (result.num_calls > 0) {
      // The node of several calls: a chain is not walked again for each call.
      const absl::Span<const ValueId> inputs =
          call.graph().InputsOf(call.Of(x), "Resize");
      if (!inputs.empty()) {
        const Tensor& times = *call.graph().ConstantOf(inputs[2]);
        for (size_t i = 0; i < result.times.size(); ++i) {
          result.times[i] *= times.span<float>()[i];
        }
        result.x = inputs[0];
        ++result.num_calls;
        return result;
      }
    }
    const CallNode* repeat = call.Definition(x).As<CallNode>();
    const auto& attrs = *repeat->attrs_as<relay::RepeatAttrs>();
    result.times[static_cast<size_t>(FromFront(*attrs.axis, rank))] *=
        static_cast<float>(attrs.repeats);
    x = repeat->arg(0);
    ++result.num_calls;
  }
  if (result.num_calls > 0) result.x = call.Of(x);
  return result;
}

// By one node, whether extents are known or not.
absl::StatusOr<Values> ResizeByRepeats(CallExport& call,
                                       const Repeats& repeats) {
  BATON_ASSIGN_OR_RETURN(
      Tensor tensor, Tensor::FromValues<float>(
                         {call.Rank(0)}, absl::MakeConstSpan(repeats.times)));
  NodeAttributes attributes;
  attributes.String("mode", "nearest");
  attributes.String("coordinate_transformation_mode", "asymmetric");
  attributes.String("nearest_mode", "floor");
  return Values{call.Node(
      "Resize", {repeats.x, kNoValue, call.TensorConstant(std::move(tensor))},
      std::move(attributes))};
}

absl::StatusOr<Values> Repeat(CallExport& call) {
  const auto& attrs = call.attrs<relay::RepeatAttrs>();
  ValueId x = call.Arg(0);
  int64_t axis = 0;
  Ints indices;
  int64_t extent = 1;
  if (attrs.axis.has_value()) {
    axis = FromFront(*attrs.axis, call.Rank(0));
    const Dim& dim = call.ArgType(0)->dim(static_cast<int>(axis));
    // Some runtimes cannot resize integers.
    if (!dim.is_const() || call.ElementType(0).is_float()) {
      const Repeats repeats = RepeatsOf(call);
      if (repeats.num_calls > (dim.is_const() ? 1 : 0)) {
        return ResizeByRepeats(call, repeats);
      }
    }
    if (!dim.is_const()) {
      return absl::UnimplementedError("no elements of an unknown extent");
    }
    extent = dim.value();
  } else {
    x = call.Reshape(x, {-1});
    BATON_ASSIGN_OR_RETURN(const Ints shape, call.Shape(0));
    for (int64_t dim : shape) extent *= dim;
  }
  for (int64_t i = 0; i < extent; ++i) {
    indices.insert(indices.end(), attrs.repeats, i);
  }
  return Values{call.Node("Gather", {x, call.Ints(indices)},
                          NodeAttributes().Int("axis", axis))};
}

absl::StatusOr<Values> Tile(CallExport& call) {
  Ints reps = call.attrs<relay::TileAttrs>().reps;
  const int rank = call.Rank(0);
  ValueId x = call.Arg(0);
  if (static_cast<int>(reps.size()) > rank) {
    x = call.Unsqueeze(x, Iota(static_cast<int64_t>(reps.size()) - rank));
  }
  while (static_cast<int>(reps.size()) < rank) reps.insert(reps.begin(), 1);
  return Values{call.Node("Tile", {x, call.Ints(reps)})};
}

absl::StatusOr<Values> DynTile(CallExport& call) {
  const TensorTypeNode* reps = call.ArgType(1);
  if (reps->rank() != 1 || !reps->dim(0).is_const(call.Rank(0))) {
    return absl::UnimplementedError("of another rank");
  }
  return Values{call.Node("Tile", {call.Arg(0), AsInt64(call, 1)})};
}

absl::StatusOr<Values> Reverse(CallExport& call) {
  const int64_t axis = FromFront(
      call.attrs<relay::ReverseAttrs>().axis.value_or(0), call.Rank(0));
  return Values{
      call.Node("Slice", {call.Arg(0), call.Ints({-1}), call.Ints({INT64_MIN}),
                          call.Ints({axis}), call.Ints({-1})})};
}

absl::StatusOr<Values> ReverseSequence(CallExport& call) {
  const auto& attrs = call.attrs<relay::ReverseSequenceAttrs>();
  return Values{call.Node("ReverseSequence", {call.Arg(0), AsInt64(call, 1)},
                          NodeAttributes()
                              .Int("batch_axis", attrs.batch_axis)
                              .Int("time_axis", attrs.seq_axis))};
}

absl::StatusOr<Values> StridedSlice(CallExport& call) {
  const auto& attrs = call.attrs<relay::StridedSliceAttrs>();
  if (!attrs.begin.has_value() || !attrs.end.has_value()) {
    return absl::UnimplementedError("without begin or end");
  }
  Ints begins, ends, axes, steps;
  const absl::Span<const Dim> shape = call.ArgType(0)->shape();
  const auto slices = relay::SlicesOf(shape, attrs);
  if (slices.ok()) {
    for (relay::AxisSlice slice : *slices) {
      if (shape[slice.axis].is_const() && slice.begin == slice.end) {
        // Nothing. A begin before the first element would count from the end.
        slice.begin = slice.end = 0;
        slice.stride = 1;
      }
      begins.push_back(slice.begin);
      // If the extent is known, `end` is counted from the front: an end below
      // zero is before the first element.
      const bool is_front = slice.end < 0 && shape[slice.axis].is_const();
      ends.push_back(is_front ? INT64_MIN : slice.end);
      axes.push_back(slice.axis);
      steps.push_back(slice.stride);
    }
  } else {
    if (attrs.slice_mode != "end") {
      return absl::UnimplementedError("by sizes");
    }
    begins = *attrs.begin;
    ends = *attrs.end;
    steps = attrs.strides.value_or(Ints());
    steps.resize(begins.size(), steps.empty() ? 1 : steps[0]);
    axes = attrs.axes.value_or(Iota(static_cast<int64_t>(begins.size())));
  }
  if (axes.empty()) return FirstOperand(call);
  return Values{
      call.Node("Slice", {call.Arg(0), call.Ints(begins), call.Ints(ends),
                          call.Ints(axes), call.Ints(steps)})};
}

absl::StatusOr<Values> DynStridedSlice(CallExport& call) {
  const auto& attrs = call.attrs<relay::StridedSliceAttrs>();
  const TensorTypeNode* begin = call.ArgType(1);
  if (attrs.slice_mode != "end" || !begin->dim(0).is_const()) {
    return absl::UnimplementedError("by sizes, or of axes that are not known");
  }
  return Values{call.Node(
      "Slice", {call.Arg(0), AsInt64(call, 1), AsInt64(call, 2),
                call.Ints(Iota(begin->dim(0).value())), AsInt64(call, 3)})};
}

absl::StatusOr<Values> SliceLike(CallExport& call) {
  BATON_ASSIGN_OR_RETURN(const Ints shape, call.ResultShape());
  return Values{
      call.Node("Slice", {call.Arg(0), call.Ints(Ints(shape.size(), 0)),
                          call.Ints(shape), call.Ints(Iota(shape.size()))})};
}

// --- Gathering and scattering ----------------------------------------------

// Indices that an importer made of such that count from the end if they are
// below zero: where(x < 0, x + extent, x). Those again; no value if they are
// others.
ValueId IndicesFromBothEnds(CallExport& call, int i, const Dim& extent) {
  const CallNode* where = call.Definition(i).As<CallNode>();
  if (where != nullptr && IsCallTo(call.Definition(i), BATON_OP("where"))) {
    const Expr& is_negative = call.Definition(where->arg(0));
    const Expr& shifted = call.Definition(where->arg(1));
    const Expr& x = where->arg(2);
    if (IsCallTo(is_negative, BATON_OP("less")) &&
        IsCallTo(shifted, BATON_OP("add"))) {
      const CallNode* less = is_negative.As<CallNode>();
      const CallNode* add = shifted.As<CallNode>();
      const auto zero = relay::ConstantSplat(call.Definition(less->arg(1)));
      const auto by = relay::ConstantSplat(call.Definition(add->arg(1)));
      const bool is_extent = extent.is_const()
                                 ? by == static_cast<double>(extent.value())
                                 : !by.has_value();
      if (less->arg(0) == x && add->arg(0) == x && zero == 0.0 && is_extent) {
        return call.Of(x);
      }
    }
  }
  return kNoValue;
}

// True if indices are parts of what argwhere finds, which is inside.
bool AreFound(CallExport& call, int i) {
  const Expr* definition = &call.Definition(i);
  constexpr int kMostParts = 16;
  for (int parts = 0; parts < kMostParts; ++parts) {
    if (IsCallTo(*definition, BATON_OP("argwhere"))) return true;
    const bool is_part = IsCallTo(*definition, BATON_OP("cast")) ||
                         IsCallTo(*definition, BATON_OP("reshape")) ||
                         IsCallTo(*definition, BATON_OP("squeeze")) ||
                         IsCallTo(*definition, BATON_OP("strided_slice")) ||
                         IsCallTo(*definition, BATON_OP("take")) ||
                         IsCallTo(*definition, BATON_OP("transpose"));
    if (!is_part) return false;
    definition = &call.Definition(definition->As<CallNode>()->arg(0));
  }
  return false;
}

// Indices into an axis of `x` that `take` keeps inside by taking the nearest,
// as ONNX takes them, where those below zero count from the end.
ValueId NearestIndices(CallExport& call, int i, ValueId x, int64_t axis,
                       const Dim& extent) {
  if (const Tensor* known = call.Constant(i);
      known != nullptr && extent.is_const()) {
    bool is_inside = true;
    for (int64_t k = 0; k < known->num_elements(); ++k) {
      const int64_t at = known->AtAsInt64(k);
      is_inside = is_inside && at >= 0 && at < extent.value();
    }
    if (is_inside) return AsInt64(call, i);
  }
  if (const ValueId both = IndicesFromBothEnds(call, i, extent);
      both != kNoValue) {
    return both;
  }
  if (AreFound(call, i)) return AsInt64(call, i);
  // Beyond int64 there is nothing, whatever the extent.
  const DType dtype = call.ElementType(i);
  const ValueId indices =
      dtype == DType::UInt(64)
          ? call.Cast(
                call.Node("Clip", {call.Arg(i), kNoValue,
                                   call.TensorConstant(Tensor::Scalar<uint64_t>(
                                       std::numeric_limits<int64_t>::max()))}),
                dtype, kInt64)
          : AsInt64(call, i);
  const ValueId zero = call.TensorConstant(Tensor::Scalar<int64_t>(0));
  if (extent.is_const()) {
    return call.Node("Clip", {indices, zero,
                              call.TensorConstant(Tensor::Scalar<int64_t>(
                                  std::max<int64_t>(extent.value() - 1, 0)))});
  }
  const ValueId count =
      call.Node("Gather", {call.Node("Shape", {x}),
                           call.TensorConstant(Tensor::Scalar<int64_t>(axis))});
  const ValueId last = call.Node(
      "Sub", {count, call.TensorConstant(Tensor::Scalar<int64_t>(1))});
  return call.Node("Clip", {indices, zero, last});
}

// A take whose first `batch` axes are those of the indices, too.
ValueId TakeOfBatches(CallExport& call, int64_t batch, int64_t axis) {
  const int64_t rank = call.Rank(0);
  const int64_t indices_rank = call.Rank(1);
  // The axis that is looked up becomes the first one of each batch.
  Ints order = Iota(batch);
  order.push_back(axis);
  for (int64_t k = batch; k < rank; ++k) {
    if (k != axis) order.push_back(k);
  }
  const ValueId indices = NearestIndices(
      call, 1, call.Arg(0), axis, call.ArgType(0)->dim(static_cast<int>(axis)));
  const ValueId found = call.Node("GatherND",
                                  {call.Transpose(call.Arg(0), order),
                                   call.Unsqueeze(indices, {indices_rank})},
                                  NodeAttributes().Int("batch_dims", batch));
  // From (batch, places, axes before, axes behind).
  const int64_t places = indices_rank - batch;
  const int64_t before = axis - batch;
  Ints back = Iota(batch);
  for (int64_t k = 0; k < before; ++k) back.push_back(batch + places + k);
  for (int64_t k = 0; k < places; ++k) back.push_back(batch + k);
  for (int64_t k = axis + 1; k < rank; ++k) back.push_back(places + k - 1);
  return call.Transpose(found, back);
}

absl::StatusOr<Values> Take(CallExport& call) {
  const auto& attrs = call.attrs<relay::TakeAttrs>();
  if (attrs.mode == "wrap") return absl::UnimplementedError("with wrapping");
  if (attrs.batch_dims != 0) {
    const int64_t batch = FromFront(attrs.batch_dims, call.Rank(1));
    const int64_t axis = FromFront(attrs.axis.value_or(0), call.Rank(0));
    if (!attrs.axis.has_value() || axis < batch) {
      return absl::UnimplementedError("with batch_dims");
    }
    return Values{TakeOfBatches(call, batch, axis)};
  }
  ValueId x = call.Arg(0);
  int64_t axis = 0;
  Dim extent;
  if (attrs.axis.has_value()) {
    axis = FromFront(*attrs.axis, call.Rank(0));
    extent = call.ArgType(0)->dim(static_cast<int>(axis));
  } else {
    if (call.Rank(0) != 1) x = call.Reshape(x, {-1});
    const absl::StatusOr<Ints> shape = call.Shape(0);
    if (shape.ok()) {
      BATON_ASSIGN_OR_RETURN(const int64_t size,
                             NumElements(DType::Bool(), *shape));
      extent = Dim(size);
    }
  }
  return Values{call.Node("Gather",
                          {x, NearestIndices(call, 1, x, axis, extent)},
                          NodeAttributes().Int("axis", axis))};
}

absl::StatusOr<Values> Gather(CallExport& call) {
  const int64_t axis = FromFront(
      call.attrs<relay::GatherAttrs>().axis.value_or(0), call.Rank(0));
  // Both count indices below zero from the end.
  const ValueId from_both_ends = IndicesFromBothEnds(
      call, 1, call.ArgType(0)->dim(static_cast<int>(axis)));
  return Values{
      call.Node("GatherElements",
                {call.Arg(0), from_both_ends == kNoValue ? AsInt64(call, 1)
                                                         : from_both_ends},
                NodeAttributes().Int("axis", axis))};
}

// Coordinates along the first axis, moved to the last.
ValueId Coordinates(CallExport& call, int i) {
  const int rank = call.Rank(i);
  // An importer moves them from there.
  const Expr& definition = call.Definition(i);
  Ints axes;
  for (int k = 1; k < rank; ++k) axes.push_back(k);
  axes.push_back(0);
  if (IsCallTo(definition, BATON_OP("transpose"))) {
    const CallNode* transpose = definition.As<CallNode>();
    const auto* attrs = transpose->attrs_as<relay::TransposeAttrs>();
    Ints inverse = {rank - 1};
    for (int k = 0; k + 1 < rank; ++k) inverse.push_back(k);
    if (attrs != nullptr && attrs->axes == inverse) {
      return call.Cast(call.Of(transpose->arg(0)), call.ElementType(i), kInt64);
    }
  }
  return call.Transpose(AsInt64(call, i), axes);
}

absl::StatusOr<Values> GatherNd(CallExport& call) {
  const auto& attrs = call.attrs<relay::GatherNDAttrs>();
  return Values{
      call.Node("GatherND", {call.Arg(0), Coordinates(call, 1)},
                NodeAttributes().Int("batch_dims", attrs.batch_dims))};
}

absl::StatusOr<NodeAttributes> ReductionOf(CallExport& call,
                                           const std::string& reduction) {
  NodeAttributes attributes;
  if (reduction == "update") return attributes;
  if (reduction == "mean") return absl::UnimplementedError("by the mean");
  BATON_RETURN_IF_ERROR(
      call.Needs(reduction == "add" || reduction == "mul" ? 16 : 18));
  attributes.String("reduction", reduction);
  return attributes;
}

absl::StatusOr<Values> ScatterElements(CallExport& call) {
  const auto& attrs = call.attrs<relay::ScatterElementsAttrs>();
  BATON_ASSIGN_OR_RETURN(NodeAttributes attributes,
                         ReductionOf(call, attrs.reduction));
  const absl::Span<const Dim> places = call.ArgType(1)->shape();
  const absl::Span<const Dim> updates = call.ArgType(2)->shape();
  if (!std::equal(places.begin(), places.end(), updates.begin(), updates.end(),
                  [](const Dim& a, const Dim& b) {
                    return !relay::ProvablyDiffer(a, b);
                  })) {
    return absl::UnimplementedError(absl::StrCat(
        "of updates of the shape ", relay::ShapeToString(updates),
        " at indices of the shape ", relay::ShapeToString(places)));
  }
  const int64_t axis = FromFront(attrs.axis, call.Rank(0));
  attributes.Int("axis", axis);
  return Values{call.Node("ScatterElements",
                          {call.Arg(0), AsInt64(call, 1), call.Arg(2)},
                          std::move(attributes))};
}

absl::StatusOr<Values> ScatterNd(CallExport& call) {
  BATON_ASSIGN_OR_RETURN(
      NodeAttributes attributes,
      ReductionOf(call, call.attrs<relay::ScatterNDAttrs>().mode));
  return Values{call.Node("ScatterND",
                          {call.Arg(0), Coordinates(call, 1), call.Arg(2)},
                          std::move(attributes))};
}

// `depth`: a scalar of int64.
Values OneHotOf(CallExport& call, ValueId depth) {
  const auto& attrs = call.attrs<relay::OneHotAttrs>();
  const DType dtype = call.ResultType()->dtype();
  const auto element = [&](int i) {
    return call.Reshape(call.Cast(call.Arg(i), call.ElementType(i), dtype),
                        {1});
  };
  // Indices below zero are outside here, and count from the end there.
  const ValueId indices = AsInt64(call, 0);
  const ValueId inside = call.Node(
      "Where",
      {call.Node("Less", {indices, call.Scalar(0, kInt64)}), depth, indices});
  const ValueId values = call.Node("Concat", {element(2), element(1)},
                                   NodeAttributes().Int("axis", 0));
  return {call.Node("OneHot", {inside, depth, values},
                    NodeAttributes().Int("axis", attrs.axis))};
}

absl::StatusOr<Values> OneHot(CallExport& call) {
  return OneHotOf(call,
                  call.Scalar(call.attrs<relay::OneHotAttrs>().depth, kInt64));
}

absl::StatusOr<Values> DynOneHot(CallExport& call) {
  return OneHotOf(call, AsInt64(call, 3));
}

// The rows that were found, and their number. Rows past that, which say nothing
// in Relay, are not there.
absl::StatusOr<Values> NonMaxSuppression(CallExport& call) {
  if (call.attrs<relay::AllClassNonMaximumSuppressionAttrs>().output_format !=
      "onnx") {
    return absl::UnimplementedError("with scores as results");
  }
  const auto vector = [&](int i) { return call.Reshape(call.Arg(i), {1}); };
  const ValueId limit = call.Reshape(AsInt64(call, 2), {1});
  const ValueId found =
      call.Node("NonMaxSuppression",
                {call.Arg(0), call.Arg(1), limit, vector(3), vector(4)});
  const TupleTypeNode* both = call.call().tuple_type();
  const DType dtype = both->fields()[0].As<TensorTypeNode>()->dtype();
  const DType count_dtype = both->fields()[1].As<TensorTypeNode>()->dtype();
  const ValueId count =
      call.Node("Gather", {call.Node("Shape", {found}), call.Ints({0})});
  return Values{FromInt64(call, found, dtype),
                FromInt64(call, count, count_dtype)};
}

absl::StatusOr<Values> Argwhere(CallExport& call) {
  const ValueId found = call.Node("NonZero", {call.Arg(0)});
  return Values{FromInt64(call, call.Transpose(found, {1, 0}),
                          call.ResultType()->dtype())};
}

// --- Sorting and scanning --------------------------------------------------

struct Sorted {
  ValueId values;
  ValueId indices;
};

Sorted TopKOf(CallExport& call, ValueId k, int64_t axis, bool is_ascend) {
  const Values both = call.Nodes(
      "TopK", {call.Arg(0), k},
      NodeAttributes().Int("axis", axis).Int("largest", is_ascend ? 0 : 1), 2);
  return {both[0], both[1]};
}

// As many as there are along the axis.
ValueId ExtentOf(CallExport& call, int64_t axis) {
  const Dim& dim = call.ArgType(0)->dim(static_cast<int>(axis));
  if (dim.is_const()) return call.Ints({dim.value()});
  return call.Node("Gather",
                   {call.Node("Shape", {call.Arg(0)}), call.Ints({axis})});
}

Values TopKResult(CallExport& call, const relay::TopKAttrs& attrs, ValueId k) {
  const Sorted sorted =
      TopKOf(call, k, FromFront(attrs.axis, call.Rank(0)), attrs.is_ascend);
  const TupleTypeNode* both = call.call().tuple_type();
  const TensorTypeNode* indices = both == nullptr
                                      ? call.ResultType()
                                      : both->fields()[1].As<TensorTypeNode>();
  if (attrs.ret_type == "values") return {sorted.values};
  const ValueId cast = FromInt64(call, sorted.indices, indices->dtype());
  return attrs.ret_type == "indices" ? Values{cast}
                                     : Values{sorted.values, cast};
}

absl::StatusOr<Values> TopK(CallExport& call) {
  const auto& attrs = call.attrs<relay::TopKAttrs>();
  const int64_t axis = FromFront(attrs.axis, call.Rank(0));
  const bool all = attrs.k.value_or(0) < 1;
  return TopKResult(call, attrs,
                    all ? ExtentOf(call, axis) : call.Ints({*attrs.k}));
}

absl::StatusOr<Values> DynTopK(CallExport& call) {
  const auto& attrs = call.attrs<relay::TopKAttrs>();
  ValueId k = AsInt64(call, 1);
  if (call.Rank(1) != 1) k = call.Reshape(k, {1});
  return TopKResult(call, attrs, k);
}

absl::StatusOr<Values> Argsort(CallExport& call) {
  const auto& attrs = call.attrs<relay::ArgsortAttrs>();
  const int64_t axis = FromFront(attrs.axis, call.Rank(0));
  const Sorted sorted =
      TopKOf(call, ExtentOf(call, axis), axis, attrs.is_ascend);
  return Values{FromInt64(call, sorted.indices, call.ResultType()->dtype())};
}

absl::StatusOr<Values> Sort(CallExport& call) {
  const auto& attrs = call.attrs<relay::ArgsortAttrs>();
  const int64_t axis = FromFront(attrs.axis, call.Rank(0));
  return Values{
      TopKOf(call, ExtentOf(call, axis), axis, attrs.is_ascend).values};
}

absl::StatusOr<Values> CumSum(CallExport& call) {
  const auto& attrs = call.attrs<relay::ScanopAttrs>();
  const DType dtype = call.ResultType()->dtype();
  const DType wide =
      dtype.is_integral() && dtype.bits() < 32 ? DType::Int(32) : dtype;
  ValueId x = call.Cast(call.Arg(0), call.ElementType(0), wide);
  int64_t axis = 0;
  if (attrs.axis.has_value()) {
    axis = FromFront(*attrs.axis, call.Rank(0));
  } else {
    x = call.Reshape(x, {-1});
  }
  NodeAttributes attributes;
  if (attrs.exclusive) attributes.Int("exclusive", 1);
  return Values{call.Cast(
      call.Node("CumSum", {x, call.Scalar(static_cast<double>(axis), kInt64)},
                std::move(attributes)),
      wide, dtype)};
}

absl::StatusOr<Values> Einsum(CallExport& call) {
  return Values{
      call.Node("Einsum", call.Fields(0),
                NodeAttributes().String(
                    "equation", call.attrs<relay::EinsumAttrs>().equation))};
}

// --- Registrations ---------------------------------------------------------

BATON_EXTEND_OP("reshape").Set(OnnxExporters(), Reshape);
BATON_EXTEND_OP("contrib_reverse_reshape")
    .Set(OnnxExporters(), ReshapedToResult);
BATON_EXTEND_OP("reshape_like").Set(OnnxExporters(), ReshapeLike);
BATON_EXTEND_OP("dyn.reshape").Set(OnnxExporters(), DynReshape);
BATON_EXTEND_OP("transpose").Set(OnnxExporters(), Transpose);
BATON_EXTEND_OP("layout_transform").Set(OnnxExporters(), LayoutTransform);
BATON_EXTEND_OP("squeeze").Set(OnnxExporters(), Squeeze);
BATON_EXTEND_OP("dyn.squeeze").Set(OnnxExporters(), DynSqueeze);
BATON_EXTEND_OP("expand_dims").Set(OnnxExporters(), ExpandDims);
BATON_EXTEND_OP("broadcast_to").Set(OnnxExporters(), BroadcastTo);
BATON_EXTEND_OP("broadcast_to_like").Set(OnnxExporters(), BroadcastToLike);
BATON_EXTEND_OP("dyn.broadcast_to").Set(OnnxExporters(), DynBroadcastTo);
BATON_EXTEND_OP("shape_of").Set(OnnxExporters(), ShapeOf);
BATON_EXTEND_OP("vm.shape_of").Set(OnnxExporters(), ShapeOf);
BATON_EXTEND_OP("ndarray_size").Set(OnnxExporters(), NdarraySize);
BATON_EXTEND_OP("zeros").Set(OnnxExporters(), Filled<0>);
BATON_EXTEND_OP("ones").Set(OnnxExporters(), Filled<1>);
BATON_EXTEND_OP("zeros_like").Set(OnnxExporters(), FilledLike<0>);
BATON_EXTEND_OP("ones_like").Set(OnnxExporters(), FilledLike<1>);
BATON_EXTEND_OP("dyn.zeros").Set(OnnxExporters(), DynFilled<0>);
BATON_EXTEND_OP("dyn.ones").Set(OnnxExporters(), DynFilled<1>);
BATON_EXTEND_OP("full").Set(OnnxExporters(), Full);
BATON_EXTEND_OP("full_like").Set(OnnxExporters(), FullLike);
BATON_EXTEND_OP("dyn.full").Set(OnnxExporters(), DynFull);
BATON_EXTEND_OP("arange").Set(OnnxExporters(), Arange);
BATON_EXTEND_OP("trilu").Set(OnnxExporters(), Trilu);
BATON_EXTEND_OP("concatenate").Set(OnnxExporters(), Concatenate);
BATON_EXTEND_OP("stack").Set(OnnxExporters(), Stack);
BATON_EXTEND_OP("split").Set(OnnxExporters(), Split);
BATON_EXTEND_OP("repeat").Set(OnnxExporters(), Repeat);
BATON_EXTEND_OP("tile").Set(OnnxExporters(), Tile);
BATON_EXTEND_OP("dyn.tile").Set(OnnxExporters(), DynTile);
BATON_EXTEND_OP("reverse").Set(OnnxExporters(), Reverse);
BATON_EXTEND_OP("reverse_sequence").Set(OnnxExporters(), ReverseSequence);
BATON_EXTEND_OP("strided_slice").Set(OnnxExporters(), StridedSlice);
BATON_EXTEND_OP("dyn.strided_slice").Set(OnnxExporters(), DynStridedSlice);
BATON_EXTEND_OP("slice_like").Set(OnnxExporters(), SliceLike);
BATON_EXTEND_OP("take").Set(OnnxExporters(), Take);
BATON_EXTEND_OP("gather").Set(OnnxExporters(), Gather);
BATON_EXTEND_OP("gather_nd").Set(OnnxExporters(), GatherNd);
BATON_EXTEND_OP("scatter_elements").Set(OnnxExporters(), ScatterElements);
BATON_EXTEND_OP("scatter_nd").Set(OnnxExporters(), ScatterNd);
BATON_EXTEND_OP("one_hot").Set(OnnxExporters(), OneHot);
BATON_EXTEND_OP("dyn.one_hot").Set(OnnxExporters(), DynOneHot);
BATON_EXTEND_OP("argwhere").Set(OnnxExporters(), Argwhere);
BATON_EXTEND_OP("vision.all_class_non_max_suppression")
    .Set(OnnxExporters(), NonMaxSuppression);
BATON_EXTEND_OP("topk").Set(OnnxExporters(), TopK);
BATON_EXTEND_OP("dyn.topk").Set(OnnxExporters(), DynTopK);
BATON_EXTEND_OP("argsort").Set(OnnxExporters(), Argsort);
BATON_EXTEND_OP("sort").Set(OnnxExporters(), Sort);
BATON_EXTEND_OP("cumsum").Set(OnnxExporters(), CumSum);
BATON_EXTEND_OP("einsum").Set(OnnxExporters(), Einsum);

}  // namespace
}  // namespace baton::onnx
