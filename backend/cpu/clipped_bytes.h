// Stores maps between convolutions of bytes as bytes.

#ifndef BATON_BACKEND_CPU_CLIPPED_BYTES_H_
#define BATON_BACKEND_CPU_CLIPPED_BYTES_H_

#include "baton/backend/cpu/graph.h"

namespace baton::cpu {

// Replaces a cast to integers of floats that were clipped to the range of a
// byte by a cast to bytes and a cast of the bytes to these integers. No value
// changes. Passes remove such pairs of casts; without this function maps would
// be stored in 32 bits, and the convolutions before them would compute 32-bit
// sums. Applies if several casts use the clipped floats, or if the floats were
// computed from sums of 32 bits.
void CastClippedToBytes(Graph& graph);

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_CLIPPED_BYTES_H_
