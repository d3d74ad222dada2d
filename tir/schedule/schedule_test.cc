#include "baton/tir/schedule/schedule.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/schedule/conditions.h"
#include "baton/tir/schedule/state.h"
#include "baton/tir/schedule/step_text.h"
#include "baton/tir/schedule/steps.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::tir {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr absl::string_view kMatmul = R"(@T.prim_func
def main(A: T.Buffer((64, 32), "float32"), B: T.Buffer((32, 48), "float32"), C: T.Buffer((64, 48), "float32")):
    T.func_attr({"global_symbol": "main"})
    # with T.block("root"):
    for i, j, k in T.grid(64, 48, 32):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            T.reads(A[vi, vk], B[vk, vj])
            T.writes(C[vi, vj])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)";

constexpr absl::string_view kChain = R"(@T.prim_func
def main(A: T.Buffer((128,), "float32"), C: T.Buffer((128,), "float32")):
    T.func_attr({"global_symbol": "main"})
    # with T.block("root"):
    B = T.alloc_buffer((128,))
    for i in range(128):
        with T.block("B"):
            vi = T.axis.spatial(128, i)
            T.reads(A[vi])
            T.writes(B[vi])
            B[vi] = A[vi] * T.float32(2)
    for i in range(128):
        with T.block("C"):
            vi = T.axis.spatial(128, i)
            T.reads(B[vi])
            T.writes(C[vi])
            C[vi] = B[vi] + T.float32(1)
)";

PrimFunc Read(absl::string_view text) {
  const absl::StatusOr<IRModule> module = ParseModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return module->functions<PrimFunc>()[0].function;
}

std::string Print(const PrimFunc& function) {
  IRModule module;
  module.Set("main", function);
  return AsText(module);
}

// The text after the steps, or the error.
std::string RunSteps(absl::string_view text, absl::string_view steps) {
  Schedule schedule(Read(text));
  const absl::StatusOr<std::vector<Step>> parsed = ParseSteps(steps);
  if (!parsed.ok()) return std::string(parsed.status().message());
  for (const Step& step : *parsed) {
    const absl::Status status = schedule.Apply(step);
    if (!status.ok()) return std::string(status.message());
  }
  return Print(schedule.function());
}

TEST(ScheduleTest, MethodsAreSteps) {
  Schedule schedule(Read(kMatmul));
  const BlockRef c = schedule.GetBlock("C").value();
  const std::vector<LoopRef> loops = schedule.GetLoops(c).value();
  ASSERT_EQ(loops.size(), 3);
  const std::vector<LoopRef> i =
      schedule.Split(loops[0], {kInferred, 8}).value();
  const std::vector<LoopRef> j = schedule.Split(loops[1], {3, 16}).value();
  ASSERT_TRUE(schedule.Reorder({i[0], j[0], loops[2], i[1], j[1]}).ok());
  ASSERT_TRUE(schedule.Vectorize(j[1]).ok());
  ASSERT_TRUE(schedule.DecomposeReduction(c, loops[2]).ok());
  EXPECT_EQ(schedule.trace().size(), 5);
  EXPECT_THAT(schedule.TraceText(),
              HasSubstr(R"({"factors": [null, 8], "loop": {"loop": 0, "of": )"
                        R"("C", "var": "i"}, "name": "split", )"
                        R"("preserve_unit_iters": true})"));
  EXPECT_EQ(Print(schedule.function()),
            RunSteps(kMatmul, schedule.TraceText()));
  EXPECT_THAT(Print(schedule.function()), HasSubstr("T.vectorized(16)"));
  EXPECT_THAT(Print(schedule.function()), HasSubstr("\"C_init\""));
}

TEST(ScheduleTest, Inlines) {
  EXPECT_THAT(RunSteps(kChain, R"({"name": "compute_inline", "block": "B"})"),
              HasSubstr("C[vi] = A[vi] * T.float32(2) + T.float32(1)"));
  EXPECT_THAT(
      RunSteps(kChain, R"({"name": "reverse_compute_inline", "block": "C"})"),
      HasSubstr("C[vi] = A[vi] * T.float32(2) + T.float32(1)"));
}

TEST(ScheduleTest, ErrorsSayThePlaceAndKeepTheFunction) {
  Schedule schedule(Read(kChain));
  const PrimFunc before = schedule.function();
  const absl::Status status = schedule.Apply(
      ParseStep(R"({"name": "compute_inline", "block": "C"})").value());
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("block C writes a buffer that block root does not "
                        "allocate"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("input:13:"));
  EXPECT_EQ(schedule.function(), before);
  EXPECT_TRUE(schedule.trace().empty());
}

