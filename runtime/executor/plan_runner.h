// Runs a plan.

#ifndef BATON_RUNTIME_EXECUTOR_PLAN_RUNNER_H_
#define BATON_RUNTIME_EXECUTOR_PLAN_RUNNER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "baton/base/parallel_for.h"
#include "baton/runtime/executor/plan.h"
#include "baton/runtime/executor/runtime_instrument.h"

namespace baton::executor {

struct FreeArena {
  void operator()(std::byte* arena) const;
};
using ArenaMemory = std::unique_ptr<std::byte, FreeArena>;

// Memory of `bytes` bytes, rounded up and aligned to kAlignment; in huge pages
// if it is large. Null if there is no memory, or if `bytes` is 0.
ArenaMemory MakeArena(int64_t bytes);

// An arena and the addresses of all operands in it. The plan must outlive the
// runner. One thread at a time may call Run.
class PlanRunner {
 public:
  // The number of a step that failed, and the number that its function
  // returned. `step` is -1 if none failed.
  struct Outcome {
    int32_t step = -1;
    int code = 0;
  };

  // Makes no arena if `plan` needs none. `ok()` is false if there is no memory.
  explicit PlanRunner(const Plan& plan);
  // Uses the caller's memory: `arena` has plan.arena_bytes bytes and is aligned
  // to kAlignment.
  PlanRunner(const Plan& plan, void* arena);
  PlanRunner(const PlanRunner&) = delete;
  PlanRunner& operator=(const PlanRunner&) = delete;

  bool ok() const { return arena_ != nullptr || plan_.arena_bytes == 0; }
  const std::byte* arena() const { return arena_; }

  // Runs all steps, on the threads of `parallel` if that is not null. `inputs`
  // and `outputs` have the sizes that the plan says, are aligned to their
  // elements, and outputs overlap nothing. Steps receive `user` as
  // StepCall::user. Allocates nothing, takes no lock and makes no system call
  // but those of the steps and of `parallel`.
  Outcome Run(absl::Span<const void* const> inputs,
              absl::Span<void* const> outputs, ParallelFor* parallel,
              void* user, RuntimeInstrument* instrument = nullptr);

 private:
  // An operand whose address is known when a run begins.
  struct Patch {
    int32_t operand;
    int32_t port;
    bool is_output;
    int64_t offset;
  };

  void SetAddresses();

  const Plan& plan_;
  ArenaMemory owned_;
  std::byte* arena_ = nullptr;
  std::vector<void*> addresses_;   // of operands
  std::vector<void*> workspaces_;  // of steps
  std::vector<Patch> patches_;
};

}  // namespace baton::executor

#endif  // BATON_RUNTIME_EXECUTOR_PLAN_RUNNER_H_
