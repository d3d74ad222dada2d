#include "baton/instrument/indented_diff.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// One string for each change: sign, lines, what they are under, lines below.
std::vector<std::string> Diff(absl::string_view before,
                              absl::string_view after) {
  std::vector<std::string> result;
  for (const LineChange& change : DiffIndented(before, after)) {
    std::string text(1, "-+>~"[static_cast<int>(change.kind)]);
    if (!change.before.empty()) absl::StrAppend(&text, " ", change.before);
    if (!change.after.empty()) absl::StrAppend(&text, " => ", change.after);
    absl::StrAppend(&text, " in ", change.under);
    if (!change.from.empty()) absl::StrAppend(&text, " from ", change.from);
    if (change.below > 0) absl::StrAppend(&text, " +", change.below);
    result.push_back(text);
  }
  return result;
}

constexpr char kLoop[] = R"(for i in range(16):
    B[i] = A[i]
    C[i] = B[i] + 1
)";

TEST(IndentedDiffTest, EqualTextsHaveNoChanges) {
  EXPECT_THAT(Diff(kLoop, kLoop), IsEmpty());
  EXPECT_THAT(Diff("", ""), IsEmpty());
  EXPECT_THAT(Diff("a\n\n  b\n", "a\n  b"), IsEmpty());
}

TEST(IndentedDiffTest, ALineChanges) {
  EXPECT_THAT(Diff(kLoop,
                   "for i in range(16):\n"
                   "    B[i] = A[i] * 2\n"
                   "    C[i] = B[i] + 1\n"),
              ElementsAre("~ B[i] = A[i] => B[i] = A[i] * 2 in "
                          "for i in range(16):"));
  EXPECT_THAT(Diff(kLoop,
                   "for i in T.parallel(16):\n"
                   "    B[i] = A[i]\n"
                   "    C[i] = B[i] + 1\n"),
              ElementsAre("~ for i in range(16): => for i in T.parallel(16): "
                          "in "));
}

TEST(IndentedDiffTest, ALineAroundOthersLeavesTheseWhereTheyAre) {
  constexpr char kInner[] = R"(for i in range(16):
    for j in range(4):
        B[i] = A[i]
        C[i] = B[i] + 1
)";
  EXPECT_THAT(Diff(kLoop, kInner),
              ElementsAre("+ => for j in range(4): in for i in range(16):"));
  EXPECT_THAT(Diff(kInner, kLoop),
              ElementsAre("- for j in range(4): in for i in range(16):"));
}

TEST(IndentedDiffTest, WhatIsDroppedWithItsLinesIsOneChange) {
  EXPECT_THAT(Diff("if a:\n  x = 1\n  y = 2\nz = 3\n", "z = 3\n"),
              ElementsAre("- if a: in  +2"));
  EXPECT_THAT(Diff("z = 3\n", "if a:\n  x = 1\n  y = 2\nz = 3\n"),
              ElementsAre("+ => if a: in  +2"));
}

TEST(IndentedDiffTest, ALineMoves) {
  EXPECT_THAT(Diff("for i in a:\n  x = 1\nfor j in b:\n  y = 2\n",
                   "for i in a:\nfor j in b:\n  x = 1\n  y = 2\n"),
              ElementsAre("> x = 1 => x = 1 in for j in b: from for i in a:"));
  // Two lines change places: one of them moves.
  EXPECT_THAT(Diff("x = 1\ny = 2\nz = 3\n", "y = 2\nz = 3\nx = 1\n"),
              ElementsAre("> x = 1 => x = 1 in "));
}

TEST(IndentedDiffTest, ASplitLoopKeepsItsBody) {
  EXPECT_THAT(
      Diff("for i in range(16):\n  B[i] = A[i]\n",
           "for i_0, i_1 in T.grid(4, 4):\n  B[i_0 * 4 + i_1] = A[i_0]\n"),
      ElementsAre("~ for i in range(16): => for i_0, i_1 in T.grid(4, 4): in ",
                  "~ B[i] = A[i] => B[i_0 * 4 + i_1] = A[i_0] in "
                  "for i_0, i_1 in T.grid(4, 4):"));
}

TEST(IndentedDiffTest, DeepAndWideTextsTakeLinearTime) {
  std::string deep;
  std::string wide;
  for (int i = 0; i < 2000; ++i) {
    absl::StrAppend(&deep, std::string(i, ' '), "for i", i, " in a:\n");
    absl::StrAppend(&wide, "x", i, "[i] = ", i, "\n");
  }
  EXPECT_THAT(DiffIndented(deep, deep + std::string(2000, ' ') + "x = 1\n"),
              ::testing::SizeIs(1));
  EXPECT_THAT(DiffIndented(wide + deep, deep + wide), ::testing::SizeIs(1));
}

}  // namespace
}  // namespace baton
