#include "baton/testing/random_loops.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/base/tensor.h"
#include "baton/ir/function_verifier.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/ir/node.h"
#include "baton/ir/node_class.h"
#include "baton/ir/node_map.h"
#include "baton/ir/structural_equal.h"
#include "baton/testing/loops_values.h"
#include "baton/testing/round_trip.h"
#include "baton/testing/status_matchers.h"
#include "baton/tir/interpreter/interpreter.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/node_kind.h"
#include "baton/tir/ir/stmt.h"
#include "gtest/gtest.h"

namespace baton::testing {
namespace {

using tir::PrimFunc;
using tir::TirKind;

PrimFunc Mixed(uint32_t seed) {
  return RandomLoops(seed, RandomLoopsOptions::Mixed(seed));
}

template <typename Fn>
void ForEachNode(const PrimFunc& function, const Fn& fn) {
  NodeSet seen;
  std::vector<const Node*> stack = {function.get()};
  while (!stack.empty()) {
    const Node* node = stack.back();
    stack.pop_back();
    if (!seen.Insert(node)) continue;
    fn(node);
    ForEachReference(node, [&](const Node* part) { stack.push_back(part); });
  }
}

TEST(RandomLoopsTest, AreGoodAndHaveEverything) {
  std::set<TirKind> kinds;
  std::set<tir::ForKind> loops;
  std::set<tir::BinaryOp> operations;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    const PrimFunc function = Mixed(seed);
    const IRModule module = ModuleOfLoops(function);
    ASSERT_THAT(CheckWellFormed(module), IsOk()) << AsText(module);
    // Text has a variable for each loop.
    ASSERT_THAT(RandomLoopsOptions::Mixed(seed).shared_variables
                    ? CheckBinaryRoundTrip(module)
                    : CheckRoundTrip(module, /*typed=*/false),
                IsOk())
        << AsText(module);
    const absl::StatusOr<std::vector<Tensor>> result =
        RunOnSmallIntegers(function);
    ASSERT_THAT(result.status(), IsOk()) << AsText(module);
    const absl::StatusOr<std::vector<Tensor>> shuffled =
        RunOnSmallIntegers(function, {.shuffle_seed = 7});
    ASSERT_THAT(shuffled.status(), IsOk()) << AsText(module);
    ASSERT_EQ(FirstOtherNumber(*result, *shuffled), std::nullopt)
        << AsText(module);
    ForEachNode(function, [&](const Node* node) {
      if (node->kind().level() != tir::kNodeLevel) return;
      kinds.insert(node->kind().To<TirKind>());
      const tir::PrimExprNode* e = nullptr;
      if (tir::IsPrimExprKind(node->kind())) {
        e = static_cast<const tir::PrimExprNode*>(node);
      }
      if (node->kind() == tir::ForNode::kKind) {
        loops.insert(static_cast<const tir::ForNode*>(node)->for_kind());
      } else if (e != nullptr && node->kind() == tir::BinaryNode::kKind) {
        operations.insert(static_cast<const tir::BinaryNode*>(e)->op());
      }
    });
  }
  // Random functions do not have these: definitions of operators, and nodes
  // that only some passes make.
  const std::set<TirKind> never = {
      TirKind::kReduce,        TirKind::kCommReducer, TirKind::kShuffle,
      TirKind::kTarget,        TirKind::kIndexMap,    TirKind::kList,
      TirKind::kBufferRealize, TirKind::kPrefetch};
#define BATON_KIND(index, Name, sort) TirKind::k##Name,
  for (const TirKind kind : {BATON_TIR_NODES(BATON_KIND)}) {
#undef BATON_KIND
    EXPECT_EQ(kinds.count(kind) + never.count(kind), 1u)
        << NodeKindName(NodeKind(kind));
  }
  EXPECT_EQ(loops.size(), static_cast<size_t>(NumValuesOf(tir::ForKind())));
  EXPECT_EQ(operations.size(),
            static_cast<size_t>(NumValuesOf(tir::BinaryOp())));
}

TEST(RandomLoopsTest, SameSeedSameFunction) {
  for (uint32_t seed = 0; seed < 64; ++seed) {
    const IRModule a = ModuleOfLoops(Mixed(seed));
    const IRModule b = ModuleOfLoops(Mixed(seed));
    EXPECT_EQ(AsText(a), AsText(b));
    EXPECT_TRUE(StructuralEqual(a, b)) << seed;
    EXPECT_EQ(StructuralHash(a), StructuralHash(b)) << seed;
  }
  EXPECT_NE(AsText(ModuleOfLoops(Mixed(1))), AsText(ModuleOfLoops(Mixed(33))));
}

// Functions of different seeds differ, and so do almost all of their hashes.
TEST(RandomLoopsTest, OtherFunctionsHaveOtherHashes) {
  std::set<uint64_t> hashes;
  std::set<std::string> texts;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const IRModule module = ModuleOfLoops(Mixed(seed));
    hashes.insert(StructuralHash(module));
    texts.insert(AsText(module));
  }
  EXPECT_EQ(hashes.size(), texts.size());
}

// All functions of a module run, those that call others too.
TEST(RandomLoopsTest, ModulesOfFunctionsRun) {
  const IRModule module = RandomLoopsModule(5, 12);
  EXPECT_EQ(module.size(), 16);
  EXPECT_THAT(CheckWellFormed(module), IsOk());
  EXPECT_THAT(CheckBinaryRoundTrip(module), IsOk());
  int calls = 0;
  for (const auto& definition : module.functions<PrimFunc>()) {
    EXPECT_THAT(RunOnSmallIntegers(definition.function,
                                   {.module = &module, .check_order = true})
                    .status(),
                IsOk())
        << definition.var->name();
    // Every third function calls another one.
    calls += RunOnSmallIntegers(definition.function).ok() ? 0 : 1;
  }
  EXPECT_EQ(calls, 4);
  EXPECT_EQ(AsText(module), AsText(RandomLoopsModule(5, 12)));
}

bool HasWhile(const PrimFunc& function) {
  bool found = false;
  ForEachNode(function, [&](const Node* node) {
    found = found || node->kind() == tir::WhileNode::kKind;
  });
  return found;
}

TEST(ShrinkLoopsTest, KeepsWhatMatters) {
  int shrunk = 0;
  for (uint32_t seed = 0; seed < 200 && shrunk < 5; ++seed) {
    const PrimFunc function = Mixed(seed);
    if (!HasWhile(function)) continue;
    ++shrunk;
    const std::string text =
        AsText(ModuleOfLoops(ShrinkLoops(function, HasWhile)));
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 24) << text;
  }
  EXPECT_EQ(shrunk, 5);
}

TEST(ShrinkLoopsTest, CallsAtMostAsOftenAsAllowed) {
  int calls = 0;
  ShrinkLoops(
      Mixed(6),
      [&](const PrimFunc&) {
        ++calls;
        return false;
      },
      7);
  EXPECT_LE(calls, 7);
}

}  // namespace
}  // namespace baton::testing
