#include "baton/tir/transform/remove_store_undef.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/ir/error_at.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/ir/span.h"
#include "baton/tir/analysis/side_effect.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/intrinsics.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/tir/transform/remove_no_op.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"
#include "baton/transform/sequential.h"

namespace baton::tir {
namespace {

class UndefRemover final : public Rewriter {
 public:
  const absl::Status& status() const { return status_; }

 protected:
  Stmt VisitBufferStore(const BufferStoreNode* node) override {
    if (!IsUndefined(node->value(), "a store")) return BufferStore(node);
    return Evaluate(IntImm(kInt32, 0));
  }
  Stmt VisitLetStmt(const LetStmtNode* node) override {
    if (IsUndefined(node->value(), "a let")) {
      undefined_vars_.Insert(node->var().get());
    }
    return Rewriter::VisitLetStmt(node);
  }
  PrimExpr VisitCall(const CallNode* node) override {
    if (node->op() == BATON_OP("tir.undef")) undefined_ = true;
    return Rewriter::VisitCall(node);
  }
  PrimExpr VisitVar(const VarNode* node) override {
    if (undefined_vars_.Contains(node)) undefined_ = true;
    return Var(node);
  }
  PrimExpr VisitBufferLoad(const BufferLoadNode* node) override {
    return BufferLoad(node);
  }

 private:
  bool IsUndefined(const PrimExpr& value, absl::string_view place) {
    undefined_ = false;
    Rewrite(value);
    const bool result = std::exchange(undefined_, false);
    if (result && SideEffectOf(value) > CallEffect::kReadState &&
        status_.ok()) {
      status_ =
          ErrorAt(value->span(), absl::StrCat("T.undef() in ", place,
                                              " whose value has side effects"));
    }
    return result;
  }

  bool undefined_ = false;
  NodeSet undefined_vars_;
  absl::Status status_;
};

Pass RemoveStoreUndefInternal() {
  return CreatePrimFuncPass(
      [](PrimFunc function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        UndefRemover remover;
        PrimFunc result = remover.RewriteBody(function);
        if (!remover.status().ok()) return remover.status();
        return result;
      },
      {.name = "tir.RemoveStoreUndefInternal",
       .doc = "Removes stores of undefined values.",
       .idempotent = true});
}

Pass ValidateAllUndefRemoved() {
  return CreatePrimFuncPass(
      [](PrimFunc function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        absl::Status status;
        PostOrderVisit(
            function->body(),
            [&](const PrimExpr& e) {
              const auto* call = e.As<CallNode>();
              if (call == nullptr || call->op() != BATON_OP("tir.undef") ||
                  !status.ok()) {
                return;
              }
              status = ErrorAt(e->span(),
                               "T.undef() is used elsewhere than in the value "
                               "of a store");
            },
            [](const Stmt& /*stmt*/) {});
        if (!status.ok()) return status;
        return function;
      },
      {.name = "tir.ValidateAllUndefRemoved",
       .doc = "Finds uses of T.undef().",
       .idempotent = true});
}

}  // namespace

Pass RemoveStoreUndef() {
  return CreateSequentialPass(
      {RemoveStoreUndefInternal(), RemoveNoOp(), ValidateAllUndefRemoved()},
      {.name = "tir.RemoveStoreUndef",
       .doc = "Removes stores of undefined values.",
       .idempotent = true});
}
BATON_REGISTER_PASS_AS("tir.RemoveStoreUndef", RemoveStoreUndef);

}  // namespace baton::tir
