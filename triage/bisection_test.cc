#include "baton/triage/bisection.h"

#include <bit>
#include <cstdint>
#include <functional>
#include <set>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::IsOk;
using testing::StatusIs;

using Ask = std::function<absl::StatusOr<Answer>(int64_t)>;

Ask BadFrom(int64_t first, std::set<int64_t> skipped = {}) {
  return [first, skipped](int64_t point) -> absl::StatusOr<Answer> {
    if (skipped.count(point) > 0) return Answer::kSkip;
    return point < first ? Answer::kGood : Answer::kBad;
  };
}

TEST(BisectionTest, FindsEachPlaceInLogarithmicallyManyQuestions) {
  for (int64_t n = 1; n <= 40; ++n) {
    for (int64_t first = 1; first <= n; ++first) {
      BATON_ASSERT_OK_AND_ASSIGN(const BisectionResult result,
                                 Bisect({.bad = n}, BadFrom(first)));
      EXPECT_EQ(result.last_good, first - 1);
      EXPECT_EQ(result.first_bad, first);
      EXPECT_TRUE(result.certain());
      EXPECT_LE(result.num_tests,
                std::bit_width(static_cast<uint64_t>(n - 1)) + 4)
          << n << " " << first;
    }
  }
}

TEST(BisectionTest, EndsMustAnswerAsTheyShould) {
  EXPECT_THAT(Bisect({.bad = 9}, BadFrom(-1)),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "it is bad at the start already, 0"));
  EXPECT_THAT(Bisect({.bad = 9}, BadFrom(10)),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "it is good at the end still, 9"));
  EXPECT_THAT(Bisect({.bad = 9}, BadFrom(5, {9})),
              StatusIs(absl::StatusCode::kFailedPrecondition, "skipped"));
  EXPECT_THAT(Bisect({.good = 4, .bad = 4}, BadFrom(1)),
              StatusIs(absl::StatusCode::kInvalidArgument, "nothing between"));
}

TEST(BisectionTest, SkippedPointsAreGoneAround) {
  BATON_ASSERT_OK_AND_ASSIGN(const BisectionResult found,
                             Bisect({.bad = 16}, BadFrom(3, {7, 8, 9})));
  EXPECT_EQ(found.first_bad, 3);
  EXPECT_TRUE(found.certain());
  BATON_ASSERT_OK_AND_ASSIGN(const BisectionResult unsure,
                             Bisect({.bad = 16}, BadFrom(8, {7, 8, 9})));
  EXPECT_EQ(unsure.last_good, 6);
  EXPECT_EQ(unsure.first_bad, 10);
  EXPECT_THAT(unsure.Skipped(), ElementsAre(7, 8, 9));
  EXPECT_FALSE(unsure.certain());
}

TEST(BisectionTest, FlakyAnswersAreNoticed) {
  // Bad from 5 on, but each point is good when it is asked about first.
  std::set<int64_t> asked;
  const Ask flaky = [&asked](int64_t point) -> absl::StatusOr<Answer> {
    const bool is_first = asked.insert(point).second;
    return point < 5 || (is_first && point != 9) ? Answer::kGood : Answer::kBad;
  };
  BATON_ASSERT_OK_AND_ASSIGN(const BisectionResult once,
                             Bisect({.bad = 9}, flaky));
  EXPECT_THAT(once.Flaky(), ElementsAre(8));
  EXPECT_FALSE(once.certain());
  // Asked about more often, they tell.
  asked.clear();
  BATON_ASSERT_OK_AND_ASSIGN(const BisectionResult twice,
                             Bisect({.bad = 9, .repeat = 2}, flaky));
  EXPECT_EQ(twice.first_bad, 5);
  EXPECT_FALSE(twice.Flaky().empty());
}

TEST(BisectionTest, EndsThatAnswerBothWaysAreNoticed) {
  // Each other question is answered the other way.
  int questions = 0;
  const Ask flaky = [&questions](int64_t point) -> absl::StatusOr<Answer> {
    return (++questions % 2 == 0) == (point < 5) ? Answer::kGood : Answer::kBad;
  };
  for (const int repeat : {1, 2, 3}) {
    questions = 0;
    EXPECT_THAT(Bisect({.bad = 9, .repeat = repeat}, flaky),
                StatusIs(absl::StatusCode::kUnknown,
                         absl::StrCat("0 answers both ways: good 1 times, bad ",
                                      repeat == 3 ? 2 : 1, " times")));
  }
  // The other end.
  questions = 0;
  EXPECT_THAT(Bisect({.bad = 9},
                     [&](int64_t point) -> absl::StatusOr<Answer> {
                       return point == 0 ? Answer::kGood : flaky(point);
                     }),
              StatusIs(absl::StatusCode::kUnknown, "9 answers both ways"));
}

TEST(BisectionTest, WhatIsKnownIsNotAsked) {
  BisectionOptions options = {.bad = 64};
  options.on_answer = [&options](int64_t point, Answer answer) {
    options.known[point].Add(answer);
    return options.known.size() < 4 ? absl::OkStatus()
                                    : absl::CancelledError("enough");
  };
  EXPECT_THAT(Bisect({options}, BadFrom(41)),
              StatusIs(absl::StatusCode::kCancelled, "enough"));
  options.on_answer = nullptr;
  BATON_ASSERT_OK_AND_ASSIGN(const BisectionResult result,
                             Bisect(options, BadFrom(41)));
  EXPECT_EQ(result.first_bad, 41);
  EXPECT_EQ(result.num_tests, 6 - 2 + 2);
  EXPECT_THAT(result.Skipped(), IsEmpty());
}

TEST(FirstBadTest, HalvesTheRange) {
  for (int64_t good : {-1, 0, 5}) {
    for (int64_t bad = good + 1; bad < good + 40; ++bad) {
      for (int64_t first = good + 1; first <= bad; ++first) {
        int tests = 0;
        const absl::StatusOr<int64_t> found =
            FirstBad(good, bad, [&](int64_t point) {
              EXPECT_TRUE(good < point && point < bad);
              ++tests;
              return point >= first;
            });
        ASSERT_THAT(found.status(), IsOk());
        EXPECT_EQ(*found, first);
        EXPECT_LE(int64_t{1} << tests, 2 * (bad - good));
      }
    }
  }
}

TEST(FirstBadTest, ReturnsErrors) {
  EXPECT_EQ(FirstBad(0, 9,
                     [](int64_t) -> absl::StatusOr<bool> {
                       return absl::InternalError("no answer");
                     })
                .status(),
            absl::InternalError("no answer"));
}

}  // namespace
}  // namespace baton
