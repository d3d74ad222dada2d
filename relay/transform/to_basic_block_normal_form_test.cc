#include "baton/relay/transform/to_basic_block_normal_form.h"

#include <algorithm>
#include <iostream>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/transform/pass_test_util.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/workloads/workload.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::baton::testing::IsOk;
using ::baton::testing::StatusIs;

void ExpectBecomes(absl::string_view before, absl::string_view after) {
  ExpectPassMakes(ToBasicBlockNormalForm(), before, after);
  EXPECT_THAT(
      CheckBasicBlockNormalForm(ParseTyped(after).Find<Function>("main")),
      IsOk());
}

void ExpectLeaves(absl::string_view text) {
  ExpectPassLeaves(ToBasicBlockNormalForm(), text);
}

TEST(ToBasicBlockNormalFormTest, AGraphInOneScopeStays) {
  ExpectLeaves(R"(
      def @main() {
        %0 = add(1, 1);
        %1 = add(%0, %0);
        add(%1, %1)
      })");
  ExpectLeaves("def @main(%x: float32) { add(%x, %x) }");
  ExpectLeaves(R"(
      def @main(%data: Tensor[(1, 3, 224, 224), float32],
                %weight: Tensor[(3, 3, 5, 5), float32]) {
        nn.conv2d(%data, %weight, padding=[1, 1, 1, 1], channels=3,
                  kernel_size=[5, 5])
      })");
}

TEST(ToBasicBlockNormalFormTest, WhatBranchesShare) {
  ExpectBecomes(R"(
      def @main(%x: float32) {
        if (equal(%x, 2f)) {
          %1 = add(%x, 1f);
          multiply(%1, 2f)
        } else {
          multiply(%1, 1f)
        }
      })",
                R"(
      def @main(%x: float32) {
        let %v = add(%x, 1f);
        if (equal(%x, 2f)) { multiply(%v, 2f) } else { multiply(%v, 1f) }
      })");
}

TEST(ToBasicBlockNormalFormTest, NestedBranches) {
  ExpectBecomes(R"(
      def @main(%x: bool, %y: float32) {
        if (%x) {
          if (True) {
            %0 = add(%y, %y);
            %0
          } else {
            add(3f, %0)
          }
        } else {
          if (False) { 2f } else { 1f }
        }
      })",
                R"(
      def @main(%x: bool, %y: float32) {
        if (%x) {
          let %v = add(%y, %y);
          if (True) { %v } else { add(3f, %v) }
        } else {
          if (False) { 2f } else { 1f }
        }
      })");
  ExpectBecomes(R"(
      def @main(%x: bool, %y: float32, %z: float32) {
        if (%x) {
          if (True) {
            %0 = add(%z, %z);
            %1 = add(%y, %y);
            add(%0, %1)
          } else {
            add(3f, %1)
          }
        } else {
          if (False) { %0 } else { 1f }
        }
      })",
                R"(
      def @main(%x: bool, %y: float32, %z: float32) {
        let %a = add(%z, %z);
        if (%x) {
          let %b = add(%y, %y);
          if (True) { add(%a, %b) } else { add(3f, %b) }
        } else {
          if (False) { %a } else { 1f }
        }
      })");
}

// What the scope around uses first is there for all scopes inside.
TEST(ToBasicBlockNormalFormTest, TheFirstUseDecides) {
  ExpectLeaves(R"(
      def @main(%x: float32) {
        %0 = exp(%x);
        if (less(%0, 1f)) { %0 } else { add(%0, 1f) }
      })");
  // A call uses its arguments after all of them.
  ExpectBecomes(R"(
      def @main(%x: float32, %c: bool) {
        %0 = exp(%x);
        add(%0, if (%c) { exp(%0) } else { 1f })
      })",
                R"(
      def @main(%x: float32, %c: bool) {
        let %v = exp(%x);
        add(%v, if (%c) { exp(%v) } else { 1f })
      })");
}

