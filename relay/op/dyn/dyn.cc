#include "baton/relay/op/dyn/dyn.h"

#include <algorithm>
#include <cstddef>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/ir/type_relation.h"
#include "baton/relay/op/dim_math.h"
#include "baton/relay/op/fusion_pattern.h"
#include "baton/relay/op/image/image.h"
#include "baton/relay/op/layout_relation.h"
#include "baton/relay/op/layout_rules.h"
#include "baton/relay/op/nn/spatial.h"
#include "baton/relay/op/op_flags.h"
#include "baton/relay/op/tensor/create.h"
#include "baton/relay/op/tensor/indexing.h"
#include "baton/relay/op/tensor/sequence.h"
#include "baton/relay/op/tensor/shape.h"
#include "baton/relay/op/tensor/topk.h"
#include "baton/relay/op/type_relations.h"

namespace baton::relay {
namespace {

// The length of argument `i`, which holds a shape or axes. It must be known:
// the rank of the result depends on it.
absl::StatusOr<int> StaticLength(const TypeRelationContext& context, int i,
                                 const TensorTypeNode& type) {
  if (type.rank() == 1 && type.dim(0).is_const() && type.dim(0).value() >= 0 &&
      type.dim(0).value() < 1024) {
    return static_cast<int>(type.dim(0).value());
  }
  return context.Error(context.op().arguments()[i].name,
                       " must be a vector of known length, but its shape is ",
                       ShapeToString(type.shape()));
}

// The first argument with as many unknown dimensions as argument 1 is long.
absl::StatusOr<Type> RankFromLengthRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  const TensorTypeNode* shape = context.Tensor(1);
  if (data == nullptr || shape == nullptr) return Type();
  BATON_ASSIGN_OR_RETURN(const int rank, StaticLength(context, 1, *shape));
  return TensorLike(context, 0, Dims(rank, Dim::Any()), data->dtype());
}

absl::StatusOr<Type> DynTileRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  const TensorTypeNode* reps = context.Tensor(1);
  if (data == nullptr || reps == nullptr) return Type();
  BATON_ASSIGN_OR_RETURN(const int length, StaticLength(context, 1, *reps));
  return TensorLike(context, 0,
                    Dims(std::max(length, data->rank()), Dim::Any()),
                    data->dtype());
}

absl::StatusOr<Type> DynInitRel(TypeRelationContext& context) {
  const TensorTypeNode* shape = context.Tensor(0);
  if (shape == nullptr) return Type();
  BATON_ASSIGN_OR_RETURN(const int rank, StaticLength(context, 0, *shape));
  const DType dtype = context.attrs<InitOpAttrs>().dtype;
  if (dtype.is_void()) return context.Error("dtype must be given");
  return Type(TensorType(Dims(rank, Dim::Any()), dtype));
}

absl::StatusOr<Type> DynFullRel(TypeRelationContext& context) {
  const TensorTypeNode* value = context.Tensor(0);
  const TensorTypeNode* shape = context.Tensor(1);
  if (value == nullptr || shape == nullptr) return Type();
  BATON_RETURN_IF_ERROR(ExpectRank(context, 0, *value, 0));
  BATON_ASSIGN_OR_RETURN(const int rank, StaticLength(context, 1, *shape));
  const DType dtype = context.attrs<InitOpAttrs>().dtype;
  return Type(TensorType(Dims(rank, Dim::Any()),
                         dtype.is_void() ? value->dtype() : dtype));
}

absl::StatusOr<Type> DynOneHotRel(TypeRelationContext& context) {
  const TensorTypeNode* indices = context.Tensor(0);
  if (indices == nullptr) return Type();
  const auto& attrs = context.attrs<OneHotAttrs>();
  BATON_ASSIGN_OR_RETURN(
      const int axis, NormalizeAxis(context, attrs.axis, indices->rank() + 1));
  Dims shape(indices->shape().begin(), indices->shape().end());
  shape.insert(shape.begin() + axis, Dim::Any());
  return Type(TensorType(shape, attrs.dtype));
}

