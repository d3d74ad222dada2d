// qnn.CanonicalizeOps: lowers operators on quantized tensors to other ones.
//
//   qnn.dense(x, w, ...)    nn.dense of the integers, less the contribution of
//                           the zero points
//   qnn.requantize          a multiplication by a fixed-point number, and a
//                           shift; or floating point, if its attributes say so
//   qnn.add, qnn.concatenate ...
//                           the plain operator on requantized arguments
//   qnn.exp, qnn.tanh ...   the function of the real numbers

#ifndef BATON_RELAY_TRANSFORM_QNN_CANONICALIZE_OPS_H_
#define BATON_RELAY_TRANSFORM_QNN_CANONICALIZE_OPS_H_

#include "baton/transform/pass.h"

namespace baton::relay {

// A function pass of level 1, which requires InferType: Legalize with the rules
// of kind FTVMQnnCanonicalize. Scales of results must be constants.
Pass QnnCanonicalizeOps();

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_QNN_CANONICALIZE_OPS_H_
