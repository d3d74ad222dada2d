// Converters of Resize and Upsample. Along each axis, the elements of the
// result are sums of a few elements of the data. Positions and weights are
// constants, or computed from the extent if it is not known.
//
// image.resize1d to 3d would compute the same for any scale, rank and axes. But
// the reference's operators take only the size of the result and derive the
// scale from it, which differs if a size was rounded.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
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
#include "baton/ir/type.h"
#include "baton/onnx/converter.h"
#include "baton/onnx/ops/expect_shape.h"
#include "baton/onnx/ops/extents.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/dim_math.h"
#include "baton/relay/op/tensor/create.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/op/tensor/indexing.h"
#include "baton/relay/op/tensor/shape.h"

namespace baton::onnx {
namespace {

using relay::Add;
using relay::Divide;
using relay::Multiply;
using relay::Subtract;
using Ints = std::vector<int64_t>;

struct Options {
  std::string mode;         // nearest, linear, cubic
  std::string coordinates;  // coordinate_transformation_mode
  std::string nearest_mode;
  // Before opset 11: the nearest element is the one above where the result is
  // smaller than the data.
  bool is_old = false;
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

// True if positions depend on the extent of the result as a whole number; else
// it is that before it is rounded, as in ONNX's tests.
bool CountsWhole(const Options& options) {
  return options.coordinates == "tf_crop_and_resize" ||
         options.coordinates == "pytorch_half_pixel" ||
         options.coordinates == "half_pixel_symmetric";
}

// `out`: the extent of the result, see CountsWhole().
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
    const double adjustment = out / (scale * in);
    result += in / 2.0 * (1 - adjustment);
  }
  return result;
}

// Which element is the nearest is decided in float32, as ONNX Runtime does:
// what is half an element from two of them in the numbers that the model has
// (0.2, 1.5 / 0.6) is so there.
double InFloat32(double x) { return static_cast<float>(x); }

// As Coordinate, each step of which is rounded to float32.
double Coordinate32(const Options& options, int64_t i, double scale, int64_t in,
                    double out, double roi_begin, double roi_end) {
  const auto round = InFloat32;
  const double x = static_cast<double>(i);
  const double last = static_cast<double>(in - 1);
  if (options.coordinates == "align_corners") {
    return out > 1 ? round(round(x * last) / round(out - 1)) : 0;
  }
  if (options.coordinates == "tf_crop_and_resize") {
    if (out <= 1) return round(0.5 * round(roi_begin + roi_end) * last);
    const double part = round(round(x * round(roi_end - roi_begin)) * last);
    return round(round(roi_begin * last) + round(part / (out - 1)));
  }
  if (options.coordinates == "asymmetric") return round(x / round(scale));
  if (options.coordinates == "pytorch_half_pixel" && out <= 1) return 0;
  double middle = round((x + 0.5) / round(scale));
  if (options.coordinates == "half_pixel_symmetric") {
    const double whole = round(round(scale) * static_cast<double>(in));
    const double adjustment = round(out / whole);
    middle = round(round(in / 2.0 * round(1 - adjustment)) + middle);
  }
  return options.coordinates == "tf_half_pixel_for_nn" ? middle
                                                       : round(middle - 0.5);
}

int64_t Nearest(const std::string& mode, double x) {
  if (mode == "floor") return static_cast<int64_t>(std::floor(x));
  if (mode == "ceil") return static_cast<int64_t>(std::ceil(x));
  if (mode == "round_prefer_ceil") {
    return static_cast<int64_t>(std::floor(x + 0.5));
  }
  return static_cast<int64_t>(std::ceil(x - 0.5));
}

std::string NearestMode(const Options& options, double scale) {
  return options.is_old && scale < 1 ? "ceil" : options.nearest_mode;
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
  const std::string nearest_mode = NearestMode(options, scale);
  const double out_extent = CountsWhole(options)
                                ? static_cast<double>(out)
                                : scale * static_cast<double>(in);
  for (int64_t i = 0; i < out; ++i) {
    const auto coordinate =
        options.mode == "nearest" ? Coordinate32 : Coordinate;
    const double x =
        coordinate(options, i, scale, in, out_extent, roi_begin, roi_end);
    const double place =
        Coordinate32(options, i, scale, in, out_extent, roi_begin, roi_end);
    result.is_outside[i] = place < 0 || place > static_cast<double>(in - 1);
    if (options.mode == "nearest") {
      result.index[0][i] =
          std::clamp<int64_t>(Nearest(nearest_mode, x), 0, in - 1);
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
    const bool is_last = k + 1 == taps.index.size();
    if (std::all_of(taps.weight[k].begin(), taps.weight[k].end(),
                    [](double w) { return w == 0; }) &&
        (sum.defined() || !is_last)) {
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

// The sizes of an axis that is resized.
struct AxisSize {
  int axis = 0;
  Dim in;  // the extent of the data
  // Extent of the result over extent of the data. 0 if the model gives the
  // result's extent and the data's is not known: the quotient of both is
  // computed.
  double scale = 0;
  // The extent of the result; -1 if it is not known.
  int64_t out = -1;
  // The extent of the result if neither `scale` nor `out` is known: a scalar of
  // int64.
  Expr out_value;
  // The scale, a scalar of float64, if it is not the quotient of the extents.
  Expr scale_value;
};

Expr Float64(double value) {
  return relay::Const(Tensor::Scalar<double>(value));
}

// The type in which positions are computed where an extent is not known. See
// InFloat32.
DType PositionType(const Options& options) {
  return DType::Float(options.mode == "nearest" ? 32 : 64);
}

// True if element i of the result is element i / scale of the data, rounded
// down, for all extents.
bool RepeatsElements(const Options& options, double scale) {
  if (options.mode != "nearest" || scale != std::floor(scale)) return false;
  if (options.coordinates == "asymmetric") {
    return options.nearest_mode == "floor";
  }
  // The positions are (k + 1/2) / scale - 1/2 from an element, for k from 0 to
  // scale - 1: less than 1/2.
  return (options.coordinates == "half_pixel" ||
          options.coordinates == "half_pixel_symmetric" ||
          options.coordinates == "pytorch_half_pixel") &&
         (options.nearest_mode == "round_prefer_floor" ||
          options.nearest_mode == "round_prefer_ceil");
}

// `extent` times the float32 scalar `scale`, rounded down, as Scaled() computes
// it of numbers.
Expr ScaledExtent(const Expr& extent, const Expr& scale) {
  return relay::Cast(
      relay::Floor(Multiply(relay::Cast(extent, DType::Float(32)), scale)),
      DType::Int(64));
}

// True if positions and weights must be computed from known numbers.
bool NeedsNumbers(const Options& options) {
  return options.coordinates == "tf_crop_and_resize" ||
         ((options.antialias || options.exclude_outside) &&
          options.mode != "nearest");
}

// Coordinate() of all elements of the result, a vector. `in`, `scale`, `out`:
// scalars. All are of PositionType().
absl::StatusOr<Expr> Coordinates(const Options& options, Expr i, const Expr& in,
                                 const Expr& scale, const Expr& out) {
  const auto number = [&options](double value) {
    return Expr(relay::Const(value, PositionType(options)));
  };
  const Expr last = Subtract(in, number(1));
  const auto if_several = [&](Expr x) {
    return relay::Where(relay::Greater(out, number(1)), std::move(x),
                        number(0));
  };
  if (options.coordinates == "align_corners") {
    const Expr steps = relay::Maximum(Subtract(out, number(1)), number(1));
    return if_several(Divide(Multiply(std::move(i), last), steps));
  }
  if (options.coordinates == "asymmetric") return Divide(std::move(i), scale);
  const Expr middle = Divide(Add(std::move(i), number(0.5)), scale);
  if (options.coordinates == "tf_half_pixel_for_nn") return middle;
  const Expr half_pixel = Subtract(middle, number(0.5));
  if (options.coordinates == "half_pixel") return half_pixel;
  if (options.coordinates == "pytorch_half_pixel") {
    return relay::Where(relay::GreaterEqual(out, number(2)), half_pixel,
                        number(0));
  }
  if (options.coordinates == "half_pixel_symmetric") {
    const Expr adjustment = Divide(out, Multiply(scale, in));
    const Expr offset =
        Multiply(Multiply(in, number(0.5)), Subtract(number(1), adjustment));
    return Subtract(Add(offset, middle), number(0.5));
  }
  return absl::UnimplementedError(
      absl::StrCat("the mode '", options.coordinates, "' is not supported"));
}

Expr Nearest(const std::string& mode, Expr x) {
  if (mode == "floor") return relay::Floor(std::move(x));
  if (mode == "ceil") return relay::Ceil(std::move(x));
  if (mode == "round_prefer_ceil") {
    return relay::Floor(Add(std::move(x), Float64(0.5)));
  }
  return relay::Ceil(Subtract(std::move(x), Float64(0.5)));
}

// Cubic() of a distance from 0 to 1, and of one from 1 to 2.
Expr NearCubic(double a, const Expr& x) {
  return Add(
      Multiply(
          Multiply(Subtract(Multiply(Float64(a + 2), x), Float64(a + 3)), x),
          x),
      Float64(1));
}
Expr FarCubic(double a, const Expr& x) {
  const Expr inner = Multiply(
      Add(Multiply(Subtract(Multiply(Float64(a), x), Float64(5 * a)), x),
          Float64(8 * a)),
      x);
  return Subtract(inner, Float64(4 * a));
}

// Resizes an axis whose extent or size is not known.
absl::StatusOr<Expr> ResizeDynamicAxis(const Options& options, const Expr& x,
                                       int rank, const AxisSize& size,
                                       DType dtype) {
  if (size.scale != 0 && RepeatsElements(options, size.scale)) {
    return relay::Repeat(x, static_cast<int64_t>(size.scale), size.axis);
  }
  if (NeedsNumbers(options)) {
    return absl::UnimplementedError(
        "tf_crop_and_resize, antialias and exclude_outside need known extents");
  }
  const DType wide = DType::Float(64);
  const DType real = PositionType(options);
  const Expr extent = ExtentOf(x, size.axis);
  const Expr in = relay::Cast(extent, wide);
  // As TapsOf: the extent of the result before it is rounded.
  Expr scale = size.scale_value;
  Expr exact;
  Expr out = size.out_value;
  if (size.scale != 0) {
    scale = Float64(size.scale);
    exact = Multiply(in, scale);
    out = ScaledExtent(extent, relay::Const(size.scale, DType::Float(32)));
  } else if (scale.defined()) {
    exact = Multiply(in, scale);
  } else {
    exact = relay::Cast(out, wide);
    scale = Divide(exact, in);
  }
  const auto int64 = [](int64_t value) {
    return relay::Const(Tensor::Scalar<int64_t>(value));
  };
  const Expr elements =
      relay::Cast(relay::Arange(int64(0), out, int64(1), DType::Int(64)), real);
  const auto as_real = [real](const Expr& value) {
    return real == DType::Float(64) ? value : relay::Cast(value, real);
  };
  BATON_ASSIGN_OR_RETURN(
      const Expr at,
      Coordinates(options, elements, as_real(in), as_real(scale),
                  as_real(CountsWhole(options) ? Expr(relay::Cast(out, wide))
                                               : exact)));
  const Expr last = Subtract(extent, int64(1));
  const auto taken = [&](Expr position) {
    const Expr inside = relay::Minimum(
        relay::Maximum(relay::Cast(std::move(position), DType::Int(64)),
                       int64(0)),
        last);
    return relay::Take(x, inside, {.axis = size.axis});
  };
  if (options.mode == "nearest") {
    const Expr place = relay::Cast(at, wide);
    if (options.is_old && size.scale == 0) {
      return taken(relay::Where(relay::Less(scale, Float64(1)),
                                relay::Ceil(place),
                                Nearest(options.nearest_mode, place)));
    }
    return taken(Nearest(NearestMode(options, size.scale), place));
  }
  const Expr first = relay::Floor(at);
  const Expr rest = Subtract(at, first);  // from 0 to 1
  const Expr other = Subtract(Float64(1), rest);
  const double a = options.cubic_a;
  struct Tap {
    double offset;  // from `first`
    Expr weight;
  };
  std::vector<Tap> taps = {{0, other}, {1, rest}};
  if (options.mode == "cubic") {
    taps = {{-1, FarCubic(a, Add(rest, Float64(1)))},
            {0, NearCubic(a, rest)},
            {1, NearCubic(a, other)},
            {2, FarCubic(a, Add(other, Float64(1)))}};
  }
  Expr sum;
  for (const Tap& tap : taps) {
    Expr weight = relay::Cast(tap.weight, dtype);
    if (const int trailing = rank - 1 - size.axis; trailing > 0) {
      weight = relay::ExpandDims(std::move(weight), 1, trailing);
    }
    Expr part =
        Multiply(taken(Add(first, Float64(tap.offset))), std::move(weight));
    sum =
        sum.defined() ? Add(std::move(sum), std::move(part)) : std::move(part);
  }
  return sum;
}

// `roi`: empty, or the begins and then the ends of all sizes.
absl::StatusOr<Outputs> ResizeAxes(NodeContext& node, const Options& options,
                                   const std::vector<AxisSize>& sizes,
                                   const std::vector<double>& roi) {
  Expr x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(x));
  const DType dtype = type->dtype();
  const int rank = type->rank();
  if (options.mode != "nearest" && options.mode != "linear" &&
      options.mode != "cubic") {
    return absl::UnimplementedError(
        absl::StrCat("the mode '", options.mode, "' is not supported"));
  }
  const bool crops = options.coordinates == "tf_crop_and_resize";
  if (crops && roi.size() != 2 * sizes.size()) {
    return absl::InvalidArgumentError("roi does not fit the axes");
  }
  // Sums are made of floats.
  const DType compute =
      dtype.is_float() || options.mode == "nearest" ? dtype : DType::Float(32);
  if (compute != dtype) x = relay::Cast(std::move(x), compute);
  std::vector<Expr> outside;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const AxisSize& size = sizes[i];
    if (size.scale == 1 && !crops) continue;
    BATON_ASSIGN_OR_RETURN(x, node.Typed(std::move(x)));
    if (size.out < 0) {
      BATON_ASSIGN_OR_RETURN(
          x, ResizeDynamicAxis(options, x, rank, size, compute));
      continue;
    }
    const int64_t in = size.in.value();
    if (!(size.scale > 0) || size.out > int64_t{1} << 24 || in < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("an axis of ", in, " elements cannot become one of ",
                       size.out, " with the scale ", size.scale));
    }
    const Taps taps =
        TapsOf(options, in, size.out, size.scale, crops ? roi[i] : 0,
               crops ? roi[i + sizes.size()] : 1);
    BATON_ASSIGN_OR_RETURN(x, ResizeAxis(x, size.axis, rank, taps, compute));
    if (crops && std::find(taps.is_outside.begin(), taps.is_outside.end(),
                           true) != taps.is_outside.end()) {
      BATON_ASSIGN_OR_RETURN(outside.emplace_back(),
                             AlongAxis(std::vector<int>(taps.is_outside.begin(),
                                                        taps.is_outside.end()),
                                       rank - 1 - size.axis, DType::Bool()));
    }
  }
  for (const Expr& mask : outside) {
    x = relay::Where(
        mask, relay::Const(node.Float("extrapolation_value", 0), compute),
        std::move(x));
  }
  // Sums are cut off, not rounded, as those of the reference are.
  if (compute != dtype) x = relay::Cast(std::move(x), dtype);
  return One(std::move(x));
}

// An axis by a factor of its extent.
absl::StatusOr<AxisSize> Scaled(int axis, const Dim& in, double scale,
                                double cropped) {
  AxisSize result{.axis = axis, .in = in, .scale = scale};
  if (!(scale > 0 && scale < 4e9)) {
    return absl::InvalidArgumentError("a scale is out of range");
  }
  if (!in.is_const()) return result;
  // As ONNX's shape inference computes it: 11 * 9.272727 is 102.
  const double size = std::floor(
      InFloat32(InFloat32(InFloat32(static_cast<double>(in.value())) *
                          InFloat32(cropped)) *
                InFloat32(scale)));
  if (!(size >= 0 && size < 4e9)) {
    return absl::InvalidArgumentError("a scale is out of range");
  }
  result.out = static_cast<int64_t>(size);
  return result;
}

// Axes to sizes, which input 3 gives.
absl::StatusOr<std::vector<AxisSize>> SizesOfResize(NodeContext& node,
                                                    const Ints& axes) {
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type,
                         TensorTypeOf(node.Input(0)));
  BATON_RETURN_IF_ERROR(
      ExpectShape(node, 3, "sizes", {static_cast<int64_t>(axes.size())}));
  const absl::StatusOr<Ints> known = node.ConstantInts(3);
  const Dims elements =
      known.ok() ? Dims(known->begin(), known->end())
                 : node.Elements(3).value_or(Dims(axes.size(), Dim::Any()));
  if (elements.size() != axes.size()) {
    return absl::InvalidArgumentError(
        "sizes and scales must have one number for each resized axis");
  }
  std::vector<AxisSize> result;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int axis = static_cast<int>(axes[i]);
    AxisSize size{.axis = axis, .in = type->dim(axis)};
    if (relay::ProvablyEqual(elements[i], size.in)) {
      size.scale = 1;
      if (size.in.is_const()) size.out = size.in.value();
    } else if (elements[i].is_const() && size.in.is_const()) {
      size.out = elements[i].value();
      size.scale =
          static_cast<double>(size.out) / static_cast<double>(size.in.value());
    } else if (elements[i].is_const()) {
      size.out_value =
          relay::Const(Tensor::Scalar<int64_t>(elements[i].value()));
    } else {
      size.out_value =
          relay::Take(AsInt64(node.Input(3)),
                      relay::Const(Tensor::Scalar<int64_t>(i)), {.axis = 0});
    }
    result.push_back(std::move(size));
  }
  const std::string policy = node.String("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch" || result.empty()) return result;
  const bool is_smallest = policy == "not_larger";
  const bool is_known =
      std::all_of(result.begin(), result.end(),
                  [](const AxisSize& size) { return size.out >= 0; });
  if (!is_known) {
    // A common size for all axes, computed.
    Expr common;
    std::vector<Expr> extents;
    for (const AxisSize& size : result) {
      extents.push_back(
          relay::Cast(ExtentOf(node.Input(0), size.axis), DType::Float(64)));
      const Expr wanted = size.scale != 0
                              ? Multiply(extents.back(), Float64(size.scale))
                              : relay::Cast(size.out_value, DType::Float(64));
      const Expr scale = Divide(wanted, extents.back());
      common = !common.defined() ? scale
               : is_smallest     ? relay::Minimum(common, scale)
                                 : relay::Maximum(common, scale);
    }
    for (size_t i = 0; i < result.size(); ++i) {
      AxisSize& size = result[i];
      size.scale = 0;
      size.out = -1;
      size.scale_value = common;
      size.out_value = relay::Cast(
          relay::Floor(Add(Multiply(common, extents[i]), Float64(0.5))),
          DType::Int(64));
    }
    return result;
  }
  std::vector<double> scales;
  for (const AxisSize& size : result) scales.push_back(size.scale);
  const double scale = is_smallest
                           ? *std::min_element(scales.begin(), scales.end())
                           : *std::max_element(scales.begin(), scales.end());
  for (AxisSize& size : result) {
    size.scale = scale;
    size.out = static_cast<int64_t>(
        std::floor(scale * static_cast<double>(size.in.value()) + 0.5));
  }
  return result;
}

