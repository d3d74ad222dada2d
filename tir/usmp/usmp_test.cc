// The static memory planner as a whole: what it finds out about functions, and
// that the planned functions compute the same.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/ir/structural_equal.h"
#include "baton/testing/golden.h"
#include "baton/testing/status_matchers.h"
#include "baton/tir/interpreter/interpreter.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/usmp/call_visitor.h"
#include "baton/tir/usmp/extract_buffer_info.h"
#include "baton/tir/usmp/memory_pools.h"
#include "baton/tir/usmp/pool_planner.h"
#include "baton/transform/pass.h"
#include "baton/transform/pipeline.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::tir {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

IRModule Parsed(absl::string_view text) {
  const absl::StatusOr<IRModule> module = ParseModule(text, "test.tir");
  EXPECT_TRUE(module.ok()) << module.status().message() << "\n" << text;
  return module.ok() ? *module : IRModule();
}

absl::StatusOr<IRModule> RunPipeline(const IRModule& module,
                                     absl::string_view pipeline) {
  const absl::StatusOr<Pass> pass = ParsePipeline(pipeline);
  if (!pass.ok()) return pass.status();
  return (*pass)(module);
}

std::string ErrorOf(
    absl::string_view text,
    absl::string_view pipeline = "tir.UnifiedStaticMemoryPlanner") {
  return std::string(RunPipeline(Parsed(text), pipeline).status().message());
}

// The buffers of `main` in the pools of `options` of tir.usmp.AssignPoolInfo.
absl::StatusOr<BufferInfoAnalysis> Analyzed(const IRModule& module,
                                            absl::string_view main,
                                            absl::string_view options) {
  absl::StatusOr<IRModule> assigned = RunPipeline(
      module, absl::StrCat("tir.usmp.AssignPoolInfo{main_function=", main,
                           options, "}"));
  if (!assigned.ok()) return assigned.status();
  return ExtractBufferInfo(assigned->Find<PrimFunc>(main), *assigned);
}

