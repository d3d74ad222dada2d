// Converters of operators that gather, scatter, select and reorder elements.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/dtype.h"
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
#include "baton/relay/op/tensor/sequence.h"
#include "baton/relay/op/tensor/shape.h"

namespace baton::onnx {
namespace {

using relay::Call;
using relay::TupleGetItem;

using Ints = std::vector<int64_t>;

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
        absl::StrCat("the indices have ", like_type->rank(),
                     " axes, but the data has ", type->rank()));
  }
  Expr result = x;
  for (int i = 0; i < type->rank(); ++i) {
    const Dim& dim = type->dim(i);
    const Dim& wanted = like_type->dim(i);
    if (i == axis || relay::ProvablyEqual(dim, wanted)) continue;
    if (dim.is_const() && wanted.is_const()) {
      if (wanted.value() > dim.value()) {
        return absl::InvalidArgumentError(absl::StrCat(
            "axis ", i, " of the indices has ", wanted.value(),
            " elements, but that of the data has only ", dim.value()));
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
    if (k->size() != 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("k must have one element, but has ", k->size()));
    }
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

BATON_ONNX_CONVERTERS({
    {"Compress", Compress, 9},
    {"DepthToSpace", DepthToSpace},
    {"Gather", Gather},
    {"GatherElements", GatherElements, 11},
    {"GatherND", GatherNd, 11},
    {"NonZero", NonZero, 9},
    {"ReverseSequence", ReverseSequence, 10},
    {"Scatter", ScatterElements, 9, 10},
    {"ScatterElements", ScatterElements, 11},
    {"ScatterND", ScatterNd, 11},
    {"SpaceToDepth", SpaceToDepth},
    {"TopK", TopK},
});

}  // namespace
}  // namespace baton::onnx
