// ToANormalForm, ToBasicBlockNormalForm, ToGraphNormalForm, ToCPS and
// PartialEval on random programs and on deep ones, and what they tell callers
// in C++. Programs before and after them are in testing/passes/.

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "baton/ir/module.h"
#include "baton/ir/structural_equal.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/tensor.h"
#include "baton/relay/transform/let_insertion.h"
#include "baton/relay/transform/manifest_lifetimes.h"
#include "baton/relay/transform/partial_eval.h"
#include "baton/relay/transform/pass_test_util.h"
#include "baton/relay/transform/to_a_normal_form.h"
#include "baton/relay/transform/to_basic_block_normal_form.h"
#include "baton/relay/transform/to_cps.h"
#include "baton/relay/transform/to_graph_normal_form.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/test_settings.h"
#include "baton/transform/pass.h"
#include "baton/transform/sequential.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::baton::testing::IsOk;
using ::baton::testing::StatusIs;

const int kDepth = testing::LongOrShort(100'000, 10'000);
// Random programs are made of as many seeds.
const int kSeeds = testing::LongOrShort(300, 100);

// Returns whether the body of `function` is `num_lets` lets, none of which
// binds a let, and a variable or call.
bool IsFlat(const Function& function, int num_lets) {
  const Expr* expr = &function->body();
  int count = 0;
  while (const auto* let = expr->As<LetNode>()) {
    if (let->value().Is<LetNode>()) return false;
    ++count;
    expr = &let->body();
  }
  EXPECT_EQ(count, num_lets);
  return !expr->Is<LetNode>();
}

// let %a = (let %b = (let %c = ...; exp(%c)); exp(%b)); exp(%a)
TEST(LetInsertionTest, LetsThatBindLetsTakeLinearTime) {
  const Var x("x", {2});
  Expr e = x;
  for (int i = 0; i < kDepth; ++i) {
    const Var var("v");
    e = Let(var, std::move(e), Exp(var));
  }
  const Function function({x}, std::move(e));
  BATON_ASSERT_OK_AND_ASSIGN(const Function blocks,
                             InsertLets(function, LetInsertion::kLifted));
  EXPECT_TRUE(IsFlat(blocks, kDepth));
  BATON_ASSERT_OK_AND_ASSIGN(const Function all,
                             InsertLets(function, LetInsertion::kEverything));
  EXPECT_TRUE(IsFlat(all, 2 * kDepth + 1));
}

// let %a = (let %b = exp(%x); let %c = exp(%b); ...); exp(%a), and a chain of
// those.
TEST(LetInsertionTest, LetsThatBindChainsOfLetsTakeLinearTime) {
  const Var x("x", {2});
  Expr e = x;
  for (int i = 0; i < kDepth; ++i) {
    const Var a("a");
    const Var b("b");
    e = Let(a, Let(b, std::move(e), Exp(b)), Let(Var("c"), Exp(a), Exp(a)));
  }
  const Function function({x}, std::move(e));
  BATON_ASSERT_OK_AND_ASSIGN(const Function blocks,
                             InsertLets(function, LetInsertion::kLifted));
  EXPECT_TRUE(IsFlat(blocks, 3 * kDepth));
}

// Programs that are not in A-normal form, which a pipeline refuses.
TEST(ManifestLifetimesTest, LeavesFunctionsWithoutLets) {
  ExpectPassLeaves(ManifestLifetimes(), R"(
    def @main(%x: int32) { add(%x, %x) })");
}

TEST(ManifestLifetimesTest, AfterTheLastUse) {
  ExpectPassMakes(ManifestLifetimes(), R"(
    def @main(%x: int32, %y: int32) {
      let %a = add(%x, %y);
      let %b = add(%y, %a);
      (%b, %a)
    })",
                  R"(
    def @main(%x: int32, %y: int32) {
      let %a = add(%x, %y);
      let %_ = memory.kill(%x);
      let %b = add(%y, %a);
      let %_1 = memory.kill(%y);
      (%b, %a)
    })");
}

// A function may use its variables whenever it is called.
TEST(ManifestLifetimesTest, CapturedVariablesAreNotKilled) {
  ExpectPassMakes(ManifestLifetimes(), R"(
    def @main(%x: int32, %y: int32) {
      let %f = fn (%z: int32) { add(%x, %z) };
      let %a = add(%x, %y);
      let %b = %f(%a);
      %b
    })",
                  R"(
    def @main(%x: int32, %y: int32) {
      let %f = fn (%z: int32) { add(%x, %z) };
      let %a = add(%x, %y);
      let %_ = memory.kill(%y);
      let %b = %f(%a);
      let %_1 = memory.kill(%f);
      let %_2 = memory.kill(%a);
      %b
    })");
}

