#include "baton/relay/op/tensor/indexing.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/layout.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/ir/type_relation.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/dim_math.h"
#include "baton/relay/op/fusion_pattern.h"
#include "baton/relay/op/layout_rules.h"
#include "baton/relay/op/op_flags.h"
#include "baton/relay/op/tensor/strided_slice.h"
#include "baton/relay/op/type_relations.h"

namespace baton::relay {
namespace {

absl::Status ExpectIntegers(const TypeRelationContext& context, int i,
                            const TensorTypeNode& type) {
  if (type.dtype().is_integral()) return absl::OkStatus();
  return context.Error(context.op().arguments()[i].name,
                       " must hold integers, but holds ",
                       type.dtype().ToString());
}

// A dimension that must be a number, since it is the rank of the result.
absl::StatusOr<int> StaticExtent(const TypeRelationContext& context, int i,
                                 const TensorTypeNode& type, int axis) {
  if (axis < type.rank() && type.dim(axis).is_const() &&
      type.dim(axis).value() >= 0 && type.dim(axis).value() < 1024) {
    return static_cast<int>(type.dim(axis).value());
  }
  return context.Error("the extent of ", context.op().arguments()[i].name,
                       " on axis ", axis, " must be known, but its shape is ",
                       ShapeToString(type.shape()));
}

// Slices.

absl::StatusOr<Type> StridedSliceRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const absl::StatusOr<Dims> shape =
      StridedSliceShape(data->shape(), context.attrs<StridedSliceAttrs>());
  if (!shape.ok()) return context.Error(shape.status().message());
  return TensorLike(context, 0, *shape, data->dtype());
}

absl::StatusOr<Type> SliceLikeRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  const TensorTypeNode* like = context.Tensor(1);
  if (data == nullptr || like == nullptr) return Type();
  const auto& axes = context.attrs<SliceLikeAttrs>().axes;
  std::vector<int64_t> sliced;
  if (axes.has_value()) {
    if (axes->empty()) return context.Error("axes must not be empty");
    sliced = *axes;
  } else {
    for (int i = 0; i < data->rank() && i < like->rank(); ++i) {
      sliced.push_back(i);
    }
  }
  Dims shape(data->shape().begin(), data->shape().end());
  for (const int64_t value : sliced) {
    BATON_ASSIGN_OR_RETURN(const int axis,
                           NormalizeAxis(context, value, data->rank()));
    if (axis >= like->rank()) {
      return context.Error("axis ", value, " is out of range for the shape ",
                           ShapeToString(like->shape()));
    }
    const Dim& wanted = like->dim(axis);
    if (wanted.is_const() && shape[axis].is_const() &&
        wanted.value() > shape[axis].value()) {
      return context.Error("on axis ", value, " there are ",
                           shape[axis].value(), " elements, but ",
                           wanted.value(), " are wanted");
    }
    shape[axis] = wanted;
  }
  return TensorLike(context, 0, shape, data->dtype());
}

// Gathering.

absl::StatusOr<Type> TakeRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  const TensorTypeNode* indices = context.Tensor(1);
  if (data == nullptr || indices == nullptr) return Type();
  BATON_RETURN_IF_ERROR(ExpectIntegers(context, 1, *indices));
  const auto& attrs = context.attrs<TakeAttrs>();
  if (attrs.mode != "clip" && attrs.mode != "wrap" && attrs.mode != "fast") {
    return context.Error("mode=\"", attrs.mode,
                         "\" is none of clip, wrap and fast");
  }
  if (!attrs.axis.has_value()) {
    return TensorLike(context, 1, indices->shape(), data->dtype());
  }
  BATON_ASSIGN_OR_RETURN(const int axis,
                         NormalizeAxis(context, *attrs.axis, data->rank()));
  const int64_t batch = attrs.batch_dims < 0
                            ? attrs.batch_dims + indices->rank()
                            : attrs.batch_dims;
  if (batch < 0 || batch > indices->rank() || batch > axis) {
    return context.Error("batch_dims=", attrs.batch_dims,
                         " is out of range for axis=", *attrs.axis,
                         " and indices of shape ",
                         ShapeToString(indices->shape()));
  }
  Dims shape(data->shape().begin(), data->shape().begin() + axis);
  shape.insert(shape.end(), indices->shape().begin() + batch,
               indices->shape().end());
  shape.insert(shape.end(), data->shape().begin() + axis + 1,
               data->shape().end());
  return TensorLike(context, 0, shape, data->dtype());
}

