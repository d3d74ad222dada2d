// GridSample: gathers of the pixels around each point, times their weights.

#include <cmath>
#include <cstdint>
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
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/tensor/create.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/op/tensor/indexing.h"
#include "baton/relay/op/tensor/shape.h"

namespace baton::onnx {
namespace {

using relay::Add;
using relay::Multiply;
using relay::Subtract;
using Ints = std::vector<int64_t>;

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

BATON_ONNX_CONVERTERS({{"GridSample", ConvertGridSample, 16}});

}  // namespace
}  // namespace baton::onnx
