// Operators that change the shape, the order of the axes, or the number of
// tensors, but no element: reshape, transpose, concatenate, split, ...

#include "baton/relay/op/shape_ops.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
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
#include "baton/relay/ir/type_relation.h"
#include "baton/relay/op/dim_math.h"
#include "baton/relay/op/fusion_pattern.h"
#include "baton/relay/op/kernel_adapters.h"
#include "baton/relay/op/layout.h"
#include "baton/relay/op/layout_rules.h"
#include "baton/relay/op/op_flags.h"
#include "baton/relay/op/reshape.h"
#include "baton/relay/op/tensor_attrs.h"
#include "baton/relay/op/type_relations.h"
#include "baton/runtime/kernel.h"
#include "baton/runtime/kernels/layout.h"
#include "baton/runtime/kernels/rearrange.h"
#include "baton/runtime/kernels/shape.h"
#include "baton/runtime/value.h"

namespace baton::relay {
namespace {

// Element types.

absl::StatusOr<Type> CastRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const DType dtype = context.attrs<CastAttrs>().dtype;
  if (dtype.is_void()) return context.Error("dtype must be given");
  return TensorLike(context, 0, data->shape(), dtype);
}

absl::StatusOr<Type> CastLikeRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  const TensorTypeNode* like = context.Tensor(1);
  if (data == nullptr || like == nullptr) return Type();
  return TensorLike(context, 0, data->shape(), like->dtype());
}

// Axes.

absl::StatusOr<Type> ExpandDimsRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const auto& attrs = context.attrs<ExpandDimsAttrs>();
  if (attrs.num_newaxis < 0) {
    return context.Error("num_newaxis=", attrs.num_newaxis, " is negative");
  }
  BATON_ASSIGN_OR_RETURN(const int axis,
                         NormalizeAxis(context, attrs.axis, data->rank() + 1));
  Dims shape(data->shape().begin(), data->shape().end());
  shape.insert(shape.begin() + axis, attrs.num_newaxis, Dim(1));
  return TensorLike(context, 0, shape, data->dtype());
}

absl::StatusOr<Type> SqueezeRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const auto& axes = context.attrs<SqueezeAttrs>().axis;
  absl::InlinedVector<bool, 8> dropped(data->rank(), false);
  if (!axes.has_value()) {
    if (!data->is_static()) {
      return context.Error("axis must be given for the shape ",
                           ShapeToString(data->shape()));
    }
    for (int i = 0; i < data->rank(); ++i) {
      dropped[i] = data->dim(i).is_const(1);
    }
  } else {
    for (const int64_t value : *axes) {
      BATON_ASSIGN_OR_RETURN(const int axis,
                             NormalizeAxis(context, value, data->rank()));
      if (ProvablyDiffer(data->dim(axis), 1)) {
        return context.Error("axis ", value, " of the shape ",
                             ShapeToString(data->shape()), " is not 1");
      }
      dropped[axis] = true;
    }
  }
  Dims shape;
  for (int i = 0; i < data->rank(); ++i) {
    if (!dropped[i]) shape.push_back(data->dim(i));
  }
  return TensorLike(context, 0, shape, data->dtype());
}

absl::StatusOr<Type> TransposeRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const auto& axes = context.attrs<TransposeAttrs>().axes;
  const int rank = data->rank();
  Dims shape;
  if (!axes.has_value()) {
    shape.assign(data->shape().rbegin(), data->shape().rend());
    return TensorLike(context, 0, shape, data->dtype());
  }
  if (static_cast<int>(axes->size()) != rank) {
    return context.Error("there are ", axes->size(), " axes, but the shape is ",
                         ShapeToString(data->shape()));
  }
  absl::InlinedVector<bool, 8> used(rank, false);
  for (const int64_t value : *axes) {
    BATON_ASSIGN_OR_RETURN(const int axis,
                           NormalizeAxis(context, value, rank, "axes"));
    if (used[axis]) return context.Error("axis ", value, " is given twice");
    used[axis] = true;
    shape.push_back(data->dim(axis));
  }
  return TensorLike(context, 0, shape, data->dtype());
}

absl::StatusOr<Tensor> Transpose(const TransposeAttrs& attrs,
                                 absl::Span<const Value> args) {
  return kernels::Transpose(args[0].tensor(),
                            attrs.axes.has_value()
                                ? absl::Span<const int64_t>(*attrs.axes)
                                : absl::Span<const int64_t>());
}

