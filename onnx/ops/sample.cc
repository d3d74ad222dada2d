// Converters of operators that read between the pixels of images. GridSample:
// gathers of the pixels around each point, times their weights. DeformConv: a
// product with such points. AffineGrid: the positions of the points. RoiAlign
// and MaxRoiPool: means and maxima over parts of boxes.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/onnx/converter.h"
#include "baton/onnx/ops/extents.h"
#include "baton/onnx/ops/matrix_products.h"
#include "baton/onnx/ops/spatial_windows.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/dim_math.h"
#include "baton/relay/op/nn/activation.h"
#include "baton/relay/op/tensor/create.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/op/tensor/indexing.h"
#include "baton/relay/op/tensor/reduce.h"
#include "baton/relay/op/tensor/shape.h"
#include "baton/relay/op/vision/vision.h"

namespace baton::onnx {
namespace {

using relay::Add;
using relay::Multiply;
using relay::Subtract;
using Ints = std::vector<int64_t>;

// The limit of the points in constants that the importer makes.
constexpr int64_t kMaxPoints = int64_t{1} << 24;

// The limit of the pixels of an image.
constexpr int64_t kMaxPixels = int64_t{1} << 40;

// Reads images (n, c, spatial axes) at points between their pixels. Coordinates
// count pixels along one spatial axis, in the order of the axes; all are
// (n, 1, points), or broadcast to it.
class Sampler {
 public:
  enum class Padding { kZeros, kBorder, kReflection };
  enum class Mode { kNearest, kLinear, kCubic };

  // `images` is typed. `points`: -1 if not known.
  static absl::StatusOr<Sampler> Create(NodeContext& node, const Expr& images,
                                        int64_t points, Padding padding,
                                        bool align_corners);

  // (n, c, points).
  absl::StatusOr<Expr> Sample(const std::vector<Expr>& coordinates, Mode mode);
  // A coordinate, typed, inside of the image, as the padding says.
  Expr Inside(const Expr& x, int axis) const;
  // The extent of a spatial axis, plus `more`, times `factor`, in the element
  // type of `like`, which is typed.
  Expr Extent(int axis, int64_t more, const Expr& like,
              double factor = 1) const;

 private:
  Sampler(NodeContext& node, Expr images, Padding padding, bool align_corners)
      : node_(node),
        images_(std::move(images)),
        padding_(padding),
        align_corners_(align_corners) {}

  int axes() const { return static_cast<int>(shape_.size()) - 2; }
  // Clips `x` to the positions of the pixels of an axis, from 0 to the last.
  // `like` is typed and has the element type of `x`.
  Expr Clipped(Expr x, int axis, const Expr& like) const;
  Expr Scalar(double value, const Expr& like) const {
    return ScalarLike(value, like);
  }
  // The pixels at whole coordinates.
  absl::StatusOr<Expr> At(const std::vector<Expr>& coordinates);
  // The weights of the pixels around a point that is `t` behind the second.
  std::vector<Expr> CubicWeights(const Expr& t) const;

