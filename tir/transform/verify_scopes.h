// VerifyScopes: checks that variables are defined where they are used.
//
//   i = T.int32()
//   A[i] = 0        # error: nothing defines i

#ifndef BATON_TIR_TRANSFORM_VERIFY_SCOPES_H_
#define BATON_TIR_TRANSFORM_VERIFY_SCOPES_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// An error if a variable is used outside of the scopes of its definitions:
// parameters, loops, lets, allocations, blocks, launches of threads. The
// pointer, extents, strides and offset of an accessed buffer are uses. Changes
// nothing.
//
// CheckWellFormed() allows such functions: the reference has some in its tests.
Pass VerifyScopes();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_VERIFY_SCOPES_H_