absl::StatusOr<Type> LayoutTransformRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const auto& attrs = context.attrs<LayoutTransformAttrs>();
  const absl::StatusOr<Layout> src = Layout::Parse(attrs.src_layout);
  if (!src.ok()) return context.Error(src.status().message());
  const absl::StatusOr<Layout> dst = Layout::Parse(attrs.dst_layout);
  if (!dst.ok()) return context.Error(dst.status().message());
  if (!src->ConvertibleTo(*dst)) {
    return context.Error("src_layout=\"", attrs.src_layout,
                         "\" cannot be converted to dst_layout=\"",
                         attrs.dst_layout, "\"");
  }
  BATON_ASSIGN_OR_RETURN(const Dims shape,
                         ConvertArgShape(context, 0, *data, *src, *dst));
  return TensorLike(context, 0, shape, data->dtype());
}

absl::StatusOr<Tensor> LayoutTransform(const LayoutTransformAttrs& attrs,
                                       absl::Span<const Value> args) {
  return kernels::LayoutTransform(args[0].tensor(), attrs.src_layout,
                                  attrs.dst_layout);
}

// dst_layout is a sequence of extents and axes, as in 4h16w2c.
absl::StatusOr<Type> AutoSchedulerLayoutTransformRel(
    TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const std::string& layout =
      context.attrs<AutoSchedulerLayoutTransformAttrs>().dst_layout;
  Dims shape;
  int64_t extent = 0;
  for (const char c : layout) {
    if (c >= '0' && c <= '9') {
      extent = extent * 10 + (c - '0');
      if (extent > std::numeric_limits<int32_t>::max()) {
        return context.Error("dst_layout=\"", layout, "\" is out of range");
      }
    } else if (extent != 0) {
      shape.push_back(extent);
      extent = 0;
    }
  }
  return TensorLike(context, 0, shape, data->dtype());
}

// Reshape.

template <bool kReverse>
absl::StatusOr<Type> ReshapeRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const auto& attrs = context.attrs<ReshapeAttrs>();
  const absl::StatusOr<Dims> shape =
      kReverse
          ? ReverseReshapedShape(data->shape(), attrs.newshape, attrs.allowzero)
          : ReshapedShape(data->shape(), attrs.newshape, attrs.allowzero);
  if (!shape.ok()) return context.Error(shape.status().message());
  return TensorLike(context, 0, *shape, data->dtype());
}

template <bool kReverse>
absl::StatusOr<Tensor> Reshape(const ReshapeAttrs& attrs,
                               absl::Span<const Value> args) {
  const Tensor& x = args[0].tensor();
  const Dims old_shape(x.shape().begin(), x.shape().end());
  BATON_ASSIGN_OR_RETURN(
      const Dims shape,
      kReverse
          ? ReverseReshapedShape(old_shape, attrs.newshape, attrs.allowzero)
          : ReshapedShape(old_shape, attrs.newshape, attrs.allowzero));
  BATON_ASSIGN_OR_RETURN(const auto numbers, ConcreteDims(shape));
  return x.Reshaped(numbers);
}

absl::StatusOr<Type> ReshapeLikeRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  const TensorTypeNode* like = context.Tensor(1);
  if (data == nullptr || like == nullptr) return Type();
  const absl::StatusOr<Dims> shape = ReshapedLikeShape(
      data->shape(), like->shape(), context.attrs<ReshapeLikeAttrs>());
  if (!shape.ok()) return context.Error(shape.status().message());
  if (ProvablyDiffer(Product(data->shape()), Product(*shape))) {
    return context.Error("the shapes ", ShapeToString(data->shape()), " and ",
                         ShapeToString(*shape),
                         " differ in their number of elements");
  }
  return TensorLike(context, 0, *shape, data->dtype());
}

absl::StatusOr<Tensor> ReshapeLike(const ReshapeLikeAttrs& attrs,
                                   absl::Span<const Value> args) {
  const Tensor& x = args[0].tensor();
  const absl::Span<const int64_t> like = args[1].tensor().shape();
  BATON_ASSIGN_OR_RETURN(
      const Dims shape,
      ReshapedLikeShape(Dims(x.shape().begin(), x.shape().end()),
                        Dims(like.begin(), like.end()), attrs));
  BATON_ASSIGN_OR_RETURN(const auto numbers, ConcreteDims(shape));
  return x.Reshaped(numbers);
}

