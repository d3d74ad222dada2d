// Functions of loops, written as C++, compiled and run: the interpreter's bytes.

#include "baton/tir/codegen/cpp_source.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "baton/tir/codegen/codegen_test_util.h"
#include "baton/tir/ir/function.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::tir {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// --- Compiling and running -------------------------------------------------

// Functions that call the emitted ones with arrays of pointers.
absl::StatusOr<std::string> WholeSource(const std::vector<Case>& cases,
                                        CppSourceOptions options) {
  std::vector<CppFunction> functions;
  for (const Case& one : cases) functions.push_back(one.function);
  const absl::StatusOr<CppSource> probe = WriteCppSource(functions, options);
  if (!probe.ok()) return probe.status();
  options.tail = CallerText(cases, probe->functions);
  absl::StatusOr<CppSource> source = WriteCppSource(functions, options);
  if (!source.ok()) return source.status();
  return source->text;
}

// True if this machine has the instructions that a source may use.
bool MachineHas(CppIsa isa) {
  __builtin_cpu_init();
  switch (isa) {
    case CppIsa::kAvx512:
      return __builtin_cpu_supports("avx512vl") &&
             __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512bw");
    case CppIsa::kAvx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    default:
      return true;
  }
}

// Compiles the cases with a command, and compares what they compute if this
// machine has their instructions.
void CompileAndCompare(const std::vector<Case>& cases, CppIsa isa,
                       const std::string& compiler, const std::string& flags) {
  CppSourceOptions options;
  options.name_space = "generated";
  options.isa = isa;
  const absl::StatusOr<std::string> source = WholeSource(cases, options);
  ASSERT_TRUE(source.ok()) << source.status().message();
  const std::string base = TemporaryBase("cpp_source");
  std::ofstream(base + ".cc") << *source;
  std::ofstream(base + "_driver.cc") << kDriver;
  const std::string command = absl::StrCat(
      compiler,
      " -std=c++17 -Wall -Wextra -Wpedantic -Werror -fno-exceptions -fno-rtti ",
      flags, " ", base, ".cc -c -o ", base, ".o 2>", base, ".log && ", compiler,
      " -std=c++17 ", flags, " ", base, "_driver.cc ", base, ".o -o ", base,
      " -lm 2>>", base, ".log");
  ASSERT_EQ(std::system(command.c_str()), 0)
      << command << "\n"
      << FileText(base + ".log").substr(0, 4000) << "\n"
      << (cases.size() < 8 ? source->substr(source->rfind("// rt")) : "");
  if (!MachineHas(isa)) return;
  RunAndCompare(cases, base, absl::StrCat(compiler, " ", flags));
}

// All compilers that this machine has, and all widths.
void CompareEverywhere(std::vector<Case> all_cases) {
  if (!HasTool("g++")) GTEST_SKIP() << "there is no g++";
  const std::vector<Case> cases = Sample(std::move(all_cases));
  CompileAndCompare(cases, CppIsa::kSse2, "g++", "-O2");
  if (::testing::Test::HasFatalFailure()) return;
  CompileAndCompare(cases, CppIsa::kAvx512, "g++", "-O3");
  if (::testing::Test::HasFatalFailure()) return;
  // The call above compares values only on a machine that has AVX-512.
  if (!MachineHas(CppIsa::kAvx512)) {
    CompileAndCompare(cases, CppIsa::kAvx2, "g++", "-O3");
  }
  if (::testing::Test::HasFatalFailure()) return;
  CompileAndCompare(cases, CppIsa::kNone, "g++",
                    "-O1 -fsanitize=undefined,address "
                    "-fno-sanitize-recover=all");
  if (::testing::Test::HasFatalFailure()) return;
  if (!HasTool("clang++")) {
    std::cout << "there is no clang++: its part is skipped\n";
    return;
  }
  CompileAndCompare(cases, CppIsa::kAvx2, "clang++", "-O2");
  if (::testing::Test::HasFatalFailure()) return;
  CompileAndCompare(cases, CppIsa::kAvx512, "clang++", "-O1");
}

std::string TextOf(const PrimFunc& function, const std::string& symbol = "f") {
  CppSourceOptions options;
  options.name_space = "generated";
  const absl::StatusOr<CppSource> source =
      WriteCppSource({{symbol, function, "conv1 + relu1"}}, options);
  EXPECT_TRUE(source.ok()) << source.status().message();
  if (!source.ok()) return "";
  const size_t begin = source->text.find("\n// conv1 + relu1\n");
  return begin == std::string::npos ? source->text
                                    : source->text.substr(begin + 1);
}

