#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/gradient_helpers.h"
#include "baton/relay/op/gradients.h"
#include "baton/relay/op/nn.h"
#include "baton/relay/op/tensor.h"
#include "baton/relay/op/window_math.h"

namespace baton::relay {
namespace {

using internal::DTypeOf;
using internal::Exprs;
using internal::GradientsOr;
using internal::ScalarInt32;
using internal::ShapeOfTyped;
using internal::TensorTypeOf;
using internal::Unknown;

BATON_EXTEND_OP("nn.softmax")
    .Set(Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const int axis = AttrsOrDefaults<SoftmaxAttrs>(call->attrs()).axis;
      const Expr sum =
          Sum(Multiply(grad, call), {.axis = {{axis}}, .keepdims = true});
      return Exprs{Multiply(Subtract(grad, sum), call)};
    });
BATON_EXTEND_OP("nn.log_softmax")
    .Set(Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const int axis = AttrsOrDefaults<SoftmaxAttrs>(call->attrs()).axis;
      const Expr sum = Sum(grad, {.axis = {{axis}}, .keepdims = true});
      return Exprs{Subtract(grad, Multiply(sum, Exp(call)))};
    });

BATON_EXTEND_OP("nn.bias_add")
    .Set(Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const int axis = AttrsOrDefaults<BiasAddAttrs>(call->attrs()).axis;
      return Exprs{CollapseSumLike(grad, call->arg(0)),
                   Sum(grad, {.axis = {{axis}}, .exclude = true})};
    });

GradientsOr DenseGradient(const Call& call, const Expr& grad) {
  const Expr& data = call->arg(0);
  const Expr& weight = call->arg(1);
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* const data_type,
                         TensorTypeOf(call, data));
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* const weight_type,
                         TensorTypeOf(call, weight));
  if (data_type->rank() != 2 || weight_type->rank() != 2) {
    return Unknown(call, "for operands that are no matrices");
  }
  return Exprs{CollapseSumLike(nn::Dense(grad, Transpose(weight),
                                         {.units = weight_type->shape()[1]}),
                               data),
               CollapseSumLike(nn::Dense(Transpose(grad), Transpose(data),
                                         {.units = data_type->shape()[1]}),
                               weight)};
}
BATON_EXTEND_OP("nn.dense").Set(Gradients(), DenseGradient);

BATON_EXTEND_OP("nn.matmul")
    .Set(Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const auto& attrs = AttrsOrDefaults<MatmulAttrs>(call->attrs());
      const Expr& a = call->arg(0);
      const Expr& b = call->arg(1);
      if (attrs.transpose_a && attrs.transpose_b) {
        const MatmulAttrs both = {.transpose_a = true, .transpose_b = true};
        return Exprs{CollapseSumLike(nn::Matmul(b, grad, both), a),
                     CollapseSumLike(nn::Matmul(grad, a, both), b)};
      }
      // nn.dense is the product whose second operand alone is transposed.
      if (attrs.transpose_a) {
        return Exprs{CollapseSumLike(nn::Dense(b, grad), a),
                     CollapseSumLike(nn::Matmul(a, grad), b)};
      }
      if (attrs.transpose_b) return DenseGradient(call, grad);
      return Exprs{
          CollapseSumLike(nn::Dense(grad, b), a),
          CollapseSumLike(nn::Matmul(a, grad, {.transpose_a = true}), b)};
    });

BATON_EXTEND_OP("nn.batch_matmul")
    .Set(Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const auto& attrs = AttrsOrDefaults<BatchMatmulAttrs>(call->attrs());
      const Expr& a = call->arg(0);
      const Expr& b = call->arg(1);
      const auto product = [](Expr x, Expr y, bool transpose_x,
                              bool transpose_y) {
        return nn::BatchMatmul(
            std::move(x), std::move(y),
            {.transpose_a = transpose_x, .transpose_b = transpose_y});
      };
      if (attrs.transpose_a && attrs.transpose_b) {
        return Exprs{CollapseSumLike(product(b, grad, true, true), a),
                     CollapseSumLike(product(grad, a, true, true), b)};
      }
      if (attrs.transpose_a) {
        return Exprs{CollapseSumLike(product(b, grad, false, true), a),
                     CollapseSumLike(product(a, grad, false, false), b)};
      }
      if (attrs.transpose_b) {
        const auto transposed = [](const Expr& x) {
          return Transpose(x, {{0, 2, 1}});
        };
        return Exprs{
            CollapseSumLike(product(grad, transposed(b), false, true), a),
            CollapseSumLike(
                product(transposed(grad), transposed(a), false, true), b)};
      }
      return Exprs{CollapseSumLike(product(grad, b, false, true), a),
                   CollapseSumLike(product(a, grad, true, false), b)};
    });