  NodeContext& node_;
  Expr images_;
  Expr data_;           // (n, c, pixels)
  Ints shape_;          // of the images; -1 is not known
  int64_t points_ = 0;  // -1 if not known
  Padding padding_;
  bool align_corners_;
};

absl::StatusOr<Sampler> Sampler::Create(NodeContext& node, const Expr& images,
                                        int64_t points, Padding padding,
                                        bool align_corners) {
  Sampler result(node, images, padding, align_corners);
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(images));
  if (type->rank() < 3 || type->rank() > 5) {
    return absl::UnimplementedError("only images of one to three axes");
  }
  for (int i = 0; i < type->rank(); ++i) {
    const Dim& dim = type->dim(i);
    result.shape_.push_back(dim.is_const() ? dim.value() : -1);
  }
  int64_t pixels = 1;  // -1 if not known
  for (size_t i = 2; i < result.shape_.size(); ++i) {
    const int64_t extent = result.shape_[i];
    if (extent < 0 || pixels < 0) {
      pixels = -1;
      continue;
    }
    if (extent < 1 || extent > kMaxPixels / pixels) {
      return absl::InvalidArgumentError("the images are empty or too large");
    }
    pixels *= extent;
  }
  BATON_ASSIGN_OR_RETURN(result.data_,
                         node.Typed(relay::Reshape(images, {0, 0, pixels})));
  result.points_ = points;
  return result;
}

Expr Sampler::Extent(int axis, int64_t more, const Expr& like,
                     double factor) const {
  if (const int64_t extent = shape_[axis + 2]; extent >= 0) {
    return Scalar(static_cast<double>(extent + more) * factor, like);
  }
  const Expr extent =
      relay::Cast(ExtentOf(images_, axis + 2), like->tensor_type()->dtype());
  Expr result = Add(extent, Scalar(static_cast<double>(more), like));
  if (factor != 1) result = Multiply(std::move(result), Scalar(factor, like));
  return result;
}

Expr Sampler::Clipped(Expr x, int axis, const Expr& like) const {
  if (const int64_t extent = shape_[axis + 2]; extent >= 0) {
    return relay::Clip(std::move(x), 0, static_cast<double>(extent - 1));
  }
  return relay::Minimum(relay::Maximum(std::move(x), Scalar(0, like)),
                        Extent(axis, -1, like));
}

Expr Sampler::Inside(const Expr& x, int axis) const {
  if (padding_ != Padding::kReflection) return Clipped(x, axis, x);
  const double low = align_corners_ ? 0 : -0.5;
  const int64_t less = align_corners_ ? -1 : 0;
  const Expr only_pixel = Multiply(x, Scalar(0, x));
  const int64_t extent = shape_[axis + 2];
  if (extent >= 0 && extent + less <= 0) return only_pixel;
  const Expr span = Extent(axis, less, x);
  const Expr period = Extent(axis, less, x, 2);
  // A wave of triangles.
  const Expr distance = relay::Abs(Subtract(x, Scalar(low, x)));
  const Expr phase =
      Subtract(distance,
               Multiply(relay::Floor(relay::Divide(distance, period)), period));
  Expr result =
      Add(Subtract(span, relay::Abs(Subtract(phase, span))), Scalar(low, x));
  if (extent < 0 && align_corners_) {
    result = relay::Where(relay::Greater(span, Scalar(0, x)), std::move(result),
                          only_pixel);
  }
  return Clipped(std::move(result), axis, x);
}

absl::StatusOr<Expr> Sampler::At(const std::vector<Expr>& coordinates) {
  Expr is_inside;
  Expr index;
  for (int i = 0; i < axes(); ++i) {
    BATON_ASSIGN_OR_RETURN(const Expr x, node_.Typed(coordinates[i]));
    if (padding_ == Padding::kZeros) {
      Expr within = relay::LogicalAnd(relay::GreaterEqual(x, Scalar(0, x)),
                                      relay::LessEqual(x, Extent(i, -1, x)));
      is_inside = is_inside.defined()
                      ? relay::LogicalAnd(std::move(is_inside), within)
                      : std::move(within);
    }
    // A NaN is no position; programs differ in the integer that it becomes.
    BATON_ASSIGN_OR_RETURN(
        const Expr whole,
        node_.Typed(relay::Cast(Inside(x, i), DType::Int(64))));
    const Expr at = Clipped(whole, i, whole);
    index = index.defined()
                ? Add(Multiply(std::move(index), ExtentOf(images_, i + 2)), at)
                : at;
  }
  BATON_ASSIGN_OR_RETURN(index, node_.Typed(std::move(index)));
  if (shape_[0] >= 0 && shape_[1] >= 0 && points_ >= 0) {
    index =
        relay::BroadcastTo(std::move(index), {shape_[0], shape_[1], points_});
  } else {
    const Expr points = relay::ExpandDims(ExtentOf(index, 2), 0);
    const Expr outer = relay::StridedSlice(ShapeVector(data_), {0}, {2});
    BATON_ASSIGN_OR_RETURN(const Expr wanted,
                           node_.Typed(relay::Concatenate({outer, points}, 0)));
    index = BroadcastTo(std::move(index), wanted);
  }
  Expr pixels = relay::Gather(data_, 2, std::move(index));
  if (is_inside.defined()) {
    pixels = relay::Where(is_inside, pixels, Scalar(0, data_));
  }
  return node_.Typed(std::move(pixels));
}

std::vector<Expr> Sampler::CubicWeights(const Expr& t) const {
  constexpr double kA = -0.75;
  const auto scalar = [&](double value) { return Scalar(value, t); };
  const auto near = [&](const Expr& x) {  // of a pixel less than one away
    return Add(
        Multiply(
            Multiply(Subtract(Multiply(scalar(kA + 2), x), scalar(kA + 3)), x),
            x),
        scalar(1));
  };
  const auto far = [&](const Expr& x) {  // less than two
    const Expr inner = Subtract(Multiply(scalar(kA), x), scalar(5 * kA));
    return Subtract(Multiply(Add(Multiply(inner, x), scalar(8 * kA)), x),
                    scalar(4 * kA));
  };
  return {far(Add(t, scalar(1))), near(t), near(Subtract(scalar(1), t)),
          far(Subtract(scalar(2), t))};
}

absl::StatusOr<Expr> Sampler::Sample(const std::vector<Expr>& coordinates,
                                     Mode mode) {
  if (mode == Mode::kNearest) {
    std::vector<Expr> rounded;
    for (const Expr& x : coordinates) rounded.push_back(relay::Round(x));
    return At(rounded);
  }
  // The pixels around a point, along each axis: where they are, and their
  // weights.
  std::vector<std::vector<Expr>> positions(axes());
  std::vector<std::vector<Expr>> weights(axes());
  size_t combinations = 1;
  for (int i = 0; i < axes(); ++i) {
    BATON_ASSIGN_OR_RETURN(const Expr base,
                           node_.Typed(relay::Floor(coordinates[i])));
    BATON_ASSIGN_OR_RETURN(const Expr t,
                           node_.Typed(Subtract(coordinates[i], base)));
    const bool is_cubic = mode == Mode::kCubic;
    weights[i] = is_cubic ? CubicWeights(t)
                          : std::vector<Expr>{Subtract(Scalar(1, t), t), t};
    for (size_t k = 0; k < weights[i].size(); ++k) {
      const double offset = static_cast<double>(k) - (is_cubic ? 1 : 0);
      positions[i].push_back(Add(base, Scalar(offset, base)));
    }
    combinations *= weights[i].size();
  }
  Expr result;
  for (size_t c = 0; c < combinations; ++c) {
    std::vector<Expr> at(axes());
    Expr weight;
    size_t rest = c;
    for (int i = axes() - 1; i >= 0; --i) {  // the last axis first
      const size_t k = rest % weights[i].size();
      rest /= weights[i].size();
      at[i] = positions[i][k];
      weight = weight.defined() ? Multiply(weights[i][k], std::move(weight))
                                : weights[i][k];
    }
    BATON_ASSIGN_OR_RETURN(Expr pixels, At(at));
    BATON_ASSIGN_OR_RETURN(weight, node_.Typed(std::move(weight)));
    if (const DType dtype = data_->tensor_type()->dtype();
        weight->tensor_type()->dtype() != dtype) {
      weight = relay::Cast(std::move(weight), dtype);
    }
    Expr part = Multiply(std::move(pixels), std::move(weight));
    result = result.defined() ? Add(std::move(result), std::move(part))
                              : std::move(part);
  }
  return result;
}

// --- GridSample ------------------------------------------------------------

// The element type in which images of `dtype` are interpolated.
absl::StatusOr<DType> SampledType(DType dtype, Sampler::Mode mode) {
  if (dtype.is_bool()) {
    if (mode == Sampler::Mode::kNearest) return DType::UInt(8);
    return absl::InvalidArgumentError(
        "bools have no values between them; the mode nearest takes them");
  }
  if (dtype.is_float()) return dtype.bits() < 32 ? DType::Float(32) : dtype;
  if (mode == Sampler::Mode::kNearest) return dtype;
  return dtype.bits() < 32 ? DType::Float(32) : DType::Float(64);
}

absl::StatusOr<Expr> SampledAtGrid(NodeContext& node, const Expr& images,
                                   const Expr& grid, Sampler::Mode mode) {
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(images));
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* grid_type, TensorTypeOf(grid));
  const int rank = type->rank();
  if (rank < 3 || grid_type->rank() != rank ||
      relay::ProvablyDiffer(grid_type->dim(0), type->dim(0)) ||
      relay::ProvablyDiffer(grid_type->dim(rank - 1), Dim(rank - 2))) {
    return absl::InvalidArgumentError("the grid does not fit the images");
  }
  const int axes = rank - 2;
  const std::string padding_name = node.String("padding_mode", "zeros");
  Sampler::Padding padding = Sampler::Padding::kZeros;
  if (padding_name == "border") {
    padding = Sampler::Padding::kBorder;
  } else if (padding_name == "reflection") {
    padding = Sampler::Padding::kReflection;
  } else if (padding_name != "zeros") {
    return absl::InvalidArgumentError(
        absl::StrCat("the padding_mode '", padding_name,
                     "' is none of zeros, border and reflection"));
  }
  const bool align_corners = node.Int("align_corners", 0) != 0;
  int64_t points = 1;
  bool has_none = false;
  for (int i = 0; i < axes; ++i) {
    const Dim& dim = grid_type->dim(i + 1);
    if (!dim.is_const()) {
      points = -1;
      break;
    }
    if (dim.value() > kMaxPixels / points) {
      return absl::InvalidArgumentError("the grid is too large");
    }
    has_none = has_none || dim.value() == 0;
    points = std::max<int64_t>(points * dim.value(), 1);
  }
  if (has_none && points > 0) points = 0;
  BATON_ASSIGN_OR_RETURN(
      Sampler sampler,
      Sampler::Create(node, images, points, padding, align_corners));
  std::vector<Expr> coordinates(axes);
  for (int i = 0; i < axes; ++i) {
    // The grid names the last axis first, and counts from -1 to 1.
    BATON_ASSIGN_OR_RETURN(
        const Expr normal,
        node.Typed(relay::Reshape(
            relay::Take(grid,
                        relay::Const(Tensor::Scalar<int64_t>(axes - 1 - i)),
                        {.axis = axes + 1}),
            {0, 1, points})));
    const auto scalar = [&](double value) { return ScalarLike(value, normal); };
    const Expr from_zero = Add(normal, scalar(1));
    Expr x = Multiply(from_zero,
                      sampler.Extent(i, align_corners ? -1 : 0, normal, 0.5));
    if (!align_corners) x = Subtract(std::move(x), scalar(0.5));
    BATON_ASSIGN_OR_RETURN(x, node.Typed(std::move(x)));
    // A cubic sample moves each of its pixels inside separately, not the point.
    if (padding != Sampler::Padding::kZeros && mode != Sampler::Mode::kCubic) {
      x = sampler.Inside(x, i);
    }
    BATON_ASSIGN_OR_RETURN(coordinates[i], node.Typed(std::move(x)));
  }
  BATON_ASSIGN_OR_RETURN(Expr result, sampler.Sample(coordinates, mode));
  if (points < 0 || has_none) {
    const Expr outer = relay::StridedSlice(ShapeVector(images), {0}, {2});
    const Expr spatial =
        relay::StridedSlice(ShapeVector(grid), {1}, {axes + 1});
    return Expr(relay::Call(
        BATON_OP("dyn.reshape"),
        {std::move(result), relay::Concatenate({outer, spatial}, 0)},
        Attrs::Make(relay::ReshapeAttrs{.allowzero = true})));
  }
  Ints result_shape = {0, 0};
  for (int i = 0; i < 2; ++i) {
    if (type->dim(i).is_const()) result_shape[i] = type->dim(i).value();
  }
  for (int i = 0; i < axes; ++i) {
    result_shape.push_back(grid_type->dim(i + 1).value());
  }
  return relay::Reshape(std::move(result), std::move(result_shape));
}