const PoolBuffer* Find(const BufferInfoAnalysis& analysis,
                       absl::string_view name) {
  for (const PoolBuffer& buffer : analysis.problem.buffers) {
    if (buffer.name == name) return &buffer;
  }
  return nullptr;
}
std::vector<std::string> ConflictsOf(const BufferInfoAnalysis& analysis,
                                     absl::string_view name) {
  std::vector<std::string> names;
  const PoolBuffer* buffer = Find(analysis, name);
  if (buffer == nullptr) return {"no such buffer"};
  for (const int conflict : buffer->conflicts) {
    names.push_back(analysis.problem.buffers[conflict].name);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

// --- Modules of the reference's tests, with what these expect ---------------

struct Recorded {
  const char* name;
  const char* main;
  int64_t memory_pressure;
};
class RecordedModuleTest : public ::testing::TestWithParam<Recorded> {
 protected:
  static std::string File(absl::string_view suffix) {
    return testing::ReadFileOrFail(testing::RunfilePath(
        absl::StrCat("tir/usmp/testdata/", GetParam().name, suffix)));
  }
};

TEST_P(RecordedModuleTest, Analysis) {
  const IRModule module = Parsed(File(".tir"));
  BATON_ASSERT_OK_AND_ASSIGN(
      const BufferInfoAnalysis analysis,
      Analyzed(module, GetParam().main,
               ",workspace_memory_pools=[{pool_name:workspace}],"
               "constant_memory_pools=[{pool_name:constants}]"));
  EXPECT_EQ(analysis.problem.memory_pressure, GetParam().memory_pressure);
  int num_lines = 0;
  for (const absl::string_view line : absl::StrSplit(File(".tsv"), '\n')) {
    if (line.empty() || line[0] == '#') continue;
    ++num_lines;
    const std::vector<std::string> columns = absl::StrSplit(line, '\t');
    ASSERT_EQ(columns.size(), 3) << line;
    const PoolBuffer* buffer = Find(analysis, columns[0]);
    ASSERT_NE(buffer, nullptr) << line;
    int64_t bytes = 0;
    if (absl::SimpleAtoi(columns[1], &bytes)) {
      EXPECT_EQ(buffer->bytes, bytes) << line;
    }
    const std::vector<std::string> expected = absl::StrSplit(columns[2], ',');
    for (const std::string& conflict : ConflictsOf(analysis, columns[0])) {
      EXPECT_THAT(expected, Contains(conflict)) << columns[0];
    }
  }
  EXPECT_GE(num_lines, 5);
}

INSTANTIATE_TEST_SUITE_P(
    Recorded, RecordedModuleTest,
    ::testing::Values(Recorded{"linear", "run_model", 1117718},
                      Recorded{"inception", "run_model", 1117718},
                      Recorded{"repeated_calls", "run_model", 11424}),
    [](const auto& info) { return std::string(info.param.name); });

struct ExpectedBytes {
  const char* algorithm;
  int64_t fast;
  int64_t slow;
};

TEST(RecordedPlanTest, TwoPools) {
  const IRModule module = Parsed(testing::ReadFileOrFail(
      testing::RunfilePath("tir/usmp/testdata/linear.tir")));
  BATON_ASSERT_OK_AND_ASSIGN(
      BufferInfoAnalysis analysis,
      Analyzed(module, "run_model",
               ",workspace_memory_pools=[{pool_name:fast_memory,"
               "size_hint_bytes:200704},{pool_name:slow_memory}]"));
  for (const ExpectedBytes& expected :
       {ExpectedBytes{"greedy_by_size", 200704, 1418528},
        ExpectedBytes{"greedy_by_conflicts", 200704, 1418528},
        ExpectedBytes{"hill_climb", 200704, 1117462}}) {
    BATON_ASSERT_OK_AND_ASSIGN(const PoolPlan plan,
                               PlanPools(expected.algorithm, analysis.problem));
    EXPECT_THAT(UsedBytes(analysis.problem, plan),
                ::testing::ElementsAre(expected.fast, expected.slow))
        << expected.algorithm;
  }
}

TEST(RecordedPlanTest, OnePool) {
  const IRModule module = Parsed(testing::ReadFileOrFail(
      testing::RunfilePath("tir/usmp/testdata/resnet.tir")));
  BATON_ASSERT_OK_AND_ASSIGN(
      const BufferInfoAnalysis analysis,
      Analyzed(module, "tvmgen_default_run_model",
               ",workspace_memory_pools=[{pool_name:workspace}]"));
  EXPECT_EQ(analysis.problem.memory_pressure, 7200256);
  for (const auto& [algorithm, bytes] :
       std::vector<std::pair<std::string, int64_t>>{
           {"greedy_by_size", 7920256},
           {"greedy_by_conflicts", 7200256},
           {"hill_climb", 7200256},
           {"arena", 7200256}}) {
    BATON_ASSERT_OK_AND_ASSIGN(const PoolPlan plan,
                               PlanPools(algorithm, analysis.problem));
    EXPECT_THAT(UsedBytes(analysis.problem, plan),
                ::testing::ElementsAre(bytes))
        << algorithm;
  }
}

// The modules that the reference's tests expect
// (test_tir_usmp_transform_convert_pool_allocations_to_offsets.py).
TEST(RecordedPlanTest, Converted) {
  for (const char* name : {"linear", "resnet", "tensor_intrin",
                           "merge_allocations", "merge_decl_buffers"}) {
    const std::string text = testing::ReadFileOrFail(testing::RunfilePath(
        absl::StrCat("tir/usmp/testdata/converted/", name, ".tir")));
    const std::vector<std::string> parts = absl::StrSplit(text, "// -----\n");
    ASSERT_EQ(parts.size(), 3) << name;
    const std::vector<std::string> head =
        absl::StrSplit(parts[0], "// passes: ");
    ASSERT_EQ(head.size(), 2) << name;
    BATON_ASSERT_OK_AND_ASSIGN(
        const IRModule result,
        RunPipeline(Parsed(parts[1]), absl::StripAsciiWhitespace(head[1])));
    EXPECT_TRUE(
        StructuralEqual(result, Parsed(parts[2]), {.map_free_vars = true}))
        << name << "\n"
        << AsText(result);
  }
}

// --- Where the reference's plan is another one -------------------------------

constexpr char kHead[] = "@I.ir_module\nclass Module:\n";

// Two iterations of a parallel loop run at the same time, also in a serial loop
// inside of it, and in functions that it calls.
TEST(BufferInfoTest, MemoryInParallelLoopsIsNotPlanned) {
  const IRModule module = Parsed(absl::StrCat(kHead, R"(
    @T.prim_func
    def main(A: T.Buffer((8,), "float32")):
        for i in T.parallel(8):
            a = T.allocate([1], "float32")
            for j in range(2):
                b = T.allocate([1], "float32")
                b_1 = T.Buffer((1,), data=b)
                b_1[0] = T.float32(j)
            T.call_extern("int32", "f", A.data)
        T.call_extern("int32", "g", A.data)

    @T.prim_func
    def f(A: T.Buffer((8,), "float32")):
        for i in range(8):
            c = T.allocate([1], "float32")
            T.call_extern("int32", "h", c)

    @T.prim_func
    def g(A: T.Buffer((8,), "float32")):
        d = T.allocate([1], "float32")
        for t in T.thread_binding(2, thread="threadIdx.x"):
            e = T.allocate([1], "float32")
            T.call_extern("int32", "h", e)
)"));
  BATON_ASSERT_OK_AND_ASSIGN(const BufferInfoAnalysis analysis,
                             Analyzed(module, "main", ""));
  ASSERT_EQ(analysis.problem.buffers.size(), 1);
  EXPECT_EQ(analysis.problem.buffers[0].name, "d");
}

// `kept` is read in each iteration, so `temp` must not have its memory.
TEST(BufferInfoTest, LoopsKeepWhatTheirCallsRead) {
  for (const char* loop :
       {"for i in range(2):", "while A[0] < T.float32(3):"}) {
    const IRModule module = Parsed(absl::StrCat(kHead, R"(
    @T.prim_func
    def main(A: T.Buffer((1,), "float32")):
        kept = T.allocate([1], "float32")
        temp = T.allocate([1], "float32")
        T.call_extern("int32", "copy", A.data, kept)
        )",
                                                loop, R"(
            T.call_extern("int32", "copy", kept, A.data)
            T.call_extern("int32", "copy", A.data, temp)
            T.call_extern("int32", "copy", temp, A.data)

    @T.prim_func
    def copy(A: T.Buffer((1,), "float32"), B: T.Buffer((1,), "float32")):
        B[0] = A[0]
)"));
    BATON_ASSERT_OK_AND_ASSIGN(const BufferInfoAnalysis analysis,
                               Analyzed(module, "main", ""));
    EXPECT_THAT(ConflictsOf(analysis, "temp"), UnorderedElementsAre("kept"))
        << loop;
  }
}

// Memory that an inner loop reads is in use until the outer loop ends: the next
// iteration of the outer loop reads it again.
TEST(BufferInfoTest, OuterLoopsKeepWhatInnerLoopsRead) {
  const IRModule module = Parsed(absl::StrCat(kHead, R"(
    @T.prim_func
    def main(A: T.Buffer((4,), "float32")):
        kept = T.allocate([4], "float32")
        kept_1 = T.Buffer((4,), data=kept)
        for k in range(4):
            kept_1[k] = A[k]
        for i in range(4):
            for j in range(4):
                A[j] = A[j] + kept_1[j]
            T.call_extern("int32", "twice", A.data)

    @T.prim_func
    def twice(A: T.Buffer((1,), "float32")):
        temp = T.allocate([1], "float32")
        temp_1 = T.Buffer((1,), data=temp)
        temp_1[0] = A[0]
        A[0] = temp_1[0] + temp_1[0]
)"));
  BATON_ASSERT_OK_AND_ASSIGN(const BufferInfoAnalysis analysis,
                             Analyzed(module, "main", ""));
  EXPECT_THAT(ConflictsOf(analysis, "temp"), UnorderedElementsAre("kept"));
}

// Pointers that are no names of allocations: addresses, and variables.
TEST(BufferInfoTest, PointersAreFollowed) {
  const IRModule module = Parsed(absl::StrCat(kHead, R"(
    @T.prim_func
    def main(A: T.Buffer((4,), "float32")):
        a = T.allocate([4], "float32")
        b = T.allocate([4], "float32")
        a_1 = T.Buffer((4,), data=a)
        b_1 = T.Buffer((4,), data=b)
        p: T.handle("float32") = T.address_of(a_1[2])
        T.call_extern("int32", "copy", A.data, p)
        T.call_extern("int32", "copy", A.data, T.address_of(b_1[1]))
        T.call_extern("int32", "copy", p, A.data)

    @T.prim_func
    def copy(A: T.Buffer((1,), "float32"), B: T.Buffer((1,), "float32")):
        B[0] = A[0]
)"));
  BATON_ASSERT_OK_AND_ASSIGN(const BufferInfoAnalysis analysis,
                             Analyzed(module, "main", ""));
  EXPECT_THAT(ConflictsOf(analysis, "a"), UnorderedElementsAre("b"));
}

// An input that is read last must not be overwritten before.
TEST(BufferInfoTest, InputsAndOutputsLiveLonger) {
  const IRModule module = Parsed(absl::StrCat(kHead, R"(
    @T.prim_func
    def main(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32"), C: T.Buffer((4,), "float32")):
        t = T.allocate([4], "float32")
        t_1 = T.Buffer((4,), data=t)
        for i in range(4):
            C[i] = A[i]
        for i in range(4):
            t_1[i] = A[i]
        for i in range(4):
            T.evaluate(t_1[i] + B[i])
)"));
  BATON_ASSERT_OK_AND_ASSIGN(
      const IRModule created,
      RunPipeline(module, "tir.usmp.CreateAllocatesForIO"));
  BATON_ASSERT_OK_AND_ASSIGN(const BufferInfoAnalysis analysis,
                             Analyzed(created, "main", ""));
  EXPECT_THAT(ConflictsOf(analysis, "B_handle"),
              UnorderedElementsAre("A_handle", "C_handle", "t"));
  EXPECT_THAT(ConflictsOf(analysis, "C_handle"),
              UnorderedElementsAre("A_handle", "B_handle", "t"));
}

// Vectors count all their lanes.
TEST(BufferInfoTest, Bytes) {
  const IRModule module = Parsed(absl::StrCat(kHead, R"(
    @T.prim_func
    def main(n: T.int32):
        a = T.allocate([2, 3], "float32x4")
        b = T.allocate([n], "float32")
        c = T.allocate([5], "bool")
        d = T.allocate([5], "float32", "shared")
        e = T.allocate([1073741824, 1024], "float32")
        T.evaluate(0)
)"));
  BATON_ASSERT_OK_AND_ASSIGN(const BufferInfoAnalysis analysis,
                             Analyzed(module, "main", ""));
  ASSERT_EQ(analysis.problem.buffers.size(), 3);
  EXPECT_EQ(Find(analysis, "a")->bytes, 96);
  EXPECT_EQ(Find(analysis, "c")->bytes, 5);
  EXPECT_EQ(Find(analysis, "e")->bytes, int64_t{1} << 42);
}

// --- Errors -----------------------------------------------------------------

TEST(PlannerErrorTest, Functions) {
  EXPECT_THAT(ErrorOf(absl::StrCat(kHead, R"(
    @T.prim_func
    def main(A: T.Buffer((4,), "float32")):
        T.call_extern("int32", "main", A.data)
)")),
              HasSubstr("a function calls itself"));
  EXPECT_THAT(ErrorOf(absl::StrCat(kHead, R"(
    @T.prim_func
    def main(A: T.Buffer((4,), "float32")):
        T.call_extern("int32", "f", A.data, A.data, A.data)

    @T.prim_func
    def f(A: T.Buffer((4,), "float32")):
        T.evaluate(0)
)")),
              HasSubstr("a call of f has 3 arguments for 1 parameters"));
  EXPECT_THAT(ErrorOf(absl::StrCat(kHead, R"(
    @T.prim_func
    def main(A: T.Buffer((4,), "float32")):
        T.call_extern("int32", "f", A.data)

    @T.prim_func
    def f(A: T.Buffer((4,), "float32")):
        b = T.allocate([4], "float32")
        T.evaluate(0)

    @T.prim_func
    def other(A: T.Buffer((4,), "float32")):
        T.call_extern("int32", "f", A.data)
)")),
              HasSubstr("other calls f, which main calls, too: main must call "
                        "other, or it has no memory pools to pass"));
  EXPECT_THAT(ErrorOf(absl::StrCat(kHead, R"(
    @T.prim_func
    def start():
        T.evaluate(0)
)")),
              HasSubstr("main"));
}

TEST(PlannerErrorTest, Pools) {
  const std::string text = absl::StrCat(kHead, R"(
    @T.prim_func
    def main():
        b = T.allocate([4], "float32")
        T.evaluate(0)
)");
  const auto error = [&](absl::string_view pools) {
    return ErrorOf(text,
                   absl::StrCat("tir.UnifiedStaticMemoryPlanner{", pools, "}"));
  };
  EXPECT_THAT(error("workspace_memory_pools=[{pool_name:a},{pool_name:a}]"),
              HasSubstr("two pools are named a"));
  EXPECT_THAT(error("workspace_memory_pools=[{pool_name:a,size:3}]"),
              HasSubstr("unknown property `size` of a memory pool"));
  EXPECT_THAT(error("workspace_memory_pools=[{size_hint_bytes:3}]"),
              HasSubstr("a pool has no pool_name"));
  EXPECT_THAT(error("workspace_memory_pools=3"),
              HasSubstr("this is no list of memory pools"));
  EXPECT_THAT(error("workspace_memory_pools=[{pool_name:a,targets:[c]}]"),
              HasSubstr("the function has no attribute `target`"));
  EXPECT_THAT(error("workspace_memory_pools=[{pool_name:a}],"
                    "constant_memory_pools=[{pool_name:a}]"),
              HasSubstr("pool a is for constants and for other buffers"));
  EXPECT_THAT(error("workspace_memory_pools=[{pool_name:a,size_hint_bytes:8}]"),
              HasSubstr("the memory pools are too small"));
  EXPECT_THAT(error("algorithm=best"), HasSubstr("best"));
  EXPECT_THAT(error("workspace_byte_alignment=0"),
              HasSubstr("an alignment of 0 bytes"));
  EXPECT_THAT(ErrorOf(text, "tir.usmp.PlanMemory"),
              HasSubstr("run tir.usmp.AssignPoolInfo first"));
}

// Only what main reaches needs a pool.
TEST(PlannerErrorTest, FunctionsThatMainDoesNotReach) {
  const auto text = [](absl::string_view body) {
    return absl::StrCat(kHead, R"(
    @T.prim_func
    def main(A: T.Buffer((4,), "float32")):
        T.func_attr({"target": T.target("c")})
        b = T.allocate([4], "float32")
        )",
                        body, R"(

    @T.prim_func
    def kernel(A: T.Buffer((4,), "float32")):
        T.func_attr({"target": T.target("cuda")})
        d = T.allocate([4], "float32")
        T.evaluate(d)

    @T.prim_func
    def of_no_target():
        e = T.allocate([4], "float32")
        T.evaluate(e)
)");
  };
  constexpr absl::string_view kPlanner =
      "tir.UnifiedStaticMemoryPlanner{workspace_memory_pools=["
      "{pool_name:a,targets:[c]}]}";
  const IRModule module = Parsed(text("T.evaluate(b)"));
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule planned,
                             RunPipeline(module, kPlanner));
  for (const char* const name : {"kernel", "of_no_target"}) {
    EXPECT_EQ(planned.Find(name), module.Find(name));
  }
  EXPECT_THAT(
      ErrorOf(text("T.call_extern(\"int32\", \"kernel\", b)"), kPlanner),
      HasSubstr("no memory pool is for the target of the function"));
  EXPECT_THAT(
      ErrorOf(text("T.call_extern(\"int32\", \"of_no_target\")"), kPlanner),
      HasSubstr("the function has no attribute `target`"));
}

TEST(PlannerErrorTest, InputsAndOutputs) {
  const auto error = [](absl::string_view body) {
    return ErrorOf(
        absl::StrCat(kHead,
                     "    @T.prim_func\n    def main(A: T.Buffer((4,), "
                     "\"float32\")):\n        ",
                     body, "\n"),
        "tir.usmp.CreateAllocatesForIO");
  };
  EXPECT_THAT(error("T.evaluate(0)"), HasSubstr("neither read nor written"));
  EXPECT_THAT(error("A[0] = A[1]"), HasSubstr("it is read and written"));
  EXPECT_EQ(error("A[0] = T.float32(1)"), "");
}

// --- Values -----------------------------------------------------------------

// Puts the bodies of called functions in the places of the calls.
class Inliner final : public Rewriter {
 public:
  explicit Inliner(const IRModule& module) : module_(module) {}

 protected:
  Stmt VisitEvaluate(const EvaluateNode* node) override {
    const auto* call = node->value().As<CallNode>();
    if (call == nullptr) return Stmt(node);
    const absl::StatusOr<CalledFunction> called = CalledBy(call, module_);
    EXPECT_TRUE(called.ok()) << called.status();
    if (!called.ok() || !called->function.defined()) return Stmt(node);
    Stmt body = Rewrite(called->function->body());
    for (size_t i = called->args.size(); i-- > 0;) {
      const Buffer buffer = called->function->BufferOf(static_cast<int>(i));
      body = LetStmt(
          buffer.defined() ? buffer->data() : called->function->params()[i],
          called->args[i], std::move(body));
    }
    return body;
  }

 private:
  const IRModule& module_;
};

constexpr int kSize = 6;

// A program of main(A, B) that calls functions with memory of their own.
class RandomProgram {
 public:
  explicit RandomProgram(uint32_t seed) : random_(seed) {}

  std::string Text() {
    std::string text = kHead;
    for (int i = 0; i < kFunctions; ++i) absl::StrAppend(&text, Function(i));
    absl::StrAppend(&text,
                    "    @T.prim_func\n    def main(A: T.Buffer((6,), "
                    "\"float32\"), B: T.Buffer((6,), \"float32\")):\n");
    const int num_buffers = 2 + Below(5);
    for (int i = 0; i < num_buffers; ++i) {
      absl::StrAppend(&text, "        t", i,
                      " = T.allocate([6], \"float32\")\n");
    }
    std::vector<std::string> filled = {"A.data"};
    for (int i = 0; i < kFunctions; ++i) {
      const std::string to = absl::StrCat("t", i % num_buffers);
      absl::StrAppend(&text, "        T.call_extern(\"int32\", \"f", i, "\", ",
                      filled.back(), ", ", to, ")\n");
      filled.push_back(to);
    }
    const auto any_filled = [&] { return filled[Below(filled.size())]; };
    for (int i = 0; i < 12; ++i) {
      std::string indent = "        ";
      if (Below(3) == 0) {
        const int kind = Below(2);
        absl::StrAppend(
            &text, indent,
            kind == 0 ? "for i in range(2):\n" : "for i, j in T.grid(2, 2):\n");
        absl::StrAppend(&indent, "    ");
      }
      std::vector<std::string> newly_filled;
      for (int k = indent.size() > 8 ? 1 + Below(3) : 1; k > 0; --k) {
        const std::string to = absl::StrCat("t", Below(num_buffers));
        absl::StrAppend(&text, indent, "T.call_extern(\"int32\", \"f",
                        Below(kFunctions), "\", ", any_filled(), ", ", to,
                        ")\n");
        // Within the loop and behind it.
        filled.push_back(to);
      }
    }
    absl::StrAppend(&text, "        T.call_extern(\"int32\", \"f0\", ",
                    any_filled(), ", B.data)\n");
    return text;
  }

 private:
  static constexpr int kFunctions = 5;

  int Below(size_t limit) { return static_cast<int>(random_() % limit); }

  // Functions call those of lower numbers.
  std::string Function(int number) {
    std::string text =
        absl::StrCat("    @T.prim_func\n    def f", number,
                     "(A: T.Buffer((6,), \"float32\"), B: T.Buffer((6,), "
                     "\"float32\")):\n");
    const int kind = number == 0 ? 0 : Below(4);
    const int shift = Below(kSize);
    if (kind == 0) {
      absl::StrAppend(&text,
                      "        for i in range(6):\n            B[i] = A[(i + ",
                      shift, ") % 6] + T.float32(", Below(9), ")\n\n");
    } else if (kind == 1) {
      // Without a loop.
      for (int i = 0; i < kSize; ++i) {
        absl::StrAppend(&text, "        B[", i, "] = A[", (i + shift) % kSize,
                        "] * T.float32(0.5)\n");
      }
      absl::StrAppend(&text, "\n");
    } else if (kind == 2) {
      absl::StrAppend(&text, "        own = T.decl_buffer([6], \"float32\")\n",
                      "        for i in range(6):\n            own[i] = A[i]\n",
                      "        T.call_extern(\"int32\", \"f", Below(number),
                      "\", own.data, B.data)\n\n");
    } else {
      absl::StrAppend(&text, "        own = T.allocate([12], \"float32\")\n",
                      "        own_1 = T.Buffer((12,), data=own)\n",
                      "        T.call_extern(\"int32\", \"f", Below(number),
                      "\", A.data, T.address_of(own_1[6]))\n",
                      "        for i in range(6):\n",
                      "            last = T.allocate([1], \"float32\")\n",
                      "            last_1 = T.Buffer((1,), data=last)\n",
                      "            last_1[0] = own_1[6 + i]\n",
                      "            B[5 - i] = last_1[0]\n\n");
    }
    return text;
  }

  std::mt19937 random_;
};

// The memory of B of main(A, B) after a run; pools that are parameters begin
// with arbitrary bytes.
std::vector<float> Results(const IRModule& module) {
  const auto main = module.Find<PrimFunc>("main");
  std::vector<Argument> arguments = {
      Argument(*Tensor::FromValues<float>({kSize}, {1, 2, 3, 4, 5, 6})),
      Argument(*Tensor::FromValues<float>({kSize}, {0, 0, 0, 0, 0, 0}))};
  for (size_t i = 2; i < main->params().size(); ++i) {
    int64_t bytes = 0;
    EXPECT_TRUE(
        IntegerOf(main->BufferOf(static_cast<int>(i))->shape()[0], bytes));
    arguments.emplace_back(*Tensor::FromValues<uint8_t>(
        {bytes}, std::vector<uint8_t>(static_cast<size_t>(bytes), 0xA5)));
  }
  const absl::StatusOr<std::vector<Tensor>> result =
      Interpret(Inliner(module).RewriteBody(main), arguments);
  EXPECT_TRUE(result.ok()) << result.status().message();
  if (!result.ok()) return {};
  const absl::Span<const float> values = (*result)[1].span<float>();
  return {values.begin(), values.end()};
}

TEST(PlannedValuesTest, RandomPrograms) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const std::string text = RandomProgram(seed).Text();
    const IRModule module = Parsed(text);
    const std::vector<float> expected = Results(module);
    for (const char* options :
         {"algorithm=greedy_by_size", "algorithm=greedy_by_conflicts",
          "algorithm=hill_climb", "algorithm=arena",
          "workspace_memory_pools=[{pool_name:a,size_hint_bytes:48},"
          "{pool_name:b}]",
          "algorithm=arena,workspace_memory_pools=[{pool_name:a,"
          "size_hint_bytes:150},{pool_name:b}]"}) {
      BATON_ASSERT_OK_AND_ASSIGN(
          const IRModule planned,
          RunPipeline(module, absl::StrCat("tir.UnifiedStaticMemoryPlanner{",
                                           options, "}")));
      ASSERT_EQ(Results(planned), expected) << options << "\n"
                                            << text << AsText(planned);
    }
  }
}

}  // namespace
}  // namespace baton::tir
