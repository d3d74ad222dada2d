// The range in which 8 bits say most about a tensor.

#ifndef BATON_RELAY_TRANSFORM_KL_THRESHOLD_H_
#define BATON_RELAY_TRANSFORM_KL_THRESHOLD_H_

#include "absl/types/span.h"

namespace baton::relay {

// The threshold t for which `values`, with those beyond [-t, t] clipped, and
// the same quantized to 255 levels are distributed most alike: the
// Kullback-Leibler divergence of the two, over a histogram of 8001 bins, is
// least. 0 for zeros, NaN if there is a NaN.
//
// S. Migacz, 8-bit Inference with TensorRT, GTC 2017. As the reference
// computes it: src/relay/quantize/calibrate.cc and
// python/tvm/relay/quantize/kl_divergence.py of TVM.
double KlThreshold(absl::Span<const float> values);

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_KL_THRESHOLD_H_