absl::StatusOr<Type> GatherRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  const TensorTypeNode* indices = context.Tensor(1);
  if (data == nullptr || indices == nullptr) return Type();
  BATON_RETURN_IF_ERROR(ExpectIntegers(context, 1, *indices));
  BATON_RETURN_IF_ERROR(ExpectRank(context, 1, *indices, data->rank()));
  const auto& value = context.attrs<GatherAttrs>().axis;
  if (!value.has_value()) return context.Error("axis must be given");
  BATON_ASSIGN_OR_RETURN(const int axis,
                         NormalizeAxis(context, *value, data->rank()));
  for (int i = 0; i < data->rank(); ++i) {
    if (i != axis && ProvablyDiffer(indices->dim(i), data->dim(i))) {
      return context.Error("indices of shape ", ShapeToString(indices->shape()),
                           " do not fit data of shape ",
                           ShapeToString(data->shape()));
    }
  }
  return TensorLike(context, 1, indices->shape(), data->dtype());
}

absl::StatusOr<Type> GatherNDRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  const TensorTypeNode* indices = context.Tensor(1);
  if (data == nullptr || indices == nullptr) return Type();
  BATON_ASSIGN_OR_RETURN(const int length,
                         StaticExtent(context, 1, *indices, 0));
  const int64_t batch = context.attrs<GatherNDAttrs>().batch_dims;
  if (batch < 0 || batch > data->rank() - length || batch >= indices->rank()) {
    return context.Error("indices of shape ", ShapeToString(indices->shape()),
                         " and batch_dims=", batch,
                         " do not fit data of shape ",
                         ShapeToString(data->shape()));
  }
  for (int i = 0; i < batch; ++i) {
    if (ProvablyDiffer(data->dim(i), indices->dim(i + 1))) {
      return context.Error("indices of shape ", ShapeToString(indices->shape()),
                           " differ from data of shape ",
                           ShapeToString(data->shape()), " in batch axis ", i);
    }
  }
  Dims shape(indices->shape().begin() + 1, indices->shape().end());
  shape.insert(shape.end(), data->shape().begin() + length + batch,
               data->shape().end());
  return TensorLike(context, 0, shape, data->dtype());
}

// The argument is a tuple of the data and one tensor of indices an axis.
absl::StatusOr<Type> AdvIndexRel(TypeRelationContext& context) {
  const TupleTypeNode* tuple = context.TupleOf(0);
  if (tuple == nullptr) return Type();
  std::vector<const TensorTypeNode*> tensors;
  for (const Type& field : tuple->fields()) {
    tensors.push_back(field.As<TensorTypeNode>());
    if (tensors.back() == nullptr) {
      if (!field.defined() || field.Is<IncompleteTypeNode>()) return Type();
      return context.Error("the tuple holds a ", field.ToString(),
                           ", which is not a tensor");
    }
  }
  if (tensors.size() < 2) return context.Error("no indices are given");
  const TensorTypeNode& data = *tensors[0];
  const int count = static_cast<int>(tensors.size()) - 1;
  if (count > data.rank()) {
    return context.Error("there are ", count, " indices for data of shape ",
                         ShapeToString(data.shape()));
  }
  Dims shape(tensors[1]->shape().begin(), tensors[1]->shape().end());
  for (int i = 2; i <= count; ++i) {
    BATON_ASSIGN_OR_RETURN(
        shape, BroadcastShapes(context, shape, tensors[i]->shape()));
  }
  shape.insert(shape.end(), data.shape().begin() + count, data.shape().end());
  return Type(TensorType(shape, data.dtype()));
}

absl::StatusOr<Type> UnravelIndexRel(TypeRelationContext& context) {
  const TensorTypeNode* indices = context.Tensor(0);
  const TensorTypeNode* shape = context.Tensor(1);
  if (indices == nullptr || shape == nullptr) return Type();
  BATON_RETURN_IF_ERROR(ExpectIntegers(context, 0, *indices));
  BATON_RETURN_IF_ERROR(ExpectIntegers(context, 1, *shape));
  BATON_RETURN_IF_ERROR(ExpectRank(context, 1, *shape, 1));
  Dims result = {shape->dim(0)};
  if (indices->rank() > 0) result.push_back(indices->dim(0));
  return TensorLike(context, 0, result, indices->dtype());
}

