// Computes convolutions of bytes in groups of few channels in floats.

#ifndef BATON_BACKEND_CPU_BYTE_GROUPS_H_
#define BATON_BACKEND_CPU_BYTE_GROUPS_H_

#include "baton/backend/cpu/graph.h"

namespace baton::cpu {

// Replaces each nn.conv2d of bytes into int32 whose groups have fewer channels
// than an instruction for bytes adds, and whose sums are exact in float32: by a
// convolution of float32 between casts; not those of int8 weights with a filter
// for each channel. A padding with zeros before it becomes
// part of it. No value changes.
void ConvolveGroupsInFloats(Graph& graph);

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_BYTE_GROUPS_H_
