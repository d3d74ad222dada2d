#include "baton/testing/random_program.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/ir/node.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/ir/well_formed.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/random_inputs.h"
#include "baton/testing/round_trip.h"
#include "baton/testing/status_matchers.h"
#include "gtest/gtest.h"

namespace baton::testing {
namespace {

IRModule Mixed(uint32_t seed) {
  const absl::StatusOr<IRModule> module =
      RandomProgram(seed, RandomProgramOptions::Mixed(seed));
  EXPECT_THAT(module, IsOk()) << seed;
  return module.ok() ? *module : IRModule();
}

TEST(RandomProgramTest, AreGoodAndHaveEverything) {
  std::set<relay::ExprKind> kinds;
  for (uint32_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    const IRModule module = Mixed(seed);
    ASSERT_THAT(CheckWellFormed(module), IsOk()) << ToText(module);
    ASSERT_THAT(CheckRoundTrip(module, /*typed=*/true), IsOk());
    for (const auto& d : module.functions<relay::Function>()) {
      relay::PostOrderVisit(d.function, [&](const ExprNode* node) {
        kinds.insert(relay::ExprKindOf(node));
      });
    }
    BATON_ASSERT_OK_AND_ASSIGN(
        const auto args,
        relay::RandomInputs(module.Find<relay::Function>("main"), seed));
    ASSERT_THAT(
        relay::EvaluateFunction(module, "main", args, {.max_call_depth = 1000}),
        IsOk())
        << ToText(module);
  }
#define BATON_KIND(index, Name, sort) relay::ExprKind::k##Name,
  for (const relay::ExprKind kind : {BATON_RELAY_EXPRS(BATON_KIND)}) {
#undef BATON_KIND
    EXPECT_EQ(kinds.count(kind), 1u) << NodeKindName(kind);
  }
}

TEST(RandomProgramTest, SameSeedSameProgram) {
  for (uint32_t seed = 0; seed < 32; ++seed) {
    EXPECT_EQ(AsText(Mixed(seed)), AsText(Mixed(seed)));
  }
  EXPECT_NE(AsText(Mixed(1)), AsText(Mixed(17)));
}

bool Calls(const IRModule& module, const char* op) {
  bool found = false;
  for (const auto& d : module.functions<relay::Function>()) {
    relay::PostOrderVisit(d.function, [&](const ExprNode* node) {
      const auto* call = Expr(node).As<relay::CallNode>();
      found = found || (call != nullptr && call->op_node() != nullptr &&
                        call->op_node()->name() == op);
    });
  }
  return found;
}

TEST(ShrinkTest, KeepsWhatMatters) {
  int shrunk = 0;
  for (uint32_t seed = 0; seed < 100; ++seed) {
    const IRModule module = Mixed(seed);
    const auto fails = [](const IRModule& candidate) {
      return Calls(candidate, "nn.max_pool2d");
    };
    if (!fails(module)) continue;
    ++shrunk;
    // In `main`, or in a function beside it.
    const std::string text =
        AsText(Shrink(module, fails), {.version = false,
                                       .metadata = false,
                                       .note_omitted_metadata = false,
                                       .types = false});
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 8) << text;
  }
  EXPECT_GE(shrunk, 3);
}

TEST(ShrinkTest, LeavesOutFunctionsAndBranches) {
  BATON_ASSERT_OK_AND_ASSIGN(IRModule module, ParseModule(R"(
    def @f(%x: Tensor[(2), float32]) -> Tensor[(2), float32] { tanh(%x) }
    def @g(%x: Tensor[(2), float32]) -> Tensor[(2), float32] { @f(%x) }
    def @main(%x: Tensor[(2), float32], %c: bool) -> Tensor[(2), float32] {
      let %a = @g(%x);
      let %b = (add(%a, %a), exp(%x));
      if (%c) { nn.relu(%b.1) } else { @f(%a) }
    })"));
  BATON_ASSERT_OK_AND_ASSIGN(module, relay::InferTypes(module));
  const IRModule small = Shrink(module, [](const IRModule& candidate) {
    return Calls(candidate, "exp");
  });
  EXPECT_EQ(AsText(small, {.version = false, .types = false}),
            R"(def @main(%x: Tensor[(2), float32]) -> Tensor[(2), float32] {
  exp(%x)
}
)");
}

TEST(ShrinkTest, CallsAtMostAsOftenAsAllowed) {
  int calls = 0;
  Shrink(
      Mixed(111),
      [&](const IRModule&) {
        ++calls;
        return false;
      },
      7);
  EXPECT_EQ(calls, 7);
}

}  // namespace
}  // namespace baton::testing
