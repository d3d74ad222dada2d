// LowerTVMBuiltin: lowers built-in calls of the runtime to calls that code
// generators can emit.
//
//   T.call_packed("f", x)     stack_value[0], stack_tcode[0] = x, its type
//                             T.call_packed_lowered("f", stack_value,
//                                                   stack_tcode, 0, 1)

#ifndef BATON_TIR_TRANSFORM_LOWER_TVM_BUILTIN_H_
#define BATON_TIR_TRANSFORM_LOWER_TVM_BUILTIN_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// Applies to host functions, after tir.MakePackedAPI. Arguments of packed calls
// and of arrays are written to a stack; the function and each parallel loop
// have one. Memory is allocated and freed by calls of the runtime, unless it is
// of constant small size and on the CPU. Copies by a device become calls of the
// device's interface. The attributes `device_id` and `device_type` around a
// statement name its device.
Pass LowerTVMBuiltin();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_LOWER_TVM_BUILTIN_H_
