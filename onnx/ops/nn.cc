// Converters of convolution, pooling, normalization, matrix products.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/number_range.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/type.h"
#include "baton/onnx/converter.h"
#include "baton/onnx/model.h"
#include "baton/onnx/operator_table.h"
#include "baton/onnx/ops/average_pool.h"
#include "baton/onnx/ops/extents.h"
#include "baton/onnx/ops/formulas.h"
#include "baton/onnx/ops/matrix_products.h"
#include "baton/onnx/ops/spatial_windows.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/dim_math.h"
#include "baton/relay/op/nn/activation.h"
#include "baton/relay/op/nn/conv.h"
#include "baton/relay/op/nn/normalize.h"
#include "baton/relay/op/nn/pool.h"
#include "baton/relay/op/nn/spatial.h"
#include "baton/relay/op/tensor/create.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/op/tensor/indexing.h"
#include "baton/relay/op/tensor/reduce.h"
#include "baton/relay/op/tensor/shape.h"

namespace baton::onnx {
namespace {

using relay::Add;
using relay::Divide;
using relay::Multiply;
using relay::Subtract;
using Ints = std::vector<int64_t>;

Dims ToDims(const Ints& values) { return Dims(values.begin(), values.end()); }

// --- Convolution -----------------------------------------------------------

absl::StatusOr<Outputs> Conv(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(
      Expr result, Convolution(node, node.Input(0), node.Input(1), DType()));
  if (node.HasInput(2)) {
    result = relay::nn::BiasAdd(std::move(result), node.Input(2));
  }
  return One(std::move(result));
}

template <typename Attrs>
Attrs TransposeAttrs(const Window& window, const Ints& output_padding,
                     const TensorTypeNode* weight, int64_t groups) {
  Attrs attrs;
  attrs.channels = relay::Product({weight->dim(1), Dim(groups)});
  attrs.kernel_size = ToDims(window.kernel);
  attrs.strides = ToDims(window.strides);
  attrs.output_padding = ToDims(output_padding);
  attrs.padding = ToDims(window.pads);
  attrs.dilation = ToDims(window.dilations);
  attrs.groups = static_cast<int>(groups);
  return attrs;
}

absl::StatusOr<Outputs> ConvTranspose(NodeContext& node) {
  const Expr& x = node.Input(0);
  const Expr& w = node.Input(1);
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(x));
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* weight, TensorTypeOf(w));
  const int spatial = type->rank() - 2;
  if (spatial < 1 || spatial > 3 || weight->rank() != type->rank() ||
      !weight->dim(1).is_const()) {
    return absl::UnimplementedError(
        "the data must have 1 to 3 spatial axes, and the kernel the same rank "
        "and a known second extent");
  }
  // Pads are worked out below: SAME means another thing than for Conv.
  BATON_ASSIGN_OR_RETURN(Window window, ReadWindow(node, x, w, true));
  const Ints given = node.Ints("output_padding").value_or(Ints());
  Ints output_padding(spatial, 0);
  // Some exporters write one number too few for each side.
  if (static_cast<int>(given.size()) == spatial) output_padding = given;
  const std::string auto_pad = node.String("auto_pad", "NOTSET");
  std::optional<Ints> output_shape = node.Ints("output_shape");
  const bool is_same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  if (output_shape.has_value() || is_same) {
    for (int i = 0; i < spatial; ++i) {
      // How far beyond SAME's result the unpadded one reaches does not depend
      // on the extent.
      const Dim& dim = type->dim(i + 2);
      if (!dim.is_const() && output_shape.has_value()) {
        return absl::UnimplementedError(
            "the extents of the data must be known");
      }
      const int64_t extent = dim.is_const() ? dim.value() : 1;
      const size_t skip =
          output_shape.has_value() &&
                  output_shape->size() > static_cast<size_t>(spatial)
              ? output_shape->size() - spatial
              : 0;
      if (output_shape.has_value() && output_shape->size() < skip + i + 1) {
        return absl::InvalidArgumentError("output_shape is too short");
      }
      const absl::int128 wanted =
          output_shape.has_value() ? absl::int128((*output_shape)[skip + i])
                                   : absl::int128(extent) * window.strides[i];
      absl::int128 total =
          absl::int128(window.strides[i]) * (extent - 1) + output_padding[i] +
          absl::int128(window.kernel[i] - 1) * window.dilations[i] + 1 - wanted;
      if (total < 0) {
        const absl::int128 padding = output_padding[i] - total;
        if (padding > std::numeric_limits<int64_t>::max()) {
          return absl::InvalidArgumentError("output_shape is too large");
        }
        output_padding[i] = static_cast<int64_t>(padding);
        total = 0;
      }
      BATON_RETURN_IF_ERROR(
          SetPads(window, i, total, auto_pad == "SAME_UPPER"));
    }
  }
  const int64_t groups = node.Int("group", 1);
  if (groups < 1 || groups > 1 << 30) {
    return absl::InvalidArgumentError(
        "the attribute group is less than 1 or too large");
  }
  // Relay's output padding is less than the stride. What is beyond is less
  // padding at the end, and then zeros behind the result.
  Ints zeros(spatial, 0);
  for (int i = 0; i < spatial; ++i) {
    int64_t excess = output_padding[i] - (window.strides[i] - 1);
    if (excess <= 0) continue;
    output_padding[i] -= excess;
    int64_t& end = window.pads[spatial + i];
    const int64_t less = std::clamp<int64_t>(end, 0, excess);
    end -= less;
    zeros[i] = excess - less;
  }
  Expr result;
  if (spatial == 1) {
    result =
        relay::nn::Conv1DTranspose(x, w,
                                   TransposeAttrs<relay::Conv1DTransposeAttrs>(
                                       window, output_padding, weight, groups));
  } else if (spatial == 2) {
    result =
        relay::nn::Conv2DTranspose(x, w,
                                   TransposeAttrs<relay::Conv2DTransposeAttrs>(
                                       window, output_padding, weight, groups));
  } else {
    result =
        relay::nn::Conv3DTranspose(x, w,
                                   TransposeAttrs<relay::Conv3DTransposeAttrs>(
                                       window, output_padding, weight, groups));
  }
  if (std::any_of(zeros.begin(), zeros.end(),
                  [](int64_t count) { return count != 0; })) {
    std::vector<Ints> widths(2, Ints(2, 0));
    for (const int64_t count : zeros) widths.push_back({0, count});
    result =
        relay::nn::Pad(std::move(result), std::move(widths), ScalarLike(0, x));
  }
  if (node.HasInput(2)) {
    result = relay::nn::BiasAdd(std::move(result), node.Input(2));
  }
  return One(std::move(result));
}

