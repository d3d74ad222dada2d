// Checks that each registered pass has a file here that runs it.

#include <cstddef>
#include <filesystem>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "baton/testing/golden.h"
#include "baton/transform/pass_registry.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

// `to_a_normal_form` for `ToANormalForm`, `qnn_legalize` for `qnn.Legalize`.
std::string FileName(absl::string_view pass) {
  const auto is_upper = [&](size_t i) {
    return i < pass.size() &&
           absl::ascii_isupper(static_cast<unsigned char>(pass[i]));
  };
  std::string name;
  for (size_t i = 0; i < pass.size(); ++i) {
    const bool begins_word =
        is_upper(i) && i > 0 && pass[i - 1] != '.' &&
        (!is_upper(i - 1) || (i + 1 < pass.size() && !is_upper(i + 1)));
    if (begins_word) name += '_';
    name += pass[i] == '.'
                ? '_'
                : absl::ascii_tolower(static_cast<unsigned char>(pass[i]));
  }
  return name;
}

TEST(FileNameTest, HasWords) {
  EXPECT_EQ(FileName("ToANormalForm"), "to_a_normal_form");
  EXPECT_EQ(FileName("PrintIR"), "print_ir");
  EXPECT_EQ(FileName("qnn.CanonicalizeOps"), "qnn_canonicalize_ops");
  EXPECT_EQ(FileName("CombineParallelConv2d"), "combine_parallel_conv2d");
}

// True if `line` contains `name`, and not as the begin of another name.
bool Names(absl::string_view line, absl::string_view name) {
  for (size_t at = line.find(name); at != absl::string_view::npos;
       at = line.find(name, at + 1)) {
    const absl::string_view rest = line.substr(at + name.size());
    if (rest.empty() ||
        (!absl::ascii_isalnum(static_cast<unsigned char>(rest[0])) &&
         rest[0] != '_')) {
      return true;
    }
  }
  return false;
}

bool IsOverLoops(absl::string_view pass) {
  return absl::StartsWith(pass, "tir.");
}

TEST(PassesTest, HaveFiles) {
  for (const std::string& pass : PassRegistry::Global().Names()) {
    if (IsOverLoops(pass)) continue;
    const std::string path =
        absl::StrCat("testing/passes/", FileName(pass), ".relay");
    const std::string text =
        testing::ReadFileOrFail(testing::RunfilePath(path));
    EXPECT_TRUE(absl::StrContains(text, pass)) << path << " does not run it";
  }
}

// Some files run several passes over loops. A run that must fail shows what a
// pass refuses, not what it does.
TEST(PassesTest, OverLoopsHaveFiles) {
  std::string runs;
  for (const auto& entry : std::filesystem::directory_iterator(
           testing::RunfilePath("testing/passes"))) {
    if (entry.path().extension() != ".tir") continue;
    const std::string text = testing::ReadFileOrFail(entry.path().string());
    for (const absl::string_view line : absl::StrSplit(text, '\n')) {
      if (absl::StartsWith(line, "// RUN: ") &&
          !absl::StartsWith(line, "// RUN: not ")) {
        absl::StrAppend(&runs, line, "\n");
      }
    }
  }
  int passes = 0;
  for (const std::string& pass : PassRegistry::Global().Names()) {
    if (!IsOverLoops(pass)) continue;
    ++passes;
    EXPECT_TRUE(Names(runs, pass)) << "no testing/passes/*.tir runs " << pass;
  }
  EXPECT_GT(passes, 80);
}

}  // namespace
}  // namespace baton