absl::StatusOr<Outputs> GridSample(NodeContext& node) {
  Expr images = node.Input(0);
  Expr grid = node.Input(1);
  const std::string name = node.String("mode", "bilinear");
  Sampler::Mode mode = Sampler::Mode::kLinear;
  if (name == "nearest") {
    mode = Sampler::Mode::kNearest;
  } else if (name == "bicubic" || name == "cubic") {
    mode = Sampler::Mode::kCubic;
  } else if (name != "bilinear" && name != "linear") {
    return absl::InvalidArgumentError(absl::StrCat(
        "the mode '", name, "' is none of linear, nearest and cubic"));
  }
  BATON_ASSIGN_OR_RETURN(const DType dtype, ElementTypeOf(images));
  BATON_ASSIGN_OR_RETURN(const DType compute, SampledType(dtype, mode));
  if (compute != dtype) {
    BATON_ASSIGN_OR_RETURN(images, node.Typed(relay::Cast(images, compute)));
  }
  BATON_ASSIGN_OR_RETURN(const DType grid_dtype, ElementTypeOf(grid));
  if (grid_dtype.bits() < 32) {
    // Few positions between pixels are numbers of half precision.
    BATON_ASSIGN_OR_RETURN(grid,
                           node.Typed(relay::Cast(grid, DType::Float(32))));
  }
  BATON_ASSIGN_OR_RETURN(Expr result, SampledAtGrid(node, images, grid, mode));
  if (compute != dtype) result = relay::Cast(std::move(result), dtype);
  return One(std::move(result));
}