// --- Pooling ---------------------------------------------------------------

template <typename A>
Expr PoolCall(const PoolRow& row, const Expr& x, const Window& window,
              bool ceil_mode, bool count_include_pad) {
  A attrs;
  attrs.pool_size = ToDims(window.kernel);
  attrs.strides = ToDims(window.strides);
  attrs.dilation = ToDims(window.dilations);
  attrs.padding = ToDims(window.pads);
  attrs.ceil_mode = ceil_mode;
  if constexpr (requires { attrs.count_include_pad; }) {
    attrs.count_include_pad = count_include_pad;
  }
  const Op op =
      Op::Find(absl::StrCat("nn.", row.relay, window.kernel.size(), "d"));
  return relay::Call(op, {x}, Attrs::Make(std::move(attrs)));
}

// The pool over windows of one to three axes.
Expr PoolOf(const PoolRow& row, const Expr& x, const Window& window,
            bool ceil_mode, bool count_include_pad = false) {
  const bool is_max = &row == &kMaxPool;
  const auto make =
      window.kernel.size() == 1   ? is_max ? PoolCall<relay::MaxPool1DAttrs>
                                           : PoolCall<relay::AvgPool1DAttrs>
        : window.kernel.size() == 2 ? is_max ? PoolCall<relay::MaxPool2DAttrs>
                                             : PoolCall<relay::AvgPool2DAttrs>
        : is_max ? PoolCall<relay::MaxPool3DAttrs>
                                  : PoolCall<relay::AvgPool3DAttrs>;
  return make(row, x, window, ceil_mode, count_include_pad);
}

// The limit of the elements of constants that the importer makes.
constexpr int64_t kMaxIndices = int64_t{1} << 24;

