// KlThreshold: the clipping threshold for quantizing a tensor to 8 bits.

#ifndef BATON_RELAY_TRANSFORM_KL_THRESHOLD_H_
#define BATON_RELAY_TRANSFORM_KL_THRESHOLD_H_

#include "absl/types/span.h"

namespace baton::relay {

// Returns the threshold t for which the distribution of `values` clipped to
// [-t, t], and the distribution of these quantized to 255 levels, are most
// similar: their Kullback-Leibler divergence over a histogram of 8001 bins is
// minimal. 0 for zeros, NaN if there is a NaN.
//
// S. Migacz, 8-bit Inference with TensorRT, GTC 2017. The same computation as
// in TVM: src/relay/quantize/calibrate.cc and
// python/tvm/relay/quantize/kl_divergence.py.
double KlThreshold(absl::Span<const float> values);

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_KL_THRESHOLD_H_
