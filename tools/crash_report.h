// CrashReport: reports the pass in which a tool crashed, and commands that
// investigate the crash.

#ifndef BATON_TOOLS_CRASH_REPORT_H_
#define BATON_TOOLS_CRASH_REPORT_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace baton {

// `PROGRAM: crashed (Floating point exception) in pass #1 sequential > #4
// Crash` and two commands that are `opt_command` with one more flag. Without a
// running pass or an `opt_command`, the first line alone. For CrashGuard.
std::string CrashReport(absl::string_view program,
                        absl::string_view opt_command, int signal);

// `baton-opt INPUT --passes=... --config=...`, as words for a shell. Leaves out
// flags that are empty.
std::string OptCommand(
    absl::string_view input,
    const std::vector<std::pair<absl::string_view, std::string>>& flags);

}  // namespace baton

#endif  // BATON_TOOLS_CRASH_REPORT_H_
