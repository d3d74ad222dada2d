// LowerAutoCopy: distributes annotated copies between memory scopes over the
// threads of a kernel.
//
//   with T.block("A_shared"):
//       T.block_attr({"auto_copy": 1, "vector_bytes": 16})
//       for i, j in T.grid(64, 64):
//           A_shared[i, j] = A[i, j]
//
// becomes
//
//   for f_0 in range(2):
//       for f_1 in T.thread_binding(8, "threadIdx.y"):
//           for f_2 in T.thread_binding(32, "threadIdx.x"):
//               for f_3 in T.vectorized(8):
//                   A_shared[...] = A[...]

#ifndef BATON_TIR_TRANSFORM_LOWER_AUTO_COPY_H_
#define BATON_TIR_TRANSFORM_LOWER_AUTO_COPY_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// Annotations of the block, with their defaults: `vector_bytes` (1), the bytes
// that a thread copies at a time; `local_stage` (0), if 1 copies through
// registers. Rows of buffers in shared memory are padded, so that the threads
// of a warp access different banks.
Pass LowerAutoCopy();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_LOWER_AUTO_COPY_H_
