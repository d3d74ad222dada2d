// Converters of operators that rearrange, cut, gather and make tensors.

#include <algorithm>
#include <cmath>
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
#include "absl/strings/string_view.h"
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
#include "baton/onnx/ops/expect_shape.h"
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
#include "baton/relay/op/tensor/shape.h"

namespace baton::onnx {
namespace {

using relay::Call;
using relay::Tuple;
using relay::TupleGetItem;

using Ints = std::vector<int64_t>;

// The largest extent of an axis that is the product or sum of others.
constexpr int64_t kMaxExtent = int64_t{1} << 60;

Ints Iota(int64_t size) {
  Ints result(size);
  std::iota(result.begin(), result.end(), 0);
  return result;
}

// --- Shapes ----------------------------------------------------------------

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
    return absl::InvalidArgumentError(
        absl::StrCat("axis ", axis, " of a tensor of rank ", rank));
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

// Axes as int64, from 0 on, of a tensor of that rank.
Expr AxesFromFront(const Expr& axes, int64_t rank) {
  const Expr given = AsInt64(axes);
  return relay::Where(
      relay::Less(given, relay::Const(Tensor::Scalar<int64_t>(0))),
      relay::Add(given, relay::Const(Tensor::Scalar<int64_t>(rank))), given);
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
      Ints sorted, NormalAxes(*axes, rank + static_cast<int>(axes->size())));
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size();) {
    size_t end = i + 1;
    while (end < sorted.size() &&
           sorted[end] == sorted[i] + static_cast<int64_t>(end - i)) {
      ++end;
    }
    if (end < sorted.size() && sorted[end] == sorted[end - 1]) {
      return absl::InvalidArgumentError("an axis is named twice");
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
    return absl::InvalidArgumentError("the rank is not 2");
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

bool MayBeNegative(const Expr& indices, DType dtype) {
  if (!dtype.is_int()) return false;
  const Tensor* known = relay::ConstantTensor(indices);
  if (known == nullptr) return true;
  for (int64_t k = 0; k < known->num_elements(); ++k) {
    if (known->AtAsInt64(k) < 0) return true;
  }
  return false;
}

// The input `i`, indices, with `extent` added to the negative ones.
absl::StatusOr<Expr> FromStart(NodeContext& node, int i, const Expr& extent) {
  const Expr& indices = node.Input(i);
  BATON_ASSIGN_OR_RETURN(const DType dtype, ElementTypeOf(indices));
  if (!MayBeNegative(indices, dtype)) return indices;
  return relay::Where(relay::Less(indices, ScalarLike(0, indices)),
                      relay::Add(indices, relay::Cast(extent, dtype)), indices);
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

// --- Joining and cutting ---------------------------------------------------

absl::StatusOr<Outputs> Concat(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(node.Input(0)));
  const int64_t otherwise = node.opset() < 4 ? 1 : 0;
  BATON_ASSIGN_OR_RETURN(const int axis,
                         NormalAxis(node.Int("axis", otherwise), rank));
  std::vector<Expr> parts;
  for (int i = 0; i < node.num_inputs(); ++i) parts.push_back(node.Input(i));
  if (parts.size() == 1) return One(std::move(parts[0]));
  return One(relay::Concatenate(std::move(parts), axis));
}

// The parts of `x` of these sizes.
absl::StatusOr<Outputs> SplitInto(NodeContext& node, const Expr& x, int axis,
                                  const Ints& sizes) {
  if (sizes.size() == 1) return One(x);
  // Relay's split has no empty parts.
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) {
    Outputs slices;
    int64_t begin = 0;
    for (int64_t size : sizes) {
      if (size < 0) return absl::InvalidArgumentError("a part is negative");
      slices.push_back(relay::StridedSlice(x, {begin}, {begin + size},
                                           {.axes = Ints{axis}}));
      begin += size;
    }
    return slices;
  }
  Ints indices;
  int64_t at = 0;
  for (size_t i = 0; i + 1 < sizes.size(); ++i) {
    if (sizes[i] < 0) return absl::InvalidArgumentError("a part is negative");
    indices.push_back(at += sizes[i]);
  }
  BATON_ASSIGN_OR_RETURN(const Expr parts, node.Typed(relay::SplitAt(
                                               x, std::move(indices), axis)));
  Outputs result;
  for (size_t i = 0; i < sizes.size(); ++i) {
    result.push_back(TupleGetItem(parts, static_cast<int>(i)));
  }
  return result;
}

// `parts` parts of an axis of unknown extent, as long as each other as far as
// there are elements.
Outputs EvenParts(const Expr& x, int axis, int64_t parts) {
  const auto number = [](int64_t value) {
    return relay::Const(Tensor::Scalar<int64_t>(value));
  };
  const Expr extent = ExtentOf(x, axis);
  const Expr size =
      relay::FloorDivide(relay::Add(extent, number(parts - 1)), number(parts));
  Outputs result;
  for (int64_t i = 0; i < parts; ++i) {
    const auto bound = [&](int64_t k) {
      return relay::Minimum(relay::Multiply(size, number(k)), extent);
    };
    const Expr places =
        relay::Arange(bound(i), bound(i + 1), number(1), DType::Int(64));
    result.push_back(relay::Take(x, places, {.axis = axis}));
  }
  return result;
}

// `parts` parts whose sizes input 1 computes.
absl::StatusOr<Outputs> ComputedParts(NodeContext& node, const Expr& x,
                                      int axis, int64_t parts) {
  const auto number = [](int64_t value) {
    return relay::Const(Tensor::Scalar<int64_t>(value));
  };
  BATON_ASSIGN_OR_RETURN(
      const Expr ends,
      node.Typed(relay::CumSum(AsInt64(node.Input(1)),
                               {.axis = 0, .dtype = DType::Int(64)})));
  Outputs result;
  Expr begin = number(0);
  for (int64_t i = 0; i < parts; ++i) {
    const Expr end = relay::Take(ends, number(i), {.axis = 0});
    result.push_back(
        relay::Take(x, relay::Arange(begin, end, number(1), DType::Int(64)),
                    {.axis = axis}));
    begin = end;
  }
  return result;
}

absl::StatusOr<Outputs> Split(NodeContext& node) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(x));
  BATON_ASSIGN_OR_RETURN(const int axis,
                         NormalAxis(node.Int("axis", 0), type->rank()));
  Ints sizes;
  if (node.opset() < 13) {
    sizes = node.Ints("split").value_or(Ints());
  }
  if ((node.opset() >= 13 || node.opset() < 2) && node.HasInput(1)) {
    absl::StatusOr<Ints> given = node.ConstantInts(1);
    if (!given.ok()) {
      return ComputedParts(node, x, axis, node.num_outputs());
    }
    sizes = *std::move(given);
    if (static_cast<int>(sizes.size()) != node.num_outputs()) {
      return absl::InvalidArgumentError(
          absl::StrCat("there are ", sizes.size(), " parts, but ",
                       node.num_outputs(), " outputs"));
    }
    int64_t total = 0;
    for (const int64_t size : sizes) {
      if (size < 0 || size > kMaxExtent - total) {
        return absl::InvalidArgumentError(
            absl::StrCat("a part of ", size, " elements"));
      }
      total += size;
    }
    if (const Dim& dim = type->dim(axis);
        dim.is_const() && dim.value() != total) {
      return absl::InvalidArgumentError(
          absl::StrCat("the parts have ", total,
                       " elements in all, but the axis has ", dim.value()));
    }
  }
  if (sizes.empty()) {
    const int64_t parts = node.Int("num_outputs", node.num_outputs());
    if (parts <= 0 || parts > 1 << 20) {
      return absl::InvalidArgumentError("the number of parts");
    }
    if (!type->dim(axis).is_const()) {
      // The last parts may be smaller.
      if (node.HasAttr("num_outputs")) return EvenParts(x, axis, parts);
      BATON_ASSIGN_OR_RETURN(const Expr split,
                             node.Typed(relay::Split(x, parts, axis)));
      Outputs result;
      for (int64_t i = 0; i < parts; ++i) {
        result.push_back(TupleGetItem(split, static_cast<int>(i)));
      }
      return result;
    }
    const int64_t extent = type->dim(axis).value();
    const int64_t size = (extent + parts - 1) / parts;
    for (int64_t i = 0; i < parts; ++i) {
      sizes.push_back(std::clamp<int64_t>(extent - i * size, 0, size));
    }
  }
  return SplitInto(node, x, axis, sizes);
}

