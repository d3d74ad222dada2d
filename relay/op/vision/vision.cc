#include "baton/relay/op/vision/vision.h"

#include <cstdint>

#include "absl/status/statusor.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/ir/type_relation.h"
#include "baton/relay/op/dim_math.h"
#include "baton/relay/op/fusion_pattern.h"
#include "baton/relay/op/layout_rules.h"
#include "baton/relay/op/type_relations.h"

namespace baton::relay {
namespace {

constexpr DType kFloat32 = DType::Float(32);

constexpr DType kInt32 = DType::Int(32);

constexpr DType kInt64 = DType::Int(64);

absl::StatusOr<Type> MultiBoxPriorRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  BATON_RETURN_IF_ERROR(ExpectRank(context, 0, *data, 4));
  const auto& attrs = context.attrs<MultiBoxPriorAttrs>();
  const int64_t boxes =
      static_cast<int64_t>(attrs.sizes.size() + attrs.ratios.size()) - 1;
  return Type(TensorType({1, data->dim(2) * data->dim(3) * Dim(boxes), 4},
                         data->dtype()));
}

absl::StatusOr<Type> MultiBoxTransformLocRel(TypeRelationContext& context) {
  const TensorTypeNode* classes = context.Tensor(0);
  const TensorTypeNode* locations = context.Tensor(1);
  const TensorTypeNode* anchors = context.Tensor(2);
  if (classes == nullptr || locations == nullptr || anchors == nullptr) {
    return Type();
  }
  BATON_RETURN_IF_ERROR(ExpectRank(context, 0, *classes, 3));
  BATON_RETURN_IF_ERROR(ExpectRank(context, 1, *locations, 2));
  BATON_RETURN_IF_ERROR(ExpectRank(context, 2, *anchors, 3));
  if (ProvablyDiffer(classes->dim(2), anchors->dim(1)) ||
      ProvablyDiffer(classes->dim(2) * Dim(4), locations->dim(1)) ||
      ProvablyDiffer(anchors->dim(2), 4) || anchors->dim(1).is_const(0)) {
    return context.Error("the shapes ", ShapeToString(classes->shape()), ", ",
                         ShapeToString(locations->shape()), " and ",
                         ShapeToString(anchors->shape()),
                         " differ in the number of anchors");
  }
  return Type(TupleType(
      {TensorType({classes->dim(0), anchors->dim(1), 6}, classes->dtype()),
       TensorType({classes->dim(0)}, kInt32)}));
}

absl::StatusOr<Type> GetValidCountsRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  BATON_RETURN_IF_ERROR(ExpectRank(context, 0, *data, 3));
  return Type(TupleType({TensorType({data->dim(0)}, kInt32), context.arg(0),
                         TensorType({data->dim(0), data->dim(1)}, kInt32)}));
}

absl::StatusOr<Type> NonMaxSuppressionRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  const TensorTypeNode* valid_count = context.Tensor(1);
  if (data == nullptr || valid_count == nullptr) return Type();
  BATON_RETURN_IF_ERROR(ExpectRank(context, 0, *data, 3));
  BATON_RETURN_IF_ERROR(ExpectRank(context, 1, *valid_count, 1));
  if (!context.attrs<NonMaximumSuppressionAttrs>().return_indices) {
    return context.arg(0);
  }
  return Type(TupleType({TensorType({data->dim(0), data->dim(1)}, kInt32),
                         TensorType({data->dim(0), 1}, kInt32)}));
}

absl::StatusOr<Type> AllClassNonMaxSuppressionRel(
    TypeRelationContext& context) {
  const TensorTypeNode* boxes = context.Tensor(0);
  const TensorTypeNode* scores = context.Tensor(1);
  if (boxes == nullptr || scores == nullptr) return Type();
  BATON_RETURN_IF_ERROR(ExpectRank(context, 0, *boxes, 3));
  BATON_RETURN_IF_ERROR(ExpectRank(context, 1, *scores, 3));
  const Dim& batch = boxes->dim(0);
  const Dim per_batch = scores->dim(1) * boxes->dim(1);
  if (context.attrs<AllClassNonMaximumSuppressionAttrs>().output_format ==
      "onnx") {
    return Type(TupleType(
        {TensorType({batch * per_batch, 3}, kInt64), TensorType({1}, kInt64)}));
  }
  return Type(TupleType({TensorType({batch, per_batch, 2}, kInt64),
                         TensorType({batch, per_batch}, kFloat32),
                         TensorType({batch}, kInt64)}));
}

