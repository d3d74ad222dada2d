// Passes over functions of loops.

#ifndef BATON_TIR_TRANSFORM_PRIM_FUNC_PASS_H_
#define BATON_TIR_TRANSFORM_PRIM_FUNC_PASS_H_

#include "baton/tir/ir/function.h"
#include "baton/transform/function_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_info.h"

namespace baton::tir {

// The kind of PrimFuncs. Passes skip none, and nothing runs after them.
const FunctionKind<PrimFunc>& PrimFunctions();

// CreateFunctionPass (transform/function_pass.h) over PrimFunctions(). Names of
// passes of this level begin with `tir.`; their level is 0, and they require no
// pass. Where `body` makes an equal function, its argument is the result, if
// each variable has one definition there.
//
//   Pass LowerInitBlock() {
//     return CreatePrimFuncPass(
//         [](PrimFunc function, const IRModule& module,
//            const PassContext& context) -> absl::StatusOr<PrimFunc> {
//           return InitLowerer().RewriteBody(function);
//         },
//         {.name = "tir.LowerInitBlock", .doc = "...", .idempotent = true});
//   }
//   BATON_REGISTER_PASS_AS("tir.LowerInitBlock", LowerInitBlock);
Pass CreatePrimFuncPass(FunctionPassBody<PrimFunc> body, PassInfo info,
                        PassOptions options = {});

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_PRIM_FUNC_PASS_H_
