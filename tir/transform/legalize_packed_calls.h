// LegalizePackedCalls: passes the arguments of packed calls in ahead-of-time
// code as arrays on the stack.
//
//   T.call_cpacked("f", x, device)    T.call_cpacked("f",
//                                         T.tvm_stack_make_array(x, ...), device)

#ifndef BATON_TIR_TRANSFORM_LEGALIZE_PACKED_CALLS_H_
#define BATON_TIR_TRANSFORM_LEGALIZE_PACKED_CALLS_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// Rewrites the arguments of each statement that is a call of
// `tvm_call_cpacked`. An argument that is not a parameter of the caller becomes
// an array with the shape, the data type and the offset of the callee's buffer
// for that parameter, or of rank 0 if the callee has no buffer for it. The name
// of the callee and the last argument, the device, stay. Errors: the callee is
// not in the module or has fewer parameters than arguments; the shape of its
// buffer is not constant.
Pass LegalizePackedCalls();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_LEGALIZE_PACKED_CALLS_H_
