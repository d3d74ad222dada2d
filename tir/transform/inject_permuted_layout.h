// InjectPermutedLayout: permutes the columns of matrices in shared memory, so
// that the threads of a warp access different banks.
//
//   A_shared[i, j] = ...     A_shared[i, (j // 8 ^ i % 8) * 8 + j % 8] = ...

#ifndef BATON_TIR_TRANSFORM_INJECT_PERMUTED_LAYOUT_H_
#define BATON_TIR_TRANSFORM_INJECT_PERMUTED_LAYOUT_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// Rewrites blocks with the annotation `permuted_layout`: `g2s_A` and `g2s_B`
// mark copies to shared memory, `s2l_A` and `s2l_B` loads from it by
// `ptx_ldmatrix`. Matrices whose number of columns is not a multiple of 32
// stay.
Pass InjectPermutedLayout();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_INJECT_PERMUTED_LAYOUT_H_
