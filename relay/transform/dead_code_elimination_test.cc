#include "baton/relay/transform/dead_code_elimination.h"

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/transform/pass_test_util.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/workloads/workload.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

constexpr DeadCodeEliminationOptions kInlineOnce = {.inline_once = true};

void ExpectBecomes(absl::string_view before, absl::string_view after,
                   DeadCodeEliminationOptions options = {}) {
  ExpectPassMakes(DeadCodeElimination(options), before, after);
  ExpectPassLeaves(DeadCodeElimination(options), after);
}

void ExpectLeaves(absl::string_view text,
                  DeadCodeEliminationOptions options = {}) {
  ExpectPassLeaves(DeadCodeElimination(options), text);
}

TEST(DeadCodeEliminationTest, DeadLets) {
  ExpectBecomes("def @main(%z: int32) { let %x = 1; %z }",
                "def @main(%z: int32) { %z }");
  ExpectBecomes("def @main(%z: int32) { let %x = 1; let %y = 2; add(%x, %x) }",
                "def @main(%z: int32) { let %x = 1; add(%x, %x) }");
  ExpectBecomes(
      "def @main(%d: int32, %b: int32) { let %a = %b; let %c = %d; %c }",
      "def @main(%d: int32, %b: int32) { let %c = %d; %c }");
  ExpectBecomes("def @main() { add((let %a = 1; 3), 2) }",
                "def @main() { add(3, 2) }");
  ExpectBecomes("def @main() { let %a = 100; (1, 2, 3, 4).0 }",
                "def @main() { (1, 2, 3, 4).0 }");
}

TEST(DeadCodeEliminationTest, WhatOnlyDeadLetsUseIsDead) {
  ExpectBecomes(R"(
      def @main(%x: float32) {
        let %a = exp(%x);
        let %b = exp(%a);
        let %c = fn (%y: float32) { add(%b, %y) };
        let %d = (%c(%a), %b);
        %x
      })",
                "def @main(%x: float32) { %x }");
}

constexpr absl::string_view kLiveRecursion = R"(
    def @main() {
      let %f = fn (%n: int32, %data: float32) -> float32 {
        if (equal(%n, 0)) { %data } else { %f(subtract(%n, 1), log(%data)) }
      };
      %f(2, 10000f)
    })";

TEST(DeadCodeEliminationTest, Recursion) {
  ExpectLeaves(kLiveRecursion);
  ExpectLeaves(kLiveRecursion, kInlineOnce);
  ExpectBecomes(R"(
      def @main() {
        let %f = fn (%n: int32, %data: float32) -> float32 {
          if (equal(%n, 0)) { %data } else { %f(subtract(%n, 1), log(%data)) }
        };
        ()
      })",
                "def @main() { () }");
}

TEST(DeadCodeEliminationTest, InlinesWhatIsUsedOnce) {
  ExpectLeaves("def @main(%x: int32) { let %y = add(%x, 1); add(%y, 2) }");
  ExpectBecomes(R"(
      def @main(%x: int32) {
        let %a = add(%x, 1);
        let %b = multiply(%a, 2);
        let %c = subtract(%b, %b);
        (%c, %x)
      })",
                R"(
      def @main(%x: int32) {
        let %b = multiply(add(%x, 1), 2);
        (subtract(%b, %b), %x)
      })",
                kInlineOnce);
}

TEST(DeadCodeEliminationTest, SharedUsesAreSeveral) {
  ExpectLeaves(R"(
      def @main(%x: int32) {
        let %a = add(%x, 1);
        %0 = multiply(%a, 2);
        add(%0, %0)
      })",
               kInlineOnce);
}

// A function may be called many times.
TEST(DeadCodeEliminationTest, DoesNotInlineIntoFunctions) {
  ExpectBecomes(R"(
      def @main() {
        let %x = add(1, 1);
        let %f = fn (%y: int32) -> int32 {
          let %z = add(%y, %y);
          add(%x, %z)
        };
        (%f(2), %f(3))
      })",
                R"(
      def @main() {
        let %x = add(1, 1);
        let %f = fn (%y: int32) -> int32 { add(%x, add(%y, %y)) };
        (%f(2), %f(3))
      })",
                kInlineOnce);
}

