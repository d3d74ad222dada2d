// Computes convolutions of bytes in groups of few channels in floats.

#ifndef BATON_BACKEND_CPU_BYTE_GROUPS_H_
#define BATON_BACKEND_CPU_BYTE_GROUPS_H_

#include "baton/backend/cpu/graph.h"

namespace baton::cpu {

// Replaces an nn.conv2d of bytes with an int32 result by a convolution of
// float32 between casts, if its sums are exact in float32 and its groups have
// fewer channels than one instruction on bytes multiplies and adds.
// Convolutions with one filter for each channel stay. Padding with zeros before
// the convolution becomes a part of it. No value changes.
void ConvolveGroupsInFloats(Graph& graph);

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_BYTE_GROUPS_H_
