// LowerInitBlock: makes the initialization of a reduction a statement of its
// block.
//
//   with T.init():              if vk == 0:
//       C[vi] = T.float32(0)        C[vi] = T.float32(0)
//   C[vi] = C[vi] + A[vi, vk]   C[vi] = C[vi] + A[vi, vk]

#ifndef BATON_TIR_TRANSFORM_LOWER_INIT_BLOCK_H_
#define BATON_TIR_TRANSFORM_LOWER_INIT_BLOCK_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// The initialization runs where all reduction variables have their first value.
// If the block has no reduction variable, it always runs.
Pass LowerInitBlock();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_LOWER_INIT_BLOCK_H_
