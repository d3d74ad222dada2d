#include "baton/relay/transform/infer_type.h"

#include "baton/ir/module.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/transform/function_pass.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {

Pass InferType() {
  return CreateModulePass(
      [](const IRModule& module, const PassContext& /*context*/) {
        return InferTypes(WithKnownTypes(module));
      },
      {.name = "InferType",
       .doc = "Infers the type of every expression.",
       .idempotent = true,
       .always_run = true});
}

BATON_REGISTER_PASS(InferType);

}  // namespace baton::relay
