// Converters of operators that change shapes and make tensors.

#include "baton/relay/op/tensor/shape.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/limits.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/onnx/converter.h"
#include "baton/onnx/model.h"
#include "baton/onnx/ops/extents.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/dim_math.h"
#include "baton/relay/op/nn/spatial.h"
#include "baton/relay/op/tensor/create.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/op/tensor/indexing.h"
#include "baton/relay/op/tensor/reduce.h"
#include "baton/relay/op/tensor/sequence.h"

namespace baton::onnx {
namespace {

using relay::Call;

using Ints = std::vector<int64_t>;

absl::StatusOr<Outputs> Reshape(NodeContext& node) {
  const Expr& x = node.Input(0);
  const bool allowzero = node.Int("allowzero", 0) != 0;
  Ints shape;
  if (node.opset() < 5) {
    shape = node.Ints("shape").value_or(Ints());
  } else {
    absl::StatusOr<Ints> known = node.ConstantInts(1);
    if (known.ok()) {
      shape = *std::move(known);
    } else {
      BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(x));
      const std::optional<Dims> wanted = node.Elements(1);
      std::optional<Ints> numbers;
      if (wanted.has_value()) {
        numbers = ReshapeNumbers(type->shape(), *wanted, allowzero);
      }
      if (numbers.has_value()) {
        return One(relay::Reshape(x, *std::move(numbers)));
      }
      Expr result =
          Call(BATON_OP("dyn.reshape"), {x, node.Input(1)},
               Attrs::Make(relay::ReshapeAttrs{.allowzero = allowzero}));
      if (wanted.has_value()) {
        // 0 is that of `x`.
        Dims extents = *wanted;
        for (size_t i = 0; i < extents.size() && !allowzero; ++i) {
          if (extents[i].is_const(0) && i < type->shape().size()) {
            extents[i] = type->dim(static_cast<int>(i));
          }
        }
        result = WithExtents(std::move(result), extents);
      }
      return One(std::move(result));
    }
  }
  for (int64_t dim : shape) {
    if (dim < -1) {
      return absl::InvalidArgumentError(
          absl::StrCat("the shape has a dimension of ", dim));
    }
  }
  return One(Call(BATON_OP("reshape"), {x},
                  Attrs::Make(relay::ReshapeAttrs{.newshape = std::move(shape),
                                                  .allowzero = allowzero})));
}

absl::StatusOr<Outputs> Flatten(NodeContext& node) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(x));
  const int rank = type->rank();
  int64_t axis = node.Int("axis", 1);
  if (axis < -rank || axis > rank) {
    return absl::InvalidArgumentError(absl::StrCat(
        "axis ", axis, " is out of range [", -rank, ", ", rank, "]"));
  }
  if (axis < 0) axis += rank;
  if (axis == 1) return One(relay::nn::BatchFlatten(x));
  if (axis == 0) return One(relay::Reshape(x, {1, -1}));
  const auto place = static_cast<size_t>(axis);
  const Dim rows = relay::Product(type->shape().subspan(0, place));
  const Dim columns = relay::Product(type->shape().subspan(place));
  if (rows.is_const() && columns.is_const()) {
    return One(ReshapeTo(x, {rows.value(), columns.value()}));
  }
  // -1 stands for the side that has a dimension which is not known. It cannot
  // be inferred beside 0.
  if (rows.is_const() && rows.value() > 0) {
    return One(relay::Reshape(x, {rows.value(), -1}));
  }
  if (columns.is_const() && columns.value() > 0) {
    return One(relay::Reshape(x, {-1, columns.value()}));
  }
  const int rows_rank = static_cast<int>(axis);
  Expr result = MergeAxes(x, rank, 0, rows_rank);
  return One(
      MergeAxes(std::move(result), rank - rows_rank + 1, 1, rank - rows_rank));
}

absl::StatusOr<Outputs> Transpose(NodeContext& node) {
  return One(relay::Transpose(node.Input(0), node.Ints("perm")));
}

