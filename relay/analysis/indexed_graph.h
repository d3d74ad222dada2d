// IndexedGraph: the graph of an expression with numbered nodes. GraphRewriter:
// rewrites such a graph. Most of Baton's passes use them.
//
// Node `i` is an int, and a property of node `i` is element `i` of a vector.
// Children precede users. So a loop with increasing `i` visits all children of
// a node before the node, and a loop with decreasing `i` visits all users
// before it:
//
//   const IndexedGraph graph(function);
//   std::vector<Request> requests(graph.size());
//   for (int i = graph.root(); i >= 0; --i) { ... }  // users first
//   GraphRewriter rewriter(graph);
//   for (int i = 0; i < graph.size(); ++i) { ... }   // children first
//
// Most rewriters handle one kind of node, children first:
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

#include <type_traits>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/ir/node.h"
#include "baton/ir/origin.h"
#include "baton/ir/rewrite_gate.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

// The nodes that an expression reaches, each once, in post-order: children
// before users, the root last. The graph does not keep the nodes alive: the
// root must outlive it.
class IndexedGraph {
 public:
  explicit IndexedGraph(const Expr& root);
  // Does not enter the children of nodes for which `enter` is false: these
  // nodes have no children in the graph.
  IndexedGraph(const Expr& root,
               absl::FunctionRef<bool(const ExprNode*)> enter);

  int size() const { return static_cast<int>(nodes_.size()); }
  // The root; -1 if the expression was null.
  int root() const { return size() - 1; }

  const ExprNode* node(int i) const { return nodes_[i].node; }
  NodeKind kind(int i) const { return node(i)->kind(); }
  // Node `i` as an N; null if it is of another kind.
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

  // The number of edges to the node; two edges if one user has it as a child
  // twice.
  int num_uses(int i) const { return nodes_[i].num_uses; }

  // The edges to the children of node `i` have consecutive numbers, starting
  // with this one. The numbers follow the order in which a depth-first walk
  // enters the nodes.
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

// Collects the replacements of the nodes of a graph. A node stays the same node
// if neither it nor a child is replaced. Sharing is kept. A rebuilt node keeps
// its type if every new child has the type of the child that it replaces. The
// graph must outlive the rewriter.
class GraphRewriter {
 public:
  explicit GraphRewriter(const IndexedGraph& graph)
      : graph_(&graph), results_(graph.size()) {}

  // The current replacement of node `i`, or the node itself.
  Expr Get(int i) const {
    return changed(i) ? results_[i] : Expr(graph_->node(i));
  }
  bool changed(int i) const { return results_[i].defined(); }
  // The current replacements of the arguments of call `i`; valid until the next
  // call.
  absl::Span<const Expr> Args(int i);
  // The current replacement of the root.
  Expr Result() const { return Get(graph_->root()); }

  // Replaces node `i` by `expr`; if `expr` is null, keeps the node.
  void Replace(int i, Expr expr) {
    if (expr.get() == graph_->node(i)) expr = Expr();
    Record(i, std::move(expr));
  }
  // Replaces node `i` by a copy with the replaced children, if a child was
  // replaced.
  void Rebuild(int i) {
    if (any_changed_) RebuildChanged(i);
  }

  // Visits the graph, children first, and calls `rule(i, node)` for each N. The
  // result of `rule` replaces node `i`; if it is null, node `i` is rebuilt, as
  // are all nodes of other kinds. Returns the replacement of the root. If
  // `rule` returns absl::StatusOr<Expr>, so does Rewrite; it returns the first
  // error. Each replacement is a rewrite of its own: MayRewrite() may refuse
  // it.
  template <typename N, typename Rule>
  auto Rewrite(Rule&& rule) -> std::invoke_result_t<Rule&, int, const N&> {
    return RewriteEach<N>(rule, [] { return MayRewrite(); });
  }
  // As above, for replacements that belong together: none can be refused alone.
  template <typename N, typename Rule>
  auto RewriteAll(Rule&& rule) -> std::invoke_result_t<Rule&, int, const N&> {
    return RewriteEach<N>(rule, [] { return true; });
  }

 private:
  template <typename N, typename Rule, typename May>
  auto RewriteEach(Rule& rule, May may)
      -> std::invoke_result_t<Rule&, int, const N&>;
  // All replacements are recorded here.
  void Record(int i, Expr expr) {
    any_changed_ = any_changed_ || expr.defined();
    if (expr.defined()) LogOrigins(expr, graph_->node(i));
    results_[i] = std::move(expr);
  }
  void RebuildChanged(int i);

  const IndexedGraph* graph_;
  bool any_changed_ = false;
  std::vector<Expr> results_;  // null for unchanged nodes
  std::vector<Expr> scratch_;
};

// Implementation details below.

template <typename N, typename Rule, typename May>
auto GraphRewriter::RewriteEach(Rule& rule, May may)
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
        if (replacement->defined() && (replacement->get() == node || may())) {
          Replace(i, *std::move(replacement));
          continue;
        }
      } else if (replacement.defined() &&
                 (replacement.get() == node || may())) {
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
