#include "baton/docs/generated_pages.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "baton/docs/reference.h"
#include "baton/instrument/print_ir.h"
#include "baton/testing/golden.h"
#include "baton/testing/run_binary.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::docs {
namespace {

using ::testing::Contains;

std::string Read(const std::string& path) {
  return testing::ReadFileOrFail(testing::RunfilePath(path));
}

TEST(GeneratedPagesTest, AreUpToDate) {
  for (const GeneratedPage& page :
       GeneratedPages(Read("build_defs/baton.bzl"))) {
    const std::string path = absl::StrCat("docs/", page.name);
    const std::string old = Read(path);
    if (old == page.text) continue;
    ADD_FAILURE() << path << " is not what the code says; run\n\n"
                  << "  ./bazelw run //docs:update\n\n--- " << path << "\n+++ "
                  << path << ", as it should be\n"
                  << DiffLines(old, page.text);
  }
}

// The first word of each line that begins with `prefix` and no blank.
std::vector<std::string> Names(absl::string_view text,
                               absl::string_view prefix = "") {
  std::vector<std::string> names;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!absl::ConsumePrefix(&line, prefix)) continue;
    std::string name(line.substr(0, line.find(' ')));
    if (!name.empty()) names.push_back(std::move(name));
  }
  return names;
}

// However it is linked.
TEST(GeneratedPagesTest, NameWhatIsInBatonOpt) {
  const auto names_in_baton_opt = [](const std::string& flag) {
    return Names(testing::RunBinary("tools/baton-opt", flag).out);
  };
  EXPECT_EQ(Names(PassReference(), "## "), names_in_baton_opt("--list_passes"));
  EXPECT_EQ(Names(OperatorReference(), "## "),
            names_in_baton_opt("--list_ops"));
  const std::vector<std::string> sections = Names(OptionReference(), "### ");
  for (const std::string& name : names_in_baton_opt("--list_workloads")) {
    EXPECT_THAT(sections, Contains(name));
  }
}

}  // namespace
}  // namespace baton::docs
