// Computes operators on half floats by kernels of float32.

#ifndef BATON_BACKEND_CPU_HALF_TENSORS_H_
#define BATON_BACKEND_CPU_HALF_TENSORS_H_

#include "absl/status/status.h"
#include "baton/backend/cpu/graph.h"

namespace baton::cpu {

// Replaces calls of operators on float16 and bfloat16 by calls on float32 and
// casts, where the evaluator computes the same: it widens the arguments,
// computes in float32 and rounds the result.
//
//   nn.conv2d(x, w)  =>  cast(nn.conv2d(cast(x), cast(w)), dtype="float16")
//
// Results are cast to float32 again: such tensors have the type float32 and
// values of half floats. No value changes. Graphs of regions keep their types.
absl::Status HoldHalvesInFloats(Graph& graph);

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_HALF_TENSORS_H_
