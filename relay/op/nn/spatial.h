// Operators that pad, scale, flatten or rearrange the axes of feature maps.

#ifndef BATON_RELAY_OP_NN_SPATIAL_H_
#define BATON_RELAY_OP_NN_SPATIAL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "baton/base/fields.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

struct PadAttrs {
  std::vector<std::vector<int64_t>> pad_width;
  std::string pad_mode = "constant";

  static constexpr char kTypeKey[] = "relay.attrs.PadAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("pad_width", &PadAttrs::pad_width,
      "Padding of each axis: [[before, after], ...].", kRequired);
    v("pad_mode", &PadAttrs::pad_mode, "constant, edge or reflect.");
  }
};

struct MirrorPadAttrs {
  std::string mode = "SYMMETRIC";
  std::vector<std::vector<int64_t>> pad_width;

  static constexpr char kTypeKey[] = "relay.attrs.MirrorPadAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("mode", &MirrorPadAttrs::mode, "SYMMETRIC or REFLECT.");
    v("pad_width", &MirrorPadAttrs::pad_width,
      "Padding of each axis: [[before, after], ...].", kRequired);
  }
};

struct UpSamplingAttrs {
  double scale_h = 0.0;
  double scale_w = 0.0;
  std::string layout = "NCHW";
  std::string method = "nearest_neighbor";
  bool align_corners = false;

  static constexpr char kTypeKey[] = "relay.attrs.UpSamplingAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("scale_h", &UpSamplingAttrs::scale_h, "Factor by which the height grows.",
      kRequired);
    v("scale_w", &UpSamplingAttrs::scale_w, "Factor by which the width grows.",
      kRequired);
    v("layout", &UpSamplingAttrs::layout, "Layout of the data.");
    v("method", &UpSamplingAttrs::method,
      "nearest_neighbor, bilinear or bicubic.");
    v("align_corners", &UpSamplingAttrs::align_corners,
      "Keep the values at the corners.");
  }
};

struct UpSampling3DAttrs {
  double scale_d = 0.0;
  double scale_h = 0.0;
  double scale_w = 0.0;
  std::string layout = "NCDHW";
  std::string method = "nearest_neighbor";
  std::string coordinate_transformation_mode = "half_pixel";

  static constexpr char kTypeKey[] = "relay.attrs.UpSampling3DAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("scale_d", &UpSampling3DAttrs::scale_d,
      "Factor by which the depth grows.", kRequired);
    v("scale_h", &UpSampling3DAttrs::scale_h,
      "Factor by which the height grows.", kRequired);
    v("scale_w", &UpSampling3DAttrs::scale_w,
      "Factor by which the width grows.", kRequired);
    v("layout", &UpSampling3DAttrs::layout, "Layout of the data.");
    v("method", &UpSampling3DAttrs::method, "nearest_neighbor or trilinear.");
    v("coordinate_transformation_mode",
      &UpSampling3DAttrs::coordinate_transformation_mode,
      "The mapping of coordinates: half_pixel, align_corners or asymmetric.");
  }
};

struct DilateAttrs {
  Dims strides = {1, 1};
  double dilation_value = 0.0;

  static constexpr char kTypeKey[] = "relay.attrs.DilateAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("strides", &DilateAttrs::strides,
      "Distance of the elements along each axis.");
    v("dilation_value", &DilateAttrs::dilation_value,
      "The value between the elements.");
  }
};

// nn.depth_to_space, nn.space_to_depth
struct SubPixelAttrs {
  int block_size = 1;
  std::string layout = "NCHW";
  std::string mode = "DCR";

  static constexpr char kTypeKey[] = "relay.attrs.SubPixelAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("block_size", &SubPixelAttrs::block_size, "Size of a square block.");
    v("layout", &SubPixelAttrs::layout, "Layout of the data.");
    v("mode", &SubPixelAttrs::mode,
      "DCR (depth, column, row) or CDR (column, depth, row).");
  }
};

struct SpaceToBatchNDAttrs {
  std::vector<int64_t> block_shape = {1, 1};
  std::vector<std::vector<int64_t>> paddings;
  double pad_value = 0.0;

  static constexpr char kTypeKey[] = "relay.attrs.SpaceToBatchNDAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("block_shape", &SpaceToBatchNDAttrs::block_shape,
      "Size of a block along each spatial axis.");
    v("paddings", &SpaceToBatchNDAttrs::paddings,
      "Padding of each spatial axis: [[before, after], ...].", kRequired);
    v("pad_value", &SpaceToBatchNDAttrs::pad_value,
      "The value of the padding.");
  }
};

struct BatchToSpaceNDAttrs {
  std::vector<int64_t> block_shape = {1, 1};
  std::vector<std::vector<int64_t>> crops;

  static constexpr char kTypeKey[] = "relay.attrs.BatchToSpaceNDAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("block_shape", &BatchToSpaceNDAttrs::block_shape,
      "Size of a block along each spatial axis.");
    v("crops", &BatchToSpaceNDAttrs::crops,
      "Elements cut off each spatial axis: [[begin, end], ...].", kRequired);
  }
};

struct CorrelationAttrs {
  int kernel_size = 1;
  int max_displacement = 1;
  int stride1 = 1;
  int stride2 = 1;
  Dims padding = {0, 0};
  bool is_multiply = true;
  std::string layout = "NCHW";

  static constexpr char kTypeKey[] = "relay.attrs.CorrelationAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("kernel_size", &CorrelationAttrs::kernel_size, "Size of the patches.");
    v("max_displacement", &CorrelationAttrs::max_displacement,
      "Largest displacement compared.");
    v("stride1", &CorrelationAttrs::stride1, "Step in the first input.");
    v("stride2", &CorrelationAttrs::stride2, "Step in the second input.");
    v("padding", &CorrelationAttrs::padding,
      "Padding: one number, one an axis, or all begins and then all ends.");
    v("is_multiply", &CorrelationAttrs::is_multiply,
      "Multiply the patches; otherwise subtract them.");
    v("layout", &CorrelationAttrs::layout, "Layout of the data.");
  }
};

struct FIFOBufferAttrs {
  int axis = 0;

  static constexpr char kTypeKey[] = "relay.attrs.FIFOBufferAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("axis", &FIFOBufferAttrs::axis,
      "The axis along which the buffer is a queue.");
  }
};

}  // namespace baton::relay

namespace baton::relay::nn {

Expr BatchFlatten(Expr data);
// `pad_width` is [[before, after], ...].
Expr Pad(Expr data, std::vector<std::vector<int64_t>> pad_width, Expr pad_value,
         std::string pad_mode = "constant");
Expr UpSampling(Expr data, UpSamplingAttrs attrs);

}  // namespace baton::relay::nn

#endif  // BATON_RELAY_OP_NN_SPATIAL_H_
