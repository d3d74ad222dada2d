// Layers that name their own parameters, as TVM's `relay.testing.layers` does:
// the parameters of the layer `conv1` are `%conv1_weight`, `%conv1_bias`.
// Parameters have no annotation; inference finds their types.

#ifndef BATON_TESTING_WORKLOADS_LAYERS_H_
#define BATON_TESTING_WORKLOADS_LAYERS_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/builders.h"

namespace baton::testing {

// The weight is the parameter `%NAME_weight`.
Expr Conv2D(const Expr& data, const std::string& name,
            relay::Conv2DAttrs attrs);
Expr Conv3D(const Expr& data, const std::string& name,
            relay::Conv3DAttrs attrs);
Expr Conv2DTranspose(const Expr& data, const std::string& name,
                     relay::Conv2DTransposeAttrs attrs);
Expr Dense(const Expr& data, const std::string& name, int64_t units);

// The bias is the parameter `%NAME_bias`.
Expr AddBias(const Expr& data, const std::string& name, int axis = 1);

// A dense layer with a bias on its last axis.
Expr DenseAddBias(const Expr& data, const std::string& name, int64_t units);

// The first result of nn.batch_norm; the parameters are `%NAME_gamma`,
// `%NAME_beta`, `%NAME_moving_mean` and `%NAME_moving_var`.
Expr BatchNorm(const Expr& data, const std::string& name,
               relay::BatchNormAttrs attrs = {});

// The layout of the weight of a convolution, or a depthwise convolution, over
// data of layout NCHW, NHWC, NCDHW or NDHWC.
std::string KernelLayout(absl::string_view data_layout);
std::string DepthwiseKernelLayout(absl::string_view data_layout);

// The axis of the channels.
int ChannelAxis(absl::string_view layout);

// A function with the body `body`, whose parameters are its free variables, in
// order of first use.
relay::Function FunctionOf(const Expr& body);

}  // namespace baton::testing

#endif  // BATON_TESTING_WORKLOADS_LAYERS_H_
