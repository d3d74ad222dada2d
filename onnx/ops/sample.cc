// Points between the pixels of images. GridSample: gathers of the pixels around
// each point, times their weights. AffineGrid: where these points are. RoiAlign
// and MaxRoiPool: means and maxima over parts of boxes.

#include <cmath>
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
#include "baton/onnx/converter.h"
#include "baton/onnx/ops/products.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/tensor/create.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/op/tensor/indexing.h"
#include "baton/relay/op/tensor/reduce.h"
#include "baton/relay/op/tensor/shape.h"

namespace baton::onnx {
namespace {

using relay::Add;
using relay::Multiply;
using relay::Subtract;
using Ints = std::vector<int64_t>;

// Of the constants that the importer makes.
constexpr int64_t kMaxPoints = int64_t{1} << 24;

class GridSample {
 public:
  explicit GridSample(NodeContext& node) : node_(node) {}

  absl::StatusOr<Expr> Convert();

 private:
  enum class Padding { kZeros, kBorder, kReflection };

  Expr Scalar(double value) const { return ScalarLike(value, grid_); }
  absl::StatusOr<Expr> Typed(Expr expr) { return node_.Typed(std::move(expr)); }

  // Coordinates in pixels, from those in [-1, 1].
  Expr Pixels(const Expr& normal, int64_t extent) const;
  // Coordinates inside of the image, as the padding says.
  Expr Inside(const Expr& x, int64_t extent) const;
  // The pixels at whole coordinates.
  absl::StatusOr<Expr> At(Expr y, Expr x);
  // The weights of the pixels around a point that is `t` behind the second.
  std::vector<Expr> CubicWeights(const Expr& t) const;

