// The graph of an expression with its nodes numbered, and a rewriter for it.
// Most of Baton's passes are written with them.
//
// Node `i` is an int, and what a pass knows about it is element `i` of a
// vector. Children come before users, so one loop up sees all children of a
// node before the node, and one loop down sees all its users before it:
//
//   const IndexedGraph graph(function);
//   std::vector<Request> requests(graph.size());
//   for (int i = graph.root(); i >= 0; --i) { ... }  // users first
//   GraphRewriter rewriter(graph);
//   for (int i = 0; i < graph.size(); ++i) { ... }   // children first
//
// Most rewriters look at one kind of node, children first:
//
//   const Expr result = rewriter.Rewrite<CallNode>(
//       [&](int i, const CallNode& call) -> Expr {
//         if (call.op() != relu) return {};  // stays a call of `relu`
//         return Clip(rewriter.Args(i)[0], 0, 6);
//       });
//
// All of this takes time linear in the size of the graph and does not recurse.

#ifndef BATON_RELAY_ANALYSIS_INDEXED_GRAPH_H_
#define BATON_RELAY_ANALYSIS_INDEXED_GRAPH_H_

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/ir/node.h"
#include "baton/ir/origin.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

// The nodes that an expression reaches, each once, in post-order: children
// before users, the root last. It does not hold the nodes: the root must
// outlive it.
class IndexedGraph {
 public:
  explicit IndexedGraph(const Expr& root);
  // Does not enter the children of nodes for which `enter` is false: these
  // nodes have no children in the graph.
  IndexedGraph(const Expr& root,
               absl::FunctionRef<bool(const ExprNode*)> enter);

  int size() const { return static_cast<int>(nodes_.size()); }
  // The root; there is none if the expression was null.
  int root() const { return size() - 1; }

  const ExprNode* node(int i) const { return nodes_[i].node; }
  NodeKind kind(int i) const { return node(i)->kind(); }
  // Node `i` as an N; null if it is another kind.
  template <typename N>
  const N* As(int i) const {
    return N::ClassOf(kind(i)) ? static_cast<const N*>(node(i)) : nullptr;
  }

  // The children of node `i`, in the order of ForEachChild (relay/ir/visit.h).
  absl::Span<const int> children(int i) const {
    const Entry& entry = nodes_[i];
    return absl::Span<const int>(children_).subspan(entry.first_edge,
                                                    entry.num_children);
  }
  // The callee of call `i` (usually an operator), and its arguments.
  int callee(int i) const { return children(i)[0]; }
  absl::Span<const int> args(int i) const { return children(i).subspan(1); }
  // The value and the body of let `i`.
  int let_value(int i) const { return children(i)[1]; }
  int let_body(int i) const { return children(i)[2]; }

  // How often the node is a child; twice if one user has it twice.
  int num_uses(int i) const { return nodes_[i].num_uses; }

  // The edges to the children of node `i` have consecutive numbers from this
  // one on. Numbers follow the order in which a depth-first walk enters the
  // nodes.
  int first_edge(int i) const { return nodes_[i].first_edge; }

 private:
  template <typename Enter>
  class Builder;
  struct Entry {
    const ExprNode* node;
    int first_edge;
    int num_children;
    int num_uses;
  };
  std::vector<Entry> nodes_;
  std::vector<int> children_;  // by edge
};

// Collects the replacements of the nodes of a graph. A node that is not
// replaced, and none of whose children is, stays the same node; sharing is
// kept; a node that is rebuilt keeps its type if every new child has the type
// of the one that it replaces. The graph must outlive the rewriter.
class GraphRewriter {
 public:
  explicit GraphRewriter(const IndexedGraph& graph)
      : graph_(&graph), results_(graph.size()) {}

  // What node `i` has become so far.
  Expr Get(int i) const {
    return changed(i) ? results_[i] : Expr(graph_->node(i));
  }
  bool changed(int i) const { return results_[i].defined(); }
  // What the arguments of call `i` have become; valid until the next call.
  absl::Span<const Expr> Args(int i);
  // What the root has become.
  Expr Result() const { return Get(graph_->root()); }

  // Replaces node `i` by `expr`; null keeps the node itself.
  void Replace(int i, Expr expr) {
    if (expr.get() == graph_->node(i)) expr = Expr();
    Record(i, std::move(expr));
  }
  // Replaces node `i` by a copy with the replaced children, if one was
  // replaced.
  void Rebuild(int i) {
    if (any_changed_) RebuildChanged(i);
  }

  // Goes through the graph, children first, and calls `rule(i, node)` for each
  // N. Its result replaces node `i`; if it is null, node `i` is rebuilt, as all
  // other nodes are. Returns what the root has become. If the rule returns
  // absl::StatusOr<Expr>, so does Rewrite: the first error.
  template <typename N, typename Rule>
  auto Rewrite(Rule&& rule) -> std::invoke_result_t<Rule&, int, const N&>;

 private:
  // All replacements pass through here.
  void Record(int i, Expr expr) {
    any_changed_ = any_changed_ || expr.defined();
    if (expr.defined()) LogOrigins(expr, graph_->node(i));
    results_[i] = std::move(expr);
  }
  void RebuildChanged(int i);

  const IndexedGraph* graph_;
  bool any_changed_ = false;
  std::vector<Expr> results_;  // null where nothing changed
  std::vector<Expr> scratch_;
};

// Implementation details below.

template <typename N, typename Rule>
auto GraphRewriter::Rewrite(Rule&& rule)
    -> std::invoke_result_t<Rule&, int, const N&> {
  using Replacement = std::invoke_result_t<Rule&, int, const N&>;
  constexpr bool kCanFail = std::is_same_v<Replacement, absl::StatusOr<Expr>>;
  static_assert(kCanFail || std::is_convertible_v<Replacement, Expr>,
                "a rule returns Expr or absl::StatusOr<Expr>");
  for (int i = 0; i < graph_->size(); ++i) {
    if (const N* node = graph_->As<N>(i)) {
      Replacement replacement = rule(i, *node);
      if constexpr (kCanFail) {
        if (!replacement.ok()) return replacement;
        if (replacement->defined()) {
          Replace(i, *std::move(replacement));
          continue;
        }
      } else if (replacement.defined()) {
        Replace(i, std::move(replacement));
        continue;
      }
    }
    Rebuild(i);
  }
  return Result();
}

}  // namespace baton::relay

#endif  // BATON_RELAY_ANALYSIS_INDEXED_GRAPH_H_
