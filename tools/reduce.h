// The library behind `baton-reduce`.

#ifndef BATON_TOOLS_REDUCE_H_
#define BATON_TOOLS_REDUCE_H_

#include <string>

#include "absl/status/status.h"
#include "baton/tools/flags.h"
#include "baton/tools/opt.h"

namespace baton {

inline constexpr char kOracleFlags[] = "What is looked for";
inline constexpr char kReduceFlags[] = "How";

// Each field in VisitFields is a flag of its name, beside those of baton-opt
// that say what runs.
struct ReduceToolOptions {
  // What is looked for. At most one is set; with none, the reduction keeps
  // whatever failure the run shows.
  bool wants_error = false;  // an error; no flag: --fails, with or without RE
  std::string fails;         // RE2 that its message matches; empty: any
  bool differs = false;      // an error of --check_values
  bool crashes = false;      // a crash or a time-out
  std::string test;          // a shell command that ends with 0

  std::string output;  // a file; empty or `-`: standard output
  int jobs = 2;        // tests at one time
  // Processor time of one test; at most that, for all but the first may take no
  // more than some times the time of the first.
  double test_seconds = 10;
  double seconds = 0;              // processor time of all; 0: no limit
  double memory_gb = 0;            // memory of one test; 0: no limit
  std::string tool = "baton-opt";  // the program that RUN lines call

  template <typename V>
  static void VisitFields(V& v) {
    v("fails", &ReduceToolOptions::fails,
      FlagSpec{.help = "An error, whose message RE matches (RE2) if given.",
               .value = "RE",
               .group = kOracleFlags});
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
// (tools/reduced_test.h). Writes to `streams.reports` which execution is guilty
// and how far the program was reduced. The output has a test as soon as there
// is a failure: of all that was given, then of the guilty execution, then of
// each better case. Errors: `input` has one; its run does not fail, or not in
// the way that is looked for; the output cannot be written; Cancelled, after
// SIGINT and the like (triage/interrupt.h), says what is in the output.
absl::Status ReduceTool(const OptOptions& input,
                        const ReduceToolOptions& options,
                        const OptStreams& streams);

}  // namespace baton

#endif  // BATON_TOOLS_REDUCE_H_
