#include "baton/tir/transform/lift_thread_binding.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/tir/analysis/thread_range.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/ir/expr.h"
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

// The loop that replaces all loops of one thread.
struct ThreadLoop {
  Var var;
  PrimExpr min;
  PrimExpr extent;
  std::vector<Dict::Entry> annotations;
  // The loops around all loops of the thread, outermost first.
  std::vector<const ForNode*> ancestors;
};

class ThreadLoopFinder final : public Visitor {
 public:
  std::map<std::string, ThreadLoop> loops;
  FlatHashMap<const VarNode*, Var> replacements;
  absl::Status status;

  void VisitFor(const ForNode* loop) override {
    path_.push_back(loop);
    Visitor::VisitFor(loop);
    if (loop->for_kind() == ForKind::kThreadBinding) Add(loop);
    path_.pop_back();
  }

 private:
  void Add(const ForNode* loop) {
    const std::string& tag = loop->thread()->thread_tag();
    ThreadLoop& entry = loops[tag];
    if (!loop->annotations().empty()) {
      const DictNode* dict = loop->annotations().get();
      for (size_t i = 0; i < dict->keys().size(); ++i) {
        entry.annotations.push_back({dict->keys()[i], dict->values()[i]});
      }
    }
    if (!entry.var.defined()) {
      const VarNode* var = loop->loop_var().get();
      entry.var = Var(tag, var->dtype(), var->span());
      entry.min = loop->min();
      entry.extent = loop->extent();
      entry.ancestors = path_;
    } else {
      status.Update(CheckSameThreadRange({entry.min, entry.extent},
                                         {loop->min(), loop->extent()}, tag,
                                         loop->span(), analyzer_));
      size_t n = 0;
      while (n < path_.size() && n < entry.ancestors.size() &&
             path_[n] == entry.ancestors[n]) {
        ++n;
      }
      entry.ancestors.resize(n);
    }
    replacements[loop->loop_var().get()] = entry.var;
  }

  std::vector<const ForNode*> path_;
  Analyzer analyzer_;
};

class ThreadBindingLifter final : public Rewriter {
 public:
  absl::StatusOr<PrimFunc> Lift(const PrimFunc& function) {
    PrimFunc result = RewriteBody(function);
    BATON_RETURN_IF_ERROR(status_);
    return result;
  }

  PrimExpr VisitVar(const VarNode* var) override {
    const auto found = replacements_.find(var);
    return found == replacements_.end() ? Var(var) : found->second;
  }

  Stmt VisitFor(const ForNode* loop) override {
    const bool is_bound = loop->for_kind() == ForKind::kThreadBinding;
    const bool is_kernel = is_bound && !in_kernel_;
    if (is_kernel) EnterKernel(loop);
    const Stmt changed = Rewriter::VisitFor(loop);
    const auto* result = changed.As<ForNode>();
    Stmt body = result->body();
    if (const auto found = lifted_.find(loop); found != lifted_.end()) {
      for (const auto& [tag, thread] : found->second) {
        body = For({.loop_var = thread.var,
                    .min = thread.min,
                    .extent = thread.extent,
                    .kind = ForKind::kThreadBinding,
                    .thread = IterVar({}, Var(tag, kInt32),
                                      IterVarType::kThreadIndex, tag),
                    .annotations = Dict::Of(thread.annotations),
                    .body = std::move(body)},
                   loop->span());
      }
    }
    if (is_kernel) {
      in_kernel_ = false;
      lifted_.clear();
      replacements_.clear();
    }
    if (is_bound || body == result->body()) return is_bound ? body : changed;
    ForNode::Parts parts = result->parts();
    parts.body = std::move(body);
    return For(std::move(parts), loop->span());
  }

 private:
  void EnterKernel(const ForNode* root) {
    in_kernel_ = true;
    ThreadLoopFinder finder;
    finder.Visit(For(root));
    status_.Update(finder.status);
    replacements_ = std::move(finder.replacements);
    std::vector<std::pair<std::string, ThreadLoop>> loops(finder.loops.begin(),
                                                          finder.loops.end());
    // Threads lie inside of blocks of threads.
    std::stable_sort(loops.begin(), loops.end(),
                     [](const auto& a, const auto& b) {
                       return a.first.size() > b.first.size();
                     });
    for (auto& entry : loops) {
      lifted_[entry.second.ancestors.back()].push_back(std::move(entry));
    }
  }

  bool in_kernel_ = false;
  // By the loop whose body gets them, innermost first.
  FlatHashMap<const ForNode*, std::vector<std::pair<std::string, ThreadLoop>>>
      lifted_;
  FlatHashMap<const VarNode*, Var> replacements_;
  absl::Status status_;
};

}  // namespace

Pass LiftThreadBinding() {
  return CreatePrimFuncPass(
      [](const PrimFunc& function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        if (IsFromTeSchedule(function)) return function;
        return ThreadBindingLifter().Lift(function);
      },
      {.name = "tir.LiftThreadBinding",
       .doc = "Moves loops that are bound to threads to where they have all "
              "loops of one thread inside."});
}
BATON_REGISTER_PASS_AS("tir.LiftThreadBinding", LiftThreadBinding);

}  // namespace baton::tir