// Selecting.

absl::StatusOr<Type> ArgWhereRel(TypeRelationContext& context) {
  const TensorTypeNode* condition = context.Tensor(0);
  if (condition == nullptr) return Type();
  return Type(TensorType({Dim::Any(), Dim(condition->rank())}, DType::Int(32)));
}

absl::StatusOr<Type> SequenceMaskRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  const TensorTypeNode* lengths = context.Tensor(1);
  if (data == nullptr || lengths == nullptr) return Type();
  const int axis = context.attrs<SequenceMaskAttrs>().axis;
  if (axis != 0 && axis != 1) {
    return context.Error("axis=", axis, " is neither 0 nor 1");
  }
  if (data->rank() < 2) {
    return context.Error(
        "the data must have 2 dimensions or more, but its "
        "shape is ",
        ShapeToString(data->shape()));
  }
  BATON_RETURN_IF_ERROR(
      ExpectArg(context, 1, {data->dim(1 - axis)}, lengths->dtype()));
  return context.arg(0);
}

absl::StatusOr<Type> TriluRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  const TensorTypeNode* k = context.Tensor(1);
  if (data == nullptr || k == nullptr) return Type();
  BATON_RETURN_IF_ERROR(ExpectRank(context, 1, *k, 0));
  return context.arg(0);
}

absl::StatusOr<Type> MatrixSetDiagRel(TypeRelationContext& context) {
  const TensorTypeNode* input = context.Tensor(0);
  const TensorTypeNode* diagonal = context.Tensor(1);
  if (input == nullptr || diagonal == nullptr) return Type();
  const auto& attrs = context.attrs<MatrixSetDiagAttrs>();
  if (attrs.k2 < attrs.k1) {
    return context.Error("k1=", attrs.k1, " is greater than k2=", attrs.k2);
  }
  if (input->rank() < 2 || diagonal->rank() < 1) {
    return context.Error("the shapes ", ShapeToString(input->shape()), " and ",
                         ShapeToString(diagonal->shape()),
                         " have too few dimensions");
  }
  return context.arg(0);
}

absl::StatusOr<Type> OneHotRel(TypeRelationContext& context) {
  const TensorTypeNode* indices = context.Tensor(0);
  if (indices == nullptr) return Type();
  const auto& attrs = context.attrs<OneHotAttrs>();
  if (attrs.depth <= 0) {
    return context.Error("depth=", attrs.depth, " is not positive");
  }
  BATON_ASSIGN_OR_RETURN(
      const int axis, NormalizeAxis(context, attrs.axis, indices->rank() + 1));
  Dims shape(indices->shape().begin(), indices->shape().end());
  shape.insert(shape.begin() + axis, Dim(attrs.depth));
  return Type(TensorType(shape, attrs.dtype));
}

// Placing.

absl::StatusOr<Type> ScatterElementsRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  const TensorTypeNode* indices = context.Tensor(1);
  const TensorTypeNode* updates = context.Tensor(2);
  if (data == nullptr || indices == nullptr || updates == nullptr) {
    return Type();
  }
  BATON_RETURN_IF_ERROR(ExpectIntegers(context, 1, *indices));
  return context.arg(0);
}

absl::StatusOr<Type> ScatterNDRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  const TensorTypeNode* indices = context.Tensor(1);
  const TensorTypeNode* updates = context.Tensor(2);
  if (data == nullptr || indices == nullptr || updates == nullptr) {
    return Type();
  }
  BATON_RETURN_IF_ERROR(ExpectIntegers(context, 1, *indices));
  BATON_ASSIGN_OR_RETURN(const int length,
                         StaticExtent(context, 1, *indices, 0));
  const int outer = indices->rank() - 1;
  const int inner = data->rank() - length;
  if (inner < 0 || updates->rank() != outer + inner) {
    return context.Error(
        "indices of shape ", ShapeToString(indices->shape()),
        " and updates of shape ", ShapeToString(updates->shape()),
        " do not fit data of shape ", ShapeToString(data->shape()));
  }
  return context.arg(0);
}

