#include "baton/tir/transform/skip_assert.h"

#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

class AssertSkipper final : public Rewriter {
 protected:
  Stmt VisitAssertStmt(const AssertStmtNode* node) override {
    return Rewrite(node->body());
  }
};

}  // namespace

Pass SkipAssert() {
  return CreatePrimFuncPass(
      [](const PrimFunc& function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        return AssertSkipper().RewriteBody(function);
      },
      {.name = "tir.SkipAssert",
       .doc = "Removes assertions.",
       .idempotent = true});
}
BATON_REGISTER_PASS_AS("tir.SkipAssert", SkipAssert);

}  // namespace baton::tir
