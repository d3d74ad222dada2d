#include "baton/tir/usmp/pool_planner.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "baton/base/registry.h"
#include "baton/testing/golden.h"
#include "baton/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::tir {
namespace {

using ::baton::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr absl::string_view kAlgorithms[] = {
    "greedy_by_size", "greedy_by_conflicts", "hill_climb"};

// Buffers in one unlimited pool, with conflicts by name.
struct Named {
  std::string name;
  int64_t bytes;
  std::vector<std::string> conflicts;
};
PoolProblem ProblemOf(const std::vector<Named>& buffers, int64_t limit = -1) {
  PoolProblem problem = {.pools = {{"workspace", limit}}};
  for (const Named& named : buffers) {
    PoolBuffer buffer = {
        .name = named.name, .bytes = named.bytes, .pools = {0}};
    for (const std::string& conflict : named.conflicts) {
      for (size_t i = 0; i < buffers.size(); ++i) {
        if (buffers[i].name == conflict) {
          buffer.conflicts.push_back(static_cast<int>(i));
        }
      }
    }
    problem.buffers.push_back(std::move(buffer));
  }
  return problem;
}

int64_t BytesOf(absl::string_view algorithm, const PoolProblem& problem) {
  const absl::StatusOr<PoolPlan> plan = PlanPools(algorithm, problem);
  EXPECT_TRUE(plan.ok()) << algorithm << ": " << plan.status();
  if (!plan.ok()) return -1;
  return UsedBytes(problem, *plan)[0];
}

struct Interval {
  int32_t first = 0;
  int32_t last = 0;
  int64_t bytes = 0;
};
PoolProblem ProblemOf(const std::vector<Interval>& intervals) {
  PoolProblem problem = {.pools = {{"workspace"}}};
  for (size_t i = 0; i < intervals.size(); ++i) {
    const Interval& a = intervals[i];
    PoolBuffer buffer = {.name = absl::StrCat(i),
                         .bytes = a.bytes,
                         .pools = {0},
                         .first = a.first,
                         .last = a.last};
    int64_t live = 0;  // at the begin of `a`
    for (size_t j = 0; j < intervals.size(); ++j) {
      const Interval& b = intervals[j];
      if (i != j && a.first <= b.last && b.first <= a.last) {
        buffer.conflicts.push_back(static_cast<int>(j));
      }
      if (b.first <= a.first && a.first <= b.last) live += b.bytes;
    }
    problem.memory_pressure = std::max(problem.memory_pressure, live);
    problem.buffers.push_back(std::move(buffer));
  }
  return problem;
}

// The sizes that tests of TVM 0.14 expect (test_tir_usmp_algo.py).
TEST(PoolPlannerTest, NamesDecideWhereSizesAndConflictsAreEqual) {
  const PoolProblem problem = ProblemOf({{"bi_a", 10, {"bi_b", "bi_c"}},
                                         {"bi_b", 10, {"bi_c", "bi_a"}},
                                         {"bi_c", 10, {"bi_a", "bi_b"}}});
  for (const absl::string_view algorithm : kAlgorithms) {
    BATON_ASSERT_OK_AND_ASSIGN(const PoolPlan plan,
                               PlanPools(algorithm, problem));
    EXPECT_THAT(
        plan, ElementsAre(PoolPlace{0, 20}, PoolPlace{0, 10}, PoolPlace{0, 0}))
        << algorithm;
  }
}

TEST(PoolPlannerTest, Chain) {
  const PoolProblem problem = ProblemOf({{"bi_a", 10, {"bi_b"}},
                                         {"bi_b", 20, {"bi_a", "bi_c"}},
                                         {"bi_c", 100, {"bi_b", "bi_d"}},
                                         {"bi_d", 40, {"bi_c", "bi_e"}},
                                         {"bi_e", 50, {"bi_d", "bi_f"}},
                                         {"bi_f", 50, {"bi_e"}}});
  for (const absl::string_view algorithm : kAlgorithms) {
    EXPECT_EQ(BytesOf(algorithm, problem), 140) << algorithm;
  }
}

TEST(PoolPlannerTest, Fanout) {
  const PoolProblem problem =
      ProblemOf({{"bi_a", 10, {"bi_b", "bi_c"}},
                 {"bi_b", 20, {"bi_a", "bi_c", "bi_e"}},
                 {"bi_c", 100, {"bi_e", "bi_a", "bi_b", "bi_d"}},
                 {"bi_d", 40, {"bi_b", "bi_f", "bi_c", "bi_e"}},
                 {"bi_e", 50, {"bi_c", "bi_f", "bi_b", "bi_d"}},
                 {"bi_f", 60, {"bi_d", "bi_e", "bi_f"}},
                 {"bi_g", 70, {"bi_f"}}});
  // Only one of two buffers says that they are in each other's way, so that
  // plans do not pass CheckPoolPlan().
  const auto bytes_of = [&](absl::string_view algorithm) {
    const PoolAlgorithm& plan = **PoolAlgorithmRegistry().Get(algorithm);
    return UsedBytes(problem, *plan(problem))[0];
  };
  EXPECT_EQ(bytes_of("greedy_by_size"), 190);
  EXPECT_EQ(bytes_of("greedy_by_conflicts"), 320);
  EXPECT_EQ(bytes_of("hill_climb"), 190);
}

TEST(PoolPlannerTest, NoPoolIsLargeEnough) {
  const PoolProblem problem = ProblemOf(
      {{"bi_a", 10, {"bi_b"}}, {"bi_b", 10, {"bi_c"}}, {"bi_c", 10, {"bi_a"}}},
      10);
  EXPECT_THAT(
      PlanPools("greedy_by_size", problem),
      StatusIs(absl::StatusCode::kResourceExhausted,
               "the memory pools are too small: buffer bi_b of 10 bytes fits "
               "none of its pools (workspace): increase size_hint_bytes, or "
               "add a pool"));
  EXPECT_THAT(PlanPools("hill_climb", problem),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       "the memory pools are too small"));
}

