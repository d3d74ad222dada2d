// Functions of loops, compiled in this process and run: the interpreter's bytes.

#include "baton/tir/jit/jit.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>  // NOLINT(build/c++11)
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/base/tensor.h"
#include "baton/tir/codegen/codegen_test_util.h"
#include "baton/tir/codegen/function_parts.h"
#include "baton/tir/codegen/llvm_source.h"
#include "baton/tir/interpreter/interpreter.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/jit/llvm_library.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::tir {
namespace {

using ::testing::HasSubstr;

#define SKIP_WITHOUT_LLVM()                                   \
  if (const auto library = LlvmLibrary::Get(); !library.ok()) \
  GTEST_SKIP() << library.status().message()

void RunAll(const JitProgram& program, const std::vector<Case>& cases,
            int level) {
  for (size_t i = 0; i < cases.size(); ++i) {
    const Case& one = cases[i];
    const absl::StatusOr<std::vector<Tensor>> results =
        program.Run(static_cast<int64_t>(i),
                    *ToArguments(one.function.function, one.arguments));
    ASSERT_TRUE(results.ok())
        << one.function.symbol << ": " << results.status().message();
    size_t memories = 0;
    for (size_t k = 0; k < one.arguments.size(); ++k) {
      if (one.function.function->params()[k].dtype() != kHandle) continue;
      const Tensor& expected = one.expected[memories];
      EXPECT_TRUE(HoldsValues(
          static_cast<const char*>((*results)[memories].data()), expected))
          << one.function.symbol << ", parameter " << k << ", O" << level;
      ++memories;
    }
    EXPECT_EQ(results->size(), memories);
  }
}

void CompareCompiled(const std::vector<Case>& cases) {
  SKIP_WITHOUT_LLVM();
  std::vector<CppFunction> functions;
  for (const Case& one : cases) functions.push_back(one.function);
  for (const int level : {0, 2}) {
    const auto program =
        JitProgram::Compile(functions, {.optimization_level = level});
    ASSERT_TRUE(program.ok()) << program.status().message();
    RunAll(**program, cases, level);
  }
}

TEST(JitTest, ComputesStatements) { CompareCompiled(StatementCases()); }
TEST(JitTest, ComputesIntegers) { CompareCompiled(IntegerCases()); }
TEST(JitTest, ComputesFloats) { CompareCompiled(FloatCases()); }
TEST(JitTest, ComputesVectors) { CompareCompiled(VectorCases()); }
TEST(JitTest, ComputesMathematics) { CompareCompiled(MathCases()); }
TEST(JitTest, ComputesRandomExpressions) {
  CompareCompiled(RandomExpressionCases());
}
TEST(JitTest, ComputesRandomLoops) { CompareCompiled(RandomLoopCases(30)); }
TEST(JitTest, ComputesRecordedScripts) {
  const std::vector<Case> cases =
      RecordedCases([](const CppFunction& function) {
        return WriteLlvmSource({function}, {}).ok();
      });
  EXPECT_GT(cases.size(), 50u);
  CompareCompiled(cases);
}

TEST(JitTest, RunsOnSeveralThreads) {
  SKIP_WITHOUT_LLVM();
  const std::vector<Case> cases = FloatCases();
  std::vector<CppFunction> functions;
  for (const Case& one : cases) functions.push_back(one.function);
  const auto program = JitProgram::Compile(functions);
  ASSERT_TRUE(program.ok()) << program.status().message();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] { RunAll(**program, cases, 2); });
  }
  for (std::thread& thread : threads) thread.join();
}

PrimFunc Doubles() {
  return Parsed("a: T.handle, scale: T.float32", R"(n = T.int32()
A = T.match_buffer(a, (n, n), "float32")
for i in range(n):
    for j in range(n):
        A[i, j] = A[i, j] * scale)");
}

