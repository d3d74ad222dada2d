// RUN lines: commands in comments of a test file.
//
//   // RUN: baton-opt %s --passes=FoldConstant | baton-check %s
//   // RUN: not baton-opt %s --passes=NoSuchPass 2>%t
//
// Bash runs them in order, with `pipefail`, until one fails. A backslash at the
// end joins the next RUN line. `%s` is the test file, `%S` its folder, `%t` a
// path prefix for temporary files that no other test uses, `%%` is `%`. The
// programs under test and `baton-check` are found by name. `not COMMAND`
// succeeds if the command exits with an error code; it fails if the command
// crashes.

#ifndef BATON_TOOLS_RUN_LINES_H_
#define BATON_TOOLS_RUN_LINES_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/source.h"

namespace baton {

// One command.
struct RunLine {
  int line = 0;  // the line in the file where the command begins
  std::string command;
};

// An error if there is no RUN line, or if one is incomplete.
absl::StatusOr<std::vector<RunLine>> ParseRunLines(
    const std::shared_ptr<const Source>& source);

struct RunLinesOptions {
  // %s: the test file.
  std::string file;
  // An empty folder for this test alone.
  std::string folder;
  // The programs that the lines can call, by the last part of their paths.
  std::vector<std::string> programs;
};

// Runs the lines. Returns the exit code of the first failing line, otherwise 0.
// Writes the failed command to standard error.
absl::StatusOr<int> RunLines(const std::vector<RunLine>& lines,
                             const RunLinesOptions& options);

// Replaces %s and the like in `command`.
std::string ExpandRunLine(absl::string_view command, absl::string_view file,
                          absl::string_view temporary);

}  // namespace baton

#endif  // BATON_TOOLS_RUN_LINES_H_
