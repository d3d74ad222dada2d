// Functions of loops, written as text of LLVM, compiled and run: the
// interpreter's bytes.

#include "baton/tir/codegen/llvm_source.h"

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

struct Compiler {
  std::string version;  // `16`
  std::string target;   // for ParseLlvmTarget()
  std::string optimizer;
  std::string code;  // flags of llc
};

// Compiles the cases and compares what they compute.
void CompileAndCompare(const std::vector<Case>& cases,
                       const Compiler& compiler) {
  LlvmSourceOptions options;
  const absl::StatusOr<LlvmTarget> target = ParseLlvmTarget(compiler.target);
  ASSERT_TRUE(target.ok()) << target.status().message();
  options.target = *target;
  std::vector<CppFunction> functions;
  for (const Case& one : cases) functions.push_back(one.function);
  const absl::StatusOr<LlvmSource> source = WriteLlvmSource(functions, options);
  ASSERT_TRUE(source.ok()) << source.status().message();
  std::string calls = "#include <cstdint>\nextern \"C\" {\n";
  for (const CppEmitted& emitted : source->functions) {
    absl::StrAppend(&calls, emitted.declaration, ";\n");
  }
  absl::StrAppend(&calls, "}\nnamespace generated {\n",
                  CallerText(cases, source->functions), "}\n");
  const std::string base = TemporaryBase("llvm_source");
  std::ofstream(base + ".ll") << source->text;
  std::ofstream(base + "_calls.cc") << calls;
  std::ofstream(base + "_driver.cc") << kDriver;
  const std::string command = absl::StrCat(
      "opt-", compiler.version, " -passes='", compiler.optimizer, "' ", base,
      ".ll -o ", base, ".bc 2>", base, ".log && llc-", compiler.version, " ",
      compiler.code, " -relocation-model=pic -filetype=obj ", base, ".bc -o ",
      base, ".o 2>>", base, ".log && g++ -std=c++17 -O1 ", base, "_driver.cc ",
      base, "_calls.cc ", base, ".o -o ", base, " -lm 2>>", base, ".log");
  ASSERT_EQ(std::system(command.c_str()), 0)
      << command << "\n"
      << FileText(base + ".log").substr(0, 4000) << "\n"
      << (cases.size() < 8 ? source->text : "");
  RunAndCompare(cases, base,
                absl::StrCat("LLVM ", compiler.version, ", ", compiler.target,
                             ", ", compiler.optimizer));
}

// All versions of LLVM that this machine has. LLVM 14 has no opaque pointers.
void CompareEverywhere(std::vector<Case> all_cases) {
  if (!HasTool("g++")) GTEST_SKIP() << "there is no g++";
  const std::vector<Case> cases = Sample(std::move(all_cases));
  __builtin_cpu_init();
  const bool has_fma =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  bool compared = false;
  for (const std::string version : {"16", "19"}) {
    if (!HasTool("opt-" + version) || !HasTool("llc-" + version)) {
      std::cout << "there is no LLVM " << version << ": its part is skipped\n";
      continue;
    }
    compared = true;
    CompileAndCompare(cases, {version, "llvm", "verify", "-O0"});
    if (::testing::Test::HasFatalFailure()) return;
    CompileAndCompare(cases, {version,
                              has_fma ? "llvm -mcpu=haswell -mattr=+avx2,+fma"
                                      : "llvm -mcpu=x86-64",
                              "verify,default<O2>", "-O2"});
    if (::testing::Test::HasFatalFailure()) return;
  }
  if (!compared) GTEST_SKIP() << "neither LLVM 16 nor 19 is installed";
}

std::string TextOf(const PrimFunc& function, const std::string& symbol = "f") {
  const absl::StatusOr<LlvmSource> source =
      WriteLlvmSource({{symbol, function, "conv1 + relu1"}}, {});
  EXPECT_TRUE(source.ok()) << source.status().message();
  return source.ok() ? source->text : "";
}

// --- Text ----------------------------------------------------------------

