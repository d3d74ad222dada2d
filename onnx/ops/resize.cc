// Resize and Upsample: along each axis, the elements of the result are sums of
// a few elements of the data, at positions and with weights that are known.
//
// That is what image.resize1d to 3d compute, for any scale, rank and axes: the
// reference's operators take the size of the result only and derive the scale
// from it, which is another one where a size was rounded.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/onnx/converter.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/op/tensor/indexing.h"

namespace baton::onnx {
namespace {

using Ints = std::vector<int64_t>;

struct Options {
  std::string mode;         // nearest, linear, cubic
  std::string coordinates;  // coordinate_transformation_mode
  std::string nearest_mode;
  double cubic_a = -0.75;
  bool exclude_outside = false;
  bool antialias = false;
};

// Along one axis: tap k of element i of the result is element index[k][i] of
// the data, times weight[k][i].
struct Taps {
  std::vector<Ints> index;
  std::vector<std::vector<double>> weight;
  std::vector<bool> is_outside;  // of the data, for tf_crop_and_resize
};

// `out`: the extent of the result before it is rounded to a whole number.
double Coordinate(const Options& options, int64_t i, double scale, int64_t in,
                  double out, double roi_begin, double roi_end) {
  const double x = static_cast<double>(i);
  const double last = static_cast<double>(in - 1);
  if (options.coordinates == "align_corners") {
    return out > 1 ? x * last / (out - 1) : 0;
  }
  if (options.coordinates == "asymmetric") return x / scale;
  if (options.coordinates == "pytorch_half_pixel" && out <= 1) return 0;
  if (options.coordinates == "tf_half_pixel_for_nn") return (x + 0.5) / scale;
  if (options.coordinates == "tf_crop_and_resize") {
    return out > 1
               ? roi_begin * last + x * (roi_end - roi_begin) * last / (out - 1)
               : 0.5 * (roi_begin + roi_end) * last;
  }
  double result = (x + 0.5) / scale - 0.5;
  if (options.coordinates == "half_pixel_symmetric") {
    const double adjustment = std::floor(out) / (scale * in);
    result += in / 2.0 * (1 - adjustment);
  }
  return result;
}

int64_t Nearest(const std::string& mode, double x) {
  if (mode == "floor") return static_cast<int64_t>(std::floor(x));
  if (mode == "ceil") return static_cast<int64_t>(std::ceil(x));
  if (mode == "round_prefer_ceil") {
    return static_cast<int64_t>(std::floor(x + 0.5));
  }
  return static_cast<int64_t>(std::ceil(x - 0.5));
}

double Cubic(double a, double distance) {
  const double x = std::abs(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

Taps TapsOf(const Options& options, int64_t in, int64_t out, double scale,
            double roi_begin, double roi_end) {
  Taps result;
  result.is_outside.resize(out);
  const bool crops = options.coordinates == "tf_crop_and_resize";
  // The kernel of an antialiased downsampling is wider.
  const double stretch =
      options.antialias && scale < 1 && options.mode != "nearest" ? 1 / scale
                                                                  : 1;
  const double support =
      options.mode == "nearest" ? 0 : (options.mode == "cubic" ? 2 : 1);
  const int64_t taps =
      options.mode == "nearest"
          ? 1
          : 2 * static_cast<int64_t>(std::ceil(support * stretch));
  result.index.assign(taps, Ints(out, 0));
  result.weight.assign(taps, std::vector<double>(out, 1));
  for (int64_t i = 0; i < out; ++i) {
    const double x = Coordinate(
        options, i, scale, in,
        crops ? static_cast<double>(out) : scale * static_cast<double>(in),
        roi_begin, roi_end);
    result.is_outside[i] = x < 0 || x > static_cast<double>(in - 1);
    if (options.mode == "nearest") {
      result.index[0][i] =
          std::clamp<int64_t>(Nearest(options.nearest_mode, x), 0, in - 1);
      continue;
    }
    const int64_t first = static_cast<int64_t>(std::floor(x)) - taps / 2 + 1;
    double sum = 0;
    for (int64_t k = 0; k < taps; ++k) {
      const double distance = (static_cast<double>(first + k) - x) / stretch;
      double weight = options.mode == "cubic"
                          ? Cubic(options.cubic_a, distance)
                          : std::max(0.0, 1 - std::abs(distance));
      const bool is_inside = first + k >= 0 && first + k < in;
      if (options.exclude_outside && !is_inside) weight = 0;
      result.index[k][i] = std::clamp<int64_t>(first + k, 0, in - 1);
      result.weight[k][i] = weight;
      sum += weight;
    }
    for (int64_t k = 0; k < taps && sum != 0; ++k) {
      result.weight[k][i] /= sum;
    }
  }
  return result;
}

// A constant of shape (n, 1, 1 ...), which stands along an axis that
// `trailing` others follow.
template <typename T>
absl::StatusOr<Expr> AlongAxis(const std::vector<T>& values, int trailing,
                               DType dtype) {
  Ints shape(trailing + 1, 1);
  shape[0] = static_cast<int64_t>(values.size());
  BATON_ASSIGN_OR_RETURN(MutableTensor tensor,
                         MutableTensor::Create(dtype, shape));
  VisitDType(dtype, [&]<typename E>() {
    for (size_t i = 0; i < values.size(); ++i) {
      tensor.span<E>()[i] = static_cast<E>(static_cast<double>(values[i]));
    }
  });
  return relay::Const(std::move(tensor).Freeze());
}

absl::StatusOr<Expr> ResizeAxis(const Expr& x, int axis, int rank,
                                const Taps& taps, DType dtype) {
  Expr sum;
  for (size_t k = 0; k < taps.index.size(); ++k) {
    if (std::all_of(taps.weight[k].begin(), taps.weight[k].end(),
                    [](double w) { return w == 0; }) &&
        taps.index.size() > 1) {
      continue;
    }
    Expr part = relay::Take(x, VectorConstant(taps.index[k]), {.axis = axis});
    if (taps.index.size() > 1) {
      BATON_ASSIGN_OR_RETURN(Expr weight,
                             AlongAxis(taps.weight[k], rank - 1 - axis, dtype));
      part = relay::Multiply(std::move(part), std::move(weight));
    }
    sum = sum.defined() ? relay::Add(std::move(sum), std::move(part))
                        : std::move(part);
  }
  return sum;
}

// `sizes`: of the result, one for each of `axes`; `scales`: likewise.
absl::StatusOr<Outputs> ResizeAxes(NodeContext& node, const Options& options,
                                   const Ints& axes,
                                   const std::vector<double>& scales,
                                   const Ints& sizes,
                                   const std::vector<double>& roi) {
  Expr x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const Ints shape, ShapeOf(x));
  BATON_ASSIGN_OR_RETURN(const DType dtype, ElementTypeOf(x));
  const int rank = static_cast<int>(shape.size());
  if (options.mode != "nearest" && options.mode != "linear" &&
      options.mode != "cubic") {
    return absl::UnimplementedError(
        absl::StrCat("the mode '", options.mode, "' is not supported"));
  }
  const bool crops = options.coordinates == "tf_crop_and_resize";
  if (crops && roi.size() != 2 * axes.size()) {
    return absl::InvalidArgumentError("roi does not fit the axes");
  }
  // Sums are made of floats.
  const DType compute =
      dtype.is_float() || options.mode == "nearest" ? dtype : DType::Float(32);
  if (compute != dtype) x = relay::Cast(std::move(x), compute);
  std::vector<std::optional<Expr>> outside(axes.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    const int axis = static_cast<int>(axes[i]);
    const int64_t in = shape[axis];
    const int64_t out = sizes[i];
    if (!(scales[i] > 0) || out < 0 || out > int64_t{1} << 24 || in < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("an axis of ", in, " elements cannot become one of ",
                       out, " with the scale ", scales[i]));
    }
    if (in == out && scales[i] == 1 && !crops) continue;
    const Taps taps = TapsOf(options, in, out, scales[i], crops ? roi[i] : 0,
                             crops ? roi[i + axes.size()] : 1);
    BATON_ASSIGN_OR_RETURN(x, ResizeAxis(x, axis, rank, taps, compute));
    if (crops && std::find(taps.is_outside.begin(), taps.is_outside.end(),
                           true) != taps.is_outside.end()) {
      BATON_ASSIGN_OR_RETURN(outside[i],
                             AlongAxis(std::vector<int>(taps.is_outside.begin(),
                                                        taps.is_outside.end()),
                                       rank - 1 - axis, DType::Bool()));
    }
  }
  for (const std::optional<Expr>& mask : outside) {
    if (!mask.has_value()) continue;
    x = relay::Where(
        *mask, relay::Const(node.Float("extrapolation_value", 0), compute),
        std::move(x));
  }
  if (compute != dtype) {
    x = relay::Cast(dtype.is_float() ? x : relay::Round(std::move(x)), dtype);
  }
  return One(std::move(x));
}

absl::StatusOr<Outputs> Resize(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(const Ints shape, ShapeOf(node.Input(0)));
  const int rank = static_cast<int>(shape.size());
  Options options;
  options.mode = node.String("mode", "nearest");
  const bool is_old = node.opset() < 11;  // data and scales only
  options.coordinates = node.String("coordinate_transformation_mode",
                                    is_old ? "asymmetric" : "half_pixel");
  options.nearest_mode =
      node.String("nearest_mode", is_old ? "floor" : "round_prefer_floor");
  options.cubic_a = node.Float("cubic_coeff_a", -0.75);
  options.exclude_outside = node.Int("exclude_outside", 0) != 0;
  options.antialias = node.Int("antialias", 0) != 0;
  if (options.mode == "bilinear") options.mode = "linear";
  Ints axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  if (std::optional<Ints> given = node.Ints("axes"); given.has_value()) {
    BATON_ASSIGN_OR_RETURN(axes, NormalAxes(*std::move(given), rank));
  }
  const int scales_input = is_old ? 1 : 2;
  std::vector<double> scales;
  if (node.HasInput(scales_input)) {
    BATON_ASSIGN_OR_RETURN(scales, node.ConstantFloats(scales_input));
  }
  Ints sizes;
  if (scales.empty() && !is_old) {
    BATON_ASSIGN_OR_RETURN(sizes, node.ConstantInts(3));
  }
  if ((sizes.empty() ? scales.size() : sizes.size()) != axes.size()) {
    return absl::InvalidArgumentError("sizes or scales do not fit the axes");
  }
  std::vector<double> roi;
  if (!is_old && node.HasInput(1) &&
      options.coordinates == "tf_crop_and_resize") {
    BATON_ASSIGN_OR_RETURN(roi, node.ConstantFloats(1));
  }
  if (sizes.empty()) {
    for (size_t i = 0; i < axes.size(); ++i) {
      double extent = static_cast<double>(shape[axes[i]]);
      if (roi.size() == 2 * axes.size()) {
        extent *= roi[i + axes.size()] - roi[i];
      }
      const double size = std::floor(extent * scales[i]);
      if (!(size >= 0 && size < 4e9)) {
        return absl::InvalidArgumentError("a scale is out of range");
      }
      sizes.push_back(static_cast<int64_t>(size));
    }
  } else {
    for (size_t i = 0; i < axes.size(); ++i) {
      scales.push_back(static_cast<double>(sizes[i]) /
                       static_cast<double>(shape[axes[i]]));
    }
    const std::string policy =
        node.String("keep_aspect_ratio_policy", "stretch");
    if (policy != "stretch" && !scales.empty()) {
      const double scale =
          policy == "not_larger"
              ? *std::min_element(scales.begin(), scales.end())
              : *std::max_element(scales.begin(), scales.end());
      for (size_t i = 0; i < axes.size(); ++i) {
        scales[i] = scale;
        sizes[i] = static_cast<int64_t>(
            std::floor(scale * static_cast<double>(shape[axes[i]]) + 0.5));
      }
    }
  }
  return ResizeAxes(node, options, axes, scales, sizes, roi);
}

absl::StatusOr<Outputs> Upsample(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(const Ints shape, ShapeOf(node.Input(0)));
  std::vector<double> scales = node.Floats("scales");
  if (node.opset() >= 9) {
    BATON_ASSIGN_OR_RETURN(scales, node.ConstantFloats(1));
  } else if (node.opset() < 7) {
    scales = {1, 1, node.Float("height_scale", 1),
              node.Float("width_scale", 1)};
  }
  if (scales.size() != shape.size()) {
    return absl::InvalidArgumentError("scales do not fit the data");
  }
  Options options;
  options.mode = node.String("mode", "nearest");
  if (options.mode == "bilinear") options.mode = "linear";
  options.coordinates = "asymmetric";
  options.nearest_mode = "floor";
  Ints axes(shape.size());
  std::iota(axes.begin(), axes.end(), 0);
  Ints sizes;
  for (size_t i = 0; i < scales.size(); ++i) {
    const double size = std::floor(static_cast<double>(shape[i]) * scales[i]);
    if (!(size >= 0 && size < 4e9)) {
      return absl::InvalidArgumentError("a scale is out of range");
    }
    sizes.push_back(static_cast<int64_t>(size));
  }
  return ResizeAxes(node, options, axes, scales, sizes, {});
}

BATON_ONNX_CONVERTERS({
    {"Resize", Resize, 10},
    {"Upsample", Upsample, 1, 9},
});

}  // namespace
}  // namespace baton::onnx
