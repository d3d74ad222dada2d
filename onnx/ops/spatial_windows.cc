#include "baton/onnx/ops/spatial_windows.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/type.h"
#include "baton/onnx/converter.h"
#include "baton/onnx/ops/extents.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/nn/conv.h"
#include "baton/relay/op/nn/spatial.h"
#include "baton/relay/op/tensor/create.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/op/tensor/indexing.h"

namespace baton::onnx {
namespace {

using Ints = std::vector<int64_t>;

// The most that a number of a window may be, given or worked out.
constexpr int64_t kMaxNumber = int64_t{1} << 40;

// A list with one number of at least `least` for each axis.
absl::StatusOr<Ints> PerAxis(NodeContext& node, const char* name, int axes,
                             int64_t otherwise, int64_t least) {
  std::optional<Ints> given = node.Ints(name);
  if (!given.has_value()) return Ints(axes, otherwise);
  if (static_cast<int>(given->size()) != axes) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, " has ", given->size(), " numbers, not ", axes));
  }
  for (const int64_t value : *given) {
    if (value < least || value > kMaxNumber) {
      return absl::InvalidArgumentError(absl::StrCat(
          name, " has the number ", value, ", which must be ", least,
          value < least ? " or more" : " or more, but not that large"));
    }
  }
  return *std::move(given);
}

}  // namespace

absl::Status SetPads(Window& window, int axis, absl::int128 total, bool upper) {
  if (total > kMaxNumber) {
    return absl::InvalidArgumentError("the padding is too large");
  }
  const auto all = static_cast<int64_t>(total);
  const int64_t less = all / 2;
  window.pads[axis] = upper ? less : all - less;
  window.pads[axis + window.pads.size() / 2] = upper ? all - less : less;
  return absl::OkStatus();
}

namespace {

enum class Padding { kGiven, kNone, kSameUpper, kSameLower };

bool IsSame(Padding padding) {
  return padding == Padding::kSameUpper || padding == Padding::kSameLower;
}

absl::StatusOr<Padding> PaddingOf(NodeContext& node) {
  const std::string auto_pad = node.String("auto_pad", "NOTSET");
  if (auto_pad == "NOTSET" || auto_pad.empty()) return Padding::kGiven;
  if (auto_pad == "VALID") return Padding::kNone;
  if (auto_pad == "SAME_UPPER") return Padding::kSameUpper;
  if (auto_pad == "SAME_LOWER") return Padding::kSameLower;
  return absl::InvalidArgumentError(absl::StrCat("auto_pad '", auto_pad, "'"));
}

// `extent`, of spatial axis `axis`, is known, or the stride is one: then the
// padding does not depend on it.
absl::Status SetSamePads(Window& window, int axis, const Dim& extent,
                         Padding padding) {
  const int64_t in = extent.is_const() ? extent.value() : 1;
  const int64_t stride = window.strides[axis];
  const int64_t outputs = (in + stride - 1) / stride;
  const absl::int128 total =
      absl::int128(outputs - 1) * stride +
      absl::int128(window.kernel[axis] - 1) * window.dilations[axis] + 1 - in;
  return SetPads(window, axis, std::max<absl::int128>(0, total),
                 padding == Padding::kSameUpper);
}

// `x` with the padding of spatial axis `axis`, whose extent is computed: as
// much on either side as there may be, of which the middle is taken.
Expr PaddedAxis(const Window& window, int axis, const Expr& x, bool upper,
                const Expr& fill) {
  const auto number = [](int64_t value) {
    return relay::Const(Tensor::Scalar<int64_t>(value));
  };
  const int64_t stride = window.strides[axis];
  const int64_t most = (window.kernel[axis] - 1) * window.dilations[axis];
  const Expr extent = ExtentOf(x, axis + 2);
  // The positions of the first elements of the windows.
  const Expr last = relay::Multiply(
      relay::FloorDivide(relay::Subtract(extent, number(1)), number(stride)),
      number(stride));
  const Expr total = relay::Maximum(
      relay::Subtract(relay::Add(last, number(most + 1)), extent), number(0));
  const Expr less = relay::FloorDivide(total, number(2));
  const Expr before = upper ? less : relay::Subtract(total, less);
  const Expr begin = relay::Subtract(number(most), before);
  const Expr end = relay::Add(begin, relay::Add(extent, total));
  std::vector<Ints> widths(window.kernel.size() + 2, Ints{0, 0});
  widths[axis + 2] = {most, most};
  return relay::Take(relay::nn::Pad(x, std::move(widths), fill),
                     relay::Arange(begin, end, number(1), DType::Int(64)),
                     {.axis = axis + 2});
}

}  // namespace

