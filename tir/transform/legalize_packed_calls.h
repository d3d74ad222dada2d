// LegalizePackedCalls: gives packed calls of ahead-of-time code their arguments
// as arrays on the stack.
//
//   T.call_cpacked("f", x, device)    T.call_cpacked("f",
//                                         T.tvm_stack_make_array(x, ...), device)

#ifndef BATON_TIR_TRANSFORM_LEGALIZE_PACKED_CALLS_H_
#define BATON_TIR_TRANSFORM_LEGALIZE_PACKED_CALLS_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// In statements that are calls of `tvm_call_cpacked`, an argument that is no
// parameter of the function that calls becomes an array with the shape, the
// data type and the offset of the buffer that the callee has for it; with no
// dimension if it has none. The name of the function and the last argument, the
// device, stay. An error: a callee that is not in the module, or that has fewer
// parameters than arguments; a shape that is not constant, as its variables are
// the callee's.
Pass LegalizePackedCalls();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_LEGALIZE_PACKED_CALLS_H_
