#include "baton/tools/expected_diagnostics.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "baton/base/source.h"
#include "re2/re2.h"

namespace baton {
namespace {

constexpr absl::string_view kWord = "expected-";

// The line that `@...` means in a comment of line `here`; false if it means
// none.
bool LineOf(const std::string& at, int here, int* line) {
  if (at.empty()) {
    *line = here;
  } else if (at == "unknown") {
    *line = 0;
  } else if (at == "above" || at == "below") {
    *line = here + (at == "above" ? -1 : 1);
  } else {
    int offset = 0;
    if (!absl::SimpleAtoi(at, &offset)) return false;
    *line = here + offset;
  }
  return true;
}

bool Matches(const ExpectedDiagnostic& expected,
             const ReportedDiagnostic& reported) {
  if (expected.severity != reported.severity ||
      expected.line != reported.line ||
      (expected.column != 0 && expected.column != reported.column)) {
    return false;
  }
  return expected.is_regex ? RE2::PartialMatch(reported.message, expected.text)
                           : absl::StrContains(reported.message, expected.text);
}

// The place of `reported` in `source`.
int64_t OffsetOf(const Source& source, const ReportedDiagnostic& reported) {
  int64_t begin = 0;
  int line = source.PositionOf(0).line;
  while (line < reported.line) {
    const size_t end = source.text().find('\n', static_cast<size_t>(begin));
    if (end == std::string::npos) break;
    begin = static_cast<int64_t>(end) + 1;
    ++line;
  }
  return begin + reported.column - 1;
}

}  // namespace

absl::StatusOr<std::vector<ExpectedDiagnostic>> ParseExpectedDiagnostics(
    const Source& source) {
  static const RE2& kExpectation =
      *new RE2(R"(^expected-(error|warning|note)(-re)?)"
               R"((?:@(above|below|unknown|[+-][0-9]+)(?::([0-9]+))?)?)"
               R"( +\{\{(.*?)\}\}[ \t\r]*$)");
  std::vector<ExpectedDiagnostic> result;
  std::vector<std::string> errors;
  int64_t begin = 0;  // of the line
  for (const absl::string_view line : absl::StrSplit(source.text(), '\n')) {
    const size_t comment = line.find("//");
    const size_t word = comment == absl::string_view::npos
                            ? comment
                            : line.find(kWord, comment);
    const int64_t line_begin = begin;
    begin += static_cast<int64_t>(line.size()) + 1;
    if (word == absl::string_view::npos) continue;
    ExpectedDiagnostic expected;
    expected.begin = line_begin + static_cast<int64_t>(word);
    expected.end = line_begin + static_cast<int64_t>(line.size());
    std::string regex;
    std::string at;
    std::string column;
    const bool understood =
        RE2::FullMatch(std::string(line.substr(word)), kExpectation,
                       &expected.severity, &regex, &at, &column,
                       &expected.text) &&
        LineOf(at, source.PositionOf(line_begin).line, &expected.line) &&
        (column.empty() || absl::SimpleAtoi(column, &expected.column)) &&
        !expected.text.empty();
    expected.is_regex = !regex.empty();
    if (understood && (!expected.is_regex || RE2(expected.text).ok())) {
      result.push_back(std::move(expected));
      continue;
    }
    errors.push_back(LocatedMessage(
        source, expected.begin, expected.end, "error",
        "not understood: a comment such as `expected-error@+1 {{a part of the "
        "message}}` is"));
  }
  if (errors.empty()) return result;
  return absl::InvalidArgumentError(absl::StrJoin(errors, "\n"));
}

std::vector<ReportedDiagnostic> ParseReportedDiagnostics(
    absl::string_view name, absl::string_view text) {
  static const RE2& kPlace =
      *new RE2("^:([0-9]+):([0-9]+): (error|warning|note): (.*)$");
  static const RE2& kNoPlace = *new RE2("^(error|warning|note): (.*)$");
  std::vector<ReportedDiagnostic> result;
  for (const absl::string_view whole : absl::StrSplit(text, '\n')) {
    absl::string_view line = whole;
    ReportedDiagnostic reported;
    if (absl::ConsumePrefix(&line, name) &&
        RE2::FullMatch(std::string(line), kPlace, &reported.line,
                       &reported.column, &reported.severity,
                       &reported.message)) {
      result.push_back(std::move(reported));
    } else if (RE2::FullMatch(std::string(whole), kNoPlace, &reported.severity,
                              &reported.message)) {
      reported.line = 0;
      reported.column = 0;
      result.push_back(std::move(reported));
    }
  }
  if (result.empty() && !text.empty()) {
    result.push_back({.severity = "error", .message = std::string(text)});
  }
  return result;
}

absl::Status CompareDiagnostics(
    const Source& source, const std::vector<ExpectedDiagnostic>& expected,
    const std::vector<ReportedDiagnostic>& reported) {
  std::vector<bool> found(expected.size(), false);
  std::vector<std::string> errors;
  for (const ReportedDiagnostic& one : reported) {
    size_t i = 0;
    while (i < expected.size() && (found[i] || !Matches(expected[i], one))) ++i;
    if (i < expected.size()) {
      found[i] = true;
      continue;
    }
    const std::string message =
        absl::StrCat("not expected: ", one.severity, ": ", one.message);
    const int64_t begin = OffsetOf(source, one);
    errors.push_back(
        one.line > 0
            ? LocatedMessage(source, begin, begin + 1, "error", message)
            : absl::StrCat(source.name(), ": error: ", message));
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    if (found[i]) continue;
    const ExpectedDiagnostic& one = expected[i];
    errors.push_back(LocatedMessage(
        source, one.begin, one.end, "error",
        absl::StrCat(
            "there is no such ", one.severity, " ",
            one.line == 0 ? std::string("without a place")
                          : absl::StrCat("on line ", one.line),
            one.column == 0 ? "" : absl::StrCat(", column ", one.column))));
  }
  if (errors.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrJoin(errors, "\n"));
}

}  // namespace baton
