// Runs all cases of testing/conformance; loops_conformance_test.cc runs those of
// passes over loops.

#include "baton/testing/conformance.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/testing/conformance_folder.h"
#include "baton/testing/status_matchers.h"
#include "gtest/gtest.h"

namespace baton::testing {
namespace {

TEST(ConformanceTest, PassesOfRelayAgreeWithTheReference) {
  RunConformanceFolder("testing/conformance");
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
