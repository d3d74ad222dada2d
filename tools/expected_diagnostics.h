// Parses and checks expected errors, given as comments in a program:
//
//   // expected-error@+1 {{the shapes (2, 3) and (4) cannot be}}
//   def @main(%x: Tensor[(2, 3), float32], %y: Tensor[(4), float32]) {
//     add(%x, %y)
//   }
//
// A comment begins with `expected-error`, `expected-warning` or
// `expected-note`. The line follows: by default that of the comment, otherwise
// one before or after it (`@-2`, `@+1`, `@above`, `@below`), or `@unknown` for
// a diagnostic without a place. The column may follow: `@+1:68`. The braces
// contain a part of the message; after `expected-error-re` they contain an RE2
// expression that matches a part.

#ifndef BATON_TOOLS_EXPECTED_DIAGNOSTICS_H_
#define BATON_TOOLS_EXPECTED_DIAGNOSTICS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/source.h"

namespace baton {

// One `expected-...` comment.
struct ExpectedDiagnostic {
  int64_t begin = 0;  // of the comment's keyword, in the source
  int64_t end = 0;
  std::string severity;  // `error`
  int line = 0;          // 0: without a place
  int column = 0;        // 0: any column
  bool is_regex = false;
  std::string text;
};

// The expected diagnostics in the comments of `source`, in order. A malformed
// comment that begins with `expected-` is a located error.
absl::StatusOr<std::vector<ExpectedDiagnostic>> ParseExpectedDiagnostics(
    const Source& source);

// A diagnostic that a tool reported, parsed from its rendered text.
struct ReportedDiagnostic {
  std::string severity;
  int line = 0;  // 0: without a place in the source
  int column = 0;
  std::string message;
};

// Parses the lines of `text` that begin like diagnostics of the source `name`,
// or like diagnostics without a place. If there are none, the whole `text` is
// one error.
std::vector<ReportedDiagnostic> ParseReportedDiagnostics(
    absl::string_view name, absl::string_view text);

// OK if `expected` and `reported` match. The error has a located message for
// each diagnostic that is missing or was not expected.
absl::Status CompareDiagnostics(
    const Source& source, const std::vector<ExpectedDiagnostic>& expected,
    const std::vector<ReportedDiagnostic>& reported);

}  // namespace baton

#endif  // BATON_TOOLS_EXPECTED_DIAGNOSTICS_H_
