// Function passes over Relay functions.

#ifndef BATON_RELAY_TRANSFORM_FUNCTION_PASS_H_
#define BATON_RELAY_TRANSFORM_FUNCTION_PASS_H_

#include "baton/relay/ir/expr.h"
#include "baton/transform/function_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_info.h"

namespace baton::relay {

// The kind of Relay's functions. Passes skip functions with a `Compiler`
// attribute, or a true `Extern` or `SkipOptimization`. InferType runs after
// each pass.
const FunctionKind<Function>& RelayFunctions();

// CreateFunctionPass (transform/function_pass.h) over RelayFunctions().
//
//   Pass FuseOps(FuseOpsOptions options) {
//     return CreateFunctionPass(
//         [options](Function function, const IRModule& module,
//                   const PassContext& context) -> absl::StatusOr<Function> {
//           return Fuse(function, options.fuse_opt_level);
//         },
//         {.name = "FuseOps", .required = {"InferType"}, .doc = "..."},
//         options);
//   }
//   BATON_REGISTER_PASS(FuseOps);
Pass CreateFunctionPass(FunctionPassBody<Function> body, PassInfo info,
                        PassOptions options = {});

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_FUNCTION_PASS_H_