// `values` at the places `axes` of a vector of `count` elements `otherwise`.
Expr AtAxes(const Expr& axes, const Expr& values, int64_t count,
            int64_t otherwise) {
  return Call(BATON_OP("scatter_elements"),
              {VectorConstant(Ints(count, otherwise)), axes, values},
              Attrs::Make(relay::ScatterElementsAttrs{.axis = 0,
                                                      .reduction = "update"}));
}

// Starts of slices, of which those with a negative step are not before the
// first element.
Expr StartsInside(const Expr& starts, const Expr& steps, const Expr& extents) {
  return relay::Where(
      relay::Less(steps, relay::Const(Tensor::Scalar<int64_t>(0))),
      relay::Maximum(starts, relay::Negative(extents)), starts);
}

// Slice along axes that are computed.
absl::StatusOr<Outputs> SliceOfComputedAxes(NodeContext& node) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(x));
  const Expr axes = AxesFromFront(node.Input(3), rank);
  Expr starts = AtAxes(axes, AsInt64(node.Input(1)), rank, 0);
  Expr steps = VectorConstant(Ints(rank, 1));
  if (node.HasInput(4)) {
    steps = AtAxes(axes, AsInt64(node.Input(4)), rank, 1);
    starts = StartsInside(starts, steps, ShapeVector(x));
  }
  const Expr ends = AtAxes(axes, AsInt64(node.Input(2)), rank,
                           std::numeric_limits<int64_t>::max());
  return One(Call(BATON_OP("dyn.strided_slice"), {x, starts, ends, steps},
                  Attrs::Make(relay::StridedSliceAttrs{})));
}

// Slice, since opset 10, with starts or ends that are not known.
absl::StatusOr<Outputs> SliceDynamic(NodeContext& node) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(x));
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* starts_type,
                         TensorTypeOf(node.Input(1)));
  if (starts_type->rank() != 1 || !starts_type->dim(0).is_const()) {
    return absl::UnimplementedError("the number of starts must be known");
  }
  if (starts_type->dim(0).value() > type->rank()) {
    return absl::InvalidArgumentError("there are more starts than axes");
  }
  const size_t count = static_cast<size_t>(starts_type->dim(0).value());
  Ints axes = Iota(static_cast<int64_t>(count));
  if (node.HasInput(3)) {
    absl::StatusOr<Ints> known = node.ConstantInts(3);
    if (!known.ok()) return SliceOfComputedAxes(node);
    axes = *std::move(known);
  }
  BATON_ASSIGN_OR_RETURN(axes, NormalAxes(std::move(axes), type->rank()));
  // Starts, ends and steps: of the given axes, and as vectors of all axes up to
  // the last that dyn.strided_slice cuts.
  constexpr int64_t kWhole[] = {0, std::numeric_limits<int64_t>::max(), 1};
  Dims given[3];
  Expr vectors[3];
  std::vector<Expr> parts[3];
  for (int i = 0; i < 3; ++i) {
    const int input = i == 2 ? 4 : i + 1;
    if (i == 2 && !node.HasInput(input)) {
      given[i] = Dims(count, 1);
      continue;
    }
    given[i] = node.Elements(input).value_or(Dims(count, Dim::Any()));
    BATON_ASSIGN_OR_RETURN(vectors[i], node.Typed(AsInt64(node.Input(input))));
  }
  if (axes.size() != count || given[0].size() != count ||
      given[1].size() != count || given[2].size() != count) {
    return absl::InvalidArgumentError(
        "starts, ends, axes and steps differ in length");
  }
  size_t cut = 0;
  std::vector<bool> is_kept;
  for (int axis = 0; axis < type->rank(); ++axis) {
    const auto found = std::find(axes.begin(), axes.end(), axis);
    const int64_t k = found - axes.begin();
    const bool is_whole = found == axes.end() ||
                          (given[2][k].is_const(1) && given[0][k].is_const(0) &&
                           relay::ProvablyEqual(given[1][k], type->dim(axis)));
    is_kept.push_back(is_whole);
    for (int i = 0; i < 3; ++i) {
      parts[i].push_back(is_whole || !vectors[i].defined()
                             ? VectorConstant({kWhole[i]})
                             : relay::StridedSlice(vectors[i], {k}, {k + 1}));
    }
    if (!is_whole && vectors[2].defined() &&
        !(given[2][k].is_const() && given[2][k].value() > 0)) {
      parts[0].back() =
          StartsInside(parts[0].back(), parts[2].back(), ExtentOf(x, axis));
    }
    if (!is_whole) cut = parts[0].size();
  }
  if (cut == 0) return One(x);
  for (int i = 0; i < 3; ++i) {
    parts[i].resize(cut);
    vectors[i] =
        cut == 1 ? parts[i][0] : relay::Concatenate(std::move(parts[i]), 0);
  }
  Expr result = Call(BATON_OP("dyn.strided_slice"),
                     {x, vectors[0], vectors[1], vectors[2]},
                     Attrs::Make(relay::StridedSliceAttrs{}));
  // The extents behind `cut` are the extents of `x` already.
  return One(WithExtentsOf(std::move(result), x, static_cast<int>(cut),
                           [&](int axis) { return is_kept[axis]; }));
}