// True if a last window that does not fit counts. With SAME_UPPER and
// SAME_LOWER the padding makes all windows fit.
bool HasCeilMode(NodeContext& node) {
  return node.Int("ceil_mode", 0) != 0 &&
         !absl::StartsWith(node.String("auto_pad", "NOTSET"), "SAME");
}

// A result of pooling in ceil_mode less a last window that begins behind the
// data, in the padding: ONNX has no such windows.
absl::StatusOr<Expr> WithoutEmptyWindows(NodeContext& node, Expr pooled,
                                         const Expr& x, const Window& window) {
  BATON_ASSIGN_OR_RETURN(pooled, node.Typed(std::move(pooled)));
  const Expr whole = pooled;
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(whole));
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* data, TensorTypeOf(x));
  Ints axes;
  Ints ends;
  for (size_t i = 0; i < window.kernel.size(); ++i) {
    const int axis = static_cast<int>(i) + 2;
    if (!type->dim(axis).is_const() || !data->dim(axis).is_const()) {
      // Only a step that is longer than what of the window is no padding leads
      // behind the data.
      if (!HasCeilMode(node) ||
          window.strides[i] + window.pads[i + window.kernel.size()] <=
              (window.kernel[i] - 1) * window.dilations[i] + 1) {
        continue;
      }
      const auto number = [](int64_t value) {
        return relay::Const(Tensor::Scalar<int64_t>(value));
      };
      const Expr count = ExtentOf(pooled, axis);
      const Expr last = Subtract(count, number(1));
      const Expr is_behind = relay::LogicalAnd(
          relay::Greater(last, number(0)),
          relay::GreaterEqual(Multiply(last, number(window.strides[i])),
                              Add(ExtentOf(x, axis), number(window.pads[i]))));
      const Expr end = relay::Where(is_behind, last, count);
      BATON_ASSIGN_OR_RETURN(
          pooled,
          node.Typed(relay::Take(
              pooled, relay::Arange(number(0), end, number(1), DType::Int(64)),
              {.axis = axis})));
      continue;
    }
    const int64_t last = type->dim(axis).value() - 1;
    if (last > 0 &&
        last * window.strides[i] >= data->dim(axis).value() + window.pads[i]) {
      axes.push_back(axis);
      ends.push_back(last);
    }
  }
  if (axes.empty()) return pooled;
  const size_t count = axes.size();
  return node.Typed(relay::StridedSlice(
      std::move(pooled), Ints(count, 0), std::move(ends),
      {.strides = Ints(count, 1), .axes = std::move(axes)}));
}