TEST(DeadCodeEliminationTest, StatefulOperatorsStay) {
  constexpr absl::string_view kText = R"(
      def @main(%t: Tensor[(2), float32]) {
        let %kill = memory.kill(%t);
        0
      })";
  ExpectLeaves(kText);
  ExpectLeaves(kText, kInlineOnce);
  ExpectBecomes(kText, "def @main(%t: Tensor[(2), float32]) { 0 }",
                {.ignore_impurity = true});
  ExpectBecomes(R"(
      def @main(%t: Tensor[(2), float32]) {
        let %u = exp(%t);
        let %kill = memory.kill(%u);
        0
      })",
                R"(
      def @main(%t: Tensor[(2), float32]) {
        let %kill = memory.kill(exp(%t));
        0
      })",
                kInlineOnce);
}

TEST(DeadCodeEliminationTest, CallsOfFunctionsWithEffectsStay) {
  ExpectLeaves(R"(
      def @kill(%t: Tensor[(2), float32]) -> int32 {
        let %kill = memory.kill(%t);
        0
      }
      def @main(%t: Tensor[(2), float32]) -> int32 {
        let %y = @kill(%t);
        let %f = fn (%u: Tensor[(2), float32]) { @kill(%u) };
        let %z = %f(%t);
        0
      })");
  ExpectBecomes(R"(
      def @kill(%t: Tensor[(2), float32]) -> int32 {
        let %kill = memory.kill(%t);
        0
      }
      def @add(%t: Tensor[(2), float32]) -> Tensor[(2), float32] {
        add(%t, %t)
      }
      def @main(%t: Tensor[(2), float32]) -> int32 {
        let %y = @add(%t);
        let %f = fn (%u: Tensor[(2), float32]) { @kill(%u) };
        let %g = @kill;
        0
      })",
                R"(
      def @kill(%t: Tensor[(2), float32]) -> int32 {
        let %kill = memory.kill(%t);
        0
      }
      def @add(%t: Tensor[(2), float32]) -> Tensor[(2), float32] {
        add(%t, %t)
      }
      def @main(%t: Tensor[(2), float32]) -> int32 { 0 })");
}

// In mutual recursion, an effect of one is an effect of all.
TEST(DeadCodeEliminationTest, EffectsInRecursion) {
  ExpectLeaves(R"(
      def @even(%n: int32, %r: ref(int32)) -> int32 {
        let %a = @odd(%n, %r);
        1
      }
      def @odd(%n: int32, %r: ref(int32)) -> int32 {
        let %b = @even(%n, %r);
        let %c = ref_write(%r, 1);
        2
      })");
  ExpectLeaves(R"(
      def @main(%r: ref(int32)) -> int32 {
        let %f = fn (%n: int32) -> int32 {
          let %a = %f(%n);
          let %b = ref_write(%r, %n);
          %n
        };
        %f(1)
      })");
}

TEST(DeadCodeEliminationTest, CallsOfUnknownFunctionsStay) {
  ExpectLeaves(R"(
      def @main(%f: fn (int32) -> int32,
                %t: (fn (int32) -> int32, int32)) -> int32 {
        let %a = %f(1);
        let %g = %t.0;
        let %b = %g(1);
        0
      })");
  ExpectLeaves(R"(
      def @outside(%x: int32, Extern=1) -> int32 { %x }
      def @main() -> int32 {
        let %a = @outside(1);
        0
      })");
  // What a function returns is a function with effects.
  ExpectLeaves(R"(
      def @make(%r: ref(int32)) -> fn () -> () {
        fn () { ref_write(%r, 1) }
      }
      def @main(%r: ref(int32)) -> int32 {
        let %w = @make(%r);
        let %a = %w();
        0
      })");
}