TEST(JitTest, ArgumentsAreChecked) {
  SKIP_WITHOUT_LLVM();
  const auto program = JitProgram::Compile({{"doubles", Doubles(), ""}});
  ASSERT_TRUE(program.ok()) << program.status().message();
  const auto message = [&](std::vector<Argument> arguments, int64_t index = 0) {
    return std::string((*program)->Run(index, arguments).status().message());
  };
  const Tensor square = *Tensor::Zeros(DType::Float(32), {3, 3});
  const Tensor other = *Tensor::Zeros(DType::Float(32), {3, 4});
  EXPECT_THAT(message({Argument(square)}),
              HasSubstr("the function has 2 parameters, got 1 arguments"));
  EXPECT_THAT(message({Argument(other), Argument(2.0)}),
              HasSubstr("buffer A does not hold a float32[3, 4]"));
  EXPECT_THAT(message({Argument(square), Argument(square)}),
              HasSubstr("parameter scale is a number, got a tensor"));
  EXPECT_THAT(message({}, 1), HasSubstr("there is no function 1 of 1"));
  EXPECT_EQ(message({Argument(square), Argument(2.0)}), "");
}

// As the interpreter converts them.
TEST(JitTest, NumbersAreConverted) {
  SKIP_WITHOUT_LLVM();
  const PrimFunc function = Parsed(
      "A: T.Buffer((2,), \"float64\"), n: T.int32, x: T.float32, b: T.bool",
      R"(A[0] = T.Cast("float64", n)
if b:
    A[1] = T.Cast("float64", x))");
  const auto program = JitProgram::Compile({{"numbers", function, ""}});
  ASSERT_TRUE(program.ok()) << program.status().message();
  const Tensor memory = *Tensor::Zeros(DType::Float(64), {2});
  for (const std::vector<Argument>& numbers :
       {std::vector<Argument>{Argument(3e9), Argument(int64_t{16777217}),
                              Argument(int64_t{2})},
        {Argument(std::nan("")), Argument(0.1), Argument(0.5)},
        {Argument(int64_t{1} << 40), Argument(1e300), Argument(int64_t{1})}}) {
    std::vector<Argument> arguments = {Argument(memory)};
    arguments.insert(arguments.end(), numbers.begin(), numbers.end());
    const auto expected = Interpret(function, arguments);
    ASSERT_TRUE(expected.ok()) << expected.status().message();
    const auto results = (*program)->Run(0, arguments);
    ASSERT_TRUE(results.ok()) << results.status().message();
    EXPECT_EQ((*results)[0].bytes(), (*expected)[0].bytes());
  }
}

TEST(JitTest, ArgumentsKeepTheirValues) {
  SKIP_WITHOUT_LLVM();
  const auto program = JitProgram::Compile({{"doubles", Doubles(), ""}});
  ASSERT_TRUE(program.ok()) << program.status().message();
  MutableTensor ones = *MutableTensor::Create(DType::Float(32), {2, 2});
  for (float& x : ones.span<float>()) x = 1;
  const Tensor argument = std::move(ones).Freeze();
  const auto results = (*program)->Run(0, {Argument(argument), Argument(2.5)});
  ASSERT_TRUE(results.ok()) << results.status().message();
  EXPECT_EQ((*results)[0].AtAsDouble(3), 2.5);
  EXPECT_EQ(argument.AtAsDouble(3), 1.0);
}

TEST(JitTest, AssertedConditionsAreErrors) {
  SKIP_WITHOUT_LLVM();
  const auto program =
      JitProgram::Compile({{"small",
                            Parsed("A: T.Buffer((1,), \"int32\"), n: T.int32",
                                   "assert n < 4, \"n is small\"\nA[0] = n"),
                            ""}});
  ASSERT_TRUE(program.ok()) << program.status().message();
  const Tensor memory = *Tensor::Zeros(DType::Int(32), {1});
  EXPECT_TRUE(
      (*program)->Run(0, {Argument(memory), Argument(int64_t{3})}).ok());
  EXPECT_EQ((*program)
                ->Run(0, {Argument(memory), Argument(int64_t{4})})
                .status()
                .message(),
            "function small: an asserted condition does not hold");
}

TEST(JitTest, RefusesFunctionsThatAreNotLowered) {
  SKIP_WITHOUT_LLVM();
  const absl::Status status =
      JitProgram::Compile(
          {{"f",
            Parsed("A: T.Buffer((8,), \"float32\")",
                   R"(for i in T.thread_binding(8, thread="threadIdx.x"):
    A[i] = T.float32(0))"),
            ""}})
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("a loop over threads cannot be written"));
  EXPECT_THAT(std::string(JitProgram::Compile({}, {.optimization_level = 4})
                              .status()
                              .message()),
              HasSubstr("from 0 to 3"));
}

}  // namespace
}  // namespace baton::tir
