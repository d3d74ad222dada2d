#include "baton/relay/analysis/fusion_groups.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "baton/relay/op/fusion_pattern.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using enum FusionPattern;

constexpr int64_t kNoLimit = 1 << 30;

// A graph whose node `i` has patterns[i], which is also that of its uses of
// inputs[i]. Nodes without users are external.
DataflowGraph Graph(const std::vector<FusionPattern>& patterns,
                    const std::vector<std::vector<int>>& inputs) {
  DataflowGraph graph(static_cast<int>(patterns.size()));
  std::vector<bool> used(patterns.size());
  for (int i = 0; i < graph.size(); ++i) {
    graph.SetPattern(i, patterns[i]);
    for (const int input : inputs[i]) {
      graph.AddUse(input, i, patterns[i] == kTuple ? kInjective : patterns[i]);
      used[input] = true;
    }
  }
  for (int i = 0; i < graph.size(); ++i) {
    if (!used[i]) graph.MarkExternal(i);
  }
  graph.IndexUses();
  return graph;
}

std::vector<int> Partition(const std::vector<FusionPattern>& patterns,
                           const std::vector<std::vector<int>>& inputs,
                           int64_t limit = kNoLimit) {
  return FindFusionGroups(Graph(patterns, inputs), limit);
}

using Groups = std::vector<int>;

TEST(DataflowGraphTest, AUserCountsOnce) {
  const DataflowGraph graph =
      Graph({kElemWise, kElemWise, kElemWise}, {{}, {0, 0}, {0, 1, 0}});
  ASSERT_EQ(graph.uses(0).size(), 2);
  EXPECT_EQ(graph.uses(0)[0].user, 1);
  EXPECT_EQ(graph.uses(0)[1].user, 2);
}

// The parent of each node, found by removing each candidate in turn.
std::vector<int> SlowPostDominators(const DataflowGraph& graph) {
  std::vector<int> parents(graph.size(), PostDominatorTree::kOutside);
  for (int i = 0; i < graph.size(); ++i) {
    for (int candidate = i + 1; candidate < graph.size(); ++candidate) {
      std::vector<bool> reached(graph.size());
      reached[i] = true;
      bool escapes = false;
      for (int k = i; k < graph.size(); ++k) {
        if (!reached[k] || k == candidate) continue;
        escapes = escapes || graph.external(k) || graph.uses(k).empty();
        for (const auto& use : graph.uses(k)) reached[use.user] = true;
      }
      if (reached[candidate] && !escapes) {
        parents[i] = candidate;
        break;
      }
    }
  }
  return parents;
}

// The nodes on paths from `node` to `end`, `end` left out.
std::vector<int> Region(const DataflowGraph& graph, int node, int end) {
  std::vector<bool> reached(graph.size());
  std::vector<int> region;
  reached[node] = true;
  for (int k = node; k < end; ++k) {
    if (!reached[k]) continue;
    region.push_back(k);
    for (const auto& use : graph.uses(k)) reached[use.user] = true;
  }
  return region;
}

TEST(PostDominatorTreeTest, RandomGraphs) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const int size = 2 + static_cast<int>(random() % 30);
    std::vector<FusionPattern> patterns;
    std::vector<std::vector<int>> inputs(size);
    for (int i = 0; i < size; ++i) {
      patterns.push_back(static_cast<FusionPattern>(random() % 5));
      for (int k = 0; i > 0 && k < 1 + static_cast<int>(random() % 3); ++k) {
        inputs[i].push_back(
            std::max(0, i - 1 - static_cast<int>(random() % 4)));
      }
    }
    const DataflowGraph graph = Graph(patterns, inputs);
    const PostDominatorTree tree(graph);
    const std::vector<int> parents = SlowPostDominators(graph);
    for (int i = 0; i < size; ++i) {
      ASSERT_EQ(tree.parent(i), parents[i]) << "node " << i;
      if (parents[i] == PostDominatorTree::kOutside) continue;
      const std::vector<int> region = Region(graph, i, parents[i]);
      FusionPattern pattern = kElemWise;
      for (const int k : region) {
        for (const auto& use : graph.uses(k)) {
          pattern = std::max(pattern, use.pattern);
        }
      }
      EXPECT_EQ(tree.pattern(i), pattern) << "node " << i;
      EXPECT_LE(tree.min_region_size(i), static_cast<int64_t>(region.size()));
    }
  }
}

TEST(PartitionGraphTest, ElementWiseChain) {
  EXPECT_EQ(Partition({kOpaque, kElemWise, kElemWise, kBroadcast},
                      {{}, {0}, {1}, {2}}),
            Groups({0, 3, 3, 3}));
}

