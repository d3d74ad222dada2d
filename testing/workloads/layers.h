// Layers that name their own parameters, as the reference's
// `relay.testing.layers`: those of the layer `conv1` are `%conv1_weight`,
// `%conv1_bias`. Parameters have no annotation; inference finds their types.

#ifndef BATON_TESTING_WORKLOADS_LAYERS_H_
#define BATON_TESTING_WORKLOADS_LAYERS_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/builders.h"

namespace baton::testing {

// With the weight `%NAME_weight`.
Expr Conv2D(const Expr& data, const std::string& name,
            relay::Conv2DAttrs attrs);
Expr Conv3D(const Expr& data, const std::string& name,
            relay::Conv3DAttrs attrs);
Expr Conv2DTranspose(const Expr& data, const std::string& name,
                     relay::Conv2DTransposeAttrs attrs);
Expr Dense(const Expr& data, const std::string& name, int64_t units);

// With `%NAME_bias`.
Expr AddBias(const Expr& data, const std::string& name, int axis = 1);

// Both: a dense layer with a bias on its last axis.
Expr DenseAddBias(const Expr& data, const std::string& name, int64_t units);

// The first result of nn.batch_norm with `%NAME_gamma`, `%NAME_beta`,
// `%NAME_moving_mean` and `%NAME_moving_var`.
Expr BatchNorm(const Expr& data, const std::string& name,
               relay::BatchNormAttrs attrs = {});

// The layout of the weight of a convolution over data of layout NCHW, NHWC,
// NCDHW or NDHWC; of a depthwise one.
std::string KernelLayout(absl::string_view data_layout);
std::string DepthwiseKernelLayout(absl::string_view data_layout);

// The axis of the channels.
int ChannelAxis(absl::string_view layout);

// The function of all that `body` leaves free, in order of first use.
Function FunctionOf(const Expr& body);

}  // namespace baton::testing

#endif  // BATON_TESTING_WORKLOADS_LAYERS_H_
