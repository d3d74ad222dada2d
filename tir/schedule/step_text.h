// Steps of schedules as text: one line of JSON for each step.
//
//   {"factors": [4, 8], "loop": {"loop": 1, "of": "C"}, "name": "split"}
//
// `{"block": "C"}` or `"C"` is a block by its name; `{"block": "C", "index": 1}`
// is the second one of that name. `{"loop": 1, "of": "C"}` is a loop around a
// block, counted from the outermost one, 0. Other keys of these objects, such
// as `"var"`, are comments. null is a value that is to be inferred.

#ifndef BATON_TIR_SCHEDULE_STEP_TEXT_H_
#define BATON_TIR_SCHEDULE_STEP_TEXT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"

namespace baton::tir {

struct Step {
  std::string name;  // `split`
  AttrMap params;    // without the name
};

absl::StatusOr<Step> ParseStep(absl::string_view line);
// The steps of a file. Empty lines and lines that begin with `#` are skipped.
// Errors contain the number of the line.
absl::StatusOr<std::vector<Step>> ParseSteps(absl::string_view text);

// The line of a step, without a line feed. Keys are sorted.
std::string StepText(const Step& step);

}  // namespace baton::tir

#endif  // BATON_TIR_SCHEDULE_STEP_TEXT_H_