// --- DeformConv ------------------------------------------------------------

// The samples at the positions that the offsets move, times the weights.
absl::StatusOr<Outputs> DeformConv(NodeContext& node) {
  const Expr& x = node.Input(0);
  const Expr& weight = node.Input(1);
  const Expr& offset = node.Input(2);
  // -1 is a batch that is not known, also for reshapes.
  BATON_ASSIGN_OR_RETURN(const Ints shape, ShapeOfBatch(x, -1));
  BATON_ASSIGN_OR_RETURN(const Ints kernel, ShapeOf(weight));
  BATON_ASSIGN_OR_RETURN(const Ints offsets, ShapeOfBatch(offset, -1));
  BATON_ASSIGN_OR_RETURN(const DType dtype, ElementTypeOf(x));
  BATON_ASSIGN_OR_RETURN(const Window window,
                         ReadWindow(node, x, weight, false));
  const int64_t groups = node.Int("group", 1);
  const int64_t offset_groups = node.Int("offset_group", 1);
  const int axes = static_cast<int>(window.kernel.size());
  const auto rank = static_cast<size_t>(axes) + 2;
  if (kernel.size() != rank || offsets.size() != rank || groups < 1 ||
      offset_groups < 1 || shape[1] % groups != 0 ||
      shape[1] % offset_groups != 0 || kernel[0] % groups != 0 ||
      kernel[1] != shape[1] / groups ||
      (offsets[0] != shape[0] && offsets[0] >= 0 && shape[0] >= 0)) {
    return absl::InvalidArgumentError("the shapes do not fit each other");
  }
  int64_t elements = 1;  // of the kernel
  int64_t points = 1;    // of the result
  for (int i = 0; i < axes; ++i) {
    if (window.kernel[i] != kernel[i + 2]) {
      return absl::InvalidArgumentError(
          "kernel_shape differs from the extents of the kernel");
    }
    const int64_t extent = offsets[i + 2];
    if (kernel[i + 2] < 1 || kernel[i + 2] > kMaxPoints / elements ||
        extent < 1 || extent > kMaxPoints / points) {
      return absl::InvalidArgumentError(
          "the kernel or the offsets are empty or too large");
    }
    elements *= kernel[i + 2];
    points *= extent;
  }
  if (elements > kMaxPoints / points ||
      offsets[1] / axes / elements != offset_groups ||
      offsets[1] % (axes * elements) != 0) {
    return absl::InvalidArgumentError(
        "the offsets have the wrong number of channels");
  }
  const int64_t images = shape[0] < 0 ? -1 : shape[0] * offset_groups;
  // Each offset group is an image of its own.
  Ints split = {images, shape[1] / offset_groups};
  split.insert(split.end(), shape.begin() + 2, shape.end());
  BATON_ASSIGN_OR_RETURN(const Expr data,
                         node.Typed(relay::Reshape(x, std::move(split))));
  BATON_ASSIGN_OR_RETURN(
      Sampler sampler,
      Sampler::Create(node, data, elements * points, Sampler::Padding::kZeros,
                      /*align_corners=*/true));
  const Expr moved = relay::Reshape(offset, {images, elements, axes, points});
  std::vector<Expr> coordinates;
  for (int i = 0; i < axes; ++i) {
    int64_t kernel_step = 1;
    int64_t point_step = 1;
    for (int k = i + 1; k < axes; ++k) {
      kernel_step *= kernel[k + 2];
      point_step *= offsets[k + 2];
    }
    BATON_ASSIGN_OR_RETURN(MutableTensor base,
                           MutableTensor::Create(dtype, {1, elements, points}));
    VisitDType(dtype, [&]<typename T>() {
      for (int64_t e = 0; e < elements; ++e) {
        for (int64_t p = 0; p < points; ++p) {
          base.span<T>()[e * points + p] = static_cast<T>(static_cast<double>(
              p / point_step % offsets[i + 2] * window.strides[i] -
              window.pads[i] +
              e / kernel_step % kernel[i + 2] * window.dilations[i]));
        }
      }
    });
    const Expr shift = relay::Squeeze(
        relay::StridedSlice(moved, {i}, {i + 1}, {.axes = Ints{2}}), Ints{2});
    BATON_ASSIGN_OR_RETURN(
        Expr at, node.Typed(relay::Reshape(
                     Add(shift, relay::Const(std::move(base).Freeze())),
                     {images, 1, elements * points})));
    coordinates.push_back(std::move(at));
  }
  BATON_ASSIGN_OR_RETURN(Expr samples,
                         sampler.Sample(coordinates, Sampler::Mode::kLinear));
  if (node.HasInput(4)) {
    samples =
        Multiply(std::move(samples),
                 relay::Reshape(node.Input(4), {images, 1, elements * points}));
  }
  const int64_t rows = kernel[1] * elements;
  BATON_ASSIGN_OR_RETURN(
      const Expr columns,
      node.Typed(relay::Reshape(std::move(samples),
                                {shape[0], groups, rows, points})));
  BATON_ASSIGN_OR_RETURN(const Expr weights,
                         node.Typed(relay::Reshape(
                             weight, {1, groups, kernel[0] / groups, rows})));
  BATON_ASSIGN_OR_RETURN(Expr result,
                         MatrixProduct(node, weights, columns, DType()));
  Ints result_shape = {shape[0], kernel[0]};
  result_shape.insert(result_shape.end(), offsets.begin() + 2, offsets.end());
  result = relay::Reshape(std::move(result), std::move(result_shape));
  if (node.HasInput(3)) {
    result = relay::nn::BiasAdd(std::move(result), node.Input(3));
  }
  return One(std::move(result));
}

