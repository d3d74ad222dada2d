// run_conformance: runs conformance cases and lists those that fail, with
// reasons.
//
//   run_conformance [--case=PART_OF_NAME] [--show] [DIR or FILE]...

#include <iostream>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "baton/testing/conformance.h"

ABSL_FLAG(std::string, case, "", "Only cases with this in their names.");
ABSL_FLAG(bool, show, false, "Print what each case made.");

int main(int argc, char** argv) {
  using baton::testing::ConformanceCase;
  absl::SetProgramUsageMessage(
      "Runs conformance cases.\n\n"
      "  run_conformance [--case=PART_OF_NAME] [--show] [DIR or FILE]...");
  const std::vector<char*> arguments = absl::ParseCommandLine(argc, argv);
  std::vector<std::string> paths(arguments.begin() + 1, arguments.end());
  if (paths.empty()) paths = {"testing/conformance"};
  baton::testing::ConformanceTable table;
  bool passed = true;
  for (const std::string& path : paths) {
    const absl::StatusOr<std::vector<ConformanceCase>> cases =
        baton::testing::ReadConformanceCases(path);
    if (!cases.ok()) {
      std::cerr << "run_conformance: " << cases.status().message() << "\n";
      return 1;
    }
    for (const ConformanceCase& c : *cases) {
      if (!absl::StrContains(c.name(), absl::GetFlag(FLAGS_case))) continue;
      const baton::testing::ConformanceResult result =
          baton::testing::RunConformanceCase(c);
      table.Add(c, result);
      if (absl::GetFlag(FLAGS_show)) {
        std::cout << "// " << c.name() << "\n" << result.result << "\n";
      }
      if (result.passed()) continue;
      passed = false;
      std::cout << c.name() << " " << result.reason << "\n"
                << result.message << "\n";
    }
  }
  std::cout << table.ToString();
  return passed ? 0 : 1;
}
