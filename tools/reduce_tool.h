// Library of `baton-reduce`.

#ifndef BATON_TOOLS_REDUCE_TOOL_H_
#define BATON_TOOLS_REDUCE_TOOL_H_

#include <string>

#include "absl/status/status.h"
#include "baton/base/flags.h"
#include "baton/tools/opt.h"

namespace baton {

inline constexpr char kOracleFlags[] = "The condition to preserve";
inline constexpr char kReduceFlags[] = "The reduction";

// Each field in VisitFields is a flag of the same name, in addition to the
// flags of baton-opt that define the run.
struct ReduceToolOptions {
  // The condition to preserve. At most one is set; if none is set, the
  // reduction preserves the failure of the first run.
  bool wants_error = false;  // any error; not a flag: --fails, with or without
                             // RE
  std::string fails;         // RE2 that the message matches; empty: any message
  bool differs = false;      // an error of --check_values
  bool crashes = false;      // a crash or a time-out
  std::string test;          // a shell command with exit code 0

  std::string output;  // a file; empty or `-`: standard output
  int jobs = 2;        // concurrent tests
  // The limit of processor time of one test. Tests after the first are also
  // limited to a multiple of the time of the first.
  double test_seconds = 10;
  double seconds = 0;              // total processor time; 0: no limit
  double memory_gb = 0;            // of one test; 0: no limit
  std::string tool = "baton-opt";  // the program in RUN lines

  template <typename V>
  static void VisitFields(V& v) {
    v("fails", &ReduceToolOptions::fails,
      FlagSpec{.help = "The run fails; the error matches RE (RE2) if given.",
               .value = "RE",
               .group = kOracleFlags,
               .value_optional = true});
    v("differs", &ReduceToolOptions::differs,
      FlagSpec{.help = "A pass changes the values that the program computes.",
               .group = kOracleFlags});
    v("crashes", &ReduceToolOptions::crashes,
      FlagSpec{.help = "The run crashes or exceeds its limits.",
               .group = kOracleFlags});
    v("test", &ReduceToolOptions::test,
      FlagSpec{.help = "This command ends with 0; %s in it is a program, %p "
                       "the pipeline.",
               .value = "COMMAND",
               .group = kOracleFlags});
    v("output", &ReduceToolOptions::output,
      FlagSpec{.help = "File for the test, which always has the best case so "
                       "far. Not given: standard output.",
               .value = "FILE",
               .group = kReduceFlags});
    v("jobs", &ReduceToolOptions::jobs,
      FlagSpec{.help = "Tests at one time; they do not affect the result.",
               .value = "N",
               .group = kReduceFlags,
               .least = 1});
    v("test_seconds", &ReduceToolOptions::test_seconds,
      FlagSpec{
          .help = "Processor time of one test; a longer one counts as a crash.",
          .value = "X",
          .group = kReduceFlags,
          .least = 0});
    v("seconds", &ReduceToolOptions::seconds,
      FlagSpec{.help = "Processor time of all tests, after which the best case "
                       "is the result; 0: no limit.",
               .value = "X",
               .group = kReduceFlags,
               .least = 0});
    v("memory_gb", &ReduceToolOptions::memory_gb,
      FlagSpec{.help = "Memory of one test; 0: no limit.",
               .value = "X",
               .group = kReduceFlags,
               .least = 0});
    v("tool", &ReduceToolOptions::tool,
      FlagSpec{.help = "The program in the RUN lines of the test.",
               .value = "NAME",
               .group = kReduceFlags});
  }
};

// Reduces the module and the pipeline of `input` to a test
// (tools/reduced_test.h). Reports to `streams.reports` the guilty execution and
// the size of the reduced program. The output contains a test as soon as there
// is a failure: first the whole input, then the guilty execution, then each
// better case. Errors: `input` has an error; its run does not fail, or not
// under the condition; the output cannot be written; Cancelled after SIGINT and
// the like (triage/interrupt.h), where the message describes the output.
absl::Status ReduceTool(const OptOptions& input,
                        const ReduceToolOptions& options,
                        const OptStreams& streams);

}  // namespace baton

#endif  // BATON_TOOLS_REDUCE_TOOL_H_