absl::StatusOr<Type> DynStridedSliceRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  const TensorTypeNode* begin = context.Tensor(1);
  if (data == nullptr || begin == nullptr) return Type();
  BATON_ASSIGN_OR_RETURN(const int count, StaticLength(context, 1, *begin));
  if (count > data->rank()) {
    return context.Error("begin has ", count,
                         " elements, but the shape of the data is ",
                         ShapeToString(data->shape()));
  }
  Dims shape(data->shape().begin(), data->shape().end());
  for (int i = 0; i < count; ++i) shape[i] = Dim::Any();
  return TensorLike(context, 0, shape, data->dtype());
}

absl::StatusOr<Type> DynSparseToDenseRel(TypeRelationContext& context) {
  const TensorTypeNode* values = context.Tensor(1);
  const TensorTypeNode* shape = context.Tensor(3);
  if (context.Tensor(0) == nullptr || values == nullptr ||
      context.Tensor(2) == nullptr || shape == nullptr) {
    return Type();
  }
  if (!context.Tensor(0)->dtype().is_int()) {
    return context.Error("sparse_indices must hold integers");
  }
  BATON_RETURN_IF_ERROR(ExpectRank(context, 2, *context.Tensor(2), 0));
  BATON_ASSIGN_OR_RETURN(const int rank, StaticLength(context, 3, *shape));
  return Type(TensorType(Dims(rank, Dim::Any()), values->dtype()));
}

absl::StatusOr<Type> DynExpandDimsRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  const TensorTypeNode* axis = context.Tensor(1);
  if (data == nullptr || axis == nullptr) return Type();
  BATON_RETURN_IF_ERROR(ExpectRank(context, 1, *axis, 0));
  const int count = context.attrs<DynExpandDimsAttrs>().num_newaxis;
  if (count < 0 || count > 1024) {
    return context.Error("num_newaxis=", count, " is out of range");
  }
  return TensorLike(context, 0, Dims(data->rank() + count, Dim::Any()),
                    data->dtype());
}

absl::StatusOr<Type> DynSqueezeRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  const TensorTypeNode* axes = context.Tensor(1);
  if (data == nullptr || axes == nullptr) return Type();
  BATON_ASSIGN_OR_RETURN(const int count, StaticLength(context, 1, *axes));
  if (count > data->rank()) {
    return context.Error("there are ", count, " axes for the shape ",
                         ShapeToString(data->shape()));
  }
  return TensorLike(context, 0, Dims(data->rank() - count, Dim::Any()),
                    data->dtype());
}

absl::StatusOr<Type> DynPadRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  const TensorTypeNode* widths = context.Tensor(1);
  if (data == nullptr || widths == nullptr || context.Tensor(2) == nullptr) {
    return Type();
  }
  if (data->rank() == 0) return context.Error("the data is a scalar");
  BATON_RETURN_IF_ERROR(ExpectRank(context, 1, *widths, 2));
  return TensorLike(context, 0, Dims(data->rank(), Dim::Any()), data->dtype());
}

// All spatial axes of the result are unknown.
template <typename A, int kNumSpatial>
absl::StatusOr<Type> DynSpatialRel(TypeRelationContext& context) {
  return InLayoutRel(context, context.attrs<A>().layout,
                     CanonicalLayout(kNumSpatial),
                     [](Dims& shape) -> absl::Status {
                       for (size_t i = 2; i < shape.size(); ++i) {
                         shape[i] = Dim::Any();
                       }
                       return absl::OkStatus();
                     });
}

absl::StatusOr<Type> DynUpSamplingRel(TypeRelationContext& context) {
  for (int i = 1; i < 3; ++i) {
    const TensorTypeNode* scale = context.Tensor(i);
    if (scale == nullptr) return Type();
    BATON_RETURN_IF_ERROR(ExpectRank(context, i, *scale, 0));
  }
  return DynSpatialRel<UpSamplingAttrs, 2>(context);
}

