#include "baton/relay/transform/to_a_normal_form.h"

#include <algorithm>
#include <iostream>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "baton/ir/module.h"
#include "baton/ir/structural_equal.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/tensor.h"
#include "baton/relay/transform/pass_test_util.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/workloads/workload.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

void ExpectBecomes(absl::string_view before, absl::string_view after) {
  ExpectPassMakes(ToANormalForm(), before, after);
}

TEST(ToANormalFormTest, SharedExpressionsAreBoundOnce) {
  ExpectBecomes(R"(
      def @main(%x: Tensor[(3, 4), float32], %y: Tensor[(3, 4), float32]) {
        %0 = add(%x, %y);
        %1 = subtract(%x, %y);
        %2 = divide(%0, %1);
        %3 = multiply(%0, %2);
        add(%3, %1)
      })",
                R"(
      def @main(%x: Tensor[(3, 4), float32], %y: Tensor[(3, 4), float32]) {
        let %a = add(%x, %y);
        let %b = subtract(%x, %y);
        let %c = divide(%a, %b);
        let %d = multiply(%a, %c);
        let %e = add(%d, %b);
        %e
      })");
}

TEST(ToANormalFormTest, OperandsAreBoundInOrder) {
  ExpectBecomes(R"(
      def @main() { add(1, multiply(2, 3)) })",
                R"(
      def @main() {
        let %a = 1;
        let %b = 2;
        let %c = 3;
        let %d = multiply(%b, %c);
        let %e = add(%a, %d);
        %e
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

TEST(ToANormalFormTest, BranchesAreScopes) {
  ExpectBecomes(R"(
      def @main() { if (True) { 2 } else { 3 } })",
                R"(
      def @main() {
        let %c = True;
        let %d = if (%c) {
          let %a = 2;
          %a
        } else {
          let %b = 3;
          %b
        };
        %d
      })");
  ExpectBecomes(R"(
      def @main(%cond: bool, %x: Tensor[(1, 16), float32]) {
        add(%x, if (%cond) { %x } else { %x })
      })",
                R"(
      def @main(%cond: bool, %x: Tensor[(1, 16), float32]) {
        let %a = if (%cond) { %x } else { %x };
        let %b = add(%x, %a);
        %b
      })");
}

// The scope of what branches share is around them, and it is computed before
// the condition, which is bound last.
TEST(ToANormalFormTest, WhatBranchesShareIsBoundBeforeThem) {
  ExpectBecomes(R"(
      def @main(%n: int64) {
        if (equal(%n, 0i64)) {
          %1 = multiply(%n, 2i64);
          %1
        } else {
          add(%1, @main(subtract(%n, 1i64)))
        }
      })",
                R"(
      def @main(%n: int64) {
        let %a = 2i64;
        let %b = multiply(%n, %a);
        let %c = 0i64;
        let %d = equal(%n, %c);
        let %e = if (%d) {
          %b
        } else {
          let %f = 1i64;
          let %g = subtract(%n, %f);
          let %h = @main(%g);
          let %i = add(%b, %h);
          %i
        };
        %e
      })");
}

TEST(ToANormalFormTest, Functions) {
  ExpectBecomes(R"(
      def @main(%x: float32) {
        %1 = fn (%y: float32) { %0 = exp(%x); add(%0, %y) };
        %2 = fn (%y: float32) { multiply(%0, %y) };
        add(%1(%x), %2(%x))
      })",
                R"(
      def @main(%x: float32) {
        let %a = exp(%x);
        let %f = fn (%y: float32) { let %b = add(%a, %y); %b };
        let %c = %f(%x);
        let %g = fn (%y: float32) { let %d = multiply(%a, %y); %d };
        let %e = %g(%x);
        let %h = add(%c, %e);
        %h
      })");
}