absl::StatusOr<Type> RegularNonMaxSuppressionRel(TypeRelationContext& context) {
  const TensorTypeNode* boxes = context.Tensor(0);
  const TensorTypeNode* scores = context.Tensor(1);
  if (boxes == nullptr || scores == nullptr) return Type();
  BATON_RETURN_IF_ERROR(ExpectRank(context, 0, *boxes, 3));
  BATON_RETURN_IF_ERROR(ExpectRank(context, 1, *scores, 3));
  const Dim& batch = boxes->dim(0);
  const Dim count =
      context.attrs<RegularNonMaximumSuppressionAttrs>().max_detections;
  const Type by_box = TensorType({batch, count}, kFloat32);
  return Type(TupleType({TensorType({batch, count, 4}, kFloat32), by_box,
                         by_box, TensorType({batch}, kInt32)}));
}

template <typename A>
absl::StatusOr<Type> RegionRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  const TensorTypeNode* regions = context.Tensor(1);
  if (data == nullptr || regions == nullptr) return Type();
  BATON_RETURN_IF_ERROR(ExpectRank(context, 0, *data, 4));
  BATON_RETURN_IF_ERROR(ExpectRank(context, 1, *regions, 2));
  const A& attrs = context.attrs<A>();
  if (attrs.pooled_size.size() != 2) {
    return context.Error("pooled_size must have 2 elements, but has ",
                         attrs.pooled_size.size());
  }
  const Dim& height = attrs.pooled_size[0];
  const Dim& width = attrs.pooled_size[1];
  if (attrs.layout == "NCHW") {
    return Type(TensorType({regions->dim(0), data->dim(1), height, width},
                           data->dtype()));
  }
  if (attrs.layout == "NHWC") {
    return Type(TensorType({regions->dim(0), height, width, data->dim(3)},
                           data->dtype()));
  }
  return context.Error("layout=\"", attrs.layout,
                       "\" is neither NCHW nor NHWC");
}

absl::StatusOr<Type> ProposalRel(TypeRelationContext& context) {
  const int ranks[] = {4, 4, 2};
  for (int i = 0; i < 3; ++i) {
    const TensorTypeNode* type = context.Tensor(i);
    if (type == nullptr) return Type();
    BATON_RETURN_IF_ERROR(ExpectRank(context, i, *type, ranks[i]));
  }
  const TensorTypeNode& classes = *context.Tensor(0);
  if (ProvablyDiffer(context.Tensor(2)->dim(1), 3)) {
    return context.Error("im_info must have 3 numbers an image");
  }
  const Dim count = context.attrs<ProposalAttrs>().rpn_post_nms_top_n;
  return Type(TensorType({classes.dim(0) * count, 5}, classes.dtype()));
}

absl::StatusOr<Type> YoloReorgRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  BATON_RETURN_IF_ERROR(ExpectRank(context, 0, *data, 4));
  const int64_t stride = context.attrs<YoloReorgAttrs>().stride;
  if (stride <= 0) {
    return context.Error("stride=", stride, " is not positive");
  }
  return TensorLike(
      context, 0,
      {data->dim(0), data->dim(1) * Dim(stride) * Dim(stride),
       FloorDiv(data->dim(2), stride), FloorDiv(data->dim(3), stride)},
      data->dtype());
}

BATON_REGISTER_OP("vision.multibox_prior")
    .Describe("Anchor boxes for each position of a feature map.")
    .Arguments({{"data", "The feature map."}})
    .TakesAttrs<MultiBoxPriorAttrs>()
    .TypeRelation(MultiBoxPriorRel)
    .Set(FusionPatterns(), FusionPattern::kOpaque);

BATON_REGISTER_OP("vision.multibox_transform_loc")
    .Describe("Boxes from class probabilities, locations and anchors.")
    .Arguments({{"cls_prob", "The class probabilities."},
                {"loc_pred", "The locations."},
                {"anchor", "The anchors."}})
    .TakesAttrs<MultiBoxTransformLocAttrs>()
    .TypeRelation(MultiBoxTransformLocRel)
    .Set(FusionPatterns(), FusionPattern::kOpaque);

BATON_REGISTER_OP("vision.get_valid_counts")
    .Describe("The boxes above a score, in front.")
    .Arguments({{"data", "The boxes."},
                {"score_threshold", "The least score."}})
    .TakesAttrs<GetValidCountsAttrs>()
    .TypeRelation(GetValidCountsRel)
    .Set(FusionPatterns(), FusionPattern::kOpaque);

