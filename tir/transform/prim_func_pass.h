// Passes over functions of loops.

#ifndef BATON_TIR_TRANSFORM_PRIM_FUNC_PASS_H_
#define BATON_TIR_TRANSFORM_PRIM_FUNC_PASS_H_

#include "baton/tir/ir/function.h"
#include "baton/transform/function_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_info.h"

namespace baton::tir {

// The kind of PrimFuncs. Passes over them skip no function, and run no further
// pass (such as InferType) afterwards.
const FunctionKind<PrimFunc>& PrimFunctions();

// CreateFunctionPass (transform/function_pass.h) over PrimFunctions(). Names of
// passes of this level begin with `tir.`; their level is 0, and they require no
// pass. If `body` returns a function that is equal to its argument, and each
// variable has one definition in it, the pass keeps the argument itself, so
// that it changes nothing.
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
