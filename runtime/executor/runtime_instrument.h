// RuntimeInstrument: receives each step of a run before and after it.
//
//   class Counter final : public executor::RuntimeInstrument {
//    public:
//     void AfterStep(const StepEvent& event) override {
//       ++counts_[event.note.kernel];
//     }
//     ...
//   };
//   Counter counter;
//   session->Run(inputs, outputs, /*parallel=*/nullptr, &counter);

#ifndef BATON_RUNTIME_EXECUTOR_RUNTIME_INSTRUMENT_H_
#define BATON_RUNTIME_EXECUTOR_RUNTIME_INSTRUMENT_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "baton/runtime/executor/plan.h"

namespace baton::executor {

// All calls are in the thread that calls Run. Run itself allocates nothing,
// whatever its instrument does.
class RuntimeInstrument {
 public:
  struct StepEvent {
    int32_t number;  // of the step in the plan
    const Step& step;
    const StepNote& note;
    // The operands. A result may have the memory of an input that the step
    // overwrites.
    absl::Span<const void* const> inputs;
    absl::Span<void* const> outputs;
  };

  virtual ~RuntimeInstrument() = default;

  virtual void EnterRun(const Plan& /*plan*/) {}
  virtual void BeforeStep(const StepEvent& /*event*/) {}
  // Not called for a step that fails.
  virtual void AfterStep(const StepEvent& /*event*/) {}
  // `failed_step` is -1 if no step failed.
  virtual void ExitRun(const Plan& /*plan*/, int32_t /*failed_step*/) {}
};

// Calls several instruments: EnterRun() and BeforeStep() in the order of the
// list, AfterStep() and ExitRun() in reverse order.
class RuntimeInstruments final : public RuntimeInstrument {
 public:
  explicit RuntimeInstruments(std::vector<RuntimeInstrument*> instruments)
      : instruments_(std::move(instruments)) {}

  void EnterRun(const Plan& plan) override {
    for (RuntimeInstrument* one : instruments_) one->EnterRun(plan);
  }
  void BeforeStep(const StepEvent& event) override {
    for (RuntimeInstrument* one : instruments_) one->BeforeStep(event);
  }
  void AfterStep(const StepEvent& event) override {
    for (size_t i = instruments_.size(); i-- > 0;) {
      instruments_[i]->AfterStep(event);
    }
  }
  void ExitRun(const Plan& plan, int32_t failed_step) override {
    for (size_t i = instruments_.size(); i-- > 0;) {
      instruments_[i]->ExitRun(plan, failed_step);
    }
  }

 private:
  std::vector<RuntimeInstrument*> instruments_;
};

}  // namespace baton::executor

#endif  // BATON_RUNTIME_EXECUTOR_RUNTIME_INSTRUMENT_H_