// --- AffineGrid ------------------------------------------------------------

// The coordinates of the pixels of an axis of `extent` elements, a scalar of
// int64, from -1 to 1.
Expr NormalCoordinates(const Expr& extent, DType dtype, bool align_corners) {
  const auto int64 = [](int64_t value) {
    return relay::Const(Tensor::Scalar<int64_t>(value));
  };
  const auto real = [dtype](double value) {
    return relay::Const(value, dtype);
  };
  const Expr at = relay::Cast(
      relay::Arange(int64(0), extent, int64(1), DType::Int(64)), dtype);
  if (align_corners) {
    const Expr steps = relay::Maximum(Subtract(extent, int64(1)), int64(1));
    return Subtract(
        relay::Divide(Multiply(real(2), at), relay::Cast(steps, dtype)),
        real(1));
  }
  return Subtract(relay::Divide(Add(Multiply(real(2), at), real(1)),
                                relay::Cast(extent, dtype)),
                  real(1));
}

// AffineGrid of a size that is computed.
absl::StatusOr<Outputs> AffineGridDynamic(NodeContext& node) {
  const Expr& theta = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const DType dtype, ElementTypeOf(theta));
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type,
                         TensorTypeOf(node.Input(1)));
  if (type->rank() != 1 ||
      (!type->dim(0).is_const(4) && !type->dim(0).is_const(5))) {
    // The rank of the result depends on the value.
    return node.ConstantInts(1).status();
  }
  const int axes = static_cast<int>(type->dim(0).value()) - 2;
  const bool align_corners = node.Int("align_corners", 0) != 0;
  const Expr size = AsInt64(node.Input(1));
  BATON_ASSIGN_OR_RETURN(const Expr spatial, node.Typed(relay::StridedSlice(
                                                 size, {2}, {axes + 2})));
  std::vector<Expr> columns;  // x, y, (z,) 1
  for (int i = axes - 1; i >= 0; --i) {
    Expr at = NormalCoordinates(
        relay::Take(spatial, relay::Const(Tensor::Scalar<int64_t>(i)),
                    {.axis = 0}),
        dtype, align_corners);
    if (i + 1 < axes) at = relay::ExpandDims(std::move(at), 1, axes - 1 - i);
    columns.push_back(
        relay::ExpandDims(BroadcastTo(std::move(at), spatial), axes));
  }
  columns.push_back(
      relay::ExpandDims(BroadcastTo(relay::Const(1.0, dtype), spatial), axes));
  BATON_ASSIGN_OR_RETURN(
      const Expr pixels,
      node.Typed(relay::Reshape(relay::Concatenate(std::move(columns), axes),
                                {-1, axes + 1})));
  BATON_ASSIGN_OR_RETURN(const Expr map,
                         node.Typed(relay::Transpose(theta, Ints{0, 2, 1})));
  BATON_ASSIGN_OR_RETURN(Expr result,
                         MatrixProduct(node, pixels, map, DType()));
  return One(
      relay::Call(BATON_OP("dyn.reshape"),
                  {std::move(result),
                   relay::Concatenate({relay::ExpandDims(ExtentOf(theta, 0), 0),
                                       spatial, VectorConstant({axes})},
                                      0)},
                  Attrs::Make(relay::ReshapeAttrs{.allowzero = true})));
}

