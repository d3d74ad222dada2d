// An expression graph as dense arrays, for passes that make several sweeps
// over the same graph: node `i` is an int, and what a pass knows about it is
// element `i` of a vector.
//
//   PostOrderIndex graph(function);  // in a pass:
//   const auto shared = context.Analyze<PostOrderIndex>(function);
//   std::vector<Request> requests(graph.size());
//   for (int i = graph.size() - 1; i >= 0; --i) { ... }  // users first
//   IndexedRewriter rewriter(graph);
//   for (int i = 0; i < graph.size(); ++i) {             // children first
//     rewriter.RebuildFromChildren(i);
//   }

#ifndef BATON_RELAY_ANALYSIS_POST_ORDER_INDEX_H_
#define BATON_RELAY_ANALYSIS_POST_ORDER_INDEX_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "baton/ir/node.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

// The nodes of a graph in post-order: children before parents, each node once,
// the root last. Operators are left out. Holds no references: the root must
// outlive it.
class PostOrderIndex {
 public:
  // Stands for a child that is an operator.
  static constexpr int kNoIndex = -1;

  explicit PostOrderIndex(const Expr& root);
  // The same, without the children of nodes for which `enter` is false.
  PostOrderIndex(const Expr& root,
                 absl::FunctionRef<bool(const ExprNode*)> enter);

  int size() const { return static_cast<int>(nodes_.size()); }
  const ExprNode* node(int i) const { return nodes_[i].node; }
  // Node `i` as an N; null if it is another kind.
  template <typename N>
  const N* As(int i) const {
    return N::ClassOf(node(i)->kind()) ? static_cast<const N*>(node(i))
                                       : nullptr;
  }

  // The indices of the children, in the order of ForEachChild.
  absl::Span<const int> children(int i) const {
    const Entry& entry = nodes_[i];
    return absl::Span<const int>(children_).subspan(entry.first_child,
                                                    entry.num_children);
  }
  // Edges, from parents to children, are numbered in the order in which a
  // depth-first walk enters the parents; those of one parent in a row.
  int first_edge(int i) const { return nodes_[i].first_child; }
  // The indices of the arguments of a call.
  absl::Span<const int> args(int i) const { return children(i).subspan(1); }
  // How often the node is a child; twice if one parent has it twice.
  int num_uses(int i) const { return nodes_[i].num_uses; }

  // Memory that this holds; 0 for a graph so small that to index it again
  // costs less than to look it up (analysis_cache.h).
  size_t bytes() const {
    if (size() < kFewNodes) return 0;
    return nodes_.capacity() * sizeof(Entry) +
           children_.capacity() * sizeof(int);
  }

 private:
  static constexpr int kFewNodes = 32;

  struct Entry {
    const ExprNode* node;
    int first_child;
    int num_children;
    int num_uses;
  };
  std::vector<Entry> nodes_;
  std::vector<int> children_;
};

// Whether there is a node of that kind in the graph. Faster than an index:
// leaves are not looked at. `kind` must be one that has children.
bool ContainsKind(const Expr& root, NodeKind kind);

// Collects what replaces each node. Whatever is not replaced, and has no child
// that is, stays the same node.
class IndexedRewriter {
 public:
  explicit IndexedRewriter(const PostOrderIndex& graph)
      : graph_(&graph), results_(graph.size()) {}

  bool changed(int i) const { return results_[i].defined(); }
  // What node `i` has become.
  Expr Get(int i) const {
    return changed(i) ? results_[i] : Expr(graph_->node(i));
  }
  // What argument `k` of call `i` has become.
  Expr GetArg(int i, int k) const {
    const int arg = graph_->args(i)[k];
    return arg == PostOrderIndex::kNoIndex ? graph_->As<CallNode>(i)->arg(k)
                                           : Get(arg);
  }
  void Set(int i, Expr expr) {
    if (expr.get() == graph_->node(i)) expr = Expr();
    results_[i] = std::move(expr);
  }
  // Node `i` with what its children have become.
  void RebuildFromChildren(int i);

 private:
  const PostOrderIndex* graph_;
  std::vector<Expr> results_;  // null where nothing changed
  std::vector<Expr> scratch_;
};

}  // namespace baton::relay

#endif  // BATON_RELAY_ANALYSIS_POST_ORDER_INDEX_H_