// The axes of Squeeze and Unsqueeze: an attribute, since opset 13 an input.
absl::StatusOr<std::optional<Ints>> GivenAxes(NodeContext& node) {
  if (node.opset() < 13) return node.Ints("axes");
  if (!node.HasInput(1)) return std::optional<Ints>();
  BATON_ASSIGN_OR_RETURN(Ints axes, node.ConstantInts(1));
  return std::optional<Ints>(std::move(axes));
}

// The number of axes that input 1 computes; nullopt if they are known, or their
// number is not.
std::optional<int64_t> ComputedAxes(NodeContext& node) {
  if (node.opset() < 13 || !node.HasInput(1) || node.ConstantInts(1).ok()) {
    return std::nullopt;
  }
  const TensorTypeNode* type = node.Input(1)->tensor_type();
  if (type == nullptr || type->rank() != 1 || !type->dim(0).is_const()) {
    return std::nullopt;
  }
  return type->dim(0).value();
}

absl::StatusOr<Outputs> Squeeze(NodeContext& node) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(x));
  if (ComputedAxes(node).has_value()) {
    return One(Call(BATON_OP("dyn.squeeze"),
                    {x, AxesFromFront(node.Input(1), rank)},
                    Attrs::Make(relay::SqueezeAttrs{})));
  }
  BATON_ASSIGN_OR_RETURN(std::optional<Ints> axes, GivenAxes(node));
  if (axes.has_value()) {
    BATON_ASSIGN_OR_RETURN(axes, NormalAxes(*std::move(axes), rank));
    if (axes->empty()) return One(x);
  }
  return One(relay::Squeeze(x, std::move(axes)));
}

// Unsqueeze with `count` axes that are computed, of a tensor of rank 1 or more.
absl::StatusOr<Outputs> UnsqueezeDynamic(NodeContext& node, int64_t count) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(x));
  const int64_t result_rank = rank + count;
  BATON_RETURN_IF_ERROR(CheckRank(result_rank));
  const auto number = [](int64_t value) {
    return relay::Const(Tensor::Scalar<int64_t>(value));
  };
  const Expr is_new = relay::Any(
      relay::Equal(
          relay::ExpandDims(VectorConstant(Iota(result_rank)), 1),
          relay::ExpandDims(AxesFromFront(node.Input(1), result_rank), 0)),
      {.axis = Ints{1}});
  // The axis of `x` that an axis of the result is, if it is not new.
  const Expr place = relay::Subtract(
      relay::CumSum(relay::Cast(relay::LogicalNot(is_new), DType::Int(64)),
                    {.axis = 0, .dtype = DType::Int(64)}),
      number(1));
  const Expr extent = relay::Take(
      ShapeVector(x), relay::Maximum(place, number(0)), {.axis = 0});
  return One(Call(BATON_OP("dyn.reshape"),
                  {x, relay::Where(is_new, number(1), extent)},
                  Attrs::Make(relay::ReshapeAttrs{.allowzero = true})));
}

absl::StatusOr<Outputs> Unsqueeze(NodeContext& node) {
  Expr x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(x));
  if (const std::optional<int64_t> count = ComputedAxes(node)) {
    if (rank > 0) return UnsqueezeDynamic(node, *count);
    BATON_RETURN_IF_ERROR(CheckRank(*count));
    return One(relay::Reshape(x, Ints(*count, 1)));
  }
  BATON_ASSIGN_OR_RETURN(const std::optional<Ints> axes, GivenAxes(node));
  if (!axes.has_value()) return absl::InvalidArgumentError("no axes");
  BATON_ASSIGN_OR_RETURN(
      Ints sorted, DistinctAxes(*axes, rank + static_cast<int>(axes->size())));
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size();) {
    size_t end = i + 1;
    while (end < sorted.size() &&
           sorted[end] == sorted[i] + static_cast<int64_t>(end - i)) {
      ++end;
    }
    x = relay::ExpandDims(std::move(x), static_cast<int>(sorted[i]),
                          static_cast<int>(end - i));
    i = end;
  }
  return One(std::move(x));
}

