// InjectPermutedLayout: permutes the columns of matrices in shared memory, so that
// threads access other banks.
//
//   A_shared[i, j] = ...     A_shared[i, (j // 8 ^ i % 8) * 8 + j % 8] = ...

#ifndef BATON_TIR_TRANSFORM_INJECT_PERMUTED_LAYOUT_H_
#define BATON_TIR_TRANSFORM_INJECT_PERMUTED_LAYOUT_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// For blocks with the annotation `permuted_layout`: `g2s_A`, `g2s_B` of copies
// to shared memory, `s2l_A`, `s2l_B` of loads from it by `ptx_ldmatrix`.
// Matrices whose number of columns is no multiple of 32 stay.
Pass InjectPermutedLayout();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_INJECT_PERMUTED_LAYOUT_H_
