#include "baton/testing/script_passes.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/testing/script_level.h"
#include "baton/transform/function_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"

namespace baton::script {

const FunctionKind<Script>& Scripts() {
  static const auto* const kind = new FunctionKind<Script>;
  return *kind;
}

Pass MergeCalls() {
  return CreateFunctionPass(
      Scripts(),
      [](Script script, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<Script> {
        std::vector<GlobalVar> calls(script->calls().begin(),
                                     script->calls().end());
        const auto same = [](const GlobalVar& a, const GlobalVar& b) {
          return a->name() == b->name();
        };
        calls.erase(std::unique(calls.begin(), calls.end(), same), calls.end());
        if (calls.size() == script->calls().size()) return script;
        return Script(std::move(calls), script->type(), script->span());
      },
      {.name = "MergeCalls",
       .doc = "Calls of one function in a row become one.",
       .idempotent = true});
}

}  // namespace baton::script
