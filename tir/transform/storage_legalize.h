// BF16StorageLegalize, FP8StorageLegalize: store floating-point values that the
// processor does not have as the integers of their bits.
//
//   A: T.handle("bfloat16")             A: T.handle("uint16")
//   T.reinterpret("uint16", A[i])       A[i]

#ifndef BATON_TIR_TRANSFORM_STORAGE_LEGALIZE_H_
#define BATON_TIR_TRANSFORM_STORAGE_LEGALIZE_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// For functions without buffers of parameters (after tir.MakePackedAPI) in
// which values of the type are only loaded, stored and reinterpreted (after
// tir.BF16ComputeLegalize).
Pass BF16StorageLegalize();
// As BF16StorageLegalize(), for the floating-point types of eight bits.
Pass FP8StorageLegalize();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_STORAGE_LEGALIZE_H_
