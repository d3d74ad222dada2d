#include "baton/tools/schedule_file.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/attr_value.h"
#include "baton/base/status_macros.h"
#include "baton/base/text_file.h"
#include "baton/tir/schedule/step_text.h"

namespace baton {

absl::StatusOr<std::string> WithSchedule(const std::string& passes,
                                         const std::string& file) {
  BATON_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(file));
  const absl::StatusOr<std::vector<tir::Step>> steps = tir::ParseSteps(text);
  if (!steps.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--schedule: ", file, ": ", steps.status().message()));
  }
  AttrList lines;
  for (const tir::Step& step : *steps) lines.emplace_back(tir::StepText(step));
  return absl::StrCat(passes, passes.empty() ? "" : ",", "tir.Schedule{steps=",
                      AttrValue(std::move(lines)).ToString(), "}");
}

}  // namespace baton