// Sparse tensors: coordinates, values and a shape.

absl::StatusOr<Type> SparseToDenseRel(TypeRelationContext& context) {
  const TensorTypeNode* indices = context.Tensor(0);
  const TensorTypeNode* values = context.Tensor(1);
  const TensorTypeNode* filler = context.Tensor(2);
  if (indices == nullptr || values == nullptr || filler == nullptr) {
    return Type();
  }
  BATON_RETURN_IF_ERROR(ExpectIntegers(context, 0, *indices));
  if (indices->rank() > 3 || values->rank() > 2) {
    return context.Error("indices and values have the shapes ",
                         ShapeToString(indices->shape()), " and ",
                         ShapeToString(values->shape()),
                         ", which have too many dimensions");
  }
  BATON_RETURN_IF_ERROR(ExpectRank(context, 2, *filler, 0));
  const auto& shape = context.attrs<SparseToDenseAttrs>().output_shape;
  return Type(TensorType(Dims(shape.begin(), shape.end()), values->dtype()));
}

absl::StatusOr<Type> SparseFillEmptyRowsRel(TypeRelationContext& context) {
  const TensorTypeNode* indices = context.Tensor(0);
  if (indices == nullptr) return Type();
  BATON_RETURN_IF_ERROR(ExpectRank(context, 0, *indices, 2));
  const Type vector = TensorType({Dim::Any()}, DType::Int(64));
  return Type(
      TupleType({TensorType({Dim::Any(), indices->dim(1)}, DType::Int(64)),
                 vector, vector}));
}

absl::StatusOr<Type> SparseReshapeRel(TypeRelationContext& context) {
  const TensorTypeNode* types[3];
  for (int i = 0; i < 3; ++i) {
    types[i] = context.Tensor(i);
    if (types[i] == nullptr) return Type();
    BATON_RETURN_IF_ERROR(ExpectIntegers(context, i, *types[i]));
    BATON_RETURN_IF_ERROR(ExpectRank(context, i, *types[i], i == 0 ? 2 : 1));
  }
  return Type(
      TupleType({TensorLike(context, 0, {types[0]->dim(0), types[2]->dim(0)},
                            types[0]->dtype()),
                 context.arg(2)}));
}

// Layout rules.