TEST(LlvmSourceTest, WritesLoops) {
  const PrimFunc function = Parsed(
      "A: T.Buffer((8, 16), \"float32\"), B: T.Buffer((128,), "
      "\"float32\")",
      R"(for i in range(8):
    for j in range(16):
        B[i * 16 + j] = T.max(A[i, j] * T.float32(0.5), T.float32(0)))");
  EXPECT_EQ(
      TextOf(function, "scale relu"),
      R"(target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

; conv1 + relu1
define void @scale_relu(ptr nocapture readonly %A, ptr nocapture %B) #0 {
entry:
  ; conv1 + relu1: B
  br label %for.1
for.1:
  %i = phi i32 [ 0, %entry ], [ %i.next, %next.3 ]
  %.1 = icmp slt i32 %i, 8
  br i1 %.1, label %body.2, label %end.4
body.2:
  br label %for.5
for.5:
  %j = phi i32 [ 0, %body.2 ], [ %j.next, %next.7 ]
  %.2 = icmp slt i32 %j, 16
  br i1 %.2, label %body.6, label %end.8
body.6:
  %.3 = mul nsw i32 %i, 16
  %.4 = add nsw i32 %.3, %j
  %.5 = zext i32 %.4 to i64
  %.6 = getelementptr inbounds float, ptr %A, i64 %.5
  %.7 = load float, ptr %.6, align 4
  %.8 = fmul float %.7, 0x3FE0000000000000
  %.9 = fcmp olt float %.8, 0x0000000000000000
  %.10 = select i1 %.9, float 0x0000000000000000, float %.8
  %.11 = mul nsw i32 %i, 16
  %.12 = add nsw i32 %.11, %j
  %.13 = zext i32 %.12 to i64
  %.14 = getelementptr inbounds float, ptr %B, i64 %.13
  store float %.10, ptr %.14, align 4
  br label %next.7
next.7:
  %j.next = add nsw i32 %j, 1
  br label %for.5
end.8:
  br label %next.3
next.3:
  %i.next = add nsw i32 %i, 1
  br label %for.1
end.4:
  ret void
}

attributes #0 = { nounwind }
)");
}

// The line of `text` that has `part`.
std::string LineWith(absl::string_view text, absl::string_view part) {
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::StrContains(line, part)) return std::string(line);
  }
  return "";
}

TEST(LlvmSourceTest, HasVectorsMathematicsAndHalves) {
  const std::string vectors =
      TextOf(Parsed("A: T.Buffer((8,), \"float32\")",
                    "A[0:8] = T.fma(A[0:8], A[0:8], T.exp(A[0:8]))"));
  EXPECT_THAT(vectors, HasSubstr("load <8 x float>, ptr %A, align 4"));
  EXPECT_THAT(vectors, HasSubstr("= call <8 x float> @llvm.fma.v8f32("));
  EXPECT_THAT(vectors, HasSubstr("= call float @baton.exp.f32(float %"));
  EXPECT_THAT(vectors, HasSubstr("define internal float @baton.exp.f32("));
  EXPECT_THAT(vectors, HasSubstr("declare float @llvm.fma.f32(float, float, "
                                 "float)"));
  EXPECT_THAT(vectors, Not(HasSubstr("baton.tanh")));
  const std::string halves =
      TextOf(Parsed("A: T.Buffer((8,), \"float16\")",
                    "for i in range(8):\n    A[i] = A[i] * A[i]"));
  EXPECT_THAT(halves, HasSubstr("load i16, ptr "));
  EXPECT_THAT(halves, HasSubstr("call i16 @baton.to_f16.x1(float %"));
  for (const std::string& text : {vectors, halves}) {
    for (const char* flag : {" fast ", " reassoc ", " contract ", " nnan "}) {
      EXPECT_THAT(text, Not(HasSubstr(flag)));
    }
  }
}

