#include "baton/tir/transform/combine_context_call.h"

#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/ir/error_at.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/structural_equal.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/func_target.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

class ContextCombiner final : public Rewriter {
 public:
  const absl::Status& status() const { return status_; }

  Stmt Combine(const Stmt& body) {
    Stmt result = Rewrite(body);
    return WithContexts(std::move(result));
  }

 protected:
  PrimExpr VisitCall(const CallNode* node) override {
    if (node->op() != BATON_OP("tir.tvm_thread_context")) {
      return Rewriter::VisitCall(node);
    }
    if (node->args().size() != 1 || node->args()[0].dtype() != kHandle) {
      if (status_.ok()) {
        status_ =
            ErrorAt(node->span(), "the context of a thread is no pointer");
      }
      return Call(node);
    }
    const PrimExpr& value = node->args()[0];
    for (const Context& context : contexts_) {
      if (StructuralEqual(context.value, value)) return context.var;
    }
    contexts_.push_back({Var("ctx_cache_", kHandle), value});
    return contexts_.back().var;
  }
  Stmt VisitAttrStmt(const AttrStmtNode* node) override {
    if (node->key() != "thread_extent" && node->key() != "coproc_uop_scope") {
      return Rewriter::VisitAttrStmt(node);
    }
    return InScope([this, node] { return Rewriter::VisitAttrStmt(node); });
  }
  Stmt VisitFor(const ForNode* node) override {
    if (node->for_kind() != ForKind::kParallel) {
      return Rewriter::VisitFor(node);
    }
    return InScope([this, node] { return Rewriter::VisitFor(node); });
  }

 private:
  struct Context {
    Var var;
    PrimExpr value;
  };

  Stmt InScope(absl::FunctionRef<Stmt()> rewrite) {
    std::vector<Context> outer;
    std::swap(outer, contexts_);
    Stmt result = WithContexts(rewrite());
    std::swap(outer, contexts_);
    return result;
  }
  Stmt WithContexts(Stmt body) const {
    for (auto it = contexts_.rbegin(); it != contexts_.rend(); ++it) {
      body = LetStmt(it->var, it->value, std::move(body));
    }
    return body;
  }

  std::vector<Context> contexts_;
  absl::Status status_;
};

}  // namespace

Pass CombineContextCall() {
  return CreatePrimFuncPass(
      [](PrimFunc function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        if (!IsHostFunc(function)) return function;
        ContextCombiner combiner;
        Stmt body = combiner.Combine(function->body());
        if (!combiner.status().ok()) return combiner.status();
        if (body == function->body()) return function;
        PrimFuncNode::Parts parts = function->parts();
        parts.body = std::move(body);
        return PrimFunc(std::move(parts), function->span());
      },
      {.name = "tir.CombineContextCall",
       .doc = "Gets each context of a thread once.",
       .idempotent = true});
}
BATON_REGISTER_PASS_AS("tir.CombineContextCall", CombineContextCall);

}  // namespace baton::tir
