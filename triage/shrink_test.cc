#include "baton/triage/shrink.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::EndsWith;
using ::testing::Not;

IRModule Parse(absl::string_view text) {
  const absl::StatusOr<IRModule> module = ParseModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  const absl::StatusOr<IRModule> typed = relay::InferTypes(*module);
  EXPECT_TRUE(typed.ok()) << typed.status();
  return *typed;
}

std::string Text(const IRModule& module) {
  return AsText(module, {.version = false, .types = false});
}

// The results of the makers, as text, without those that make nothing.
std::vector<std::string> Texts(const std::vector<Smaller>& makers) {
  std::vector<std::string> texts;
  for (const Smaller& make : makers) {
    if (const std::optional<IRModule> module = make()) {
      texts.push_back(Text(*module));
    }
  }
  return texts;
}

constexpr char kChain[] = R"(
  def @main(%x: Tensor[(4, 8), float32], %w: Tensor[(16, 8), float32]) {
    nn.relu(exp(nn.dense(%x, %w, units=16)))
  })";

// The smallest variant of a function of loops that has a vectorized loop.
TEST(ShrinkTest, FunctionsOfLoopsLoseStatementsAndExpressions) {
  IRModule module = Parse(R"(
@T.prim_func
def main(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    n: T.int32 = 4
    for i in T.parallel(16):
        if i < n:
            B[i] = A[i]
    for j in T.vectorized(16):
        B[j] = A[j] + A[(j * 3 + 1) % 16]
)");
  const Shrinker shrinker(true);
  EXPECT_EQ(SizeText(module), "6 statements");
  bool changed = true;
  while (changed) {
    changed = false;
    for (const Smaller& make : shrinker.Loops(module)) {
      const std::optional<IRModule> smaller = make();
      if (!smaller.has_value()) continue;
      // Variants without the definition of a variable that they use are none.
      const absl::StatusOr<IRModule> read = ParseModule(AsText(*smaller));
      EXPECT_TRUE(read.ok()) << read.status();
      if (!absl::StrContains(AsText(*smaller), "T.vectorized(16)") ||
          !(SizeOf(*smaller) < SizeOf(module))) {
        continue;
      }
      module = *smaller;
      changed = true;
      break;
    }
  }
  EXPECT_THAT(AsText(module), EndsWith("        for j in T.vectorized(16):\n"
                                       "            T.evaluate(0)\n"));
}

TEST(ShrinkTest, ANodeIsTheResultOrAParameter) {
  const Shrinker shrinker(true);
  const std::vector<std::string> texts =
      Texts(shrinker.EachNode(Parse(kChain)));
  EXPECT_THAT(texts,
              Contains("def @main(%x: Tensor[(4, 8), float32], %w: Tensor[(16, "
                       "8), float32]) -> Tensor[(4, 16), float32] {\n"
                       "  nn.dense(%x, %w, units=16)\n}\n"));
  EXPECT_THAT(texts, Contains("def @main(%x: Tensor[(4, 16), float32]) -> "
                              "Tensor[(4, 16), float32] {\n"
                              "  nn.relu(%x)\n}\n"));
}

TEST(ShrinkTest, ExtentsShrinkEverywhere) {
  const Shrinker shrinker(true);
  EXPECT_THAT(Texts(shrinker.Extents(Parse(kChain))),
              Contains("def @main(%x: Tensor[(4, 8), float32], %w: Tensor[(2, "
                       "8), float32]) -> Tensor[(4, 2), float32] {\n"
                       "  %0 = nn.dense(%x, %w, units=2);\n"
                       "  %1 = exp(%0);\n"
                       "  nn.relu(%1)\n}\n"));
}

TEST(ShrinkTest, LetsAndFunctionsOpen) {
  const IRModule module = Parse(R"(
    def @main(%x: Tensor[(4), float32]) {
      let %f = fn (%y: Tensor[(4), float32]) { exp(%y) };
      let %z = tanh(%x);
      %f(%z)
    })");
  const Shrinker shrinker(true);
  const std::vector<std::string> texts = Texts(shrinker.EachNode(module));
  // The nodes inside of a function.
  EXPECT_THAT(texts, Contains("def @main(%y: Tensor[(4), float32]) -> "
                              "Tensor[(4), float32] {\n  exp(%y)\n}\n"));
  // A let whose value is where it is used.
  EXPECT_THAT(
      texts,
      Contains("def @main(%x: Tensor[(4), float32]) -> Tensor[(4), float32] {\n"
               "  let %f: fn (Tensor[(4), float32]) -> Tensor[(4), float32] = "
               "fn (%y: Tensor[(4), float32]) -> Tensor[(4), float32] {\n"
               "    exp(%y)\n  };\n  %0 = tanh(%x);\n  %f(%0)\n}\n"));
}

TEST(ShrinkTest, FunctionsThatNobodyCallsGo) {
  const IRModule module = Parse(R"(
    def @main(%x: Tensor[(4), float32]) { @g(%x) }
    def @g(%x: Tensor[(4), float32]) -> Tensor[(4), float32] { exp(%x) }
    def @h(%x: Tensor[(4), float32]) -> Tensor[(4), float32] { tanh(%x) })");
  const Shrinker shrinker(true);
  int smallest = 3;
  for (const Smaller& make : shrinker.Functions(module)) {
    if (const std::optional<IRModule> smaller = make()) {
      smallest = std::min(smallest, smaller->size());
    }
  }
  EXPECT_EQ(smallest, 1);
}

// Many makers exist at once, each of which refers to the one module.
TEST(ShrinkTest, MakersMakeNothingBeforeTheyAreCalled) {
  IRModule module = Parse(R"(
    def @main(%x: Tensor[(4), float32]) { exp(%x) }
    def @g(%x: Tensor[(4), float32]) -> Tensor[(4), float32] { tanh(%x) })");
  std::vector<Smaller> makers =
      Shrinker(true).FunctionParts(module).without(0, 1);
  const relay::Function g = module.Find<relay::Function>("g");
  module = IRModule();
  EXPECT_FALSE(g->unique());
  ASSERT_EQ(makers.size(), 1u);
  const std::optional<IRModule> smaller = makers[0]();
  ASSERT_TRUE(smaller.has_value());
  EXPECT_EQ(smaller->size(), 1);
  makers.clear();
  EXPECT_TRUE(g->unique());
}

TEST(ShrinkTest, EverythingMadeIsTyped) {
  const IRModule module = Parse(R"(
    def @main(%x: Tensor[(4, 6), float32], %c: bool) {
      %0 = split(%x, indices_or_sections=2, axis=1);
      let %r = ref(%0.1);
      let %w = ref_write(%r, multiply(ref_read(%r), 2f));
      if (%c) { (%0.0, ref_read(%r)) } else { (ref_read(%r), %0.0) }
    })");
  const Shrinker shrinker(true);
  int made = 0;
  for (const auto& makers :
       {shrinker.EachNode(module), shrinker.Leaves(module),
        shrinker.Attributes(module), shrinker.Extents(module)}) {
    for (const Smaller& make : makers) {
      const std::optional<IRModule> smaller = make();
      if (!smaller.has_value()) continue;
      ++made;
      EXPECT_TRUE(ParseModule(AsText(*smaller)).ok()) << Text(*smaller);
    }
  }
  EXPECT_GT(made, 10);
}

}  // namespace
}  // namespace baton
