// Writes reduced programs as files that `bazel test` runs: a program, a RUN
// line that shows the failure, and CHECK lines that identify it.
//
//   // DropRelu: an error.
//   // RUN: not baton-opt %s --passes=DropRelu --check_values 2>&1 | ...
//   // CHECK: in pass {{.*}} DropRelu
//   // CHECK: pass DropRelu changed what
//
// The test passes as long as the failure exists. Remove `not` and the CHECK
// lines when it is fixed.
//
// If a command shows the failure, the RUN lines pass the program, without these
// comments, to that command. The test must list the other files of the command
// as data.

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

// `run`, except its passes, determines the flags; `tool` is the program in RUN
// lines. If `infers_types`, InferType runs first: passes that need types get
// them only if their PassInfo requires InferType.
struct ReducedTestOptions {
  std::string tool = "baton-opt";
  RunOptions run;
  Failure failure;
  // If not empty, shows the failure in place of `failure`: a command for sh
  // with %s for the program and %p for the pipeline.
  std::string command = {};
  // Without effect on a module of loops, which has no types to infer.
  bool infers_types = true;
};

// An error if a pass has no text.
absl::StatusOr<std::string> ReducedTest(const IRModule& module,
                                        const std::vector<Pass>& passes,
                                        const ReducedTestOptions& options);

// The command line that runs the passes over `file`, without the program's
// name.
absl::StatusOr<std::string> CommandLine(absl::string_view file,
                                        const std::vector<Pass>& passes,
                                        const ReducedTestOptions& options);

// True if `module` has functions of loops only, at least one.
bool HasOnlyLoops(const IRModule& module);

// How the name of a file with the text of `module` ends: `.tir` or `.relay`.
absl::string_view FileEnding(const IRModule& module);

// Quotes a word for a shell's command line if necessary.
std::string ShellWord(absl::string_view text);

}  // namespace baton

#endif  // BATON_TOOLS_REDUCED_TEST_H_
