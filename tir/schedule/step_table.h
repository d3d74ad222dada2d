// The steps by their names, with the parameters of each.

#ifndef BATON_TIR_SCHEDULE_STEP_TABLE_H_
#define BATON_TIR_SCHEDULE_STEP_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/base/attr_value.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/schedule/state.h"
#include "baton/tir/schedule/step_text.h"

namespace baton::tir {

struct StepResult {
  // Nodes of the new function that the step made.
  std::vector<Block> blocks;
  std::vector<For> loops;
  // The result of a sampling step, such as `sample_perfect_tile`: factors, a
  // candidate, or a location.
  std::vector<int64_t> values;
  // The value of the parameter "decision" that gives this result again.
  AttrValue decision;
};

// Applies a step to the function of `state`. An error, and no change, if the
// name is unknown, a parameter is missing, unknown or of the wrong type, or a
// condition of the step is false.
absl::StatusOr<StepResult> ApplyStep(ScheduleState& state, const Step& step);

// The parameters that say which block or loop `site` is.
absl::StatusOr<AttrValue> SiteParam(const ScheduleState& state,
                                    const Site* site);

// The names of all steps, sorted.
std::vector<std::string> StepNames();

}  // namespace baton::tir

#endif  // BATON_TIR_SCHEDULE_STEP_TABLE_H_
