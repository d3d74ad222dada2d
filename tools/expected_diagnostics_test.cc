#include "baton/tools/expected_diagnostics.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "baton/base/source.h"
#include "baton/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

constexpr char kText[] =
    "// expected-error@+1 {{first}}\n"
    "def @main() { }  // expected-warning {{second}}\n"
    "// expected-error@above:5 {{third}}\n"
    "// expected-error-re@unknown {{four(th)?$}}\n";

absl::Status Compare(absl::string_view reported) {
  const Source source("p", kText);
  const auto expected = ParseExpectedDiagnostics(source);
  EXPECT_THAT(expected, IsOk());
  return CompareDiagnostics(source, *expected,
                            ParseReportedDiagnostics("p", reported));
}

TEST(ExpectedDiagnosticsTest, EachMustBeThere) {
  const std::string all =
      "p:2:1: error: the first one\nsource\n^~~\n"
      "p:2:9: warning: the second\np:2:5: error: third\nerror: fourth";
  EXPECT_THAT(Compare(all), IsOk());
  const absl::Status missing = Compare(
      "p:2:1: error: first\np:2:9: warning: second\np:2:5: error: third");
  EXPECT_THAT(missing, StatusIs(absl::StatusCode::kInvalidArgument,
                                "p:4:4: error: there is no such error without "
                                "a place\n// expected-error-re@unknown"));
}

TEST(ExpectedDiagnosticsTest, NoOtherMayBeThere) {
  const absl::Status status = Compare(
      "p:2:1: error: first\np:2:9: warning: second\np:2:5: error: third\n"
      "error: four\np:2:5: error: third");
  EXPECT_THAT(status,
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "p:2:5: error: not expected: error: third\ndef @main"));
}

TEST(ExpectedDiagnosticsTest, PlacesAndSeveritiesCount) {
  const absl::Status status = Compare(
      "p:3:1: error: first\np:2:9: error: second\np:2:6: error: third\n"
      "p:2:1: error: fourth");
  const std::string message(status.message());
  for (const char* text : {"p:3:1: error: not expected: error: first",
                           "p:2:9: error: not expected: error: second",
                           "p:2:6: error: not expected: error: third",
                           "there is no such error on line 2, column 5",
                           "there is no such warning on line 2\n"}) {
    EXPECT_THAT(message, HasSubstr(text));
  }
}

TEST(ExpectedDiagnosticsTest, AMessageWithoutPlaceIsOneError) {
  const auto reported = ParseReportedDiagnostics("p", "in pass A:\nno\nmemory");
  ASSERT_EQ(reported.size(), 1u);
  EXPECT_EQ(reported[0].message, "in pass A:\nno\nmemory");
  EXPECT_TRUE(ParseReportedDiagnostics("p", "").empty());
}

TEST(ExpectedDiagnosticsTest, WhatIsNotUnderstoodIsAnError) {
  for (const char* comment :
       {"// expected-eror {{x}}", "// expected-error {x}", "// expected-error",
        "// expected-error@2 {{x}}", "// expected-error {{}}",
        "// expected-error-re {{(}}", "// expected-error {{x}} and more"}) {
    EXPECT_THAT(ParseExpectedDiagnostics(Source("p", comment)),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         "p:1:4: error: not understood"))
        << comment;
  }
  // Elsewhere it is a text.
  const auto none = ParseExpectedDiagnostics(Source("p", "expected-eror\n"));
  ASSERT_THAT(none, IsOk());
  EXPECT_TRUE(none->empty());
}

}  // namespace
}  // namespace baton