// The positions of the maxima in the data as a whole: of the windows, gathered
// one axis after the other, those that arg-max finds.
// Where the extent of the batch is not known, they are those of its first
// element, to which is added how many elements are in front of the others.
absl::StatusOr<Expr> MaxPoolIndices(NodeContext& node, const Window& window,
                                    const Expr& pooled) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(x));
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* result, TensorTypeOf(pooled));
  const bool has_batch = type->dim(0).is_const();
  Ints shape;
  Ints result_shape;
  for (int i = 0; i < type->rank(); ++i) {
    if (i > 0 && (!type->dim(i).is_const() || !result->dim(i).is_const())) {
      return absl::UnimplementedError(
          "indices of data of unknown extents, but for that of the batch");
    }
    shape.push_back(i > 0 || has_batch ? type->dim(i).value() : 1);
    result_shape.push_back(i > 0 || has_batch ? result->dim(i).value() : 1);
  }
  const absl::StatusOr<int64_t> size = NumElements(DType::Int(64), shape);
  if (!size.ok() || *size > kMaxIndices) {
    return absl::UnimplementedError(
        "the output Indices is not supported for so much data");
  }
  const int axes = static_cast<int>(window.kernel.size());
  const bool column_major = node.Int("storage_order", 0) != 0;
  // Steps between neighbours along each spatial axis.
  Ints steps(axes, 1);
  for (int i = 0; i < axes; ++i) {
    const int first = column_major ? 0 : i + 1;
    const int last = column_major ? i : axes;
    for (int k = first; k < last; ++k) steps[i] *= shape[k + 2];
  }
  int64_t plane = 1;
  for (int i = 0; i < axes; ++i) plane *= shape[i + 2];
  // The data and the position of each element, taken along; where a window
  // reaches over an edge it sees the edge again, which changes no maximum.
  BATON_ASSIGN_OR_RETURN(MutableTensor positions,
                         MutableTensor::Create(DType::Int(64), shape));
  const int64_t count = positions.num_elements();
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i % plane;
    int64_t at = i / plane * plane;
    for (int k = axes; k-- > 0;) {
      at += rest % shape[k + 2] * steps[k];
      rest /= shape[k + 2];
    }
    positions.span<int64_t>()[i] = at;
  }
  Expr data = x;
  Expr place = relay::Const(std::move(positions).Freeze());
  for (int i = 0; i < axes; ++i) {
    if (window.kernel[i] >
        kMaxIndices / std::max<int64_t>(result_shape[i + 2], 1)) {
      return absl::UnimplementedError(
          "the output Indices is not supported for such large windows");
    }
    Ints taken;
    for (int64_t o = 0; o < result_shape[i + 2]; ++o) {
      for (int64_t k = 0; k < window.kernel[i]; ++k) {
        const int64_t step = window.dilations[i];
        int64_t at = o * window.strides[i] - window.pads[i] + k * step;
        // The nearest element of the window that is inside.
        if (at < 0) at += (step - 1 - at) / step * step;
        const int64_t beyond = at - shape[i + 2];
        if (beyond >= 0) at -= (beyond / step + 1) * step;
        taken.push_back(std::clamp<int64_t>(at, 0, shape[i + 2] - 1));
      }
    }
    const Expr indices = VectorConstant(taken);
    data = relay::Take(std::move(data), indices, {.axis = i + 2});
    place = relay::Take(std::move(place), indices, {.axis = i + 2});
  }
  // (N, C, o0, k0, o1, k1 ...) to (N, C, o0, o1 ..., k0 k1 ...).
  Ints split = {0, shape[1]};
  Ints order = {0, 1};
  Ints joined = {0, shape[1]};
  for (int i = 0; i < axes; ++i) {
    split.push_back(result_shape[i + 2]);
    split.push_back(window.kernel[i]);
    order.push_back(2 + 2 * i);
    joined.push_back(result_shape[i + 2]);
  }
  const absl::StatusOr<int64_t> all_windows =
      NumElements(DType::Int(64), absl::MakeConstSpan(split).subspan(2));
  if (!all_windows.ok() || *all_windows > kMaxIndices) {
    return absl::UnimplementedError(
        "the output Indices is not supported for so many or so large windows");
  }
  int64_t elements = 1;
  for (int64_t extent : window.kernel) elements *= extent;
  for (int i = 0; i < axes; ++i) order.push_back(3 + 2 * i);
  joined.push_back(elements);
  const auto windows = [&](Expr value) {
    return relay::Reshape(
        relay::Transpose(relay::Reshape(std::move(value), split), order),
        joined);
  };
  const Expr chosen = relay::ExpandDims(
      relay::ArgMax(windows(std::move(data)), {.axis = Ints{axes + 2}}),
      axes + 2);
  if (has_batch) {
    return relay::Squeeze(
        relay::Gather(windows(std::move(place)), axes + 2, chosen),
        Ints{axes + 2});
  }
  Ints elements_of_window(elements);
  std::iota(elements_of_window.begin(), elements_of_window.end(), 0);
  const Expr is_chosen = relay::Equal(relay::Cast(chosen, DType::Int(64)),
                                      VectorConstant(elements_of_window));
  const Expr of_first =
      relay::Sum(Multiply(relay::Cast(is_chosen, DType::Int(64)),
                          windows(std::move(place))),
                 {.axis = Ints{axes + 2}});
  return Add(of_first,
             Multiply(Positions(x, 0, axes + 1),
                      relay::Const(Tensor::Scalar<int64_t>(shape[1] * plane))));
}