// Several tensors.

absl::Status ExpectSameRank(const TypeRelationContext& context,
                            absl::Span<const TensorTypeNode* const> tensors) {
  for (const TensorTypeNode* tensor : tensors) {
    if (tensor->rank() != tensors[0]->rank()) {
      return context.Error(
          "the tensors have the shapes ", ShapeToString(tensors[0]->shape()),
          " and ", ShapeToString(tensor->shape()), ", which differ in rank");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Type> ConcatenateRel(TypeRelationContext& context) {
  BATON_ASSIGN_OR_RETURN(const auto tensors, TensorFields(context, 0));
  if (tensors.empty()) return Type();
  BATON_RETURN_IF_ERROR(ExpectSameRank(context, tensors));
  const TensorTypeNode& first = *tensors[0];
  BATON_ASSIGN_OR_RETURN(
      const int axis,
      NormalizeAxis(context, context.attrs<ConcatenateAttrs>().axis,
                    first.rank()));
  Dims shape(first.shape().begin(), first.shape().end());
  for (size_t k = 1; k < tensors.size(); ++k) {
    shape[axis] = shape[axis] + tensors[k]->dim(axis);
  }
  for (int i = 0; i < first.rank(); ++i) {
    if (i == axis) continue;
    bool some_unknown = false;
    Dim known;
    for (const TensorTypeNode* tensor : tensors) {
      const Dim& dim = tensor->dim(i);
      if (dim.is_any()) {
        some_unknown = true;
      } else if (known.is_any()) {
        known = dim;
      } else if (ProvablyDiffer(known, dim)) {
        return context.Error("the tensors have the shapes ",
                             ShapeToString(first.shape()), " and ",
                             ShapeToString(tensor->shape()),
                             ", which differ on axis ", i);
      }
    }
    // A known extent is trusted for all where the result is dynamic anyway.
    shape[i] = some_unknown && !shape[axis].is_any() ? Dim::Any() : known;
  }
  return Type(TensorType(shape, first.dtype()));
}

namespace {

absl::StatusOr<Type> StackRel(TypeRelationContext& context) {
  BATON_ASSIGN_OR_RETURN(const auto tensors, TensorFields(context, 0));
  if (tensors.empty()) return Type();
  BATON_RETURN_IF_ERROR(ExpectSameRank(context, tensors));
  const TensorTypeNode& first = *tensors[0];
  BATON_ASSIGN_OR_RETURN(
      const int axis, NormalizeAxis(context, context.attrs<StackAttrs>().axis,
                                    first.rank() + 1));
  for (const TensorTypeNode* tensor : tensors) {
    for (int i = 0; i < first.rank(); ++i) {
      if (ProvablyDiffer(first.dim(i), tensor->dim(i))) {
        return context.Error("the tensors have the shapes ",
                             ShapeToString(first.shape()), " and ",
                             ShapeToString(tensor->shape()));
      }
    }
  }
  Dims shape(first.shape().begin(), first.shape().end());
  shape.insert(shape.begin() + axis, Dim(static_cast<int64_t>(tensors.size())));
  return Type(TensorType(shape, first.dtype()));
}

absl::StatusOr<Type> MeshgridRel(TypeRelationContext& context) {
  BATON_ASSIGN_OR_RETURN(const auto tensors, TensorFields(context, 0));
  if (tensors.empty()) return Type();
  Dims shape;
  for (const TensorTypeNode* tensor : tensors) {
    if (tensor->rank() > 1) {
      return context.Error(
          "the tensors must be scalars or vectors, but one "
          "has shape ",
          ShapeToString(tensor->shape()));
    }
    shape.push_back(tensor->rank() == 0 ? Dim(1) : tensor->dim(0));
  }
  if (context.attrs<MeshgridAttrs>().indexing == "xy" && shape.size() >= 2) {
    std::swap(shape[0], shape[1]);
  }
  const TensorType grid(shape, tensors[0]->dtype());
  return Type(TupleType(std::vector<Type>(tensors.size(), grid)));
}

absl::StatusOr<Type> SplitRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const auto& attrs = context.attrs<SplitAttrs>();
  BATON_ASSIGN_OR_RETURN(const int axis,
                         NormalizeAxis(context, attrs.axis, data->rank()));
  const Dim& extent = data->dim(axis);
  Dims shape(data->shape().begin(), data->shape().end());
  std::vector<Type> parts;
  if (const int64_t* sections = attrs.indices_or_sections.As<int64_t>()) {
    if (*sections <= 0) {
      return context.Error("indices_or_sections=", *sections,
                           " is not positive");
    }
    if (extent.is_const() && extent.value() % *sections != 0) {
      return context.Error("the ", extent.value(), " elements on axis ",
                           attrs.axis, " cannot be divided into ", *sections,
                           " equal parts");
    }
    shape[axis] = FloorDiv(extent, *sections);
    const Type part = *sections == 1 ? context.arg(0)
                                     : Type(TensorType(shape, data->dtype()));
    parts.assign(*sections, part);
    return Type(TupleType(std::move(parts)));
  }
  std::vector<int64_t> indices;
  const absl::Status status = AttrTraits<std::vector<int64_t>>::FromValue(
      attrs.indices_or_sections, &indices);
  if (!status.ok()) {
    return context.Error("indices_or_sections: ", status.message());
  }
  int64_t begin = 0;
  for (const int64_t end : indices) {
    if (end <= begin) {
      return context.Error(
          "indices_or_sections=", attrs.indices_or_sections.ToString(),
          " is not positive and ascending");
    }
    shape[axis] = end - begin;
    parts.push_back(TensorType(shape, data->dtype()));
    begin = end;
  }
  if (extent.is_const() && begin >= extent.value()) {
    return context.Error(
        "indices_or_sections=", attrs.indices_or_sections.ToString(),
        " exceeds the ", extent.value(), " elements on axis ", attrs.axis);
  }
  shape[axis] = extent - Dim(begin);
  parts.push_back(TensorType(shape, data->dtype()));
  return Type(TupleType(std::move(parts)));
}

// Repetition.

absl::StatusOr<Type> RepeatRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const auto& attrs = context.attrs<RepeatAttrs>();
  if (attrs.repeats < 1) {
    return context.Error("repeats=", attrs.repeats, " is not positive");
  }
  if (!attrs.axis.has_value()) return context.Error("axis must be given");
  BATON_ASSIGN_OR_RETURN(const int axis,
                         NormalizeAxis(context, *attrs.axis, data->rank()));
  Dims shape(data->shape().begin(), data->shape().end());
  shape[axis] = shape[axis] * Dim(attrs.repeats);
  return TensorLike(context, 0, shape, data->dtype());
}

absl::StatusOr<Type> TileRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const auto& reps = context.attrs<TileAttrs>().reps;
  for (const int64_t rep : reps) {
    if (rep <= 0) return context.Error("reps must be positive, but has ", rep);
  }
  const size_t rank = std::max(reps.size(), data->shape().size());
  Dims shape(rank - data->rank(), Dim(1));
  shape.insert(shape.end(), data->shape().begin(), data->shape().end());
  for (size_t i = 0; i < reps.size(); ++i) {
    Dim& dim = shape[rank - reps.size() + i];
    dim = dim.is_const() ? dim * Dim(reps[i]) : Dim::Any();
  }
  return TensorLike(context, 0, shape, data->dtype());
}

absl::StatusOr<Type> ReverseRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const auto& axis = context.attrs<ReverseAttrs>().axis;
  if (!axis.has_value()) return context.Error("axis must be given");
  BATON_RETURN_IF_ERROR(NormalizeAxis(context, *axis, data->rank()).status());
  return context.arg(0);
}

