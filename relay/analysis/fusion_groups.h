// Which operators of a dataflow graph are fused into one function.
//
// A node is fused with its immediate post-dominator, the nearest node that lies
// on all paths from it to the outputs, if the patterns of the operators in
// between allow it. So either both branches of a diamond join the group of the
// node where they meet, or neither does.

#ifndef BATON_RELAY_ANALYSIS_FUSION_GROUPS_H_
#define BATON_RELAY_ANALYSIS_FUSION_GROUPS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "baton/relay/op/fusion_pattern.h"

namespace baton::relay {

// Nodes are numbered from 0 in an order in which results come before their
// uses. A new node is opaque.
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

  // The result is also used outside of the graph.
  void MarkExternal(int node) { nodes_[node].external = true; }
  bool external(int node) const { return nodes_[node].external; }

  // `user`, a later node, uses the result of `node`. All uses by one user are
  // added together.
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

// The immediate post-dominators of all nodes. O(log n) a use.
class PostDominatorTree {
 public:
  // Stands for the outside of the graph: the parent of external nodes, and of
  // nodes whose uses do not meet within it.
  static constexpr int kOutside = -1;

  explicit PostDominatorTree(const DataflowGraph& graph);

  int parent(int node) const {
    const int parent = nodes_[node].parent;
    return parent == outside() ? kOutside : parent;
  }
  // The largest pattern of a use on a path from `node` to its parent.
  FusionPattern pattern(int node) const { return nodes_[node].pattern; }
  // A lower bound for the number of nodes on the paths from `node` to its
  // parent, the parent not counted.
  int64_t min_region_size(int node) const {
    return nodes_[node].weight - nodes_[nodes_[node].parent].weight;
  }

 private:
  struct Node {
    int parent;
    int jump;  // an ancestor further up
    int depth = 0;
    FusionPattern pattern = FusionPattern::kOpaque;
    FusionPattern jump_pattern = FusionPattern::kOpaque;  // up to `jump`
    // The sum of the region sizes up to the outside.
    int64_t weight = 0;
  };
  int outside() const { return static_cast<int>(nodes_.size()) - 1; }
  // The lowest common ancestor. Patterns on the way to it go into `pattern`.
  int Meet(int a, int b, FusionPattern& pattern) const;
  void Attach(int node, int parent, FusionPattern pattern, int64_t region_size);

  std::vector<Node> nodes_;  // the last one is the outside
};

// Why a node is the last of its group: what kept it from being fused with its
// post-dominator. Of several attempts, the one that came furthest.
struct FusionRefusal {
  enum class Reason : uint8_t {
    kNone,         // it is not the last of its group
    kOpaque,       // the node is
    kUsedOutside,  // its result is used outside, or its uses meet nowhere
    kPattern,  // what it is and how it is used: `pattern` is the largest use
    kEnd,      // what the group of `node` has become: `pattern`
    kBetween,  // the same of a node on the way, `node`
    kSize,     // the group would have too many nodes
  };
  Reason reason = Reason::kNone;
  int node = -1;  // its post-dominator, or the node on the way; -1: the outside
  FusionPattern pattern = FusionPattern::kOpaque;
};

// For each node, the last node of its group, which represents the group. Nodes
// are not fused if the group would get more than `max_group_size` nodes. If
// `refusals` is not null it gets one for each node.
std::vector<int> FindFusionGroups(
    const DataflowGraph& graph, int64_t max_group_size,
    std::vector<FusionRefusal>* refusals = nullptr);

}  // namespace baton::relay

#endif  // BATON_RELAY_ANALYSIS_FUSION_GROUPS_H_
