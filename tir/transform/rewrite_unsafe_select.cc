#include "baton/tir/transform/rewrite_unsafe_select.h"

#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/intrinsics.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

// Finds expressions that are not safe to compute where they are not needed.
class UnsafeFinder final : public Visitor {
 public:
  static bool IsUnsafe(const PrimExpr& e) {
    UnsafeFinder finder;
    finder.Visit(e);
    return finder.unsafe_;
  }

 protected:
  // The sides of what is guarded are safe.
  void VisitSelect(const SelectNode* node) override {
    Visit(node->condition());
  }
  void VisitCall(const CallNode* node) override {
    const Intrinsic* intrinsic = IntrinsicOf(node->op());
    if (node->op() == BATON_OP("tir.if_then_else") && !node->args().empty()) {
      Visit(node->args()[0]);
      return;
    }
    if (node->op() == BATON_OP("tir.address_of") && node->args().size() == 1) {
      // The address of an element, which is not loaded.
      if (const auto* load = node->args()[0].As<BufferLoadNode>()) {
        VisitAll(load->indices());
        return;
      }
    }
    if (intrinsic == nullptr || intrinsic->effect > CallEffect::kPure) {
      unsafe_ = true;
      return;
    }
    Visitor::VisitCall(node);
  }
  void VisitBufferLoad(const BufferLoadNode* /*node*/) override {
    unsafe_ = true;
  }

 private:
  bool unsafe_ = false;
};

class SelectRewriter final : public Rewriter {
 protected:
  PrimExpr VisitSelect(const SelectNode* node) override {
    const PrimExpr result = Rewriter::VisitSelect(node);
    const auto* select = result.As<SelectNode>();
    if (select->condition().dtype().lanes() != 1 ||
        (!UnsafeFinder::IsUnsafe(select->true_value()) &&
         !UnsafeFinder::IsUnsafe(select->false_value()))) {
      return result;
    }
    return Call(
        select->dtype(), BATON_OP("tir.if_then_else"),
        {select->condition(), select->true_value(), select->false_value()},
        select->span());
  }
};

}  // namespace

Pass RewriteUnsafeSelect() {
  return CreatePrimFuncPass(
      [](PrimFunc function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        return SelectRewriter().RewriteBody(function);
      },
      {.name = "tir.RewriteUnsafeSelect",
       .doc = "Computes the sides of a Select only where they are needed, if "
              "computing them may fail.",
       .idempotent = true});
}
BATON_REGISTER_PASS_AS("tir.RewriteUnsafeSelect", RewriteUnsafeSelect);

}  // namespace baton::tir
