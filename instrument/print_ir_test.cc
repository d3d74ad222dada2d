#include "baton/instrument/print_ir.h"

#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/testing/toy_passes.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/sequential.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::testing::HasSubstr;

// The output while `pass` runs.
std::string Print(const Pass& pass, PrintIrOptions options) {
  std::ostringstream out;
  options.out = &out;
  options.text.types = false;
  auto instrument = PrintIrInstrument::Create(std::move(options));
  EXPECT_TRUE(instrument.ok()) << instrument.status();
  EXPECT_TRUE(PassContext({.instruments = {*instrument}})
                  .Run([&] { return pass(toy::Module()); })
                  .ok());
  return out.str();
}

constexpr char kModuleA[] =
    "def @main(%x: Tensor[(2), float32]) -> Tensor[(2), float32] {\n"
    "  toy.a(%x)\n"
    "}\n";
constexpr char kModuleB[] =
    "def @main(%x: Tensor[(2), float32]) -> Tensor[(2), float32] {\n"
    "  toy.b(%x)\n"
    "}\n";

TEST(PrintIrTest, BeforeAndAfterMatchingPasses) {
  EXPECT_EQ(Print(Sequential({toy::AToB(), toy::Nothing()}),
                  {.before = "A.*", .after = "InferType|AToB"}),
            absl::StrCat("// IR before #2 AToB, in #1 sequential\n", kModuleA,
                         "\n",  //
                         "// IR after #3 InferType, in #2 AToB, in #1 "
                         "sequential\n",
                         kModuleB, "\n",  //
                         "// IR after #2 AToB, in #1 sequential\n", kModuleB,
                         "\n",  //
                         "// IR after #5 InferType, in #4 Nothing, in #1 "
                         "sequential\n",
                         kModuleB, "\n"));
}

TEST(PrintIrTest, TheWholeNameMustMatch) {
  EXPECT_EQ(Print(toy::AToB(), {.before = "To"}), "");
  EXPECT_EQ(Print(toy::AToB(), {}), "");
}

TEST(PrintIrTest, IllFormedExpression) {
  const absl::Status status =
      PrintIrInstrument::Create({.after = "a("}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("a("));
}

TEST(PrintIrTest, ChangedFull) {
  EXPECT_EQ(
      Print(Sequential({toy::Nothing(), toy::AToB()}),
            {.changed = PrintIrOptions::Changed::kFull}),
      absl::StrCat("// IR after #4 AToB, in #1 sequential\n", kModuleB, "\n"));
}

TEST(PrintIrTest, ChangedDiff) {
  EXPECT_EQ(Print(toy::AToB(), {.changed = PrintIrOptions::Changed::kDiff}),
            "// IR changed by #1 AToB\n"
            "--- @main\n"
            "+++ @main\n"
            "@@ -1,3 +1,3 @@\n"
            " def @main(%x: Tensor[(2), float32]) -> Tensor[(2), float32] {\n"
            "-  toy.a(%x)\n"
            "+  toy.b(%x)\n"
            " }\n"
            "\n");
}

TEST(PrintIrTest, DiffOfTheFunctionsThatChanged) {
  const Pass pass = CreateModulePass(
      [](const IRModule& module,
         const PassContext& /*context*/) -> absl::StatusOr<IRModule> {
        IRModule result = module;
        result.Remove("f1");
        result.Set("f3", module.Find<relay::Function>("f2"));
        result.Set("main",
                   toy::Wrap(module.Find<relay::Function>("main"), "toy.b"));
        return result;
      },
      {.name = "Mix"});
  std::ostringstream out;
  const auto instrument =
      PrintIrInstrument::Create({.changed = PrintIrOptions::Changed::kDiff,
                                 .text = {.version = false, .types = false},
                                 .out = &out});
  ASSERT_TRUE(instrument.ok());
  EXPECT_TRUE(PassContext({.instruments = {*instrument}})
                  .Run([&] { return pass(toy::Module(3)); })
                  .ok());
  const std::string head =
      "(%x: Tensor[(2), float32]) -> Tensor[(2), float32] {\n";
  EXPECT_EQ(out.str(), absl::StrCat("// IR changed by #1 Mix\n"
                                    "--- @main\n"
                                    "+++ @main\n"
                                    "@@ -1,3 +1,4 @@\n"
                                    " def @main",
                                    head,
                                    "-  toy.a(%x)\n"
                                    "+  %0 = toy.a(%x);\n"
                                    "+  toy.b(%0)\n"
                                    " }\n"
                                    "--- @f1\n"
                                    "+++ @f1\n"
                                    "@@ -1,3 +0,0 @@\n"
                                    "-def @f1",
                                    head,
                                    "-  toy.a(%x)\n"
                                    "-}\n"
                                    "--- @f3\n"
                                    "+++ @f3\n"
                                    "@@ -0,0 +1,3 @@\n"
                                    "+def @f3",
                                    head,
                                    "+  toy.a(%x)\n"
                                    "+}\n"
                                    "\n"));
}