// An annotation returns its argument, and so may a function that knows nothing
// of it.
TEST(DeadCodeEliminationTest, CallsOfFunctionsThatWereArgumentsStay) {
  ExpectLeaves(R"(
      def @main(%r: ref(int32), %c: ref(fn () -> ())) -> int32 {
        let %f = on_device(fn () { ref_write(%r, 1) }, constrain_result=True);
        let %a = %f();
        let %g = annotation.compiler_end(ref_read(%c), compiler="default");
        let %b = %g();
        0
      })");
  ExpectLeaves(R"(
      def @same[A](%x: A) -> A { %x }
      def @main(%r: ref(int32)) -> int32 {
        let %w = @same(fn () { ref_write(%r, 1) });
        let %a = %w();
        0
      })");
}

TEST(DeadCodeEliminationTest, References) {
  constexpr absl::string_view kText = R"(
      def @f(%r: ref(int32)) -> int32 {
        let %v = ref_read(%r);
        let %u = ref_write(%r, add(%v, 1));
        %v
      }
      def @main() -> int32 {
        let %r = ref(0);
        let %y = @f(%r);
        let %z = @f(%r);
        %z
      })";
  ExpectLeaves(kText);
  ExpectLeaves(kText, kInlineOnce);
  ExpectBecomes("def @main() { let %r = ref(0); let %s = ref(%r); 1 }",
                "def @main() { 1 }");
  // The effects of what a reference is created with.
  ExpectLeaves(R"(
      def @main(%r: ref(int32)) {
        let %s = ref(ref_write(%r, 1));
        1
      })");
}

TEST(DeadCodeEliminationTest, EffectsInBranchesAndTuples) {
  ExpectLeaves(R"(
      def @main(%r: ref(int32), %c: bool) {
        let %a = if (%c) { ref_write(%r, 1) } else { () };
        let %b = (1, (2, ref_read(%r)));
        1
      })");
}

TEST(DeadCodeEliminationTest, Clauses) {
  ExpectBecomes(R"(
      type Maybe { None, Some(fn () -> int32) }
      def @main(%m: Maybe, %r: ref(int32)) -> int32 {
        let %pure = match (%m) { None => { 1 }, Some(_) => { 2 } };
        let %write = match (%m) {
          None => { ref_write(%r, 1) },
          Some(_) => { () },
        };
        let %call = match (%m) { None => { 1 }, Some(%f) => { %f() } };
        match (%m) {
          None => { 1 },
          Some(%f) => { let %unused = %f; let %g = %f; let %a = %g(); 2 },
        }
      })",
                R"(
      type Maybe { None, Some(fn () -> int32) }
      def @main(%m: Maybe, %r: ref(int32)) -> int32 {
        let %write = match (%m) {
          None => { ref_write(%r, 1) },
          Some(_) => { () },
        };
        let %call = match (%m) { None => { 1 }, Some(%f) => { %f() } };
        match (%m) {
          None => { 1 },
          Some(%f) => { let %g = %f; let %a = %g(); 2 },
        }
      })");
}

TEST(DeadCodeEliminationTest, RandomPrograms) {
  for (int seed = 0; seed < 300; ++seed) {
    const IRModule module = RandomProgram(seed, {.effects = seed % 2 == 1});
    for (const bool inline_once : {false, true}) {
      const Pass pass = DeadCodeElimination({.inline_once = inline_once});
      const IRModule after = RunChecked(pass, module);
      BATON_ASSERT_OK_AND_ASSIGN(const IRModule again, pass(after));
      EXPECT_TRUE(again.SameAs(after)) << ToText(after);
    }
  }
}

TEST(DeadCodeEliminationTest, ResNetTakesLittleTime) {
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module,
                             testing::GetWorkloadModule("resnet"));
  absl::Duration best = absl::InfiniteDuration();
  for (int i = 0; i < 200; ++i) {
    const absl::Time start = absl::Now();
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule after,
                               DeadCodeElimination()(module));
    best = std::min(best, absl::Now() - start);
    EXPECT_TRUE(after.SameAs(module));
  }
  std::cout << "ResNet-18: " << best << "\n";
}

}  // namespace
}  // namespace baton::relay
