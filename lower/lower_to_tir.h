// LowerToTir: makes functions of loops of Relay's primitive functions.
//
// Level 0, a module pass; run FuseOps before it. A call of a primitive function
// whose operators all have a computation (computation.h) becomes a call of a
// global PrimFunc, which has a buffer for each argument and each result:
//
//   %1 = fn (%p0, Primitive=1) {     @fused_exp(%x)
//     exp(%p0)
//   };                               @T.prim_func
//   %1(%x)                           def fused_exp(p0: T.Buffer(...),
//                                                  T_exp: T.Buffer(...)):
//                                        T.func_attr({"num_inputs": 1, ...})
//
// The type of the call is that of the function (tir/ir/call_type.h); the
// evaluator of the call allocates its results. Equal functions become one. A
// tuple is passed field by field, a constant that is not a scalar as an
// argument. Functions that are not lowered stay, with a remark that names the
// operator.

#ifndef BATON_LOWER_LOWER_TO_TIR_H_
#define BATON_LOWER_LOWER_TO_TIR_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/relay/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"

namespace baton::lower {

struct LoweredFunction {
  tir::PrimFunc function;
  // A call passes these behind the arguments, whose tuples it passes field by
  // field.
  std::vector<relay::Constant> constants;
};

// Lowers `function`, which must be typed, to a function of loops named `name`.
// If that is not possible, returns an error whose message is a clause (no
// capital letter, no full stop), and sets `*refused` to the call that has no
// computation, if one call is the reason. If `no_alias`, the result has the
// attribute `tir.noalias`.
absl::StatusOr<LoweredFunction> LowerFunction(const relay::Function& function,
                                              const std::string& name,
                                              Expr* refused = nullptr,
                                              bool no_alias = true);

// The setting `tir.noalias`.
bool HasNoAlias(const PassContext& context);

Pass LowerToTir();

}  // namespace baton::lower

#endif  // BATON_LOWER_LOWER_TO_TIR_H_
