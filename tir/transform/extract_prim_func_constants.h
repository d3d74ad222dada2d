// ExtractPrimFuncConstants: keeps equal constants of a module once.

#ifndef BATON_TIR_TRANSFORM_EXTRACT_PRIM_FUNC_CONSTANTS_H_
#define BATON_TIR_TRANSFORM_EXTRACT_PRIM_FUNC_CONSTANTS_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// A module pass. Allocations of constants with equal elements share their
// memory; the text of the module stays.
Pass ExtractPrimFuncConstants();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_EXTRACT_PRIM_FUNC_CONSTANTS_H_
