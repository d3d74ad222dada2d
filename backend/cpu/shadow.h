// StepChecker: evaluates some steps of a run again with the evaluator, and
// compares (`baton-run --shadow`).

#ifndef BATON_BACKEND_CPU_SHADOW_H_
#define BATON_BACKEND_CPU_SHADOW_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "baton/backend/cpu/executable.h"
#include "baton/base/tensor.h"
#include "baton/runtime/executor/runtime_instrument.h"

namespace baton {

// Counts the steps of all runs that it receives, and evaluates each `every`-th
// again with the evaluator, from the inputs that the step had. Results must
// have the same bits; any NaN equals any other. The executable must have its
// graph (CompileOptions::keep_graph).
class StepChecker final : public executor::RuntimeInstrument {
 public:
  struct Difference {
    int32_t step = 0;
    std::string kernel;
    Executable::Source source;  // the last operator of the step
    // `element 3 is 1.5, the evaluator has 1.25`, or the evaluator's error.
    std::string text;
  };

  StepChecker(Executable executable, int64_t every);

  void BeforeStep(const StepEvent& event) override;
  void AfterStep(const StepEvent& event) override;

  const std::optional<Difference>& first_difference() const { return first_; }
  int64_t num_steps() const { return num_steps_; }
  int64_t num_compared() const { return num_compared_; }
  // Chosen steps that were not compared: they only move bytes, or their inputs
  // are not tensors of the graph.
  int64_t num_skipped() const { return num_skipped_; }

 private:
  const Executable executable_;
  const int64_t every_;
  int64_t num_steps_ = 0;
  int64_t num_compared_ = 0;
  int64_t num_skipped_ = 0;
  bool is_chosen_ = false;
  std::vector<std::optional<Tensor>> inputs_;  // of the chosen step
  std::optional<Difference> first_;
};

}  // namespace baton

#endif  // BATON_BACKEND_CPU_SHADOW_H_
