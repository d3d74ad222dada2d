#include "baton/tools/bisect_command.h"

#include <signal.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "baton/base/status_macros.h"
#include "baton/tools/files.h"
#include "baton/tools/reduced_test.h"
#include "baton/triage/bisection.h"
#include "baton/triage/command.h"

namespace baton {
namespace {

std::string How(const CommandResult& run) {
  switch (run.end) {
    case CommandResult::End::kTimedOut:
      return ", its time was up";
    case CommandResult::End::kKilled:
      return absl::StrCat(", it crashed (", strsignal(run.code), ")");
    default:
      return run.code == 0 ? "" : absl::StrCat(", exit code ", run.code);
  }
}

bool IsCrash(int number) {
  for (const int crash :
       {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) {
    if (number == crash) return true;
  }
  return false;
}

std::string LastLines(absl::string_view output) {
  while (!output.empty() && output.back() == '\n') output.remove_suffix(1);
  return output.empty() ? "" : absl::StrCat("\n", output);
}

}  // namespace

absl::string_view AnswerName(Answer answer) {
  switch (answer) {
    case Answer::kGood:
      return "good";
    case Answer::kBad:
      return "bad";
    case Answer::kSkip:
      return "skip";
  }
  return "";
}

absl::StatusOr<std::map<int64_t, PointAnswers>> BisectProgress::Read() {
  std::map<int64_t, PointAnswers> known;
  std::error_code ignored;
  if (path_.empty() || !std::filesystem::exists(path_, ignored)) return known;
  BATON_ASSIGN_OR_RETURN(std::string content, ReadFile(path_));
  if (content.compare(0, text_.size(), text_) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(path_,
                     " is of another search; remove it, or give "
                     "another --progress"));
  }
  for (const absl::string_view line :
       absl::StrSplit(content.substr(text_.size()), '\n', absl::SkipEmpty())) {
    const std::vector<absl::string_view> words = absl::StrSplit(line, ' ');
    int64_t point = 0;
    std::optional<Answer> answer;
    for (const Answer one : {Answer::kGood, Answer::kBad, Answer::kSkip}) {
      if (words.back() == AnswerName(one)) answer = one;
    }
    if (words.size() != 2 || !absl::SimpleAtoi(words[0], &point) ||
        !answer.has_value()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path_, ": \"", line, "\" is no answer"));
    }
    known[point].Add(*answer);
  }
  text_ = std::move(content);
  return known;
}

absl::Status BisectProgress::Add(int64_t point, Answer answer) {
  if (path_.empty()) return absl::OkStatus();
  absl::StrAppend(&text_, point, " ", AnswerName(answer), "\n");
  return WriteFileAtomically(path_, text_);
}

absl::StatusOr<Answer> CommandTester::operator()(int64_t point) {
  BATON_ASSIGN_OR_RETURN(const BisectPoints::Given given, points_.Give(point));
  const auto [asked, is_new] = asked_.try_emplace(given.key, point, Answer());
  if (!is_new && asked->second.first != point) {
    reports_ << points_.Name(point) << ": " << AnswerName(asked->second.second)
             << ", as it is the same " << points_.Name(asked->second.first)
             << "\n";
    return asked->second.second;
  }
  std::vector<std::string> words = command_;
  const bool is_shell = words.size() == 1;
  for (std::string& word : words) {
    word = absl::StrReplaceAll(
        word, {{"{}", is_shell ? ShellWord(given.text) : given.text}});
  }
  if (is_shell) words = {"/bin/sh", "-c", words[0]};
  BATON_ASSIGN_OR_RETURN(const CommandResult run,
                         RunCommand(words, options_.timeout));
  ++runs_;
  points_.SetOutput(point, run.output);
  BATON_ASSIGN_OR_RETURN(const Answer answer, AnswerOf(run, point));
  asked->second.second = answer;
  reports_ << points_.Name(point) << ": " << AnswerName(answer) << How(run)
           << std::endl;
  return answer;
}

absl::StatusOr<Answer> CommandTester::AnswerOf(const CommandResult& run,
                                               int64_t point) {
  constexpr int kCannotSay = 125;
  constexpr int kFirstSignal = 128;
  switch (run.end) {
    case CommandResult::End::kInterrupted:
      signal_ = run.code;
      return absl::CancelledError("interrupted");
    case CommandResult::End::kTimedOut:
      return Answer::kBad;
    case CommandResult::End::kKilled:
      return OfCrash(run.code, point);
    case CommandResult::End::kExited:
      break;
  }
  if (run.code == 0) return Answer::kGood;
  if (run.code == kCannotSay) return Answer::kSkip;
  if (run.code < kFirstSignal) return Answer::kBad;
  // As shells say that a signal ended their command.
  if (IsCrash(run.code - kFirstSignal)) {
    return OfCrash(run.code - kFirstSignal, point);
  }
  return absl::AbortedError(absl::StrCat(points_.Name(point),
                                         ": the command ended with ", run.code,
                                         LastLines(run.output)));
}

absl::StatusOr<Answer> CommandTester::OfCrash(int number, int64_t point) const {
  if (options_.crash == "bad") return Answer::kBad;
  if (options_.crash == "skip") return Answer::kSkip;
  return absl::AbortedError(absl::StrCat(
      points_.Name(point), ": the command crashed (", strsignal(number),
      "); --crash=bad takes that for an answer"));
}

}  // namespace baton