TEST(ToBasicBlockNormalFormTest, FunctionsAreScopes) {
  ExpectBecomes(R"(
      def @main(%x: Tensor[(1), float32]) {
        %1 = fn (%y: Tensor[(1), float32]) {
          %0 = add(%x, %x);
          add(%0, %y)
        };
        %2 = fn (%z: Tensor[(1), float32]) { add(%0, %z) };
        (%1, %2)
      })",
                R"(
      def @main(%x: Tensor[(1), float32]) {
        let %v = add(%x, %x);
        %1 = fn (%y: Tensor[(1), float32]) { add(%v, %y) };
        %2 = fn (%z: Tensor[(1), float32]) { add(%v, %z) };
        (%1, %2)
      })");
  ExpectBecomes(R"(
      def @main(%f: fn () -> bool, %s: Tensor[(1), float32]) {
        %0 = %f();
        if (%0) {
          fn (%x: Tensor[(1), float32]) {
            %1 = add(%s, %s);
            add(%x, %1)
          }
        } else {
          fn (%z: Tensor[(1), float32]) { add(%z, %1) }
        }
      })",
                R"(
      def @main(%f: fn () -> bool, %s: Tensor[(1), float32]) {
        let %v = add(%s, %s);
        %0 = %f();
        if (%0) {
          fn (%x: Tensor[(1), float32]) { add(%x, %v) }
        } else {
          fn (%z: Tensor[(1), float32]) { add(%z, %v) }
        }
      })");
}

TEST(ToBasicBlockNormalFormTest, ClausesAreScopes) {
  ExpectLeaves(R"(
      type Nat { Zero, Succ(Nat) }
      def @main(%x: Nat, %y: Nat) -> Nat {
        match (%x) {
          Zero => { %y },
          Succ(%z) => { Succ(@main(%z, %y)) },
        }
      })");
  ExpectBecomes(R"(
      type Nat { Zero, Succ(Nat) }
      def @main(%x: Nat, %y: int32) -> int32 {
        match (%x) {
          Zero => { %0 = add(%y, 1); %0 },
          Succ(Zero) => { multiply(%0, 2) },
          Succ(%z) => { %1 = @main(%z, %0); multiply(%1, %1) },
        }
      })",
                R"(
      type Nat { Zero, Succ(Nat) }
      def @main(%x: Nat, %y: int32) -> int32 {
        let %v = add(%y, 1);
        match (%x) {
          Zero => { %v },
          Succ(Zero) => { multiply(%v, 2) },
          Succ(%z) => { %1 = @main(%z, %v); multiply(%1, %1) },
        }
      })");
  // A variable of a pattern that two scopes use is bound already.
  ExpectLeaves(R"(
      type Pair { Both(int32, bool) }
      def @main(%p: Pair) -> int32 {
        match (%p) {
          Both(%a, %b) => { if (%b) { %a } else { add(%a, 1) } },
        }
      })");
}

TEST(ToBasicBlockNormalFormTest, Recursion) {
  ExpectBecomes(R"(
      def @main(%n: int64) -> int64 {
        if (equal(%n, 0i64)) {
          %1 = multiply(%n, 2i64);
          %1
        } else {
          add(%1, @main(subtract(%n, 1i64)))
        }
      })",
                R"(
      def @main(%n: int64) -> int64 {
        let %v = multiply(%n, 2i64);
        if (equal(%n, 0i64)) {
          %v
        } else {
          add(%v, @main(subtract(%n, 1i64)))
        }
      })");
}

