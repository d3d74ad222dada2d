#include "baton/relay/transform/eliminate_common_subexpr.h"

#include <algorithm>
#include <iostream>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/structural_equal.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/nn.h"
#include "baton/relay/op/tensor.h"
#include "baton/testing/round_trip.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/workloads/workload.h"
#include "baton/transform/pass.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

IRModule Parse(absl::string_view text) {
  const auto module = ParseModule(text);
  EXPECT_THAT(module, testing::IsOk());
  if (!module.ok()) return {};
  const auto typed = InferTypes(*module);
  EXPECT_THAT(typed, testing::IsOk());
  return typed.ok() ? *typed : IRModule();
}

void ExpectBecomes(absl::string_view before, absl::string_view after,
                   EliminateCommonSubexprOptions options = {}) {
  const IRModule input = Parse(before);
  const Pass pass = EliminateCommonSubexpr(std::move(options));
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module, pass(input));
  EXPECT_EQ(FirstDifference(module, Parse(after)), std::nullopt)
      << ToText(module);
  EXPECT_THAT(testing::CheckRoundTrip(module, /*typed=*/true), testing::IsOk());
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule again, pass(module));
  EXPECT_TRUE(again.SameAs(module));
}

void ExpectUnchanged(absl::string_view text) {
  const IRModule input = Parse(text);
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module,
                             EliminateCommonSubexpr()(input));
  EXPECT_TRUE(module.SameAs(input)) << ToText(module);
}

constexpr char kTwoSides[] = R"(
    def @main(%x: Tensor[(1, 16), float32]) {
      %0 = add(nn.relu(%x), 1f);
      %1 = add(nn.relu(%x), 1f);
      add(%0, %1)
    })";

TEST(EliminateCommonSubexprTest, Calls) {
  ExpectBecomes(kTwoSides, R"(
      def @main(%x: Tensor[(1, 16), float32]) {
        %0 = add(nn.relu(%x), 1f);
        add(%0, %0)
      })");
}

TEST(EliminateCommonSubexprTest, SkipPredicate) {
  const auto skips = [](absl::string_view name) {
    return EliminateCommonSubexprOptions{
        .fskip = [name = std::string(name)](const Expr& expr) {
          const auto* call = expr.As<CallNode>();
          return call != nullptr && call->op_node() != nullptr &&
                 call->op_node()->name() == name;
        }};
  };
  ExpectBecomes(kTwoSides, kTwoSides, skips("nn.relu"));
  ExpectBecomes(kTwoSides, R"(
      def @main(%x: Tensor[(1, 16), float32]) {
        %0 = nn.relu(%x);
        add(add(%0, 1f), add(%0, 1f))
      })",
                skips("add"));
  // It has no text.
  EXPECT_FALSE(EliminateCommonSubexpr(skips("add")).ToString().ok());
}

TEST(EliminateCommonSubexprTest, TuplesAndTheirFields) {
  ExpectBecomes(R"(
      def @main(%x: Tensor[(4, 4), float32], %y: Tensor[(4, 4), float32]) {
        %0 = split(%x, indices_or_sections=2);
        %1 = split(%x, indices_or_sections=2);
        %2 = (%0.0, nn.relu(%y));
        %3 = (%1.0, nn.relu(%y));
        add(concatenate(%2), concatenate(%3))
      })",
                R"(
      def @main(%x: Tensor[(4, 4), float32], %y: Tensor[(4, 4), float32]) {
        %0 = split(%x, indices_or_sections=2);
        %1 = concatenate((%0.0, nn.relu(%y)));
        add(%1, %1)
      })");
}

TEST(EliminateCommonSubexprTest, DifferentThings) {
  ExpectUnchanged(R"(
      def @main(%x: Tensor[(4, 4), float32]) {
        %0 = sum(%x, axis=[0]);
        %1 = sum(%x, axis=[1]);
        %2 = add(%x, 1f);
        %3 = add(%x, 2f);
        %4 = subtract(%x, 1f);
        (%0, %1, %2, %3, %4, zeros(shape=[2], dtype="float32"),
         zeros(shape=[2], dtype="float32"))
      })");
}

