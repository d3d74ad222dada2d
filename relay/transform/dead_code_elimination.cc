#include "baton/relay/transform/dead_code_elimination.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/ir/module.h"
#include "baton/relay/analysis/graph_queries.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/analysis/purity.h"
#include "baton/relay/ir/expr.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {
namespace {

constexpr int kNone = -1;

// The lets of one function, the f-th of those that `purity` knows. Nothing has
// an effect if `purity` is null.
class LetEliminator {
 public:
  LetEliminator(const IndexedGraph& graph, int f, const Purity* purity,
                bool inline_once)
      : graph_(graph),
        f_(f),
        purity_(purity),
        inline_once_(inline_once),
        visits_(graph.size()),
        lets_(graph.size()) {}

  // The root with its lets removed; the same node if there are none to remove.
  Expr Run() {
    CountUses();
    bool any = false;
    for (int i = 0; i < graph_.size() && !any; ++i) {
      any = IsNeededLet(i) && ActionFor(i) != Action::kKeep;
    }
    return any ? Rewrite() : Expr(graph_.node(graph_.root()));
  }

 private:
  enum class Action { kKeep, kRemove, kInline };

  // The facts about a variable that a let binds.
  struct Variable {
    int let = kNone;  // for nodes that are no such variable
    int level = 0;    // of functions, around the let
    uint8_t uses = 0;
  };

  bool IsPure(int let) const {
    return purity_ == nullptr ||
           !purity_->MayHaveEffect(f_, graph_.let_value(let));
  }
  bool IsNeededLet(int i) const {
    return visits_[i] > 0 && graph_.node(i)->kind() == ExprKind::kLet;
  }
  Action ActionFor(int let) const {
    if (!IsPure(let)) return Action::kKeep;
    switch (lets_[graph_.children(let)[0]].uses) {
      case 0:
        return Action::kRemove;
      case 1:
        return inline_once_ ? Action::kInline : Action::kKeep;
      default:
        return Action::kKeep;
    }
  }

  void CountUses();
  Expr Rewrite();

  const IndexedGraph& graph_;
  const int f_;
  const Purity* const purity_;
  const bool inline_once_;
  std::vector<uint8_t> visits_;  // of each node: 0, 1, or 2 for more than one
  std::vector<Variable> lets_;   // by variable
};

// Visits what is needed: the value of a pure let only when its variable is met.
// What is reached by two ways counts twice. So does a use in a function inside
// the let, which may be called many times.
void LetEliminator::CountUses() {
  struct Step {
    int node;
    int level;
  };
  absl::InlinedVector<Step, 64> steps;
  const auto push = [&steps](int node, int level) {
    steps.push_back({node, level});
  };
  push(graph_.root(), 0);
  while (!steps.empty()) {
    const auto [i, level] = steps.back();
    steps.pop_back();
    if (visits_[i] == 2) continue;
    ++visits_[i];
    const absl::Span<const int> children = graph_.children(i);
    switch (ExprKindOf(graph_.node(i))) {
      case ExprKind::kVar: {
        Variable& var = lets_[i];
        if (var.let == kNone) break;
        ++var.uses;
        if (var.uses == 1 && IsPure(var.let)) {
          push(graph_.let_value(var.let), level);
        }
        if (var.level < level) ++var.uses;
        break;
      }
      case ExprKind::kLet: {
        Variable& var = lets_[children[0]];
        var.let = i;
        var.level = level;
        push(children[2], level);
        if (!IsPure(i)) push(children[1], level);
        break;
      }
      case ExprKind::kFunction:
        for (size_t k = children.size(); k > 0; --k) {
          push(children[k - 1], level + 1);
        }
        break;
      case ExprKind::kConstant:
      case ExprKind::kCall:
      case ExprKind::kTuple:
      case ExprKind::kTupleGetItem:
      case ExprKind::kIf:
      case ExprKind::kRefCreate:
      case ExprKind::kRefRead:
      case ExprKind::kRefWrite:
      case ExprKind::kMatch:
      case ExprKind::kConstructor:
      case ExprKind::kGlobalVar:
      case ExprKind::kOp:
        for (size_t k = children.size(); k > 0; --k) {
          push(children[k - 1], level);
        }
        break;
    }
  }
}

Expr LetEliminator::Rewrite() {
  GraphRewriter rewriter(graph_);
  const auto is_inlined = [this](int i) {
    return lets_[i].let != kNone && ActionFor(lets_[i].let) == Action::kInline;
  };
  std::vector<int> pending;
  for (int i = 0; i < graph_.size(); ++i) {
    if (visits_[i] == 0) continue;
    for (const int child : graph_.children(i)) {
      // A variable that is inlined is used in the body of its let, where the
      // value has been rewritten already. That may be a variable in turn.
      for (int var = child; is_inlined(var) && !rewriter.changed(var);
           var = graph_.let_value(lets_[var].let)) {
        pending.push_back(var);
      }
      while (!pending.empty()) {
        const int let = lets_[pending.back()].let;
        rewriter.Replace(pending.back(), rewriter.Get(graph_.let_value(let)));
        pending.pop_back();
      }
    }
    if (graph_.node(i)->kind() == ExprKind::kLet &&
        ActionFor(i) != Action::kKeep) {
      rewriter.Replace(i, rewriter.Get(graph_.let_body(i)));
    } else {
      rewriter.Rebuild(i);
    }
  }
  return rewriter.Result();
}

absl::StatusOr<IRModule> RemoveDeadLets(
    const IRModule& module, const DeadCodeEliminationOptions& options) {
  const auto has_let = [](const IRModule::Definition& definition) {
    const auto* function = definition.function.As<FunctionNode>();
    return function != nullptr && ContainsKind(Expr(function), ExprKind::kLet);
  };
  if (absl::c_none_of(module.functions(), has_let)) return module;

  std::vector<IndexedGraph> graphs;
  graphs.reserve(module.size());
  for (const auto& definition : module.functions<Function>()) {
    graphs.emplace_back(definition.function);
  }
  std::optional<Purity> purity;
  if (!options.ignore_impurity) purity.emplace(module, graphs);
  std::vector<Function> results;
  results.reserve(module.size());
  for (int f = 0; f < static_cast<int>(graphs.size()); ++f) {
    const Expr result =
        LetEliminator(graphs[f], f, purity.has_value() ? &*purity : nullptr,
                      options.inline_once)
            .Run();
    results.push_back(Function(result.As<FunctionNode>()));
  }
  return module.WithFunctions(results);
}

}  // namespace

Pass DeadCodeElimination(DeadCodeEliminationOptions options) {
  return CreateModulePass(
      [options](const IRModule& module,
                const PassContext& /*context*/) -> absl::StatusOr<IRModule> {
        return RemoveDeadLets(module, options);
      },
      {.name = "DeadCodeElimination",
       .opt_level = 1,
       .required = {"InferType"},
       .doc = "Removes lets that nothing needs.",
       .invalidates = {"a_normal_form", "basic_block_normal_form"},
       .idempotent = true,
       .examples = {"inline_once=true"}},
      options);
}
BATON_REGISTER_PASS(DeadCodeElimination);

}  // namespace baton::relay