// Starts, ends, axes and steps are vectors of one length.
absl::Status CheckSliceInputs(NodeContext& node) {
  constexpr const char* kNames[] = {"starts", "ends", "axes", "steps"};
  Dim length = Dim::Any();
  for (int i = 1; i <= 4; ++i) {
    BATON_RETURN_IF_ERROR(ExpectShape(node, i, kNames[i - 1], {length}));
    if (node.HasInput(i) && !length.is_const()) {
      length = node.Input(i)->tensor_type()->dim(0);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Outputs> Slice(NodeContext& node) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(x));
  Ints begin;
  Ints end;
  Ints axes;
  Ints steps;
  if (node.opset() < 10) {
    begin = node.Ints("starts").value_or(Ints());
    end = node.Ints("ends").value_or(Ints());
    axes = node.Ints("axes").value_or(Iota(begin.size()));
  } else {
    BATON_RETURN_IF_ERROR(CheckSliceInputs(node));
    absl::StatusOr<Ints> starts = node.ConstantInts(1);
    absl::StatusOr<Ints> ends = node.ConstantInts(2);
    for (const int i : {3, 4}) {
      if (node.HasInput(i) && !node.ConstantInts(i).ok()) {
        return SliceDynamic(node);
      }
    }
    if (!starts.ok() || !ends.ok()) return SliceDynamic(node);
    BATON_ASSIGN_OR_RETURN(begin, std::move(starts));
    BATON_ASSIGN_OR_RETURN(end, std::move(ends));
    axes = Iota(begin.size());
    if (node.HasInput(3)) {
      BATON_ASSIGN_OR_RETURN(axes, node.ConstantInts(3));
    }
    if (node.HasInput(4)) {
      BATON_ASSIGN_OR_RETURN(steps, node.ConstantInts(4));
    }
  }
  if (steps.empty()) steps.assign(begin.size(), 1);
  if (end.size() != begin.size() || axes.size() != begin.size() ||
      steps.size() != begin.size()) {
    return absl::InvalidArgumentError(
        "starts, ends, axes and steps differ in length");
  }
  BATON_ASSIGN_OR_RETURN(axes, NormalAxes(std::move(axes), type->rank()));
  // Inside of the data, as far as its extent is known. An end before the first
  // element, where steps are negative, is -1 - extent.
  for (size_t i = 0; i < begin.size(); ++i) {
    if (steps[i] == 0) return absl::InvalidArgumentError("a step is zero");
    const Dim& dim = type->dim(static_cast<int>(axes[i]));
    if (!dim.is_const()) continue;
    const int64_t extent = dim.value();
    const auto inside = [&](int64_t at, int64_t low, int64_t high) {
      return std::clamp(at < 0 ? at + extent : at, low, high);
    };
    if (steps[i] > 0) {
      begin[i] = inside(begin[i], 0, extent);
      end[i] = std::max(begin[i], inside(end[i], 0, extent));
    } else {
      // Unlike NumPy, a start in front of the first element is that element.
      begin[i] = inside(begin[i], extent == 0 ? -1 : 0, extent - 1);
      end[i] = std::min(begin[i], inside(end[i], -1, extent - 1));
      if (begin[i] < 0) begin[i] = -1 - extent;
      if (end[i] < 0) end[i] = -1 - extent;
    }
  }
  return One(relay::StridedSlice(
      x, std::move(begin), std::move(end),
      {.strides = std::move(steps), .axes = std::move(axes)}));
}

// `x` with `before` elements more in front of axis `axis` and `after` behind
// it, scalars of int64: those of the positions from `-before` to `extent +
// after` that the mode moves into the tensor. Negative numbers cut off.
Expr PaddedByPositions(const Expr& x, int axis, const std::string& mode,
                       const Expr& before, const Expr& after) {
  const auto number = [](int64_t value) {
    return relay::Const(Tensor::Scalar<int64_t>(value));
  };
  const Expr extent = ExtentOf(x, axis);
  Expr at = relay::Arange(relay::Negative(before), relay::Add(extent, after),
                          number(1), DType::Int(64));
  const Expr last = relay::Subtract(extent, number(1));
  if (mode == "edge") {
    at = relay::Minimum(relay::Maximum(std::move(at), number(0)), last);
  } else if (mode == "reflect") {
    at = relay::Subtract(
        last, relay::Abs(relay::Subtract(last, relay::Abs(std::move(at)))));
  } else {  // wrap
    at = relay::FloorMod(std::move(at), extent);
  }
  return relay::Take(x, std::move(at), {.axis = axis});
}

// Padding with the data from the other end. `pads`: all begins, then all ends.
absl::StatusOr<Outputs> Wrapped(NodeContext& node, const Ints& axes,
                                const Ints& pads) {
  Expr x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(x));
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t before = pads[i];
    const int64_t after = pads[i + axes.size()];
    if (before == 0 && after == 0) continue;
    const Dim& dim = type->dim(static_cast<int>(axes[i]));
    if (!dim.is_const()) {
      BATON_ASSIGN_OR_RETURN(x, node.Typed(std::move(x)));
      x = PaddedByPositions(x, static_cast<int>(axes[i]), "wrap",
                            relay::Const(Tensor::Scalar<int64_t>(before)),
                            relay::Const(Tensor::Scalar<int64_t>(after)));
      continue;
    }
    const int64_t extent = dim.value();
    constexpr int64_t kMost = 1 << 24;
    if (extent < 1 || std::max(std::abs(before), std::abs(after)) > kMost ||
        extent > kMost) {
      return absl::UnimplementedError("padding of this size");
    }
    Ints places;
    for (int64_t k = -before; k < extent + after; ++k) {
      places.push_back((k % extent + extent) % extent);
    }
    x = relay::Take(std::move(x), VectorConstant(places), {.axis = axes[i]});
  }
  return One(std::move(x));
}