TEST(ScheduleTest, ReportsBadSteps) {
  EXPECT_THAT(RunSteps(kChain, R"({"name": "splt"})"),
              HasSubstr("there is no step splt"));
  EXPECT_THAT(RunSteps(kChain, R"({"name": "split", "factors": [2]})"),
              HasSubstr("\"loop\": the parameter is missing"));
  EXPECT_THAT(
      RunSteps(kChain, R"({"name": "compute_inline", "block": "B", "x": 1})"),
      HasSubstr("\"x\": the step has no such parameter"));
  EXPECT_THAT(RunSteps(kChain, R"({"name": "compute_inline", "block": "Z"})"),
              HasSubstr("there is no block Z"));
  EXPECT_THAT(
      RunSteps(kChain, R"({"name": "unroll", "loop": {"loop": 1, "of": "B"}})"),
      HasSubstr("there is no loop 1: block B has 1 loops around it"));
  EXPECT_THAT(RunSteps(kChain, "\n# a comment\n{\"name\": "),
              HasSubstr("line 3: a step is no JSON"));
}

TEST(ScheduleTest, DecisionsChangeNothing) {
  const std::string before = RunSteps(kChain, "");
  for (
      const absl::string_view step :
      {R"({"name": "sample_categorical", "candidates": [4, 8], "probs": [0.5, 0.5], "decision": 1})",
       R"({"name": "sample_perfect_tile", "loop": {"loop": 0, "of": "B"}, "n": 2, "decision": [16, 8]})",
       R"({"name": "sample_partitioned_tile", "loop": {"loop": 0, "of": "B"}, "n": 3, "partition_pos": 1, "innerpart_factor": 4})",
       R"({"name": "sample_compute_location", "block": "B", "decision": 0})",
       R"({"name": "enter_postproc"})"}) {
    EXPECT_EQ(RunSteps(kChain, step), before) << step;
  }
  EXPECT_THAT(
      RunSteps(
          kChain,
          R"({"name": "sample_categorical", "candidates": [4, 8], "probs": [0.5, 0.5], "decision": 2})"),
      HasSubstr("the decision 2 is none of 2 candidates"));
  EXPECT_THAT(
      RunSteps(
          kChain,
          R"({"name": "sample_partitioned_tile", "loop": {"loop": 0, "of": "B"}, "n": 1})"),
      HasSubstr("a partition has 2 to 64 factors"));
}

TEST(ScheduleTest, FindsWhereABlockMayBeComputed) {
  const ScheduleState state = ScheduleState::Create(Read(kChain)).value();
  const Site* b = state.BlocksNamed("B")[0];
  EXPECT_EQ(ComputeLocations(state, b),
            (std::vector<int>{kLocationInline, kLocationRoot, 0}));
  EXPECT_EQ(ComputeLocation(state, b, 5), 0);
  EXPECT_EQ(ComputeLocation(state, b, kLocationInline), kLocationInline);
  // Nothing reads C, which is a parameter.
  EXPECT_EQ(ComputeLocations(state, state.BlocksNamed("C")[0]),
            std::vector<int>{kLocationRoot});
  const Site* loop = LoopsOf(b)[0];
  EXPECT_EQ(PartitionedTile(loop, 3, 1, 4, {}).value(),
            (std::vector<int64_t>{32, 4, 1}));
  EXPECT_EQ(PartitionedTile(loop, 3, 1, 4, {16, 4, 2}).value(),
            (std::vector<int64_t>{16, 4, 2}));
  // 128 is no multiple of 3.
  EXPECT_EQ(PartitionedTile(loop, 2, 1, 3, {}).value(),
            (std::vector<int64_t>{-1, 1}));
}

// Handles name the same blocks in a copy; the trace of a decision has its
// result.
TEST(ScheduleTest, CopiesAndDecides) {
  Schedule schedule(Read(kMatmul));
  const BlockRef c = schedule.GetBlock("C").value();
  const LoopRef i = schedule.GetLoops(c).value()[0];
  EXPECT_EQ(schedule.SamplePerfectTile(i, 2, 16, {8, 8}).value(),
            (std::vector<int64_t>{8, 8}));
  Schedule copy = schedule.Copy();
  EXPECT_EQ(schedule.SamplePerfectTile(i, 3).value(),
            (std::vector<int64_t>{4, 1, 16}));
  EXPECT_EQ(schedule.SampleCategorical({4, 8}, {0.25, 0.75}).value(), 8);
  EXPECT_EQ(schedule.SampleComputeLocation(c).value(), kLocationRoot);
  EXPECT_EQ(schedule.trace().size(), 4);
  EXPECT_THAT(schedule.TraceText(), HasSubstr(R"({"decision": [4, 1, 16], )"));
  EXPECT_THAT(schedule.TraceText(), HasSubstr(R"("decision": 1, )"));
  EXPECT_EQ(copy.trace().size(), 1);
  ASSERT_TRUE(copy.Split(i, {8, 8}).ok());
  EXPECT_EQ(schedule.GetLoops(c).value().size(), 3);
  EXPECT_EQ(copy.GetLoops(c).value().size(), 4);
  EXPECT_EQ(Print(copy.function()), RunSteps(kMatmul, copy.TraceText()));
}

