#include "baton/testing/conformance_folder.h"

#include <iostream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "baton/testing/conformance.h"
#include "baton/testing/golden.h"
#include "baton/testing/status_matchers.h"
#include "gtest/gtest.h"

namespace baton::testing {
namespace {

// Reasons by name of case, or by `GROUP/*` for all cases of a folder.
std::map<std::string, std::string> KnownFailures(const std::string& folder) {
  std::map<std::string, std::string> known;
  const std::string text =
      ReadFileOrFail(RunfilePath(folder + "/known_failures.txt"));
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() || line[0] == '#') continue;
    const std::pair<std::string, std::string> entry = absl::StrSplit(line, ' ');
    EXPECT_TRUE(known.insert(entry).second) << entry.first << " twice";
  }
  return known;
}

}  // namespace

void RunConformanceFolder(const std::string& folder) {
  BATON_ASSERT_OK_AND_ASSIGN(const std::vector<ConformanceCase> cases,
                             ReadConformanceCases(RunfilePath(folder)));
  EXPECT_GT(cases.size(), 600);
  const std::map<std::string, std::string> known = KnownFailures(folder);
  std::set<std::string> unused;
  for (const auto& [name, reason] : known) unused.insert(name);
  ConformanceTable table;
  for (const ConformanceCase& c : cases) {
    const ConformanceResult result = RunConformanceCase(c);
    table.Add(c, result);
    std::string expected;
    for (const std::string& name : {c.name(), c.group + "/*"}) {
      const auto it = known.find(name);
      if (it == known.end()) continue;
      expected = it->second;
      unused.erase(name);
      break;
    }
    EXPECT_EQ(result.reason, expected) << c.name() << " (" << c.from << ")\n"
                                       << result.message;
    if (!result.passed()) {
      std::cout << c.name() << " " << result.reason << "\n";
    }
  }
  for (const std::string& name : unused) {
    ADD_FAILURE() << name << " is a known failure, but no case";
  }
  std::cout << table.ToString();
}

}  // namespace baton::testing
