#include "baton/relay/analysis/fusion_groups.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "baton/relay/op/fusion_pattern.h"

namespace baton::relay {

void DataflowGraph::AddUse(int node, int user, FusionPattern pattern) {
  edges_.push_back({node, {user, pattern}});
  ++nodes_[node].num_uses;
}

void DataflowGraph::IndexUses() {
  int total = 0;
  for (Node& node : nodes_) {
    node.first_use = total;
    total += std::exchange(node.num_uses, 0);
  }
  uses_.resize(total);
  for (const Edge& edge : edges_) {
    Node& node = nodes_[edge.node];
    const int next = node.first_use + node.num_uses;
    if (node.num_uses > 0 && uses_[next - 1].user == edge.use.user) continue;
    uses_[next] = edge.use;
    ++node.num_uses;
  }
}

PostDominatorTree::PostDominatorTree(const DataflowGraph& graph)
    : nodes_(graph.size() + 1) {
  nodes_[outside()].parent = nodes_[outside()].jump = outside();
  for (int i = graph.size() - 1; i >= 0; --i) {
    const absl::Span<const DataflowGraph::Use> uses = graph.uses(i);
    if (graph.external(i) || uses.empty()) {
      Attach(i, outside(), FusionPattern::kOpaque, 1);
      continue;
    }
    int parent = uses[0].user;
    FusionPattern pattern = uses[0].pattern;
    for (const DataflowGraph::Use& use : uses.subspan(1)) {
      parent = Meet(parent, use.user, pattern);
      pattern = std::max(pattern, use.pattern);
    }
    // The way from a user up to the parent is part of the region.
    int64_t longest_way = 0;
    for (const DataflowGraph::Use& use : uses) {
      longest_way = std::max(longest_way,
                             nodes_[use.user].weight - nodes_[parent].weight);
    }
    Attach(i, parent, pattern, longest_way + 1);
  }
}

int PostDominatorTree::Meet(int a, int b, FusionPattern& pattern) const {
  const auto climb = [&](int& node) {
    pattern = std::max(pattern, nodes_[node].pattern);
    node = nodes_[node].parent;
  };
  const auto jump = [&](int& node) {
    pattern = std::max(pattern, nodes_[node].jump_pattern);
    node = nodes_[node].jump;
  };
  if (nodes_[a].depth < nodes_[b].depth) std::swap(a, b);
  const int depth = nodes_[b].depth;
  while (nodes_[a].depth > depth) {
    nodes_[nodes_[a].jump].depth >= depth ? jump(a) : climb(a);
  }
  while (a != b) {
    // Nodes of one depth have jumps of one length.
    if (nodes_[a].jump != nodes_[b].jump) {
      jump(a);
      jump(b);
    } else {
      climb(a);
      climb(b);
    }
  }
  return a;
}

void PostDominatorTree::Attach(int node, int parent, FusionPattern pattern,
                               int64_t region_size) {
  const Node& up = nodes_[parent];
  const Node& far = nodes_[up.jump];
  Node& self = nodes_[node];
  self.parent = parent;
  self.depth = up.depth + 1;
  self.pattern = pattern;
  self.weight = up.weight + region_size;
  // The lengths of the jumps are those of the digits of a skew-binary number,
  // so that any ancestor is O(log n) steps away.
  if (up.depth - far.depth == far.depth - nodes_[far.jump].depth) {
    self.jump = far.jump;
    self.jump_pattern = std::max({pattern, up.jump_pattern, far.jump_pattern});
  } else {
    self.jump = parent;
    self.jump_pattern = pattern;
  }
}

namespace {

class Partitioner {
 public:
  Partitioner(const DataflowGraph& graph, int64_t max_group_size,
              std::vector<FusionRefusal>* refusals)
      : graph_(graph),
        post_dominators_(graph),
        max_group_size_(max_group_size),
        refusals_(refusals),
        groups_(graph.size()),
        visited_(graph.size(), -1) {
    for (int i = 0; i < graph.size(); ++i) {
      groups_[i] = {
          .parent = i,
          .pattern = graph.pattern(i),
          .anchored = graph.pattern(i) == FusionPattern::kOutEWiseFusable};
    }
  }

  std::vector<int> Run() {
    for (const Phase phase :
         {Phase::kComplex, Phase::kInjective, Phase::kIntoTuples}) {
      for (int i = 0; i < graph_.size(); ++i) TryToFuse(i, phase);
    }
    std::vector<int> roots(graph_.size());
    for (int i = 0; i < graph_.size(); ++i) {
      roots[i] = Find(i);
      if (refusals_ != nullptr && roots[i] != i) (*refusals_)[i] = {};
    }
    return roots;
  }

 private:
  // Injective operators wait until complex ones have taken what they can.
  enum class Phase { kComplex, kInjective, kIntoTuples };

  // A tree of nodes (union-find). The fields of its root describe the group.
  // The fields of another node describe the group that it was the root of.
  struct Group {
    int parent;
    FusionPattern pattern;
    bool anchored;         // has a member that is kOutEWiseFusable
    bool refused = false;  // fusing this node would exceed the size limit
    int64_t num_nodes = 1;
  };

  // The limits for fusing across nodes: the largest pattern of the groups of
  // the nodes in between, and of the group of the node at the end.
  struct Limits {
    FusionPattern between;
    FusionPattern end;
  };