// CenterCropPad where extents are computed: those of `axes` from input 1.
absl::StatusOr<Outputs> CenterCropPadDynamic(NodeContext& node,
                                             const Ints& axes) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(x));
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* wanted,
                         TensorTypeOf(node.Input(1)));
  if (wanted->rank() != 1 ||
      (wanted->dim(0).is_const() &&
       wanted->dim(0).value() != static_cast<int64_t>(axes.size()))) {
    return absl::InvalidArgumentError("as many extents as axes are needed");
  }
  // The extents of the result, of all axes: places in those of `x`, behind
  // which there are those of input 1.
  Ints places = Iota(rank);
  for (size_t i = 0; i < axes.size(); ++i) {
    places[axes[i]] = rank + static_cast<int64_t>(i);
  }
  const Expr extents = ShapeVector(x);
  BATON_ASSIGN_OR_RETURN(
      const Expr result,
      node.Typed(
          relay::Take(relay::Concatenate({extents, AsInt64(node.Input(1))}, 0),
                      VectorConstant(places), {.axis = 0})));
  const Expr zero = relay::Const(Tensor::Scalar<int64_t>(0));
  const Expr two = relay::Const(Tensor::Scalar<int64_t>(2));
  const auto half = [&](const Expr& value) {
    return relay::FloorDivide(value, two);
  };
  const Expr less = relay::Maximum(relay::Subtract(extents, result), zero);
  const Expr more = relay::Maximum(relay::Subtract(result, extents), zero);
  const Expr begin = half(less);
  BATON_ASSIGN_OR_RETURN(
      const Expr cut,
      node.Typed(
          Call(BATON_OP("dyn.strided_slice"),
               {x, begin, relay::Add(begin, relay::Minimum(extents, result)),
                VectorConstant(Ints(rank, 1))},
               Attrs::Make(relay::StridedSliceAttrs{}))));
  const Expr before = half(more);
  return One(
      Call(BATON_OP("dyn.nn.pad"),
           {cut, relay::Stack({before, relay::Subtract(more, before)}, 1),
            ScalarLike(0, x)},
           Attrs::Make(relay::PadAttrs{})));
}

// Cuts off or adds zeros on both sides, so that axes get the extents of input
// 1; of an odd number one more behind the data.
absl::StatusOr<Outputs> CenterCropPad(NodeContext& node) {
  Expr x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(x));
  BATON_ASSIGN_OR_RETURN(
      const Ints axes,
      NormalAxes(node.Ints("axes").value_or(Iota(rank)), rank));
  const absl::StatusOr<Ints> known_shape = ShapeOf(x);
  const absl::StatusOr<Ints> known_extents = node.ConstantInts(1);
  if (!known_shape.ok() || !known_extents.ok()) {
    return CenterCropPadDynamic(node, axes);
  }
  const Ints& shape = *known_shape;
  const Ints& wanted = *known_extents;
  if (wanted.size() != axes.size()) {
    return absl::InvalidArgumentError("as many extents as axes are needed");
  }
  Ints begin(rank, 0);
  Ints end = shape;
  std::vector<Ints> widths(rank, Ints{0, 0});
  bool cuts = false;
  bool adds = false;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = axes[i];
    if (wanted[i] < 0 || wanted[i] > std::numeric_limits<int32_t>::max()) {
      return absl::InvalidArgumentError("an extent is out of range");
    }
    const int64_t more = wanted[i] - shape[axis];
    if (more < 0) {
      begin[axis] = -more / 2;
      end[axis] = begin[axis] + wanted[i];
      cuts = true;
    } else if (more > 0) {
      widths[axis] = {more / 2, more - more / 2};
      adds = true;
    }
  }
  if (cuts) x = relay::StridedSlice(std::move(x), begin, end);
  if (adds) {
    const Expr zero = ScalarLike(0, node.Input(0));
    x = relay::nn::Pad(std::move(x), std::move(widths), zero);
  }
  return One(std::move(x));
}

// Elements of other places in place of those that padding by computed numbers
// adds, of each axis in `axes`.
absl::StatusOr<Expr> PaddedByComputedPositions(NodeContext& node,
                                               const std::string& mode,
                                               const Ints& axes,
                                               const Expr& pads) {
  const auto number = [](int64_t value) {
    return relay::Const(Tensor::Scalar<int64_t>(value));
  };
  Expr x = node.Input(0);
  const std::optional<Dims> known =
      pads == node.Input(1) ? node.Elements(1) : std::nullopt;
  const auto count = static_cast<int64_t>(axes.size());
  for (int64_t i = 0; i < count; ++i) {
    if (known.has_value() && (*known)[i].is_const(0) &&
        (*known)[i + count].is_const(0)) {
      continue;
    }
    BATON_ASSIGN_OR_RETURN(x, node.Typed(std::move(x)));
    x = PaddedByPositions(x, static_cast<int>(axes[i]), mode,
                          relay::Take(pads, number(i), {.axis = 0}),
                          relay::Take(pads, number(i + count), {.axis = 0}));
  }
  return x;
}

// Padding by `pads`, typed numbers that are not known when the model is
// imported, for the axes `axes`.
absl::StatusOr<Outputs> PaddedByComputed(NodeContext& node,
                                         const std::string& mode,
                                         const Ints& axes, const Expr& value,
                                         const Expr& pads) {
  const Expr& x = node.Input(0);
  const auto count = static_cast<int64_t>(axes.size());
  BATON_ASSIGN_OR_RETURN(const Ints pads_shape, ShapeOf(pads));
  if (pads_shape != Ints{2 * count}) {
    return absl::InvalidArgumentError(
        absl::StrCat("the numbers of padding for ", axes.size(), " axes"));
  }
  if (mode != "constant") {
    BATON_ASSIGN_OR_RETURN(Expr result,
                           PaddedByComputedPositions(node, mode, axes, pads));
    return One(std::move(result));
  }
  // The positions in `pads`, which has a zero behind it, of the two numbers of
  // each axis of `x`.
  const int rank = x->tensor_type()->rank();
  Ints places(2 * static_cast<size_t>(rank), 2 * count);
  for (int64_t i = 0; i < count; ++i) {
    places[2 * axes[i]] = i;
    places[2 * axes[i] + 1] = i + count;
  }
  Expr numbers = AsInt64(pads);
  if (count < rank) {
    numbers = relay::Concatenate({std::move(numbers), VectorConstant({0})}, 0);
  }
  BATON_ASSIGN_OR_RETURN(Tensor matrix,
                         Tensor::FromValues<int64_t>({rank, 2}, places));
  Expr result = Call(BATON_OP("dyn.nn.pad"),
                     {x,
                      relay::Take(std::move(numbers),
                                  relay::Const(std::move(matrix)), {.axis = 0}),
                      value},
                     Attrs::Make(relay::PadAttrs{}));
  // The operator's result has no extent that is known; of axes that are not
  // padded they are those of `x`.
  const std::optional<Dims> known =
      pads == node.Input(1) ? node.Elements(1) : std::nullopt;
  const auto is_kept = [&](int axis) {
    for (const int64_t place : {places[2 * axis], places[2 * axis + 1]}) {
      const bool is_zero = place == 2 * count ||
                           (known.has_value() && (*known)[place].is_const(0));
      if (!is_zero) return false;
    }
    return true;
  };
  result = WithExtentsOf(std::move(result), x, rank, is_kept);
  return One(std::move(result));
}