// The homogeneous coordinates of the pixels, as a matrix, times that of the
// map.
absl::StatusOr<Outputs> AffineGrid(NodeContext& node) {
  const Expr& theta = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const DType dtype, ElementTypeOf(theta));
  const absl::StatusOr<Ints> known_size = node.ConstantInts(1);
  if (!known_size.ok()) return AffineGridDynamic(node);
  const Ints& size = *known_size;
  if (size.size() != 4 && size.size() != 5) {
    return absl::InvalidArgumentError("size must have 4 or 5 elements");
  }
  const bool align_corners = node.Int("align_corners", 0) != 0;
  const size_t axes = size.size() - 2;
  int64_t points = 1;
  for (size_t i = 0; i < axes; ++i) {
    if (size[i + 2] < 1 || size[i + 2] > kMaxPoints / points) {
      return absl::UnimplementedError(
          "images that are empty or so large are not supported");
    }
    points *= size[i + 2];
  }
  // x, y, (z,) 1
  const int64_t columns = static_cast<int64_t>(axes) + 1;
  BATON_ASSIGN_OR_RETURN(MutableTensor base,
                         MutableTensor::Create(dtype, {points, columns}));
  VisitDType(dtype, [&]<typename T>() {
    for (int64_t p = 0; p < points; ++p) {
      T* row = &base.span<T>()[p * columns];
      int64_t rest = p;
      for (size_t i = 0; i < axes; ++i) {  // the last axis first
        const auto extent = static_cast<double>(size[size.size() - 1 - i]);
        const auto at = static_cast<double>(rest % size[size.size() - 1 - i]);
        rest /= size[size.size() - 1 - i];
        row[i] = static_cast<T>(
            align_corners ? (extent > 1 ? 2 * at / (extent - 1) - 1 : -1)
                          : (2 * at + 1) / extent - 1);
      }
      row[axes] = static_cast<T>(1);
    }
  });
  BATON_ASSIGN_OR_RETURN(const Expr pixels,
                         node.Typed(relay::Const(std::move(base).Freeze())));
  BATON_ASSIGN_OR_RETURN(const Expr map,
                         node.Typed(relay::Transpose(theta, Ints{0, 2, 1})));
  BATON_ASSIGN_OR_RETURN(Expr result,
                         MatrixProduct(node, pixels, map, DType()));
  Ints shape(size.begin(), size.end());
  shape.erase(shape.begin() + 1);
  shape.push_back(static_cast<int64_t>(axes));
  return One(relay::Reshape(std::move(result), std::move(shape)));
}

// --- Boxes -----------------------------------------------------------------

// The common parameters of RoiAlign and MaxRoiPool: images (n, c, h, w), boxes
// (count, 4) as x1, y1, x2, y2.
struct Boxes {
  Expr images;  // that of each box: (count, c, h, w)
  Expr low[2];  // of y and x: (count, 1, 1)
  Expr high[2];
  Ints shape;  // of the images
};

Expr Column(const Expr& matrix, int64_t column) {
  return relay::ExpandDims(
      relay::StridedSlice(matrix, {column}, {column + 1}, {.axes = Ints{1}}),
      2);
}

absl::StatusOr<Boxes> ReadBoxes(NodeContext& node, const Expr& boxes,
                                const Expr& batch) {
  Boxes result;
  BATON_ASSIGN_OR_RETURN(result.shape, ShapeOf(node.Input(0)));
  BATON_ASSIGN_OR_RETURN(const DType dtype, ElementTypeOf(node.Input(0)));
  if (result.shape.size() != 4 || result.shape[2] < 1 || result.shape[3] < 1) {
    return absl::InvalidArgumentError(
        "the images must have rank 4, and pixels");
  }
  result.images = relay::Take(node.Input(0), batch, {.axis = 0});
  const Expr scaled = relay::Multiply(
      boxes, relay::Const(node.Float("spatial_scale", 1), dtype));
  for (int i = 0; i < 2; ++i) {
    result.low[i] = Column(scaled, 1 - i);
    result.high[i] = Column(scaled, 3 - i);
  }
  return result;
}

// 0, 1 ... n - 1 in the type of `like`, as (1, n, 1) or (1, 1, n).
Expr Axis(int64_t n, bool is_last, const Expr& like) {
  const Expr values = relay::Arange(
      ScalarLike(0, like), ScalarLike(static_cast<double>(n), like),
      ScalarLike(1, like), like->tensor_type()->dtype());
  return relay::Reshape(values, is_last ? Ints{1, 1, n} : Ints{1, n, 1});
}

// The other mode of RoiAlign: the largest, over the points of a bin, of the
// pixels around a point times their weights, which are not added.
absl::StatusOr<Outputs> MaxOfPoints(NodeContext& node, const Boxes& boxes,
                                    const Expr (&positions)[2],
                                    const int64_t (&wanted)[2],
                                    const int64_t (&samples)[2],
                                    int64_t count) {
  const Expr& x = node.Input(0);
  const auto scalar = [&x](double value) { return ScalarLike(value, x); };
  const auto index = [](int64_t value) {
    return relay::Const(Tensor::Scalar<int64_t>(value));
  };
  const int64_t rows = wanted[0] * samples[0];
  const int64_t columns = wanted[1] * samples[1];
  Expr at[2][2];      // the pixels before and behind a point
  Expr weight[2][2];  // (count, rows, 1) and (count, 1, columns)
  Expr is_inside;
  for (int i = 0; i < 2; ++i) {
    const double last = static_cast<double>(boxes.shape[2 + i] - 1);
    const Expr position = relay::Reshape(
        positions[i], i == 0 ? Ints{count, rows, 1} : Ints{count, 1, columns});
    Expr within =
        relay::LogicalAnd(relay::GreaterEqual(position, scalar(-1)),
                          relay::LessEqual(position, scalar(last + 1)));
    is_inside = i == 0 ? within : relay::LogicalAnd(is_inside, within);
    const Expr clipped = relay::Clip(position, 0, last);
    const Expr low = relay::Floor(clipped);
    at[i][0] = relay::Cast(low, DType::Int(64));
    at[i][1] =
        relay::Minimum(Add(at[i][0], index(1)), index(boxes.shape[2 + i] - 1));
    weight[i][1] = Subtract(clipped, low);
    weight[i][0] = Subtract(scalar(1), weight[i][1]);
  }
  const int64_t channels = boxes.shape[1];
  const Expr images = relay::Reshape(
      boxes.images, {count, channels, boxes.shape[2] * boxes.shape[3]});
  Expr best;
  for (int i = 0; i < 2; ++i) {
    for (int k = 0; k < 2; ++k) {
      const Expr pixel =
          Add(Multiply(at[0][i], index(boxes.shape[3])), at[1][k]);
      const Expr value = Multiply(
          relay::Gather(images, 2,
                        relay::BroadcastTo(
                            relay::Reshape(pixel, {count, 1, rows * columns}),
                            {count, channels, rows * columns})),
          relay::Reshape(Multiply(weight[0][i], weight[1][k]),
                         {count, 1, rows * columns}));
      best = best.defined() ? relay::Maximum(best, value) : value;
    }
  }
  best = relay::Where(relay::Reshape(is_inside, {count, 1, rows * columns}),
                      best, scalar(0));
  return One(
      relay::Max(relay::Reshape(best, {count, channels, wanted[0], samples[0],
                                       wanted[1], samples[1]}),
                 {.axis = Ints{3, 5}}));
}

