// CompactBufferAllocation: shrinks buffers to the region that is accessed.
//
//   for i in range(16):
//       with T.block(""):
//           B = T.alloc_buffer((16, 16))     B = T.alloc_buffer((1, 16))
//           ... B[i, j] ...                  ... B[0, j] ...

#ifndef BATON_TIR_TRANSFORM_COMPACT_BUFFER_ALLOCATION_H_
#define BATON_TIR_TRANSFORM_COMPACT_BUFFER_ALLOCATION_H_

#include "baton/transform/pass.h"

namespace baton::tir {

struct CompactBufferAllocationOptions {
  bool is_strict = true;

  template <typename V>
  static void VisitFields(V& v) {
    v("is_strict", &CompactBufferAllocationOptions::is_strict,
      "A buffer never becomes larger than it was.");
  }
};

// Compacts the buffers of blocks and of allocations with one buffer. A region
// is taken over all loops inside of the allocation, and over the threads that
// share the memory. Extents that would depend on loops become constant bounds,
// or stay. Buffers with alignments get strides. Blocks must have no variables
// (ConvertBlocksToOpaque).
Pass CompactBufferAllocation(CompactBufferAllocationOptions options = {});

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_COMPACT_BUFFER_ALLOCATION_H_
