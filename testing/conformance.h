// Conformance cases: recorded results of TVM 0.14 for a module or a text, which
// Baton must reproduce. See conformance/README.md for the files.
//
//   BATON_ASSIGN_OR_RETURN(const std::vector<ConformanceCase> cases,
//                          ReadConformanceCases("testing/conformance"));
//   for (const ConformanceCase& c : cases) {
//     const ConformanceResult result = RunConformanceCase(c);
//     ...
//   }
//
// Operators and passes must be linked in.

#ifndef BATON_TESTING_CONFORMANCE_H_
#define BATON_TESTING_CONFORMANCE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"

namespace baton::testing {

// One case: its input, its passes, and the expected result.
struct ConformanceCase {
  std::string group;   // the folder: `FuseOps`
  std::string id;      // the file name without suffix: `0a1b2c3d4e`
  std::string from;    // the test that produced it
  std::string passes;  // if empty, the text is only parsed
  // The step of a schedule, as JSON, that `tir.Schedule` runs in the place of
  // passes; empty for cases of passes.
  std::string step;
  // True if the only pass is called directly, and not in a sequence.
  bool direct = false;
  int opt_level = 2;
  std::vector<std::string> disabled_pass;
  std::vector<std::string> required_pass;
  AttrMap config;
  bool expects_error = false;
  // True for a text that must be printed as it was read, byte for byte.
  bool is_text = false;
  std::string before;
  std::string after;  // empty if an error is expected

  std::string name() const { return group + "/" + id; }
};

// A case from the text of its file, in the folder `group`.
absl::StatusOr<ConformanceCase> ParseConformanceCase(absl::string_view group,
                                                     absl::string_view id,
                                                     absl::string_view text);

// The cases of a file, or of all `.relay` and `.tir` files below a directory,
// sorted by name.
absl::StatusOr<std::vector<ConformanceCase>> ReadConformanceCases(
    const std::string& path);

// The kind of a case by its expected result.
enum class ConformanceKind {
  kChanges,  // the expected module differs from the input
  kKeeps,    // the expected module is structurally equal to the input
  kError,    // an error is expected
};

// The result of running one case.
struct ConformanceResult {
  ConformanceKind kind = ConformanceKind::kChanges;
  // Empty if the case passed; otherwise one word:
  //   no_pass   a pass is not linked in, or lacks the option
  //   unread    one of the two modules cannot be parsed
  //   untyped   one of them, or the result, is ill-typed
  //   failed    a pass failed
  //   differs   the result is not the expected one
  //   accepted  an error was expected
  //   law       printing and parsing a module changes it
  std::string reason;
  std::string message;  // the reason, if the case did not pass
  std::string result;   // the text of the result, if there was one
  // True if the result is the expected text, byte for byte. Not required: names
  // of variables may differ.
  bool same_text = false;

  bool passed() const { return reason.empty(); }
};

ConformanceResult RunConformanceCase(const ConformanceCase& c);

// Counts per group, as a table.
class ConformanceTable {
 public:
  void Add(const ConformanceCase& c, const ConformanceResult& result);
  std::string ToString() const;

 private:
  struct Count {
    int passed = 0;
    int total = 0;
  };
  struct Row {
    Count kinds[3];  // by ConformanceKind
    Count texts;
  };
  static std::string ToString(const std::string& name, const Row& row);

  std::map<std::string, Row> rows_;
};

}  // namespace baton::testing

#endif  // BATON_TESTING_CONFORMANCE_H_