absl::StatusOr<Outputs> Shape(NodeContext& node) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(x));
  const int64_t rank = type->rank();
  const auto clamp = [rank](int64_t i) {
    return std::clamp<int64_t>(i < 0 ? i + rank : i, 0, rank);
  };
  const int64_t begin = clamp(node.Int("start", 0));
  const int64_t end = std::max(begin, clamp(node.Int("end", rank)));
  Ints dims;
  for (int64_t i = begin; i < end; ++i) {
    const Dim& dim = type->dim(static_cast<int>(i));
    if (dim.is_const()) dims.push_back(dim.value());
  }
  if (static_cast<int64_t>(dims.size()) == end - begin) {
    return One(VectorConstant(dims));
  }
  Expr shape = relay::ShapeOf(x, DType::Int(64));
  if (begin != 0 || end != rank) {
    shape = relay::StridedSlice(std::move(shape), {begin}, {end});
  }
  return One(std::move(shape));
}

absl::StatusOr<Outputs> Size(NodeContext& node) {
  const Expr& x = node.Input(0);
  const absl::StatusOr<Ints> shape = ShapeOf(x);
  if (!shape.ok()) return One(relay::NdarraySize(x, DType::Int(64)));
  BATON_ASSIGN_OR_RETURN(const int64_t size,
                         NumElements(DType::Bool(), *shape));
  return One(relay::Const(Tensor::Scalar<int64_t>(size)));
}

// The shape that `shape` and `wanted` broadcast to.
Dims Broadcasted(absl::Span<const Dim> shape, absl::Span<const Dim> wanted) {
  if (shape.size() > wanted.size()) std::swap(shape, wanted);
  Dims result(wanted.begin(), wanted.end());
  const size_t missing = wanted.size() - shape.size();
  for (size_t i = 0; i < shape.size(); ++i) {
    Dim& extent = result[i + missing];
    const auto decides = [](const Dim& dim) {
      return dim.is_const() && dim.value() != 1;
    };
    if (decides(extent)) continue;
    if (decides(shape[i]) || extent.is_const(1)) {
      extent = shape[i];
    } else if (!shape[i].is_const(1)) {
      extent = Dim::Any();
    }
  }
  return result;
}

// Expand to a shape that is not known.
absl::StatusOr<Outputs> ExpandDynamic(NodeContext& node) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(x));
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(node.Input(1)));
  if (rank != 1 || !node.Input(1)->tensor_type()->dim(0).is_const()) {
    return absl::UnimplementedError("the rank of the result must be known");
  }
  BATON_RETURN_IF_ERROR(
      CheckRank(node.Input(1)->tensor_type()->dim(0).value()));
  const std::optional<Dims> elements = node.Elements(1);
  if (elements.has_value() && FitsInto(*elements, type->shape())) return One(x);
  const auto* call = node.Input(1).As<relay::CallNode>();
  if (call != nullptr && call->op().get() == BATON_OP("shape_of").get() &&
      FitsInto(type->shape(), call->arg(0)->tensor_type()->shape())) {
    const Expr& like = call->arg(0);
    if (like->tensor_type()->dtype() == type->dtype()) {
      return One(relay::BroadcastToLike(x, like));
    }
    // The dimensions of `like` stay known.
    return One(relay::ReshapeLike(BroadcastTo(x, ShapeVector(like)), like));
  }
  BATON_ASSIGN_OR_RETURN(const Expr wanted, node.Typed(AsInt64(node.Input(1))));
  if (!elements.has_value()) return One(BroadcastWith(x, wanted));
  return One(WithExtents(FitsInto(type->shape(), *elements)
                             ? BroadcastTo(x, wanted)
                             : BroadcastWith(x, wanted),
                         Broadcasted(type->shape(), *elements)));
}