absl::StatusOr<Type> ReverseSequenceRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  const TensorTypeNode* lengths = context.Tensor(1);
  if (data == nullptr || lengths == nullptr) return Type();
  BATON_RETURN_IF_ERROR(ExpectRank(context, 1, *lengths, 1));
  if (!lengths->dtype().is_int()) {
    return context.Error("the lengths must be integers, but are ",
                         lengths->dtype().ToString());
  }
  const auto& attrs = context.attrs<ReverseSequenceAttrs>();
  BATON_ASSIGN_OR_RETURN(
      const int batch_axis,
      NormalizeAxis(context, attrs.batch_axis, data->rank(), "batch_axis"));
  BATON_RETURN_IF_ERROR(
      NormalizeAxis(context, attrs.seq_axis, data->rank(), "seq_axis")
          .status());
  if (ProvablyDiffer(lengths->dim(0), data->dim(batch_axis))) {
    return context.Error("there are ", lengths->dim(0).value(),
                         " lengths, but ", data->dim(batch_axis).value(),
                         " sequences");
  }
  return context.arg(0);
}

absl::StatusOr<Type> SlidingWindowRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const auto& attrs = context.attrs<SlidingWindowAttrs>();
  const int count = static_cast<int>(attrs.window_shape.size());
  if (attrs.axis < 0 || attrs.axis + count > data->rank() ||
      static_cast<int>(attrs.strides.size()) != count) {
    return context.Error("axis=", attrs.axis, ", ", count,
                         " extents of the window and ", attrs.strides.size(),
                         " strides do not fit the shape ",
                         ShapeToString(data->shape()));
  }
  Dims shape(data->shape().begin(), data->shape().begin() + attrs.axis);
  for (int i = 0; i < count; ++i) {
    const int64_t window = attrs.window_shape[i];
    const int64_t stride = attrs.strides[i];
    if (window <= 0 || stride <= 0) {
      return context.Error("window_shape and strides must be positive");
    }
    shape.push_back(
        CeilDiv(data->dim(attrs.axis + i) - Dim(window - 1), stride));
  }
  for (const int64_t window : attrs.window_shape) shape.push_back(window);
  return Type(TensorType(shape, data->dtype()));
}

