// Fuzzes random pipelines of registered passes on programs of all kinds.
//
// Reduces failures and writes them as tests (tools/triage_report.h).

#ifndef BATON_TOOLS_PIPELINE_FUZZ_H_
#define BATON_TOOLS_PIPELINE_FUZZ_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/triage/child.h"
#include "baton/triage/failure.h"

namespace baton {

struct PipelineFuzzOptions {
  // Written as in pipelines.
  std::vector<std::string> passes;
  // Recorded programs (testing/conformance.h): a file or a folder.
  std::string recorded;
  // Networks (testing/workloads/workload.h) that are small enough to evaluate.
  std::vector<std::string> workloads = {};
  int max_passes = 6;  // in one pipeline
  ChildLimits limits = {.seconds = 20, .memory_bytes = int64_t{4} << 30};
  // The limit of processor time for reducing one failure.
  double reduce_seconds = 60;
  // The program in the RUN lines of the tests.
  std::string tool = "baton-opt";
};

// A random pipeline and its program.
struct FuzzedPipeline {
  std::string name;  // of the program: `random program 17`
  IRModule module;   // typed
  std::string passes;
};

// Draws, runs and reports random pipelines.
class PipelineFuzzer {
 public:
  // Reads the programs. Errors: an unknown pass or network, a file that cannot
  // be read.
  static absl::StatusOr<PipelineFuzzer> Create(PipelineFuzzOptions options);

  // Makes a pipeline and a program. Equal seeds, options and recorded programs
  // give equal results. Every other program is random; the others are recorded
  // programs and networks.
  absl::StatusOr<FuzzedPipeline> Draw(uint32_t seed) const;

  enum class End {
    kPassed,
    // A pass refused the program, as it declares, or no pass establishes a
    // property that another one requires.
    kRefused,
    // Passes that are not bit-exact changed the results for some arguments, but
    // not for all: the program amplifies rounding errors.
    kAmplified,
    kFailed,
  };
  struct Outcome {
    End end = End::kPassed;
    Failure failure;              // set if the run failed
    bool checked_values = false;  // true if the program could be evaluated
  };
  // Runs `fuzzed` in a child process, at the highest level, with the required
  // passes inserted. After each pass, verifies the module, its round trips as
  // text and binary, the contracts of passes, and the values, within the
  // promises of the passes. An error only if no process could be created.
  absl::StatusOr<Outcome> Run(const FuzzedPipeline& fuzzed) const;

  // Writes the page and the reduced test of a failure to `folder`. Returns the
  // lines to show.
  absl::StatusOr<std::string> WriteTriage(const FuzzedPipeline& fuzzed,
                                          const Outcome& outcome,
                                          const std::string& folder) const;

  // Two passes that do not commute.
  struct Pair {
    std::string first;
    std::string second;
    int differ = 0;  // programs for which the two orders give different results
    int tried = 0;   // programs for which both orders run
    std::string example;  // the name of the first different one
  };
  // Runs each pair of passes in both orders, in this process, on the `programs`
  // programs that Draw makes from `first_seed` on. Calls `progress`, if not
  // null, for each program.
  absl::StatusOr<std::vector<Pair>> NonCommuting(
      uint32_t first_seed, int programs,
      const std::function<void(absl::string_view program)>& progress) const;

 private:
  struct Program {
    std::string name;
    IRModule module;
  };
  explicit PipelineFuzzer(PipelineFuzzOptions options)
      : options_(std::move(options)) {}
  absl::StatusOr<Program> DrawProgram(uint32_t seed) const;

  PipelineFuzzOptions options_;
  std::vector<Program> recorded_;
  std::vector<Program> workloads_;
};

}  // namespace baton

#endif  // BATON_TOOLS_PIPELINE_FUZZ_H_
