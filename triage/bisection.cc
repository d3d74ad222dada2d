#include "baton/triage/bisection.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/status_macros.h"

namespace baton {
namespace {

class Search {
 public:
  Search(const BisectionOptions& options,
         const std::function<absl::StatusOr<Answer>(int64_t)>& test)
      : options_(options), test_(test) {
    result_.answers = options.known;
  }

  absl::StatusOr<BisectionResult> Run() && {
    BATON_RETURN_IF_ERROR(CheckEnds());
    while (const std::optional<int64_t> next = Next()) {
      BATON_ASSIGN_OR_RETURN(const Answer answer, AnswerAt(*next));
      if (answer == Answer::kGood) result_.last_good = *next;
      if (answer == Answer::kBad) result_.first_bad = *next;
    }
    // Only a repeated test can show that a result changes.
    if (options_.repeat <= 1) {
      BATON_RETURN_IF_ERROR(AskAbout(result_.last_good));
      BATON_RETURN_IF_ERROR(AskAbout(result_.first_bad));
    }
    return std::move(result_);
  }

 private:
  absl::Status CheckEnds() {
    if (options_.good >= options_.bad) {
      return absl::InvalidArgumentError("there is nothing between the ends");
    }
    result_.last_good = options_.good;
    result_.first_bad = options_.bad;
    BATON_RETURN_IF_ERROR(
        CheckEnd(options_.good, Answer::kGood, " at the start already, "));
    return CheckEnd(options_.bad, Answer::kBad, " at the end still, ");
  }

  // An error if the result at `point` is not `expected`.
  absl::Status CheckEnd(int64_t point, Answer expected,
                        absl::string_view where) {
    BATON_ASSIGN_OR_RETURN(const Answer answer, AnswerAt(point));
    if (answer == expected) return absl::OkStatus();
    if (options_.repeat <= 1) BATON_RETURN_IF_ERROR(AskAbout(point));
    const PointAnswers& answers = result_.answers[point];
    if (answers.flaky()) {
      return absl::UnknownError(
          absl::StrCat(Name(point), " ", BothWaysText(answers)));
    }
    return absl::FailedPreconditionError(
        absl::StrCat("it is ",
                     answer == Answer::kGood  ? "good"
                     : answer == Answer::kBad ? "bad"
                                              : "skipped",
                     where, Name(point)));
  }

  std::string Name(int64_t point) const {
    return options_.name == nullptr ? absl::StrCat(point)
                                    : options_.name(point);
  }

  absl::Status AskAbout(int64_t point) {
    BATON_ASSIGN_OR_RETURN(const Answer answer, test_(point));
    ++result_.num_tests;
    result_.answers[point].Add(answer);
    return options_.on_answer == nullptr ? absl::OkStatus()
                                         : options_.on_answer(point, answer);
  }

  absl::StatusOr<Answer> AnswerAt(int64_t point) {
    for (int i = 0; i < options_.repeat; ++i) {
      if (Asked(point) >= options_.repeat) break;
      BATON_RETURN_IF_ERROR(AskAbout(point));
    }
    return result_.answers[point].verdict();
  }

  int Asked(int64_t point) const {
    const auto it = result_.answers.find(point);
    if (it == result_.answers.end()) return 0;
    return it->second.good + it->second.bad + it->second.skip;
  }

  // Skipped points were tested and stay between the two.
  bool IsSkipped(int64_t point) const {
    return Asked(point) >= options_.repeat &&
           result_.answers.at(point).verdict() == Answer::kSkip;
  }

  // The next point to test: the nearest one to the middle.
  std::optional<int64_t> Next() const {
    const int64_t low = result_.last_good;
    const int64_t high = result_.first_bad;
    const int64_t middle = low + (high - low) / 2;
    for (int64_t away = 0; away < high - low; ++away) {
      for (const int64_t point : {middle - away, middle + away}) {
        if (low < point && point < high && !IsSkipped(point)) return point;
      }
    }
    return std::nullopt;
  }

  const BisectionOptions& options_;
  const std::function<absl::StatusOr<Answer>(int64_t)>& test_;
  BisectionResult result_;
};

}  // namespace

absl::StatusOr<int64_t> FirstBad(
    int64_t good, int64_t bad,
    absl::FunctionRef<absl::StatusOr<bool>(int64_t point)> is_bad) {
  while (bad - good > 1) {
    const int64_t middle = good + (bad - good) / 2;
    BATON_ASSIGN_OR_RETURN(const bool middle_is_bad, is_bad(middle));
    (middle_is_bad ? bad : good) = middle;
  }
  return bad;
}

void PointAnswers::Add(Answer answer) {
  ++(answer == Answer::kGood ? good : answer == Answer::kBad ? bad : skip);
}

std::string BothWaysText(const PointAnswers& answers) {
  return absl::StrCat("answers both ways: good ", answers.good, " times, bad ",
                      answers.bad, " times");
}

std::vector<int64_t> BisectionResult::Skipped() const {
  std::vector<int64_t> points;
  for (int64_t point = last_good + 1; point < first_bad; ++point) {
    points.push_back(point);
  }
  return points;
}

std::vector<int64_t> BisectionResult::Flaky() const {
  std::vector<int64_t> points;
  for (const auto& [point, of_point] : answers) {
    if (of_point.flaky()) points.push_back(point);
  }
  return points;
}

bool BisectionResult::certain() const {
  return first_bad - last_good == 1 && Flaky().empty();
}

absl::StatusOr<BisectionResult> Bisect(
    const BisectionOptions& options,
    const std::function<absl::StatusOr<Answer>(int64_t point)>& test) {
  return Search(options, test).Run();
}

}  // namespace baton
