// Tests every registered pass over loops on the laws of loops_laws.h.

#include "baton/testing/loops_laws.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/parse.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "baton/ir/function_verifier.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/testing/conformance.h"
#include "baton/testing/deep_loops.h"
#include "baton/testing/golden.h"
#include "baton/testing/loops_pipelines.h"
#include "baton/testing/random_loops.h"
#include "baton/testing/registered_passes.h"
#include "baton/testing/small_stack.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/test_settings.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pipeline.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::testing {
namespace {

// A law that a pass does not keep, and why.
struct Waiver {
  absl::string_view pass;
  absl::string_view law;
  absl::string_view reason;
};
constexpr Waiver kWaivers[] = {
    {"tir.BF16StorageLegalize", "runs",
     "Takes functions without buffers of parameters, as tir.MakePackedAPI "
     "makes them."},
    {"tir.FP8StorageLegalize", "runs", "See tir.BF16StorageLegalize."},
    {"tir.BF16StorageLegalize", "values", "The types of buffers change."},
    {"tir.FP8StorageLegalize", "values", "The types of buffers change."},
    {"tir.ExtractPrimFuncConstants", "no_op",
     "Equality does not see that constants share their memory."},
    {"tir.InjectPTXLDG32", "values", "The instruction is not interpreted."},
    {"tir.LiftAttrScope", "runs", "Refuses attributes in while loops."},
    {"tir.MakePackedAPI", "values", "The parameters become others."},
    {"tir.MakeUnpackedAPI", "values", "The parameters become others."},
    {"tir.usmp.ConvertPoolAllocationsToOffsets", "values",
     "Memory pools become parameters."},
    {"tir.UnifiedStaticMemoryPlanner", "values",
     "Memory pools become parameters."},
    {"tir.usmp.CreateAllocatesForIO", "runs",
     "Refuses parameters that are read and written."},
    {"tir.usmp.CreateAllocatesForIO", "values",
     "Parameters become allocations."},
    {"tir.VerifySSA", "runs", "Refuses functions that it is there to find."},
};

// Passes that rename variables, which equality does not see.
constexpr absl::string_view kNotNoOp[] = {
    "tir.ConvertSSA", "tir.InjectSoftwarePipeline", "tir.InjectVirtualThread",
    "tir.SplitHostDevice"};

std::vector<LawWaiver> WaiversOf(const Pass& pass) {
  std::vector<LawWaiver> result;
  for (const absl::string_view name : kNotNoOp) {
    if (name == pass.name()) result.push_back({"no_op", "See kNotNoOp."});
  }
  for (const Waiver& waiver : kWaivers) {
    if (waiver.pass == pass.name()) {
      result.push_back({std::string(waiver.law), std::string(waiver.reason)});
    }
  }
  return result;
}

class EveryPassTest : public PassLawsTest {};

TEST_P(EveryPassTest, RandomFunctions) {
  for (const std::string& before : PipelinesBefore(pass().name())) {
    const absl::Status status = CheckLoopsLawsOnRandomFunctions(
        pass(), 0, IsLongTest() ? 32 : 8,
        {.waivers = WaiversOf(pass()), .before = before});
    EXPECT_TRUE(status.ok()) << status.message();
  }
}

TEST_P(EveryPassTest, FunctionsNearTheEndsOfTypes) {
  for (const std::string& before : PipelinesBefore(pass().name())) {
    const absl::Status status = CheckLoopsLawsOnRandomFunctions(
        pass(), 1000, IsLongTest() ? 32 : 8,
        {.waivers = WaiversOf(pass()), .before = before, .type_ends = true});
    EXPECT_TRUE(status.ok()) << status.message();
  }
}

// Functions that threads run passes on at the same time.
TEST_P(EveryPassTest, ModulesOfManyFunctions) {
  std::vector<LawWaiver> waivers = WaiversOf(pass());
  if (pass().name() == "tir.Filter") {
    for (const char* law : {"verifies", "round_trip"}) {
      waivers.push_back({law, "Callers of functions that it removes stay."});
    }
  }
  for (const std::string& before : PipelinesBefore(pass().name())) {
    const uint32_t seeds = NightlyLongOrShort(64, 32, 16);
    for (uint32_t seed = 0; seed < seeds; seed += 16) {
      BATON_ASSERT_OK_AND_ASSIGN(
          const IRModule module,
          ModuleAfter(absl::StrCat("16 functions ", seed), before,
                      [seed] { return RandomLoopsModule(seed, 16); }));
      const absl::Status status =
          CheckLoopsLaws(pass(), module, {.waivers = waivers});
      EXPECT_TRUE(status.ok())
          << "module of seed " << seed << ": " << status.message();
    }
  }
}

// Extents and indices at the ends of their types. A pass changes such a
// function or refuses it.
constexpr absl::string_view kHostile[] = {
    R"(for i in range(9223372036854775807):
        for j in range(T.int64(-9223372036854775807), T.int64(9223372036854775807)):
            A[i * T.int64(9223372036854775807) + j] = A[j - T.int64(9223372036854775807)])",
    R"(for i in T.vectorized(1000000000):
        A[i] = A[i] + 1)",
    R"(for i in T.parallel(T.int64(4611686018427387904)):
        for j in T.vectorized(4):
            A[i * T.int64(4) + T.Cast("int64", j)] = 1)",
    R"(for i in range(2147483647):
        if i * 2147483647 < 2147483647:
            A[i // -1] = A[i % -2147483647])",
    R"(for i in range(-2147483647, 2147483647):
        if T.likely(i < 2147483646):
            A[-2147483647 - i - 1] = A[i - -2147483647])",
    R"(B = T.alloc_buffer((2147483647, 2147483647, 2147483647), "int32")
    for i in range(16):
        with T.block("B"):
            v = T.axis.spatial(16, i)
            B[v, v, v] = A[v]
    for i in range(16):
        with T.block("C"):
            v = T.axis.spatial(16, i)
            A[v] = B[2147483646, v, 2147483646])",
    R"(for i in T.thread_binding(2147483647, thread="threadIdx.x"):
        with T.block("B"):
            v = T.axis.spatial(2147483647, i)
            A[v * 2147483647] = 1)",
    R"(for i in range(16):
        with T.block("B"):
            v = T.axis.reduce(9223372036854775807, T.int64(0))
            with T.init():
                A[0] = 0
            A[0] = A[0] + A[v])",
    R"(for i in T.unroll(1000000000):
        A[i] = 1)",
    R"(for i in T.unroll(1000000000):
        T.evaluate(0))",
    R"(for i, j, k in T.grid(1000, 1000, 1000):
        A[i + j + k] = A[k - i] + 1)",
    R"(for i in T.unroll(2000):
        for j in T.unroll(2000):
            for k in T.unroll(2000):
                A[i + j + k] = 1)",
    R"(for i in T.vectorized(60000):
        A[T.Ramp(i * i, i, 60000)] = T.Broadcast(1, 60000))",
    R"(A[T.shift_left(1, 1000)] = T.Div(-2147483647 - 1, -1)
    A[0] = T.truncmod(A[0], 0) // 0
    A[T.Ramp(2147483647, 2147483647, 65535)] = T.Broadcast(1, 65535))",
};