absl::StatusOr<Type> DynResize2DRel(TypeRelationContext& context) {
  return InLayoutRel(
      context, context.attrs<Resize2DAttrs>().layout, CanonicalLayout(2),
      [](Dims& shape) -> absl::Status {
        shape[2] = Dim::Any();
        shape[3] = Dim::Any();
        return absl::OkStatus();
      },
      context.attrs<Resize2DAttrs>().out_dtype);
}

absl::StatusOr<Type> DynTopKRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  const TensorTypeNode* k = context.Tensor(1);
  if (data == nullptr || k == nullptr) return Type();
  if (k->rank() > 1 || (k->rank() == 1 && !k->dim(0).is_const(1))) {
    return context.Error("k must be one number, but its shape is ",
                         ShapeToString(k->shape()));
  }
  return TopKResult(context, *data, context.attrs<TopKAttrs>(), Dim::Any());
}

BATON_REGISTER_OP("dyn.reshape")
    .Describe("reshape to a shape that is computed.")
    .Arguments({{"data", "The input."}, {"newshape", "The shape wanted."}})
    .TakesAttrs<ReshapeAttrs>()
    .TypeRelation(RankFromLengthRel)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(ReshapeOps(), true)
    .Set(DataDependentShapeOps(), true);

BATON_REGISTER_OP("dyn.tile")
    .Describe("tile by numbers that are computed.")
    .Arguments({{"data", "The input."}, {"reps", "The repetitions."}})
    .TakesAttrs<TileAttrs>()
    .TypeRelation(DynTileRel)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(DataDependentShapeOps(), true);

BATON_REGISTER_OP("dyn.broadcast_to")
    .Describe("broadcast_to a shape that is computed.")
    .Arguments({{"data", "The input."}, {"shape", "The shape wanted."}})
    .TakesAttrs<InitOpAttrs>()
    .TypeRelation(RankFromLengthRel)
    .Set(FusionPatterns(), FusionPattern::kBroadcast)
    .Set(DataDependentShapeOps(), true);

BATON_REGISTER_OP("dyn.zeros")
    .Describe("Zeros, in a shape that is computed.")
    .Arguments({{"shape", "The shape wanted."}})
    .TakesAttrs<InitOpAttrs>()
    .TypeRelation(DynInitRel)
    .Set(FusionPatterns(), FusionPattern::kElemWise)
    .Set(DataDependentShapeOps(), true);

BATON_REGISTER_OP("dyn.ones")
    .Describe("Ones, in a shape that is computed.")
    .Arguments({{"shape", "The shape wanted."}})
    .TakesAttrs<InitOpAttrs>()
    .TypeRelation(DynInitRel)
    .Set(FusionPatterns(), FusionPattern::kElemWise)
    .Set(DataDependentShapeOps(), true);

BATON_REGISTER_OP("dyn.full")
    .Describe("full, in a shape that is computed.")
    .Arguments({{"fill_value", "The element, a scalar."},
                {"shape", "The shape wanted."}})
    .TakesAttrs<InitOpAttrs>()
    .TypeRelation(DynFullRel)
    .Set(FusionPatterns(), FusionPattern::kElemWise)
    .Set(DataDependentShapeOps(), true);

BATON_REGISTER_OP("dyn.one_hot")
    .Describe("one_hot of a depth that is computed.")
    .Arguments({{"indices", "The indices."},
                {"on_value", "The special value."},
                {"off_value", "The other value."},
                {"depth", "The extent of the new axis."}})
    .TakesAttrs<OneHotAttrs>()
    .TypeRelation(DynOneHotRel)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable)
    .Set(DataDependentShapeOps(), true);

