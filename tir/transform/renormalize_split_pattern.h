// RenormalizeSplitPattern: brings quotients to the form that nested splits of
// loops have.
//
//   (i % 64) // 8     i // 8 % 8
//   (i * 32 + j) // 8    i * 4 + j // 8
//   i < 16            i // 16 < 1

#ifndef BATON_TIR_TRANSFORM_RENORMALIZE_SPLIT_PATTERN_H_
#define BATON_TIR_TRANSFORM_RENORMALIZE_SPLIT_PATTERN_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// Comparisons become `<` and `<=`. Branches whose condition is constant are
// taken.
Pass RenormalizeSplitPattern();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_RENORMALIZE_SPLIT_PATTERN_H_
