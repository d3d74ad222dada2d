// Runs operators on float16 and bfloat16 tensors by kernels for float32.

#ifndef BATON_BACKEND_CPU_HALF_TENSORS_H_
#define BATON_BACKEND_CPU_HALF_TENSORS_H_

#include "absl/status/status.h"
#include "baton/backend/cpu/graph.h"

namespace baton::cpu {

// Replaces calls of operators on float16 and bfloat16 by calls on float32
// between casts:
//
//   nn.conv2d(x, w)  =>  cast(nn.conv2d(cast(x), cast(w)), dtype="float16")
//
// No value changes: the evaluator computes these operators in float32 as well,
// and rounds their results. A result is cast to float32 again where another
// replaced call uses it; it keeps the values of the half type. Graphs inside
// branches and loops (GraphRegion) do not change.
absl::Status ComputeHalvesInFloat32(Graph& graph);

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_HALF_TENSORS_H_