absl::StatusOr<Tensor> Cast(const CastAttrs& attrs,
                            absl::Span<const Value> args) {
  return kernels::Cast(args[0].tensor(), attrs.dtype);
}

absl::StatusOr<Tensor> CastLike(const Tensor& data, const Tensor& like) {
  return kernels::Cast(data, like.dtype());
}

absl::StatusOr<Tensor> Reinterpret(const CastAttrs& attrs,
                                   absl::Span<const Value> args) {
  const Tensor& data = args[0].tensor();
  if (!attrs.dtype.IsStorable() ||
      attrs.dtype.bytes() != data.dtype().bytes()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the bits of ", data.dtype().ToString(), " are not a ",
                     attrs.dtype.ToString()));
  }
  // The new tensor keeps the old one alive.
  return Tensor::FromBuffer(attrs.dtype, data.shape(), data.bytes(),
                            std::make_shared<Tensor>(data));
}

absl::StatusOr<Tensor> ExpandDims(const ExpandDimsAttrs& attrs,
                                  absl::Span<const Value> args) {
  return kernels::ExpandDims(args[0].tensor(), attrs.axis, attrs.num_newaxis);
}

absl::StatusOr<Tensor> Squeeze(const SqueezeAttrs& attrs,
                               absl::Span<const Value> args) {
  if (!attrs.axis.has_value()) return kernels::Squeeze(args[0].tensor());
  return kernels::Squeeze(args[0].tensor(),
                          absl::Span<const int64_t>(*attrs.axis));
}

std::vector<Tensor> FieldTensors(const Value& tuple) {
  std::vector<Tensor> tensors;
  for (const Value& field : tuple.fields()) tensors.push_back(field.tensor());
  return tensors;
}

absl::StatusOr<Tensor> Concatenate(const ConcatenateAttrs& attrs,
                                   absl::Span<const Value> args) {
  return kernels::Concatenate(FieldTensors(args[0]), attrs.axis);
}

absl::StatusOr<Tensor> Stack(const StackAttrs& attrs,
                             absl::Span<const Value> args) {
  return kernels::Stack(FieldTensors(args[0]), attrs.axis);
}

absl::StatusOr<Value> Split(const CallNode& call,
                            absl::Span<const Value> args) {
  const auto* attrs = call.attrs_as<SplitAttrs>();
  if (attrs == nullptr) {
    return absl::InvalidArgumentError("split has no attributes");
  }
  const Tensor& data = args[0].tensor();
  std::vector<Tensor> parts;
  if (const auto* sections = attrs->indices_or_sections.As<int64_t>()) {
    BATON_ASSIGN_OR_RETURN(parts, kernels::Split(data, *sections, attrs->axis));
  } else {
    std::vector<int64_t> indices;
    BATON_RETURN_IF_ERROR(AttrTraits<std::vector<int64_t>>::FromValue(
        attrs->indices_or_sections, &indices));
    BATON_ASSIGN_OR_RETURN(parts, kernels::SplitAt(data, indices, attrs->axis));
  }
  return Value::MakeTuple({parts.begin(), parts.end()});
}

