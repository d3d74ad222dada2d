// Builders of calls of the neural-network operators (`nn.*`), and their
// attributes.
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

#include "baton/relay/op/nn/activation.h"  // IWYU pragma: export
#include "baton/relay/op/nn/conv.h"        // IWYU pragma: export
#include "baton/relay/op/nn/dense.h"       // IWYU pragma: export
#include "baton/relay/op/nn/loss.h"        // IWYU pragma: export
#include "baton/relay/op/nn/normalize.h"   // IWYU pragma: export
#include "baton/relay/op/nn/pool.h"        // IWYU pragma: export
#include "baton/relay/op/nn/sparse.h"      // IWYU pragma: export
#include "baton/relay/op/nn/spatial.h"     // IWYU pragma: export

#endif  // BATON_RELAY_OP_NN_H_
