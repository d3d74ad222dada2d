#include "baton/ir/node_map.h"

#include <vector>

#include "baton/base/dtype.h"
#include "baton/ir/expr.h"
#include "baton/ir/type.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

std::vector<GlobalVar> ManyNodes(int n) {
  std::vector<GlobalVar> nodes;
  for (int i = 0; i < n; ++i) nodes.push_back(GlobalVar("v"));
  return nodes;
}

TEST(NodeMapTest, FindsWhatIsThereAndNothingElse) {
  const std::vector<GlobalVar> nodes = ManyNodes(10000);
  NodeMap<int> map;
  for (int i = 0; i < 5000; ++i) {
    const auto [value, is_new] = map.TryEmplace(nodes[i].get());
    ASSERT_TRUE(is_new);
    EXPECT_EQ(*value, 0);
    *value = i;
    // Earlier entries stay while the map grows.
    ASSERT_EQ(*map.Find(nodes[i / 2].get()), i / 2);
  }
  EXPECT_EQ(map.size(), 5000);
  for (int i = 0; i < 5000; ++i) {
    ASSERT_EQ(*map.Find(nodes[i].get()), i);
    ASSERT_FALSE(map.TryEmplace(nodes[i].get()).second);
    ASSERT_FALSE(map.Contains(nodes[5000 + i].get()));
  }
  EXPECT_EQ(map.size(), 5000);
}

TEST(NodeMapTest, ReserveKeepsEntries) {
  const std::vector<GlobalVar> nodes = ManyNodes(1000);
  NodeMap<Expr> map;
  for (int i = 0; i < 10; ++i) map[nodes[i].get()] = nodes[i + 1];
  map.Reserve(1000);
  for (int i = 10; i < 999; ++i) map[nodes[i].get()] = nodes[i + 1];
  for (int i = 0; i < 999; ++i) {
    ASSERT_EQ(*map.Find(nodes[i].get()), nodes[i + 1]);
  }
}

// Also in slots that were used before the map grew and was cleared.
TEST(NodeMapTest, NewValuesAreDefaults) {
  const std::vector<GlobalVar> nodes = ManyNodes(1000);
  NodeMap<int> map;
  for (const int n : {5, 1000, 5, 1000}) {
    for (int i = 0; i < n; ++i) {
      const auto [value, is_new] = map.TryEmplace(nodes[i].get());
      ASSERT_TRUE(is_new);
      ASSERT_EQ(*value, 0);
      *value = 1 + i;
    }
    map.Clear();
  }
}

TEST(NodeMapTest, ClearForgets) {
  const std::vector<GlobalVar> nodes = ManyNodes(1000);
  for (const int n : {3, 1000}) {
    NodeMap<Expr> map;
    for (int i = 0; i < n; ++i) map[nodes[i].get()] = nodes[i];
    map.Clear();
    EXPECT_TRUE(map.empty());
    EXPECT_TRUE(nodes[0]->unique());
    for (int i = 0; i < n; ++i) {
      EXPECT_FALSE(map.Contains(nodes[i].get()));
      EXPECT_TRUE(map.TryEmplace(nodes[i].get()).second);
    }
  }
}

// Values are destroyed, also those that moved as the map grew.
TEST(NodeMapTest, ValuesAreHeldOnce) {
  const std::vector<GlobalVar> nodes = ManyNodes(100);
  const GlobalVar held("held");
  {
    NodeMap<Expr> map;
    for (const GlobalVar& var : nodes) map[var.get()] = held;
    EXPECT_FALSE(held->unique());
  }
  EXPECT_TRUE(held->unique());
}

TEST(NodeSetTest, InsertsOnce) {
  const std::vector<GlobalVar> nodes = ManyNodes(100);
  NodeSet set;
  for (const GlobalVar& var : nodes) EXPECT_TRUE(set.Insert(var.get()));
  for (const GlobalVar& var : nodes) EXPECT_FALSE(set.Insert(var.get()));
  EXPECT_EQ(set.size(), 100);
  EXPECT_FALSE(set.Contains(GlobalVar("v").get()));
}

}  // namespace
}  // namespace baton