absl::StatusOr<Outputs> MaxPool(NodeContext& node) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const DType dtype, ElementTypeOf(x));
  const double least = dtype.is_float()
                           ? -std::numeric_limits<double>::infinity()
                           : FiniteRange(dtype)->low;
  BATON_ASSIGN_OR_RETURN(const PaddedWindow padded,
                         ReadPaddedWindow(node, x, {}, least));
  const Window& window = padded.window;
  BATON_ASSIGN_OR_RETURN(
      const Expr result,
      WithoutEmptyWindows(
          node, PoolOf(kMaxPool, padded.data, window, HasCeilMode(node)),
          padded.data, window));
  if (!node.HasOutput(1)) return One(result);
  BATON_ASSIGN_OR_RETURN(Expr indices, MaxPoolIndices(node, window, result));
  return Outputs{result, std::move(indices)};
}

Expr MeansOf(NodeContext& node, const Expr& x, const Window& window,
             bool count_include_pad) {
  return PoolOf(kAveragePool, x, window, HasCeilMode(node), count_include_pad);
}

}  // namespace

absl::StatusOr<Expr> AveragePoolOf(NodeContext& node, const Expr& data) {
  BATON_ASSIGN_OR_RETURN(const PaddedWindow read,
                         ReadPaddedWindow(node, data, {}, 0));
  const Expr& x = read.data;
  const Window& window = read.window;
  bool count_include_pad = node.Int("count_include_pad", 0) != 0;
  if (read.is_padded && !count_include_pad) {
    // Padding does not count: divides two averages.
    BATON_ASSIGN_OR_RETURN(const Expr ones, node.Typed(relay::OnesLike(data)));
    BATON_ASSIGN_OR_RETURN(const PaddedWindow counted,
                           ReadPaddedWindow(node, ones, {}, 0));
    return Divide(MeansOf(node, x, window, true),
                  MeansOf(node, counted.data, window, true));
  }
  Expr padded = x;
  Window inner = window;
  if (count_include_pad && HasCeilMode(node)) {
    // Elements that ceil_mode adds after the padding do not count: the padding
    // becomes data.
    count_include_pad = false;
    const size_t axes = window.kernel.size();
    std::vector<Ints> widths(2, Ints{0, 0});
    for (size_t i = 0; i < axes; ++i) {
      widths.push_back({window.pads[i], window.pads[axes + i]});
    }
    if (std::any_of(window.pads.begin(), window.pads.end(),
                    [](int64_t pad) { return pad != 0; })) {
      BATON_ASSIGN_OR_RETURN(
          padded,
          node.Typed(relay::nn::Pad(x, std::move(widths), ScalarLike(0, x))));
      inner.pads.assign(2 * axes, 0);
    }
  }
  return WithoutEmptyWindows(
      node, MeansOf(node, padded, inner, count_include_pad), x, window);
}

namespace {

absl::StatusOr<Outputs> AveragePool(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(Expr result, AveragePoolOf(node, node.Input(0)));
  return One(std::move(result));
}

absl::StatusOr<Outputs> LpPool(NodeContext& node) {
  const double p = static_cast<double>(node.Int("p", 2));
  BATON_ASSIGN_OR_RETURN(const Window window,
                         ReadWindow(node, node.Input(0), {}, false));
  double count = 1;  // The product may be too large for an integer.
  for (int64_t k : window.kernel) count *= static_cast<double>(k);
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(
      Expr powers, node.Typed(relay::Power(relay::Abs(x), ScalarLike(p, x))));
  BATON_ASSIGN_OR_RETURN(
      Expr mean, WithoutEmptyWindows(node, MeansOf(node, powers, window, true),
                                     powers, window));
  return One(relay::Power(Multiply(std::move(mean), ScalarLike(count, x)),
                          ScalarLike(1 / p, x)));
}

absl::StatusOr<Ints> SpatialAxes(const Expr& x) {
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(x));
  if (rank < 3) {
    return absl::InvalidArgumentError("the data must have 3 axes or more");
  }
  Ints axes(rank - 2);
  std::iota(axes.begin(), axes.end(), 2);
  return axes;
}

