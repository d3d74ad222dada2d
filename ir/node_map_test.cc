#include "baton/ir/node_map.h"

#include <vector>

#include "baton/base/dtype.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

std::vector<Var> ManyVars(int n) {
  std::vector<Var> vars;
  for (int i = 0; i < n; ++i) vars.push_back(Var("v"));
  return vars;
}

TEST(NodeMapTest, FindsWhatIsThereAndNothingElse) {
  const std::vector<Var> vars = ManyVars(10000);
  NodeMap<int> map;
  for (int i = 0; i < 5000; ++i) {
    const auto [value, is_new] = map.TryEmplace(vars[i].get());
    ASSERT_TRUE(is_new);
    EXPECT_EQ(*value, 0);
    *value = i;
    // Those before it are where they were, as the map grows.
    ASSERT_EQ(*map.Find(vars[i / 2].get()), i / 2);
  }
  EXPECT_EQ(map.size(), 5000);
  for (int i = 0; i < 5000; ++i) {
    ASSERT_EQ(*map.Find(vars[i].get()), i);
    ASSERT_FALSE(map.TryEmplace(vars[i].get()).second);
    ASSERT_FALSE(map.Contains(vars[5000 + i].get()));
  }
  EXPECT_EQ(map.size(), 5000);
}

TEST(NodeMapTest, ReserveKeepsEntries) {
  const std::vector<Var> vars = ManyVars(1000);
  NodeMap<Expr> map;
  for (int i = 0; i < 10; ++i) map[vars[i].get()] = vars[i + 1];
  map.Reserve(1000);
  for (int i = 10; i < 999; ++i) map[vars[i].get()] = vars[i + 1];
  for (int i = 0; i < 999; ++i) {
    ASSERT_EQ(*map.Find(vars[i].get()), vars[i + 1]);
  }
}

// Also in slots that were used before the map grew and was cleared.
TEST(NodeMapTest, NewValuesAreDefaults) {
  const std::vector<Var> vars = ManyVars(1000);
  NodeMap<int> map;
  for (const int n : {5, 1000, 5, 1000}) {
    for (int i = 0; i < n; ++i) {
      const auto [value, is_new] = map.TryEmplace(vars[i].get());
      ASSERT_TRUE(is_new);
      ASSERT_EQ(*value, 0);
      *value = 1 + i;
    }
    map.Clear();
  }
}

TEST(NodeMapTest, ClearForgets) {
  const std::vector<Var> vars = ManyVars(1000);
  for (const int n : {3, 1000}) {
    NodeMap<Expr> map;
    for (int i = 0; i < n; ++i) map[vars[i].get()] = vars[i];
    map.Clear();
    EXPECT_TRUE(map.empty());
    EXPECT_TRUE(vars[0]->unique());
    for (int i = 0; i < n; ++i) {
      EXPECT_FALSE(map.Contains(vars[i].get()));
      EXPECT_TRUE(map.TryEmplace(vars[i].get()).second);
    }
  }
}

// Values are destroyed, also those that moved as the map grew.
TEST(NodeMapTest, ValuesAreHeldOnce) {
  const std::vector<Var> vars = ManyVars(100);
  const Var held("held");
  {
    NodeMap<Expr> map;
    for (const Var& var : vars) map[var.get()] = held;
    EXPECT_FALSE(held->unique());
  }
  EXPECT_TRUE(held->unique());
}

TEST(NodeSetTest, InsertsOnce) {
  const std::vector<Var> vars = ManyVars(100);
  NodeSet set;
  for (const Var& var : vars) EXPECT_TRUE(set.Insert(var.get()));
  for (const Var& var : vars) EXPECT_FALSE(set.Insert(var.get()));
  EXPECT_EQ(set.size(), 100);
  EXPECT_FALSE(set.Contains(Var("v").get()));
}

}  // namespace
}  // namespace baton
