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
      FlagSpec{.help = "An error, whose message RE matches (RE2) if given.",
               .value = "RE",
               .group = kOracleFlags,
               .value_optional = true});
    v("differs", &ReduceToolOptions::differs,
      FlagSpec{.help = "A pass changes what the program computes.",
               .group = kOracleFlags});
    v("crashes", &ReduceToolOptions::crashes,
      FlagSpec{.help = "The process crashes, or its time is up.",
               .group = kOracleFlags});
    v("test", &ReduceToolOptions::test,
      FlagSpec{.help = "A command that ends with 0 if %s, a program, shows it; "
                       "%p is the pipeline.",
               .value = "COMMAND",
               .group = kOracleFlags});
    v("output", &ReduceToolOptions::output,
      FlagSpec{.help = "The test; always the best so far. Standard output if "
                       "not given.",
               .value = "FILE",
               .group = kReduceFlags});
    v("jobs", &ReduceToolOptions::jobs,
      FlagSpec{.help = "Tests at one time; the result is the same.",
               .value = "N",
               .group = kReduceFlags,
               .least = 1});
    v("test_seconds", &ReduceToolOptions::test_seconds,
      FlagSpec{.help = "Of processor time for one test; what runs longer has "
                       "crashed.",
               .value = "X",
               .group = kReduceFlags,
               .least = 0});
    v("seconds", &ReduceToolOptions::seconds,
      FlagSpec{.help = "Of processor time, after which the best so far is good "
                       "enough; 0: no end.",
               .value = "X",
               .group = kReduceFlags,
               .least = 0});
    v("memory_gb", &ReduceToolOptions::memory_gb,
      FlagSpec{.help = "Of one test; 0: no limit.",
               .value = "X",
               .group = kReduceFlags,
               .least = 0});
    v("tool", &ReduceToolOptions::tool,
      FlagSpec{.help = "The compiler that the test's RUN lines call.",
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
