// Operators on images (`image.*`).

#ifndef BATON_RELAY_OP_IMAGE_IMAGE_H_
#define BATON_RELAY_OP_IMAGE_IMAGE_H_

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "baton/base/dtype.h"
#include "baton/base/fields.h"
#include "baton/ir/type.h"
#include "baton/relay/op/nn/spatial_axes.h"

namespace baton::relay {

// The attributes of image.resize1d, 2d and 3d.
template <int kAxes>
struct ResizeNDAttrs {
  OptionalDims size = OptionalDims(std::nullopt);
  std::optional<std::vector<double>> roi;
  std::string layout = WithSpatialAxes<kAxes>("NC");
  std::string method = "linear";
  std::string coordinate_transformation_mode = "half_pixel";
  std::string rounding_method = "round";
  double cubic_alpha = -0.5;
  int cubic_exclude = 0;
  double extrapolation_value = 0.0;
  DType out_dtype;

  static constexpr const char* kTypeKey =
      std::array{"relay.attrs.Resize1DAttrs", "relay.attrs.Resize2DAttrs",
                 "relay.attrs.Resize3DAttrs"}[kAxes - 1];
  template <typename V>
  static void VisitFields(V& v) {
    v("size", &ResizeNDAttrs::size, "Spatial size of the result.");
    v("roi", &ResizeNDAttrs::roi, "The region of interest.");
    v("layout", &ResizeNDAttrs::layout, "Layout of the data.");
    v("method", &ResizeNDAttrs::method, "nearest_neighbor, linear or cubic.");
    v("coordinate_transformation_mode",
      &ResizeNDAttrs::coordinate_transformation_mode,
      "The mapping of coordinates: half_pixel, align_corners or asymmetric.");
    v("rounding_method", &ResizeNDAttrs::rounding_method,
      "The rounding of nearest_neighbor: round, floor, ceil or "
      "round_prefer_ceil.");
    v("cubic_alpha", &ResizeNDAttrs::cubic_alpha,
      "Coefficient of the cubic spline.");
    v("cubic_exclude", &ResizeNDAttrs::cubic_exclude,
      "Whether weights outside of the image are dropped.");
    v("extrapolation_value", &ResizeNDAttrs::extrapolation_value,
      "The value outside of the image.");
    v("out_dtype", &ResizeNDAttrs::out_dtype,
      "Element type of the result; that of the data if unset.");
  }
};
using Resize1DAttrs = ResizeNDAttrs<1>;
using Resize2DAttrs = ResizeNDAttrs<2>;
using Resize3DAttrs = ResizeNDAttrs<3>;

struct CropAndResizeAttrs {
  Dims crop_size;
  std::string layout = "NCHW";
  std::string method = "bilinear";
  double extrapolation_value = 0.0;
  DType out_dtype;

  static constexpr char kTypeKey[] = "relay.attrs.CropAndResizeAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("crop_size", &CropAndResizeAttrs::crop_size,
      "Spatial size of the result.");
    v("layout", &CropAndResizeAttrs::layout, "Layout of the data.");
    v("method", &CropAndResizeAttrs::method, "nearest_neighbor or bilinear.");
    v("extrapolation_value", &CropAndResizeAttrs::extrapolation_value,
      "The value outside of the image.");
    v("out_dtype", &CropAndResizeAttrs::out_dtype,
      "Element type of the result; that of the data if unset.");
  }
};

struct Dilation2DAttrs {
  Dims strides = {1, 1};
  Dims padding = {0, 0};
  Dims dilations = {1, 1};
  std::string data_layout = "NCHW";
  std::string kernel_layout = "IHW";
  DType out_dtype;

  static constexpr char kTypeKey[] = "relay.attrs.Dilation2DAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("strides", &Dilation2DAttrs::strides,
      "Step of the window along each spatial axis.");
    v("padding", &Dilation2DAttrs::padding,
      "Padding: one number, one an axis, or all begins and then all ends.");
    v("dilations", &Dilation2DAttrs::dilations,
      "Distance of kernel elements along each spatial axis.");
    v("data_layout", &Dilation2DAttrs::data_layout, "Layout of the data.");
    v("kernel_layout", &Dilation2DAttrs::kernel_layout,
      "Layout of the weight.");
    v("out_dtype", &Dilation2DAttrs::out_dtype,
      "Element type of the result; that of the data if unset.");
  }
};

struct AffineGridAttrs {
  Dims target_shape;

  static constexpr char kTypeKey[] = "relay.attrs.AffineGridAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("target_shape", &AffineGridAttrs::target_shape,
      "Spatial size of the result.", kRequired);
  }
};

struct GridSampleAttrs {
  std::string method = "bilinear";
  std::string layout = "NCHW";
  std::string padding_mode = "zeros";
  bool align_corners = true;

  static constexpr char kTypeKey[] = "relay.attrs.GridSampleAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("method", &GridSampleAttrs::method, "nearest, bilinear or bicubic.");
    v("layout", &GridSampleAttrs::layout, "Layout of the data.");
    v("padding_mode", &GridSampleAttrs::padding_mode,
      "zeros, border or reflection.");
    v("align_corners", &GridSampleAttrs::align_corners,
      "Keep the values at the corners.");
  }
};

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_IMAGE_IMAGE_H_
