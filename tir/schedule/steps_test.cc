// Each step on the functions of testdata/STEP/NAME.tir: its result, or its
// error and no change.

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/testing/conformance.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/schedule/schedule.h"
#include "baton/tir/schedule/step_table.h"
#include "baton/tir/schedule/step_text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::tir {
namespace {

using ::testing::HasSubstr;

std::string Print(const PrimFunc& function) {
  IRModule module;
  module.Set("main", function);
  return AsText(module);
}

std::string Stripped(absl::string_view text) {
  return std::string(absl::StripAsciiWhitespace(text));
}

std::vector<testing::ConformanceCase> CasesOf(const std::string& folder) {
  absl::StatusOr<std::vector<testing::ConformanceCase>> cases =
      testing::ReadConformanceCases(folder);
  EXPECT_TRUE(cases.ok()) << cases.status();
  return cases.ok() ? *std::move(cases)
                    : std::vector<testing::ConformanceCase>();
}

TEST(StepsTest, StepsHaveTheirResults) {
  for (const testing::ConformanceCase& c : CasesOf("tir/schedule/testdata")) {
    SCOPED_TRACE(c.name());
    const absl::StatusOr<IRModule> module = ParseModule(c.before);
    ASSERT_TRUE(module.ok()) << module.status();
    const absl::StatusOr<Step> step = ParseStep(c.step);
    ASSERT_TRUE(step.ok()) << step.status();
    Schedule schedule(module->functions<PrimFunc>()[0].function);
    const std::string before = Print(schedule.function());
    const absl::Status status = schedule.Apply(*step);
    if (c.expects_error) {
      EXPECT_THAT(std::string(status.message()),
                  HasSubstr(std::string(absl::StripAsciiWhitespace(c.after))));
      EXPECT_EQ(Print(schedule.function()), before);
      EXPECT_TRUE(schedule.trace().empty());
      continue;
    }
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(Stripped(Print(schedule.function())), Stripped(c.after));
    // The trace gives the same again.
    Schedule again(module->functions<PrimFunc>()[0].function);
    for (const Step& taken : schedule.trace()) {
      ASSERT_TRUE(again.Apply(taken).ok());
    }
    EXPECT_EQ(Print(again.function()), Print(schedule.function()));
  }
}

TEST(StepsTest, EachStepHasAResultAndAnError) {
  std::map<std::string, std::vector<bool>> seen;
  for (const std::string folder :
       {"tir/schedule/testdata", "testing/loops/schedule"}) {
    for (const testing::ConformanceCase& c : CasesOf(folder)) {
      seen[c.group].push_back(c.expects_error);
    }
  }
  for (const std::string& name : StepNames()) {
    const std::vector<bool>& errors = seen[name];
    EXPECT_TRUE(std::count(errors.begin(), errors.end(), false) > 0)
        << "no case has a result of " << name;
    EXPECT_TRUE(std::count(errors.begin(), errors.end(), true) > 0)
        << "no case has an error of " << name;
  }
}

}  // namespace
}  // namespace baton::tir