absl::StatusOr<Window> ReadWindow(NodeContext& node, const Expr& data,
                                  const Expr& weight, bool pads_later) {
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(data));
  const int axes = type->rank() - 2;
  if (axes < 1 || axes > 3) {
    return absl::UnimplementedError(
        absl::StrCat("data of rank ", type->rank(), " is not supported"));
  }
  Window result;
  if (node.HasAttr("kernel_shape") || !weight.defined()) {
    BATON_ASSIGN_OR_RETURN(result.kernel,
                           PerAxis(node, "kernel_shape", axes, 0, 1));
    if (!node.HasAttr("kernel_shape")) {
      return absl::InvalidArgumentError("kernel_shape is missing");
    }
  } else {
    BATON_ASSIGN_OR_RETURN(const Ints shape, ShapeOf(weight));
    if (shape.size() < 3) {
      return absl::InvalidArgumentError("the kernel must have rank 3 or more");
    }
    result.kernel.assign(shape.begin() + 2, shape.end());
    if (static_cast<int>(result.kernel.size()) != axes) {
      return absl::InvalidArgumentError(
          "the kernel and the data must have as many spatial axes");
    }
  }
  BATON_ASSIGN_OR_RETURN(result.strides, PerAxis(node, "strides", axes, 1, 1));
  BATON_ASSIGN_OR_RETURN(result.dilations,
                         PerAxis(node, "dilations", axes, 1, 1));
  for (int i = 0; i < axes; ++i) {
    if (absl::int128(result.kernel[i]) * result.dilations[i] > kMaxNumber) {
      return absl::InvalidArgumentError(
          absl::StrCat("a window of ", result.kernel[i], " with dilation ",
                       result.dilations[i], " is too large"));
    }
  }
  BATON_ASSIGN_OR_RETURN(const Padding padding, PaddingOf(node));
  result.pads.assign(2 * axes, 0);
  if (padding == Padding::kGiven) {
    BATON_ASSIGN_OR_RETURN(result.pads, PerAxis(node, "pads", 2 * axes, 0, 0));
  }
  if (!IsSame(padding) || pads_later) return result;
  for (int i = 0; i < axes; ++i) {
    const Dim& dim = type->dim(i + 2);
    if (!dim.is_const() && result.strides[i] != 1) {
      return absl::UnimplementedError(absl::StrCat(
          node.String("auto_pad", ""), " needs known extents of the data"));
    }
    BATON_RETURN_IF_ERROR(SetSamePads(result, i, dim, padding));
  }
  return result;
}

