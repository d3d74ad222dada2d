#include "baton/relay/analysis/purity.h"

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/expr.h"
#include "baton/testing/parse_typed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::ParseTyped;

// The variables of lets whose values may have an effect.
std::vector<std::string> Effects(absl::string_view text) {
  const IRModule module = ParseTyped(text);
  std::vector<IndexedGraph> graphs;
  for (const auto& definition : module.functions<Function>()) {
    graphs.emplace_back(definition.function);
  }
  const Purity purity(module, graphs);
  std::vector<std::string> result;
  for (int f = 0; f < module.size(); ++f) {
    for (int i = 0; i < graphs[f].size(); ++i) {
      const auto* let = graphs[f].As<LetNode>(i);
      if (let == nullptr || !purity.MayHaveEffect(f, graphs[f].children(i)[1]))
        continue;
      result.push_back(let->var()->name());
    }
  }
  return result;
}

TEST(PurityTest, Operators) {
  EXPECT_THAT(Effects(R"(
      def @main(%x: float32) {
        let %a = exp(%x);
        let %b = (%a, ref(%a));
        %b.0
      })"),
              IsEmpty());
  EXPECT_THAT(Effects(R"(
      def @main(%x: float32) {
        let %a = exp(%x);
        let %b = (%a, memory.kill(%a));
        let %c = memory.kill(%x);
        %b.0
      })"),
              ElementsAre("c", "b"));
}

TEST(PurityTest, ReadsAndWrites) {
  EXPECT_THAT(Effects(R"(
      def @main(%r: ref(int32)) {
        let %a = ref_write(%r, 1);
        let %b = ref_read(%r);
        let %c = ref(%b);
        %c
      })"),
              ElementsAre("b", "a"));
}

TEST(PurityTest, FunctionsHaveEffectsWhenCalled) {
  EXPECT_THAT(Effects(R"(
      def @main(%r: ref(int32), %c: bool) {
        let %f = fn () { ref_read(%r) };
        let %g = fn (%n: int32) { add(%n, 1) };
        let %h = fn () { if (%c) { %f } else { %f } };
        let %a = %f();
        let %b = %g(1);
        let %k = %h();
        %k()
      })"),
              // The call of %h makes a function with effects, and rule A of the
              // reference does not tell making from calling.
              ElementsAre("k", "a"));
}

TEST(PurityTest, UnknownFunctions) {
  EXPECT_THAT(Effects(R"(
      def @main(%f: fn (int32) -> int32, %t: (fn () -> int32, int32)) {
        let %a = %f(1);
        let %g = %t.0;
        let %b = %g();
        let %c = %t.1;
        let %d = fn (%h: fn () -> int32) { %h() };
        %c
      })"),
              ElementsAre("b", "a"));
}

TEST(PurityTest, RecursionThroughTheModule) {
  EXPECT_THAT(Effects(R"(
      def @a(%r: ref(int32)) -> int32 { let %x = @b(%r); %x }
      def @b(%r: ref(int32)) -> int32 { let %y = @c(%r); %y }
      def @c(%r: ref(int32)) -> int32 {
        let %z = @a(%r);
        let %w = ref_read(%r);
        add(%z, %w)
      }
      def @d(%r: ref(int32)) -> int32 { let %v = @d(%r); %v })"),
              ElementsAre("x", "y", "w", "z"));
}

}  // namespace
}  // namespace baton::relay
