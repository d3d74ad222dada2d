// Bisect: finds the first bad point in a sequence with few tests.

#ifndef BATON_TRIAGE_BISECTION_H_
#define BATON_TRIAGE_BISECTION_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace baton {

// Returns the least point in (good, bad] that is bad. `good` must be a good
// point, `bad` a bad one, and all points after a bad one bad. Tests only points
// between the ends, at most ceil(log2(bad - good)) of them. Errors: those of
// `is_bad`.
absl::StatusOr<int64_t> FirstBad(
    int64_t good, int64_t bad,
    absl::FunctionRef<absl::StatusOr<bool>(int64_t point)> is_bad);

enum class Answer { kGood, kBad, kSkip };

// The results of the tests of one point.
struct PointAnswers {
  int good = 0;
  int bad = 0;
  int skip = 0;

  // Both results occurred.
  bool flaky() const { return good > 0 && bad > 0; }
  // Bad if any test was bad.
  Answer verdict() const {
    if (bad > 0) return Answer::kBad;
    return good > 0 ? Answer::kGood : Answer::kSkip;
  }
  void Add(Answer answer);
};

// `answers both ways: good 1 times, bad 2 times`.
std::string BothWaysText(const PointAnswers& answers);

struct BisectionOptions {
  int64_t good = 0;  // the ends of the sequence
  int64_t bad = 0;   // > good
  // The number of tests of each point. If 1, the two points of the result, and
  // an end with an unexpected result, are tested once more.
  int repeat = 1;
  // Known results: these points are not tested during the search.
  std::map<int64_t, PointAnswers> known = {};
  // The name of a point in errors; its number if null.
  std::function<std::string(int64_t point)> name = {};
  // Called with each result before the next test.
  std::function<absl::Status(int64_t point, Answer answer)> on_answer = {};
};

// The result of Bisect.
struct BisectionResult {
  // The greatest good point below all bad ones, the least bad point above it,
  // and the points in between, all of them skipped.
  int64_t last_good = 0;
  int64_t first_bad = 0;
  std::map<int64_t, PointAnswers> answers;
  int64_t num_tests = 0;  // in this search

  std::vector<int64_t> Skipped() const;  // between the two
  std::vector<int64_t> Flaky() const;
  // True if no point between the two was skipped, and no point was flaky.
  bool certain() const;
};

// Tests both ends, the points that halve the remaining range, and the two
// points of the result: at most ceil(log2(bad - good)) + 4 tests if no point is
// skipped. A skipped point is replaced by the nearest point to the middle that
// is not skipped. Errors: FailedPrecondition if an end has an unexpected
// result, Unknown if it sometimes has; those of `test` and of `on_answer`.
absl::StatusOr<BisectionResult> Bisect(
    const BisectionOptions& options,
    const std::function<absl::StatusOr<Answer>(int64_t point)>& test);

}  // namespace baton

#endif  // BATON_TRIAGE_BISECTION_H_
