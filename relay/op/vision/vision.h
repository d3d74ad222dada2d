// Operators of object detection (`vision.*`).

#ifndef BATON_RELAY_OP_VISION_VISION_H_
#define BATON_RELAY_OP_VISION_VISION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "baton/base/fields.h"
#include "baton/ir/type.h"

namespace baton::relay {

struct MultiBoxPriorAttrs {
  std::vector<double> sizes = {1.0};
  std::vector<double> ratios = {1.0};
  std::vector<double> steps = {-1.0, -1.0};
  std::vector<double> offsets = {0.5, 0.5};
  bool clip = false;

  static constexpr char kTypeKey[] = "relay.attrs.MultiBoxPriorAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("sizes", &MultiBoxPriorAttrs::sizes, "Sizes of the boxes.");
    v("ratios", &MultiBoxPriorAttrs::ratios, "Aspect ratios of the boxes.");
    v("steps", &MultiBoxPriorAttrs::steps,
      "Distance of the boxes; -1 to derive it.");
    v("offsets", &MultiBoxPriorAttrs::offsets,
      "The centers of the boxes in a cell, as fractions of it.");
    v("clip", &MultiBoxPriorAttrs::clip,
      "Whether to clip the boxes to the image.");
  }
};

struct MultiBoxTransformLocAttrs {
  bool clip = true;
  double threshold = 0.01;
  std::vector<double> variances = {0.1f, 0.1f, 0.2f, 0.2f};
  bool keep_background = false;

  static constexpr char kTypeKey[] = "relay.attrs.MultiBoxTransformLocAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("clip", &MultiBoxTransformLocAttrs::clip,
      "Whether to clip the boxes to the image.");
    v("threshold", &MultiBoxTransformLocAttrs::threshold, "The least score.");
    v("variances", &MultiBoxTransformLocAttrs::variances,
      "Variances of the box coordinates.");
    v("keep_background", &MultiBoxTransformLocAttrs::keep_background,
      "Whether the background class is kept.");
  }
};

struct GetValidCountsAttrs {
  std::optional<double> score_threshold;
  int id_index = 0;
  int score_index = 1;

  static constexpr char kTypeKey[] = "relay.attrs.GetValidCountsAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("score_threshold", &GetValidCountsAttrs::score_threshold,
      "The least score.", kRequired);
    v("id_index", &GetValidCountsAttrs::id_index,
      "Position of the class; -1 for none.");
    v("score_index", &GetValidCountsAttrs::score_index,
      "Position of the score.");
  }
};

struct NonMaximumSuppressionAttrs {
  bool force_suppress = false;
  int top_k = -1;
  int coord_start = 2;
  int score_index = 1;
  int id_index = 0;
  bool return_indices = true;
  bool invalid_to_bottom = false;

  static constexpr char kTypeKey[] = "relay.attrs.NonMaximumSuppressionAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("force_suppress", &NonMaximumSuppressionAttrs::force_suppress,
      "Suppress across classes.");
    v("top_k", &NonMaximumSuppressionAttrs::top_k,
      "The largest number of boxes that are considered; -1 for all.");
    v("coord_start", &NonMaximumSuppressionAttrs::coord_start,
      "Position of the first coordinate.");
    v("score_index", &NonMaximumSuppressionAttrs::score_index,
      "Position of the score.");
    v("id_index", &NonMaximumSuppressionAttrs::id_index,
      "Position of the class; -1 for none.");
    v("return_indices", &NonMaximumSuppressionAttrs::return_indices,
      "Whether to return indices rather than boxes.");
    v("invalid_to_bottom", &NonMaximumSuppressionAttrs::invalid_to_bottom,
      "Whether to move valid boxes to the front.");
  }
};

struct AllClassNonMaximumSuppressionAttrs {
  std::string output_format = "onnx";

  static constexpr char kTypeKey[] =
      "relay.attrs.AllClassNonMaximumSuppressionAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("output_format", &AllClassNonMaximumSuppressionAttrs::output_format,
      "onnx or tensorflow.");
  }
};

