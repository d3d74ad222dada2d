// Partitions the operators of a dataflow graph into groups to fuse.
//
// A node is fused with its immediate post-dominator if the patterns of the
// operators in between allow it. The immediate post-dominator is the nearest
// node on all paths from the node to the outputs. So either both branches of a
// diamond join the group of the node where they meet, or neither does.

#ifndef BATON_RELAY_ANALYSIS_FUSION_GROUPS_H_
#define BATON_RELAY_ANALYSIS_FUSION_GROUPS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "baton/relay/op/fusion_pattern.h"

namespace baton::relay {

// Nodes have numbers from 0 in an order in which results precede their uses. A
// new node is opaque.
class DataflowGraph {
 public:
  struct Use {
    int user;
    FusionPattern pattern;
  };

  explicit DataflowGraph(int size) : nodes_(size) {
    edges_.reserve(2 * static_cast<size_t>(size));
  }

  int size() const { return static_cast<int>(nodes_.size()); }

  void SetPattern(int node, FusionPattern pattern) {
    nodes_[node].pattern = pattern;
  }
  FusionPattern pattern(int node) const { return nodes_[node].pattern; }

  // Records that the result of `node` is also used outside of the graph.
  void MarkExternal(int node) { nodes_[node].external = true; }
  bool external(int node) const { return nodes_[node].external; }

  // Records that `user`, a later node, uses the result of `node`. All uses by
  // one user must be added together.
  void AddUse(int node, int user, FusionPattern pattern);
  // Must be called after the last AddUse() and before uses().
  void IndexUses();
  // The uses of `node`, one for each user.
  absl::Span<const Use> uses(int node) const {
    return absl::MakeConstSpan(uses_).subspan(nodes_[node].first_use,
                                              nodes_[node].num_uses);
  }

 private:
  struct Node {
    FusionPattern pattern = FusionPattern::kOpaque;
    bool external = false;
    int first_use = 0;
    int num_uses = 0;
  };
  struct Edge {
    int node;
    Use use;
  };
  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  std::vector<Use> uses_;
};

// The immediate post-dominators of all nodes. Takes O(log n) for each use.
class PostDominatorTree {
 public:
  // The outside of the graph: the parent of external nodes, and of nodes whose
  // uses do not meet in the graph.
  static constexpr int kOutside = -1;

  explicit PostDominatorTree(const DataflowGraph& graph);

  int parent(int node) const {
    const int parent = nodes_[node].parent;
    return parent == outside() ? kOutside : parent;
  }
  // The largest pattern of a use on a path from `node` to its parent.
  FusionPattern pattern(int node) const { return nodes_[node].pattern; }
  // A lower bound of the number of nodes on the paths from `node` to its
  // parent, without the parent.
  int64_t min_region_size(int node) const {
    return nodes_[node].weight - nodes_[nodes_[node].parent].weight;
  }

 private:
  struct Node {
    int parent;
    int jump;  // an ancestor nearer to the root
    int depth = 0;
    FusionPattern pattern = FusionPattern::kOpaque;
    FusionPattern jump_pattern = FusionPattern::kOpaque;  // on the way to
                                                          // `jump`
    // The sum of the region sizes on the way to the outside.
    int64_t weight = 0;
  };
  int outside() const { return static_cast<int>(nodes_.size()) - 1; }
  // The lowest common ancestor. Joins the patterns on the way into `pattern`.
  int Meet(int a, int b, FusionPattern& pattern) const;
  void Attach(int node, int parent, FusionPattern pattern, int64_t region_size);

  std::vector<Node> nodes_;  // the last one is the outside
};

// The reason why a node is the last of its group: why it was not fused with its
// post-dominator. If several attempts failed, the one that progressed furthest.
struct FusionRefusal {
  enum class Reason : uint8_t {
    kNone,         // the node is not the last of its group
    kOpaque,       // the node is opaque
    kUsedOutside,  // the result is used outside, or the uses meet nowhere
    kPattern,      // a node of its pattern is not fused with uses of `pattern`
    kEnd,          // the group of the post-dominator `node` has the larger
                   // pattern `pattern`
    kBetween,      // as kEnd; `node` is between the two nodes
    kSize,         // the group would have too many nodes
  };
  Reason reason = Reason::kNone;
  int node = -1;  // the post-dominator, or the node on the way; -1: the outside
  FusionPattern pattern = FusionPattern::kOpaque;
};

// For each node, the last node of its group, which represents the group. A
// group has at most `max_group_size` nodes. If `refusals` is not null, it
// receives an entry for each node.
std::vector<int> FindFusionGroups(
    const DataflowGraph& graph, int64_t max_group_size,
    std::vector<FusionRefusal>* refusals = nullptr);

}  // namespace baton::relay

#endif  // BATON_RELAY_ANALYSIS_FUSION_GROUPS_H_
