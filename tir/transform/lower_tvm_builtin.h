// LowerTVMBuiltin: makes calls of the runtime what code generators can emit.
//
//   T.call_packed("f", x)     stack_value[0], stack_tcode[0] = x, its type
//                             T.call_packed_lowered("f", stack_value,
//                                                   stack_tcode, 0, 1)

#ifndef BATON_TIR_TRANSFORM_LOWER_TVM_BUILTIN_H_
#define BATON_TIR_TRANSFORM_LOWER_TVM_BUILTIN_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// In functions of hosts (after tir.MakePackedAPI): arguments of packed calls
// and arrays are put on a stack, which the function and each parallel loop have
// one of; memory that is not constant, small and on the processor is got from
// and given back to the runtime; copies by a device become calls of its
// interface. The attributes `device_id` and `device_type` around them give the
// device.
Pass LowerTVMBuiltin();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_LOWER_TVM_BUILTIN_H_
