#include "baton/relay/op/vision/vision.h"

#include <array>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/kernels/kernel_adapters.h"
#include "baton/relay/runtime/kernel.h"
#include "baton/relay/runtime/value.h"
#include "baton/runtime/kernels/boxes.h"
#include "baton/runtime/kernels/detection.h"
#include "baton/runtime/kernels/layout_kernels.h"

namespace baton::relay {
namespace {

absl::StatusOr<Value> ComputeAllClassNonMaxSuppression(
    const CallNode& call, absl::Span<const Value> args) {
  const auto* attrs = call.attrs_as<AllClassNonMaximumSuppressionAttrs>();
  if (attrs != nullptr && attrs->output_format != "onnx") {
    return absl::UnimplementedError(absl::StrCat(
        "output_format=", attrs->output_format, " cannot be evaluated"));
  }
  for (int i = 2; i < 5; ++i) {
    if (args[i].tensor().num_elements() != 1) {
      return absl::InvalidArgumentError("a limit is no scalar");
    }
  }
  BATON_ASSIGN_OR_RETURN(
      auto result,
      kernels::AllClassNonMaxSuppression(
          args[0].tensor(), args[1].tensor(), args[2].tensor().AtAsInt64(0),
          args[3].tensor().AtAsDouble(0), args[4].tensor().AtAsDouble(0)));
  const int64_t count = result.second;
  BATON_ASSIGN_OR_RETURN(const Tensor found,
                         Tensor::FromValues<int64_t>({1}, {count}));
  return Value::MakeTuple({std::move(result.first), found});
}

absl::StatusOr<Tensor> ComputeMultiBoxPrior(const MultiBoxPriorAttrs& attrs,
                                            absl::Span<const Value> args) {
  const Tensor& data = args[0].tensor();
  return kernels::AnchorBoxes(
      data.shape()[2], data.shape()[3],
      {attrs.sizes, attrs.ratios, attrs.steps, attrs.offsets, attrs.clip},
      data.dtype());
}

absl::StatusOr<Value> ComputeMultiBoxTransformLoc(
    const MultiBoxTransformLocAttrs& attrs, absl::Span<const Value> args) {
  BATON_ASSIGN_OR_RETURN(
      kernels::CountedBoxes found,
      kernels::DecodeBoxes(args[0].tensor(), args[1].tensor(), args[2].tensor(),
                           {attrs.clip, attrs.threshold, attrs.variances,
                            attrs.keep_background}));
  return Value::MakeTuple({std::move(found.boxes), std::move(found.count)});
}

absl::StatusOr<Value> ComputeValidCounts(const GetValidCountsAttrs& attrs,
                                         absl::Span<const Value> args) {
  if (args[1].tensor().num_elements() != 1) {
    return absl::InvalidArgumentError("score_threshold is no scalar");
  }
  BATON_ASSIGN_OR_RETURN(
      kernels::ValidBoxes valid,
      kernels::FilterBoxes(args[0].tensor(), args[1].tensor().AtAsDouble(0),
                           attrs.id_index, attrs.score_index));
  return Value::MakeTuple({std::move(valid.count), std::move(valid.boxes),
                           std::move(valid.indices)});
}

absl::StatusOr<Value> ComputeNonMaxSuppression(
    const NonMaximumSuppressionAttrs& attrs, absl::Span<const Value> args) {
  for (int i = 3; i < 5; ++i) {
    if (args[i].tensor().num_elements() != 1) {
      return absl::InvalidArgumentError("a limit is no scalar");
    }
  }
  BATON_ASSIGN_OR_RETURN(
      kernels::SuppressedBoxes result,
      kernels::SuppressBoxes(args[0].tensor(), args[1].tensor(),
                             args[2].tensor(),
                             {.max_boxes = args[3].tensor().AtAsInt64(0),
                              .iou_threshold = args[4].tensor().AtAsDouble(0),
                              .across_classes = attrs.force_suppress,
                              .top_k = attrs.top_k,
                              .coord_start = attrs.coord_start,
                              .score_index = attrs.score_index,
                              .id_index = attrs.id_index,
                              .return_indices = attrs.return_indices,
                              .invalid_to_bottom = attrs.invalid_to_bottom}));
  if (!attrs.return_indices) return Value(std::move(result.boxes));
  return Value::MakeTuple({std::move(result.indices), std::move(result.count)});
}

template <typename A, auto kFunction, bool kHalfPixel = false>
absl::StatusOr<Tensor> ComputeRegions(const A& attrs,
                                      absl::Span<const Value> args) {
  std::array<int64_t, 2> size;
  BATON_RETURN_IF_ERROR(CopyDims(attrs.pooled_size, size));
  kernels::RegionParams params;
  params.height = size[0];
  params.width = size[1];
  params.scale = attrs.spatial_scale;
  params.half_pixel = kHalfPixel;
  if constexpr (requires { attrs.sample_ratio; }) {
    params.sample_ratio = attrs.sample_ratio;
    params.max = attrs.mode == "max";
    if (!params.max && attrs.mode != "avg") {
      return absl::InvalidArgumentError(
          absl::StrCat("mode=", attrs.mode, " is neither avg nor max"));
    }
  }
  return kernels::InLayout(args[0].tensor(), attrs.layout, "NCHW",
                           [&](const Tensor& data) {
                             return kFunction(data, args[1].tensor(), params);
                           });
}

absl::StatusOr<Value> ComputeRegularNonMaxSuppression(
    const RegularNonMaximumSuppressionAttrs& attrs,
    absl::Span<const Value> args) {
  BATON_ASSIGN_OR_RETURN(
      kernels::Detections found,
      kernels::SuppressByClass(
          args[0].tensor(), args[1].tensor(),
          {.max_detections_per_class = attrs.max_detections_per_class,
           .max_detections = attrs.max_detections,
           .num_classes = attrs.num_classes,
           .iou_threshold = attrs.iou_threshold,
           .score_threshold = attrs.score_threshold}));
  return Value::MakeTuple({std::move(found.boxes), std::move(found.classes),
                           std::move(found.scores), std::move(found.count)});
}

absl::StatusOr<Tensor> ComputeProposal(const ProposalAttrs& attrs,
                                       absl::Span<const Value> args) {
  return kernels::Propose(args[0].tensor(), args[1].tensor(), args[2].tensor(),
                          {.scales = attrs.scales,
                           .ratios = attrs.ratios,
                           .feature_stride = attrs.feature_stride,
                           .threshold = attrs.threshold,
                           .pre_nms_top_n = attrs.rpn_pre_nms_top_n,
                           .post_nms_top_n = attrs.rpn_post_nms_top_n,
                           .min_size = attrs.rpn_min_size,
                           .iou_loss = attrs.iou_loss});
}

BATON_EXTEND_OP("vision.multibox_prior")
    .Set(Kernels(), KernelOf<ComputeMultiBoxPrior>);
BATON_EXTEND_OP("vision.multibox_transform_loc")
    .Set(Kernels(), KernelOf<ComputeMultiBoxTransformLoc>);
BATON_EXTEND_OP("vision.get_valid_counts")
    .Set(Kernels(), KernelOf<ComputeValidCounts>);
BATON_EXTEND_OP("vision.non_max_suppression")
    .Set(Kernels(), KernelOf<ComputeNonMaxSuppression>);
BATON_EXTEND_OP("vision.all_class_non_max_suppression")
    .Set(Kernels(), ComputeAllClassNonMaxSuppression);
BATON_EXTEND_OP("vision.regular_non_max_suppression")
    .Set(Kernels(), KernelOf<ComputeRegularNonMaxSuppression>);
BATON_EXTEND_OP("vision.roi_align")
    .Set(Kernels(), KernelOf<ComputeRegions<ROIAlignAttrs, kernels::RoiAlign>>);
BATON_EXTEND_OP("vision.roi_align_half_pixel")
    .Set(Kernels(),
         KernelOf<ComputeRegions<ROIAlignAttrs, kernels::RoiAlign, true>>);
BATON_EXTEND_OP("vision.roi_pool")
    .Set(Kernels(), KernelOf<ComputeRegions<ROIPoolAttrs, kernels::RoiPool>>);
BATON_EXTEND_OP("vision.proposal").Set(Kernels(), KernelOf<ComputeProposal>);
BATON_EXTEND_OP("vision.yolo_reorg")
    .Set(Kernels(), KernelOf<kernels::Reorg, &YoloReorgAttrs::stride>);

}  // namespace

}  // namespace baton::relay