absl::StatusOr<Tensor> Repeat(const RepeatAttrs& attrs,
                              absl::Span<const Value> args) {
  return kernels::Repeat(args[0].tensor(), attrs.repeats,
                         attrs.axis.value_or(0));
}

absl::StatusOr<Tensor> Tile(const TileAttrs& attrs,
                            absl::Span<const Value> args) {
  return kernels::Tile(args[0].tensor(), attrs.reps);
}

absl::StatusOr<Tensor> Reverse(const ReverseAttrs& attrs,
                               absl::Span<const Value> args) {
  return kernels::Reverse(args[0].tensor(), attrs.axis.value_or(0));
}

absl::StatusOr<Value> Meshgrid(const CallNode& call,
                               absl::Span<const Value> args) {
  const auto* attrs = call.attrs_as<MeshgridAttrs>();
  BATON_ASSIGN_OR_RETURN(
      const std::vector<Tensor> grids,
      kernels::Meshgrid(FieldTensors(args[0]),
                        attrs != nullptr && attrs->indexing == "xy"));
  return Value::MakeTuple({grids.begin(), grids.end()});
}

absl::StatusOr<Tensor> ReverseSequence(const ReverseSequenceAttrs& attrs,
                                       absl::Span<const Value> args) {
  return kernels::ReverseSequence(args[0].tensor(), args[1].tensor(),
                                  attrs.seq_axis, attrs.batch_axis);
}

