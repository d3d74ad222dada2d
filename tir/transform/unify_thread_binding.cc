#include "baton/tir/transform/unify_thread_binding.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/ir/span.h"
#include "baton/tir/analysis/thread_range.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/tir/transform/te_schedule.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

class ThreadBindingUnifier final : public Rewriter {
 public:
  absl::StatusOr<PrimFunc> Unify(const PrimFunc& function) {
    PrimFunc result = RewriteBody(function);
    BATON_RETURN_IF_ERROR(status_);
    return result;
  }

  PrimExpr VisitVar(const VarNode* var) override {
    const PrimExpr* value = replacements_.Find(var);
    return value == nullptr ? Var(var) : *value;
  }

  Stmt VisitAttrStmt(const AttrStmtNode* attr) override {
    const auto* thread = attr->node().As<IterVarNode>();
    if (thread == nullptr ||
        (attr->key() != "thread_extent" && attr->key() != "virtual_thread")) {
      return Rewriter::VisitAttrStmt(attr);
    }
    return Unify(IterVar(thread), thread->var(),
                 {thread->min(), thread->extent()}, attr->body(), attr->span());
  }

  Stmt VisitFor(const ForNode* loop) override {
    if (loop->for_kind() != ForKind::kThreadBinding) {
      return Rewriter::VisitFor(loop);
    }
    Stmt result =
        Unify(loop->thread(), loop->loop_var(), {loop->min(), loop->extent()},
              loop->body(), loop->span());
    if (loop->annotations().empty()) return result;
    if (const auto* made = result.As<ForNode>()) {
      ForNode::Parts parts = made->parts();
      parts.annotations = loop->annotations();
      return For(std::move(parts), loop->span());
    }
    const DType dtype = loop->loop_var().dtype();
    return For({.loop_var = Var("var", dtype),
                .min = IntImm(dtype, 0),
                .extent = IntImm(dtype, 1),
                .thread = {},
                .annotations = loop->annotations(),
                .body = std::move(result)},
               loop->span());
  }

 private:
  struct Thread {
    std::string tag;
    Var var;
    Range dom;
  };

  // Replaces `var` in `body` by the variable of the kernel for that thread.
  Stmt Unify(const IterVar& thread, const Var& var, const Range& dom,
             const Stmt& body, const Span& span) {
    const std::string& tag = thread->thread_tag();
    const int outer_depth = depth_;
    if (depth_ == 0) by_tag_.clear();
    if (depth_ == 0 || absl::StartsWith(tag, "blockIdx.")) ++depth_;
    const auto [found, is_new] = by_tag_.try_emplace(tag);
    if (is_new) {
      found->second = {tag, Var(tag, dom.extent.dtype()), dom};
      launches_.push_back(found->second);
    } else {
      CheckEqual(found->second.dom, dom, tag, span);
    }
    *replacements_.TryEmplace(var.get()).first =
        CastTo(var.dtype(), found->second.var);
    Stmt result = Rewrite(body);
    depth_ = outer_depth;
    if (outer_depth > 0) return result;
    while (!launches_.empty()) {
      Thread launch = std::move(launches_.back());
      launches_.pop_back();
      result = For({.loop_var = launch.var,
                    .min = launch.dom.min,
                    .extent = launch.dom.extent,
                    .kind = ForKind::kThreadBinding,
                    .thread = IterVar({}, Var("", kInt32),
                                      IterVarType::kThreadIndex, launch.tag),
                    .annotations = {},
                    .body = std::move(result)},
                   span);
    }
    return result;
  }

  void CheckEqual(const Range& a, const Range& b, const std::string& tag,
                  const Span& span) {
    status_.Update(CheckSameThreadRange(a, b, tag, span, analyzer_));
  }

  std::map<std::string, Thread> by_tag_;
  std::vector<Thread> launches_;
  NodeMap<PrimExpr> replacements_;
  int depth_ = 0;  // of blocks of threads
  Analyzer analyzer_;
  absl::Status status_;
};

}  // namespace

Pass UnifyThreadBinding() {
  return CreatePrimFuncPass(
      [](const PrimFunc& function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        if (IsFromTeSchedule(function)) return function;
        return ThreadBindingUnifier().Unify(function);
      },
      {.name = "tir.UnifyThreadBinding",
       .doc = "Makes all loops of a kernel that are bound to one thread a "
              "single one, around the kernel."});
}
BATON_REGISTER_PASS_AS("tir.UnifyThreadBinding", UnifyThreadBinding);

}  // namespace baton::tir