// After the reference's tests of `get_output_blocks`.
TEST(ScheduleTest, FindsOutputBlocks) {
  Schedule schedule(Read(kChain));
  const BlockRef root = schedule.GetBlock("root").value();
  std::vector<BlockRef> outputs = schedule.GetOutputBlocks(root).value();
  ASSERT_EQ(outputs.size(), 1);
  EXPECT_EQ(outputs[0].name, "C");
  const LoopRef loop =
      schedule.GetLoops(schedule.GetBlock("C").value()).value()[0];
  ASSERT_TRUE(schedule.Blockize(loop).ok());
  outputs = schedule.GetOutputBlocks(root).value();
  ASSERT_EQ(outputs.size(), 2);
  EXPECT_EQ(outputs[0].name, "C_o");
  EXPECT_EQ(outputs[1].name, "C");
}

TEST(ScheduleTest, MethodsTakeTheirParameters) {
  Schedule schedule(Read(kChain));
  const BlockRef b = schedule.GetBlock("B").value();
  const BlockRef c = schedule.GetBlock("C").value();
  EXPECT_TRUE(schedule.HasBlock(b));
  EXPECT_EQ(schedule.Get(b).value()->name(), "B");
  const LoopRef i = schedule.GetLoops(c).value()[0];
  EXPECT_EQ(schedule.Get(i).value()->loop_var()->name(), "i");
  EXPECT_EQ(schedule.GetChildBlocks(i).value()[0].name, "C");
  EXPECT_FALSE(schedule.CanDecomposePadding(c, i));
  ASSERT_TRUE(schedule.Annotate(i, "pragma", AttrValue(int64_t{1})).ok());
  ASSERT_TRUE(schedule.Unannotate(i, "pragma").ok());
  ASSERT_TRUE(schedule.Annotate(b, "pragma", AttrValue("text")).ok());
  ASSERT_TRUE(schedule.StorageAlign(b, 0, 0, 32, 8).ok());
  ASSERT_TRUE(schedule.CacheRead(c, 0, "global", {c}).ok());
  ASSERT_TRUE(schedule.CacheWrite(c, 0, "global").ok());
  ASSERT_TRUE(schedule.ReIndex(b, AccessKind::kRead, 0).ok());
  ASSERT_TRUE(schedule
                  .TransformLayout(b, AccessKind::kWrite, 0,
                                   "lambda i: (i // 16, i % 16)")
                  .ok());
  ASSERT_TRUE(schedule.SetAxisSeparator(b, AccessKind::kWrite, 0, {1}).ok());
  ASSERT_TRUE(schedule.SetScope(b, 0, "shared").ok());
  ASSERT_TRUE(schedule.AddUnitLoop(b).ok());
  ASSERT_TRUE(schedule.EnterPostproc().ok());
  EXPECT_EQ(schedule.trace().size(), 12);
  EXPECT_EQ(Print(schedule.function()), RunSteps(kChain, schedule.TraceText()));
  EXPECT_EQ(schedule.UnsafeSetDType({"Z", {}}, 0, "int8").message(),
            "there is no block Z");
}

