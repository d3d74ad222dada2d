#include "baton/docs/generated_pages.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "baton/docs/cpp_builders.h"
#include "baton/docs/reference.h"
#include "baton/instrument/line_diff.h"
#include "baton/testing/golden.h"
#include "baton/testing/run_binary.h"
#include "baton/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::docs {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;

std::string Read(const std::string& path) {
  return testing::ReadFileOrFail(testing::RunfilePath(path));
}

TEST(GeneratedPagesTest, AreUpToDate) {
  BATON_ASSERT_OK_AND_ASSIGN(const std::vector<GeneratedPage> pages,
                             GeneratedPages(testing::RunfilePath("")));
  for (const GeneratedPage& page : pages) {
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

// A reader can call each builder: the header declares it, and the target
// contains the header.
TEST(GeneratedPagesTest, BuildersAreWhereTheReferenceSays) {
  BATON_ASSERT_OK_AND_ASSIGN(const std::vector<OpSource> sources,
                             ReadOpSources(testing::RunfilePath("")));
  const auto builders = FindBuilders(sources);
  const std::vector<std::string> operators = Names(OperatorReference(), "## ");
  for (const auto& [op, list] : builders) {
    EXPECT_THAT(operators, Contains(op));
    for (const OpBuilder& builder : list) {
      const std::vector<std::string> label =
          absl::StrSplit(builder.target.substr(2), ':');
      EXPECT_EQ(builder.header,
                absl::StrCat("baton/", label[0], "/", label[1], ".h"));
      const std::string build = Read(absl::StrCat(label[0], "/BUILD"));
      // A baton_operators has the header of its name.
      const std::string name = absl::StrCat("    name = \"", label[1], "\"");
      EXPECT_THAT(build, HasSubstr(name));
      EXPECT_THAT(build,
                  AnyOf(HasSubstr(absl::StrCat("\"", label[1], ".h\"")),
                        HasSubstr(absl::StrCat("baton_operators(\n", name))));
    }
  }
  // As a new user would look for it.
  ASSERT_EQ(builders.count("sigmoid"), 1);
  EXPECT_EQ(builders.at("sigmoid")[0].name, "Sigmoid");
  EXPECT_EQ(builders.at("sigmoid")[0].target, "//relay/op/tensor:elementwise");
  ASSERT_EQ(builders.count("nn.conv2d"), 1);
  EXPECT_EQ(builders.at("nn.conv2d")[0].name, "nn::Conv2D");
  // Both ways to split, which share a function.
  ASSERT_EQ(builders.count("split"), 1);
  EXPECT_EQ(builders.at("split").size(), 2);
  // Every function that a header declares as a builder is found, but those that
  // call several operators.
  int declared = 0;
  for (const OpSource& source : sources) {
    for (absl::string_view line : absl::StrSplit(source.header, '\n')) {
      if (absl::StartsWith(line, "Expr ")) ++declared;
    }
  }
  int found = 0;
  for (const auto& [op, list] : builders) found += list.size();
  // Std, OnDeviceLike, qnn::RealHardSwish, and the second overloads of
  // Variance, LayoutTransform and OnDevice.
  EXPECT_EQ(found, declared - 6);
}

// However it is linked.
TEST(GeneratedPagesTest, NameWhatIsInBatonOpt) {
  const auto names_in_baton_opt = [](const std::string& flag) {
    return Names(testing::RunBinary("tools/baton-opt", flag).out);
  };
  EXPECT_EQ(Names(PassReference(), "## "), names_in_baton_opt("--list_passes"));
  EXPECT_EQ(Names(PipelineReference(), "## "),
            names_in_baton_opt("--list_pipelines"));
  EXPECT_EQ(Names(OperatorReference(), "## "),
            names_in_baton_opt("--list_ops"));
  const std::vector<std::string> sections = Names(OptionReference(), "### ");
  for (const std::string& name : names_in_baton_opt("--list_workloads")) {
    EXPECT_THAT(sections, Contains(name));
  }
}

}  // namespace
}  // namespace baton::docs
