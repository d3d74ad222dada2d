#include "baton/relay/transform/defuse_ops.h"

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/ir/structural_equal.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/transform/fuse_ops.h"
#include "baton/relay/transform/simplify_inference.h"
#include "baton/testing/golden.h"
#include "baton/testing/round_trip.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/workloads/workload.h"
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

void ExpectBecomes(absl::string_view before, absl::string_view after) {
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module, DefuseOps()(Parse(before)));
  EXPECT_EQ(FirstDifference(module, Parse(after)), std::nullopt)
      << ToText(module);
  EXPECT_THAT(testing::CheckRoundTrip(module, /*typed=*/true), testing::IsOk());
}

TEST(DefuseOpsTest, ResNet) {
  BATON_ASSERT_OK_AND_ASSIGN(IRModule module,
                             testing::GetWorkloadModule("resnet"));
  BATON_ASSERT_OK_AND_ASSIGN(module, SimplifyInference()(module));
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule fused,
                             FuseOps({.fuse_opt_level = 2})(module));
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule defused, DefuseOps()(fused));
  EXPECT_TRUE(testing::MatchesGolden(AsText(defused),
                                     "resnet18_passes/DefuseOps.relay"));
  EXPECT_TRUE(StructuralEqual(defused, module));
  // Nothing is left to do.
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule again, DefuseOps()(defused));
  EXPECT_TRUE(again.SameAs(defused));
}

TEST(DefuseOpsTest, AFunctionThatIsCalledTwice) {
  ExpectBecomes(R"(
      def @main(%x: Tensor[(4), float32]) {
        %0 = fn (%p0: Tensor[(4), float32], Primitive=1) { add(%p0, %p0) };
        %1 = %0(%x);
        %0(%1)
      })",
                R"(
      def @main(%x: Tensor[(4), float32]) {
        %0 = add(%x, %x);
        add(%0, %0)
      })");
}

TEST(DefuseOpsTest, FunctionsInFunctions) {
  ExpectBecomes(R"(
      def @main(%x: Tensor[(4), float32]) {
        %1 = fn (%p0: Tensor[(4), float32]) {
          %0 = fn (%p0: Tensor[(4), float32]) { nn.relu(%p0) };
          add(%0(%p0), 1f)
        };
        %1(%x)
      })",
                R"(
      def @main(%x: Tensor[(4), float32]) { add(nn.relu(%x), 1f) })");
}

TEST(DefuseOpsTest, ArgumentsOfInnerCallsUseOuterParameters) {
  ExpectBecomes(R"(
      def @main(%x: Tensor[(4), float32]) {
        %3 = fn (%p: Tensor[(4), float32], %q: Tensor[(4), float32]) {
          %0 = fn (%r: Tensor[(4), float32]) { nn.relu(%r) };
          %1 = %0(add(%q, %p));
          %2 = fn (%s: Tensor[(4), float32]) { multiply(%s, %q) };
          subtract(%2(%1), %p)
        };
        %3(tanh(%x), %x)
      })",
                R"(
      def @main(%x: Tensor[(4), float32]) {
        %0 = tanh(%x);
        subtract(multiply(nn.relu(add(%x, %0)), %x), %0)
      })");
}

// The inner function is called twice with different arguments, and so is the
// outer one.
TEST(DefuseOpsTest, FunctionsCalledTwiceInFunctionsCalledTwice) {
  ExpectBecomes(R"(
      def @main(%x: Tensor[(4), float32]) {
        %4 = fn (%p: Tensor[(4), float32]) {
          %2 = fn (%r: Tensor[(4), float32]) {
            %0 = fn (%u: Tensor[(4), float32]) { nn.relu(%u) };
            %1 = %0(%r);
            add(%1, %p)
          };
          %3 = %2(%p);
          %2(%3)
        };
        %5 = %4(%x);
        %4(%5)
      })",
                R"(
      def @main(%x: Tensor[(4), float32]) {
        %0 = add(nn.relu(%x), %x);
        %1 = add(nn.relu(%0), %x);
        %2 = add(nn.relu(%1), %1);
        add(nn.relu(%2), %1)
      })");
}

TEST(DefuseOpsTest, AFunctionCalledTwiceUsesAnOuterParameter) {
  ExpectBecomes(R"(
      def @main(%x: Tensor[(4), float32]) {
        %4 = fn (%p: Tensor[(4), float32]) {
          %2 = fn (%r: Tensor[(4), float32]) {
            %0 = fn (%u: Tensor[(4), float32]) { nn.relu(%u) };
            %1 = tanh(%p);
            add(%0(%r), %1)
          };
          %3 = %2(%p);
          %2(%3)
        };
        %4(%x)
      })",
                R"(
      def @main(%x: Tensor[(4), float32]) {
        %0 = tanh(%x);
        %1 = add(nn.relu(%x), %0);
        add(nn.relu(%1), %0)
      })");
}

TEST(DefuseOpsTest, AFunctionThatIsAlsoAValue) {
  ExpectBecomes(R"(
      def @main(%x: Tensor[(4), float32]) {
        %1 = fn (%p: Tensor[(4), float32]) {
          %0 = fn (%r: Tensor[(4), float32]) { nn.relu(%r) };
          %0(%p)
        };
        (%1(%x), %1)
      })",
                R"(
      def @main(%x: Tensor[(4), float32]) {
        (nn.relu(%x), fn (%p: Tensor[(4), float32]) { nn.relu(%p) })
      })");
}

TEST(DefuseOpsTest, LetsInArgumentsKeepTheCallAround) {
  ExpectBecomes(R"(
      def @main(%x: Tensor[(4), float32]) {
        %2 = fn (%p: Tensor[(4), float32]) {
          %0 = fn (%r: Tensor[(4), float32]) { nn.relu(%r) };
          %1 = { let %a = tanh(%p); add(%a, %a) };
          %0(%1)
        };
        %2(%x)
      })",
                R"(
      def @main(%x: Tensor[(4), float32]) {
        %1 = fn (%p: Tensor[(4), float32]) {
          %0 = { let %a = tanh(%p); add(%a, %a) };
          nn.relu(%0)
        };
        %1(%x)
      })");
}

TEST(DefuseOpsTest, BindersStayWhereTheyAre) {
  const IRModule module = Parse(R"(
      def @main(%x: Tensor[(4), float32]) {
        %0 = fn (%p0: Tensor[(4), float32]) {
          let %a = nn.relu(%p0);
          add(%a, %a)
        };
        %1 = %0(%x);
        %0(%1)
      })");
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule after, DefuseOps()(module));
  EXPECT_TRUE(after.SameAs(module));
}

}  // namespace
}  // namespace baton::relay
