// Errors that a program must have, as comments in it:
//
//   // expected-error@+1 {{the shapes (2, 3) and (4) cannot be}}
//   def @main(%x: Tensor[(2, 3), float32], %y: Tensor[(4), float32]) { add(%x,
//   %y) }
//
// `error`, `warning` or `note`; then the line: that of the comment if nothing
// is said, one before or after it (`@-2`, `@+1`, `@above`, `@below`),
// `@unknown` for what has no place; behind it the column, if it matters:
// `@+1:68`. In the braces stands a part of the message, or behind
// `expected-error-re` an expression of RE2 that matches a part.

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

struct ExpectedDiagnostic {
  int64_t begin = 0;  // of the comment's word, in the source
  int64_t end = 0;
  std::string severity;  // `error`
  int line = 0;          // 0: no place
  int column = 0;        // 0: any
  bool is_regex = false;
  std::string text;
};

// Those in the comments of `source`, in order. An error, located, for a comment
// that says `expected-` and is not understood.
absl::StatusOr<std::vector<ExpectedDiagnostic>> ParseExpectedDiagnostics(
    const Source& source);

// A diagnostic as it is rendered.
struct SaidDiagnostic {
  std::string severity;
  int line = 0;  // 0: no place in the source
  int column = 0;
  std::string message;
};

// The lines of `text` that begin as diagnostics of the source `name` do, or as
// those without place; if there is none, all of `text` is one error.
std::vector<SaidDiagnostic> ParseSaidDiagnostics(absl::string_view name,
                                                 absl::string_view text);

// OK if each of the two is in the other. The error has a located message for
// each that is missing or was not expected.
absl::Status CompareDiagnostics(const Source& source,
                                const std::vector<ExpectedDiagnostic>& expected,
                                const std::vector<SaidDiagnostic>& said);

}  // namespace baton

#endif  // BATON_TOOLS_EXPECTED_DIAGNOSTICS_H_