absl::StatusOr<Outputs> Expand(NodeContext& node) {
  const Expr& x = node.Input(0);
  const absl::StatusOr<Ints> known = node.ConstantInts(1);
  const absl::StatusOr<Ints> own = ShapeOf(x);
  if (!known.ok() || !own.ok()) return ExpandDynamic(node);
  const Ints& wanted = *known;
  const Ints& shape = *own;
  const size_t rank = std::max(wanted.size(), shape.size());
  Ints result(rank, 1);
  for (size_t i = 0; i < rank; ++i) {
    const int64_t a =
        i < rank - shape.size() ? 1 : shape[i - (rank - shape.size())];
    const int64_t b =
        i < rank - wanted.size() ? 1 : wanted[i - (rank - wanted.size())];
    if (a != b && a != 1 && b != 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("a dimension of ", a, " cannot become ", b));
    }
    result[i] = a == 1 ? b : a;
  }
  if (result == shape) return One(x);
  return One(relay::BroadcastTo(x, std::move(result)));
}

absl::StatusOr<Outputs> Tile(NodeContext& node) {
  const Expr& x = node.Input(0);
  if (node.opset() < 6) {
    BATON_ASSIGN_OR_RETURN(const int rank, RankOf(x));
    BATON_ASSIGN_OR_RETURN(const Ints tiles, node.ConstantInts(1));
    BATON_ASSIGN_OR_RETURN(const Ints axis, node.ConstantInts(2));
    if (tiles.size() != 1 || axis.size() != 1) {
      return absl::InvalidArgumentError("tiles or axis is no scalar");
    }
    Ints reps(rank, 1);
    BATON_ASSIGN_OR_RETURN(const int i, NormalAxis(axis[0], rank));
    reps[i] = tiles[0];
    return One(relay::Tile(x, std::move(reps)));
  }
  absl::StatusOr<Ints> reps = node.ConstantInts(1);
  // Relay's tile adds axes where there are more numbers.
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(x));
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* reps_type,
                         TensorTypeOf(node.Input(1)));
  if (reps_type->rank() != 1 ||
      relay::ProvablyDiffer(reps_type->dim(0), Dim(type->rank()))) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the repeats have the shape ", relay::ShapeToString(reps_type->shape()),
        ", the data has ", type->rank(), " axes"));
  }
  if (!reps.ok()) {
    Expr result = Call(BATON_OP("dyn.tile"), {x, node.Input(1)},
                       Attrs::Make(relay::TileAttrs{}));
    Dims numbers = node.Elements(1).value_or(Dims());
    numbers.resize(type->rank(), Dim::Any());
    return One(WithExtentsOf(std::move(result), x, type->rank(), [&](int axis) {
      return numbers[axis].is_const(1);
    }));
  }
  return One(relay::Tile(x, *std::move(reps)));
}

// --- Making tensors --------------------------------------------------------

absl::StatusOr<Outputs> ConstantValue(NodeContext& node) {
  if (node.node().attributes.size() != 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "has ", node.node().attributes.size(), " values in place of one"));
  }
  if (node.HasAttr("value")) {
    BATON_ASSIGN_OR_RETURN(Tensor value, node.TensorAttr("value"));
    return One(relay::Const(std::move(value)));
  }
  if (node.HasAttr("value_int")) {
    return One(relay::Const(Tensor::Scalar<int64_t>(node.Int("value_int", 0))));
  }
  if (node.HasAttr("value_ints")) {
    return One(VectorConstant(node.Ints("value_ints").value_or(Ints())));
  }
  if (node.HasAttr("value_float")) {
    return One(relay::Const(Tensor::Scalar<float>(
        static_cast<float>(node.Float("value_float", 0)))));
  }
  if (node.HasAttr("value_floats")) {
    const std::vector<double> values = node.Floats("value_floats");
    const std::vector<float> floats(values.begin(), values.end());
    BATON_ASSIGN_OR_RETURN(Tensor value,
                           Tensor::FromValues<float>(
                               {static_cast<int64_t>(floats.size())}, floats));
    return One(relay::Const(std::move(value)));
  }
  if (node.HasAttr("sparse_value")) {
    BATON_ASSIGN_OR_RETURN(Tensor value, node.SparseTensorAttr("sparse_value"));
    return One(relay::Const(std::move(value)));
  }
  return absl::UnimplementedError(
      "constants that are strings are not supported");
}

