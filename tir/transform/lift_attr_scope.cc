#include "baton/tir/transform/lift_attr_scope.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/ir/error_at.h"
#include "baton/ir/module.h"
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

class AttrLifter final : public Rewriter {
 public:
  explicit AttrLifter(std::string key) : key_(std::move(key)) {}
  const absl::Status& status() const { return status_; }

  Stmt Lift(const Stmt& body) { return WithAttr(lifted_, Rewrite(body)); }

 protected:
  Stmt VisitAllocate(const AllocateNode* node) override {
    const Stmt result = Rewriter::VisitAllocate(node);
    if (!lifted_.defined()) return result;
    const auto* alloc = result.As<AllocateNode>();
    const auto extents = alloc->extents();
    Stmt body = WithAttr(std::exchange(lifted_, {}), alloc->body());
    return Allocate(alloc->var(), alloc->dtype(),
                    {extents.begin(), extents.end()}, alloc->condition(),
                    alloc->annotations(), std::move(body), alloc->span());
  }
  Stmt VisitAttrStmt(const AttrStmtNode* node) override {
    if (node->key() != key_) return Rewriter::VisitAttrStmt(node);
    lifted_ = {node->node(), node->value()};
    return node->body();
  }
  Stmt VisitSeqStmt(const SeqStmtNode* node) override {
    std::vector<Attr> attrs;
    std::vector<Stmt> stmts;
    bool changed = false;
    for (const Stmt& stmt : node->seq()) {
      lifted_ = {};
      Stmt result = Rewrite(stmt);
      changed = changed || result != stmt;
      stmts.push_back(std::move(result));
      attrs.push_back(std::exchange(lifted_, {}));
    }
    std::vector<Stmt> seq;
    for (size_t begin = 0; begin < stmts.size();) {
      size_t end = begin + 1;
      while (end < stmts.size() && Same(attrs[end], attrs[begin])) ++end;
      std::vector<Stmt> part;
      for (size_t i = begin; i < end; ++i) AppendFlattened(stmts[i], part);
      if (begin == 0 && end == stmts.size()) {
        lifted_ = attrs[0];
        if (!changed) return SeqStmt(node);
        return MakeSeq(std::move(part));
      }
      AppendFlattened(WithAttr(attrs[begin], MakeSeq(std::move(part))), seq);
      begin = end;
    }
    return MakeSeq(std::move(seq));
  }
  Stmt VisitIfThenElse(const IfThenElseNode* node) override {
    if (!node->else_case().defined()) return Rewriter::VisitIfThenElse(node);
    Stmt then_case = Rewrite(node->then_case());
    const Attr first = std::exchange(lifted_, {});
    Stmt else_case = Rewrite(node->else_case());
    if (!(lifted_.defined() && first.defined() && Same(lifted_, first))) {
      then_case = WithAttr(first, std::move(then_case));
      else_case = WithAttr(std::exchange(lifted_, {}), std::move(else_case));
    }
    if (then_case == node->then_case() && else_case == node->else_case()) {
      return IfThenElse(node);
    }
    return IfThenElse(node->condition(), std::move(then_case),
                      std::move(else_case), node->span());
  }
  Stmt VisitWhile(const WhileNode* node) override {
    if (status_.ok()) {
      status_ = ErrorAt(node->span(), "attributes of while loops stay");
    }
    return While(node);
  }

 private:
  struct Attr {
    PrimExpr node;
    PrimExpr value;
    bool defined() const { return node.defined(); }
  };

  static bool Same(const Attr& a, const Attr& b) {
    if (!(a.node == b.node)) return false;
    if (a.value == b.value) return true;
    if (!a.value.defined() || !b.value.defined()) return false;
    const auto* x = a.value.As<IntImmNode>();
    const auto* y = b.value.As<IntImmNode>();
    return x != nullptr && y != nullptr && x->dtype() == y->dtype() &&
           x->value() == y->value();
  }
  Stmt WithAttr(const Attr& attr, Stmt body) const {
    if (!attr.defined()) return body;
    return AttrStmt(attr.node, key_, attr.value, std::move(body));
  }

  const std::string key_;
  // The attribute that was taken from the statement that was rewritten.
  Attr lifted_;
  absl::Status status_;
};

}  // namespace

Pass LiftAttrScope(LiftAttrScopeOptions options) {
  return CreatePrimFuncPass(
      [options](PrimFunc function, const IRModule& /*module*/,
                const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        AttrLifter lifter(options.attr_key);
        Stmt body = lifter.Lift(function->body());
        if (!lifter.status().ok()) return lifter.status();
        if (body == function->body()) return function;
        PrimFuncNode::Parts parts = function->parts();
        parts.body = std::move(body);
        return PrimFunc(std::move(parts), function->span());
      },
      {.name = "tir.LiftAttrScope",
       .doc = "Unites neighbouring statements with one attribute.",
       .examples = {"attr_key=coproc_uop_scope"}},
      options);
}
BATON_REGISTER_PASS_AS("tir.LiftAttrScope", LiftAttrScope);

}  // namespace baton::tir
