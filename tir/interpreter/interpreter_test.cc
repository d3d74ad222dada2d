#include "baton/tir/interpreter/interpreter.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/tir/ir/function.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::tir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

PrimFunc Parsed(absl::string_view signature, absl::string_view body) {
  std::string text = absl::StrCat("@T.prim_func\ndef main(", signature, "):\n");
  for (absl::string_view rest = body; !rest.empty();) {
    const size_t end = rest.find('\n');
    absl::StrAppend(&text, "    ", rest.substr(0, end), "\n");
    if (end == absl::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  const absl::StatusOr<IRModule> module = ParseModule(text, "test.tir");
  EXPECT_TRUE(module.ok()) << module.status().message();
  if (!module.ok()) return {};
  return PrimFunc(module->Find("main").As<PrimFuncNode>());
}

Tensor Floats(std::vector<float> values) {
  return *Tensor::FromValues<float>({static_cast<int64_t>(values.size())},
                                    values);
}
Tensor Ints(std::vector<int32_t> values) {
  return *Tensor::FromValues<int32_t>({static_cast<int64_t>(values.size())},
                                      values);
}

// The contents of the last buffer after the run.
std::vector<float> Result(const PrimFunc& function,
                          std::vector<Argument> arguments,
                          const InterpretOptions& options = {}) {
  const absl::StatusOr<std::vector<Tensor>> result =
      Interpret(function, arguments, options);
  EXPECT_TRUE(result.ok()) << result.status().message();
  if (!result.ok()) return {};
  const absl::Span<const float> values = result->back().span<float>();
  return {values.begin(), values.end()};
}

std::string Mistake(const PrimFunc& function, std::vector<Argument> arguments,
                    const InterpretOptions& options = {}) {
  return std::string(
      Interpret(function, arguments, options).status().message());
}

constexpr char kTwoBuffers[] =
    "A: T.Buffer((4,), \"float32\"), B: T.Buffer((4,), \"float32\")";

TEST(InterpreterTest, RunsLoopsAndBlocks) {
  const PrimFunc function = Parsed(kTwoBuffers,
                                   R"(for i in range(4):
    with T.block("B"):
        vi = T.axis.spatial(4, i)
        T.reads(A[vi])
        T.writes(B[vi])
        B[vi] = T.max(A[vi] * T.float32(2), T.float32(3)))");
  EXPECT_THAT(Result(function, {Floats({1, 2, -3, 4}), Floats({0, 0, 0, 0})}),
              ElementsAre(3, 4, 3, 8));
}

TEST(InterpreterTest, InitializesReductionsAtTheirBeginning) {
  const PrimFunc function =
      Parsed("A: T.Buffer((2, 3), \"float32\"), B: T.Buffer((2,), \"float32\")",
             R"(for i, k in T.grid(2, 3):
    with T.block("B"):
        vi, vk = T.axis.remap("SR", [i, k])
        T.reads(A[vi, vk])
        T.writes(B[vi])
        with T.init():
            B[vi] = T.float32(0)
        B[vi] = B[vi] + A[vi, vk])");
  EXPECT_THAT(
      Result(function, {*Tensor::FromValues<float>({2, 3}, {1, 2, 3, 4, 5, 6}),
                        Floats({9, 9})}),
      ElementsAre(6, 15));
}

TEST(InterpreterTest, ComputesVectors) {
  const PrimFunc function =
      Parsed(kTwoBuffers, R"(B[0:4] = A[0:4] + T.Broadcast(T.float32(1), 4)
B[T.Ramp(0, 2, 2)] = A[T.Ramp(1, 2, 2)])");
  EXPECT_THAT(Result(function, {Floats({1, 2, 3, 4}), Floats({0, 0, 0, 0})}),
              ElementsAre(2, 3, 4, 5));
}

// A cast to float32 rounds to the nearest float once. Rounding to a double
// first would move 2^60 + 2^36 + 1 to the middle of two floats, and then down.
TEST(InterpreterTest, RoundsIntegersOnce) {
  const PrimFunc function =
      Parsed("A: T.Buffer((4,), \"int64\"), B: T.Buffer((4,), \"float32\")",
             "for i in range(4):\n    B[i] = T.Cast(\"float32\", A[i])");
  const std::vector<int64_t> integers = {
      (int64_t{1} << 60) + (int64_t{1} << 36) + 1,
      -(int64_t{1} << 60) - (int64_t{1} << 36) - 1, 16777217, 16777219};
  EXPECT_THAT(
      Result(function, {*Tensor::FromValues<int64_t>({4}, integers),
                        Floats({0, 0, 0, 0})}),
      ElementsAre(0x1.000002p60f, -0x1.000002p60f, 16777216.0f, 16777220.0f));
}

TEST(InterpreterTest, BindsDimensionsThatAreVariables) {
  const PrimFunc function = Parsed("a: T.handle, n: T.int32",
                                   R"(m = T.int32()
A = T.match_buffer(a, (m,))
for i in range(m):
    A[i] = A[i] + T.Cast("float32", n))");
  EXPECT_THAT(Result(function, {Floats({1, 2, 3}), Argument(int64_t{5})}),
              ElementsAre(6, 7, 8));
}

TEST(InterpreterTest, DividesAsEachOperationSays) {
  const PrimFunc function =
      Parsed("A: T.Buffer((2,), \"int32\"), B: T.Buffer((4,), \"float32\")",
             R"(B[0] = T.Cast("float32", T.Div(A[0], A[1]))
B[1] = T.Cast("float32", A[0] // A[1])
B[2] = T.Cast("float32", T.truncmod(A[0], A[1]))
B[3] = T.Cast("float32", A[0] % A[1]))");
  EXPECT_THAT(Result(function, {Ints({-7, 2}), Floats({0, 0, 0, 0})}),
              ElementsAre(-3, -4, -1, 1));
  EXPECT_THAT(Mistake(function, {Ints({1, 0}), Floats({0, 0, 0, 0})}),
              HasSubstr("division by zero"));
}

TEST(InterpreterTest, AllocatesMemoryAndFindsUninitializedReads) {
  const PrimFunc function = Parsed(kTwoBuffers,
                                   R"(C_1 = T.allocate([4], "float32", "global")
C = T.Buffer((4,), data=C_1)
for i in range(3):
    C[i] = A[i]
for i in range(4):
    B[i] = C[i])");
  EXPECT_THAT(Mistake(function, {Floats({1, 2, 3, 4}), Floats({0, 0, 0, 0})}),
              HasSubstr("an element of buffer C is read before it is written"));
  EXPECT_THAT(Result(function, {Floats({1, 2, 3, 4}), Floats({0, 0, 0, 0})},
                     {.check_initialized = false}),
              ElementsAre(1, 2, 3, ::testing::Gt(1e15)));
}

TEST(InterpreterTest, ChecksIndices) {
  const PrimFunc function = Parsed(kTwoBuffers, R"(for i in range(5):
    B[i] = A[3])");
  const std::string message =
      Mistake(function, {Floats({1, 2, 3, 4}), Floats({0, 0, 0, 0})});
  EXPECT_THAT(message,
              HasSubstr("index 4 of axis 0 of buffer B is not below 4"));
  EXPECT_THAT(message, HasSubstr("test.tir:4"));
}

TEST(InterpreterTest, ChecksRegionsOfBlocks) {
  const PrimFunc function = Parsed(kTwoBuffers, R"(for i in range(4):
    with T.block("B"):
        vi = T.axis.spatial(4, i)
        T.reads(A[0:2])
        T.writes(B[vi])
        B[vi] = A[vi])");
  const std::vector<Argument> arguments = {Floats({1, 2, 3, 4}),
                                           Floats({0, 0, 0, 0})};
  EXPECT_THAT(Mistake(function, arguments),
              HasSubstr("block B reads A[2], which its T.reads does not name"));
  EXPECT_THAT(Result(function, arguments, {.check_regions = false}),
              ElementsAre(1, 2, 3, 4));
}

TEST(InterpreterTest, ShufflesParallelLoops) {
  const PrimFunc function = Parsed(kTwoBuffers, R"(for i in T.parallel(4):
    B[0] = A[i])");
  const std::vector<Argument> arguments = {Floats({1, 2, 3, 4}),
                                           Floats({0, 0, 0, 0})};
  EXPECT_EQ(Result(function, arguments)[0], 4);
  bool differs = false;
  for (uint64_t seed = 1; seed < 10; ++seed) {
    differs |= Result(function, arguments, {.shuffle_seed = seed})[0] != 4;
  }
  EXPECT_TRUE(differs);
}

TEST(InterpreterTest, FindsParallelLoopsWhoseOrderMatters) {
  const auto mistake = [](absl::string_view body) {
    return Mistake(Parsed(kTwoBuffers, body),
                   {Floats({1, 2, 3, 4}), Floats({0, 0, 0, 0})},
                   {.check_order = true});
  };
  EXPECT_THAT(mistake(R"(for i in T.parallel(4):
    B[i] = A[i]
for j in T.parallel(3):
    B[j + 1] = B[j])"),
              HasSubstr("test.tir:5:5: error: iterations of parallel loop j "
                        "depend on one another. In another order (seed 1), "
                        "element "));
  // Two iterations are swapped, whatever the seed.
  EXPECT_THAT(mistake("for i in T.parallel(2):\n    B[0] = A[i]"),
              HasSubstr("parallel loop i"));
  const PrimFunc independent =
      Parsed(kTwoBuffers, "for i in T.parallel(4):\n    B[i] = A[3 - i]");
  EXPECT_THAT(Result(independent, {Floats({1, 2, 3, 4}), Floats({0, 0, 0, 0})},
                     {.check_order = true}),
              ElementsAre(4, 3, 2, 1));
}

TEST(InterpreterTest, RunsCalledFunctions) {
  const absl::StatusOr<IRModule> module = ParseModule(R"(@I.ir_module
class Module:
    @T.prim_func(private=True)
    def add(A: T.handle("float32", "global"), n: T.int32) -> T.int32:
        A_1 = T.decl_buffer((4,), data=A)
        for i in range(n):
            A_1[i] = A_1[i] + T.float32(1)
        T.ret(n + 1)

    @T.prim_func(private=True)
    def forever(n: T.int32):
        Module.forever(n)

    @T.prim_func
    def main(B: T.Buffer((4,), "float32")):
        for i in range(2):
            n: T.int32 = Module.add(B.data, 2)
            B[n] = B[n] + T.float32(10)

    @T.prim_func
    def lost(B: T.Buffer((4,), "float32")):
        Module.forever(1)
)");
  ASSERT_TRUE(module.ok()) << module.status().message();
  const auto run = [&](absl::string_view name,
                       const InterpretOptions& options) {
    return Interpret(module->Find<PrimFunc>(name), {Floats({0, 0, 0, 0})},
                     options);
  };
  const auto result = run("main", {.module = &*module});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT((*result)[0].span<float>(), ElementsAre(2, 2, 0, 20));
  EXPECT_THAT(std::string(run("main", {}).status().message()),
              HasSubstr("a call of a function that is not known"));
  EXPECT_THAT(std::string(run("lost", {.module = &*module}).status().message()),
              HasSubstr("calls are nested deeper than 100"));
}

TEST(InterpreterTest, StopsAtALimitAndRefusesWhatItCannotRun) {
  EXPECT_THAT(
      Mistake(Parsed(kTwoBuffers, "while T.bool(True):\n    B[0] = A[0]"),
              {Floats({1, 2, 3, 4}), Floats({0, 0, 0, 0})},
              {.max_steps = 1000}),
      HasSubstr("more than 1000 steps"));
  EXPECT_THAT(
      Mistake(Parsed(kTwoBuffers, "T.call_extern(\"int32\", \"f\", A.data)"),
              {Floats({1, 2, 3, 4}), Floats({0, 0, 0, 0})}),
      HasSubstr("T.call_extern cannot be interpreted"));
  EXPECT_THAT(Mistake(Parsed(kTwoBuffers, "B[0] = A[0]"), {Floats({1})}),
              HasSubstr("has 2 parameters, got 1"));
  EXPECT_THAT(
      Mistake(Parsed(kTwoBuffers, "B[0] = A[0]"), {Floats({1}), Floats({1})}),
      HasSubstr("buffer A does not hold a float32[1]"));
}

int64_t DigestOf(absl::string_view body, const InterpretOptions& options) {
  const absl::StatusOr<std::vector<Tensor>> result =
      Interpret(Parsed(kTwoBuffers, body),
                {Floats({1, 2, 3, 4}), Floats({0, 0, 0, 0})}, options);
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() && result->size() == 3 ? result->back().AtAsInt64(0) : 0;
}

TEST(InterpreterTest, StandsInForExternalFunctions) {
  const InterpretOptions options = {.stand_in_for_externs = true};
  const int64_t digest =
      DigestOf("T.evaluate(T.call_extern(\"int32\", \"f\", 1))", options);
  EXPECT_EQ(
      DigestOf("T.evaluate(T.call_extern(\"int32\", \"f\", 2 - 1))", options),
      digest);
  EXPECT_NE(DigestOf("T.evaluate(T.call_extern(\"int32\", \"f\", 2))", options),
            digest);
  EXPECT_NE(DigestOf("T.evaluate(T.call_extern(\"int32\", \"g\", 1))", options),
            digest);
  EXPECT_NE(DigestOf("for i in range(2):\n"
                     "    T.evaluate(T.call_extern(\"int32\", \"f\", 1))",
                     options),
            digest);
  EXPECT_EQ(DigestOf("x: T.float32 = T.call_extern(\"float32\", \"f\")\n"
                     "B[0] = x - T.call_extern(\"float32\", \"f\")",
                     options),
            DigestOf("T.evaluate(T.call_extern(\"float32\", \"f\"))\n"
                     "T.evaluate(T.call_extern(\"float32\", \"f\"))",
                     options));
}

TEST(InterpreterTest, SpareBytesAreBehindTheMemory) {
  const InterpretOptions options = {.spare_bytes = 64};
  const int64_t digest = DigestOf("B[4] = A[0]", options);
  EXPECT_EQ(DigestOf("B[2 + 2] = A[0]", options), digest);
  EXPECT_NE(DigestOf("B[4] = A[1]", options), digest);
  EXPECT_NE(DigestOf("B[5] = A[0]", options), digest);
  EXPECT_THAT(Mistake(Parsed(kTwoBuffers, "B[20] = A[0]"),
                      {Floats({1, 2, 3, 4}), Floats({0, 0, 0, 0})}, options),
              HasSubstr("is outside of its memory"));
}

TEST(InterpreterTest, VectorsAreALastAxis) {
  const PrimFunc function =
      Parsed("A: T.Buffer((2,), \"float32x2\"), B: T.Buffer((4,), \"float32\")",
             "B[T.Ramp(0, 1, 2)] = A[1]\nT.start_profile_intrinsic(1)");
  EXPECT_THAT(
      Result(function, {*Tensor::FromValues<float>({2, 2}, {1, 2, 3, 4}),
                        Floats({0, 0, 0, 0})}),
      ElementsAre(3, 4, 0, 0));
  EXPECT_THAT(Mistake(function, {Floats({1, 2}), Floats({0, 0, 0, 0})}),
              HasSubstr("buffer A does not hold a float32[2]"));
}

}  // namespace
}  // namespace baton::tir
