// Schedules of loops in files: one line of JSON for each step
// (tir/schedule/step_text.h).

#ifndef BATON_TOOLS_SCHEDULE_FILE_H_
#define BATON_TOOLS_SCHEDULE_FILE_H_

#include <string>

#include "absl/status/statusor.h"

namespace baton {

// The pipeline `passes` with the steps of the file after it, as text. An error
// if the file cannot be read or a line of it is no step.
absl::StatusOr<std::string> WithSchedule(const std::string& passes,
                                         const std::string& file);

}  // namespace baton

#endif  // BATON_TOOLS_SCHEDULE_FILE_H_
