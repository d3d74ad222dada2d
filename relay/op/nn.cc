#include "baton/relay/op/nn.h"

#include <utility>

#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"

namespace baton::relay::nn {
namespace {

// One element stands for all spatial axes.
void Widen(int num_spatial, Dims& values) {
  if (values.size() == 1) values.assign(num_spatial, Dim(values[0]));
}

// All begins, then all ends.
void WidenPadding(int num_spatial, Dims& padding) {
  Widen(num_spatial, padding);
  if (static_cast<int>(padding.size()) == num_spatial) {
    const Dims begins = padding;
    padding.insert(padding.end(), begins.begin(), begins.end());
  }
}

template <typename A>
Attrs ConvAttrs(int num_spatial, A attrs) {
  Widen(num_spatial, attrs.strides);
  Widen(num_spatial, attrs.dilation);
  Widen(num_spatial, attrs.kernel_size);
  WidenPadding(num_spatial, attrs.padding);
  return Attrs::Make(std::move(attrs));
}

template <typename A>
Attrs ConvTransposeAttrs(int num_spatial, A attrs) {
  Widen(num_spatial, attrs.output_padding);
  return ConvAttrs(num_spatial, std::move(attrs));
}

template <typename A>
Attrs PoolAttrs(int num_spatial, A attrs) {
  Widen(num_spatial, attrs.pool_size);
  Widen(num_spatial, attrs.strides);
  Widen(num_spatial, attrs.dilation);
  WidenPadding(num_spatial, attrs.padding);
  return Attrs::Make(std::move(attrs));
}

}  // namespace

Expr Conv1D(Expr data, Expr weight, Conv1DAttrs attrs) {
  static const Op& kOp = *new Op(Op::Find("nn.conv1d"));
  return Call(kOp, {std::move(data), std::move(weight)},
              ConvAttrs(1, std::move(attrs)));
}

Expr Conv2D(Expr data, Expr weight, Conv2DAttrs attrs) {
  static const Op& kOp = *new Op(Op::Find("nn.conv2d"));
  return Call(kOp, {std::move(data), std::move(weight)},
              ConvAttrs(2, std::move(attrs)));
}

Expr Conv3D(Expr data, Expr weight, Conv3DAttrs attrs) {
  static const Op& kOp = *new Op(Op::Find("nn.conv3d"));
  return Call(kOp, {std::move(data), std::move(weight)},
              ConvAttrs(3, std::move(attrs)));
}

Expr Conv1DTranspose(Expr data, Expr weight, Conv1DTransposeAttrs attrs) {
  static const Op& kOp = *new Op(Op::Find("nn.conv1d_transpose"));
  return Call(kOp, {std::move(data), std::move(weight)},
              ConvTransposeAttrs(1, std::move(attrs)));
}

Expr Conv2DTranspose(Expr data, Expr weight, Conv2DTransposeAttrs attrs) {
  static const Op& kOp = *new Op(Op::Find("nn.conv2d_transpose"));
  return Call(kOp, {std::move(data), std::move(weight)},
              ConvTransposeAttrs(2, std::move(attrs)));
}

Expr Conv3DTranspose(Expr data, Expr weight, Conv3DTransposeAttrs attrs) {
  static const Op& kOp = *new Op(Op::Find("nn.conv3d_transpose"));
  return Call(kOp, {std::move(data), std::move(weight)},
              ConvTransposeAttrs(3, std::move(attrs)));
}

Expr Dense(Expr data, Expr weight, DenseAttrs attrs) {
  static const Op& kOp = *new Op(Op::Find("nn.dense"));
  return Call(kOp, {std::move(data), std::move(weight)},
              Attrs::Make(std::move(attrs)));
}

Expr Matmul(Expr tensor_a, Expr tensor_b, MatmulAttrs attrs) {
  static const Op& kOp = *new Op(Op::Find("nn.matmul"));
  return Call(kOp, {std::move(tensor_a), std::move(tensor_b)},
              Attrs::Make(std::move(attrs)));
}

Expr BatchMatmul(Expr tensor_a, Expr tensor_b, BatchMatmulAttrs attrs) {
  static const Op& kOp = *new Op(Op::Find("nn.batch_matmul"));
  return Call(kOp, {std::move(tensor_a), std::move(tensor_b)},
              Attrs::Make(std::move(attrs)));
}

Expr BiasAdd(Expr data, Expr bias, int axis) {
  static const Op& kOp = *new Op(Op::Find("nn.bias_add"));
  return Call(kOp, {std::move(data), std::move(bias)},
              Attrs::Make(BiasAddAttrs{.axis = axis}));
}

Expr Relu(Expr data) {
  static const Op& kOp = *new Op(Op::Find("nn.relu"));
  return Call(kOp, {std::move(data)});
}

Expr LeakyRelu(Expr data, double alpha) {
  static const Op& kOp = *new Op(Op::Find("nn.leaky_relu"));
  return Call(kOp, {std::move(data)},
              Attrs::Make(LeakyReluAttrs{.alpha = alpha}));
}

Expr PRelu(Expr data, Expr alpha, int axis) {
  static const Op& kOp = *new Op(Op::Find("nn.prelu"));
  return Call(kOp, {std::move(data), std::move(alpha)},
              Attrs::Make(PReluAttrs{.axis = axis}));
}

Expr Softmax(Expr data, int axis) {
  static const Op& kOp = *new Op(Op::Find("nn.softmax"));
  return Call(kOp, {std::move(data)}, Attrs::Make(SoftmaxAttrs{.axis = axis}));
}

Expr LogSoftmax(Expr data, int axis) {
  static const Op& kOp = *new Op(Op::Find("nn.log_softmax"));
  return Call(kOp, {std::move(data)}, Attrs::Make(SoftmaxAttrs{.axis = axis}));
}

Expr BatchNorm(Expr data, Expr gamma, Expr beta, Expr moving_mean,
               Expr moving_var, BatchNormAttrs attrs) {
  static const Op& kOp = *new Op(Op::Find("nn.batch_norm"));
  return Call(kOp,
              {std::move(data), std::move(gamma), std::move(beta),
               std::move(moving_mean), std::move(moving_var)},
              Attrs::Make(std::move(attrs)));
}

Expr InstanceNorm(Expr data, Expr gamma, Expr beta, InstanceNormAttrs attrs) {
  static const Op& kOp = *new Op(Op::Find("nn.instance_norm"));
  return Call(kOp, {std::move(data), std::move(gamma), std::move(beta)},
              Attrs::Make(std::move(attrs)));
}

Expr LayerNorm(Expr data, Expr gamma, Expr beta, LayerNormAttrs attrs) {
  static const Op& kOp = *new Op(Op::Find("nn.layer_norm"));
  return Call(kOp, {std::move(data), std::move(gamma), std::move(beta)},
              Attrs::Make(std::move(attrs)));
}

Expr GroupNorm(Expr data, Expr gamma, Expr beta, GroupNormAttrs attrs) {
  static const Op& kOp = *new Op(Op::Find("nn.group_norm"));
  return Call(kOp, {std::move(data), std::move(gamma), std::move(beta)},
              Attrs::Make(std::move(attrs)));
}

Expr Lrn(Expr data, LRNAttrs attrs) {
  static const Op& kOp = *new Op(Op::Find("nn.lrn"));
  return Call(kOp, {std::move(data)}, Attrs::Make(std::move(attrs)));
}

Expr L2Normalize(Expr data, double eps, std::vector<int64_t> axis) {
  static const Op& kOp = *new Op(Op::Find("nn.l2_normalize"));
  return Call(
      kOp, {std::move(data)},
      Attrs::Make(L2NormalizeAttrs{.eps = eps, .axis = std::move(axis)}));
}

Expr Dropout(Expr data, double rate) {
  static const Op& kOp = *new Op(Op::Find("nn.dropout"));
  return TupleGetItem(
      Call(kOp, {std::move(data)}, Attrs::Make(DropoutAttrs{.rate = rate})), 0);
}

Expr MaxPool1D(Expr data, MaxPool1DAttrs attrs) {
  static const Op& kOp = *new Op(Op::Find("nn.max_pool1d"));
  return Call(kOp, {std::move(data)}, PoolAttrs(1, std::move(attrs)));
}

Expr MaxPool2D(Expr data, MaxPool2DAttrs attrs) {
  static const Op& kOp = *new Op(Op::Find("nn.max_pool2d"));
  return Call(kOp, {std::move(data)}, PoolAttrs(2, std::move(attrs)));
}

Expr MaxPool3D(Expr data, MaxPool3DAttrs attrs) {
  static const Op& kOp = *new Op(Op::Find("nn.max_pool3d"));
  return Call(kOp, {std::move(data)}, PoolAttrs(3, std::move(attrs)));
}

Expr AvgPool1D(Expr data, AvgPool1DAttrs attrs) {
  static const Op& kOp = *new Op(Op::Find("nn.avg_pool1d"));
  return Call(kOp, {std::move(data)}, PoolAttrs(1, std::move(attrs)));
}

Expr AvgPool2D(Expr data, AvgPool2DAttrs attrs) {
  static const Op& kOp = *new Op(Op::Find("nn.avg_pool2d"));
  return Call(kOp, {std::move(data)}, PoolAttrs(2, std::move(attrs)));
}

Expr AvgPool3D(Expr data, AvgPool3DAttrs attrs) {
  static const Op& kOp = *new Op(Op::Find("nn.avg_pool3d"));
  return Call(kOp, {std::move(data)}, PoolAttrs(3, std::move(attrs)));
}

Expr GlobalMaxPool2D(Expr data, GlobalPool2DAttrs attrs) {
  static const Op& kOp = *new Op(Op::Find("nn.global_max_pool2d"));
  return Call(kOp, {std::move(data)}, Attrs::Make(std::move(attrs)));
}

Expr GlobalAvgPool2D(Expr data, GlobalPool2DAttrs attrs) {
  static const Op& kOp = *new Op(Op::Find("nn.global_avg_pool2d"));
  return Call(kOp, {std::move(data)}, Attrs::Make(std::move(attrs)));
}

Expr AdaptiveMaxPool2D(Expr data, AdaptivePool2DAttrs attrs) {
  static const Op& kOp = *new Op(Op::Find("nn.adaptive_max_pool2d"));
  return Call(kOp, {std::move(data)}, Attrs::Make(std::move(attrs)));
}

Expr AdaptiveAvgPool2D(Expr data, AdaptivePool2DAttrs attrs) {
  static const Op& kOp = *new Op(Op::Find("nn.adaptive_avg_pool2d"));
  return Call(kOp, {std::move(data)}, Attrs::Make(std::move(attrs)));
}

Expr BatchFlatten(Expr data) {
  static const Op& kOp = *new Op(Op::Find("nn.batch_flatten"));
  return Call(kOp, {std::move(data)});
}

Expr Pad(Expr data, std::vector<std::vector<int64_t>> pad_width, Expr pad_value,
         std::string pad_mode) {
  static const Op& kOp = *new Op(Op::Find("nn.pad"));
  return Call(kOp, {std::move(data), std::move(pad_value)},
              Attrs::Make(PadAttrs{.pad_width = std::move(pad_width),
                                   .pad_mode = std::move(pad_mode)}));
}

Expr UpSampling(Expr data, UpSamplingAttrs attrs) {
  static const Op& kOp = *new Op(Op::Find("nn.upsampling"));
  return Call(kOp, {std::move(data)}, Attrs::Make(std::move(attrs)));
}

}  // namespace baton::relay::nn
