#include "baton/relay/runtime/kernel_cache.h"

#include <cstdint>
#include <vector>

#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/runtime/value.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

Value Ints(const std::vector<int64_t>& values) {
  return *Tensor::FromValues<int64_t>({static_cast<int64_t>(values.size())},
                                      values);
}

class KernelCacheTest : public ::testing::Test {
 protected:
  const Value a_ = Ints({1, 2});
  const Value b_ = Ints({3, 4});
  const Call add_ = Call(Op::Find("add"), {Var("x"), Var("y")});
  const Call multiply_ = Call(Op::Find("multiply"), {Var("x"), Var("y")});
};

TEST_F(KernelCacheTest, KnowsACallByOperatorAndTensors) {
  KernelCache cache;
  EXPECT_EQ(cache.Find(*add_, {a_, b_}), nullptr);
  cache.Add(*add_, {a_, b_}, Ints({4, 6}));
  const Call again(Op::Find("add"), {Var("u"), Var("v")});
  const Value* found = cache.Find(*again, {a_, b_});
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->tensor(), Ints({4, 6}).tensor());
  EXPECT_EQ(cache.Find(*add_, {b_, a_}), nullptr);
  EXPECT_EQ(cache.Find(*multiply_, {a_, b_}), nullptr);
  // Equal, but another tensor.
  EXPECT_EQ(cache.Find(*add_, {Ints({1, 2}), b_}), nullptr);
  EXPECT_EQ(cache.hits(), 1);
  EXPECT_EQ(cache.misses(), 4);
}

TEST_F(KernelCacheTest, TuplesAreKnownByTheirFields) {
  KernelCache cache;
  const Value tuple = Value::MakeTuple({a_, b_});
  cache.Add(*add_, {tuple}, Ints({0}));
  EXPECT_NE(cache.Find(*add_, {Value::MakeTuple({a_, b_})}), nullptr);
  EXPECT_EQ(cache.Find(*add_, {a_, b_}), nullptr);
  EXPECT_EQ(cache.Find(*add_, {Value::MakeTuple({tuple})}), nullptr);
}

TEST_F(KernelCacheTest, ResultsKeepTheirTuples) {
  KernelCache cache;
  const Value nested = Value::MakeTuple({Value::MakeTuple({a_})});
  const Value added = cache.Add(*add_, {a_, b_}, nested);
  ASSERT_TRUE(added.fields()[0].is_tuple());
  ASSERT_NE(cache.Find(*add_, {a_, b_}), nullptr);
  EXPECT_TRUE(cache.Find(*add_, {a_, b_})->fields()[0].is_tuple());
}

TEST_F(KernelCacheTest, AnEqualResultIsTheSameTensor) {
  KernelCache cache;
  const Value first = cache.Add(*add_, {a_, b_}, Ints({5}));
  const Value second =
      cache.Add(*multiply_, {a_, b_}, Value::MakeTuple({Ints({5}), a_}));
  EXPECT_TRUE(second.fields()[0].tensor().SharesBufferWith(first.tensor()));
}

TEST_F(KernelCacheTest, HoldsNoCalls) {
  KernelCache cache;
  cache.Add(*add_, {a_, b_}, Ints({5}));
  EXPECT_TRUE(add_->unique());
}

TEST_F(KernelCacheTest, ForgetsWhatARoundDoesNotUse) {
  KernelCache cache;
  cache.Add(*add_, {a_, b_}, Ints({5}));
  cache.Add(*multiply_, {a_, b_}, Ints({6}));
  cache.NextRound();
  EXPECT_NE(cache.Find(*add_, {a_, b_}), nullptr);
  cache.NextRound();
  EXPECT_NE(cache.Find(*add_, {a_, b_}), nullptr);
  EXPECT_EQ(cache.Find(*multiply_, {a_, b_}), nullptr);
}

TEST_F(KernelCacheTest, KeepsNoMoreThanItMay) {
  KernelCache cache(20);
  cache.Add(*add_, {a_, b_}, Ints({5, 6, 7}));
  const Value result = cache.Add(*multiply_, {a_, b_}, Ints({6}));
  EXPECT_EQ(result.tensor(), Ints({6}).tensor());
  EXPECT_EQ(cache.Find(*multiply_, {a_, b_}), nullptr);
  EXPECT_NE(cache.Find(*add_, {a_, b_}), nullptr);
}

TEST_F(KernelCacheTest, ReferencesAreNotKept) {
  KernelCache cache;
  const Value cell = Value::MakeCell(a_);
  cache.Add(*add_, {cell, b_}, Ints({5}));
  EXPECT_EQ(cache.Find(*add_, {cell, b_}), nullptr);
}

}  // namespace
}  // namespace baton::relay
