#include "baton/tir/transform/remove_assume.h"

#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/tir/transform/remove_no_op.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"
#include "baton/transform/sequential.h"

namespace baton::tir {
namespace {

class AssumeRemover final : public Rewriter {
 protected:
  Stmt VisitEvaluate(const EvaluateNode* node) override {
    const auto* call = node->value().As<CallNode>();
    if (call == nullptr || call->op() != BATON_OP("tir.assume")) {
      return Evaluate(node);
    }
    return Evaluate(IntImm(kInt32, 0));
  }
};

Pass RemoveAssumeInternal() {
  return CreatePrimFuncPass(
      [](PrimFunc function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        return AssumeRemover().RewriteBody(function);
      },
      {.name = "tir.RemoveAssumeInternal",
       .doc = "Removes assumptions.",
       .idempotent = true});
}

}  // namespace

Pass RemoveAssume() {
  return CreateSequentialPass({RemoveAssumeInternal(), RemoveNoOp()},
                              {.name = "tir.RemoveAssume",
                               .doc = "Removes assumptions.",
                               .idempotent = true});
}
BATON_REGISTER_PASS_AS("tir.RemoveAssume", RemoveAssume);

}  // namespace baton::tir