TEST(LlvmSourceTest, HasTheTargets) {
  const PrimFunc function =
      Parsed("A: T.Buffer((8,), \"float32\")", "A[0] = T.float32(0)");
  LlvmSourceOptions options;
  options.target = *ParseLlvmTarget("llvm -mtriple=aarch64-linux-gnu");
  options.function_targets = {
      *ParseLlvmTarget("-mtriple=aarch64-linux-gnu -mcpu=cortex-a72"),
      *ParseLlvmTarget("llvm -mtriple=aarch64-linux-gnu -mattr=+fullfp16,-sve"),
  };
  const absl::StatusOr<LlvmSource> source =
      WriteLlvmSource({{"f", function, ""}, {"f", function, ""}}, options);
  ASSERT_TRUE(source.ok()) << source.status().message();
  EXPECT_EQ(LineWith(source->text, "datalayout"),
            "target datalayout = "
            "\"e-m:e-i8:8:32-i16:16:32-i64:64-i128:128-n32:64-S128\"");
  EXPECT_EQ(LineWith(source->text, "triple"),
            "target triple = \"aarch64-linux-gnu\"");
  EXPECT_EQ(LineWith(source->text, "@f("),
            "define void @f(ptr nocapture %A) #1 {");
  EXPECT_EQ(LineWith(source->text, "@f_2("),
            "define void @f_2(ptr nocapture %A) #2 {");
  EXPECT_EQ(LineWith(source->text, "attributes #1"),
            "attributes #1 = { nounwind \"target-cpu\"=\"cortex-a72\" }");
  EXPECT_EQ(
      LineWith(source->text, "attributes #2"),
      "attributes #2 = { nounwind \"target-features\"=\"+fullfp16,-sve\" }");
  EXPECT_EQ(source->functions[1].declaration, "void f_2(float* A)");
}

TEST(LlvmSourceTest, RefusesOtherTargets) {
  EXPECT_THAT(std::string(ParseLlvmTarget("cuda").status().message()),
              HasSubstr("not one of -mtriple=, -mcpu=, -mattr=: cuda"));
  EXPECT_THAT(
      std::string(
          ParseLlvmTarget("llvm -mtriple=riscv64-linux").status().message()),
      HasSubstr("it begins with x86_64- or aarch64-"));
  EXPECT_THAT(
      std::string(ParseLlvmTarget("llvm -mcpu=a\"b").status().message()),
      HasSubstr("a character that no option has"));
}

