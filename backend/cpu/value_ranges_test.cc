#include "baton/backend/cpu/value_ranges.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "baton/base/tensor.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/testing/parse_typed.h"
#include "gtest/gtest.h"

namespace baton::cpu {
namespace {

using relay::FunctionNode;

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

Expr Body(const std::string& body) {
  const IRModule module = ::baton::testing::ParseTyped(
      absl::StrCat("#[version = \"0.0.5\"]\n"
                   "def @main(%n: Tensor[(2), int64], %u: uint64) { ",
                   body, " }"));
  return module.Find("main").As<FunctionNode>()->body();
}

TEST(ValueRangesTest, KnowsRanges) {
  struct Case {
    const char* body;
    int64_t least;
    int64_t most;
  };
  for (const Case& test : {
           Case{"%n", kLeast, kMost},
           Case{"floor_mod(%n, 9i64)", 0, 8},
           Case{"cast(%n, dtype=\"int16\")", -32768, 32767},
           Case{"full(300i64, shape=[1], dtype=\"int8\")", -128, 127},
           Case{"full(30i64, shape=[1], dtype=\"int8\")", 30, 30},
           Case{"sum(floor_mod(%n, 9i64))", 0, 16},
           // Nothing is known of uint64.
           Case{"%u", kLeast, kMost},
           Case{"cast(%u, dtype=\"int64\")", kLeast, kMost},
           Case{"cast(%u, dtype=\"int8\")", -128, 127},
           Case{"floor_divide(%u, cast(1024i64, dtype=\"uint64\"))", kLeast,
                kMost},
           Case{"cast(floor_divide(%u, cast(1024i64, dtype=\"uint64\")), "
                "dtype=\"int64\")",
                kLeast, kMost},
           Case{"cast(minimum(%u, cast(9i64, dtype=\"uint64\")), "
                "dtype=\"int64\")",
                kLeast, kMost},
           Case{"minimum(cast(%u, dtype=\"int64\"), 9i64)", kLeast, 9},
           Case{"minimum(max(full(%u, shape=[2], dtype=\"int64\")), 9i64)",
                kLeast, 9},
       }) {
    const ValueRange range = ValueRanges().Of(Body(test.body));
    EXPECT_EQ(range.least, test.least) << test.body;
    EXPECT_EQ(range.most, test.most) << test.body;
  }
}

TEST(ValueRangesTest, KnowsNothingOfConstantsOfUint64) {
  const Expr constant = *relay::InferTypeOf(
      relay::Const(Tensor::Scalar<uint64_t>(uint64_t{1} << 63)), nullptr);
  const ValueRange range = ValueRanges().Of(constant);
  EXPECT_EQ(range.least, kLeast);
  EXPECT_EQ(range.most, kMost);
}

TEST(ValueRangesTest, FindsParts) {
  const Expr sizes = Body(
      "cast(concatenate((reshape(cast(%n, dtype=\"int32\"), newshape=[-1]), "
      "full(3i32, shape=[2], dtype=\"int32\")), axis=0), dtype=\"int64\")");
  EXPECT_EQ(PartOf(sizes, 1).index, 1);
  EXPECT_EQ(PartOf(sizes, 1).value->tensor_type()->dtype(), DType::Int(32));
  const VectorPart three = PartOf(sizes, 3);
  EXPECT_EQ(relay::ConstantInts(three.value), std::vector<int64_t>{3});
  EXPECT_EQ(three.index, 0);
  // 44, not 300.
  const Expr full = Body("full(300i64, shape=[1], dtype=\"int8\")");
  EXPECT_EQ(PartOf(full, 0).value, full);
}

// Each expression is considered once, whatever is asked for.
TEST(ValueRangesTest, ManyExpressionsAreFewSteps) {
  const Expr one =
      *relay::InferTypeOf(relay::Const(Tensor::Scalar<int64_t>(1)), nullptr);
  std::vector<Expr> chain = {Body("floor_mod(sum(%n), 9i64)")};
  for (int i = 0; i < 30000; ++i) {
    chain.push_back(
        *relay::InferTypeOf(relay::Add(chain.back(), one), nullptr));
  }
  ValueRanges ranges;
  EXPECT_EQ(ranges.Of(chain.back()).most, kMost);
  EXPECT_EQ(ranges.Of(chain[0]).most, 8);
  for (size_t i = 0; i < 20000; ++i) {
    EXPECT_EQ(ranges.Of(chain[i]).most, 8 + static_cast<int64_t>(i));
  }
  for (size_t i = chain.size(); i-- > 26000;) {
    EXPECT_EQ(ranges.Of(chain[i]).most, kMost);
  }
}

}  // namespace
}  // namespace baton::cpu
