// RewriteUnsafeSelect: computes the sides of a Select only where they are
// needed, if computing them may fail.
//
//   T.Select(i < 4, A[i], 0)     T.if_then_else(i < 4, A[i], 0)

#ifndef BATON_TIR_TRANSFORM_REWRITE_UNSAFE_SELECT_H_
#define BATON_TIR_TRANSFORM_REWRITE_UNSAFE_SELECT_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// Loads and calls that are not pure may fail, unless a Select or
// T.if_then_else guards them. A Select with a vector as its condition stays.
Pass RewriteUnsafeSelect();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_REWRITE_UNSAFE_SELECT_H_
