// PlanAndUpdateBufferAllocationLocation: allocates each buffer in the innermost
// loop or block that has all its accesses.
//
//   B = T.alloc_buffer((16, 16))          for i in range(16):
//   for i in range(16):                       with T.block(""):
//       ... B[i, j] = A[i, j] ...                 B = T.alloc_buffer((16, 16))
//       ... C[i, j] = B[i, j] ...                 ... B[i, j] = A[i, j] ...
//                                                 ... C[i, j] = B[i, j] ...

#ifndef BATON_TIR_TRANSFORM_PLAN_UPDATE_BUFFER_ALLOCATION_LOCATION_H_
#define BATON_TIR_TRANSFORM_PLAN_UPDATE_BUFFER_ALLOCATION_LOCATION_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// In a loop, a block without variables is made for the allocations. Buffers of
// parameters and of Allocate and AllocateConst stay. Blocks must have no
// initialization (LowerInitBlock).
Pass PlanAndUpdateBufferAllocationLocation();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_PLAN_UPDATE_BUFFER_ALLOCATION_LOCATION_H_
