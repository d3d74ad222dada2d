#include "baton/examples/write_a_tir_pass.h"

#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::examples {
namespace {

// [rewriter]
class UnitLoopRemover final : public tir::Rewriter {
 public:
  explicit UnitLoopRemover(const RemoveUnitLoopsOptions& options)
      : options_(options) {}

 protected:
  tir::Stmt VisitFor(const tir::ForNode* loop) override {
    if (!IsRemovable(loop)) return Rewriter::VisitFor(loop);
    // The body first: the extents of loops inside may become one.
    return Rewrite(tir::Substitute(
        loop->body(), [loop](const tir::VarNode* var) -> tir::PrimExpr {
          return var == loop->loop_var().get() ? loop->min() : tir::PrimExpr();
        }));
  }

 private:
  bool IsRemovable(const tir::ForNode* loop) {
    if (loop->for_kind() == tir::ForKind::kThreadBinding) return false;
    if (!loop->annotations().empty() && !options_.annotated) return false;
    return tir::IsOne(analyzer_.Simplify(loop->extent()));
  }

  const RemoveUnitLoopsOptions& options_;
  tir::Analyzer analyzer_;
};
// [/rewriter]

}  // namespace

// [pass]
Pass RemoveUnitLoops(RemoveUnitLoopsOptions options) {
  return tir::CreatePrimFuncPass(
      [options](
          const tir::PrimFunc& function, const IRModule& /*module*/,
          const PassContext& /*context*/) -> absl::StatusOr<tir::PrimFunc> {
        return UnitLoopRemover(options).RewriteBody(function);
      },
      {.name = "example.RemoveUnitLoops",
       .doc = "A loop of one step becomes its body.",
       .idempotent = true},
      options);
}
BATON_REGISTER_PASS_AS("example.RemoveUnitLoops", RemoveUnitLoops);
// [/pass]

}  // namespace baton::examples
