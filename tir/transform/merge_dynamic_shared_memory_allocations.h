// MergeDynamicSharedMemoryAllocations: makes all dynamic shared memory of a
// kernel one allocation.
//
//   A = T.allocate([64], "float16", "shared.dyn")
//   B = T.allocate([64], "float32", "shared.dyn")
//
// becomes
//
//   buf_dyn_shmem = T.allocate([384], "uint8", "shared.dyn")

#ifndef BATON_TIR_TRANSFORM_MERGE_DYNAMIC_SHARED_MEMORY_ALLOCATIONS_H_
#define BATON_TIR_TRANSFORM_MERGE_DYNAMIC_SHARED_MEMORY_ALLOCATIONS_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// Flat allocations whose lives do not overlap share memory. Functions with
// fewer than two such allocations stay.
Pass MergeDynamicSharedMemoryAllocations();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_MERGE_DYNAMIC_SHARED_MEMORY_ALLOCATIONS_H_