BATON_REGISTER_OP("dyn.strided_slice")
    .Describe("strided_slice with bounds that are computed.")
    .Arguments({{"data", "The input."},
                {"begin", "The first index on each axis."},
                {"end", "The end on each axis, which is not included."},
                {"strides", "The step on each axis."}})
    .TakesAttrs<StridedSliceAttrs>()
    .TypeRelation(DynStridedSliceRel)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(DataDependentShapeOps(), true);

BATON_REGISTER_OP("dyn.sparse_to_dense")
    .Describe("sparse_to_dense in a shape that is computed.")
    .Arguments({{"sparse_indices", "The coordinates."},
                {"sparse_values", "The values."},
                {"default_value", "The value everywhere else."},
                {"output_shape", "The shape wanted."}})
    .TypeRelation(DynSparseToDenseRel)
    .Set(FusionPatterns(), FusionPattern::kOpaque)
    .Set(DataDependentShapeOps(), true);

BATON_REGISTER_OP("dyn.expand_dims")
    .Describe("expand_dims at an axis that is computed.")
    .Arguments({{"data", "The input."},
                {"axis", "The index of the first new axis."}})
    .TakesAttrs<DynExpandDimsAttrs>()
    .TypeRelation(DynExpandDimsRel)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(DataDependentShapeOps(), true);

BATON_REGISTER_OP("dyn.squeeze")
    .Describe("squeeze of axes that are computed.")
    .Arguments({{"data", "The input."}, {"axes", "The axes to drop."}})
    .TakesAttrs<SqueezeAttrs>()
    .TypeRelation(DynSqueezeRel)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(ReshapeOps(), true)
    .Set(DataDependentShapeOps(), true);

BATON_REGISTER_OP("dyn.topk")
    .Describe("topk of a number that is computed.")
    .Arguments({{"data", "The input."}, {"k", "The number of elements."}})
    .TakesAttrs<TopKAttrs>()
    .TypeRelation(DynTopKRel)
    .Set(FusionPatterns(), FusionPattern::kOpaque)
    .Set(DataDependentShapeOps(), true);

BATON_REGISTER_OP("dyn.nn.pad")
    .Describe("nn.pad by widths that are computed.")
    .Arguments({{"data", "The input."},
                {"pad_width", "The padding of each axis."},
                {"pad_val", "The value of the padding."}})
    .TakesAttrs<PadAttrs>()
    .TypeRelation(DynPadRel)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(DataDependentShapeOps(), true);

BATON_REGISTER_OP("dyn.nn.upsampling")
    .Describe("nn.upsampling by factors that are computed.")
    .Arguments({{"data", "The input."},
                {"scale_h", "The factor of the height."},
                {"scale_w", "The factor of the width."}})
    .TakesAttrs<UpSamplingAttrs>()
    .TypeRelation(DynUpSamplingRel)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(LayoutInferenceRules(), InferUpSamplingLayouts<UpSamplingAttrs>)
    .Set(DataDependentShapeOps(), true);

BATON_REGISTER_OP("dyn.nn.upsampling3d")
    .Describe("nn.upsampling3d by factors that are computed.")
    .Arguments({{"data", "The input."},
                {"scale_d", "The factor of the depth."},
                {"scale_h", "The factor of the height."},
                {"scale_w", "The factor of the width."}})
    .TakesAttrs<UpSampling3DAttrs>()
    .TypeRelation(DynSpatialRel<UpSampling3DAttrs, 3>)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(LayoutInferenceRules(), InferUpSamplingLayouts<UpSampling3DAttrs>)
    .Set(DataDependentShapeOps(), true);

BATON_REGISTER_OP("dyn.image.resize2d")
    .Describe("image.resize2d to a size that is computed.")
    .Arguments({{"data", "The input."},
                {"size", "The size wanted."},
                {"roi", "The region of interest."}})
    .TakesAttrs<Resize2DAttrs>()
    .TypeRelation(DynResize2DRel)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(DataDependentShapeOps(), true);

}  // namespace

}  // namespace baton::relay