// --- Text ----------------------------------------------------------------

TEST(CppSourceTest, WritesReadableLoops) {
  const PrimFunc function = Parsed(
      "A: T.Buffer((8, 16), \"float32\"), B: T.Buffer((128,), "
      "\"float32\")",
      R"(for i in range(8):
    for j in range(16):
        B[i * 16 + j] = T.max(A[i, j] * T.float32(0.5), T.float32(0)))");
  EXPECT_EQ(TextOf(function, "scale relu"),
            R"(// conv1 + relu1
static void scale_relu(const float* A, float* B) {
  // conv1 + relu1: B
  for (int32_t i = 0; i < 8; ++i) {
    for (int32_t j = 0; j < 16; ++j) {
      B[i * 16 + j] = rt::Max<float>(A[i * 16 + j] * 0.5f, 0.0f);
    }
  }
}

}  // namespace generated
)");
}

TEST(CppSourceTest, WrapsWhereBoundsAreUnknown) {
  const PrimFunc function = Parsed("A: T.Buffer((8,), \"int32\"), n: T.int32",
                                   R"(for i in range(8):
    A[i] = A[i] * n + i // 3 + (A[i] + 1) % 3)");
  const std::string text = TextOf(function);
  EXPECT_THAT(text, HasSubstr("rt::Mul<int32_t>(A[i], n)"));
  EXPECT_THAT(text, HasSubstr("i / 3"));
  EXPECT_THAT(text, HasSubstr("rt::FloorMod<int32_t>("));
}

TEST(CppSourceTest, EndsLoopsWhereTheyBegan) {
  const std::string text = TextOf(Parsed(
      "A: T.Buffer((8,), \"int32\")", "for i in range(A[0]):\n    A[0] = i"));
  EXPECT_THAT(text, HasSubstr("for (int32_t i = 0, i_end = A[0]; i < i_end; "
                              "++i) {"));
}

TEST(CppSourceTest, FoldsComparisonsThatCompilersWarnOf) {
  const PrimFunc function =
      Parsed("A: T.Buffer((8,), \"int32\"), B: T.Buffer((8,), \"float32\")",
             R"(for i in range(8):
    if A[i] == A[i] and i < 8:
        A[i] = T.Cast("int32", B[i] == B[i]))");
  const std::string text = TextOf(function);
  EXPECT_THAT(text, HasSubstr("if (true && true) {"));
  EXPECT_THAT(text, HasSubstr("B[i] == B[i]"));
}

// g++ inlines a function into one that has other settings of floats only if it
// must, and a loop that calls functions is slow.
TEST(CppSourceTest, CompilersInlineArithmeticBesideKernels) {
  if (!HasTool("g++")) GTEST_SKIP() << "there is no g++";
  const PrimFunc largest = Parsed(
      "A: T.Buffer((640,), \"float32\"), B: T.Buffer((32,), \"float32\")",
      R"(for k, i in T.grid(20, 32):
        B[i] = T.if_then_else(T.isnan(A[k * 32 + i]), A[k * 32 + i], T.max(B[i], A[k * 32 + i])))");
  CppSourceOptions options;
  options.name_space = "generated";
  options.isa = CppIsa::kAvx2;
  options.prelude = "\ninline int Kernel() { return 1; }\n";
  options.tail =
      "\nextern \"C\" void Run(const float* a, float* b) { f(a, b); }\n";
  const absl::StatusOr<CppSource> source =
      WriteCppSource({{"f", largest, ""}}, options);
  ASSERT_TRUE(source.ok()) << source.status().message();
  const std::string base = TemporaryBase("inlined");
  std::ofstream(base + ".cc") << source->text;
  const std::string command =
      absl::StrCat("g++ -std=c++17 -O2 -S ", base, ".cc -o ", base, ".s");
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  const std::string assembly = FileText(base + ".s");
  EXPECT_THAT(assembly, Not(HasSubstr("call"))) << source->text;
}

TEST(CppSourceTest, NamesAllThatItRefuses) {
  const PrimFunc threads =
      Parsed("A: T.Buffer((8,), \"float32\")",
             R"(for i in T.thread_binding(8, thread="threadIdx.x"):
    A[i] = T.float32(0))");
  const PrimFunc blocks = Parsed("A: T.Buffer((8,), \"float32\")",
                                 R"(for i in range(8):
    with T.block("B"):
        vi = T.axis.spatial(8, i)
        T.reads()
        T.writes(A[vi])
        A[vi] = T.float32(1))");
  CppSourceOptions options;
  options.name_space = "generated";
  const absl::Status status =
      WriteCppSource({{"f", threads, ""}, {"g", blocks, ""}}, options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  const std::string message(status.message());
  EXPECT_THAT(message, HasSubstr("test.tir:3:"));
  EXPECT_THAT(message,
              HasSubstr("error: function f: a loop over threads cannot "
                        "be written as C++"));
  EXPECT_THAT(message, HasSubstr("error: function g: a block"));
}

TEST(CppSourceTest, HasNoOtherIncludesAndIsTheSameEachTime) {
  const PrimFunc function = Parsed("A: T.Buffer((8,), \"float32\")",
                                   R"(for i in range(8):
    A[i] = T.exp(A[i]))");
  CppSourceOptions options;
  options.name_space = "a::b";
  options.head = {"model.onnx\nsystem(\"*/\"); \\"};
  const absl::StatusOr<CppSource> source =
      WriteCppSource({{"f", function, ""}}, options);
  ASSERT_TRUE(source.ok()) << source.status().message();
  std::vector<std::string> includes;
  for (absl::string_view line : absl::StrSplit(source->text, '\n')) {
    if (absl::StartsWith(line, "#include")) includes.emplace_back(line);
  }
  EXPECT_THAT(includes, ::testing::ElementsAre("#include <cstddef>",
                                               "#include <cstdint>"));
  EXPECT_THAT(source->text, Not(HasSubstr("std::")));
  EXPECT_THAT(source->text, Not(HasSubstr("BATON")));
  EXPECT_EQ(source->text, WriteCppSource({{"f", function, ""}}, options)->text);
}

TEST(CppSourceTest, HasALineTable) {
  const PrimFunc function = Parsed("A: T.Buffer((8,), \"float32\")",
                                   R"(for i in range(8):
    A[i] = A[i] * T.float32(2)
    if i < 4:
        A[i] = A[i] + T.float32(1))");
  CppSourceOptions options;
  options.name_space = "generated";
  options.line_table = true;
  options.source_name = "f.cc";
  options.tail = "int Last() { return 0; }\n";
  const absl::StatusOr<CppSource> source =
      WriteCppSource({{"f", function, ""}}, options);
  ASSERT_TRUE(source.ok()) << source.status().message();
  EXPECT_THAT(source->text, HasSubstr(R"(static void f(float* A) {
#line 3 "test.tir"
  // f: A
  #pragma GCC unroll 1
#line 3 "test.tir"
  for (int32_t i = 0; i < 8; ++i) {
#line 4 "test.tir"
    A[i] = A[i] * 2.0f;
)"));
  EXPECT_THAT(source->text, HasSubstr("#line 6 \"test.tir\"\n      A[i] = "));
  // The text behind the functions has its own lines again.
  const std::vector<std::string> lines = absl::StrSplit(source->text, '\n');
  int checked = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!absl::EndsWith(lines[i], " \"f.cc\"")) continue;
    EXPECT_EQ(lines[i], absl::StrCat("#line ", i + 2, " \"f.cc\""));
    ++checked;
  }
  EXPECT_EQ(checked, 1);
  if (!HasTool("g++") || !HasTool("objdump")) {
    GTEST_SKIP() << "there is no g++ or no objdump";
  }
  options.tail = "void Call(float* a) { f(a); }\n";
  const std::string base = TemporaryBase("line_table");
  std::ofstream(base + ".cc")
      << WriteCppSource({{"f", function, ""}}, options)->text;
  ASSERT_EQ(std::system(absl::StrCat("g++ -std=c++17 -g -O1 -c ", base,
                                     ".cc -o ", base,
                                     ".o && objdump "
                                     "--dwarf=decodedline ",
                                     base, ".o >", base, ".txt")
                            .c_str()),
            0);
  const std::string table = FileText(base + ".txt");
  for (const char* line : {"test.tir +3 ", "test.tir +4 ", "test.tir +6 "}) {
    EXPECT_THAT(table, ::testing::ContainsRegex(line));
  }
}

// Kernels and steps that the caller adds count, too.
TEST(CppSourceTest, RefusesALongText) {
  CppSourceOptions options;
  options.name_space = "a";
  const size_t bytes = WriteCppSource({}, options)->text.size();
  options.max_text_bytes = static_cast<int64_t>(bytes) + 1000;
  options.tail = std::string(1000, ' ');
  EXPECT_TRUE(WriteCppSource({}, options).ok());
  options.prelude = " ";
  EXPECT_EQ(
      WriteCppSource({}, options).status().message(),
      absl::StrCat("the C++ source has more than ", bytes + 1000, " bytes"));
}

// --- Values ----------------------------------------------------------------

TEST(CppSourceValuesTest, OfStatements) { CompareEverywhere(StatementCases()); }

// If g++ unrolls the inner loops, some versions load with wrong masks.
TEST(CppSourceValuesTest, OfLoadsThatConditionsGuard) {
  if (!HasTool("g++")) GTEST_SKIP() << "there is no g++";
  std::vector<Case> cases;
  for (const char* dtype : {"float32", "float64", "int64"}) {
    for (const char* mask : {"int8", "int32", "float32"}) {
      for (const char* extents :
           {"6, 2, 2", "9, 1, 3", "12, 2, 3", "5, 2, 16"}) {
        const std::string signature = absl::StrReplaceAll(
            R"(M: T.Buffer(($e), "$m"), A: T.Buffer(($e), "$t"), B: T.Buffer(($e), "$t"), C: T.Buffer(($e), "$t"))",
            {{"$e", extents}, {"$m", mask}, {"$t", dtype}});
        for (const char* statement :
             {"C[i, j, k] = T.if_then_else(M[i, j, k] > T.Cast(\"$m\", 0), "
              "A[i, j, k], B[i, j, k])",
              "C[i, j, k] = T.if_then_else(M[i, j, k] > T.Cast(\"$m\", 0), "
              "A[i, j, k], T.Cast(\"$t\", 7))",
              "if M[i, j, k] > T.Cast(\"$m\", 0):\n"
              "        C[i, j, k] = A[i, j, k]"}) {
          cases.push_back(MadeCase(
              absl::StrCat("guarded_", cases.size()), signature,
              absl::StrReplaceAll(
                  absl::StrCat("for i, j, k in T.grid($e):\n    ", statement),
                  {{"$e", extents}, {"$m", mask}, {"$t", dtype}})));
        }
      }
    }
  }
  // Loops whose bodies have several statements, as tir.UnrollLoop leaves them,
  // or load several elements of a buffer.
  for (const char* dtype : {"float32", "float64", "int32", "int64"}) {
    for (const char* mask : {"int8", "int32", "float32"}) {
      for (const int parts : {2, 3, 4}) {
        const int extent = 12;
        const std::string signature = absl::StrReplaceAll(
            R"(M: T.Buffer(($n), "$m"), A: T.Buffer(($n), "$t"), B: T.Buffer(($n), "$t"), C: T.Buffer(($n), "$t"))",
            {{"$n", absl::StrCat(extent * parts)},
             {"$m", mask},
             {"$t", dtype}});
        const auto add = [&](std::vector<std::string> statements) {
          std::string body = absl::StrCat("for i in range(", extent, "):");
          for (const std::string& statement : statements) {
            absl::StrAppend(
                &body, "\n    ",
                absl::StrReplaceAll(statement, {{"$m", mask}, {"$t", dtype}}));
          }
          cases.push_back(MadeCase(absl::StrCat("guarded_", cases.size()),
                                   signature, body));
        };
        std::vector<std::string> chosen, stored, sum;
        for (int part = 0; part < parts; ++part) {
          const std::string at = absl::StrCat("i * ", parts, " + ", part);
          const std::string condition =
              absl::StrCat("M[", at, "] > T.Cast(\"$m\", 0)");
          chosen.push_back(absl::StrCat("C[", at, "] = T.if_then_else(",
                                        condition, ", A[", at, "], B[", at,
                                        "])"));
          stored.push_back(absl::StrCat("if ", condition, ":\n        C[", at,
                                        "] = A[", at, "]"));
          sum.push_back(absl::StrCat("T.if_then_else(", condition, ", A[", at,
                                     "], T.Cast(\"$t\", 0))"));
        }
        add(chosen);
        add(stored);
        // The compiler sees no loop in those of one iteration.
        for (std::string& statement : chosen) {
          statement = absl::StrCat(
              "for k in range(1):\n        ",
              absl::StrReplaceAll(statement, {{"] = ", " + k] = "}}));
        }
        add(chosen);
        // The pragma of an unrolled loop of one iteration is not that of the
        // loop around it.
        add(
            {"for k in T.unroll(1):\n        C[i + k] = T.if_then_else("
             "M[i + k] > T.Cast(\"$m\", 0), A[i + k], B[i + k])"});
        // Strides behind a let and a cast.
        add({"s: T.int32 = i * 2",
             "C[s] = T.if_then_else(M[s] > T.Cast(\"$m\", 0), A[s], B[s])",
             "C[s + 1] = T.if_then_else(M[s + 1] > T.Cast(\"$m\", 0), A[s + "
             "1], B[s + 1])"});
        add(
            {"C[T.Cast(\"int64\", i) * T.int64(2)] = T.if_then_else("
             "M[T.Cast(\"int64\", i) * T.int64(2)] > T.Cast(\"$m\", 0), "
             "A[T.Cast(\"int64\", i) * T.int64(2)], B[T.Cast(\"int64\", i) * "
             "T.int64(2)])",
             "C[T.Cast(\"int64\", i) * T.int64(2) + T.int64(1)] = "
             "T.if_then_else("
             "M[T.Cast(\"int64\", i) * T.int64(2) + T.int64(1)] > "
             "T.Cast(\"$m\", 0), "
             "A[T.Cast(\"int64\", i) * T.int64(2) + T.int64(1)], "
             "B[T.Cast(\"int64\", i) * T.int64(2) + T.int64(1)])"});
        // Sums over iterations are computed together.
        add({absl::StrCat("C[0] = C[0] + ", absl::StrJoin(sum, " + "))});
      }
    }
  }
  for (const CppIsa isa : {CppIsa::kAvx2, CppIsa::kAvx512}) {
    CompileAndCompare(cases, isa, "g++", "-O3");
    if (::testing::Test::HasFatalFailure()) return;
  }
}

// Only what has to be is computed without vectors.
TEST(CppSourceTest, KeepsScalarWhatConditionsAndGroupsDecide) {
  const auto is_scalar = [](absl::string_view statement, CppIsa isa) {
    const Case made = MadeCase(
        "some", R"(A: T.Buffer((48), "float32"), C: T.Buffer((48), "float32"))",
        absl::StrCat("for i in range(8):\n    ", statement));
    CppSourceOptions options;
    options.name_space = "generated";
    options.isa = isa;
    const absl::StatusOr<CppSource> source =
        WriteCppSource({made.function}, options);
    EXPECT_TRUE(source.ok()) << source.status();
    return source.ok() &&
           absl::StrContains(source->text, "rt::KeepScalar();\n");
  };
  const char* group =
      "C[i] = T.if_then_else(A[i * 2] > T.float32(0), A[i * 2 + 1], "
      "T.float32(0))";
  EXPECT_TRUE(is_scalar(group, CppIsa::kAvx2));
  EXPECT_TRUE(
      is_scalar("s: T.int32 = i * 2\n    C[i] = T.if_then_else(A[s] > "
                "T.float32(0), A[s + 1], T.float32(0))",
                CppIsa::kAvx2));
  EXPECT_TRUE(is_scalar(group, CppIsa::kAvx512));
  EXPECT_FALSE(is_scalar(group, CppIsa::kSse2));
  for (const char* other : {
           // No condition.
           "C[i] = A[i * 2] + A[i * 2 + 1]",
           // One element.
           "C[i * 2] = T.if_then_else(A[i * 2] > T.float32(0), A[i * 2], "
           "A[i * 2] * T.float32(2))",
           // Neighbors that the next iterations access, too.
           "C[i] = T.if_then_else(A[i] > T.float32(0), A[i + 1], A[i + 2])",
       }) {
    EXPECT_FALSE(is_scalar(other, CppIsa::kAvx2)) << other;
  }
}

TEST(CppSourceValuesTest, OfIntegers) { CompareEverywhere(IntegerCases()); }

TEST(CppSourceValuesTest, OfFloats) { CompareEverywhere(FloatCases()); }

TEST(CppSourceValuesTest, OfVectors) { CompareEverywhere(VectorCases()); }

TEST(CppSourceValuesTest, OfRandomExpressions) {
  CompareEverywhere(RandomExpressionCases());
}

TEST(CppSourceValuesTest, OfRandomLoops) {
  CompareEverywhere(RandomLoopCases(30));
}

TEST(CppSourceValuesTest, OfRecordedScripts) {
  CppSourceOptions options;
  options.name_space = "generated";
  const std::vector<Case> cases =
      RecordedCases([&options](const CppFunction& function) {
        return WriteCppSource({function}, options).ok();
      });
  EXPECT_GT(cases.size(), 50u);
  CompareEverywhere(cases);
}

TEST(CppSourceValuesTest, OfFunctionsThatKernelsShare) {
  CompareEverywhere(MathCases());
}

}  // namespace
}  // namespace baton::tir
