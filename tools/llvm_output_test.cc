// Modules as text of LLVM.

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/tools/input.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The text of a module, or the message of the error.
std::string Written(absl::string_view text,
                    const ModuleWriter::Options& options) {
  const absl::StatusOr<IRModule> module = ParseModule(text, "test.tir");
  EXPECT_TRUE(module.ok()) << module.status().message();
  if (!module.ok()) return "";
  const absl::StatusOr<ModuleWriter::Output> output =
      ModuleWriters().Find("llvm")->write(*module, options);
  if (!output.ok()) return std::string(output.status().message());
  std::string result;
  for (const absl::string_view piece : output->pieces) {
    result.append(piece.data(), piece.size());
  }
  return result;
}

constexpr char kTwo[] = R"(@T.prim_func
def a(A: T.Buffer((8,), "float32")):
    T.func_attr({"global_symbol": "first", "target": T.target({"kind": "llvm", "mattr": ["+avx2", "+fma"], "mcpu": "haswell"})})
    A[0] = T.float32(1)
@T.prim_func
def b(B: T.Buffer((8,), "float32")):
    B[0] = T.float32(2)
)";

TEST(LlvmOutputTest, TakesTargetsFromFunctionsOrOptions) {
  const std::string text = Written(
      kTwo, {.llvm_target = "llvm -mtriple=x86_64-linux-gnu -mcpu=skylake"});
  EXPECT_THAT(text, HasSubstr("target triple = \"x86_64-linux-gnu\"\n"));
  EXPECT_THAT(text, HasSubstr("define void @first(ptr nocapture %A) #1 {"));
  EXPECT_THAT(text, HasSubstr("define void @b(ptr nocapture %B) #0 {"));
  EXPECT_THAT(text,
              HasSubstr("#0 = { nounwind \"target-cpu\"=\"skylake\" }\n"));
  EXPECT_THAT(text, HasSubstr("#1 = { nounwind \"target-cpu\"=\"haswell\" "
                              "\"target-features\"=\"+avx2,+fma\" }\n"));
  EXPECT_THAT(text, Not(HasSubstr("DILocation")));
  EXPECT_THAT(Written(kTwo, {.llvm_target = "llvm", .line_table = true}),
              HasSubstr("!DILocation(line: 4, column: "));
}

TEST(LlvmOutputTest, SaysWhatItDoesNotWrite) {
  constexpr char kRelu[] =
      "#[version = \"0.0.5\"]\n"
      "def @main(%x: Tensor[(2), float32]) {\n  %x\n}\n";
  EXPECT_THAT(Written(kRelu, {}), HasSubstr("no functions of loops"));
  EXPECT_THAT(Written(std::string(kRelu) + "\n" + kTwo, {}),
              HasSubstr("; @main is a function of Relay: it is not here.\n"));
  EXPECT_THAT(
      Written("@T.prim_func\ndef a(A: T.Buffer((8,), \"float32\")):\n"
              "    T.func_attr({\"target\": T.target({\"kind\": \"cuda\"})})\n"
              "    A[0] = T.float32(1)\n",
              {}),
      HasSubstr("the function has the target cuda, which is not llvm"));
}

}  // namespace
}  // namespace baton