TEST(PartitionGraphTest, DiamondAtAComplexOperator) {
  EXPECT_EQ(
      Partition({kOpaque, kOutEWiseFusable, kElemWise, kElemWise, kElemWise},
                {{}, {0}, {1}, {1}, {2, 3}}),
      Groups({0, 4, 4, 4, 4}));
  // One side cannot go in, so neither does: each takes what follows it.
  EXPECT_EQ(
      Partition({kOpaque, kOutEWiseFusable, kElemWise, kOpaque, kElemWise},
                {{}, {0}, {1}, {1}, {2, 3}}),
      Groups({0, 1, 4, 3, 4}));
}

TEST(PartitionGraphTest, OneComplexOperatorInAGroup) {
  EXPECT_EQ(
      Partition({kOutEWiseFusable, kElemWise, kOutEWiseFusable, kElemWise},
                {{}, {0}, {1}, {2}}),
      Groups({1, 1, 3, 3}));
}

TEST(PartitionGraphTest, Reductions) {
  // Into a reduction, but not out of it.
  EXPECT_EQ(Partition({kElemWise, kCommReduce, kElemWise}, {{}, {0}, {1}}),
            Groups({1, 1, 2}));
  EXPECT_EQ(Partition({kInjective, kCommReduce}, {{}, {0}}), Groups({0, 1}));
}

TEST(PartitionGraphTest, InjectiveChain) {
  EXPECT_EQ(Partition({kInjective, kInjective, kElemWise}, {{}, {0}, {1}}),
            Groups({2, 2, 2}));
  // A complex operator takes the element-wise one first.
  EXPECT_EQ(Partition({kOutEWiseFusable, kInjective, kElemWise, kElemWise},
                      {{}, {}, {1}, {0, 2}}),
            Groups({3, 1, 3, 3}));
}

TEST(PartitionGraphTest, Tuples) {
  // Fields go where their tuple goes, if it goes anywhere.
  EXPECT_EQ(Partition({kElemWise, kElemWise, kTuple, kInjective},
                      {{}, {}, {0, 1}, {2}}),
            Groups({3, 3, 3, 3}));
  EXPECT_EQ(
      Partition({kElemWise, kElemWise, kTuple, kOpaque}, {{}, {}, {0, 1}, {2}}),
      Groups({0, 1, 2, 3}));
}

TEST(PartitionGraphTest, SizeLimit) {
  const std::vector<FusionPattern> chain(6, kElemWise);
  const std::vector<std::vector<int>> inputs = {{}, {0}, {1}, {2}, {3}, {4}};
  EXPECT_EQ(Partition(chain, inputs, 6), Groups({5, 5, 5, 5, 5, 5}));
  const Groups groups = Partition(chain, inputs, 3);
  for (int i = 0; i < 6; ++i) {
    EXPECT_LE(std::count(groups.begin(), groups.end(), i), 3);
  }
}

// Sizes at which anything quadratic would not end in time.
constexpr int kHuge = 200000;

TEST(PartitionGraphTest, HugeLadders) {
  // Each node uses the two before it: nothing meets before the end.
  std::vector<std::vector<int>> inputs(kHuge);
  inputs[1] = {0};
  for (int i = 2; i < kHuge; ++i) inputs[i] = {i - 1, i - 2};
  const std::vector<FusionPattern> patterns(kHuge, kElemWise);
  EXPECT_EQ(Partition(patterns, inputs), Groups(kHuge, kHuge - 1));
  const Groups limited = Partition(patterns, inputs, 256);
  EXPECT_LE(std::count(limited.begin(), limited.end(), kHuge - 1), 256);

  // Diamonds, one after the other.
  for (int i = 2; i < kHuge; ++i) {
    inputs[i] = i % 3 == 0   ? std::vector<int>{i - 1, i - 2}
                : i % 3 == 1 ? std::vector<int>{i - 1}
                             : std::vector<int>{i - 2};
  }
  EXPECT_EQ(Partition(patterns, inputs)[0], Partition(patterns, inputs)[3]);
}

TEST(PartitionGraphTest, HugeFanOut) {
  std::vector<FusionPattern> patterns(kHuge, kElemWise);
  std::vector<std::vector<int>> inputs(kHuge);
  patterns[kHuge - 2] = kTuple;
  patterns[kHuge - 1] = kInjective;
  for (int i = 1; i < kHuge - 2; ++i) {
    inputs[i] = {0};
    inputs[kHuge - 2].push_back(i);
    inputs[kHuge - 2].push_back(0);
  }
  inputs[kHuge - 1] = {kHuge - 2};
  EXPECT_EQ(Partition(patterns, inputs), Groups(kHuge, kHuge - 1));
  const Groups limited = Partition(patterns, inputs, 256);
  EXPECT_EQ(std::count(limited.begin(), limited.end(), kHuge - 1), 256);
}

}  // namespace
}  // namespace baton::relay
