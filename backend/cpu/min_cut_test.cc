#include "baton/backend/cpu/min_cut.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace baton::cpu {
namespace {

struct Cost {
  int from;
  int to;
  int64_t cost;
};

int64_t TotalOf(const std::vector<Cost>& costs,
                const std::vector<bool>& is_source) {
  int64_t total = 0;
  for (const Cost& cost : costs) {
    if (is_source[static_cast<size_t>(cost.from)] &&
        !is_source[static_cast<size_t>(cost.to)]) {
      total += cost.cost;
    }
  }
  return total;
}

TEST(MinCutTest, IsTheLeastOfAllCuts) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    const int vertices = 2 + static_cast<int>(random() % 9);
    const int edges = static_cast<int>(random() % 30);
    MinCut cut;
    for (int i = 2; i < vertices; ++i) {
      EXPECT_EQ(cut.AddVertex(), i);
    }
    std::vector<Cost> costs;
    const auto vertex = [&] {
      return static_cast<int>(random() % static_cast<uint32_t>(vertices));
    };
    for (int i = 0; i < edges; ++i) {
      const Cost cost = {vertex(), vertex(),
                         static_cast<int64_t>(random() % 20)};
      if (cost.from == cost.to) continue;
      costs.push_back(cost);
      cut.AddCost(cost.from, cost.to, cost.cost);
    }
    ASSERT_TRUE(cut.Solve());
    std::vector<bool> solution;
    for (int i = 0; i < vertices; ++i) solution.push_back(cut.IsSource(i));
    EXPECT_TRUE(solution[MinCut::kSource]);
    EXPECT_FALSE(solution[MinCut::kSink]);
    int64_t least = MinCut::kNever;
    for (uint32_t bits = 0; bits < (1u << (vertices - 2)); ++bits) {
      std::vector<bool> sides = {true, false};
      for (int i = 2; i < vertices; ++i) sides.push_back((bits >> (i - 2)) & 1);
      least = std::min(least, TotalOf(costs, sides));
    }
    EXPECT_EQ(TotalOf(costs, solution), least);
  }
}

TEST(MinCutTest, EqualCostsAreOnTheSinksSide) {
  MinCut cut;
  const int a = cut.AddVertex();
  const int b = cut.AddVertex();
  cut.AddCost(MinCut::kSource, a, 5);
  cut.AddCost(a, MinCut::kSink, 5);
  ASSERT_TRUE(cut.Solve());
  EXPECT_FALSE(cut.IsSource(a));
  EXPECT_FALSE(cut.IsSource(b));
}

TEST(MinCutTest, NeverIsNeverPaid) {
  MinCut cut;
  const int a = cut.AddVertex();
  cut.AddCost(MinCut::kSource, a, MinCut::kNever);
  cut.AddCost(a, MinCut::kSink, 1'000'000'000'000);
  ASSERT_TRUE(cut.Solve());
  EXPECT_TRUE(cut.IsSource(a));
}

// As a network of pointwise convolutions: the time is linear.
TEST(MinCutTest, ChainsAreSolved) {
  MinCut cut;
  int last = MinCut::kSource;
  for (int i = 0; i < 20000; ++i) {
    const int next = cut.AddVertex();
    cut.AddCost(last, next, 2 + i % 7);
    cut.AddCost(next, last, 3);
    cut.AddCost(MinCut::kSource, next, i % 3);
    cut.AddCost(next, MinCut::kSink, i % 5);
    last = next;
  }
  EXPECT_TRUE(cut.Solve());
}

}  // namespace
}  // namespace baton::cpu
