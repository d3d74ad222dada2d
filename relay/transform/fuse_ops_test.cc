#include "baton/relay/transform/fuse_ops.h"

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/ir/structural_equal.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/module.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/nn.h"
#include "baton/relay/op/tensor.h"
#include "baton/relay/transform/simplify_inference.h"
#include "baton/testing/golden.h"
#include "baton/testing/round_trip.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/workloads/workload.h"
#include "baton/transform/finished_results.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_instrument.h"
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

class Watcher final : public PassInstrument {
 public:
  Watcher() : PassInstrument("Watcher") {}
};

void ExpectBecomes(absl::string_view before, absl::string_view after,
                   int64_t level = 2) {
  const Pass pass = FuseOps({.fuse_opt_level = level});
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module, pass(Parse(before)));
  EXPECT_EQ(FirstDifference(module, Parse(after)), std::nullopt)
      << ToText(module);
  EXPECT_THAT(testing::CheckRoundTrip(module, /*typed=*/true), testing::IsOk());
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule again, pass(module));
  EXPECT_TRUE(again.SameAs(module));
  // With an instrument, inference finds the types that the pass knows.
  const PassContext context({.instruments = {std::make_shared<Watcher>()}});
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule watched,
                             context.Run([&] { return pass(Parse(before)); }));
  EXPECT_EQ(ToText(watched), ToText(module));
}

// The number of nodes in the bodies of the primitive functions, parameters not
// counted, in the order of their calls.
std::vector<int> GroupSizes(const Expr& root) {
  std::vector<int> sizes;
  PostOrderVisit(root, [&](const ExprNode* node) {
    const auto* function = Expr(node).As<FunctionNode>();
    if (function == nullptr || !function->IsPrimitive()) return;
    int size = 0;
    PostOrderVisit(function->body(), [&](const ExprNode* inner) {
      size += inner->kind() == ExprKind::kVar || inner->kind() == ExprKind::kOp
                  ? 0
                  : 1;
    });
    sizes.push_back(size);
  });
  return sizes;
}

IRModule SimplifiedResNet() {
  const auto module = testing::GetWorkloadModule("resnet");
  EXPECT_THAT(module, testing::IsOk());
  const auto simplified = SimplifyInference()(*module);
  EXPECT_THAT(simplified, testing::IsOk());
  return *simplified;
}

TEST(FuseOpsTest, ResNet) {
  const IRModule module = SimplifiedResNet();
  for (const auto& [level, golden] :
       {std::pair(2, "FuseOps.relay"), std::pair(0, "FuseOps0.relay")}) {
    const Pass pass = FuseOps({.fuse_opt_level = level});
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule fused, pass(module));
    EXPECT_TRUE(testing::MatchesGolden(
        AsText(fused), absl::StrCat("resnet18_passes/", golden)));
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule again, pass(fused));
    EXPECT_TRUE(again.SameAs(fused));
  }
}

TEST(FuseOpsTest, LevelOfTheContext) {
  const IRModule module = Parse(R"(
      def @main(%x: Tensor[(4), float32]) { nn.relu(add(%x, 1f)) })");
  for (const auto& [level, groups] :
       {std::pair(0, std::vector<int>{1, 1}), std::pair(1, std::vector{3})}) {
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule fused,
                               PassContext({.opt_level = level}).Run([&] {
                                 return FuseOps()(module);
                               }));
    EXPECT_EQ(GroupSizes(fused.Find<Function>("main")), groups)
        << ToText(fused);
  }
}

TEST(FuseOpsTest, MaxDepth) {
  const Var x("x", {4});
  Expr y = x;
  for (int i = 0; i < 20; ++i) y = Exp(y);
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module,
                             InferTypes(ModuleFromExpr(Function({x}, y))));
  const auto sizes = [&](int max_depth) {
    const auto fused =
        PassContext({.config = {{"relay.FuseOps.max_depth", max_depth}}})
            .Run([&] { return FuseOps()(module); });
    EXPECT_THAT(fused, testing::IsOk());
    return GroupSizes(fused->Find<Function>("main"));
  };
  EXPECT_EQ(sizes(10), (std::vector<int>{10, 10}));
  EXPECT_EQ(sizes(20), std::vector<int>{20});
  EXPECT_EQ(sizes(-1), std::vector<int>{20});
  EXPECT_EQ(sizes(1).size(), 20);
}

TEST(FuseOpsTest, LinkParams) {
  const Var x("x", {2});
  BATON_ASSERT_OK_AND_ASSIGN(const Tensor two,
                             Tensor::FromValues<float>({2}, {1, 2}));
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module,
                             InferTypes(ModuleFromExpr(Function(
                                 {x}, Exp(Add(x, Add(x, Constant(two))))))));
  const auto arguments = [&](bool link_params) {
    const auto fused =
        PassContext({.config = {{"relay.FuseOps.link_params", link_params}}})
            .Run([&] { return FuseOps()(module); });
    EXPECT_THAT(fused, testing::IsOk());
    return fused->Find<Function>("main")->body().As<CallNode>()->num_args();
  };
  EXPECT_EQ(arguments(false), 2);
  EXPECT_EQ(arguments(true), 1);
}

