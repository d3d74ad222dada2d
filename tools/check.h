// CHECK lines: directives in comments that describe the expected text of an
// output.
//
//   // CHECK-LABEL: def @main
//   // CHECK-NEXT:  [[SUM:%[0-9]+]] = add(%x, {{.*}})
//   // CHECK-NOT:   nn.dropout
//   // CHECK:       nn.relu([[SUM]])
//
// The rules are those of LLVM's FileCheck; docs/ir_tests.md lists them. The
// differences: regular expressions are RE2's, `[[` opens a variable only before
// a letter or `_` (programs are full of `[[0, 0]`), and there are no numeric
// variables.

#ifndef BATON_TOOLS_CHECK_H_
#define BATON_TOOLS_CHECK_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/base/source.h"

namespace baton {

struct CheckOptions {
  // The prefixes of directives. Each must occur.
  std::vector<std::string> prefixes = {"CHECK"};
  // Patterns that must not match between any two matches.
  std::vector<std::string> implicit_check_not;
  // Variables with an initial value.
  std::map<std::string, std::string> variables;
  // If true, the input may be empty.
  bool allow_empty = false;
  // If true, a run of blanks matches only an equal run, not any run of blanks.
  bool strict_whitespace = false;
  // If true, all patterns but those of -NOT match whole lines.
  bool match_full_lines = false;
};

// The directives of a text. Immutable; thread-safe.
class Checks {
 public:
  // The error lists all errors in the directives, with their places.
  static absl::StatusOr<Checks> Parse(std::shared_ptr<const Source> source,
                                      CheckOptions options = {});

  // OK if `input` satisfies the directives. For each part of the input between
  // labels, the error shows the first directive that fails, the searched range,
  // the most similar line, and the preceding matches. Takes time at most
  // proportional to the input for each directive.
  absl::Status Check(std::shared_ptr<const Source> input) const;

  int size() const;  // number of directives

 private:
  struct Data;
  explicit Checks(std::shared_ptr<const Data> data) : data_(std::move(data)) {}

  std::shared_ptr<const Data> data_;
};

}  // namespace baton

#endif  // BATON_TOOLS_CHECK_H_
