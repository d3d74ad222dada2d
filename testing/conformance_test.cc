// Runs all cases of testing/conformance and testing/loops. A case may fail only
// if the known_failures.txt of that folder lists it, with the same reason.

#include "baton/testing/conformance.h"

#include <iostream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
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

void RunCases(const std::string& folder) {
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

TEST(ConformanceTest, PassesOfRelayAgreeWithTheReference) {
  RunCases("testing/conformance");
}

TEST(ConformanceTest, PassesOfLoopsAgreeWithTheReference) {
  RunCases("testing/loops");
}

TEST(ConformanceCaseTest, HeadersAreRead) {
  BATON_ASSERT_OK_AND_ASSIGN(const ConformanceCase c,
                             ParseConformanceCase("FuseOps", "ab12",
                                                  R"(// from: a.py::test
// passes: FuseOps{fuse_opt_level=2}
// run: direct
// opt_level: 3
// disabled_pass: A, B
// required_pass: C
// config: relay.FuseOps.max_depth=4
// config: x=[1,2]
// expect: module
// -----
before
// -----
after
)"));
  EXPECT_EQ(c.name(), "FuseOps/ab12");
  EXPECT_EQ(c.from, "a.py::test");
  EXPECT_EQ(c.passes, "FuseOps{fuse_opt_level=2}");
  EXPECT_TRUE(c.direct);
  EXPECT_EQ(c.opt_level, 3);
  EXPECT_EQ(c.disabled_pass, (std::vector<std::string>{"A", "B"}));
  EXPECT_EQ(c.required_pass, std::vector<std::string>{"C"});
  ASSERT_EQ(c.config.size(), 2);
  EXPECT_EQ(c.config[1].first, "x");
  EXPECT_FALSE(c.expects_error);
  EXPECT_EQ(c.before, "before\n");
  EXPECT_EQ(c.after, "after\n");
}

TEST(ConformanceCaseTest, BadFilesAreErrors) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(ParseConformanceCase("g", "i", "// from: x\n"),
              StatusIs(kInvalid, "g/i: expected two or three parts"));
  EXPECT_THAT(ParseConformanceCase("g", "i", "// run: x\n// -----\n// -----\n"),
              StatusIs(kInvalid, "run: expected direct or sequential, got x"));
  EXPECT_THAT(ParseConformanceCase("g", "i", "// ran: x\n// -----\n// -----\n"),
              StatusIs(kInvalid, "unknown header ran"));
  EXPECT_THAT(ReadConformanceCases("no/such/file.relay"),
              StatusIs(absl::StatusCode::kNotFound, "no/such/file.relay"));
}

// The kind of a case, and the reason why it fails.
struct Outcome {
  ConformanceKind kind;
  std::string reason;
};

Outcome OutcomeOf(const std::string& header, const std::string& before,
                  const std::string& after) {
  const absl::StatusOr<ConformanceCase> c = ParseConformanceCase(
      "g", "i", header + "// -----\n" + before + "// -----\n" + after);
  EXPECT_THAT(c, IsOk());
  if (!c.ok()) return {};
  const ConformanceResult result = RunConformanceCase(*c);
  EXPECT_EQ(result.passed(), result.message.empty()) << result.message;
  return {result.kind, result.reason};
}

TEST(RunConformanceCaseTest, ComparesAndSaysWhatIsWrong) {
  const std::string relu =
      "def @main(%x: Tensor[(2), float32]) { nn.relu(%x) }\n";
  const std::string fused =
      "def @main(%x: Tensor[(2), float32]) {\n"
      "  %0 = fn (%p: Tensor[(2), float32], Primitive=1) { nn.relu(%p) };\n"
      "  %0(%x)\n"
      "}\n";
  const std::string fuse = "// passes: FuseOps\n// run: direct\n";
  Outcome outcome = OutcomeOf(fuse, relu, fused);
  EXPECT_EQ(outcome.kind, ConformanceKind::kChanges);
  EXPECT_EQ(outcome.reason, "");
  outcome = OutcomeOf(fuse, relu, relu);
  EXPECT_EQ(outcome.kind, ConformanceKind::kKeeps);
  EXPECT_EQ(outcome.reason, "differs");
  outcome =
      OutcomeOf("// passes: FoldConstant\n// run: sequential\n", relu, relu);
  EXPECT_EQ(outcome.kind, ConformanceKind::kKeeps);
  EXPECT_EQ(outcome.reason, "");
  // The result type is inferred.
  outcome = OutcomeOf("", relu, relu);
  EXPECT_EQ(outcome.kind, ConformanceKind::kKeeps);
  EXPECT_EQ(outcome.reason, "");
  EXPECT_EQ(OutcomeOf("// passes: NoSuchPass\n", relu, relu).reason, "no_pass");
  EXPECT_EQ(OutcomeOf("", "def @main(", relu).reason, "unread");
  EXPECT_EQ(OutcomeOf("", relu, "def @main(").reason, "unread");
  EXPECT_EQ(OutcomeOf("", "def @main() { nn.relu(1, 2) }\n", relu).reason,
            "untyped");
  outcome = OutcomeOf("// expect: error\n", relu, "");
  EXPECT_EQ(outcome.kind, ConformanceKind::kError);
  EXPECT_EQ(outcome.reason, "accepted");
  EXPECT_EQ(OutcomeOf("// expect: error\n", "def @main(", "").reason, "");
}

}  // namespace
}  // namespace baton::testing