TEST(FuseOpsTest, ConvolutionWithADiamond) {
  ExpectBecomes(R"(
      def @main(%x: Tensor[(1, 16, 64, 64), float32],
                %w: Tensor[(16, 16, 3, 3), float32]) {
        %0 = add(%x, 1f);
        %1 = nn.conv2d(%0, %w, padding=[1, 1, 1, 1]);
        %2 = add(1f, %1);
        %3 = nn.relu(%1);
        add(%2, %3)
      })",
                R"(
      def @main(%x: Tensor[(1, 16, 64, 64), float32],
                %w: Tensor[(16, 16, 3, 3), float32])
          -> Tensor[(1, 16, 64, 64), float32] {
        %0 = fn (%p0: Tensor[(1, 16, 64, 64), float32], Primitive=1)
            -> Tensor[(1, 16, 64, 64), float32] { add(%p0, 1f) };
        %1 = fn (%p0: Tensor[(1, 16, 64, 64), float32],
                 %p1: Tensor[(16, 16, 3, 3), float32], Primitive=1)
            -> Tensor[(1, 16, 64, 64), float32] {
          %2 = nn.conv2d(%p0, %p1, padding=[1, 1, 1, 1]);
          add(add(1f, %2), nn.relu(%2))
        };
        %1(%0(%x), %w)
      })");
}

TEST(FuseOpsTest, ReshapesAreMarked) {
  ExpectBecomes(R"(
      def @main(%x: Tensor[(4, 4), float32]) {
        %0 = reshape(%x, newshape=[16]);
        %1 = expand_dims(%0, axis=0);
        nn.softmax(%1)
      })",
                R"(
      def @main(%x: Tensor[(4, 4), float32]) -> Tensor[(1, 16), float32] {
        %0 = fn (%p0: Tensor[(4, 4), float32], Primitive=1,
                 relay.reshape_only=1) -> Tensor[(1, 16), float32] {
          expand_dims(reshape(%p0, newshape=[16]), axis=0)
        };
        %1 = fn (%p0: Tensor[(1, 16), float32], Primitive=1)
            -> Tensor[(1, 16), float32] { nn.softmax(%p0) };
        %1(%0(%x))
      })");
}

TEST(FuseOpsTest, StopFusion) {
  ExpectBecomes(R"(
      def @main(%x: Tensor[(4), float32]) {
        %0 = add(%x, 1f);
        add(exp(annotation.stop_fusion(%0)), %0)
      })",
                R"(
      def @main(%x: Tensor[(4), float32]) -> Tensor[(4), float32] {
        %0 = fn (%p0: Tensor[(4), float32], Primitive=1)
            -> Tensor[(4), float32] { add(%p0, 1f) };
        %1 = fn (%p0: Tensor[(4), float32], Primitive=1)
            -> Tensor[(4), float32] { add(exp(%p0), %p0) };
        %1(%0(%x))
      })");
}

TEST(FuseOpsTest, TupleParameters) {
  ExpectBecomes(R"(
      def @main(%x: Tensor[(6, 9), float32]) {
        %0 = split(%x, indices_or_sections=3);
        %1 = ref(%0.1);
        add(add(%0.0, ref_read(%1)), %0.2)
      })",
                R"(
      def @main(%x: Tensor[(6, 9), float32]) -> Tensor[(2, 9), float32] {
        %0 = fn (%p0: Tensor[(6, 9), float32], Primitive=1)
            -> (Tensor[(2, 9), float32], Tensor[(2, 9), float32],
                Tensor[(2, 9), float32]) {
          split(%p0, indices_or_sections=3)
        };
        %1 = %0(%x);
        %2 = ref(%1.1);
        %3 = fn (%p0: (Tensor[(2, 9), float32], Tensor[(2, 9), float32],
                       Tensor[(2, 9), float32]),
                 %p1: Tensor[(2, 9), float32], Primitive=1)
            -> Tensor[(2, 9), float32] { add(add(%p0.0, %p1), %p0.2) };
        %3(%1, ref_read(%2))
      })");
}

TEST(FuseOpsTest, NothingGoesThroughLetsAndBranches) {
  const IRModule module = Parse(R"(
      def @main(%c: bool, %x: Tensor[(4), float32]) {
        let %a = exp(%x);
        %0 = log(%a);
        if (%c) { exp(exp(%0)) } else { %0 }
      })");
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule fused, FuseOps()(module));
  EXPECT_EQ(GroupSizes(fused.Find<Function>("main")),
            (std::vector<int>{1, 2, 1}))
      << ToText(fused);
}

