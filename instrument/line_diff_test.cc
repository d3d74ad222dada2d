#include "baton/instrument/line_diff.h"

#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::testing::HasSubstr;

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
