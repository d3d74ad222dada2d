// The first of a row of points from which on something is bad, by asking about
// few of them.

#ifndef BATON_TRIAGE_BISECTION_H_
#define BATON_TRIAGE_BISECTION_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace baton {

enum class Answer { kGood, kBad, kSkip };

// What was answered about one point.
struct PointAnswers {
  int good = 0;
  int bad = 0;
  int skip = 0;

  // Both ways.
  bool flaky() const { return good > 0 && bad > 0; }
  // Bad if it ever was.
  Answer verdict() const {
    if (bad > 0) return Answer::kBad;
    return good > 0 ? Answer::kGood : Answer::kSkip;
  }
  void Add(Answer answer);
};

// `answers both ways: good 1 times, bad 2 times`.
std::string BothWaysText(const PointAnswers& answers);

struct BisectionOptions {
  int64_t good = 0;  // the ends
  int64_t bad = 0;   // > good
  // Times that each point is asked about. If 1, the two points that are found,
  // or an end that does not answer as it should, are asked about once more.
  int repeat = 1;
  // What is known already: these points are not asked about to find the place.
  std::map<int64_t, PointAnswers> known = {};
  // What errors call a point; its number if null.
  std::function<std::string(int64_t point)> name = {};
  // Is told of each answer before the next question.
  std::function<absl::Status(int64_t point, Answer answer)> on_answer = {};
};

struct BisectionResult {
  // The greatest point that is good below all that are bad, the least that is
  // bad above it, and those between: all of them are skipped.
  int64_t last_good = 0;
  int64_t first_bad = 0;
  std::map<int64_t, PointAnswers> answers;
  int64_t questions = 0;  // of this search

  std::vector<int64_t> Skipped() const;  // between the two
  std::vector<int64_t> Flaky() const;
  // Nothing was skipped between the two, and no point answered both ways.
  bool certain() const;
};

// Asks about both ends, about the points that halve what is left, and about
// the two that are found: in all ceil(log2(bad - good)) + 4 questions if none
// is skipped. A point that is skipped is replaced by the nearest one to the
// middle that was not. Errors: FailedPrecondition if an end does not answer as
// it should, Unknown if it does now and then; those of `ask` and of
// `on_answer`.
absl::StatusOr<BisectionResult> Bisect(
    const BisectionOptions& options,
    const std::function<absl::StatusOr<Answer>(int64_t point)>& ask);

}  // namespace baton

#endif  // BATON_TRIAGE_BISECTION_H_