absl::StatusOr<Outputs> Pad(NodeContext& node) {
  Expr x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(x));
  const std::string mode = node.String("mode", "constant");
  if (mode != "constant" && mode != "edge" && mode != "reflect" &&
      mode != "wrap") {
    return absl::UnimplementedError(
        absl::StrCat("the mode '", mode, "' is not supported"));
  }
  Ints pads;
  Expr value = ScalarLike(0, x);
  Ints axes = Iota(rank);
  if (node.opset() < 11) {
    pads = node.Ints(node.opset() < 2 ? "paddings" : "pads").value_or(Ints());
    value = ScalarLike(node.Float("value", 0), x);
  } else {
    if (node.HasInput(2)) {
      BATON_ASSIGN_OR_RETURN(value, ScalarInput(node, 2));
    }
    if (node.HasInput(3)) {
      absl::StatusOr<Ints> known = node.ConstantInts(3);
      if (!known.ok()) {
        // The numbers of all axes, begins and then ends.
        const Expr places = AxesFromFront(node.Input(3), rank);
        const Expr ends =
            relay::Add(places, relay::Const(Tensor::Scalar<int64_t>(rank)));
        BATON_ASSIGN_OR_RETURN(
            const Expr all,
            node.Typed(AtAxes(relay::Concatenate({places, ends}, 0),
                              AsInt64(node.Input(1)), 2 * rank, 0)));
        return PaddedByComputed(node, mode, Iota(rank), value, all);
      }
      BATON_ASSIGN_OR_RETURN(axes, NormalAxes(*std::move(known), rank));
    }
    absl::StatusOr<Ints> known = node.ConstantInts(1);
    if (absl::IsUnimplemented(known.status())) {
      return PaddedByComputed(node, mode, axes, value, node.Input(1));
    }
    BATON_ASSIGN_OR_RETURN(pads, std::move(known));
  }
  if (pads.size() != 2 * axes.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        pads.size(), " numbers of padding for ", axes.size(), " axes"));
  }
  if (mode == "wrap") return Wrapped(node, axes, pads);
  std::vector<Ints> widths(rank, Ints{0, 0});
  // Negative padding cuts off.
  Ints begin(rank, 0);
  Ints end(rank, std::numeric_limits<int32_t>::max());
  bool cuts = false;
  bool adds = false;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t before = pads[i];
    const int64_t after = pads[i + axes.size()];
    widths[axes[i]] = {std::max<int64_t>(before, 0),
                       std::max<int64_t>(after, 0)};
    if (before < 0) begin[axes[i]] = -before;
    if (after < 0) end[axes[i]] = after;
    cuts = cuts || before < 0 || after < 0;
    adds = adds || before > 0 || after > 0;
  }
  if (cuts) x = relay::StridedSlice(x, std::move(begin), std::move(end));
  if (adds) x = relay::nn::Pad(x, std::move(widths), std::move(value), mode);
  return One(std::move(x));
}

// --- Gathering and scattering ----------------------------------------------

// The dimensions that a call of shape_of stands for; null for another value.
const TensorTypeNode* ShapeOfWhat(const Expr& expr) {
  return relay::IsCallTo(expr, BATON_OP("shape_of"))
             ? expr.As<relay::CallNode>()->arg(0)->tensor_type()
             : nullptr;
}

// Refuses indices out of [-extent, extent).
absl::Status CheckIndices(const Tensor& indices, int64_t extent, int axis) {
  for (int64_t k = 0; k < indices.num_elements(); ++k) {
    const int64_t index = indices.AtAsInt64(k);
    if (index >= -extent && index < extent) continue;
    return absl::InvalidArgumentError(absl::StrCat("index ", index, " of axis ",
                                                   axis, ", which has ", extent,
                                                   " elements"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Outputs> Gather(NodeContext& node) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(x));
  BATON_ASSIGN_OR_RETURN(const int axis, NormalAxis(node.Int("axis", 0), rank));
  // One dimension of a shape may be known where others are not.
  const Tensor* known = relay::ConstantTensor(node.Input(1));
  if (const TensorTypeNode* of = ShapeOfWhat(x);
      of != nullptr && known != nullptr && known->num_elements() == 1) {
    const absl::StatusOr<int> i = NormalAxis(known->AtAsInt64(0), of->rank());
    if (i.ok() && of->dim(*i).is_const()) {
      BATON_ASSIGN_OR_RETURN(
          Tensor dim,
          Tensor::FromValues<int64_t>(known->shape(), {of->dim(*i).value()}));
      return One(relay::Const(std::move(dim)));
    }
  }
  if (const Dim& dim = x->tensor_type()->dim(axis);
      known != nullptr && dim.is_const()) {
    BATON_RETURN_IF_ERROR(CheckIndices(*known, dim.value(), axis));
  }
  BATON_ASSIGN_OR_RETURN(Expr indices, FromStart(node, 1, ExtentOf(x, axis)));
  return One(relay::Take(x, std::move(indices), {.axis = axis}));
}

// `x` cut to the extents of `like`, which are not larger, on all axes but
// `axis`.
absl::StatusOr<Expr> BeginningLike(NodeContext& node, const Expr& x,
                                   const Expr& like, int axis) {
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(x));
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* like_type, TensorTypeOf(like));
  if (type->rank() != like_type->rank()) {
    return absl::InvalidArgumentError(
        absl::StrCat("indices of rank ", like_type->rank(),
                     " into a tensor of rank ", type->rank()));
  }
  Expr result = x;
  for (int i = 0; i < type->rank(); ++i) {
    const Dim& dim = type->dim(i);
    const Dim& wanted = like_type->dim(i);
    if (i == axis || relay::ProvablyEqual(dim, wanted)) continue;
    if (dim.is_const() && wanted.is_const()) {
      if (wanted.value() > dim.value()) {
        return absl::InvalidArgumentError(
            absl::StrCat("indices of extent ", wanted.value(), " along axis ",
                         i, " of a tensor of extent ", dim.value()));
      }
      result = relay::StridedSlice(std::move(result), {0}, {wanted.value()},
                                   {.axes = Ints{i}});
      continue;
    }
    // Elements that are taken by number, so that larger indices are an error.
    result = relay::Take(
        std::move(result),
        relay::Arange(relay::Const(Tensor::Scalar<int64_t>(0)),
                      ExtentOf(like, i),
                      relay::Const(Tensor::Scalar<int64_t>(1)), DType::Int(64)),
        {.axis = i});
  }
  return result == x ? x : node.Typed(std::move(result));
}