absl::StatusOr<Outputs> GlobalPool(NodeContext& node) {
  const PoolRow& row =
      node.node().op_type == kMaxPool.global ? kMaxPool : kAveragePool;
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(Ints axes, SpatialAxes(x));
  if (axes.size() == 2) {
    const Op op = Op::Find(absl::StrCat("nn.global_", row.relay, "2d"));
    return One(relay::Call(op, {x}, Attrs::Make(relay::GlobalPool2DAttrs())));
  }
  return One(relay::Call(Op::Find(row.reduction), {x},
                         Attrs::Make(relay::ReduceAttrs{.axis = std::move(axes),
                                                        .keepdims = true})));
}

// (sum of |x|^p over the axes)^(1/p).
Expr LpNorm(const Expr& x, double p, Ints axes) {
  const relay::ReduceAttrs over = {.axis = std::move(axes), .keepdims = true};
  if (p == 1) return relay::Sum(relay::Abs(x), over);
  if (p == 2) return relay::Sqrt(relay::Sum(Multiply(x, x), over));
  return relay::Power(
      relay::Sum(relay::Power(relay::Abs(x), ScalarLike(p, x)), over),
      ScalarLike(1 / p, x));
}

absl::StatusOr<Outputs> GlobalLpPool(NodeContext& node) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(Ints axes, SpatialAxes(x));
  const double p = node.opset() < 2 ? node.Float("p", 2)
                                    : static_cast<double>(node.Int("p", 2));
  return One(LpNorm(x, p, std::move(axes)));
}

// --- Normalization ---------------------------------------------------------

absl::StatusOr<Outputs> LpNormalization(NodeContext& node) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(x));
  BATON_ASSIGN_OR_RETURN(const int axis,
                         NormalAxis(node.Int("axis", -1), rank));
  const Expr norm = LpNorm(x, static_cast<double>(node.Int("p", 2)), {axis});
  // Zeros stay zeros.
  return One(Divide(x, relay::Where(relay::Equal(norm, ScalarLike(0, x)),
                                    ScalarLike(1, x), norm)));
}

// The widest of the element types of the first `count` inputs.
absl::StatusOr<DType> WidestType(NodeContext& node, int count) {
  BATON_ASSIGN_OR_RETURN(DType widest, ElementTypeOf(node.Input(0)));
  for (int i = 1; i < count; ++i) {
    BATON_ASSIGN_OR_RETURN(const DType dtype, ElementTypeOf(node.Input(i)));
    // Neither of two half floats holds the other.
    if (dtype.bits() == 16 && widest.bits() == 16 && dtype != widest) {
      widest = DType::Float(32);
    } else if (dtype.bits() > widest.bits()) {
      widest = dtype;
    }
  }
  return widest;
}

absl::StatusOr<Outputs> BatchNormalization(NodeContext& node) {
  // Since opset 15 the data, the scales and the statistics may differ in type.
  BATON_ASSIGN_OR_RETURN(const DType data_type, ElementTypeOf(node.Input(0)));
  BATON_ASSIGN_OR_RETURN(const DType statistics_type,
                         ElementTypeOf(node.Input(3)));
  BATON_ASSIGN_OR_RETURN(const DType dtype, WidestType(node, 5));
  const auto as = [&node](const Expr& value, DType to) -> absl::StatusOr<Expr> {
    BATON_ASSIGN_OR_RETURN(const DType from, ElementTypeOf(value));
    if (from == to) return value;
    return node.Typed(relay::Cast(value, to));
  };
  BATON_ASSIGN_OR_RETURN(const Expr x, as(node.Input(0), dtype));
  BATON_ASSIGN_OR_RETURN(const Expr scale, as(node.Input(1), dtype));
  BATON_ASSIGN_OR_RETURN(const Expr bias, as(node.Input(2), dtype));
  const double epsilon = node.Float("epsilon", 1e-5);
  if (node.opset() < 9 && node.Int("spatial", 1) == 0) {
    return absl::UnimplementedError("spatial=0 is not supported");
  }
  BATON_ASSIGN_OR_RETURN(Expr mean, as(node.Input(3), dtype));
  BATON_ASSIGN_OR_RETURN(Expr variance, as(node.Input(4), dtype));
  Outputs result(1);
  if (node.opset() >= 14 && node.Int("training_mode", 0) != 0) {
    BATON_ASSIGN_OR_RETURN(const int rank, RankOf(x));
    Ints axes;
    for (int i = 0; i < rank; ++i) {
      if (i != 1) axes.push_back(i);
    }
    const Expr batch_mean = relay::Mean(x, {.axis = axes});
    const Expr batch_variance = relay::Variance(x, {.axis = axes});
    const double momentum = node.Float("momentum", 0.9);
    const auto running = [&](const Expr& old, const Expr& current) {
      Expr value = Add(Multiply(old, ScalarLike(momentum, x)),
                       Multiply(current, ScalarLike(1 - momentum, x)));
      return statistics_type == dtype
                 ? value
                 : relay::Cast(std::move(value), statistics_type);
    };
    result.push_back(running(mean, batch_mean));
    result.push_back(running(variance, batch_variance));
    mean = batch_mean;
    variance = batch_variance;
  }
  result[0] =
      relay::TupleGetItem(relay::nn::BatchNorm(x, scale, bias, mean, variance,
                                               {.axis = 1, .epsilon = epsilon}),
                          0);
  if (data_type != dtype) {
    result[0] = relay::Cast(std::move(result[0]), data_type);
  }
  return result;
}