std::optional<InferredLayouts> InferStridedSliceLayouts(
    const LayoutQuery& query) {
  const Layout& old = query.old_inputs[0];
  if (!query.changed || query.new_inputs[0] == old) {
    return layouts::Same(old, query.attrs);
  }
  const Layout& arrived = query.new_inputs[0];
  const auto& attrs = AttrsOrDefaults<StridedSliceAttrs>(query.attrs);
  if (!attrs.begin.has_value() || !attrs.end.has_value()) return std::nullopt;
  const bool sizes = attrs.slice_mode == "size";
  const absl::Span<const Dim> shape = layouts::ShapeOfArg(query, 0);

  // The part that is cut out along each named axis, or along the leading axes
  // if none is named.
  struct Slice {
    int axis;
    int64_t begin;
    int64_t end;  // or the size
    int64_t stride;
  };
  const std::vector<int64_t> strides =
      attrs.strides.value_or(std::vector<int64_t>());
  const size_t num_slices =
      attrs.axes.has_value()
          ? attrs.axes->size()
          : std::max({attrs.begin->size(), attrs.end->size(), strides.size()});
  std::vector<Slice> slices;
  for (size_t i = 0; i < num_slices; ++i) {
    const int64_t axis =
        attrs.axes.has_value() ? (*attrs.axes)[i] : static_cast<int64_t>(i);
    Slice slice;
    slice.axis = static_cast<int>(axis < 0 ? axis + old.ndim() : axis);
    if (slice.axis < 0 || slice.axis >= static_cast<int>(shape.size()) ||
        slice.axis >= old.ndim()) {
      return std::nullopt;
    }
    slice.stride = !sizes && i < strides.size() ? strides[i] : 1;
    const bool has_begin = i < attrs.begin->size();
    const bool has_end = i < attrs.end->size();
    // Left out, they stand for the whole axis; from its end, if backwards.
    if (!(has_begin && has_end) && slice.stride < 0) return std::nullopt;
    slice.begin = has_begin ? (*attrs.begin)[i] : 0;
    if (has_end) {
      slice.end = (*attrs.end)[i];
    } else if (sizes) {
      slice.end = -1;
    } else if (shape[slice.axis].is_const()) {
      slice.end = shape[slice.axis].value();
    } else {
      return std::nullopt;
    }
    slices.push_back(slice);
  }

  const bool splits = arrived.SubLayout(0, old.ndim()) == old;
  if (old.SubLayout(0, arrived.ndim()) == arrived) {
    return layouts::Same(old, query.attrs);
  }
  if (layouts::HasSubAxes(old)) return std::nullopt;
  StridedSliceAttrs result = attrs;
  if (!splits) {
    // Axes change places.
    if (layouts::HasSubAxes(arrived) || arrived.ndim() != old.ndim()) {
      return std::nullopt;
    }
    result.begin->clear();
    result.end->clear();
    result.strides.emplace();
    const auto add = [&](int64_t begin, int64_t end, int64_t stride) {
      result.begin->push_back(begin);
      result.end->push_back(end);
      result.strides->push_back(stride);
    };
    if (attrs.axes.has_value()) {
      result.axes->clear();
      for (const Slice& slice : slices) {
        const int axis = arrived.IndexOf(old.axis(slice.axis).letter);
        if (axis < 0) return std::nullopt;
        result.axes->push_back(axis);
        add(slice.begin, slice.end, slice.stride);
      }
    } else {
      for (const Layout::Axis& axis : arrived.axes()) {
        const int old_axis = old.IndexOf(axis.letter);
        if (old_axis < 0) return std::nullopt;
        const auto slice = std::find_if(
            slices.begin(), slices.end(),
            [&](const Slice& other) { return other.axis == old_axis; });
        if (slice != slices.end()) {
          add(slice->begin, slice->end, slice->stride);
        } else {
          if (!shape[old_axis].is_const()) return std::nullopt;
          add(0, shape[old_axis].value(), 1);
        }
      }
    }
    return layouts::Same(arrived, Attrs::Make(std::move(result)));
  }

  // An axis is split: NCHW to NCHW4c. Whole blocks can be cut out.
  result.begin->clear();
  result.end->clear();
  for (const Slice& slice : slices) {
    int64_t begin = slice.begin;
    int64_t end = slice.end;
    const int64_t factor = arrived.FactorOf(old.axis(slice.axis).letter);
    if (factor > 0) {
      if (slice.stride != 1) return std::nullopt;
      if (sizes && end < 0) {
        if (!shape[slice.axis].is_const()) return std::nullopt;
        end = shape[slice.axis].value() - begin;
      }
      if (begin % factor != 0 || end % factor != 0) return std::nullopt;
      begin /= factor;
      end /= factor;
    }
    result.begin->push_back(begin);
    result.end->push_back(end);
  }
  if (result.axes.has_value()) {
    for (size_t i = 0; i < slices.size(); ++i) {
      (*result.axes)[i] = arrived.IndexOf(old.axis(slices[i].axis).letter);
    }
  }
  return layouts::Same(arrived, Attrs::Make(std::move(result)));
}

std::optional<InferredLayouts> InferSliceLikeLayouts(const LayoutQuery& query) {
  const Layout& data = query.old_inputs[0];
  const Layout& like = query.old_inputs[1];
  if (!data.defined() || !like.defined()) return std::nullopt;
  const auto& axes = AttrsOrDefaults<SliceLikeAttrs>(query.attrs).axes;
  if (query.changed && data == like && axes.has_value() && !axes->empty() &&
      query.new_inputs[0] == query.new_inputs[1]) {
    std::optional<std::vector<int64_t>> followed =
        layouts::FollowAxes(data, *axes, query.new_inputs[0]);
    if (followed.has_value()) {
      return InferredLayouts{
          {query.new_inputs[0], query.new_inputs[0]},
          {query.new_inputs[0]},
          layouts::WithField(query.attrs, &SliceLikeAttrs::axes,
                             *std::move(followed))};
    }
  }
  return InferredLayouts{{data, like}, {like}, query.attrs};
}