TEST(ToANormalFormTest, PrimitiveFunctionsStay) {
  ExpectBecomes(R"(
      def @main(%x: float32) {
        %0 = fn (%p: float32, Primitive=1) { exp(exp(%p)) };
        %0(exp(%x))
      })",
                R"(
      def @main(%x: float32) {
        let %a = exp(%x);
        let %f = fn (%p: float32, Primitive=1) { exp(exp(%p)) };
        let %b = %f(%a);
        %b
      })");
  ExpectPassLeaves(ToANormalForm(), R"(
      def @main(%x: float32, Primitive=1) { exp(exp(%x)) }
      def @other(%x: float32, Compiler="ext") { exp(exp(%x)) })");
}

TEST(ToANormalFormTest, AliasesStandForWhatTheyAlias) {
  ExpectBecomes(R"(
      def @main() {
        let %x = 4f;
        let %y = %x;
        add(%x, %y)
      })",
                R"(
      def @main() {
        let %x = 4f;
        let %y = %x;
        let %a = add(%y, %y);
        let %b = %a;
        let %c = %b;
        %c
      })");
}

TEST(ToANormalFormTest, APlainAliasDoesNotStandForAPolymorphicFunction) {
  ExpectBecomes(R"(
      def @id[A](%x: A) -> A { %x }
      def @main(%x: float32) {
        let %f: fn (float32) -> float32 = @id;
        (@id(1), %f(%x))
      })",
                R"(
      def @id[A](%x: A) -> A { %x }
      def @main(%x: float32) {
        let %f: fn (float32) -> float32 = @id;
        let %a = 1;
        let %b = @id(%a);
        let %c = %f(%x);
        let %d = (%b, %c);
        let %e = %d;
        %e
      })");
}

TEST(ToANormalFormTest, LetsAreFlattened) {
  ExpectBecomes(R"(
      def @main(%p: float32) {
        %0 = (
          let %x = (let %y = exp(%p); add(%y, 1f));
          multiply(%x, %x)
        );
        add(%0, %0)
      })",
                R"(
      def @main(%p: float32) {
        let %y = exp(%p);
        let %a = 1f;
        let %b = add(%y, %a);
        let %x = %b;
        let %c = multiply(%x, %x);
        let %d = %c;
        let %e = add(%d, %d);
        %e
      })");
}

TEST(ToANormalFormTest, References) {
  ExpectBecomes(R"(
      def @main() {
        let %i = ref(1);
        let %iv = ref_read(%i);
        let %u = ref_write(%i, 2);
        let %uv = ref_read(%i);
        add(%iv, %uv)
      })",
                R"(
      def @main() {
        let %a = 1;
        let %i = ref(%a);
        let %iv = ref_read(%i);
        let %b = 2;
        let %u = ref_write(%i, %b);
        let %uv = ref_read(%i);
        let %c = add(%iv, %uv);
        let %d = %c;
        let %e = %d;
        let %f = %e;
        let %g = %f;
        %g
      })");
}

TEST(ToANormalFormTest, Tuples) {
  ExpectBecomes(R"(
      def @main(%x: Tensor[(4), float32]) {
        %0 = (%x, (exp(%x), ()));
        %0.1.0
      })",
                R"(
      def @main(%x: Tensor[(4), float32]) {
        let %a = exp(%x);
        let %b = ();
        let %c = (%a, %b);
        let %d = (%x, %c);
        let %e = %d.1;
        let %f = %e.0;
        %f
      })");
}

TEST(ToANormalFormTest, LocalRecursion) {
  ExpectBecomes(R"(
      def @main(%x: int32) {
        let %f = fn (%n: int32) -> int32 {
          if (equal(%n, 0)) { 0 } else { %f(subtract(%n, 1)) }
        };
        %f(%x)
      })",
                R"(
      def @main(%x: int32) {
        let %f = fn (%n: int32) -> int32 {
          let %a = 0;
          let %b = equal(%n, %a);
          let %c = if (%b) {
            let %d = 0;
            %d
          } else {
            let %e = 1;
            let %g = subtract(%n, %e);
            let %h = %f(%g);
            %h
          };
          %c
        };
        let %i = %f(%x);
        let %j = %i;
        %j
      })");
}