// Axes by factors that input `input` computes.
absl::StatusOr<std::vector<AxisSize>> ComputedScales(NodeContext& node,
                                                     const Ints& axes,
                                                     int input) {
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type,
                         TensorTypeOf(node.Input(0)));
  BATON_RETURN_IF_ERROR(
      ExpectShape(node, input, "scales", {static_cast<int64_t>(axes.size())}));
  std::vector<AxisSize> result;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int axis = static_cast<int>(axes[i]);
    AxisSize size{.axis = axis, .in = type->dim(axis)};
    const Expr scale = relay::Cast(
        relay::Take(node.Input(input), relay::Const(Tensor::Scalar<int64_t>(i)),
                    {.axis = 0}),
        DType::Float(32));
    size.scale_value = relay::Cast(scale, DType::Float(64));
    size.out_value = ScaledExtent(ExtentOf(node.Input(0), axis), scale);
    result.push_back(std::move(size));
  }
  return result;
}

absl::StatusOr<Outputs> Resize(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type,
                         TensorTypeOf(node.Input(0)));
  const int rank = type->rank();
  Options options;
  options.mode = node.String("mode", "nearest");
  const bool is_old = node.opset() < 11;  // data and scales only
  options.is_old = is_old;
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
    BATON_ASSIGN_OR_RETURN(axes, DistinctAxes(*std::move(given), rank));
  }
  const int scales_input = is_old ? 1 : 2;
  std::vector<double> scales;
  bool computes_scales = false;
  if (node.HasInput(scales_input)) {
    absl::StatusOr<std::vector<double>> known =
        node.ConstantFloats(scales_input);
    if (known.ok()) {
      scales = *std::move(known);
    } else if (NeedsNumbers(options)) {
      return known.status();
    } else {
      // An empty vector stands for none.
      BATON_ASSIGN_OR_RETURN(const TensorTypeNode* given,
                             TensorTypeOf(node.Input(scales_input)));
      computes_scales = given->rank() != 1 || !given->dim(0).is_const(0);
    }
  }
  std::vector<double> roi;
  if (!is_old && node.HasInput(1) &&
      options.coordinates == "tf_crop_and_resize") {
    BATON_ASSIGN_OR_RETURN(roi, node.ConstantFloats(1));
  }
  if (node.HasInput(3) && (computes_scales || !scales.empty())) {
    return absl::InvalidArgumentError("both scales and sizes are given");
  }
  std::vector<AxisSize> sizes;
  if (computes_scales) {
    BATON_ASSIGN_OR_RETURN(sizes, ComputedScales(node, axes, scales_input));
    return ResizeAxes(node, options, sizes, roi);
  }
  if (scales.empty() && !is_old) {
    if (NeedsNumbers(options)) {
      BATON_RETURN_IF_ERROR(node.ConstantInts(3).status());
    }
    BATON_ASSIGN_OR_RETURN(sizes, SizesOfResize(node, axes));
    return ResizeAxes(node, options, sizes, roi);
  }
  if (scales.size() != axes.size()) {
    return absl::InvalidArgumentError(
        "sizes and scales must have one number for each resized axis");
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    const bool crops = roi.size() == 2 * axes.size();
    const int axis = static_cast<int>(axes[i]);
    BATON_ASSIGN_OR_RETURN(sizes.emplace_back(),
                           Scaled(axis, type->dim(axis), scales[i],
                                  crops ? roi[i + axes.size()] - roi[i] : 1));
  }
  return ResizeAxes(node, options, sizes, roi);
}

