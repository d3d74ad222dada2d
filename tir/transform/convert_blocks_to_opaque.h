// ConvertBlocksToOpaque: replaces the variables of blocks by their values.
//
//   with T.block("B"):            with T.block("B"):
//       vi = T.axis.spatial(16, i)    T.writes(B[i])
//       T.writes(B[vi])               B[i] = T.float32(0)
//       B[vi] = T.float32(0)

#ifndef BATON_TIR_TRANSFORM_CONVERT_BLOCKS_TO_OPAQUE_H_
#define BATON_TIR_TRANSFORM_CONVERT_BLOCKS_TO_OPAQUE_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// Blocks must have no initialization (LowerInitBlock). Values and predicates of
// a block must not use its own variables.
Pass ConvertBlocksToOpaque();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_CONVERT_BLOCKS_TO_OPAQUE_H_
