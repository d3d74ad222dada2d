// ManifestSharedMemoryLocalStage: copies to shared memory by way of registers.
//
//   for ax in range(4):             for ax in range(4):
//       with T.block("B_shared"):       B_shared_local[ax] = B[...]
//           B_shared[...] = B[...]  for ax in range(4):
//                                       B_shared[...] = B_shared_local[ax]

#ifndef BATON_TIR_TRANSFORM_MANIFEST_SHARED_MEMORY_LOCAL_STAGE_H_
#define BATON_TIR_TRANSFORM_MANIFEST_SHARED_MEMORY_LOCAL_STAGE_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// For blocks with the annotation `tir.manifest_shared_memory_local_stage`,
// whose body is a store to shared memory that a block around allocates, in
// serial or vectorized loops with nothing else in them.
Pass ManifestSharedMemoryLocalStage();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_MANIFEST_SHARED_MEMORY_LOCAL_STAGE_H_