TEST(ToBasicBlockNormalFormTest, Lets) {
  ExpectLeaves("def @main() { let %x = 4f; %x }");
  ExpectLeaves("def @main() { let %x = 4f; add(%x, %x) }");
  ExpectLeaves(R"(
      def @main() {
        let %y = 3f;
        let %x = 4f;
        let %z = add(%x, %y);
        add(%x, %z)
      })");
  ExpectLeaves(R"(
      def @main() {
        let %i = ref(1);
        let %iv = ref_read(%i);
        let %u = ref_write(%i, 2);
        let %uv = ref_read(%i);
        add(%iv, %uv)
      })");
  // An alias that is used, and the aliased variable is not.
  ExpectLeaves("def @main() { let %x = 4f; let %y = %x; exp(%y) }");
  ExpectBecomes("def @main() { let %x = 4f; let %y = %x; %x }",
                "def @main() { let %x = 4f; let %y = %x; %y }");
  ExpectBecomes(R"(
      def @main(%p: float32) {
        let %x = (
          let %y = exp(%p);
          let %z = exp(%y);
          add(%y, %z)
        );
        add(%x, %x)
      })",
                R"(
      def @main(%p: float32) {
        let %y = exp(%p);
        let %z = exp(%y);
        let %x = add(%y, %z);
        add(%x, %x)
      })");
}

TEST(ToBasicBlockNormalFormTest, GlobalVariablesAreNotBound) {
  ExpectLeaves(R"(
      def @main(%c: bool) -> int32 {
        if (%c) { @main(True) } else { @main(False) }
      })");
}

// Once %a is bound before the branch, the function in it is what uses the call
// of sqrt first.
TEST(ToBasicBlockNormalFormTest, BindingsMoveFirstUses) {
  ExpectBecomes(R"(
      def @main(%x: float32) {
        %0 = sqrt(%x);
        if (less(%0, 1f)) {
          %1 = fn (%y: float32) { add(%y, %0) };
          %2 = %1(%x);
          %2
        } else {
          exp(%2)
        }
      })",
                R"(
      def @main(%x: float32) {
        let %a = sqrt(%x);
        let %b = fn (%y: float32) { add(%y, %a) }(%x);
        if (less(%a, 1f)) { %b } else { exp(%b) }
      })");
}

TEST(ToBasicBlockNormalFormTest, OnDevice) {
  ExpectLeaves(R"(
      def @main(%p: float32) {
        let %x = on_device(add(exp(%p), 1f), constrain_result=True);
        add(%x, on_device(exp(%p), constrain_result=True))
      })");
  ExpectBecomes(R"(
      def @main(%p: float32, %c: bool) {
        if (%c) {
          %0 = exp(%p);
          on_device(exp(%0), constrain_result=True)
        } else {
          exp(%0)
        }
      })",
                R"(
      def @main(%p: float32, %c: bool) {
        let %v = exp(%p);
        if (%c) {
          on_device(exp(%v), constrain_result=True)
        } else {
          exp(%v)
        }
      })");
  ExpectBecomes(R"(
      def @main(%p: float32, %c: bool) {
        if (%c) {
          %0 = on_device(exp(%p), constrain_result=True);
          %0
        } else {
          exp(%0)
        }
      })",
                R"(
      def @main(%p: float32, %c: bool) {
        let %v = on_device(exp(%p), constrain_result=True);
        if (%c) { %v } else { exp(%v) }
      })");
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
  for (int seed = 0; seed < 300; ++seed) {
    const IRModule module = RandomProgram(seed, {.effects = seed % 2 == 1});
    lifted +=
        CheckBasicBlockNormalForm(module.Find<Function>("main")).ok() ? 0 : 1;
    const IRModule after = RunChecked(ToBasicBlockNormalForm(), module);
    EXPECT_THAT(CheckBasicBlockNormalForm(after.Find<Function>("main")), IsOk())
        << ToText(module) << "became\n"
        << ToText(after);
  }
  EXPECT_GT(lifted, 100);
}

TEST(ToBasicBlockNormalFormTest, ResNetStays) {
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module,
                             testing::GetWorkloadModule("resnet"));
  absl::Duration best = absl::InfiniteDuration();
  for (int i = 0; i < 200; ++i) {
    const absl::Time start = absl::Now();
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule after,
                               ToBasicBlockNormalForm()(module));
    best = std::min(best, absl::Now() - start);
    EXPECT_TRUE(after.SameAs(module));
  }
  std::cout << "ResNet-18: " << best << "\n";
}

}  // namespace
}  // namespace baton::relay