TEST(FuseOpsTest, ClosedFunctionsStay) {
  const IRModule module = Parse(R"(
      def @main(%x: Tensor[(4), float32]) {
        %0 = fn (%y: Tensor[(4), float32], Primitive=1) { exp(exp(%y)) };
        %0(%x)
      })");
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule fused, FuseOps()(module));
  EXPECT_TRUE(fused.SameAs(module)) << ToText(fused);
}

Expr TypedOrFail(const Expr& expr) {
  const auto typed = InferTypeOf(expr);
  EXPECT_THAT(typed, testing::IsOk());
  return typed.ok() ? *typed : expr;
}

TEST(FuseOpsTest, HugePrograms) {
  constexpr int kSize = 100000;
  {
    // A tuple of many fields, of which a group takes 254: the tuple and the
    // concatenation are in it too.
    std::vector<Var> params;
    std::vector<Expr> fields;
    for (int i = 0; i < kSize; ++i) {
      params.push_back(Var(absl::StrCat("x", i), {1}));
      fields.push_back(nn::Relu(params.back()));
    }
    const Expr program =
        TypedOrFail(Function(params, Concatenate(std::move(fields), 0)));
    const absl::Time start = absl::Now();
    BATON_ASSERT_OK_AND_ASSIGN(const Expr fused, FuseOpsInExpr(program));
    std::cout << "wide: " << absl::Now() - start << "\n";
    EXPECT_EQ(GroupSizes(fused).size(), kSize - 254 + 1);
  }
  {
    const Var x("x", {1});
    Expr ladder = x;
    for (int i = 0; i < kSize; ++i) {
      ladder = Add(nn::Relu(ladder), Exp(ladder));
    }
    const Expr program = TypedOrFail(Function({x}, ladder));
    const absl::Time start = absl::Now();
    BATON_ASSERT_OK_AND_ASSIGN(const Expr fused, FuseOpsInExpr(program));
    std::cout << "ladder: " << absl::Now() - start << "\n";
    const std::vector<int> sizes = GroupSizes(fused);
    EXPECT_LE(*std::max_element(sizes.begin(), sizes.end()), 256);
  }
}

// Whether inference inside of a pass changed its result.
class InferenceWatcher : public PassInstrument {
 public:
  InferenceWatcher() : PassInstrument("InferenceWatcher") {}
  absl::Status RunAfterPass(const IRModule& /*module*/,
                            const PassExecution& pass) override {
    if (pass.depth() > 0) changed_ = changed_ || pass.changed();
    return absl::OkStatus();
  }
  bool changed() const { return changed_; }

 private:
  bool changed_ = false;
};
class FinishedWatcher final : public InferenceWatcher,
                              public SeesFinishedResults {};

TEST(FuseOpsTest, TypesWaitForInferenceOnlyWhereThatIsSeen) {
  const IRModule module = SimplifiedResNet();
  const Pass pass = FuseOps({.fuse_opt_level = 2});
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule alone, pass(module));
  EXPECT_FALSE(alone.SameAs(module));
  EXPECT_TRUE(InferTypes(alone)->SameAs(alone));
  for (const auto& watcher : {std::make_shared<InferenceWatcher>(),
                              std::shared_ptr<InferenceWatcher>(
                                  std::make_shared<FinishedWatcher>())}) {
    const bool sees = SeesUnfinishedResults(*watcher);
    EXPECT_EQ(sees, dynamic_cast<FinishedWatcher*>(watcher.get()) == nullptr);
    const PassContext context({.instruments = {watcher}});
    EXPECT_EQ(UnfinishedResultsAreSeen(context), sees);
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule watched,
                               context.Run([&] { return pass(module); }));
    EXPECT_EQ(watcher->changed(), sees);
    EXPECT_EQ(ToText(watched), ToText(alone));
    EXPECT_EQ(FirstDifference(watched, alone), std::nullopt);
  }
}

TEST(FuseOpsTest, ResNetTakesLittleTime) {
  const IRModule module = SimplifiedResNet();
  const Function main = module.Find<Function>("main");
  absl::Duration body = absl::InfiniteDuration();
  absl::Duration pass = absl::InfiniteDuration();
  for (int i = 0; i < 200; ++i) {
    absl::Time start = absl::Now();
    EXPECT_NE(*FuseOpsInExpr(main), main);
    body = std::min(body, absl::Now() - start);
    start = absl::Now();
    EXPECT_THAT(FuseOps({.fuse_opt_level = 2})(module), testing::IsOk());
    pass = std::min(pass, absl::Now() - start);
  }
  std::cout << "ResNet-18: " << body << ", with types " << pass << "\n";
}

}  // namespace
}  // namespace baton::relay
