#include "baton/relay/analysis/purity.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/ir/module.h"
#include "baton/ir/type.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/op_flags.h"

namespace baton::relay {
namespace {

bool MayBeFunction(const ExprNode* node) {
  return !node->type().defined() || node->type().Is<FuncTypeNode>();
}

// The rules by which effects spread, over facts: `Eval(f, i)` is "evaluating
// node i of function f may have an effect", `Call(f, i)` is "so may calling
// it".
class Rules {
 public:
  Rules(const IRModule& module, absl::Span<const IndexedGraph> graphs,
        const std::vector<size_t>& first_node)
      : graphs_(graphs), first_node_(first_node) {
    for (const auto& definition : module.functions<Function>()) {
      functions_.push_back(definition.function);
      by_name_.emplace(definition.var->name(), by_name_.size());
    }
  }

  // Calls `effect(fact)` for what may have an effect by itself, and
  // `implies(a, b)` where b may have one if a may.
  template <typename Effect, typename Implies>
  void ForEach(Effect&& effect, Implies&& implies) const {
    for (size_t f = 0; f < graphs_.size(); ++f) {
      for (int i = 0; i < graphs_[f].size(); ++i) {
        ForNode(f, i, effect, implies);
      }
    }
  }

 private:
  size_t Eval(size_t f, int i) const { return 2 * (first_node_[f] + i); }
  size_t Call(size_t f, int i) const { return Eval(f, i) + 1; }

  template <typename Effect, typename Implies>
  void ForNode(size_t f, int i, Effect&& effect, Implies&& implies) const {
    const IndexedGraph& graph = graphs_[f];
    const ExprNode* node = graph.node(i);
    const absl::Span<const int> children = graph.children(i);
    // Evaluating a node evaluates these children.
    const auto evaluates = [&](absl::Span<const int> operands) {
      for (const int child : operands) {
        implies(Eval(f, child), Eval(f, i));
      }
    };
    // Its value may be the value of this child.
    const auto results_in = [&](int child) {
      implies(Call(f, child), Call(f, i));
    };
    switch (ExprKindOf(node)) {
      case ExprKind::kCall: {
        const auto* call = static_cast<const CallNode*>(node);
        evaluates(children);
        if (call->op_node() == nullptr) {
          implies(Call(f, children[0]), Eval(f, i));
        } else if (IsStateful(call->op())) {
          effect(Eval(f, i));
        }
        // The effects of a function include those of what it returns. What that
        // is may be an argument: an annotation returns it, and a function that
        // does not know its type.
        if (MayBeFunction(node)) {
          for (const int child : children) results_in(child);
        }
        return;
      }
      case ExprKind::kFunction: {
        const int body = children.back();
        implies(Eval(f, body), Call(f, i));
        implies(Call(f, body), Call(f, i));
        for (const int param : children.first(children.size() - 1)) {
          if (MayBeFunction(graph.node(param))) effect(Call(f, param));
        }
        return;
      }
      case ExprKind::kLet:
        evaluates(children.subspan(1));
        results_in(children[2]);
        implies(Call(f, children[1]), Call(f, children[0]));
        return;
      case ExprKind::kIf:
        evaluates(children);
        results_in(children[1]);
        results_in(children[2]);
        return;
      case ExprKind::kMatch: {
        const auto* match = static_cast<const MatchNode*>(node);
        evaluates(children);
        size_t k = 1;
        for (const Clause& clause : match->clauses()) {
          ForEachVar(clause.lhs.get(), [&](const Var& var) {
            if (MayBeFunction(var.get())) effect(Call(f, children[k]));
            ++k;
          });
          results_in(children[k++]);
        }
        return;
      }
      case ExprKind::kTuple:
      case ExprKind::kRefCreate:
        evaluates(children);
        return;
      case ExprKind::kTupleGetItem:
        evaluates(children);
        if (MayBeFunction(node)) effect(Call(f, i));
        return;
      case ExprKind::kRefRead:
        effect(Eval(f, i));
        if (MayBeFunction(node)) effect(Call(f, i));
        return;
      case ExprKind::kRefWrite:
        effect(Eval(f, i));
        return;
      case ExprKind::kGlobalVar: {
        const auto it =
            by_name_.find(static_cast<const GlobalVarNode*>(node)->name());
        if (it == by_name_.end() ||
            functions_[it->second]->attrs().IsTrue(attr::kExtern)) {
          effect(Call(f, i));
        } else {
          implies(Call(it->second, graphs_[it->second].size() - 1), Call(f, i));
        }
        return;
      }
      case ExprKind::kVar:
      case ExprKind::kConstant:
      case ExprKind::kOp:
      case ExprKind::kConstructor:
        return;
    }
    // Nothing is known of other levels.
    effect(Eval(f, i));
    effect(Call(f, i));
  }

  std::vector<Function> functions_;
  const absl::Span<const IndexedGraph> graphs_;
  const std::vector<size_t>& first_node_;
  FlatHashMap<absl::string_view, size_t> by_name_;
};

}  // namespace

Purity::Purity(const IRModule& module, absl::Span<const IndexedGraph> graphs) {
  size_t num_nodes = 0;
  for (const IndexedGraph& graph : graphs) {
    first_node_.push_back(num_nodes);
    num_nodes += graph.size();
  }
  const Rules rules(module, graphs, first_node_);
  std::vector<size_t> found;
  rules.ForEach([&](size_t fact) { found.push_back(fact); },
                [](size_t, size_t) {});
  if (found.empty()) return;

  // The implications of each fact: those of fact a are from ends[a - 1] to
  // ends[a].
  std::vector<size_t> ends(2 * num_nodes);
  rules.ForEach([](size_t) {}, [&](size_t a, size_t) { ++ends[a]; });
  size_t total = 0;
  for (size_t& end : ends) end = std::exchange(total, total + end);
  std::vector<size_t> implied(total);
  rules.ForEach([](size_t) {},
                [&](size_t a, size_t b) { implied[ends[a]++] = b; });

  effects_.resize(2 * num_nodes);
  for (const size_t fact : found) effects_[fact] = true;
  while (!found.empty()) {
    const size_t fact = found.back();
    found.pop_back();
    for (size_t k = fact == 0 ? 0 : ends[fact - 1]; k < ends[fact]; ++k) {
      if (effects_[implied[k]]) continue;
      effects_[implied[k]] = true;
      found.push_back(implied[k]);
    }
  }
}

}  // namespace baton::relay