absl::StatusOr<Outputs> GatherElements(NodeContext& node) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(x));
  BATON_ASSIGN_OR_RETURN(const int axis, NormalAxis(node.Int("axis", 0), rank));
  BATON_ASSIGN_OR_RETURN(const Expr indices,
                         FromStart(node, 1, ExtentOf(x, axis)));
  BATON_ASSIGN_OR_RETURN(const Expr data,
                         BeginningLike(node, x, node.Input(1), axis));
  return One(relay::Gather(data, axis, indices));
}

// Coordinates along the last axis, as GatherND and ScatterND take them, along
// the first axis, as Relay takes them. Those below 0 count from the end in
// both.
// `*length`: of one.
absl::StatusOr<Expr> Coordinates(NodeContext& node, const Expr& x,
                                 int64_t batch_dims, int64_t* length) {
  const Expr& indices = node.Input(1);
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(indices));
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* data, TensorTypeOf(x));
  const int rank = type->rank();
  if (rank == 0 || !type->dim(rank - 1).is_const()) {
    return absl::UnimplementedError(
        "the last dimension of the indices must be known");
  }
  *length = type->dim(rank - 1).value();
  if (*length + batch_dims > data->rank()) {
    return absl::InvalidArgumentError(
        absl::StrCat("indices of length ", *length, " into a tensor of rank ",
                     data->rank()));
  }
  Ints axes = {rank - 1};
  for (int i = 0; i + 1 < rank; ++i) axes.push_back(i);
  return relay::Transpose(indices, std::move(axes));
}

absl::StatusOr<Outputs> GatherNd(NodeContext& node) {
  const Expr& x = node.Input(0);
  const int64_t batch_dims = node.Int("batch_dims", 0);
  int64_t length = 0;
  BATON_ASSIGN_OR_RETURN(Expr indices,
                         Coordinates(node, x, batch_dims, &length));
  return One(relay::GatherNd(x, std::move(indices),
                             {.batch_dims = batch_dims, .index_rank = length}));
}

absl::StatusOr<std::string> Reduction(NodeContext& node) {
  const std::string reduction = node.String("reduction", "none");
  if (reduction == "none") return std::string("update");
  if (reduction == "add" || reduction == "mul" || reduction == "min" ||
      reduction == "max") {
    return reduction;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the reduction '", reduction, "'"));
}

absl::StatusOr<Outputs> ScatterElements(NodeContext& node) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(x));
  BATON_ASSIGN_OR_RETURN(const int axis, NormalAxis(node.Int("axis", 0), rank));
  BATON_ASSIGN_OR_RETURN(const std::string reduction, Reduction(node));
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* places,
                         TensorTypeOf(node.Input(1)));
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* updates,
                         TensorTypeOf(node.Input(2)));
  bool fits = places->rank() == rank && updates->rank() == rank;
  for (int i = 0; fits && i < rank; ++i) {
    fits = !relay::ProvablyDiffer(places->dim(i), updates->dim(i));
  }
  if (!fits) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the indices have the shape ", relay::ShapeToString(places->shape()),
        ", the updates ", relay::ShapeToString(updates->shape()),
        ", and the data has ", rank, " axes"));
  }
  BATON_ASSIGN_OR_RETURN(const Expr indices,
                         FromStart(node, 1, ExtentOf(x, axis)));
  return One(Call(BATON_OP("scatter_elements"), {x, indices, node.Input(2)},
                  Attrs::Make(relay::ScatterElementsAttrs{
                      .axis = axis, .reduction = reduction})));
}

absl::StatusOr<Outputs> ScatterNd(NodeContext& node) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const std::string reduction, Reduction(node));
  int64_t length = 0;
  BATON_ASSIGN_OR_RETURN(const Expr indices, Coordinates(node, x, 0, &length));
  return One(Call(BATON_OP("scatter_nd"), {x, indices, node.Input(2)},
                  Attrs::Make(relay::ScatterNDAttrs{.mode = reduction})));
}

// The element that all elements of `x` are, if `x` is made by filling.
std::optional<double> FillOf(const Expr& x) {
  const auto* call = x.As<relay::CallNode>();
  if (call == nullptr || call->args().empty()) return std::nullopt;
  for (const Op& op :
       {BATON_OP("full"), BATON_OP("dyn.full"), BATON_OP("broadcast_to"),
        BATON_OP("dyn.broadcast_to")}) {
    if (call->op().get() == op.get()) {
      return relay::ConstantSplat(call->arg(0));
    }
  }
  return std::nullopt;
}

absl::StatusOr<Outputs> NonZero(NodeContext& node) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(x));
  if (rank == 1 && FillOf(x).value_or(0) != 0) {
    // Exporters write `arange` so, for opsets without Range.
    return One(relay::ExpandDims(Positions(x, 0, 0), 0, 1));
  }
  return One(
      relay::Cast(relay::Transpose(Call(BATON_OP("argwhere"), {node.Input(0)})),
                  DType::Int(64)));
}

absl::StatusOr<Outputs> Compress(NodeContext& node) {
  Expr x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(x));
  int axis = 0;
  if (node.HasAttr("axis")) {
    BATON_ASSIGN_OR_RETURN(axis, NormalAxis(node.Int("axis", 0), rank));
  } else {
    x = relay::Reshape(std::move(x), {-1});
  }
  Expr chosen = relay::Squeeze(Call(BATON_OP("argwhere"), {node.Input(1)}),
                               std::vector<int64_t>{1});
  return One(relay::Take(std::move(x), std::move(chosen), {.axis = axis}));
}