// MaxOfPoints for `boxes` and the images `batch` that they are in.
absl::StatusOr<Outputs> MaxOfBoxes(NodeContext& node, const Expr& boxes,
                                   const Expr& batch, int64_t count,
                                   const int64_t (&wanted)[2],
                                   const int64_t (&samples)[2],
                                   bool half_pixel) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const Boxes read, ReadBoxes(node, boxes, batch));
  const auto scalar = [&x](double value) { return ScalarLike(value, x); };
  // The points along an axis: (count, points, 1).
  Expr positions[2];
  for (int i = 0; i < 2; ++i) {
    const int64_t points = wanted[i] * samples[i];
    const Expr begin =
        half_pixel ? Subtract(read.low[i], scalar(0.5)) : read.low[i];
    Expr length = Subtract(read.high[i], read.low[i]);
    if (!half_pixel) length = relay::Maximum(length, scalar(1));
    positions[i] =
        Add(begin,
            Multiply(Multiply(Add(Axis(points, false, x), scalar(0.5)), length),
                     scalar(1.0 / static_cast<double>(points))));
  }
  return MaxOfPoints(node, read, positions, wanted, samples, count);
}

// As many samples along an axis as a bin of a box has pixels, rounded up. The
// boxes must be known.
absl::StatusOr<Outputs> MaxOfAllPixels(NodeContext& node, int64_t count,
                                       const int64_t (&wanted)[2],
                                       bool half_pixel) {
  constexpr int64_t kMaxBoxes = 1000;
  BATON_ASSIGN_OR_RETURN(const Tensor known, node.Constant(1));
  BATON_ASSIGN_OR_RETURN(const Ints shape, ShapeOf(node.Input(0)));
  if (count < 1 || count > kMaxBoxes || known.shape() != Ints{count, 4} ||
      shape.size() != 4) {
    return absl::UnimplementedError(
        "maxima of a number of samples that depends on the boxes are not "
        "supported for this number of boxes");
  }
  const auto scale = static_cast<float>(node.Float("spatial_scale", 1));
  std::vector<Expr> parts;
  for (int64_t k = 0; k < count; ++k) {
    int64_t samples[2];
    for (int i = 0; i < 2; ++i) {
      const auto corner = [&](int64_t column) {
        return static_cast<float>(known.AtAsDouble(4 * k + column)) * scale;
      };
      float length = corner(3 - i) - corner(1 - i);
      if (!half_pixel) length = std::max(length, 1.0f);
      const float pixels = std::ceil(length / static_cast<float>(wanted[i]));
      if (!(pixels * static_cast<float>(wanted[i]) <
            static_cast<float>(kMaxPoints))) {
        return absl::InvalidArgumentError("a box is too large, or not finite");
      }
      samples[i] = static_cast<int64_t>(std::max(pixels, 0.0f));
    }
    if (samples[0] == 0 || samples[1] == 0) {
      BATON_ASSIGN_OR_RETURN(const DType dtype, ElementTypeOf(node.Input(0)));
      parts.push_back(relay::Zeros({1, shape[1], wanted[0], wanted[1]}, dtype));
      continue;
    }
    const auto row = [k](const Expr& rows) {
      return relay::StridedSlice(rows, {k}, {k + 1}, {.axes = Ints{0}});
    };
    BATON_ASSIGN_OR_RETURN(
        Outputs part, MaxOfBoxes(node, row(node.Input(1)), row(node.Input(2)),
                                 1, wanted, samples, half_pixel));
    parts.push_back(std::move(part[0]));
  }
  return One(relay::Concatenate(std::move(parts), 0));
}