BATON_REGISTER_OP("strided_slice")
    .Describe("A part of a tensor, by begin, end and stride on each axis.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<StridedSliceAttrs>()
    .TypeRelation(StridedSliceRel)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(LayoutInferenceRules(), InferStridedSliceLayouts);

BATON_REGISTER_OP("slice_like")
    .Describe("The leading part of a tensor, as large as another.")
    .Arguments({{"data", "The input."},
                {"shape_like", "A tensor of the size wanted."}})
    .TakesAttrs<SliceLikeAttrs>()
    .TypeRelation(SliceLikeRel)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(LayoutInferenceRules(), InferSliceLikeLayouts);

BATON_REGISTER_OP("strided_set")
    .Describe("A tensor with a part of it replaced.")
    .Arguments({{"data", "The input."},
                {"v", "The new part."},
                {"begin", "The first index on each axis."},
                {"end", "The end on each axis, which is not included."},
                {"strides", "The step on each axis."}})
    .TypeRelation(IdentityRel)
    .Set(FusionPatterns(), FusionPattern::kInjective);

BATON_REGISTER_OP("take")
    .Describe("Elements along an axis, by index.")
    .Arguments({{"data", "The input."}, {"indices", "The indices."}})
    .TakesAttrs<TakeAttrs>()
    .TypeRelation(TakeRel)
    .Set(FusionPatterns(), FusionPattern::kInjective);

BATON_REGISTER_OP("gather")
    .Describe("Elements by index along one axis, the others given by place.")
    .Arguments({{"data", "The input."}, {"indices", "The indices."}})
    .TakesAttrs<GatherAttrs>()
    .TypeRelation(GatherRel)
    .Set(FusionPatterns(), FusionPattern::kInjective);

BATON_REGISTER_OP("gather_nd")
    .Describe("Elements or parts by coordinates.")
    .Arguments({{"data", "The input."},
                {"indices", "The coordinates, along the first axis."}})
    .TakesAttrs<GatherNDAttrs>()
    .TypeRelation(GatherNDRel)
    .Set(FusionPatterns(), FusionPattern::kInjective);

BATON_REGISTER_OP("adv_index")
    .Describe("Elements by one tensor of indices an axis.")
    .Arguments({{"inputs", "A tuple of the data and the indices."}})
    .TypeRelation(AdvIndexRel)
    .Set(FusionPatterns(), FusionPattern::kInjective);

BATON_REGISTER_OP("unravel_index")
    .Describe("Coordinates from row-major positions.")
    .Arguments({{"data", "The positions."}, {"shape", "The shape."}})
    .TypeRelation(UnravelIndexRel)
    .Set(FusionPatterns(), FusionPattern::kInjective);

BATON_REGISTER_OP("argwhere")
    .Describe("The coordinates of the elements that are not zero.")
    .Arguments({{"condition", "The input."}})
    .TypeRelation(ArgWhereRel)
    .Set(FusionPatterns(), FusionPattern::kOpaque);

BATON_REGISTER_OP("sequence_mask")
    .Describe("Overwrites what is past the end of sequences.")
    .Arguments({{"data", "The sequences."},
                {"valid_length", "The length of each."}})
    .TakesAttrs<SequenceMaskAttrs>()
    .TypeRelation(SequenceMaskRel)
    .Set(FusionPatterns(), FusionPattern::kInjective);

BATON_REGISTER_OP("trilu")
    .Describe("The upper or lower triangle of matrices.")
    .Arguments({{"data", "The input."},
                {"k", "The diagonal that bounds the triangle."}})
    .TakesAttrs<TriluAttrs>()
    .TypeRelation(TriluRel)
    .Set(IndexDependentOps(), true)
    .Set(FusionPatterns(), FusionPattern::kElemWise);

BATON_REGISTER_OP("matrix_set_diag")
    .Describe("Matrices with some diagonals replaced.")
    .Arguments({{"input", "The input."}, {"diagonal", "The new diagonals."}})
    .TakesAttrs<MatrixSetDiagAttrs>()
    .TypeRelation(MatrixSetDiagRel)
    .Set(FusionPatterns(), FusionPattern::kInjective);

BATON_REGISTER_OP("one_hot")
    .Describe("For each index, a vector that is special there only.")
    .Arguments({{"indices", "The indices."},
                {"on_value", "The special value."},
                {"off_value", "The other value."}})
    .TakesAttrs<OneHotAttrs>()
    .TypeRelation(OneHotRel)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable);