absl::StatusOr<Outputs> Upsample(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type,
                         TensorTypeOf(node.Input(0)));
  std::vector<double> scales = node.Floats("scales");
  bool computes_scales = false;
  if (node.opset() >= 9) {
    absl::StatusOr<std::vector<double>> known = node.ConstantFloats(1);
    computes_scales = !known.ok();
    if (known.ok()) scales = *std::move(known);
  } else if (node.opset() < 7) {
    scales = {1, 1, node.Float("height_scale", 1),
              node.Float("width_scale", 1)};
  }
  if (!computes_scales && static_cast<int>(scales.size()) != type->rank()) {
    return absl::InvalidArgumentError(
        "scales must have one number for each axis of the data");
  }
  Options options;
  options.mode = node.String("mode", "nearest");
  if (options.mode == "bilinear") options.mode = "linear";
  options.coordinates = "asymmetric";
  options.nearest_mode = "floor";
  options.is_old = true;
  std::vector<AxisSize> sizes;
  if (computes_scales) {
    Ints axes(type->rank());
    std::iota(axes.begin(), axes.end(), 0);
    BATON_ASSIGN_OR_RETURN(sizes, ComputedScales(node, axes, 1));
    return ResizeAxes(node, options, sizes, {});
  }
  for (int i = 0; i < type->rank(); ++i) {
    BATON_ASSIGN_OR_RETURN(sizes.emplace_back(),
                           Scaled(i, type->dim(i), scales[i], 1));
  }
  return ResizeAxes(node, options, sizes, {});
}

BATON_ONNX_CONVERTERS({
    {"Resize", Resize, 10},
    {"Upsample", Upsample, 1, 9},
});

}  // namespace
}  // namespace baton::onnx
