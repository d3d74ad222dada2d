// LowerOpaqueBlock: replaces blocks by their bodies, and their buffers by
// allocations.
//
//   with T.block(""):              B = T.decl_buffer((16,))
//       T.where(i < n)             if i < n:
//       B = T.alloc_buffer((16,))      B[i] = A[i]
//       B[i] = A[i]

#ifndef BATON_TIR_TRANSFORM_LOWER_OPAQUE_BLOCK_H_
#define BATON_TIR_TRANSFORM_LOWER_OPAQUE_BLOCK_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// Blocks must have no variables (ConvertBlocksToOpaque). Loops of one iteration
// without annotations vanish; loops that are bound to threads become attributes
// `thread_extent` or `virtual_thread`. Annotations whose names begin with
// `pragma_` become attributes. Alignments of blocks become annotations of the
// allocations; other annotations of blocks are dropped.
Pass LowerOpaqueBlock();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_LOWER_OPAQUE_BLOCK_H_