absl::StatusOr<Outputs> TopK(NodeContext& node) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(x));
  BATON_ASSIGN_OR_RETURN(const int axis,
                         NormalAxis(node.Int("axis", -1), rank));
  relay::TopKAttrs attrs;
  attrs.axis = axis;
  attrs.is_ascend = node.Int("largest", 1) == 0;
  attrs.dtype = DType::Int(64);
  Expr result;
  absl::StatusOr<Ints> k = node.opset() < 10
                               ? absl::StatusOr<Ints>(Ints{node.Int("k", 1)})
                               : node.ConstantInts(1);
  if (k.ok()) {
    if (k->size() != 1) return absl::InvalidArgumentError("k is no scalar");
    if ((*k)[0] < 0) {
      return absl::InvalidArgumentError(absl::StrCat("k is ", (*k)[0]));
    }
    if ((*k)[0] == 0) {
      const Expr none = relay::StridedSlice(x, {0}, {0}, {.axes = Ints{axis}});
      return Outputs{none, relay::Cast(none, DType::Int(64))};
    }
    if (const Dim& dim = x->tensor_type()->dim(axis);
        dim.is_const() && dim.value() < (*k)[0]) {
      return absl::InvalidArgumentError(
          absl::StrCat("k is ", (*k)[0], ", but axis ", axis, " has ",
                       dim.value(), " elements"));
    }
    attrs.k = (*k)[0];
    result = relay::TopK(x, attrs);
  } else {
    result = Call(BATON_OP("dyn.topk"), {x, node.Input(1)}, Attrs::Make(attrs));
  }
  BATON_ASSIGN_OR_RETURN(result, node.Typed(std::move(result)));
  return Outputs{TupleGetItem(result, 0), TupleGetItem(result, 1)};
}

absl::StatusOr<Outputs> ReverseSequence(NodeContext& node) {
  return One(Call(BATON_OP("reverse_sequence"), {node.Input(0), node.Input(1)},
                  Attrs::Make(relay::ReverseSequenceAttrs{
                      .seq_axis = node.Int("time_axis", 0),
                      .batch_axis = node.Int("batch_axis", 1)})));
}