// Means of points are what Relay's operator computes.
absl::StatusOr<Expr> MeanOfPoints(NodeContext& node, const int64_t (&wanted)[2],
                                  int64_t samples, bool half_pixel) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const DType dtype, ElementTypeOf(x));
  const Expr image = relay::Cast(relay::ExpandDims(node.Input(2), 1), dtype);
  relay::ROIAlignAttrs attrs;
  attrs.pooled_size = {wanted[0], wanted[1]};
  attrs.spatial_scale = node.Float("spatial_scale", 1);
  attrs.sample_ratio = samples == 0 ? -1 : static_cast<int>(samples);
  return relay::Call(half_pixel ? BATON_OP("vision.roi_align_half_pixel")
                                : BATON_OP("vision.roi_align"),
                     {x, relay::Concatenate({image, node.Input(1)}, 1)},
                     Attrs::Make(std::move(attrs)));
}

absl::StatusOr<Outputs> RoiAlign(NodeContext& node) {
  const std::string mode = node.String("mode", "avg");
  if (mode != "avg" && mode != "max") {
    return absl::InvalidArgumentError(
        absl::StrCat("the mode '", mode, "' is neither avg nor max"));
  }
  const int64_t samples = node.Int("sampling_ratio", 0);
  const int64_t wanted[] = {node.Int("output_height", 1),
                            node.Int("output_width", 1)};
  for (const int64_t extent : wanted) {
    if (extent < 1 || samples < 0 || samples > kMaxPoints / extent) {
      return absl::InvalidArgumentError(
          "output_height and output_width must be positive, and sampling_ratio "
          "not negative nor too large");
    }
  }
  const bool half_pixel =
      node.String("coordinate_transformation_mode",
                  node.opset() < 16 ? "output_half_pixel" : "half_pixel") ==
      "half_pixel";
  if (mode == "avg") {
    BATON_ASSIGN_OR_RETURN(Expr result,
                           MeanOfPoints(node, wanted, samples, half_pixel));
    return One(std::move(result));
  }
  BATON_ASSIGN_OR_RETURN(const Ints count, ShapeOf(node.Input(2)));
  if (count.size() != 1) {
    return absl::InvalidArgumentError("batch_indices must be a vector");
  }
  if (samples == 0) {
    return MaxOfAllPixels(node, count[0], wanted, half_pixel);
  }
  return MaxOfBoxes(node, node.Input(1), node.Input(2), count[0], wanted,
                    {samples, samples}, half_pixel);
}

// The maxima of the bins of a box are those along one axis, then along the
// other.
absl::StatusOr<Outputs> MaxRoiPool(NodeContext& node) {
  const Expr& x = node.Input(0);
  const Expr& rois = node.Input(1);  // (count, 5): batch, x1, y1, x2, y2
  const Ints wanted = node.Ints("pooled_shape").value_or(Ints());
  BATON_ASSIGN_OR_RETURN(const Ints count, ShapeOf(rois));
  if (wanted.size() != 2 || wanted[0] < 1 || wanted[1] < 1 ||
      wanted[0] > kMaxPoints || wanted[1] > kMaxPoints || count.size() != 2 ||
      count[1] != 5) {
    return absl::InvalidArgumentError(
        "pooled_shape must have 2 positive elements, and rois the shape "
        "(count, 5)");
  }
  const Expr batch = relay::Cast(
      relay::Take(rois, relay::Const(Tensor::Scalar<int64_t>(0)), {.axis = 1}),
      DType::Int(64));
  const Expr corners = relay::StridedSlice(rois, {1}, {5}, {.axes = Ints{1}});
  BATON_ASSIGN_OR_RETURN(const Boxes boxes, ReadBoxes(node, corners, batch));
  const auto scalar = [&x](double value) { return ScalarLike(value, x); };
  const Expr none = scalar(-std::numeric_limits<double>::infinity());
  Expr result = boxes.images;
  for (int i = 0; i < 2; ++i) {
    const int64_t pixels = boxes.shape[2 + i];
    const auto rounded = [&scalar](const Expr& value) {  // half up
      return relay::Floor(Add(value, scalar(0.5)));
    };
    const Expr begin = rounded(boxes.low[i]);
    const Expr length = relay::Maximum(
        Add(Subtract(rounded(boxes.high[i]), begin), scalar(1)), scalar(1));
    const Expr bin =
        relay::Divide(length, scalar(static_cast<double>(wanted[i])));
    const Expr bins = Axis(wanted[i], false, x);
    const Expr at = Axis(pixels, true, x);
    const Expr is_inside = relay::LogicalAnd(
        relay::GreaterEqual(at, Add(relay::Floor(Multiply(bins, bin)), begin)),
        relay::Less(
            at, Add(relay::Ceil(Multiply(Add(bins, scalar(1)), bin)), begin)));
    // (count, 1, bins, pixels, 1), then (count, 1, 1, bins, pixels)
    const Ints mask = i == 0 ? Ints{count[0], 1, wanted[0], pixels, 1}
                             : Ints{count[0], 1, 1, wanted[1], pixels};
    result = relay::Max(
        relay::Where(relay::Reshape(is_inside, mask),
                     relay::ExpandDims(std::move(result), i == 0 ? 2 : 3),
                     none),
        {.axis = Ints{i == 0 ? 3 : 4}});
  }
  // Bins without pixels are zero.
  return One(relay::Where(relay::Equal(result, none), scalar(0), result));
}

BATON_ONNX_CONVERTERS({
    {"AffineGrid", AffineGrid, 20},
    {"DeformConv", DeformConv, 19},
    {"GridSample", GridSample, 16},
    {.op = "GridSample", .convert = GridSample, .domain = kMicrosoftDomain},
    {"MaxRoiPool", MaxRoiPool},
    {"RoiAlign", RoiAlign, 10},
});

}  // namespace
}  // namespace baton::onnx
