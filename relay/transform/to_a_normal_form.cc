#include "baton/relay/transform/to_a_normal_form.h"

#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/transform/let_insertion.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {

absl::StatusOr<Function> ToANormalFormInFunction(const Function& function) {
  return InsertLets(function, LetInsertion::kEverything);
}

Pass ToANormalForm() {
  return CreateModulePass(
      [](const IRModule& module, const PassContext& /*context*/) {
        return InsertLets(module, LetInsertion::kEverything);
      },
      {.name = "ToANormalForm",
       .opt_level = 1,
       .doc = "Binds every expression to a variable.",
       .establishes = {"a_normal_form", "basic_block_normal_form"},
       .invalidates = {"typed"}});
}
BATON_REGISTER_PASS(ToANormalForm);

}  // namespace baton::relay
