// Module passes: passes over whole modules.

#ifndef BATON_TRANSFORM_MODULE_PASS_H_
#define BATON_TRANSFORM_MODULE_PASS_H_

#include <functional>

#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_info.h"

namespace baton {

using ModulePassBody = std::function<absl::StatusOr<IRModule>(
    IRModule module, const PassContext& context)>;

// Makes a pass with the body `body`, which may add and remove functions. Types
// are not inferred afterwards.
//
//   Pass DropDebug() {
//     return CreateModulePass(
//         [](IRModule module, const PassContext&) -> absl::StatusOr<IRModule> {
//           module.Remove("debug");
//           return module;
//         },
//         {.name = "DropDebug", .doc = "Removes @debug."});
//   }
//   BATON_REGISTER_PASS(DropDebug);
Pass CreateModulePass(ModulePassBody body, PassInfo info,
                      PassOptions options = {});

}  // namespace baton

#endif  // BATON_TRANSFORM_MODULE_PASS_H_
