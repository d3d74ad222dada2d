#include "baton/relay/transform/to_graph_normal_form.h"

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/ir/structural_equal.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/transform/pass_test_util.h"
#include "baton/relay/transform/to_a_normal_form.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/workloads/workload.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

void ExpectBecomes(absl::string_view before, absl::string_view after) {
  ExpectPassMakes(ToGraphNormalForm(), before, after);
  ExpectPassLeaves(ToGraphNormalForm(), after);
}

TEST(ToGraphNormalFormTest, LetsBecomeSharing) {
  ExpectBecomes(R"(
      def @main() {
        let %x = 1;
        let %y = add(%x, %x);
        let %z = add(%y, %y);
        add(%z, %z)
      })",
                R"(
      def @main() {
        %0 = add(1, 1);
        %1 = add(%0, %0);
        add(%1, %1)
      })");
}

TEST(ToGraphNormalFormTest, EverywhereInAnExpression) {
  ExpectBecomes(R"(
      def @main(%p: float32, %c: bool) {
        let %x = exp(%p);
        let %y = (let %z = log(%x); add(%z, %z));
        let %f = fn (%q: float32) { let %r = add(%q, %y); multiply(%r, %x) };
        let %unused = exp(%y);
        let %alias = %f;
        if (%c) { let %s = %alias(%x); %s } else { %y }
      })",
                R"(
      def @main(%p: float32, %c: bool) {
        if (%c) {
          %0 = exp(%p);
          %1 = log(%0);
          %2 = add(%1, %1);
          %3 = fn (%q: float32) { multiply(add(%q, %2), %0) };
          %3(%0)
        } else {
          %2
        }
      })");
}

TEST(ToGraphNormalFormTest, RecursiveFunctionsKeepTheirLet) {
  constexpr absl::string_view kAfter = R"(
      def @main(%x: int32) {
        %0 = (
          let %f = fn (%n: int32) -> int32 {
            if (equal(%n, 0)) {
              0
            } else {
              %1 = subtract(%n, 1);
              %f(%1)
            }
          };
          %f
        );
        (%0(%x), %0(2))
      })";
  ExpectBecomes(R"(
      def @main(%x: int32) {
        let %one = 1;
        let %f = fn (%n: int32) -> int32 {
          if (equal(%n, 0)) { 0 } else { let %m = subtract(%n, %one); %f(%m) }
        };
        (%f(%x), %f(2))
      })",
                kAfter);
}

TEST(ToGraphNormalFormTest, Clauses) {
  ExpectBecomes(R"(
      type Nat { Zero, Succ(Nat) }
      def @main(%x: Nat) -> Nat {
        let %y = Succ(%x);
        match (%x) {
          Zero => { let %a = %y; %a },
          Succ(%z) => { let %b = Succ(%z); let %c = %b; @main(%c) },
        }
      })",
                R"(
      type Nat { Zero, Succ(Nat) }
      def @main(%x: Nat) -> Nat {
        match (%x) {
          Zero => { Succ(%x) },
          Succ(%z) => { @main(Succ(%z)) },
        }
      })");
}

TEST(ToGraphNormalFormTest, NoLets) {
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module,
                             testing::GetWorkloadModule("resnet"));
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule after, ToGraphNormalForm()(module));
  EXPECT_TRUE(after.SameAs(module));
}

TEST(ToGraphNormalFormTest, UndoesANormalForm) {
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module,
                             testing::GetWorkloadModule("resnet"));
  BATON_ASSERT_OK_AND_ASSIGN(IRModule after, ToANormalForm()(module));
  EXPECT_FALSE(StructuralEqual(after, module));
  BATON_ASSERT_OK_AND_ASSIGN(after, ToGraphNormalForm()(after));
  EXPECT_EQ(FirstDifference(after, module), std::nullopt);
}

TEST(ToGraphNormalFormTest, RandomPrograms) {
  for (int seed = 0; seed < 300; ++seed) {
    const IRModule module = RandomProgram(seed);
    const IRModule after = RunChecked(ToGraphNormalForm(), module);
    PostOrderVisit(after.Find<Function>("main"), [&](const ExprNode* node) {
      EXPECT_NE(node->kind(), ExprKind::kLet) << ToText(after);
    });
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule again,
                               ToGraphNormalForm()(after));
    EXPECT_TRUE(again.SameAs(after));
    // By way of the other form, the same.
    BATON_ASSERT_OK_AND_ASSIGN(IRModule other, ToANormalForm()(after));
    BATON_ASSERT_OK_AND_ASSIGN(other, ToGraphNormalForm()(other));
    EXPECT_EQ(FirstDifference(other, after), std::nullopt) << ToText(after);
  }
}

}  // namespace
}  // namespace baton::relay