absl::StatusOr<Outputs> InstanceNormalization(NodeContext& node) {
  return One(relay::nn::InstanceNorm(
      node.Input(0), node.Input(1), node.Input(2),
      {.axis = 1, .epsilon = node.Float("epsilon", 1e-5)}));
}

// `x` in the element type `dtype`.
absl::StatusOr<Expr> InType(NodeContext& node, const Expr& x, DType dtype) {
  BATON_ASSIGN_OR_RETURN(const DType from, ElementTypeOf(x));
  if (from == dtype) return x;
  return node.Typed(relay::Cast(x, dtype));
}

// The type in which means of elements `dtype` are computed: the wider one of it
// and of `stash`, what the attribute stash_type says. Squares of half floats
// overflow from 256 on.
absl::StatusOr<DType> NormalizedType(DType dtype, DType stash) {
  if (!stash.is_float()) {
    return absl::InvalidArgumentError("the stash_type is no float");
  }
  return dtype.bits() < stash.bits() ? stash : dtype;
}

absl::StatusOr<Outputs> LayerNormalization(NodeContext& node) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(x));
  BATON_ASSIGN_OR_RETURN(const int axis,
                         NormalAxis(node.Int("axis", -1), rank));
  const double epsilon = node.Float("epsilon", 1e-5);
  if (axis == rank - 1 && node.HasInput(2) && !node.HasOutput(1) &&
      !node.HasOutput(2)) {
    return One(relay::nn::LayerNorm(x, node.Input(1), node.Input(2),
                                    {.axis = -1, .epsilon = epsilon}));
  }
  BATON_ASSIGN_OR_RETURN(const DType dtype, ElementTypeOf(x));
  BATON_ASSIGN_OR_RETURN(const DType stash, DTypeOf(node.Int("stash_type", 1)));
  BATON_ASSIGN_OR_RETURN(const DType real, NormalizedType(dtype, stash));
  BATON_ASSIGN_OR_RETURN(const Expr wide, InType(node, x, real));
  BATON_ASSIGN_OR_RETURN(const Expr scale, InType(node, node.Input(1), real));
  Expr bias;
  if (node.HasInput(2)) {
    BATON_ASSIGN_OR_RETURN(bias, InType(node, node.Input(2), real));
  }
  Normalized result = LayerNormOf(wide, scale, bias, axis, epsilon);
  if (real != dtype) result.y = relay::Cast(std::move(result.y), dtype);
  // Mean and deviation have a type of their own.
  if (real != stash) {
    result.mean = relay::Cast(std::move(result.mean), stash);
    result.inverse = relay::Cast(std::move(result.inverse), stash);
  }
  return Outputs{std::move(result.y), std::move(result.mean),
                 std::move(result.inverse)};
}