GradientsOr Conv2DGradient(const Call& call, const Expr& grad) {
  const auto& attrs = AttrsOrDefaults<Conv2DAttrs>(call->attrs());
  const Expr& data = call->arg(0);
  const Expr& weight = call->arg(1);
  if (attrs.data_layout != "NCHW" || attrs.kernel_layout != "OIHW" ||
      (!attrs.out_layout.empty() && attrs.out_layout != "NCHW")) {
    return Unknown(call, "for layouts other than NCHW and OIHW");
  }
  BATON_ASSIGN_OR_RETURN(const std::vector<int64_t> data_shape,
                         ShapeOfTyped(call, data));
  BATON_ASSIGN_OR_RETURN(const std::vector<int64_t> weight_shape,
                         ShapeOfTyped(call, weight));
  BATON_ASSIGN_OR_RETURN(const std::vector<int64_t> out_shape,
                         ShapeOfTyped(call, call));
  constexpr size_t kSpatial = 2;
  Dims padding = attrs.padding;
  SpellOutPadding(kSpatial, padding);
  Dims strides = attrs.strides;
  SpellOutAxes(kSpatial, strides);
  Dims dilation = attrs.dilation;
  SpellOutAxes(kSpatial, dilation);
  // The padding that a transposed convolution needs to reach the extents of the
  // data: strides leave some of the data out of every window.
  Dims output_padding;
  for (size_t i = 0; i < kSpatial; ++i) {
    for (const Dim& dim :
         {strides[i], dilation[i], padding[i], padding[i + kSpatial]}) {
      if (!dim.is_const()) return Unknown(call, "for symbolic attributes");
    }
    const int64_t window = (weight_shape[i + 2] - 1) * dilation[i].value() + 1;
    const int64_t covered = (out_shape[i + 2] - 1) * strides[i].value() -
                            padding[i].value() - padding[i + kSpatial].value() +
                            window;
    output_padding.push_back(data_shape[i + 2] - covered);
  }
  const DType out_dtype =
      attrs.out_dtype == DType() ? DTypeOf(data) : attrs.out_dtype;
  // The attributes of nn.conv2d_backward_weight are layouts of the gradient, of
  // the data and of the weight.
  return Exprs{nn::Conv2DTranspose(grad, weight,
                                   {.strides = strides,
                                    .output_padding = output_padding,
                                    .padding = padding,
                                    .dilation = dilation,
                                    .groups = attrs.groups,
                                    .out_dtype = out_dtype}),
               Call(BATON_OP("nn.conv2d_backward_weight"), {grad, data},
                    Attrs::Make(Conv2DAttrs{
                        .strides = strides,
                        .padding = padding,
                        .dilation = dilation,
                        .groups = attrs.groups,
                        .channels = attrs.channels,
                        .kernel_size = {weight_shape[2], weight_shape[3]},
                        .data_layout = "NCHW",
                        .kernel_layout = "NCHW",
                        .out_layout = "OIHW",
                        .out_dtype = out_dtype}))};
}
BATON_EXTEND_OP("nn.conv2d").Set(Gradients(), Conv2DGradient);

absl::Status ExpectNoDilation(const Call& call, const Dims& dilation) {
  for (const Dim& dim : dilation) {
    if (!dim.is_const(1)) return Unknown(call, "for dilated windows");
  }
  return absl::OkStatus();
}

BATON_EXTEND_OP("nn.max_pool2d")
    .Set(Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const auto& attrs = AttrsOrDefaults<MaxPool2DAttrs>(call->attrs());
      BATON_RETURN_IF_ERROR(ExpectNoDilation(call, attrs.dilation));
      return Exprs{
          Call(BATON_OP("nn.max_pool2d_grad"), {grad, call->arg(0)},
               Attrs::Make(MaxPool2DAttrs{.pool_size = attrs.pool_size,
                                          .strides = attrs.strides,
                                          .padding = attrs.padding,
                                          .layout = attrs.layout,
                                          .ceil_mode = attrs.ceil_mode}))};
    });
BATON_EXTEND_OP("nn.avg_pool2d")
    .Set(Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const auto& attrs = AttrsOrDefaults<AvgPool2DAttrs>(call->attrs());
      BATON_RETURN_IF_ERROR(ExpectNoDilation(call, attrs.dilation));
      return Exprs{Call(BATON_OP("nn.avg_pool2d_grad"), {grad, call->arg(0)},
                        Attrs::Make(AvgPool2DAttrs{
                            .pool_size = attrs.pool_size,
                            .strides = attrs.strides,
                            .padding = attrs.padding,
                            .layout = attrs.layout,
                            .ceil_mode = attrs.ceil_mode,
                            .count_include_pad = attrs.count_include_pad}))};
    });
BATON_EXTEND_OP("nn.global_avg_pool2d")
    .Set(Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const auto& attrs = AttrsOrDefaults<GlobalPool2DAttrs>(call->attrs());
      BATON_ASSIGN_OR_RETURN(const std::vector<int64_t> shape,
                             ShapeOfTyped(call, call->arg(0)));
      if (attrs.layout != "NCHW" && attrs.layout != "NHWC") {
        return Unknown(call, "for layouts other than NCHW and NHWC");
      }
      const size_t height = attrs.layout == "NCHW" ? 2 : 1;
      return Exprs{Call(BATON_OP("nn.avg_pool2d_grad"), {grad, call->arg(0)},
                        Attrs::Make(AvgPool2DAttrs{
                            .pool_size = {shape[height], shape[height + 1]},
                            .layout = attrs.layout}))};
    });

// The mean over the batch: `grad` divided by its size.
Expr PerSample(const Call& call, const Expr& grad) {
  const Expr& x = call->arg(0);
  const Expr batch = Take(ShapeOf(x), ScalarInt32(0), TakeAttrs{.axis = 0});
  return Divide(grad, Cast(batch, DTypeOf(x)));
}
BATON_EXTEND_OP("nn.cross_entropy")
    .Set(Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const Expr& x = call->arg(0);
      const Expr& y = call->arg(1);
      const Expr each = PerSample(call, grad);
      return Exprs{Divide(Multiply(Negative(each), y), x),
                   Multiply(Negative(each), Log(x))};
    });
BATON_EXTEND_OP("nn.cross_entropy_with_logits")
    .Set(Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const Expr each = PerSample(call, grad);
      return Exprs{Multiply(Negative(each), call->arg(1)),
                   Multiply(Negative(each), call->arg(0))};
    });

}  // namespace
}  // namespace baton::relay
