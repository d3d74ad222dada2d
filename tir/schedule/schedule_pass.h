// Runs a schedule as a pass: `tir.Schedule{steps=[...]}`.

#ifndef BATON_TIR_SCHEDULE_SCHEDULE_PASS_H_
#define BATON_TIR_SCHEDULE_SCHEDULE_PASS_H_

#include <string>
#include <vector>

#include "baton/base/fields.h"
#include "baton/transform/pass.h"

namespace baton::tir {

struct ScheduleOptions {
  std::vector<std::string> steps;
  std::string function = "main";

  template <typename V>
  static void VisitFields(V& v) {
    v("steps", &ScheduleOptions::steps,
      "Steps, in order, each an object in JSON (tir/schedule/step_text.h).",
      kRequired);
    v("function", &ScheduleOptions::function,
      "The function to schedule; the only one of loops if none has that name.");
  }
};

// Applies the steps to one function of the module. Each step is an execution of
// a pass, `tir.Schedule.split{steps=[...]}`, with a number of its own for
// instruments, bisection and `--skip_execution`.
Pass SchedulePass(ScheduleOptions options);

}  // namespace baton::tir

#endif  // BATON_TIR_SCHEDULE_SCHEDULE_PASS_H_
