// Passes over the functions of a module, one by one.

#ifndef BATON_TRANSFORM_FUNCTION_PASS_H_
#define BATON_TRANSFORM_FUNCTION_PASS_H_

#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/transform/config.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_info.h"

namespace baton {

// `module` is the module as it was before the pass, for every function.
using FunctionPassBody = std::function<absl::StatusOr<Function>(
    Function function, const IRModule& module, const PassContext& context)>;

// A pass that replaces each function by what `body` makes of it; `body`
// returns the function it was given where there is nothing to do. Functions
// with a `Compiler` attribute, or a true `Extern` or `SkipOptimization`, are
// left alone. All replacements are made together, and then the registered pass
// InferType runs on the result, as a pass nested in this one.
//
// With the `threads` setting, bodies run at the same time: `body` must not
// write to anything that they share. Nothing that can be observed depends on
// the number of threads, neither results nor errors nor the events that
// instruments see.
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
Pass CreateFunctionPass(FunctionPassBody body, PassInfo info,
                        PassOptions options = {});

// The setting `threads`: on how many threads the bodies of a function pass
// run; 0 for as many as the machine has.
const ConfigKey<int64_t>& ThreadsConfig();

// For a pass that infers types: `module`, with types where they are known.
// After a function pass they are, of functions that use no other function: each
// was typed as soon as it was made, on the thread that made it. Elsewhere this
// is `module` itself.
IRModule WithKnownTypes(const IRModule& module);

// True if function passes leave `function` alone.
bool IsSkippedByFunctionPasses(const Function& function);

}  // namespace baton

#endif  // BATON_TRANSFORM_FUNCTION_PASS_H_