TEST(ToANormalFormTest, ClausesAreScopes) {
  ExpectBecomes(R"(
      type Nat { Zero, Succ(Nat) }
      def @add(%x: Nat, %y: Nat) -> Nat {
        match (%x) {
          Zero => { %y },
          Succ(%z) => { Succ(@add(%z, %y)) },
        }
      }
      def @two() -> Nat { @add(Succ(Zero), Succ(Zero)) })",
                R"(
      type Nat { Zero, Succ(Nat) }
      def @add(%x: Nat, %y: Nat) -> Nat {
        let %m = match (%x) {
          Zero => { %y },
          Succ(%z) => {
            let %a = @add(%z, %y);
            let %b = Succ(%a);
            %b
          },
        };
        %m
      }
      def @two() -> Nat {
        let %a = Zero;
        let %b = Succ(%a);
        let %c = Zero;
        let %d = Succ(%c);
        let %e = @add(%b, %d);
        %e
      })");
  // An alias of a variable of the pattern stays in the clause.
  ExpectBecomes(R"(
      type Pair { Both(int32, int32) }
      def @main(%p: Pair) -> int32 {
        match (%p) {
          Both(%a, _) => { let %b = %a; let %c = add(%b, 1); add(%a, %c) },
        }
      })",
                R"(
      type Pair { Both(int32, int32) }
      def @main(%p: Pair) -> int32 {
        let %m = match (%p) {
          Both(%a, _) => {
            let %b = %a;
            let %one = 1;
            let %c = add(%b, %one);
            let %d = add(%b, %c);
            let %e = %d;
            let %f = %e;
            %f
          },
        };
        %m
      })");
}

// What is bound inside of an on_device is on that device.
TEST(ToANormalFormTest, OnDevice) {
  ExpectBecomes(R"(
      def @main(%p: float32) {
        %1 = (
          let %x = on_device(add(exp(%p), 1f), constrain_result=True);
          %x
        );
        multiply(%1, %1)
      })",
                R"(
      def @main(%p: float32) {
        let %a = on_device(exp(%p), constrain_result=True);
        let %b = on_device(1f, constrain_result=True);
        let %x = on_device(add(%a, %b), constrain_result=True);
        let %c = %x;
        let %d = multiply(%c, %c);
        %d
      })");
  ExpectBecomes(R"(
      def @main(%p: float32) {
        exp(on_device(on_device(exp(%p)), constrain_result=True))
      })",
                R"(
      def @main(%p: float32) {
        let %a = on_device(exp(%p), constrain_result=True);
        let %b = on_device(%a, constrain_result=True);
        let %c = exp(on_device(%b, constrain_result=True));
        %c
      })");
}

// What on_device makes has a variable of its own only where scopes share it.
TEST(ToANormalFormTest, OnDeviceSharedByScopes) {
  ExpectBecomes(R"(
      def @main(%p: float32) {
        %0 = on_device(exp(%p), constrain_result=True);
        (fn () { %0 }, fn () { negative(%0) })
      })",
                R"(
      def @main(%p: float32) {
        let %a = on_device(exp(%p), constrain_result=True);
        let %b = on_device(%a, constrain_result=True);
        let %f = fn () { %b };
        let %g = fn () {
          let %c = negative(%b);
          %c
        };
        let %t = (%f, %g);
        %t
      })");
}

TEST(ToANormalFormTest, NothingToBind) {
  ExpectPassLeaves(ToANormalForm(), R"(
      def @main(%x: float32) -> float32 { %x }
      def @f() { @main })");
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
  for (int seed = 0; seed < 300; ++seed) {
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

TEST(ToANormalFormTest, ResNetTakesLittleTime) {
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module,
                             testing::GetWorkloadModule("resnet"));
  absl::Duration best = absl::InfiniteDuration();
  for (int i = 0; i < 200; ++i) {
    const absl::Time start = absl::Now();
    EXPECT_THAT(ToANormalForm()(module), testing::IsOk());
    best = std::min(best, absl::Now() - start);
  }
  std::cout << "ResNet-18: " << best << "\n";
}

}  // namespace
}  // namespace baton::relay