namespace {

// Refuses windows that are larger than the data with its padding. Where there
// is no data, there may be no window either.
absl::Status CheckFits(const Window& window, const TensorTypeNode& data) {
  const int axes = static_cast<int>(window.kernel.size());
  for (int i = 0; i < axes; ++i) {
    const Dim& dim = data.dim(i + 2);
    if (!dim.is_const()) continue;
    const absl::int128 span =
        absl::int128(window.kernel[i] - 1) * window.dilations[i] + 1;
    const int64_t before = window.pads[i];
    const int64_t after = window.pads[i + axes];
    const int64_t fewest = dim.value() == 0 ? 0 : 1;
    if (absl::int128(dim.value()) + before + after - span + window.strides[i] >=
        absl::int128(fewest) * window.strides[i]) {
      continue;
    }
    return absl::InvalidArgumentError(
        absl::StrCat("a window of ", static_cast<int64_t>(span),
                     " elements along axis ", i + 2, " does not fit into ",
                     dim.value(), " with padding of ", before, " and ", after));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<PaddedWindow> ReadPaddedWindow(NodeContext& node,
                                              const Expr& data,
                                              const Expr& weight, double fill) {
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(data));
  BATON_ASSIGN_OR_RETURN(const Padding padding, PaddingOf(node));
  PaddedWindow result;
  BATON_ASSIGN_OR_RETURN(result.window,
                         ReadWindow(node, data, weight, /*pads_later=*/true));
  result.data = data;
  if (!IsSame(padding)) {
    BATON_RETURN_IF_ERROR(CheckFits(result.window, *type));
    return result;
  }
  for (int i = 0; i < static_cast<int>(result.window.kernel.size()); ++i) {
    const Dim& dim = type->dim(i + 2);
    if (dim.is_const() || result.window.strides[i] == 1) {
      BATON_RETURN_IF_ERROR(SetSamePads(result.window, i, dim, padding));
      continue;
    }
    result.is_padded = true;
    BATON_ASSIGN_OR_RETURN(result.data,
                           node.Typed(PaddedAxis(result.window, i, result.data,
                                                 padding == Padding::kSameUpper,
                                                 ScalarLike(fill, data))));
  }
  return result;
}

namespace {

template <typename Attrs>
Attrs ConvAttrs(const Window& window, const Dim& channels, int64_t groups,
                DType out_dtype) {
  const auto dims = [](const Ints& values) {
    return Dims(values.begin(), values.end());
  };
  Attrs attrs;
  attrs.strides = dims(window.strides);
  attrs.padding = dims(window.pads);
  attrs.dilation = dims(window.dilations);
  attrs.groups = static_cast<int>(groups);
  if (channels.is_const()) attrs.channels = channels;
  attrs.kernel_size = dims(window.kernel);
  attrs.out_dtype = out_dtype;
  return attrs;
}

absl::StatusOr<int64_t> Groups(NodeContext& node,
                               const TensorTypeNode* weight) {
  const int64_t groups = node.Int("group", 1);
  if (weight->rank() < 3 || groups < 1 || groups > 1 << 30) {
    return absl::InvalidArgumentError("the kernel's rank or the groups");
  }
  return groups;
}

}  // namespace

absl::StatusOr<relay::Conv2DAttrs> Conv2DAttrsOf(NodeContext& node,
                                                 const Expr& data,
                                                 const Expr& weight,
                                                 DType out_dtype) {
  BATON_ASSIGN_OR_RETURN(const Window window,
                         ReadWindow(node, data, weight, false));
  if (window.kernel.size() != 2) {
    return absl::UnimplementedError("only two spatial axes are supported");
  }
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(weight));
  BATON_ASSIGN_OR_RETURN(const int64_t groups, Groups(node, type));
  return ConvAttrs<relay::Conv2DAttrs>(window, type->dim(0), groups, out_dtype);
}

absl::StatusOr<Expr> Convolution(NodeContext& node, const Expr& data,
                                 const Expr& weight, DType out_dtype) {
  BATON_ASSIGN_OR_RETURN(const PaddedWindow padded,
                         ReadPaddedWindow(node, data, weight, 0));
  const Window& window = padded.window;
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(weight));
  BATON_ASSIGN_OR_RETURN(const int64_t groups, Groups(node, type));
  const Dim& channels = type->dim(0);
  switch (window.kernel.size()) {
    case 1:
      return relay::nn::Conv1D(
          padded.data, weight,
          ConvAttrs<relay::Conv1DAttrs>(window, channels, groups, out_dtype));
    case 2:
      return relay::nn::Conv2D(
          padded.data, weight,
          ConvAttrs<relay::Conv2DAttrs>(window, channels, groups, out_dtype));
    default:
      return relay::nn::Conv3D(
          padded.data, weight,
          ConvAttrs<relay::Conv3DAttrs>(window, channels, groups, out_dtype));
  }
}

}  // namespace baton::onnx
