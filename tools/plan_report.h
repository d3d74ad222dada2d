// Plans and their runs as text: --plan and --profile of baton-run.

#ifndef BATON_TOOLS_PLAN_REPORT_H_
#define BATON_TOOLS_PLAN_REPORT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "baton/backend/cpu/executable.h"
#include "baton/base/json.h"
#include "baton/runtime/executor/runtime_instrument.h"
#include "baton/tools/machine_peak.h"
#include "baton/tools/run_profile.h"

namespace baton {

// The plan: its arena and lower bound, then a line for each step (kernel,
// operators, places of operands, predicted time, origin, reason). `measured_us`
// has the time of each step in a run, or is empty.
std::string PlanText(const Executable& executable,
                     absl::Span<const double> measured_us = {});

// The plan for programs, as JSON: values with their places and lifetimes, and
// steps with their operands, [value, offset, bytes]. tools/check_plan.py proves
// the plan from it. Plans inside of steps are left out. If the evaluator
// computes a part of the model, `evaluated` says why.
std::string PlanJson(const Executable& executable);

// Records the times of the steps of one run.
class PlanProfile final : public executor::RuntimeInstrument {
 public:
  // `creation`: the phases from the file to the executable, those of Compile
  // included.
  explicit PlanProfile(const Executable& executable,
                       std::vector<Executable::Phase> creation = {});

  void BeforeStep(const StepEvent& event) override;
  void AfterStep(const StepEvent& event) override;

  // `format`: text, json or trace; InvalidArgument for any other.
  //
  // text: the time of each kernel and of the slowest steps, with the share of
  // the machine's peak (tools/machine_peak.h), then the nodes with the longest
  // time above that at the peak. json: as that of RunProfile, with the fields
  // "kernel", "reason", "nodes", "predicted_us", "flops", "bytes", "limit_us",
  // "share" and "live" for each call.
  // Its field "creation" has the phases, and "nodes" each node of the model: of
  // the nodes that one step computes, the first has the time of the step, and
  // the others name the first as "in". trace: the steps for Chrome's and
  // Perfetto's viewers, and the bytes that live in the arena.
  // `evaluated`: the profile of the evaluated part of the model; null if there
  // is none. It comes after that of the plan; in JSON, it is the field
  // "evaluated".
  absl::StatusOr<std::string> Report(
      absl::string_view format, const RunProfile* evaluated = nullptr) const;

  // The time of each step, in microseconds.
  std::vector<double> StepTimes() const;

 private:
  struct StepTime {
    double begin_us = 0;
    double us = 0;
  };

  void WriteNodes(const MachinePeak& peak, JsonWriter& json) const;

  const Executable executable_;
  const std::vector<Executable::Phase> creation_;
  absl::Time first_;
  absl::Time begin_;
  std::vector<StepTime> times_;
};

}  // namespace baton

#endif  // BATON_TOOLS_PLAN_REPORT_H_
