#include "baton/relay/analysis/indexed_graph.h"

#include <algorithm>
#include <cstddef>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "baton/ir/node.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"

namespace baton::relay {

// Numbers the nodes in one depth-first walk.
template <typename Enter>
class IndexedGraph::Builder {
 public:
  Builder(IndexedGraph& graph, Enter enter) : graph_(graph), enter_(enter) {}

  void Build(const Expr& root) {
    graph_.nodes_.reserve(32);
    if (const auto* function = root.As<FunctionNode>()) {
      shared_nodes_.Reserve(2 * function->params().size());
    }
    if (!Met(root.get(), kNoEdge)) Push(root.get(), kNoEdge);
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      const ExprNode* below = nullptr;
      int edge = kNoEdge;
      while (below == nullptr && frame.next_child < frame.num_children) {
        edge = frame.first_edge + frame.next_child;
        below = NextChild(frame);
        if (Met(below, edge)) below = nullptr;
      }
      if (below != nullptr) {
        Push(below, edge);  // moves the frames
      } else {
        Pop();
      }
    }
    graph_.children_.resize(static_cast<size_t>(num_edges_));
  }

 private:
  static constexpr int kNoEdge = -1;

  // A node that was entered and not yet left.
  struct Frame {
    const ExprNode* node;
    const Expr* args;      // of a call; null for other nodes
    size_t first_pending;  // of other nodes: where in `pending_` children start
    int edge;              // where in `children_` the number of `node` goes
    int first_edge;
    int num_children;
    int next_child;
    bool shared;
  };

  const ExprNode* NextChild(Frame& frame) {
    const int k = frame.next_child++;
    if (frame.args == nullptr) return pending_[frame.first_pending + k];
    if (k > 0) return frame.args[k - 1].get();
    return static_cast<const CallNode*>(frame.node)->op().get();
  }

  // True if nothing below `node`, to which `edge` leads, is left to number: it
  // is already numbered, or is numbered here since it has no children to enter.
  bool Met(const ExprNode* node, int edge) {
    const NodeKind kind = node->kind();
    if (kind == ExprKind::kOp) {
      MeetOp(node, edge);
      return true;
    }
    const bool shared = !node->unique();
    if (IsLeaf(kind)) {
      if (!shared) {
        Append(node, edge, num_edges_, 0);
        return true;
      }
      const auto [i, is_new] = shared_nodes_.TryEmplace(node);
      if (is_new) {
        *i = Append(node, edge, num_edges_, 0);
      } else {
        MeetAgain(*i, edge);
      }
      return true;
    }
    if (shared) {
      if (const int* i = shared_nodes_.Find(node)) {
        MeetAgain(*i, edge);
        return true;
      }
    }
    if (enter_(node)) return false;
    const int i = Append(node, edge, num_edges_, 0);
    if (shared) shared_nodes_[node] = i;
    return true;
  }

  // A program has few operators, with many calls each: the last ones are
  // cached.
  void MeetOp(const ExprNode* op, int edge) {
    KnownOp& known =
        ops_[static_cast<const OpNode*>(op)->index() % kNumKnownOps];
    if (known.op == op) {
      MeetAgain(known.number, edge);
      return;
    }
    const auto [i, is_new] = shared_nodes_.TryEmplace(op);
    if (is_new) {
      *i = Append(op, edge, num_edges_, 0);
    } else {
      MeetAgain(*i, edge);
    }
    known = {op, *i};
  }

  void Push(const ExprNode* node, int edge) {
    Frame frame = {.node = node,
                   .args = nullptr,
                   .first_pending = pending_.size(),
                   .edge = edge,
                   .first_edge = num_edges_,
                   .num_children = 0,
                   .next_child = 0,
                   .shared = !node->unique()};
    if (node->kind() == ExprKind::kCall) {
      const auto* call = static_cast<const CallNode*>(node);
      frame.args = call->args().data();
      frame.num_children = call->num_args() + 1;
    } else {
      ForEachChild(node,
                   [&](const Expr& child) { pending_.push_back(child.get()); });
      frame.num_children =
          static_cast<int>(pending_.size() - frame.first_pending);
    }
    num_edges_ += frame.num_children;
    if (static_cast<size_t>(num_edges_) > graph_.children_.size()) {
      graph_.children_.resize(2 * static_cast<size_t>(num_edges_));
    }
    frames_.push_back(frame);
  }

  void Pop() {
    const Frame& frame = frames_.back();
    const int i =
        Append(frame.node, frame.edge, frame.first_edge, frame.num_children);
    if (frame.shared) shared_nodes_[frame.node] = i;
    pending_.resize(frame.first_pending);
    frames_.pop_back();
  }

  int Append(const ExprNode* node, int edge, int first_edge, int num_children) {
    const int i = graph_.size();
    if (edge != kNoEdge) graph_.children_[edge] = i;
    graph_.nodes_.push_back(
        {node, first_edge, num_children, edge != kNoEdge ? 1 : 0});
    return i;
  }

  void MeetAgain(int i, int edge) {
    ++graph_.nodes_[i].num_uses;
    graph_.children_[edge] = i;
  }

  IndexedGraph& graph_;
  Enter enter_;
  absl::InlinedVector<Frame, 32> frames_;
  absl::InlinedVector<const ExprNode*, 64> pending_;
  int num_edges_ = 0;  // entries of `children_` that are taken
  // Nodes with several holders may be met again.
  NodeMap<int> shared_nodes_;
  struct KnownOp {
    const ExprNode* op = nullptr;
    int number = 0;
  };
  static constexpr int kNumKnownOps = 16;
  KnownOp ops_[kNumKnownOps];
};

IndexedGraph::IndexedGraph(const Expr& root) {
  if (!root.defined()) return;
  const auto always = [](const ExprNode*) { return true; };
  Builder<decltype(always)>(*this, always).Build(root);
}

IndexedGraph::IndexedGraph(const Expr& root,
                           absl::FunctionRef<bool(const ExprNode*)> enter) {
  if (!root.defined()) return;
  Builder<absl::FunctionRef<bool(const ExprNode*)>>(*this, enter).Build(root);
}

absl::Span<const Expr> GraphRewriter::Args(int i) {
  scratch_.clear();
  for (const int arg : graph_->args(i)) scratch_.push_back(Get(arg));
  return scratch_;
}

void GraphRewriter::RebuildChanged(int i) {
  const absl::Span<const int> children = graph_->children(i);
  const bool any_changed =
      std::any_of(children.begin(), children.end(),
                  [this](int child) { return changed(child); });
  if (!any_changed) return;
  scratch_.clear();
  for (const int child : children) scratch_.push_back(Get(child));
  Expr rebuilt = WithChildren(graph_->node(i), scratch_);
  if (rebuilt.get() == graph_->node(i)) return;
  LogOrigin(rebuilt, graph_->node(i));
  results_[i] = std::move(rebuilt);
}

}  // namespace baton::relay