BATON_REGISTER_OP("cast")
    .Describe("Converts elements to another type.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<CastAttrs>()
    .TypeRelation(CastRel)
    .Set(FusionPatterns(), FusionPattern::kElemWise)
    .Set(LayoutInferenceRules(), InferElemwiseLayouts)
    .Set(Kernels(), KernelWith<CastAttrs, Cast>);

BATON_REGISTER_OP("cast_like")
    .Describe("Converts elements to the type of another tensor's.")
    .Arguments({{"data", "The input."},
                {"dtype_like", "A tensor of the type wanted."}})
    .TypeRelation(CastLikeRel)
    .Set(FusionPatterns(), FusionPattern::kElemWise)
    .Set(LayoutInferenceRules(), InferElemwiseLayouts)
    .Set(Kernels(), Kernel2<CastLike>);

BATON_REGISTER_OP("reinterpret")
    .Describe("Takes the bits of elements for those of another type.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<CastAttrs>()
    .TypeRelation(CastRel)
    .Set(FusionPatterns(), FusionPattern::kElemWise)
    .Set(LayoutInferenceRules(), InferElemwiseLayouts)
    .Set(Kernels(), KernelWith<CastAttrs, Reinterpret>);

BATON_REGISTER_OP("expand_dims")
    .Describe("Inserts axes of extent 1.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<ExpandDimsAttrs>()
    .TypeRelation(ExpandDimsRel)
    .Set(FusionPatterns(), FusionPattern::kBroadcast)
    .Set(ReshapeOps(), true)
    .Set(Kernels(), KernelWith<ExpandDimsAttrs, ExpandDims>);

BATON_REGISTER_OP("squeeze")
    .Describe("Drops axes of extent 1.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<SqueezeAttrs>()
    .TypeRelation(SqueezeRel)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(LayoutInferenceRules(), InferSqueezeLayouts)
    .Set(ReshapeOps(), true)
    .Set(Kernels(), KernelWith<SqueezeAttrs, Squeeze>);

BATON_REGISTER_OP("transpose")
    .Describe("Permutes the axes.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<TransposeAttrs>()
    .TypeRelation(TransposeRel)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(LayoutInferenceRules(), InferTransposeLayouts)
    .Set(Kernels(), KernelWith<TransposeAttrs, Transpose>);

BATON_REGISTER_OP("layout_transform")
    .Describe("Rearranges a tensor from one data layout to another.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<LayoutTransformAttrs>()
    .TypeRelation(LayoutTransformRel)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(Kernels(), KernelWith<LayoutTransformAttrs, LayoutTransform>);

BATON_REGISTER_OP("auto_scheduler_layout_transform")
    .Describe("Rearranges a tensor to a layout that a scheduler chose.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<AutoSchedulerLayoutTransformAttrs>()
    .TypeRelation(AutoSchedulerLayoutTransformRel)
    .Set(FusionPatterns(), FusionPattern::kInjective);

BATON_REGISTER_OP("reshape")
    .Describe("Gives a tensor another shape of as many elements.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<ReshapeAttrs>()
    .TypeRelation(ReshapeRel</*kReverse=*/false>)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(ReshapeOps(), true)
    .Set(Kernels(), KernelWith<ReshapeAttrs, Reshape<false>>);

BATON_REGISTER_OP("contrib_reverse_reshape")
    .Describe("reshape, with special values resolved from the last axis on.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<ReshapeAttrs>()
    .TypeRelation(ReshapeRel</*kReverse=*/true>)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(ReshapeOps(), true)
    .Set(Kernels(), KernelWith<ReshapeAttrs, Reshape<true>>);

BATON_REGISTER_OP("reshape_like")
    .Describe("Gives a tensor the shape, or some axes, of another.")
    .Arguments({{"data", "The input."},
                {"shape_like", "A tensor of the shape wanted."}})
    .TakesAttrs<ReshapeLikeAttrs>()
    .TypeRelation(ReshapeLikeRel)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(Kernels(), KernelWith<ReshapeLikeAttrs, ReshapeLike>);

BATON_REGISTER_OP("concatenate")
    .Describe("Joins tensors along an axis.")
    .Arguments({{"data", "A tuple of tensors."}})
    .TakesAttrs<ConcatenateAttrs>()
    .TypeRelation(ConcatenateRel)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(LayoutInferenceRules(), InferConcatenateLayouts)
    .Set(Kernels(), KernelWith<ConcatenateAttrs, Concatenate>);

BATON_REGISTER_OP("stack")
    .Describe("Joins tensors along a new axis.")
    .Arguments({{"data", "A tuple of tensors."}})
    .TakesAttrs<StackAttrs>()
    .TypeRelation(StackRel)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(Kernels(), KernelWith<StackAttrs, Stack>);

BATON_REGISTER_OP("meshgrid")
    .Describe("Coordinates of a grid, from those along its axes.")
    .Arguments({{"data", "A tuple of vectors."}})
    .TakesAttrs<MeshgridAttrs>()
    .TypeRelation(MeshgridRel)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(Kernels(), Meshgrid);

BATON_REGISTER_OP("split")
    .Describe("Divides a tensor along an axis; gives a tuple.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<SplitAttrs>()
    .TypeRelation(SplitRel)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(LayoutInferenceRules(), InferSplitLayouts)
    .Set(Kernels(), Split);

BATON_REGISTER_OP("repeat")
    .Describe("Repeats each element along an axis.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<RepeatAttrs>()
    .TypeRelation(RepeatRel)
    .Set(FusionPatterns(), FusionPattern::kBroadcast)
    .Set(Kernels(), KernelWith<RepeatAttrs, Repeat>);

BATON_REGISTER_OP("tile")
    .Describe("Repeats a tensor along its axes.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<TileAttrs>()
    .TypeRelation(TileRel)
    .Set(FusionPatterns(), FusionPattern::kBroadcast)
    .Set(Kernels(), KernelWith<TileAttrs, Tile>);

BATON_REGISTER_OP("reverse")
    .Describe("Reverses the order of elements along an axis.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<ReverseAttrs>()
    .TypeRelation(ReverseRel)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(Kernels(), KernelWith<ReverseAttrs, Reverse>);

BATON_REGISTER_OP("reverse_sequence")
    .Describe("Reverses the beginnings of sequences.")
    .Arguments({{"data", "The input."},
                {"seq_lengths", "How much of each sequence to reverse."}})
    .TakesAttrs<ReverseSequenceAttrs>()
    .TypeRelation(ReverseSequenceRel)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(Kernels(), KernelWith<ReverseSequenceAttrs, ReverseSequence>);

BATON_REGISTER_OP("sliding_window")
    .Describe("All windows of a size, along some axes.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<SlidingWindowAttrs>()
    .TypeRelation(SlidingWindowRel)
    .Set(FusionPatterns(), FusionPattern::kOpaque);

}  // namespace
}  // namespace baton::relay