struct RegularNonMaximumSuppressionAttrs {
  int max_detections_per_class = 0;
  int max_detections = 0;
  int num_classes = 0;
  double iou_threshold = 0.0;
  double score_threshold = 0.0;

  static constexpr char kTypeKey[] =
      "relay.attrs.RegularNonMaximumSuppressionAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("max_detections_per_class",
      &RegularNonMaximumSuppressionAttrs::max_detections_per_class,
      "Largest number of boxes in a class.", kRequired);
    v("max_detections", &RegularNonMaximumSuppressionAttrs::max_detections,
      "Largest number of boxes.", kRequired);
    v("num_classes", &RegularNonMaximumSuppressionAttrs::num_classes,
      "Number of classes.", kRequired);
    v("iou_threshold", &RegularNonMaximumSuppressionAttrs::iou_threshold,
      "The overlap at which a box is suppressed.", kRequired);
    v("score_threshold", &RegularNonMaximumSuppressionAttrs::score_threshold,
      "The least score.", kRequired);
  }
};

struct ROIAlignAttrs {
  Dims pooled_size;
  double spatial_scale = 0.0;
  int sample_ratio = -1;
  std::string layout = "NCHW";
  std::string mode = "avg";

  static constexpr char kTypeKey[] = "relay.attrs.ROIAlignAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("pooled_size", &ROIAlignAttrs::pooled_size, "Spatial size of the result.",
      kRequired);
    v("spatial_scale", &ROIAlignAttrs::spatial_scale,
      "Scale of the boxes, in (0, 1].", kRequired);
    v("sample_ratio", &ROIAlignAttrs::sample_ratio,
      "Samples along each side of a bin; -1 to derive it.");
    v("layout", &ROIAlignAttrs::layout, "Layout of the data.");
    v("mode", &ROIAlignAttrs::mode, "avg or max.");
  }
};

struct ROIPoolAttrs {
  Dims pooled_size;
  double spatial_scale = 0.0;
  std::string layout = "NCHW";

  static constexpr char kTypeKey[] = "relay.attrs.ROIPoolAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("pooled_size", &ROIPoolAttrs::pooled_size, "Spatial size of the result.",
      kRequired);
    v("spatial_scale", &ROIPoolAttrs::spatial_scale,
      "Scale of the boxes, in (0, 1].", kRequired);
    v("layout", &ROIPoolAttrs::layout, "Layout of the data.");
  }
};

struct YoloReorgAttrs {
  int64_t stride = 1;

  static constexpr char kTypeKey[] = "relay.attrs.YoloReorgAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("stride", &YoloReorgAttrs::stride, "Size of a block.");
  }
};

struct ProposalAttrs {
  std::vector<double> scales = {4.0, 8.0, 16.0, 32.0};
  std::vector<double> ratios = {0.5, 1.0, 2.0};
  int feature_stride = 16;
  double threshold = 0.7;
  int rpn_pre_nms_top_n = 6000;
  int rpn_post_nms_top_n = 300;
  int rpn_min_size = 16;
  bool iou_loss = false;

  static constexpr char kTypeKey[] = "relay.attrs.ProposalAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("scales", &ProposalAttrs::scales, "Scales of the anchors.");
    v("ratios", &ProposalAttrs::ratios, "Aspect ratios of the boxes.");
    v("feature_stride", &ProposalAttrs::feature_stride,
      "Distance of the anchors.");
    v("threshold", &ProposalAttrs::threshold, "The least score.");
    v("rpn_pre_nms_top_n", &ProposalAttrs::rpn_pre_nms_top_n,
      "The largest number of boxes that are considered.");
    v("rpn_post_nms_top_n", &ProposalAttrs::rpn_post_nms_top_n,
      "The largest number of boxes that are returned.");
    v("rpn_min_size", &ProposalAttrs::rpn_min_size, "The least size of a box.");
    v("iou_loss", &ProposalAttrs::iou_loss,
      "Whether boxes are corners rather than centers.");
  }
};

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_VISION_VISION_H_
