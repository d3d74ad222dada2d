#include "baton/relay/transform/to_basic_block_normal_form.h"

#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/transform/let_insertion.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {

absl::StatusOr<Function> ToBasicBlockNormalFormInFunction(
    const Function& function) {
  return InsertLets(function, LetInsertion::kLifted);
}

Pass ToBasicBlockNormalForm() {
  return CreateModulePass(
      [](const IRModule& module, const PassContext& /*context*/) {
        return InsertLets(module, LetInsertion::kLifted);
      },
      {.name = "ToBasicBlockNormalForm",
       .opt_level = 1,
       .doc = "Binds what scopes share to variables, around those scopes.",
       .establishes = {"basic_block_normal_form"},
       .invalidates = {"typed"}});
}
BATON_REGISTER_PASS(ToBasicBlockNormalForm);

}  // namespace baton::relay