absl::StatusOr<Outputs> RmsNormalization(NodeContext& node) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(x));
  BATON_ASSIGN_OR_RETURN(const int axis,
                         NormalAxis(node.Int("axis", -1), rank));
  BATON_ASSIGN_OR_RETURN(const DType dtype, ElementTypeOf(x));
  BATON_ASSIGN_OR_RETURN(const DType stash, DTypeOf(node.Int("stash_type", 1)));
  BATON_ASSIGN_OR_RETURN(const DType real, NormalizedType(dtype, stash));
  // The result has the type of the scale.
  BATON_ASSIGN_OR_RETURN(const DType to, ElementTypeOf(node.Input(1)));
  BATON_ASSIGN_OR_RETURN(const Expr wide, InType(node, x, real));
  BATON_ASSIGN_OR_RETURN(const Expr scale, InType(node, node.Input(1), real));
  Expr y = RmsNormOf(wide, scale, axis, node.Float("epsilon", 1e-5)).y;
  return One(real == to ? std::move(y) : relay::Cast(std::move(y), to));
}

absl::StatusOr<Outputs> GroupNormalization(NodeContext& node) {
  const Expr& x = node.Input(0);
  const int64_t groups = node.Int("num_groups", 0);
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(x));
  if (type->rank() < 2 || !type->dim(1).is_const() || groups < 1 ||
      type->dim(1).value() % groups != 0) {
    return absl::InvalidArgumentError("the channels cannot be grouped");
  }
  Expr scale = node.Input(1);
  Expr bias = node.Input(2);
  if (node.opset() < 21) {  // one a group
    const int64_t repeats = type->dim(1).value() / groups;
    scale = relay::Repeat(std::move(scale), repeats, 0);
    bias = relay::Repeat(std::move(bias), repeats, 0);
  }
  return One(relay::nn::GroupNorm(x, std::move(scale), std::move(bias),
                                  {.num_groups = static_cast<int>(groups),
                                   .axis = 1,
                                   .epsilon = node.Float("epsilon", 1e-5)}));
}

absl::StatusOr<Outputs> MeanVarianceNormalization(NodeContext& node) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(x));
  BATON_ASSIGN_OR_RETURN(
      Ints axes, DistinctAxes(node.Ints("axes").value_or(Ints{0, 2, 3}), rank));
  const Expr mean = relay::Mean(x, {.axis = axes, .keepdims = true});
  // ONNX defines the variance as the mean of the squares less the square of the
  // mean, which may be negative in floats if the elements are nearly equal.
  const Expr deviation = relay::Sqrt(
      relay::Variance(x, mean, {.axis = std::move(axes), .keepdims = true}));
  return One(Divide(Subtract(x, mean), Add(deviation, ScalarLike(1e-9, x))));
}

absl::StatusOr<Outputs> Lrn(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(node.Input(0)));
  if (rank < 2) return absl::InvalidArgumentError("data without channels");
  return One(relay::nn::Lrn(node.Input(0),
                            {.size = static_cast<int>(node.Int("size", 1)),
                             .axis = 1,
                             .bias = node.Float("bias", 1),
                             .alpha = node.Float("alpha", 1e-4),
                             .beta = node.Float("beta", 0.75)}));
}

// --- Products --------------------------------------------------------------

absl::StatusOr<Outputs> Gemm(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(Expr result, GemmProduct(node));
  return One(std::move(result));
}

absl::StatusOr<Outputs> MatMul(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(
      Expr result, MatrixProduct(node, node.Input(0), node.Input(1), DType()));
  return One(std::move(result));
}

BATON_ONNX_CONVERTERS({
    {"AveragePool", AveragePool},
    {"BatchNormalization", BatchNormalization},
    {"Conv", Conv},
    {"ConvTranspose", ConvTranspose},
    {"Gemm", Gemm},
    {"GlobalAveragePool", GlobalPool},
    {"GlobalLpPool", GlobalLpPool},
    {"GlobalMaxPool", GlobalPool},
    {"GroupNormalization", GroupNormalization, 18},
    {"InstanceNormalization", InstanceNormalization, 6},
    {"LRN", Lrn},
    // Since opset 17; ONNX Runtime's optimizer writes it into older models.
    {"LayerNormalization", LayerNormalization},
    {"LpNormalization", LpNormalization},
    {"LpPool", LpPool, 2},
    {"MatMul", MatMul},
    {"MaxPool", MaxPool},
    {"MeanVarianceNormalization", MeanVarianceNormalization, 9},
    {"RMSNormalization", RmsNormalization, 23},
});

}  // namespace
}  // namespace baton::onnx