absl::StatusOr<Outputs> ConstantOfShape(NodeContext& node) {
  Tensor value = Tensor::Scalar<float>(0);
  if (node.HasAttr("value")) {
    BATON_ASSIGN_OR_RETURN(value, node.TensorAttr("value"));
    if (value.num_elements() != 1) {
      return absl::InvalidArgumentError("the value is not one element");
    }
    BATON_ASSIGN_OR_RETURN(value, value.Reshaped({}));
  }
  const DType dtype = value.dtype();
  absl::StatusOr<Ints> shape = node.ConstantInts(0);
  if (!shape.ok()) {
    return One(WithExtents(
        Call(BATON_OP("dyn.full"), {relay::Const(value), node.Input(0)},
             Attrs::Make(relay::InitOpAttrs{.dtype = dtype})),
        node.Elements(0).value_or(Dims())));
  }
  return One(relay::Full(relay::Const(value), *std::move(shape), dtype));
}

absl::StatusOr<Outputs> Range(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(const DType dtype, ElementTypeOf(node.Input(0)));
  std::vector<Expr> args;
  for (int i = 0; i < 3; ++i) {
    const absl::StatusOr<Tensor> known = node.Constant(i);
    // Exporters write vectors of one element, too.
    BATON_ASSIGN_OR_RETURN(Expr arg, ScalarInput(node, i));
    if (known.ok()) {
      BATON_ASSIGN_OR_RETURN(Tensor value, known->Reshaped({}));
      arg = relay::Const(std::move(value));
    }
    args.push_back(std::move(arg));
  }
  return One(relay::Arange(args[0], args[1], args[2], dtype));
}

absl::StatusOr<Outputs> EyeLike(NodeContext& node) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(x));
  DType dtype = type->dtype();
  if (node.HasAttr("dtype")) {
    BATON_ASSIGN_OR_RETURN(dtype, DTypeOf(node.Int("dtype", 0)));
  }
  if (type->rank() != 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("the data must have 2 axes, but has ", type->rank()));
  }
  const int64_t k = node.Int("k", 0);
  const absl::StatusOr<Ints> known = ShapeOf(x);
  // A large matrix is compared when the program runs: it would make the program
  // large.
  constexpr int64_t kMaxExtent = 256;
  if (!known.ok() || (*known)[0] > kMaxExtent || (*known)[1] > kMaxExtent) {
    const Expr rows = relay::Add(Positions(x, 0, 1),
                                 relay::Const(Tensor::Scalar<int64_t>(k)));
    return One(relay::Cast(relay::Equal(rows, Positions(x, 1, 0)), dtype));
  }
  const Ints& shape = *known;
  BATON_ASSIGN_OR_RETURN(MutableTensor eye,
                         MutableTensor::Create(dtype, shape));
  VisitDType(dtype, [&]<typename T>() {
    for (int64_t i = 0; i < shape[0]; ++i) {
      if (k >= -i && k < shape[1] - i) {
        eye.span<T>()[i * shape[1] + i + k] = static_cast<T>(1);
      }
    }
  });
  return One(relay::Const(std::move(eye).Freeze()));
}