  int Find(int node) {
    while (groups_[node].parent != node) {
      const int up = groups_[groups_[node].parent].parent;
      groups_[node].parent = up;
      node = up;
    }
    return node;
  }

  void Merge(int node, int into) {
    const int from = Find(node);
    const int to = Find(into);
    if (from == to) return;
    Group& child = groups_[from];
    Group& parent = groups_[to];
    child.parent = to;
    parent.num_nodes += child.num_nodes;
    if (child.anchored) {
      parent.anchored = true;
      parent.pattern = std::max(parent.pattern, child.pattern);
    }
  }

  // True if `node` may be fused with `end` in this phase, judging by these two
  // nodes and by the uses in between. Sets the limits for the nodes in between.
  bool MayFuse(int node, int end, Phase phase, Limits& limits) {
    const FusionPattern pattern = groups_[node].pattern;
    const FusionPattern uses = post_dominators_.pattern(node);
    limits = {FusionPattern::kInjective, FusionPattern::kInjective};
    if (phase == Phase::kIntoTuples) {
      // The tuple itself went into an injective group.
      return pattern <= FusionPattern::kInjective &&
             groups_[end].pattern == FusionPattern::kTuple &&
             uses <= FusionPattern::kInjective;
    }
    if (groups_[end].pattern == FusionPattern::kTuple) return false;
    switch (pattern) {
      case FusionPattern::kElemWise:
      case FusionPattern::kBroadcast:
        limits.end = FusionPattern::kOutEWiseFusable;
        return uses <= FusionPattern::kCommReduce;
      case FusionPattern::kOutEWiseFusable:
        limits = {FusionPattern::kBroadcast, FusionPattern::kBroadcast};
        return phase == Phase::kComplex && uses == FusionPattern::kElemWise;
      case FusionPattern::kInjective:
      case FusionPattern::kTuple:
        return phase == Phase::kInjective && uses <= FusionPattern::kInjective;
      case FusionPattern::kCommReduce:
      case FusionPattern::kOpaque:
        return false;
    }
    return false;
  }

  void Refuse(int node, FusionRefusal::Reason reason, int other,
              FusionPattern pattern) {
    if (refusals_ == nullptr || reason < (*refusals_)[node].reason) return;
    (*refusals_)[node] = {reason, other, pattern};
  }

  void TryToFuse(int node, Phase phase) {
    using Reason = FusionRefusal::Reason;
    const FusionPattern pattern = groups_[node].pattern;
    if (pattern == FusionPattern::kOpaque || groups_[node].refused) {
      if (!groups_[node].refused) Refuse(node, Reason::kOpaque, -1, pattern);
      return;
    }
    const int end = post_dominators_.parent(node);
    if (end == PostDominatorTree::kOutside) {
      return Refuse(node, Reason::kUsedOutside, -1, pattern);
    }
    Limits limits;
    if (!MayFuse(node, end, phase, limits)) {
      return Refuse(node, Reason::kPattern, end,
                    post_dominators_.pattern(node));
    }
    const int end_root = Find(end);
    if (Find(node) == end_root) return;
    if (groups_[end_root].pattern > limits.end) {
      return Refuse(node, Reason::kEnd, end, groups_[end_root].pattern);
    }
    if (!CollectRegion(node, end,
                       max_group_size_ - groups_[end_root].num_nodes)) {
      // Groups only grow.
      groups_[node].refused = true;
      return Refuse(node, Reason::kSize, end, pattern);
    }
    for (const int between : absl::MakeConstSpan(region_).subspan(1)) {
      const FusionPattern has = groups_[Find(between)].pattern;
      if (has > limits.between) {
        return Refuse(node, Reason::kBetween, between, has);
      }
    }
    for (const int member : region_) Merge(member, end);
  }

  // Puts the nodes on the paths from `node` to its post-dominator `end` into
  // `region_`, `node` first and `end` not. False if their groups have more
  // than `limit` nodes.
  bool CollectRegion(int node, int end, int64_t limit) {
    if (post_dominators_.min_region_size(node) > limit) return false;
    int64_t num_nodes = groups_[node].num_nodes;
    if (num_nodes > limit) return false;
    region_.assign(1, node);
    ++num_visits_;
    for (size_t i = 0; i < region_.size(); ++i) {
      for (const DataflowGraph::Use& use : graph_.uses(region_[i])) {
        if (use.user == end || visited_[use.user] == num_visits_) continue;
        visited_[use.user] = num_visits_;
        region_.push_back(use.user);
        num_nodes += groups_[use.user].num_nodes;
        if (num_nodes > limit) return false;
      }
    }
    return true;
  }

  const DataflowGraph& graph_;
  const PostDominatorTree post_dominators_;
  const int64_t max_group_size_;
  std::vector<FusionRefusal>* const refusals_;  // may be null
  std::vector<Group> groups_;
  // The number of the last visit that came to the node.
  std::vector<int> visited_;
  int num_visits_ = 0;
  std::vector<int> region_;
};

}  // namespace

std::vector<int> FindFusionGroups(const DataflowGraph& graph,
                                  int64_t max_group_size,
                                  std::vector<FusionRefusal>* refusals) {
  if (refusals != nullptr) refusals->assign(graph.size(), {});
  return Partitioner(graph, max_group_size, refusals).Run();
}

}  // namespace baton::relay
