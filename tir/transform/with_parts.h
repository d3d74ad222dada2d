// WithParts: a copy of a function that has other parts.
//
//   PrimFuncNode::Parts parts = function->parts();
//   parts.ret_type = kInt32;
//   return WithParts(function, std::move(parts));

#ifndef BATON_TIR_TRANSFORM_WITH_PARTS_H_
#define BATON_TIR_TRANSFORM_WITH_PARTS_H_

#include "baton/tir/ir/function.h"

namespace baton::tir {

// A function of `parts` that has the place of `function` in the source. Records
// `function` as the origin of the new function and of all of its new nodes that
// have none (ir/origin.h).
PrimFunc WithParts(const PrimFunc& function, PrimFuncNode::Parts parts);

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_WITH_PARTS_H_
