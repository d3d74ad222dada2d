#include "baton/onnx/ops/windows.h"

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
#include "baton/ir/type.h"
#include "baton/onnx/converter.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/nn/conv.h"

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
  if (static_cast<int>(given->size()) != axes ||
      std::any_of(given->begin(), given->end(), [least](int64_t value) {
        return value < least || value > kMaxNumber;
      })) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, " does not fit ", axes, " axes"));
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
    if (shape.size() < 3)
      return absl::InvalidArgumentError("the kernel's rank");
    result.kernel.assign(shape.begin() + 2, shape.end());
    if (static_cast<int>(result.kernel.size()) != axes) {
      return absl::InvalidArgumentError("the kernel's rank");
    }
  }
  BATON_ASSIGN_OR_RETURN(result.strides, PerAxis(node, "strides", axes, 1, 1));
  BATON_ASSIGN_OR_RETURN(result.dilations,
                         PerAxis(node, "dilations", axes, 1, 1));
  const std::string auto_pad = node.String("auto_pad", "NOTSET");
  const bool is_same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  if (auto_pad != "NOTSET" && auto_pad != "VALID" && auto_pad != "" &&
      !is_same) {
    return absl::InvalidArgumentError(
        absl::StrCat("auto_pad '", auto_pad, "'"));
  }
  result.pads.assign(2 * axes, 0);
  if (is_same && !pads_later) {
    for (int i = 0; i < axes; ++i) {
      const Dim& dim = type->dim(i + 2);
      if (!dim.is_const() && result.strides[i] != 1) {
        return absl::UnimplementedError(
            absl::StrCat(auto_pad, " needs known extents of the data"));
      }
      // With strides of one the padding does not depend on the extent.
      const int64_t extent = dim.is_const() ? dim.value() : 1;
      const int64_t outputs =
          (extent + result.strides[i] - 1) / result.strides[i];
      const absl::int128 total =
          absl::int128(outputs - 1) * result.strides[i] +
          absl::int128(result.kernel[i] - 1) * result.dilations[i] + 1 - extent;
      BATON_RETURN_IF_ERROR(SetPads(result, i, std::max<absl::int128>(0, total),
                                    auto_pad == "SAME_UPPER"));
    }
  } else if (!is_same && auto_pad != "VALID") {
    BATON_ASSIGN_OR_RETURN(result.pads, PerAxis(node, "pads", 2 * axes, 0, 0));
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
  BATON_ASSIGN_OR_RETURN(const Window window,
                         ReadWindow(node, data, weight, false));
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(weight));
  BATON_ASSIGN_OR_RETURN(const int64_t groups, Groups(node, type));
  const Dim& channels = type->dim(0);
  switch (window.kernel.size()) {
    case 1:
      return relay::nn::Conv1D(
          data, weight,
          ConvAttrs<relay::Conv1DAttrs>(window, channels, groups, out_dtype));
    case 2:
      return relay::nn::Conv2D(
          data, weight,
          ConvAttrs<relay::Conv2DAttrs>(window, channels, groups, out_dtype));
    default:
      return relay::nn::Conv3D(
          data, weight,
          ConvAttrs<relay::Conv3DAttrs>(window, channels, groups, out_dtype));
  }
}

}  // namespace baton::onnx