TEST(LlvmSourceTest, NamesAllThatItRefuses) {
  const PrimFunc threads =
      Parsed("A: T.Buffer((8,), \"float32\")",
             R"(for i in T.thread_binding(8, thread="threadIdx.x"):
    A[i] = T.float32(0))");
  const PrimFunc calls = Parsed("A: T.Buffer((8,), \"float32\")",
                                R"(A[0] = T.call_extern("float32", "g", A[1])
A[1] = T.call_llvm_pure_intrin("float32", "llvm.exp", T.uint32(1), A[0]))");
  const absl::Status status =
      WriteLlvmSource({{"f", threads, ""}, {"g", calls, ""}}, {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  const std::string message(status.message());
  EXPECT_THAT(message, HasSubstr("test.tir:3:"));
  EXPECT_THAT(message, HasSubstr("error: function f: a loop over threads "
                                 "cannot be written as LLVM's text"));
  EXPECT_THAT(message, HasSubstr("error: function g: T.call_extern"));
  EXPECT_THAT(message, HasSubstr("error: function g: T.call_llvm_pure_intrin"));
}

TEST(LlvmSourceTest, KeepsNamesOfTheLibraryAndIsTheSameEachTime) {
  const PrimFunc function =
      Parsed("A: T.Buffer((8,), \"float32\")", "A[0] = T.exp2(A[0])");
  LlvmSourceOptions options;
  options.head = {"model.onnx\ndefine void @x() {"};
  const std::vector<CppFunction> functions = {
      {"exp2", function, "a\nb"},
      {"main", function, ""},
      {"x \"y\" \xc3\xa9", function, ""}};
  const absl::StatusOr<LlvmSource> source = WriteLlvmSource(functions, options);
  ASSERT_TRUE(source.ok()) << source.status().message();
  EXPECT_EQ(source->functions[0].name, "exp2_2");
  EXPECT_EQ(source->functions[1].name, "main_2");
  EXPECT_EQ(source->functions[2].name, "x__y____");
  EXPECT_EQ(LineWith(source->text, "declare"), "declare double @exp2(double)");
  EXPECT_EQ(LineWith(source->text, "@x()"), "; model.onnx define void @x() {");
  EXPECT_EQ(source->text, WriteLlvmSource(functions, options)->text);
}

TEST(LlvmSourceTest, HasALineTable) {
  const PrimFunc function = Parsed("A: T.Buffer((8,), \"float32\")",
                                   R"(for i in range(8):
    A[i] = A[i] * T.float32(2)
    if i < 4:
        A[i] = A[i] + T.float32(1))");
  LlvmSourceOptions options;
  options.line_table = true;
  const absl::StatusOr<LlvmSource> source =
      WriteLlvmSource({{"f", function, "conv1 \"+\" relu1"}}, options);
  ASSERT_TRUE(source.ok()) << source.status().message();
  EXPECT_THAT(LineWith(source->text, "!DISubprogram("),
              HasSubstr("(name: \"conv1 _+_ relu1\", linkageName: \"f\""));
  for (const char* line : {"line: 3,", "line: 4,", "line: 6,"}) {
    EXPECT_THAT(source->text,
                HasSubstr(absl::StrCat("!DILocation(", line, " column: ")));
  }
  if (!HasTool("objdump")) GTEST_SKIP() << "there is no objdump";
  bool checked = false;
  for (const std::string version : {"16", "19"}) {
    if (!HasTool("opt-" + version) || !HasTool("llc-" + version)) continue;
    checked = true;
    const std::string base = TemporaryBase("line_table");
    std::ofstream(base + ".ll") << source->text;
    const std::string command = absl::StrCat(
        "opt-", version, " -passes='verify,default<O1>' ", base, ".ll -o ",
        base, ".bc 2>", base, ".log && llc-", version, " -filetype=obj ", base,
        ".bc -o ", base, ".o 2>>", base, ".log && objdump ",
        "--dwarf=decodedline ", base, ".o >", base, ".txt 2>>", base, ".log");
    ASSERT_EQ(std::system(command.c_str()), 0) << FileText(base + ".log");
    // LLVM says when it drops metadata that is not well-formed.
    EXPECT_THAT(FileText(base + ".log"), Not(HasSubstr("invalid debug info")));
    const std::string table = FileText(base + ".txt");
    for (const char* line : {"test.tir +4 ", "test.tir +6 "}) {
      EXPECT_THAT(table, ::testing::ContainsRegex(line));
    }
  }
  if (!checked) GTEST_SKIP() << "neither LLVM 16 nor 19 is installed";
}

// The text for AArch64 is compiled, too.
TEST(LlvmSourceTest, CompilesForAnotherProcessor) {
  std::vector<CppFunction> functions;
  for (std::vector<Case> cases :
       {StatementCases(), FloatCases(), VectorCases()}) {
    for (Case& one : cases) functions.push_back(std::move(one.function));
  }
  LlvmSourceOptions options;
  options.target = *ParseLlvmTarget(
      "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72 -mattr=+neon");
  const absl::StatusOr<LlvmSource> source = WriteLlvmSource(functions, options);
  ASSERT_TRUE(source.ok()) << source.status().message();
  const std::string base = TemporaryBase("aarch64");
  std::ofstream(base + ".ll") << source->text;
  bool compiled = false;
  for (const std::string version : {"16", "19"}) {
    if (!HasTool("llc-" + version)) continue;
    compiled = true;
    EXPECT_EQ(std::system(absl::StrCat("llc-", version, " -filetype=obj ", base,
                                       ".ll -o ", base, ".o 2>", base, ".log")
                              .c_str()),
              0)
        << FileText(base + ".log").substr(0, 4000);
  }
  if (!compiled) GTEST_SKIP() << "neither LLVM 16 nor 19 is installed";
}

// --- Values ----------------------------------------------------------------

TEST(LlvmSourceValuesTest, OfStatements) {
  CompareEverywhere(StatementCases());
}

TEST(LlvmSourceValuesTest, OfIntegers) { CompareEverywhere(IntegerCases()); }

TEST(LlvmSourceValuesTest, OfFloats) { CompareEverywhere(FloatCases()); }

TEST(LlvmSourceValuesTest, OfVectors) { CompareEverywhere(VectorCases()); }

TEST(LlvmSourceValuesTest, OfRandomExpressions) {
  CompareEverywhere(RandomExpressionCases());
}

TEST(LlvmSourceValuesTest, OfRandomLoops) {
  CompareEverywhere(RandomLoopCases(100));
}

TEST(LlvmSourceValuesTest, OfRecordedScripts) {
  const std::vector<Case> cases =
      RecordedCases([](const CppFunction& function) {
        return WriteLlvmSource({function}, {}).ok();
      });
  EXPECT_GT(cases.size(), 50u);
  CompareEverywhere(cases);
}

TEST(LlvmSourceValuesTest, OfFunctionsThatKernelsShare) {
  CompareEverywhere(MathCases());
}

}  // namespace
}  // namespace baton::tir