TEST(DiffLinesTest, Simple) {
  EXPECT_EQ(DiffLines("", ""), "");
  EXPECT_EQ(DiffLines("a\nb\n", "a\nb\n"), "");
  EXPECT_EQ(DiffLines("", "a\n"), "@@ -0,0 +1 @@\n+a\n");
  EXPECT_EQ(DiffLines("a\n", ""), "@@ -1 +0,0 @@\n-a\n");
  EXPECT_EQ(DiffLines("a\nb\nc\n", "a\nx\nc\n"),
            "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n");
  // The last line may lack its line feed.
  EXPECT_EQ(DiffLines("a\nb", "a\nb\n"), "");
}

TEST(DiffLinesTest, GroupsFarChanges) {
  EXPECT_EQ(DiffLines("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n",
                      "1\nx\n3\n4\n5\n6\n7\n8\n9\n10\n12\n13\n"),
            "@@ -1,5 +1,5 @@\n 1\n-2\n+x\n 3\n 4\n 5\n"
            "@@ -8,5 +8,5 @@\n 8\n 9\n 10\n-11\n 12\n+13\n");
}

TEST(DiffLinesTest, NearChangesShareAGroup) {
  EXPECT_EQ(DiffLines("1\n2\n3\n4\n5\n6\n7\n8\n", "x\n2\n3\n4\n5\n6\n7\ny\n"),
            "@@ -1,8 +1,8 @@\n-1\n+x\n 2\n 3\n 4\n 5\n 6\n 7\n-8\n+y\n");
}

// Applies a difference that shows every line (the texts are short enough).
TEST(DiffLinesTest, RandomTexts) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    const auto text = [&] {
      std::string lines;
      const int n = static_cast<int>(random() % 7);
      for (int k = 0; k < n; ++k) {
        absl::StrAppend(&lines, std::string(1, "abc"[random() % 3]), "\n");
      }
      return lines;
    };
    const std::string a = text();
    const std::string b = text();
    const std::string diff = DiffLines(a, b);
    if (a == b) {
      EXPECT_EQ(diff, "");
      continue;
    }
    std::string old_lines;
    std::string new_lines;
    int changes = 0;
    std::vector<absl::string_view> lines = absl::StrSplit(diff, '\n');
    lines.pop_back();
    for (absl::string_view line : lines) {
      if (line[0] == '@') continue;
      if (line[0] != '+') absl::StrAppend(&old_lines, line.substr(1), "\n");
      if (line[0] != '-') absl::StrAppend(&new_lines, line.substr(1), "\n");
      if (line[0] != ' ') ++changes;
    }
    // Common lines at the edges may be left out.
    EXPECT_THAT(a, HasSubstr(old_lines));
    EXPECT_THAT(b, HasSubstr(new_lines));
    EXPECT_EQ(a.size() - old_lines.size(), b.size() - new_lines.size());
    EXPECT_LE(changes, static_cast<int>((a.size() + b.size()) / 2));
  }
}

TEST(DiffLinesTest, HugeDifferenceTakesLittleTime) {
  std::string a;
  std::string b;
  for (int i = 0; i < 100000; ++i) {
    absl::StrAppend(&a, "a", i, "\n");
    absl::StrAppend(&b, "b", i, "\n");
  }
  EXPECT_GT(DiffLines(a, b).size(), a.size() + b.size());
}

}  // namespace
}  // namespace baton
