// LowerAutoCopy: makes annotated copies between memories as the threads of a kernel
// make them best.
//
//   with T.block("A_shared"):                  for f_0 in range(2):
//       T.block_attr({"auto_copy": 1,              for f_1 in T.thread_binding(8, "threadIdx.y"):
//                     "vector_bytes": 16})             for f_2 in T.thread_binding(32, "threadIdx.x"):
//       for i, j in T.grid(64, 64):                        for f_3 in T.vectorized(8):
//           A_shared[i, j] = A[i, j]                           A_shared[...] = A[...]

#ifndef BATON_TIR_TRANSFORM_LOWER_AUTO_COPY_H_
#define BATON_TIR_TRANSFORM_LOWER_AUTO_COPY_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// Annotations of the block: `vector_bytes` (1), `local_stage` (0: no copy in
// registers between). Rows of buffers in shared memory are padded, so that the
// threads of a warp access different banks.
Pass LowerAutoCopy();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_LOWER_AUTO_COPY_H_
