// LowerVtcmAlloc: replaces allocations of the scope `global.vtcm` by calls that
// allocate memory on the device.
//
//   A = T.allocate([8], "float32", "global.vtcm")
//
// becomes
//
//   with T.LetStmt(T.nd_mem_alloc_with_scope("global.vtcm", ...)) as A: ...

#ifndef BATON_TIR_TRANSFORM_LOWER_VTCM_ALLOC_H_
#define BATON_TIR_TRANSFORM_LOWER_VTCM_ALLOC_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// tir.LowerTVMBuiltin lowers the calls further.
Pass LowerVtcmAlloc();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_LOWER_VTCM_ALLOC_H_
