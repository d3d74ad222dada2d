// Reduced programs as files that `bazel test` runs: a program, a RUN line that
// shows the failure, CHECK lines that say which.
//
//   // DropRelu: an error.
//   // RUN: not baton-opt %s --passes=DropRelu --check_values 2>&1 | ...
//   // CHECK: in pass {{.*}} DropRelu
//   // CHECK: pass DropRelu changed what
//
// The test passes as long as the failure is there. When it is mended, `not` and
// the CHECK lines go.
//
// If a command showed it, the RUN lines give that command the program without
// these comments; what else it needs, the test must have as data.

#ifndef BATON_TOOLS_REDUCED_TEST_H_
#define BATON_TOOLS_REDUCED_TEST_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/tools/run_options.h"
#include "baton/transform/pass.h"
#include "baton/triage/failure.h"

namespace baton {

// `run` without its passes decides about the flags; `tool` is the program that
// RUN lines call. With `infers_types`, InferType runs first: passes that want
// types find them only if they ask for them.
struct ReducedTestOptions {
  std::string tool = "baton-opt";
  RunOptions run;
  Failure failure;
  // If not empty, what shows it in place of `failure`: a command for sh with %s
  // for the program and %p for the pipeline.
  std::string command = {};
  bool infers_types = true;
};

// The error is that a pass has no text.
absl::StatusOr<std::string> ReducedTest(const IRModule& module,
                                        const std::vector<Pass>& passes,
                                        const ReducedTestOptions& options);

// The command that runs the passes over `file`, without the program's name.
absl::StatusOr<std::string> CommandLine(absl::string_view file,
                                        const std::vector<Pass>& passes,
                                        const ReducedTestOptions& options);

// A word of a shell's command line, in quotes if it needs them.
std::string ShellWord(absl::string_view text);

}  // namespace baton

#endif  // BATON_TOOLS_REDUCED_TEST_H_