  NodeContext& node_;
  Expr data_;  // (n, c, h * w)
  Expr grid_;
  Ints shape_;   // of the data
  Ints points_;  // (n, 1, points)
  Padding padding_ = Padding::kZeros;
  bool align_corners_ = false;
};

Expr GridSample::Pixels(const Expr& normal, int64_t extent) const {
  const double size = static_cast<double>(extent);
  return align_corners_
             ? Multiply(Add(normal, Scalar(1)), Scalar((size - 1) / 2))
             : Subtract(Multiply(Add(normal, Scalar(1)), Scalar(size / 2)),
                        Scalar(0.5));
}

Expr GridSample::Inside(const Expr& x, int64_t extent) const {
  const double last = static_cast<double>(extent - 1);
  Expr result = x;
  if (padding_ == Padding::kReflection) {
    const double low = align_corners_ ? 0 : -0.5;
    const double span = align_corners_ ? last : last + 1;
    if (span <= 0) return Multiply(x, Scalar(0));
    // A wave of triangles.
    const Expr distance = relay::Abs(Subtract(x, Scalar(low)));
    const Expr phase = Subtract(
        distance,
        Multiply(relay::Floor(relay::Divide(distance, Scalar(2 * span))),
                 Scalar(2 * span)));
    result =
        Add(Subtract(Scalar(span), relay::Abs(Subtract(phase, Scalar(span)))),
            Scalar(low));
  }
  return relay::Clip(std::move(result), 0, last);
}

absl::StatusOr<Expr> GridSample::At(Expr y, Expr x) {
  const int64_t h = shape_[2];
  const int64_t w = shape_[3];
  Expr is_inside;
  if (padding_ == Padding::kZeros) {
    const auto within = [this](const Expr& value, int64_t extent) {
      return relay::LogicalAnd(
          relay::GreaterEqual(value, Scalar(0)),
          relay::LessEqual(value, Scalar(static_cast<double>(extent - 1))));
    };
    is_inside = relay::LogicalAnd(within(y, h), within(x, w));
  }
  const Expr index = relay::Cast(
      Add(Multiply(Inside(y, h), Scalar(static_cast<double>(w))), Inside(x, w)),
      DType::Int(64));
  const Ints all = {shape_[0], shape_[1], points_[2]};
  Expr pixels = relay::Gather(data_, 2, relay::BroadcastTo(index, all));
  if (is_inside.defined()) {
    pixels = relay::Where(is_inside, pixels, Scalar(0));
  }
  return Typed(std::move(pixels));
}

std::vector<Expr> GridSample::CubicWeights(const Expr& t) const {
  constexpr double kA = -0.75;
  const auto near = [&](const Expr& x) {  // of a pixel less than one away
    return Add(
        Multiply(
            Multiply(Subtract(Multiply(Scalar(kA + 2), x), Scalar(kA + 3)), x),
            x),
        Scalar(1));
  };
  const auto far = [&](const Expr& x) {  // less than two
    const Expr inner = Subtract(Multiply(Scalar(kA), x), Scalar(5 * kA));
    return Subtract(Multiply(Add(Multiply(inner, x), Scalar(8 * kA)), x),
                    Scalar(4 * kA));
  };
  return {far(Add(t, Scalar(1))), near(t), near(Subtract(Scalar(1), t)),
          far(Subtract(Scalar(2), t))};
}

absl::StatusOr<Expr> GridSample::Convert() {
  BATON_ASSIGN_OR_RETURN(shape_, ShapeOf(node_.Input(0)));
  BATON_ASSIGN_OR_RETURN(const Ints grid_shape, ShapeOf(node_.Input(1)));
  if (shape_.size() != 4 || grid_shape.size() != 4 || grid_shape[3] != 2 ||
      grid_shape[0] != shape_[0]) {
    return absl::UnimplementedError("only images of two axes are supported");
  }
  const std::string mode = node_.String("mode", "bilinear");
  const std::string padding = node_.String("padding_mode", "zeros");
  align_corners_ = node_.Int("align_corners", 0) != 0;
  if (padding == "border") {
    padding_ = Padding::kBorder;
  } else if (padding == "reflection") {
    padding_ = Padding::kReflection;
  } else if (padding != "zeros") {
    return absl::InvalidArgumentError(
        absl::StrCat("the padding_mode '", padding, "'"));
  }
  points_ = {shape_[0], 1, grid_shape[1] * grid_shape[2]};
  grid_ = node_.Input(1);
  BATON_ASSIGN_OR_RETURN(
      data_, Typed(relay::Reshape(node_.Input(0), {shape_[0], shape_[1],
                                                   shape_[2] * shape_[3]})));
  const auto coordinate = [&](int64_t i, int64_t extent) {
    Expr pixels =
        Pixels(relay::Reshape(
                   relay::Take(grid_, relay::Const(Tensor::Scalar<int64_t>(i)),
                               {.axis = 3}),
                   points_),
               extent);
    if (padding_ != Padding::kZeros) pixels = Inside(pixels, extent);
    return Typed(std::move(pixels));
  };
  BATON_ASSIGN_OR_RETURN(const Expr x, coordinate(0, shape_[3]));
  BATON_ASSIGN_OR_RETURN(const Expr y, coordinate(1, shape_[2]));
  Expr result;
  if (mode == "nearest") {
    BATON_ASSIGN_OR_RETURN(result, At(relay::Round(y), relay::Round(x)));
  } else {
    const bool is_cubic = mode == "bicubic" || mode == "cubic";
    if (!is_cubic && mode != "bilinear" && mode != "linear") {
      return absl::InvalidArgumentError(absl::StrCat("the mode '", mode, "'"));
    }
    BATON_ASSIGN_OR_RETURN(const Expr x0, Typed(relay::Floor(x)));
    BATON_ASSIGN_OR_RETURN(const Expr y0, Typed(relay::Floor(y)));
    const auto weights = [&](const Expr& t) {
      return is_cubic ? CubicWeights(t)
                      : std::vector<Expr>{Subtract(Scalar(1), t), t};
    };
    const std::vector<Expr> wx = weights(Subtract(x, x0));
    const std::vector<Expr> wy = weights(Subtract(y, y0));
    const int first = is_cubic ? -1 : 0;
    for (size_t i = 0; i < wy.size(); ++i) {
      for (size_t k = 0; k < wx.size(); ++k) {
        BATON_ASSIGN_OR_RETURN(
            const Expr pixels,
            At(Add(y0, Scalar(first + static_cast<double>(i))),
               Add(x0, Scalar(first + static_cast<double>(k)))));
        Expr part = Multiply(pixels, Multiply(wy[i], wx[k]));
        result = result.defined() ? Add(std::move(result), std::move(part))
                                  : std::move(part);
      }
    }
  }
  return relay::Reshape(std::move(result),
                        {shape_[0], shape_[1], grid_shape[1], grid_shape[2]});
}

absl::StatusOr<Outputs> ConvertGridSample(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(Expr result, GridSample(node).Convert());
  return One(std::move(result));
}

// --- AffineGrid ------------------------------------------------------------

// The homogeneous coordinates of the pixels, as a matrix, times that of the
// map.
absl::StatusOr<Outputs> AffineGrid(NodeContext& node) {
  const Expr& theta = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const DType dtype, ElementTypeOf(theta));
  BATON_ASSIGN_OR_RETURN(const Ints size, node.ConstantInts(1));
  if (size.size() != 4 && size.size() != 5) {
    return absl::InvalidArgumentError("the size of the images");
  }
  const bool align_corners = node.Int("align_corners", 0) != 0;
  const size_t axes = size.size() - 2;
  int64_t points = 1;
  for (size_t i = 0; i < axes; ++i) {
    if (size[i + 2] < 1 || size[i + 2] > kMaxPoints / points) {
      return absl::UnimplementedError("images of this size");
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

// What RoiAlign and MaxRoiPool have in common: images (n, c, h, w), boxes
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
    return absl::InvalidArgumentError("the images");
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

// Bilinear interpolation at the points of a bin and their mean are linear along
// each axis: the product of a matrix from the left and of one from the right.
absl::StatusOr<Outputs> RoiAlign(NodeContext& node) {
  const Expr& x = node.Input(0);
  if (node.String("mode", "avg") != "avg") {
    return absl::UnimplementedError("only the mode avg is supported");
  }
  const int64_t samples = node.Int("sampling_ratio", 0);
  const int64_t wanted[] = {node.Int("output_height", 1),
                            node.Int("output_width", 1)};
  if (samples < 1) {
    return absl::UnimplementedError(
        "a number of samples that depends on the boxes is not supported");
  }
  for (const int64_t extent : wanted) {
    if (extent < 1 || samples > kMaxPoints / extent) {
      return absl::InvalidArgumentError("the size of the result");
    }
  }
  BATON_ASSIGN_OR_RETURN(const Boxes boxes,
                         ReadBoxes(node, node.Input(1), node.Input(2)));
  BATON_ASSIGN_OR_RETURN(const Ints count, ShapeOf(node.Input(2)));
  if (count.size() != 1) return absl::InvalidArgumentError("batch_indices");
  const bool half_pixel =
      node.String("coordinate_transformation_mode",
                  node.opset() < 16 ? "output_half_pixel" : "half_pixel") ==
      "half_pixel";
  const auto scalar = [&x](double value) { return ScalarLike(value, x); };
  Expr weights[2];
  for (int i = 0; i < 2; ++i) {
    const int64_t points = wanted[i] * samples;
    const int64_t pixels = boxes.shape[2 + i];
    const Expr begin =
        half_pixel ? Subtract(boxes.low[i], scalar(0.5)) : boxes.low[i];
    Expr length = Subtract(boxes.high[i], boxes.low[i]);
    if (!half_pixel) length = relay::Maximum(length, scalar(1));
    const Expr at =
        Add(begin,
            Multiply(Multiply(Add(Axis(points, false, x), scalar(0.5)), length),
                     scalar(1.0 / static_cast<double>(points))));
    // One at the point, falling to zero one pixel away; the images go on for
    // one pixel behind their edges.
    const double last = static_cast<double>(pixels - 1);
    const Expr distance =
        relay::Abs(Subtract(relay::Clip(at, 0, last), Axis(pixels, true, x)));
    Expr weight = relay::Maximum(Subtract(scalar(1), distance), scalar(0));
    const Expr is_inside =
        relay::LogicalAnd(relay::GreaterEqual(at, scalar(-1)),
                          relay::LessEqual(at, scalar(last + 1)));
    weight = relay::Where(is_inside, std::move(weight), scalar(0));
    weight = relay::Mean(relay::Reshape(std::move(weight),
                                        {count[0], wanted[i], samples, pixels}),
                         {.axis = Ints{2}});
    BATON_ASSIGN_OR_RETURN(
        weights[i],
        node.Typed(relay::ExpandDims(
            i == 0 ? weight : relay::Transpose(weight, Ints{0, 2, 1}), 1)));
  }
  BATON_ASSIGN_OR_RETURN(const Expr images, node.Typed(boxes.images));
  BATON_ASSIGN_OR_RETURN(Expr rows,
                         MatrixProduct(node, weights[0], images, DType()));
  BATON_ASSIGN_OR_RETURN(rows, node.Typed(std::move(rows)));
  BATON_ASSIGN_OR_RETURN(Expr result,
                         MatrixProduct(node, rows, weights[1], DType()));
  return One(std::move(result));
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
    return absl::InvalidArgumentError("the pooled_shape or the rois");
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
    {"GridSample", ConvertGridSample, 16},
    {"MaxRoiPool", MaxRoiPool},
    {"RoiAlign", RoiAlign, 10},
});

}  // namespace
}  // namespace baton::onnx