TEST(ToANormalFormTest, NewNodesHaveNoTypes) {
  const IRModule module =
      ParseTyped("def @main(%x: float32) { add(add(%x, 1f), %x) }");
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule after, ToANormalForm()(module));
  EXPECT_EQ(AsText(after, {.version = false}),
            "def @main(%x: float32 /* ty=float32 */) -> float32 {\n"
            "  let %x1 = 1f /* ty=float32 */;\n"
            "  let %x2 = add(%x, %x1);\n"
            "  let %x3 = add(%x2, %x);\n"
            "  %x3\n"
            "}\n");
}

TEST(ToANormalFormTest, AFreeVariableIsAnError) {
  IRModule module;
  const Var free("free", {2});
  module.Set("f", Function({}, Exp(free)));
  EXPECT_THAT(
      ToANormalForm()(module),
      testing::StatusIs(absl::StatusCode::kInvalidArgument,
                        "in function @f: the variable %free is not bound"));
}

TEST(ToANormalFormTest, RandomPrograms) {
  for (int seed = 0; seed < kSeeds; ++seed) {
    const IRModule module = RandomProgram(seed, {.effects = seed % 2 == 1});
    const IRModule after = RunChecked(ToANormalForm(), module);
    // Operands are atoms, and so is where a scope ends.
    PostOrderVisit(after.Find<Function>("main"), [&](const ExprNode* node) {
      ForEachChild(node, [&](const Expr& child) {
        const bool atom = child->kind() == ExprKind::kVar ||
                          child->kind() == ExprKind::kGlobalVar ||
                          child->kind() == ExprKind::kOp;
        EXPECT_TRUE(atom || node->kind() == ExprKind::kLet ||
                    child->kind() == ExprKind::kLet)
            << ToText(after);
        EXPECT_FALSE(node->kind() == ExprKind::kLet &&
                     static_cast<const LetNode*>(node)->value()->kind() ==
                         ExprKind::kLet)
            << ToText(after);
      });
    });
  }
}

TEST(ToBasicBlockNormalFormTest, Check) {
  BATON_ASSERT_OK_AND_ASSIGN(const Expr expr, ParseExpr(R"(
      fn (%x: float32, %c: bool) {
        if (%c) { %0 = (%x, %x); %1 = exp(%x); (%0, %1) } else { (%0, %1) }
      })"));
  EXPECT_THAT(CheckBasicBlockNormalForm(expr),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "a Tuple is shared by scopes"));
  EXPECT_THAT(CheckBasicBlockNormalForm(expr),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "input:3:39: error: a call of exp is shared by scopes"));
}

TEST(ToBasicBlockNormalFormTest, RandomPrograms) {
  int lifted = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const IRModule module = RandomProgram(seed, {.effects = seed % 2 == 1});
    lifted +=
        CheckBasicBlockNormalForm(module.Find<Function>("main")).ok() ? 0 : 1;
    const IRModule after = RunChecked(ToBasicBlockNormalForm(), module);
    EXPECT_THAT(CheckBasicBlockNormalForm(after.Find<Function>("main")), IsOk())
        << ToText(module) << "became\n"
        << ToText(after);
  }
  EXPECT_GT(lifted, kSeeds / 3);
}

TEST(ToGraphNormalFormTest, RandomPrograms) {
  for (int seed = 0; seed < kSeeds; ++seed) {
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

Pass ThereAndBack() {
  return Sequential({ToCPS({.function = "main"}), UnCPS({.function = "main"})});
}

TEST(UnCPSTest, RecursionsComputeTheSame) {
  RunChecked(ThereAndBack(), ParseTyped(R"(
      type nat { Z, S(nat), }
      def @iterate[A](%f: fn (A) -> A, %n: nat) -> fn (A) -> A {
        match (%n) {
          Z => { fn (%x: A) -> A { %x } },
          S(%m) => {
            let %rest = @iterate(%f, %m);
            fn (%x: A) -> A { %f(%rest(%x)) }
          },
        }
      }
      def @main(%i: Tensor[(10, 10), float32]) {
        let %double = fn (%x: Tensor[(10, 10), float32]) { add(%x, %x) };
        let %f = @iterate(%double, S(S(S(Z))));
        %f(%i)
      })"));
}

TEST(UnCPSTest, RandomProgramsComputeTheSame) {
  const uint32_t count = testing::LongOrShort(60, 15);
  for (uint32_t seed = 0; seed < count; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const IRModule module = RunChecked(
        ToANormalForm(),
        relay::RandomProgram(seed, RandomProgramOptions::Mixed(seed)));
    RunChecked(Sequential({ThereAndBack(), PartialEval()}), module);
    if (HasFailure()) {
      ADD_FAILURE() << ToText(module);
      break;
    }
  }
}

TEST(PartialEvalTest, RandomProgramsComputeTheSame) {
  const uint32_t count = testing::LongOrShort(300, 40);
  for (uint32_t seed = 0; seed < count; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const IRModule module = RunChecked(
        ToANormalForm(),
        relay::RandomProgram(seed, RandomProgramOptions::Mixed(seed)));
    RunChecked(PartialEval(), module);
    if (HasFailure()) {
      ADD_FAILURE() << ToText(module);
      break;
    }
  }
}

}  // namespace
}  // namespace baton::relay
