#include "baton/tools/crash_report.h"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/tools/reduced_test.h"
#include "baton/transform/running_pass.h"

namespace baton {

std::string CrashReport(absl::string_view program,
                        absl::string_view opt_command, int signal) {
  const std::string pass = DescribeRunningPass();
  std::string text = absl::StrCat(
      program, ": crashed (", strsignal(signal), ") ",
      pass.empty() ? "outside of passes" : absl::StrCat("in pass ", pass),
      "\n");
  if (pass.empty() || opt_command.empty()) return text;
  return absl::StrCat(text, "keep the module and the settings:\n  ",
                      opt_command,
                      " --reproducer=crash.relay\n"
                      "find the cause, with a small program:\n  ",
                      opt_command, " --triage=crash\n");
}

std::string OptCommand(
    absl::string_view input,
    const std::vector<std::pair<absl::string_view, std::string>>& flags) {
  std::string command = "baton-opt";
  if (!input.empty()) absl::StrAppend(&command, " ", ShellWord(input));
  for (const auto& [name, value] : flags) {
    if (value.empty()) continue;
    absl::StrAppend(&command, " --", name, "=", ShellWord(value));
  }
  return command;
}

}  // namespace baton