TEST_P(EveryPassTest, HostileFunctions) {
  for (const absl::string_view body : kHostile) {
    const absl::StatusOr<IRModule> module = ParseModule(
        absl::StrCat("@T.prim_func\ndef main(A: T.Buffer((16,), \"int32\")):\n"
                     "    ",
                     body, "\n"),
        "hostile.tir");
    ASSERT_THAT(module.status(), IsOk()) << body;
    const auto start = std::chrono::steady_clock::now();
    for (const std::string& before : PipelinesBefore(pass().name())) {
      absl::StatusOr<IRModule> given = *module;
      if (!before.empty()) {
        BATON_ASSERT_OK_AND_ASSIGN(const Pass prepare, ParsePipeline(before));
        given = prepare(*module);
      }
      if (!given.ok()) continue;
      const SilentStderr silence;
      const absl::StatusOr<IRModule> result = pass()(*given);
      if (result.ok()) {
        EXPECT_THAT(CheckWellFormed(*result), IsOk()) << body;
      }
    }
    const std::chrono::duration<double> took =
        std::chrono::steady_clock::now() - start;
    EXPECT_LT(took.count(), 5) << body;
  }
}

// Statements that are nested deeply, to BATON_DEPTH if the environment has it.
TEST_P(EveryPassTest, DeepFunctions) {
  const auto depth =
      static_cast<int>(TestSetting("BATON_DEPTH", IsLongTest() ? 3'000 : 500));
  for (const std::string& before : PipelinesBefore(pass().name())) {
    const absl::Status status = CheckLoopsStack(
        pass(), depth, {.waivers = WaiversOf(pass()), .before = before});
    EXPECT_TRUE(status.ok()) << status.message();
  }
}

// Laws that a pass does not keep for some programs.
void AddWaiversFor(const std::string& program, const Pass& pass,
                   LoopsLawOptions& options) {
  options.waivers.push_back({"runs", "It may be given anything."});
  if (pass.name() == "tir.RemoveStoreUndef" &&
      absl::StrContains(program, "T.undef()")) {
    options.waivers.push_back({"values", "Undefined values are any values."});
  }
  // A scope with a tag, such as local.L0A.
  if (pass.name() == "tir.StorageRewrite" &&
      absl::StrContains(program, "\"local_TB")) {
    options.waivers.push_back(
        {"values",
         "Buffers in memory with a tag are moved within one allocation, by "
         "their indices: they keep their shapes, as in the reference."});
  }
}

// The functions that recorded cases begin with, but for those of networks.
const std::vector<ConformanceCase>& RecordedFunctions() {
  static const auto* const cases = [] {
    auto* const result = new std::vector<ConformanceCase>;
    absl::StatusOr<std::vector<ConformanceCase>> all =
        ReadConformanceCases(RunfilePath("testing/loops"));
    EXPECT_THAT(all.status(), IsOk());
    if (!all.ok()) return result;
    for (ConformanceCase& c : *all) {
      if (c.is_text || absl::StartsWith(c.group, "lowering/")) continue;
      result->push_back(std::move(c));
    }
    return result;
  }();
  return *cases;
}

// Each pass takes some of the recorded functions, or, with BATON_EVERY_PASS=1,
// all of them. It may refuse what other passes make.
TEST_P(EveryPassTest, RecordedFunctions) {
  const std::vector<ConformanceCase>& cases = RecordedFunctions();
  ASSERT_GT(cases.size(), 500);
  const std::vector<std::string> passes = PassesOverLoops();
  const auto own = static_cast<size_t>(
      std::find(passes.begin(), passes.end(), GetParam()) - passes.begin());
  size_t step = passes.size() / (IsLongTest() ? 2 : 1);
  if (TestSetting("BATON_EVERY_PASS", 0) == 1) step = 1;
  for (size_t i = own % step; i < cases.size(); i += step) {
    const ConformanceCase& c = cases[i];
    const absl::StatusOr<IRModule> module = ParseModule(c.before, c.name());
    if (!module.ok()) continue;  // it is there to be refused
    LoopsLawOptions options = {.waivers = WaiversOf(pass()),
                               .before = PipelinesBefore(pass().name())[0],
                               .max_steps = 300'000};
    AddWaiversFor(c.before, pass(), options);
    const absl::Status status = CheckLoopsLaws(pass(), *module, options);
    if (absl::StartsWith(status.message(), "before: ")) continue;
    EXPECT_TRUE(status.ok())
        << pass().name() << " on " << c.name() << ": " << status.message();
  }
}

// Passes that refuse the deepest functions, and why; all kinds of functions if
// `kind` is empty.
struct RefusesDeep {
  absl::string_view pass;
  absl::string_view kind;
  absl::string_view reason;
};
constexpr RefusesDeep kRefusesDeep[] = {
    {"tir.BF16StorageLegalize", "",
     "Takes functions without buffers of parameters."},
    {"tir.FP8StorageLegalize", "", "See tir.BF16StorageLegalize."},
    {"tir.LiftAttrScope", "whiles", "Refuses attributes in while loops."},
    {"tir.usmp.CreateAllocatesForIO", "",
     "Refuses parameters that are read and written."},
};

bool RefusesDeepest(absl::string_view pass, absl::string_view kind) {
  for (const RefusesDeep& refuses : kRefusesDeep) {
    if (refuses.pass == pass &&
        (refuses.kind.empty() || refuses.kind == kind)) {
      return true;
    }
  }
  return false;
}

// Each pass on deep functions, in the forms that it takes; in the nightly form of
// tests they are as deep as functions may be.
class DeepestFunctionsTest
    : public ::testing::TestWithParam<absl::string_view> {};

TEST_P(DeepestFunctionsTest, EveryPass) {
  RunWithStack(SmallStackBytesOfThisBuild(), [] {
    const int depth = NightlyLongOrShort(100'000, 10'000, 2'000);
    const IRModule module = ModuleOfLoops(DeepLoops(GetParam(), depth));
    std::map<std::string, absl::StatusOr<IRModule>> forms;  // by pipelines
    int ran = 0;
    int refused = 0;
    for (const std::string& text : PassesOverLoops()) {
      BATON_ASSERT_OK_AND_ASSIGN(const Pass pass, GetRegisteredPass(text));
      const SilentStderr silence;
      for (const std::string& before : PipelinesBefore(pass.name())) {
        const auto [form, is_new] = forms.try_emplace(before, module);
        if (is_new && !before.empty()) {
          BATON_ASSERT_OK_AND_ASSIGN(const Pass prepare, ParsePipeline(before));
          form->second = prepare(module);
          EXPECT_THAT(form->second.status(), IsOk()) << before;
        }
        if (!form->second.ok()) continue;
        const absl::StatusOr<IRModule> result = pass(*form->second);
        if (!result.ok() && RefusesDeepest(pass.name(), GetParam())) {
          ++refused;
          continue;
        }
        EXPECT_THAT(result.status(), IsOk()) << text << " after " << before;
        ++ran;
        if (result.ok() && !result->SameAs(*form->second)) {
          EXPECT_THAT(CheckWellFormed(*result), IsOk()) << text;
        }
      }
    }
    std::cout << ran << " ran, " << refused << " refused\n";
  });
}

INSTANTIATE_TEST_SUITE_P(Kinds, DeepestFunctionsTest,
                         ::testing::ValuesIn(KindsOfDeepLoops()),
                         [](const auto& info) {
                           return std::string(info.param);
                         });

INSTANTIATE_TEST_SUITE_P(Registered, EveryPassTest,
                         ::testing::ValuesIn(PassesOverLoops()), PassTestName);

// The result of a pass on a function with the body `body`, or its error.
std::string ResultOf(absl::string_view pipeline, absl::string_view body) {
  const absl::StatusOr<IRModule> module =
      ParseModule(absl::StrCat("@T.prim_func\ndef main(A: T.Buffer((16,), "
                               "\"int32\"), n: T.int32):\n",
                               body),
                  "budget.tir");
  if (!module.ok()) return std::string(module.status().message());
  const absl::StatusOr<Pass> pass = ParsePipeline(pipeline);
  if (!pass.ok()) return std::string(pass.status().message());
  const absl::StatusOr<IRModule> result = (*pass)(*module);
  return result.ok() ? AsText(*result) : std::string(result.status().message());
}

std::string Nested(int depth, absl::string_view line, absl::string_view body) {
  std::string text;
  for (int i = 0; i <= depth; ++i) {
    absl::StrAppend(&text, std::string(static_cast<size_t>(4 * i + 4), ' '),
                    absl::StrReplaceAll(i < depth ? line : body,
                                        {{"$", absl::StrCat("i", i)}}),
                    "\n");
  }
  return text;
}

std::string Launches(int threads) {
  std::string text;
  for (int i = 0; i < threads; ++i) {
    absl::StrAppend(&text, "    i", i, " = T.launch_thread(\"vthread\", 8)\n");
  }
  return text;
}

// Passes that repeat statements stop at the setting limits.max_copied_nodes.
TEST(CopyBudgetTest, PassesThatRepeatStatementsStop) {
  const auto stops = [](const std::string& pass) {
    return ::testing::AllOf(
        ::testing::HasSubstr("budget.tir:"),
        ::testing::HasSubstr(absl::StrCat(
            pass,
            " would add more nodes by repeating statements than the "
            "limit (limits.max_copied_nodes=")));
  };
  EXPECT_THAT(ResultOf("tir.UnrollLoop",
                       Nested(1, "for $ in T.unroll(1000000000):", "A[0] = 1")),
              stops("tir.UnrollLoop"));
  EXPECT_THAT(ResultOf("tir.UnrollLoop",
                       Nested(8, "for $ in T.unroll(10):", "A[0] = 1")),
              stops("tir.UnrollLoop"));
  EXPECT_THAT(
      ResultOf("tir.InjectVirtualThread",
               absl::StrCat(Launches(8),
                            "    A[i0 + i1 + i2 + i3 + i4 + i5 + i6 + i7] = "
                            "1\n")),
      stops("tir.InjectVirtualThread"));
  std::vector<std::string> conditions;
  for (int i = 0; i < 20; ++i) {
    conditions.push_back(absl::StrCat("T.likely(i", i, " < n + 4)"));
  }
  EXPECT_THAT(ResultOf("tir.LoopPartition",
                       Nested(20, "for $ in range(n, n + 10):",
                              absl::StrCat("A[0] = T.if_then_else(",
                                           absl::StrJoin(conditions, " and "),
                                           ", 1, 2)"))),
              stops("tir.LoopPartition"));
}

// The whole lowering, on random functions.
TEST(LowerTest, RandomFunctions) {
  BATON_ASSERT_OK_AND_ASSIGN(const Pass lower, ParsePipeline("tir.lower"));
  const absl::Status status = CheckLoopsLawsOnRandomFunctions(
      lower, 0, NightlyLongOrShort(640, 256, 32));
  EXPECT_TRUE(status.ok()) << status.message();
}

// The whole lowering, on functions of recorded networks as they were before
// each of its passes.
TEST(LowerTest, FunctionsOfNetworks) {
  BATON_ASSERT_OK_AND_ASSIGN(const Pass lower, ParsePipeline("tir.lower"));
  BATON_ASSERT_OK_AND_ASSIGN(
      const std::vector<ConformanceCase> cases,
      ReadConformanceCases(RunfilePath("testing/loops")));
  int checked = 0;
  for (const ConformanceCase& c : cases) {
    if (c.is_text || !absl::StartsWith(c.group, "lowering/")) continue;
    ++checked;
    if (!IsLongTest() && checked % 16 != 0) continue;
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule module,
                               ParseModule(c.before, c.name()));
    const absl::Status status = CheckLoopsLaws(
        lower, module, {.max_steps = IsLongTest() ? 1'000'000 : 300'000});
    EXPECT_TRUE(status.ok()) << c.name() << ": " << status.message();
  }
  EXPECT_GT(checked, 100);
}

}  // namespace
}  // namespace baton::testing

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  absl::ParseCommandLine(argc, argv);
  return RUN_ALL_TESTS();
}