// The quotient of the variable of a loop of one iteration is a number, not the
// variable, which the nest of the copy does not define.
TEST(ScheduleTest, CopiesOfRegionsDoNotUseVariablesOfOtherLoops) {
  const std::string text = RunSteps(
      R"(@T.prim_func
def main(A: T.Buffer((1, 4), "int32")):
    # with T.block("root"):
    for i in range(1):
        with T.block("A"):
            vi = T.axis.spatial(1, i)
            T.reads()
            T.writes(A[vi // 4, vi % 4])
            A[vi // 4, vi % 4] = vi
)",
      R"({"name": "cache_write", "block": "A", "write_buffer_index": 0, "storage_scope": "global"})");
  EXPECT_THAT(text, HasSubstr("T.writes(A[v0, v1])"));
  EXPECT_THAT(text, Not(HasSubstr("T.int32()")));
}

TEST(ScheduleTest, HidesRegions) {
  EXPECT_THAT(
      RunSteps(
          kChain,
          R"({"name": "unsafe_hide_buffer_access", "block": "C", "buf_type": "read", "buf_index_array": [0]})"),
      HasSubstr("T.reads()\n                T.writes(C[vi])"));
  EXPECT_THAT(
      RunSteps(
          kChain,
          R"({"name": "unsafe_hide_buffer_access", "block": "C", "buf_type": "read", "buf_index_array": [1]})"),
      HasSubstr("block C has 1 such regions, no number 1"));
  EXPECT_THAT(
      RunSteps(
          kChain,
          R"({"name": "unsafe_hide_buffer_access", "block": "C", "buf_type": "both", "buf_index_array": [0]})"),
      HasSubstr("expected \"read\" or \"write\""));
}

// After the reference's test of `merge`.
TEST(ScheduleTest, Merges) {
  EXPECT_THAT(
      RunSteps(
          kChain,
          R"({"name": "merge", "loops": [{"loop": 0, "of": "B"}, {"loop": 0, "of": "C"}]})"),
      HasSubstr("for i_m in range(128):\n            with T.block(\"B\")"));
  EXPECT_THAT(
      RunSteps(
          kMatmul,
          R"({"name": "merge", "loops": [{"loop": 0, "of": "C"}, {"loop": 1, "of": "C"}]})"),
      HasSubstr("error"));
}

TEST(ScheduleTest, RequiresARootBlock) {
  Schedule schedule(Read(R"(@T.prim_func
def main(A: T.Buffer((128,), "float32")):
    A[0] = T.float32(1)
)"));
  EXPECT_THAT(std::string(schedule.GetBlock("B").status().message()),
              HasSubstr("only a function whose body is a block"));
}

TEST(ScheduleTest, HandlesOutliveSteps) {
  Schedule schedule(Read(kChain));
  const BlockRef b = schedule.GetBlock("B").value();
  const BlockRef c = schedule.GetBlock("C").value();
  const BlockRef copy = schedule.CacheRead(b, 0, "global").value();
  EXPECT_EQ(copy.name, "A_global");
  const std::vector<LoopRef> loops = schedule.GetLoops(c).value();
  ASSERT_TRUE(schedule.ComputeAt(b, loops[0]).ok());
  ASSERT_TRUE(schedule.ComputeAt(copy, loops[0]).ok());
  EXPECT_EQ(schedule.GetProducers(c).value().size(), 1);
  EXPECT_EQ(schedule.GetProducers(c).value()[0].name, "B");
  EXPECT_EQ(schedule.GetConsumers(copy).value()[0].name, "B");
}

TEST(StepTextTest, PrintsWhatItReads) {
  for (
      const absl::string_view text :
      {R"({"factors": [null, 16], "loop": {"loop": 0, "of": "B"}, "name": "split"})",
       R"({"ann_key": "a\"b", "ann_val": [0, 1.5, true], "name": "annotate"})"}) {
    EXPECT_EQ(StepText(ParseStep(text).value()), text);
  }
}

TEST(StepTextTest, KeepsNumbers) {
  constexpr absl::string_view kText =
      R"({"ann_key": "key", "ann_val": [9223372036854775807, -9223372036854775808, 4611686018427387905, 0.1, 1.0, 1e+300], "name": "annotate"})";
  EXPECT_EQ(StepText(ParseStep(kText).value()), kText);
}

TEST(StepTextTest, SaysWhereATextIsNoJson) {
  const std::pair<absl::string_view, absl::string_view> cases[] = {
      {"", "column 1: expected a value"},
      {"{", "column 2: expected a key in quotes"},
      {R"({"name": "split",})", "column 18: expected a key in quotes"},
      {R"({"name" "split"})", "column 9: expected :"},
      {R"({"name": "split" "loop": 1})", "column 18: expected , or }"},
      {R"({"name": "split"} 1)", "column 19: expected nothing"},
      {R"({"name": "split)", "column 10: the string has no end"},
      {R"({"name": "a", "name": "b"})", "the key name is given twice"},
      {R"({"name": "a", "n": [1 2]})", "column 23: expected , or ]"},
      {R"({"name": "a", "n": 9223372036854775808})",
       "column 20: 9223372036854775808 is no integer of 64 bits"},
      {R"({"name": "a", "n": -})", "- is no integer"},
      {R"({"name": "a", "n": 1e999})", "1e999 is no number"},
      {R"({"name": "a", "n": 1.2.3})", "1.2.3 is no number"},
      {R"({"name": "a", "n": +1})", "expected a number"},
      {R"({"name": "a", "n": nan})", "expected a value"},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_THAT(std::string(ParseStep(text).status().message()),
                HasSubstr(std::string(message)))
        << text;
  }
  const std::string deep(1000, '[');
  EXPECT_THAT(
      std::string(ParseStep(absl::StrCat(R"({"name": "a", "n": )", deep, "}"))
                      .status()
                      .message()),
      HasSubstr("nested too deep"));
}

}  // namespace
}  // namespace baton::tir
