// InjectPTXLDG32: replaces conditional loads of 32 bits from global memory by
// predicated load instructions.
//
//   L[i] = T.if_then_else(c, G[j], x)
//
// becomes
//
//   addr[0] = j
//   addr[1] = i
//   predicate[0] = c
//   L[addr[1]] = x
//   T.ptx_ldg32(L.data, predicate[0], G[addr[0]], addr[1])
//
// The buffers `addr` and `predicate` are allocated around the first allocation
// that contains no other one. Stores outside of this allocation stay.

#ifndef BATON_TIR_TRANSFORM_INJECT_PTX_LDG32_H_
#define BATON_TIR_TRANSFORM_INJECT_PTX_LDG32_H_

#include "baton/transform/pass.h"

namespace baton::tir {

Pass InjectPTXLDG32();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_INJECT_PTX_LDG32_H_
