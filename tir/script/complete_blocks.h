// Finds the regions that blocks read and write, for scripts that do not write
// them.
//
//   with T.block("B"):                 with T.block("B"):
//       vi = T.axis.spatial(16, i)         vi = T.axis.spatial(16, i)
//       B[vi] = A[vi] * T.float32(2)       T.reads(A[vi])
//                                          T.writes(B[vi])
//                                          B[vi] = A[vi] * T.float32(2)

#ifndef BATON_TIR_SCRIPT_COMPLETE_BLOCKS_H_
#define BATON_TIR_SCRIPT_COMPLETE_BLOCKS_H_

#include <vector>

#include "baton/ir/span.h"
#include "baton/tir/ir/function.h"

namespace baton::tir {

// Completes the blocks that the script parser has marked (kDetectAccess), inner
// blocks first. A block that no other block contains gets no regions. Appends
// to `unclear` the places of blocks that use the pointer of a buffer: their
// regions cannot be found, and the script has to state them.
PrimFunc CompleteBlocks(const PrimFunc& function, std::vector<Span>* unclear);

}  // namespace baton::tir

#endif  // BATON_TIR_SCRIPT_COMPLETE_BLOCKS_H_
