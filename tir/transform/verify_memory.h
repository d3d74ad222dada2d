// VerifyMemory, VerifySSA: check functions, and change nothing.
//
//   def main(A: ...):      # of a target cuda
//       A[0] = ...         # error: outside of a kernel

#ifndef BATON_TIR_TRANSFORM_VERIFY_MEMORY_H_
#define BATON_TIR_TRANSFORM_VERIFY_MEMORY_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// An error if a function of a device accesses, outside of kernels, memory that
// its caller passes. Each function must have a target; those with a calling
// convention are not checked.
Pass VerifyMemory();

// An error if a variable is defined twice. Lets in expressions may define one
// again, with an equal value.
Pass VerifySSA();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_VERIFY_MEMORY_H_