// A pool in which a buffer does not fit behind one conflict is no candidate
// even if it fits behind another one.
TEST(PoolPlannerTest, AFullPoolStaysFull) {
  PoolProblem problem = {.pools = {{"small", 100}, {"large"}}};
  problem.buffers = {
      {.name = "x", .bytes = 60, .pools = {0}, .conflicts = {1, 2}},
      {.name = "y", .bytes = 30, .pools = {0}, .conflicts = {0, 2}},
      {.name = "z", .bytes = 20, .pools = {0, 1}, .conflicts = {1, 0}}};
  for (const absl::string_view algorithm : kAlgorithms) {
    BATON_ASSERT_OK_AND_ASSIGN(const PoolPlan plan,
                               PlanPools(algorithm, problem));
    EXPECT_EQ(plan[2], (PoolPlace{1, 0})) << algorithm;
  }
}

std::vector<Interval> DeepSpeech() {
  std::vector<Interval> intervals;
  for (const absl::string_view line : absl::StrSplit(
           testing::ReadFileOrFail(
               testing::RunfilePath("tir/usmp/testdata/deep_speech.tsv")),
           '\n')) {
    const std::vector<absl::string_view> columns = absl::StrSplit(line, '\t');
    Interval interval;
    if (columns.size() == 3 && absl::SimpleAtoi(columns[0], &interval.first) &&
        absl::SimpleAtoi(columns[1], &interval.last) &&
        absl::SimpleAtoi(columns[2], &interval.bytes)) {
      intervals.push_back(interval);
    }
  }
  return intervals;
}

// test_tir_usmp_algo_hill_climb.py: within 5 % of the bytes in use at one time.
TEST(PoolPlannerTest, HillClimbOnIntervals) {
  const std::vector<Interval> cases[] = {
      DeepSpeech(),
      {{0, 159, 2048},
       {0, 13, 7904},
       {4, 35, 16},
       {12, 17, 32768},
       {16, 21, 32768}},
      {{0, 23, 131072},
       {4, 5, 65568},
       {4, 9, 8192},
       {8, 30, 15360},
       {10, 11, 65568},
       {10, 15, 4096},
       {16, 17, 65552},
       {16, 21, 2048},
       {22, 23, 32784},
       {22, 27, 1024}},
      {{4, 5, 95}, {1, 4, 52135}, {3, 4, 12136}, {3, 5, 62099}, {4, 5, 50458}},
  };
  ASSERT_EQ(cases[0].size(), 184);
  for (const std::vector<Interval>& intervals : cases) {
    const PoolProblem problem = ProblemOf(intervals);
    EXPECT_LT(BytesOf("hill_climb", problem),
              problem.memory_pressure * 21 / 20);
    EXPECT_LT(BytesOf("arena", problem), problem.memory_pressure * 21 / 20);
  }
}