BATON_REGISTER_OP("vision.non_max_suppression")
    .Describe("The boxes that no better one overlaps.")
    .Arguments({{"data", "The boxes."},
                {"valid_count", "The number of valid boxes of each image."},
                {"indices", "The index of each box."},
                {"max_output_size", "The largest number of boxes."},
                {"iou_threshold", "The overlap that suppresses."}})
    .TakesAttrs<NonMaximumSuppressionAttrs>()
    .TypeRelation(NonMaxSuppressionRel)
    .Set(FusionPatterns(), FusionPattern::kOpaque);

BATON_REGISTER_OP("vision.all_class_non_max_suppression")
    .Describe("For each class, the boxes that no better one overlaps.")
    .Arguments({{"boxes", "The boxes."},
                {"scores", "The scores by class."},
                {"max_output_boxes_per_class", "The most boxes of a class."},
                {"iou_threshold", "The overlap that suppresses."},
                {"score_threshold", "The least score."}})
    .TakesAttrs<AllClassNonMaximumSuppressionAttrs>()
    .TypeRelation(AllClassNonMaxSuppressionRel)
    .Set(FusionPatterns(), FusionPattern::kOpaque);

BATON_REGISTER_OP("vision.regular_non_max_suppression")
    .Describe("The best boxes of all classes, without overlaps.")
    .Arguments({{"boxes", "The boxes."}, {"scores", "The scores by class."}})
    .TakesAttrs<RegularNonMaximumSuppressionAttrs>()
    .TypeRelation(RegularNonMaxSuppressionRel)
    .Set(FusionPatterns(), FusionPattern::kOpaque);

BATON_REGISTER_OP("vision.roi_align")
    .Describe("Samples regions of a feature map to one size.")
    .Arguments({{"data", "The feature map."}, {"rois", "The regions."}})
    .TakesAttrs<ROIAlignAttrs>()
    .TypeRelation(RegionRel<ROIAlignAttrs>)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable)
    .Set(LayoutInferenceRules(), InferRoiLayouts<ROIAlignAttrs>)
    .Set(ConvertLayoutRules(),
         ConvertLayoutRule{{"data", "rois"}, ConvertRoi<ROIAlignAttrs>});

// ONNX's half_pixel and PyTorch's aligned=True; the reference has no such
// operator.
BATON_REGISTER_OP("vision.roi_align_half_pixel")
    .Describe(
        "vision.roi_align of pixels that are centered at half coordinates, and "
        "boxes that may be smaller than one.")
    .Arguments({{"data", "The feature map."}, {"rois", "The regions."}})
    .TakesAttrs<ROIAlignAttrs>()
    .TypeRelation(RegionRel<ROIAlignAttrs>)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable)
    .Set(LayoutInferenceRules(), InferRoiLayouts<ROIAlignAttrs>)
    .Set(ConvertLayoutRules(),
         ConvertLayoutRule{{"data", "rois"}, ConvertRoi<ROIAlignAttrs>});

BATON_REGISTER_OP("vision.roi_pool")
    .Describe("Pools regions of a feature map to one size.")
    .Arguments({{"data", "The feature map."}, {"rois", "The regions."}})
    .TakesAttrs<ROIPoolAttrs>()
    .TypeRelation(RegionRel<ROIPoolAttrs>)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable)
    .Set(LayoutInferenceRules(), InferRoiLayouts<ROIPoolAttrs>)
    .Set(ConvertLayoutRules(),
         ConvertLayoutRule{{"data", "rois"}, ConvertRoi<ROIPoolAttrs>});

BATON_REGISTER_OP("vision.proposal")
    .Describe("Proposes regions.")
    .Arguments({{"cls_prob", "The class probabilities."},
                {"bbox_pred", "The boxes."},
                {"im_info", "Height, width and scale of each image."}})
    .TakesAttrs<ProposalAttrs>()
    .TypeRelation(ProposalRel)
    .Set(FusionPatterns(), FusionPattern::kOpaque);

BATON_REGISTER_OP("vision.yolo_reorg")
    .Describe("Moves blocks of height and width into channels.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<YoloReorgAttrs>()
    .TypeRelation(YoloReorgRel)
    .Set(FusionPatterns(), FusionPattern::kInjective);

}  // namespace

}  // namespace baton::relay