BATON_REGISTER_OP("scatter_elements")
    .Describe("Places updates by index along an axis.")
    .Arguments({{"data", "The input."},
                {"indices", "The indices."},
                {"updates", "The values to place."}})
    .TakesAttrs<ScatterElementsAttrs>()
    .TypeRelation(ScatterElementsRel)
    .Set(FusionPatterns(), FusionPattern::kOpaque);

BATON_REGISTER_OP("scatter_nd")
    .Describe("Places updates by coordinates.")
    .Arguments({{"data", "The input."},
                {"indices", "The coordinates, along the first axis."},
                {"updates", "The values to place."}})
    .TakesAttrs<ScatterNDAttrs>()
    .TypeRelation(ScatterNDRel)
    .Set(FusionPatterns(), FusionPattern::kOpaque);

BATON_REGISTER_OP("sparse_to_dense")
    .Describe("A dense tensor from coordinates and values.")
    .Arguments({{"sparse_indices", "The coordinates."},
                {"sparse_values", "The values."},
                {"default_value", "The value everywhere else."}})
    .TakesAttrs<SparseToDenseAttrs>()
    .TypeRelation(SparseToDenseRel)
    .Set(FusionPatterns(), FusionPattern::kOpaque);

BATON_REGISTER_OP("sparse_fill_empty_rows")
    .Describe("Adds a value to each row of a sparse matrix that has none.")
    .Arguments({{"sparse_indices", "The coordinates."},
                {"sparse_values", "The values."},
                {"dense_shape", "The shape."},
                {"default_value", "The value to add."}})
    .TypeRelation(SparseFillEmptyRowsRel)
    .Set(FusionPatterns(), FusionPattern::kOpaque);

BATON_REGISTER_OP("sparse_reshape")
    .Describe("Coordinates in another shape of as many elements.")
    .Arguments({{"sparse_indices", "The coordinates."},
                {"prev_shape", "The old shape."},
                {"new_shape", "The shape wanted; -1 for what is left over."}})
    .TypeRelation(SparseReshapeRel)
    .Set(FusionPatterns(), FusionPattern::kInjective);

}  // namespace

// Builders.

Expr StridedSlice(Expr data, std::vector<int64_t> begin,
                  std::vector<int64_t> end, StridedSliceOptions options) {
  return Call(
      BATON_OP("strided_slice"), {std::move(data)},
      Attrs::Make(StridedSliceAttrs{.begin = std::move(begin),
                                    .end = std::move(end),
                                    .strides = std::move(options.strides),
                                    .slice_mode = std::move(options.slice_mode),
                                    .axes = std::move(options.axes)}));
}

Expr SliceLike(Expr data, Expr shape_like,
               std::optional<std::vector<int64_t>> axes) {
  return Call(BATON_OP("slice_like"), {std::move(data), std::move(shape_like)},
              Attrs::Make(SliceLikeAttrs{.axes = std::move(axes)}));
}

Expr Take(Expr data, Expr indices, TakeAttrs attrs) {
  return Call(BATON_OP("take"), {std::move(data), std::move(indices)},
              Attrs::Make(std::move(attrs)));
}

Expr Gather(Expr data, int axis, Expr indices) {
  return Call(BATON_OP("gather"), {std::move(data), std::move(indices)},
              Attrs::Make(GatherAttrs{.axis = axis}));
}

Expr GatherNd(Expr data, Expr indices, GatherNDAttrs attrs) {
  return Call(BATON_OP("gather_nd"), {std::move(data), std::move(indices)},
              Attrs::Make(std::move(attrs)));
}

Expr OneHot(Expr indices, Expr on_value, Expr off_value, OneHotAttrs attrs) {
  return Call(BATON_OP("one_hot"),
              {std::move(indices), std::move(on_value), std::move(off_value)},
              Attrs::Make(std::move(attrs)));
}

}  // namespace baton::relay
