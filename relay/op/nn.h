// Builders of calls of the neural-network operators (`nn.*`).
//
//   Expr y = nn::Conv2D(x, w, {.padding = {1, 1}, .channels = 64,
//                              .kernel_size = {3, 3}});
//   Expr z = nn::Relu(nn::BiasAdd(y, b));
//
// Strides, dilations, kernel and pool sizes of one element are widened to all
// spatial axes, and padding to all begins and then all ends (for two axes: top,
// left, bottom, right).

#ifndef BATON_RELAY_OP_NN_H_
#define BATON_RELAY_OP_NN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "baton/relay/ir/expr.h"
#include "baton/relay/op/nn_attrs.h"

namespace baton::relay::nn {

// Convolutions.
Expr Conv1D(Expr data, Expr weight, Conv1DAttrs attrs = {});
Expr Conv2D(Expr data, Expr weight, Conv2DAttrs attrs = {});
Expr Conv3D(Expr data, Expr weight, Conv3DAttrs attrs = {});
Expr Conv1DTranspose(Expr data, Expr weight, Conv1DTransposeAttrs attrs = {});
Expr Conv2DTranspose(Expr data, Expr weight, Conv2DTransposeAttrs attrs = {});
Expr Conv3DTranspose(Expr data, Expr weight, Conv3DTransposeAttrs attrs = {});

// Matrix products.
Expr Dense(Expr data, Expr weight, DenseAttrs attrs = {});
Expr Matmul(Expr tensor_a, Expr tensor_b, MatmulAttrs attrs = {});
// Here, as usual where batches are multiplied, the right operands are given
// transposed; attributes say it if they are not.
Expr BatchMatmul(Expr tensor_a, Expr tensor_b,
                 BatchMatmulAttrs attrs = {.transpose_b = true});

// Element by element, or by channel.
Expr BiasAdd(Expr data, Expr bias, int axis = 1);
Expr Relu(Expr data);
Expr LeakyRelu(Expr data, double alpha);
Expr PRelu(Expr data, Expr alpha, int axis = 1);
Expr Softmax(Expr data, int axis = -1);
Expr LogSoftmax(Expr data, int axis = -1);

// Normalizations.
//
// A tuple: the normalized data, and the moving mean and variance. For the data
// alone, `TupleGetItem(nn::BatchNorm(...), 0)`.
Expr BatchNorm(Expr data, Expr gamma, Expr beta, Expr moving_mean,
               Expr moving_var, BatchNormAttrs attrs = {});
Expr InstanceNorm(Expr data, Expr gamma, Expr beta,
                  InstanceNormAttrs attrs = {});
Expr LayerNorm(Expr data, Expr gamma, Expr beta, LayerNormAttrs attrs = {});
Expr GroupNorm(Expr data, Expr gamma, Expr beta, GroupNormAttrs attrs);
Expr Lrn(Expr data, LRNAttrs attrs = {});
Expr L2Normalize(Expr data, double eps, std::vector<int64_t> axis);
// The data; in training, with elements dropped.
Expr Dropout(Expr data, double rate = 0.5);

// Pooling.
Expr MaxPool1D(Expr data, MaxPool1DAttrs attrs);
Expr MaxPool2D(Expr data, MaxPool2DAttrs attrs);
Expr MaxPool3D(Expr data, MaxPool3DAttrs attrs);
Expr AvgPool1D(Expr data, AvgPool1DAttrs attrs);
Expr AvgPool2D(Expr data, AvgPool2DAttrs attrs);
Expr AvgPool3D(Expr data, AvgPool3DAttrs attrs);
Expr GlobalMaxPool2D(Expr data, GlobalPool2DAttrs attrs = {});
Expr GlobalAvgPool2D(Expr data, GlobalPool2DAttrs attrs = {});
Expr AdaptiveMaxPool2D(Expr data, AdaptivePool2DAttrs attrs = {});
Expr AdaptiveAvgPool2D(Expr data, AdaptivePool2DAttrs attrs = {});

// Shapes.
Expr BatchFlatten(Expr data);
// `pad_width` is [[before, after], ...].
Expr Pad(Expr data, std::vector<std::vector<int64_t>> pad_width, Expr pad_value,
         std::string pad_mode = "constant");
Expr UpSampling(Expr data, UpSamplingAttrs attrs);

}  // namespace baton::relay::nn

#endif  // BATON_RELAY_OP_NN_H_