TEST(EliminateCommonSubexprTest, ManyAttributesOfOneOperator) {
  const Var x("x", {1000});
  std::vector<Expr> fields;
  for (int i = 0; i < 60; ++i) {
    fields.push_back(StridedSlice(x, {i % 30}, {i % 30 + 1}));
  }
  const Expr merged =
      *EliminateCommonSubexprInExpr(Function({x}, Tuple(std::move(fields))));
  const auto* tuple = merged.As<FunctionNode>()->body().As<TupleNode>();
  for (int i = 0; i < 60; ++i) {
    EXPECT_EQ(tuple->fields()[i], tuple->fields()[i % 30]);
  }
  for (int i = 1; i < 30; ++i) {
    EXPECT_NE(tuple->fields()[i], tuple->fields()[0]);
  }
}

// Merges by comparing each call with all earlier ones, until nothing changes.
Expr MergeSlowly(const Expr& root) {
  class Merger : public ExprMutator {
    Expr VisitCall(const CallNode* /*original*/, Call call) override {
      for (const Call& other : calls_) {
        if (StructuralEqual(call, other, {.map_free_vars = false})) {
          return other;
        }
      }
      calls_.push_back(call);
      return call;
    }
    std::vector<Call> calls_;
  };
  return *Merger().Mutate(root);
}

TEST(EliminateCommonSubexprTest, RandomPrograms) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const std::vector<Var> params = {Var("x", {4}), Var("y", {4})};
    std::vector<Expr> values(params.begin(), params.end());
    const auto pick = [&] { return values[random() % values.size()]; };
    for (int i = 0; i < 30; ++i) {
      switch (random() % 5) {
        case 0:
          values.push_back(Add(pick(), pick()));
          break;
        case 1:
          values.push_back(Add(pick(), Const(1.0f)));
          break;
        case 2:
          values.push_back(Concatenate({pick(), pick()}, 0));
          break;
        case 3:
          values.push_back(nn::Relu(values[random() % 2]));
          break;
        default:
          values.push_back(nn::Relu(values.back()));
          break;
      }
    }
    const Function function(params, Tuple(values));
    const Expr merged = *EliminateCommonSubexprInExpr(function);
    EXPECT_EQ(FirstDifference(merged, MergeSlowly(function)), std::nullopt)
        << ToText(function);
  }
}

TEST(EliminateCommonSubexprTest, HugePrograms) {
  constexpr int kSize = 100000;
  const Var x("x", {4});
  std::vector<Expr> left;
  std::vector<Expr> right;
  for (int i = 0; i < kSize; ++i) {
    const Expr scale = Const(static_cast<float>(i));
    left.push_back(Multiply(x, scale));
    right.push_back(Multiply(x, scale));
  }
  Expr a = Concatenate(left, 0);
  Expr b = Concatenate(right, 0);
  for (int i = 0; i < kSize; ++i) {
    a = nn::Relu(a);
    b = nn::Relu(b);
  }
  const Expr merged = *EliminateCommonSubexprInExpr(Function({x}, Add(a, b)));
  const auto* sum = merged.As<FunctionNode>()->body().As<CallNode>();
  EXPECT_EQ(sum->arg(0), sum->arg(1));
}

TEST(EliminateCommonSubexprTest, ResNetHasNothingInCommon) {
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module,
                             testing::GetWorkloadModule("resnet"));
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule after,
                             EliminateCommonSubexpr()(module));
  EXPECT_TRUE(after.SameAs(module));
  const Function main = module.Find<Function>("main");
  absl::Duration best = absl::InfiniteDuration();
  for (int i = 0; i < 200; ++i) {
    const absl::Time start = absl::Now();
    EXPECT_EQ(*EliminateCommonSubexprInExpr(main), main);
    best = std::min(best, absl::Now() - start);
  }
  RecordProperty("best_ns", static_cast<int>(absl::ToInt64Nanoseconds(best)));
  std::cout << "ResNet-18: " << best << "\n";
}

}  // namespace
}  // namespace baton::relay
