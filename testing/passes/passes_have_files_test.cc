// Checks that each registered pass has a file here that runs it.

#include <cstddef>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
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

TEST(PassesTest, HaveFiles) {
  for (const std::string& pass : PassRegistry::Global().Names()) {
    const std::string path =
        absl::StrCat("testing/passes/", FileName(pass), ".relay");
    const std::string text =
        testing::ReadFileOrFail(testing::RunfilePath(path));
    EXPECT_TRUE(absl::StrContains(text, pass)) << path << " does not run it";
  }
}

}  // namespace
}  // namespace baton