// Refuses extents of the axes from `first` to `last` that the blocks do not
// divide; `factor`: of elements that a block has along each of them.
absl::Status CheckBlocks(const Expr& x, int first, int last, int64_t factor) {
  const TensorTypeNode* type = x->tensor_type();
  if (type == nullptr || type->rank() != 4) {
    return absl::InvalidArgumentError("the data has not 4 axes");
  }
  for (int i = first; i <= last && factor > 0; ++i) {
    const Dim& dim = type->dim(i);
    if (!dim.is_const() || dim.value() % factor == 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("axis ", i, " has ", dim.value(),
                     " elements, which blocks of ", factor, " do not divide"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Outputs> DepthToSpace(NodeContext& node) {
  const int64_t block = node.Int("blocksize", 1);
  if (block > 0 && block < 1 << 20) {
    BATON_RETURN_IF_ERROR(CheckBlocks(node.Input(0), 1, 1, block * block));
  }
  const std::string mode = node.String("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") {
    return absl::InvalidArgumentError(absl::StrCat("the mode '", mode, "'"));
  }
  return One(Call(BATON_OP("nn.depth_to_space"), {node.Input(0)},
                  Attrs::Make(relay::SubPixelAttrs{
                      .block_size = static_cast<int>(node.Int("blocksize", 1)),
                      // Relay's name of CRD.
                      .mode = mode == "DCR" ? "DCR" : "CDR"})));
}

absl::StatusOr<Outputs> SpaceToDepth(NodeContext& node) {
  BATON_RETURN_IF_ERROR(
      CheckBlocks(node.Input(0), 2, 3, node.Int("blocksize", 1)));
  return One(Call(BATON_OP("nn.space_to_depth"), {node.Input(0)},
                  Attrs::Make(relay::SubPixelAttrs{
                      .block_size = static_cast<int>(node.Int("blocksize", 1)),
                      .mode = "DCR"})));
}

// --- Sequences and optionals -----------------------------------------------

absl::StatusOr<std::vector<Expr>> FieldsOf(const Expr& sequence) {
  if (const auto* tuple = sequence.As<relay::TupleNode>()) {
    return std::vector<Expr>(tuple->fields().begin(), tuple->fields().end());
  }
  const TupleTypeNode* type = sequence->tuple_type();
  if (type == nullptr) {
    return absl::InvalidArgumentError("an input is no sequence");
  }
  std::vector<Expr> result;
  for (size_t i = 0; i < type->fields().size(); ++i) {
    result.push_back(
        TupleGetItem(sequence, static_cast<int>(i), type->fields()[i]));
  }
  return result;
}

// The position that input `i` names, in [0, limit); `otherwise` if not given.
absl::StatusOr<int64_t> Position(NodeContext& node, int i, int64_t size,
                                 int64_t limit, int64_t otherwise) {
  if (!node.HasInput(i)) return otherwise;
  BATON_ASSIGN_OR_RETURN(const Ints given, node.ConstantInts(i));
  if (given.size() != 1) {
    return absl::InvalidArgumentError("the position is no scalar");
  }
  const int64_t at = given[0] < 0 ? given[0] + size : given[0];
  if (at < 0 || at >= limit) {
    return absl::InvalidArgumentError(
        absl::StrCat("position ", given[0], " in a sequence of length ", size));
  }
  return at;
}

absl::StatusOr<Outputs> SequenceConstruct(NodeContext& node) {
  std::vector<Expr> fields;
  for (int i = 0; i < node.num_inputs(); ++i) fields.push_back(node.Input(i));
  return One(Tuple(std::move(fields)));
}

absl::StatusOr<Outputs> SequenceEmpty(NodeContext& /*node*/) {
  return One(Tuple(std::vector<Expr>()));
}

absl::StatusOr<Outputs> SequenceInsert(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(std::vector<Expr> fields, FieldsOf(node.Input(0)));
  const auto size = static_cast<int64_t>(fields.size());
  BATON_ASSIGN_OR_RETURN(const int64_t at,
                         Position(node, 2, size, size + 1, size));
  fields.insert(fields.begin() + at, node.Input(1));
  return One(Tuple(std::move(fields)));
}

absl::StatusOr<Outputs> SequenceErase(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(std::vector<Expr> fields, FieldsOf(node.Input(0)));
  const auto size = static_cast<int64_t>(fields.size());
  BATON_ASSIGN_OR_RETURN(const int64_t at,
                         Position(node, 1, size, size, size - 1));
  if (at < 0) return absl::InvalidArgumentError("the sequence is empty");
  fields.erase(fields.begin() + at);
  return One(Tuple(std::move(fields)));
}

absl::StatusOr<Outputs> SequenceAt(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(const std::vector<Expr> fields,
                         FieldsOf(node.Input(0)));
  const auto size = static_cast<int64_t>(fields.size());
  node.Input(1);
  BATON_ASSIGN_OR_RETURN(const int64_t at, Position(node, 1, size, size, 0));
  if (at >= size) return absl::InvalidArgumentError("the sequence is empty");
  return One(fields[at]);
}

absl::StatusOr<Outputs> SequenceLength(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(const std::vector<Expr> fields,
                         FieldsOf(node.Input(0)));
  return One(relay::Const(
      Tensor::Scalar<int64_t>(static_cast<int64_t>(fields.size()))));
}

absl::StatusOr<Outputs> ConcatFromSequence(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(std::vector<Expr> fields, FieldsOf(node.Input(0)));
  if (fields.empty())
    return absl::InvalidArgumentError("the sequence is empty");
  const bool new_axis = node.Int("new_axis", 0) != 0;
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(fields[0]));
  BATON_ASSIGN_OR_RETURN(const int axis, NormalAxis(node.Int("axis", 0),
                                                    rank + (new_axis ? 1 : 0)));
  return One(new_axis ? relay::Stack(std::move(fields), axis)
                      : relay::Concatenate(std::move(fields), axis));
}

absl::StatusOr<Outputs> SplitToSequence(NodeContext& node) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(x));
  BATON_ASSIGN_OR_RETURN(const int axis,
                         NormalAxis(node.Int("axis", 0), type->rank()));
  if (!type->dim(axis).is_const()) {
    return absl::UnimplementedError("the extent of the axis must be known");
  }
  const int64_t extent = type->dim(axis).value();
  Ints sizes;
  bool squeeze = false;
  if (node.HasInput(1)) {
    BATON_ASSIGN_OR_RETURN(const Tensor split, node.Constant(1));
    if (split.rank() == 0) {
      const int64_t size = split.AtAsInt64(0);
      if (size <= 0) return absl::InvalidArgumentError("a part is empty");
      if (extent / size > 1 << 20) {
        return absl::UnimplementedError("the sequence would be too long");
      }
      for (int64_t at = 0; at < extent; at += size) {
        sizes.push_back(std::min(size, extent - at));
      }
    } else {
      BATON_ASSIGN_OR_RETURN(sizes, node.ConstantInts(1));
    }
  } else {
    if (extent > 1 << 20) {
      return absl::UnimplementedError("the sequence would be too long");
    }
    sizes.assign(extent, 1);
    squeeze = node.Int("keepdims", 1) == 0;
  }
  BATON_ASSIGN_OR_RETURN(Outputs parts, SplitInto(node, x, axis, sizes));
  if (squeeze) {
    for (Expr& part : parts) {
      part = relay::Squeeze(std::move(part), Ints{axis});
    }
  }
  return One(Tuple(std::move(parts)));
}

absl::StatusOr<Outputs> SequenceMap(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(const absl::string_view body, node.Graph("body"));
  BATON_ASSIGN_OR_RETURN(const std::vector<Expr> first,
                         FieldsOf(node.Input(0)));
  std::vector<std::vector<Expr>> results(node.num_outputs());
  for (size_t i = 0; i < first.size(); ++i) {
    std::vector<Expr> inputs;
    for (int k = 0; k < node.num_inputs(); ++k) {
      const Expr& input = node.Input(k);
      if (input->tuple_type() == nullptr) {
        inputs.push_back(input);
        continue;
      }
      BATON_ASSIGN_OR_RETURN(const std::vector<Expr> fields, FieldsOf(input));
      if (fields.size() != first.size()) {
        return absl::InvalidArgumentError("sequences differ in length");
      }
      BATON_ASSIGN_OR_RETURN(Expr field, node.Typed(fields[i]));
      inputs.push_back(std::move(field));
    }
    BATON_ASSIGN_OR_RETURN(
        const Outputs outputs,
        node.graphs().ConvertGraph(body, inputs, absl::StrCat("body ", i)));
    if (outputs.size() < results.size()) {
      return absl::InvalidArgumentError("the body has too few outputs");
    }
    for (size_t k = 0; k < results.size(); ++k) {
      results[k].push_back(outputs[k]);
    }
  }
  Outputs result;
  for (std::vector<Expr>& fields : results) {
    result.push_back(Tuple(std::move(fields)));
  }
  return result;
}

absl::StatusOr<Outputs> Optional(NodeContext& node) {
  if (node.num_inputs() == 0) return Outputs{Expr()};
  return One(node.inputs()[0]);
}

absl::StatusOr<Outputs> OptionalHasElement(NodeContext& node) {
  return One(relay::Const(Tensor::Scalar<bool>(node.HasInput(0))));
}

absl::StatusOr<Outputs> OptionalGetElement(NodeContext& node) {
  return One(node.Input(0));
}

BATON_ONNX_CONVERTERS({
    {"CenterCropPad", CenterCropPad, 18},
    {"Compress", Compress, 9},
    {"Concat", Concat},
    {"ConcatFromSequence", ConcatFromSequence, 11},
    {"Constant", ConstantValue},
    {"ConstantOfShape", ConstantOfShape, 9},
    {"DepthToSpace", DepthToSpace},
    {"Expand", Expand, 8},
    {"EyeLike", EyeLike, 9},
    {"Flatten", Flatten},
    {"Gather", Gather},
    {"GatherElements", GatherElements, 11},
    {"GatherND", GatherNd, 11},
    {"NonZero", NonZero, 9},
    {"OneHot", OneHot, 9},
    {"Optional", Optional, 15},
    {"OptionalGetElement", OptionalGetElement, 15},
    {"OptionalHasElement", OptionalHasElement, 15},
    {"Pad", Pad},
    {"Range", Range, 11},
    {"Reshape", Reshape},
    {"ReverseSequence", ReverseSequence, 10},
    {"Scatter", ScatterElements, 9, 10},
    {"ScatterElements", ScatterElements, 11},
    {"ScatterND", ScatterNd, 11},
    {"SequenceAt", SequenceAt, 11},
    {"SequenceConstruct", SequenceConstruct, 11},
    {"SequenceEmpty", SequenceEmpty, 11},
    {"SequenceErase", SequenceErase, 11},
    {"SequenceInsert", SequenceInsert, 11},
    {"SequenceLength", SequenceLength, 11},
    {"SequenceMap", SequenceMap, 17},
    {"Shape", Shape},
    {"Size", Size},
    {"Slice", Slice},
    {"SpaceToDepth", SpaceToDepth},
    {"Split", Split},
    {"SplitToSequence", SplitToSequence, 11},
    {"Squeeze", Squeeze},
    {"Tile", Tile},
    {"TopK", TopK},
    {"Transpose", Transpose},
    {"Trilu", Trilu, 14},
    {.op = "Trilu", .convert = Trilu, .domain = kMicrosoftDomain},
    {"Unsqueeze", Unsqueeze},
});

}  // namespace
}  // namespace baton::onnx
