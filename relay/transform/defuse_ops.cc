#include "baton/relay/transform/defuse_ops.h"

#include <cstddef>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/visit.h"
#include "baton/transform/function_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {
namespace {

class OperatorDefuser : public ExprMutator {
 protected:
  Expr VisitCall(const CallNode* /*original*/, Call call) override {
    const auto* function = call->op().As<FunctionNode>();
    if (function == nullptr ||
        function->params().size() != call->args().size() ||
        !BoundVars(function->body()).empty()) {
      return call;
    }
    absl::flat_hash_map<const VarNode*, Expr> values;
    for (size_t i = 0; i < call->args().size(); ++i) {
      values.emplace(function->params()[i].get(), call->args()[i]);
    }
    return Substitute(function->body(), values);
  }
};

}  // namespace

Expr DefuseOperators(const Expr& expr) {
  return OperatorDefuser().Mutate(expr);
}

Pass DefuseOps() {
  return CreateFunctionPass(
      [](Function function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<Function> {
        return Function(DefuseOperators(function).As<FunctionNode>());
      },
      {.name = "DefuseOps",
       .opt_level = 3,
       .required = {"InferType"},
       .doc = "Replaces calls of function literals by their bodies."});
}
BATON_REGISTER_PASS(DefuseOps);

}  // namespace baton::relay