absl::StatusOr<Outputs> OneHot(NodeContext& node) {
  const Expr& values = node.Input(2);
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* of_values, TensorTypeOf(values));
  const DType dtype = of_values->dtype();
  if (of_values->rank() != 1 ||
      (of_values->dim(0).is_const() && of_values->dim(0).value() != 2)) {
    return absl::InvalidArgumentError("the values are no pair");
  }
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(node.Input(0)));
  BATON_ASSIGN_OR_RETURN(const int axis,
                         NormalAxis(node.Int("axis", -1), rank + 1));
  BATON_ASSIGN_OR_RETURN(
      Expr indices, node.Typed(relay::Cast(node.Input(0), DType::Int(64))));
  const auto from_start = [&indices](const Expr& depth) {
    return relay::Where(relay::Less(indices, ScalarLike(0, indices)),
                        relay::Add(indices, depth), indices);
  };
  const auto value = [&values](int64_t i) {
    return relay::Take(values, relay::Const(Tensor::Scalar<int64_t>(i)),
                       {.axis = 0});
  };
  const absl::StatusOr<std::vector<double>> depth = node.ConstantFloats(1);
  if (!depth.ok()) {
    BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type,
                           TensorTypeOf(node.Input(1)));
    Expr computed = AsInt64(node.Input(1));
    if (type->rank() != 0) computed = relay::Reshape(computed, {});
    return One(
        Call(BATON_OP("dyn.one_hot"),
             {from_start(computed), value(1), value(0), computed},
             Attrs::Make(relay::OneHotAttrs{.axis = axis, .dtype = dtype})));
  }
  if (depth->size() != 1 || !((*depth)[0] >= 0 && (*depth)[0] < 1e9)) {
    return absl::InvalidArgumentError("the depth is no count");
  }
  // Relay's one_hot has an element at least, of which none is left.
  const int count = static_cast<int>((*depth)[0]);
  Expr result = relay::OneHot(
      from_start(ScalarLike((*depth)[0], indices)), value(1), value(0),
      {.depth = std::max(count, 1), .axis = axis, .dtype = dtype});
  if (count == 0) {
    result =
        relay::StridedSlice(std::move(result), {0}, {0}, {.axes = Ints{axis}});
  }
  return One(std::move(result));
}

absl::StatusOr<Outputs> Trilu(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(node.Input(0)));
  if (rank < 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("the data has ", rank, " axes, not 2 or more"));
  }
  constexpr int64_t kLimit = std::numeric_limits<int32_t>::max() / 2;
  Expr k = relay::Const(Tensor::Scalar<int32_t>(0));
  if (node.HasInput(1)) {
    if (const absl::StatusOr<Ints> given = node.ConstantInts(1); given.ok()) {
      if (given->size() != 1) {
        return absl::InvalidArgumentError("k is no scalar");
      }
      k = relay::Const(Tensor::Scalar<int32_t>(
          static_cast<int32_t>(std::clamp((*given)[0], -kLimit, kLimit))));
    } else {
      BATON_ASSIGN_OR_RETURN(k, ScalarInput(node, 1));
      k = relay::Cast(
          relay::Minimum(
              relay::Maximum(relay::Cast(std::move(k), DType::Int(64)),
                             relay::Const(Tensor::Scalar<int64_t>(-kLimit))),
              relay::Const(Tensor::Scalar<int64_t>(kLimit))),
          DType::Int(32));
    }
  }
  return One(
      Call(BATON_OP("trilu"), {node.Input(0), std::move(k)},
           Attrs::Make(relay::TriluAttrs{.upper = node.Int("upper", 1) != 0})));
}

BATON_ONNX_CONVERTERS({
    {"Constant", ConstantValue},
    {"ConstantOfShape", ConstantOfShape, 9},
    {"Expand", Expand, 8},
    {"EyeLike", EyeLike, 9},
    {"Flatten", Flatten},
    {"OneHot", OneHot, 9},
    {"Range", Range, 11},
    {"Reshape", Reshape},
    {"Shape", Shape},
    {"Size", Size},
    {"Squeeze", Squeeze},
    {"Tile", Tile},
    {"Transpose", Transpose},
    {"Trilu", Trilu, 14},
    {.op = "Trilu", .convert = Trilu, .domain = kMicrosoftDomain},
    {"Unsqueeze", Unsqueeze},
});

}  // namespace
}  // namespace baton::onnx
