// Keeps what convolutions of bytes give each other in bytes.

#ifndef BATON_BACKEND_CPU_CLIPPED_BYTES_H_
#define BATON_BACKEND_CPU_CLIPPED_BYTES_H_

#include "baton/backend/cpu/graph.h"

namespace baton::cpu {

// Floats that were clipped to the range of a byte and then become integers are
// cast to bytes first, and the bytes to those integers: no value changes. Passes
// leave such casts out, after which maps are stored in 32 bits and the
// convolution before them gives sums. Applies where several casts use the
// clipped floats, or these were sums of 32 bits.
void CastClippedToBytes(Graph& graph);

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_CLIPPED_BYTES_H_