TEST(PoolPlannerTest, RandomProblems) {
  std::mt19937 random(0);
  const auto below = [&](uint32_t n) { return static_cast<int>(random() % n); };
  for (int round = 0; round < 50; ++round) {
    PoolProblem problem = ProblemOf([&] {
      std::vector<Interval> intervals;
      for (int i = 0; i < 40; ++i) {
        const int first = below(60);
        intervals.push_back({first, first + below(20), 1 + below(5000)});
      }
      return intervals;
    }());
    problem.pools = {{"a", 4096}, {"b", 16384}, {"c"}};
    for (PoolBuffer& buffer : problem.buffers) {
      buffer.alignment = 1 << below(7);
      buffer.pools = {0, 1, 2};
      std::swap(buffer.pools[0], buffer.pools[below(3)]);
      if (below(4) == 0) buffer.pools = {2};
    }
    for (const absl::string_view algorithm :
         {"greedy_by_size", "greedy_by_conflicts", "hill_climb", "arena"}) {
      // The plan is checked.
      EXPECT_TRUE(PlanPools(algorithm, problem).ok()) << algorithm;
    }
  }
}

TEST(PoolPlannerTest, PlansAreChecked) {
  PoolProblem problem = {.pools = {{"small", 100}, {"large"}}};
  problem.buffers = {
      {.name = "x",
       .bytes = 60,
       .alignment = 4,
       .pools = {0},
       .conflicts = {1}},
      {.name = "y", .bytes = 30, .pools = {0, 1}, .conflicts = {0}}};
  EXPECT_TRUE(CheckPoolPlan(problem, {{0, 0}, {0, 60}}).ok());
  EXPECT_TRUE(CheckPoolPlan(problem, {{0, 0}, {1, 0}}).ok());
  const auto error = [&](const PoolPlan& plan) {
    return std::string(CheckPoolPlan(problem, plan).message());
  };
  EXPECT_THAT(error({{0, 0}}), HasSubstr("1 places for 2 buffers"));
  EXPECT_THAT(error({{1, 0}, {0, 0}}), HasSubstr("x in none of its pools"));
  EXPECT_THAT(error({{0, 2}, {1, 0}}), HasSubstr("x where its alignment"));
  EXPECT_THAT(error({{0, 0}, {0, 71}}), HasSubstr("y behind the end"));
  EXPECT_THAT(error({{0, 0}, {0, 59}}), HasSubstr("x in the memory of y"));
}

TEST(PoolPlannerTest, AlgorithmsAreRegistered) {
  const ScopedOverride<PoolAlgorithm> stacked(
      &PoolAlgorithmRegistry(), "stacked",
      PoolAlgorithm([](const PoolProblem& problem) -> absl::StatusOr<PoolPlan> {
        PoolPlan plan;
        int64_t offset = 0;
        for (const PoolBuffer& buffer : problem.buffers) {
          plan.push_back({buffer.pools[0], offset});
          offset += buffer.bytes;
        }
        return plan;
      }));
  const PoolProblem problem =
      ProblemOf({{"a", 10, {}}, {"b", 20, {}}, {"c", 30, {}}});
  EXPECT_EQ(BytesOf("stacked", problem), 60);
  EXPECT_EQ(BytesOf("greedy_by_size", problem), 30);
  EXPECT_THAT(PlanPools("greedy_by_sizes", problem),
              StatusIs(absl::StatusCode::kNotFound, "greedy_by_size\"?"));
}

}  // namespace
}  // namespace baton::tir
