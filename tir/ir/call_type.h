// The type that a function of loops has for a caller of another level, whose
// arguments and results are tensors.
//
//   @T.prim_func
//   def add(p0: T.Buffer((8,), "float32"), T_add: T.Buffer((8,), "float32")):
//       T.func_attr({"num_inputs": 1})       @add(%x) is a Tensor[(8), float32]

#ifndef BATON_TIR_IR_CALL_TYPE_H_
#define BATON_TIR_IR_CALL_TYPE_H_

#include "absl/strings/string_view.h"
#include "baton/ir/type.h"
#include "baton/tir/ir/function.h"

namespace baton::tir {

// The attribute with the number of parameters that are arguments of such a
// call. The parameters behind these are its results, which the function fills.
inline constexpr absl::string_view kNumInputs = "num_inputs";

// A FuncType, from the arguments to the result, or to a tuple of the results.
// Null if the function has no attribute kNumInputs, or a parameter is no buffer
// whose extents are numbers.
Type CallTypeOf(const PrimFuncNode::Parts& parts);

}  // namespace baton::tir

#endif  // BATON_TIR_IR_CALL_TYPE_H_
