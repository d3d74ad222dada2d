#include "baton/relay/transform/conv3d_as_conv2d.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "baton/base/all_finite.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/op/nn/conv.h"
#include "baton/relay/op/nn/spatial.h"
#include "baton/relay/op/tensor/indexing.h"
#include "baton/relay/op/tensor/shape.h"
#include "baton/relay/op/window_math.h"
#include "baton/relay/pattern/dataflow_pattern.h"
#include "baton/relay/pattern/matcher.h"
#include "baton/relay/pattern/rewrite_rule.h"
#include "baton/relay/pattern/rule_registry.h"
#include "baton/relay/transform/fold_constant.h"
#include "baton/relay/transform/rewrite.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {
namespace {

// The kernels add up products of 16 channels at a time.
constexpr int64_t kBlock = 16;

// Fewer channels than half of a block.
constexpr int64_t kFewChannels = 7;
// The largest table by which rows are unfolded.
constexpr int64_t kMaxTable = 1 << 20;

// Larger extents are left alone, so that sums and products of them are numbers.
constexpr int64_t kMaxExtent = 1 << 20;
constexpr int64_t kMaxPlanes = 1 << 24;

// Data with more elements, unfolded, is left alone.
constexpr double kMaxUnfolded = 1 << 26;

using Shape = std::vector<int64_t>;

// The extents of `type`, of rank 5; nullopt if they are not known, or one is 0
// or large.
std::optional<Shape> ExtentsOf(const TensorTypeNode* type) {
  if (type == nullptr || type->rank() != 5) return std::nullopt;
  const auto dims = ConstDims(type->shape());
  if (!dims.has_value() || !absl::c_all_of(*dims, [](int64_t extent) {
        return extent > 0 && extent <= kMaxExtent;
      })) {
    return std::nullopt;
  }
  return Shape(dims->begin(), dims->end());
}

// True if convolutions over two axes have kernels for the types: float32, half
// floats, and bytes whose sums are int32.
bool HaveKernels(const TensorTypeNode& data, const TensorTypeNode& weight,
                 const TensorTypeNode& result) {
  if (data.dtype().is_byte()) {
    return weight.dtype().is_byte() && result.dtype() == DType::Int(32);
  }
  const auto is_float = [](const TensorTypeNode& type) {
    return type.dtype().is_float() && type.dtype().bits() <= 32;
  };
  return is_float(data) && is_float(weight) && is_float(result);
}

// `n` numbers of an attribute; nullopt if they are not known or not small.
std::optional<Shape> NumbersOf(const Dims& dims, size_t n) {
  const auto numbers = ConstDims(dims);
  if (!numbers.has_value() || numbers->size() != n ||
      !absl::c_all_of(*numbers, [](int64_t number) {
        return number >= 0 && number <= kMaxExtent;
      })) {
    return std::nullopt;
  }
  return Shape(numbers->begin(), numbers->end());
}

Shape Permuted(const Shape& shape, const std::vector<size_t>& axes) {
  Shape result;
  for (const size_t axis : axes) result.push_back(shape[axis]);
  return result;
}

// `x` with `before` and `after` zeros at the ends of axis `axis` of five.
Expr WithZeros(Expr x, DType dtype, size_t axis, int64_t before,
               int64_t after) {
  if (before == 0 && after == 0) return x;
  std::vector<Shape> widths(5, {0, 0});
  widths[axis] = {before, after};
  return nn::Pad(std::move(x), std::move(widths), Const(0.0, dtype));
}

absl::StatusOr<Expr> AsConv2D(const PatternMatch& m,
                              const DataflowPattern& data_part,
                              const DataflowPattern& weight_part,
                              const DataflowPattern& conv) {
  const Tensor* const weight_value = ConstantTensor(m[weight_part]);
  if (weight_value == nullptr) {
    return m.Decline("the weight is not a constant: neither form has a kernel");
  }
  const TensorTypeNode* type = m.tensor_type(data_part);
  auto data = ExtentsOf(type);
  auto weight = ExtentsOf(m.tensor_type(weight_part));
  auto result = ExtentsOf(m.tensor_type(conv));
  if (!data.has_value() || !weight.has_value() || !result.has_value() ||
      !HaveKernels(*type, *m.tensor_type(weight_part), *m.tensor_type(conv))) {
    return m.Decline("the shapes and element types have no other form");
  }
  const auto& attrs = m.attrs<Conv3DAttrs>(conv);
  const bool channels_last = attrs.data_layout == "NDHWC";
  if ((!channels_last && attrs.data_layout != "NCDHW") ||
      attrs.kernel_layout != (channels_last ? "DHWIO" : "OIDHW") ||
      (!attrs.out_layout.empty() && attrs.out_layout != attrs.data_layout)) {
    return m.Decline("the layouts have no other form");
  }
  if (channels_last) {
    data = Permuted(*data, {0, 4, 1, 2, 3});
    weight = Permuted(*weight, {4, 3, 0, 1, 2});
    result = Permuted(*result, {0, 4, 1, 2, 3});
  }
  Dims all_padding = attrs.padding;
  SpellOutPadding(3, all_padding);
  Dims all_strides = attrs.strides;
  SpellOutAxes(3, all_strides);
  Dims all_dilation = attrs.dilation;
  SpellOutAxes(3, all_dilation);
  const auto padding = NumbersOf(all_padding, 6);
  const auto strides = NumbersOf(all_strides, 3);
  const auto dilation = NumbersOf(all_dilation, 3);
  if (!padding.has_value() || !strides.has_value() || !dilation.has_value()) {
    return m.Decline("an attribute is not a number");
  }
  const int64_t groups = attrs.groups;
  const Shape& x = *data;
  const Shape& w = *weight;
  const Shape& y = *result;
  const Shape& pad = *padding;
  const int64_t channels = x[1];
  const int64_t in_group = w[1];
  if (groups > 1 && (in_group % kBlock != 0 || in_group * groups != channels)) {
    return m.Decline("groups divide blocks of channels");
  }
  const bool is_finite = AllFinite(*weight_value);
  if ((pad[0] > 0 || pad[3] > 0) && !is_finite) {
    return m.Decline("the depth is padded, and the weight may be infinite");
  }
  // Rows are unfolded, too, where blocks would be empty for the most part.
  const bool of_rows = channels <= kFewChannels &&
                       (is_finite || (pad[1] == 0 && pad[4] == 0)) &&
                       y[2] * y[3] <= kMaxTable / (channels * w[2] * w[3]);
  const int64_t block = of_rows ? 1 : kBlock;
  // Missing channels of the last block are zeros.
  const int64_t blocks = (in_group + block - 1) / block;
  const int64_t missing = blocks * block - in_group;
  // Planes of blocks, or rows of channels, are taken from the data.
  const int64_t planes = groups * blocks;
  const int64_t depth = x[2] + pad[0] + pad[3];
  const int64_t rows = of_rows ? x[3] + pad[1] + pad[4] : 1;
  const int64_t out_rows = of_rows ? y[3] : 1;
  const int64_t kernel_rows = of_rows ? w[3] : 1;
  const double unfolded =
      static_cast<double>(x[0]) * y[2] * planes * w[2] * x[4] *
      (of_rows ? static_cast<double>(y[3]) * w[3] : kBlock * x[3]);
  if (y[2] > kMaxPlanes / planes / w[2] || depth > kMaxPlanes / planes / rows ||
      unfolded > kMaxUnfolded) {
    return m.Decline("the data is too large");
  }
  const DType dtype = type->dtype();
  Expr slices = Transpose(
      m[data_part],
      channels_last ? (of_rows ? Shape{0, 1, 2, 4, 3} : Shape{0, 1, 4, 2, 3})
                    : (of_rows ? Shape{0, 2, 3, 1, 4} : Shape{0, 2, 1, 3, 4}));
  slices = WithZeros(std::move(slices), dtype, 1, pad[0], pad[3]);
  slices = of_rows ? WithZeros(std::move(slices), dtype, 2, pad[1], pad[4])
                   : WithZeros(std::move(slices), dtype, 2, 0, missing);
  if (of_rows || w[2] > 1 || (*strides)[0] > 1) {
    std::vector<int32_t> indices;
    // By output, plane and tap; the last varies fastest.
    const Shape order = {y[2], out_rows, planes, w[2], kernel_rows};
    Shape at(order.size(), 0);
    for (size_t moved = 0; moved < order.size();) {
      const int64_t slice = at[0] * (*strides)[0] + at[3] * (*dilation)[0];
      const int64_t row = at[1] * (*strides)[1] + at[4] * (*dilation)[1];
      indices.push_back(
          static_cast<int32_t>((slice * rows + row) * planes + at[2]));
      for (moved = 0; moved < order.size(); ++moved) {
        const size_t axis = order.size() - 1 - moved;
        if (++at[axis] < order[axis]) break;
        at[axis] = 0;
      }
    }
    BATON_ASSIGN_OR_RETURN(
        Tensor table, Tensor::FromValues<int32_t>(
                          {static_cast<int64_t>(indices.size())}, indices));
    slices = Reshape(std::move(slices), {x[0], depth * rows * planes,
                                         of_rows ? 1 : kBlock * x[3], x[4]});
    slices = Take(std::move(slices), Const(std::move(table)), {.axis = 1});
  }
  slices =
      Reshape(std::move(slices),
              of_rows ? Shape{x[0] * y[2] * y[3], channels, w[2] * w[3], x[4]}
                      : Shape{x[0] * y[2], planes * w[2] * kBlock, x[3], x[4]});
  Expr taps = m[weight_part];
  if (channels_last) taps = Transpose(std::move(taps), {{4, 3, 0, 1, 2}});
  Conv2DAttrs flat;
  flat.strides = {of_rows ? 1 : (*strides)[1], (*strides)[2]};
  flat.dilation = {of_rows ? 1 : (*dilation)[1], (*dilation)[2]};
  flat.groups = attrs.groups;
  flat.channels = Dim(w[0]);
  flat.out_dtype = attrs.out_dtype;
  if (of_rows) {
    taps = Reshape(std::move(taps), {w[0], channels, w[2] * w[3], w[4]});
    flat.padding = {0, pad[2], 0, pad[5]};
    flat.kernel_size = {w[2] * w[3], w[4]};
  } else {
    taps = WithZeros(std::move(taps), m.tensor_type(weight_part)->dtype(), 1, 0,
                     missing);
    taps = Reshape(std::move(taps), {w[0], blocks, kBlock, w[2], w[3], w[4]});
    taps = Transpose(std::move(taps), {{0, 1, 3, 2, 4, 5}});
    taps = Reshape(std::move(taps), {w[0], blocks * w[2] * kBlock, w[3], w[4]});
    flat.padding = {pad[1], pad[2], pad[4], pad[5]};
    flat.kernel_size = {w[3], w[4]};
  }
  // Missing channels are at most as many as a block has.
  const int64_t most_elements = weight_value->num_elements() * kBlock;
  BATON_ASSIGN_OR_RETURN(taps, InferTypeOf(taps, nullptr));
  BATON_ASSIGN_OR_RETURN(
      taps, FoldConstantInExpr(taps, {.max_elements = most_elements,
                                      .max_growth = most_elements,
                                      .in_memory = true}));
  Expr images = nn::Conv2D(std::move(slices), std::move(taps), std::move(flat));
  if (of_rows) {
    images = Reshape(std::move(images), {x[0], y[2], y[3], w[0], y[4]});
    return Transpose(std::move(images), channels_last ? Shape{0, 1, 2, 4, 3}
                                                      : Shape{0, 3, 1, 2, 4});
  }
  images = Reshape(std::move(images), {x[0], y[2], w[0], y[3], y[4]});
  return Transpose(std::move(images),
                   channels_last ? Shape{0, 1, 3, 4, 2} : Shape{0, 2, 1, 3, 4});
}

RewriteRule Rule() {
  const DataflowPattern data = Wildcard("data");
  const DataflowPattern weight = Wildcard("weight");
  const DataflowPattern conv = IsOp("nn.conv3d")(data, weight);
  return {.name = "conv3d_as_conv2d",
          .passes = {"Conv3dAsConv2d"},
          .doc = "A convolution over three axes is one over two.",
          .pattern = conv,
          .replace = [=](const PatternMatch& m) -> absl::StatusOr<Expr> {
            return AsConv2D(m, data, weight, conv);
          }};
}
BATON_REGISTER_RULE(Rule);

}  // namespace

Pass Conv3dAsConv2d() {
  return OwnRulesPass(
      {.name = "Conv3dAsConv2d",
       .required = {"InferType"},
       .doc = "Computes convolutions over three axes as such over two.",
       .invalidates = {"a_normal_form"},
       .idempotent = true});
}
BATON_REGISTER_PASS(Conv3dAsConv2d);

}  // namespace baton::relay
