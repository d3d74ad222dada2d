// Random pipelines of registered passes over programs of all kinds.
//
// What fails is reduced, and left as a test (tools/triage_report.h).

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
  // As pipelines write them.
  std::vector<std::string> passes;
  // Recorded programs (testing/conformance.h): a file or a folder.
  std::string recorded;
  // Networks (testing/workloads/workload.h), small enough to be evaluated.
  std::vector<std::string> workloads = {};
  int max_passes = 6;  // in a pipeline
  ChildLimits limits = {.seconds = 20, .memory_bytes = int64_t{4} << 30};
  // Of processor time, to reduce one failure.
  double reduce_seconds = 60;
  // The program that the tests of failures call.
  std::string tool = "baton-opt";
};

// A pipeline over a program.
struct FuzzedPipeline {
  std::string name;  // of the program: `random program 17`
  IRModule module;   // typed
  std::string passes;
};

class PipelineFuzzer {
 public:
  // Reads the programs. Errors: a pass or a network that there is not, a file
  // that cannot be read.
  static absl::StatusOr<PipelineFuzzer> Create(PipelineFuzzOptions options);

  // The same for the same seed, options and recorded programs. Every other one
  // is over a random program.
  absl::StatusOr<FuzzedPipeline> Draw(uint32_t seed) const;

  enum class End {
    kPassed,
    // A pass refused the program, as it says it may, or no pass makes what
    // another one needs.
    kRefused,
    // Passes that are not exact computed something else on some arguments, not
    // on all: the program amplifies rounding errors.
    kAmplified,
    kFailed,
  };
  struct Outcome {
    End end = End::kPassed;
    Failure failure;              // if it failed
    bool checked_values = false;  // whether the program can be evaluated
  };
  // Runs it in a child process, at the highest level, with the passes added
  // that others need; verifies the module after each pass, its round trips as
  // text and binary, the contracts of passes, and the values, as far as passes
  // promise to keep them. The error is that no process could be made.
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
    int differ = 0;  // programs of which the two orders make different ones
    int tried = 0;   // programs on which both orders run
    std::string example;  // the name of the first that differs
  };
  // Runs each two passes in both orders, in this process, over so many programs
  // as Draw makes from `first_seed` on. `progress`, if not null, is told of
  // each program.
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
