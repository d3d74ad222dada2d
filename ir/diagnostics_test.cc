#include "baton/ir/diagnostics.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "baton/base/source.h"
#include "baton/ir/span.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

std::string Render(std::string text, int64_t begin, int64_t end) {
  auto source = std::make_shared<const Source>("m.relay", std::move(text));
  return Diagnostic{Severity::kError, Span(source, begin, end), "wrong"}
      .ToString();
}

TEST(DiagnosticTest, MarksThePlace) {
  EXPECT_EQ(Render("def\n  %1 = nn.dense(%0);\n}", 11, 23),
            "m.relay:2:8: error: wrong\n"
            "  %1 = nn.dense(%0);\n"
            "       ^~~~~~~~~~~~");
  EXPECT_EQ(Render("abc", 1, 1), "m.relay:1:2: error: wrong\nabc\n ^");
  // At the end of the text, and past it.
  EXPECT_EQ(Render("abc", 3, 3), "m.relay:1:4: error: wrong\nabc\n   ^");
  EXPECT_EQ(Render("abc", 90, 91), "m.relay:1:4: error: wrong\nabc\n   ^");
  EXPECT_EQ(Render("", 0, 0), "m.relay:1:1: error: wrong\n\n^");
}

TEST(DiagnosticTest, MarksUpToTheEndOfTheLine) {
  EXPECT_EQ(Render("ab {\n}", 3, 6), "m.relay:1:4: error: wrong\nab {\n   ^");
}

TEST(DiagnosticTest, LinesOfAPartKeepTheirNumbers) {
  auto source = std::make_shared<const Source>("m.relay", "ab\ncd", 41);
  const auto render = [&](int64_t begin) {
    return Diagnostic{Severity::kError, Span(source, begin, begin + 1), "wrong"}
        .ToString();
  };
  EXPECT_EQ(render(1), "m.relay:41:2: error: wrong\nab\n ^");
  EXPECT_EQ(render(3), "m.relay:42:1: error: wrong\ncd\n^");
}

TEST(DiagnosticTest, TabsTakeOneColumn) {
  EXPECT_EQ(Render("\t\tx y", 4, 5), "m.relay:1:5: error: wrong\n  x y\n    ^");
}

TEST(DiagnosticTest, CharactersOfSeveralBytesTakeOneColumn) {
  EXPECT_EQ(Render("\xc3\xa4 x", 3, 4),
            "m.relay:1:4: error: wrong\n\xc3\xa4 x\n  ^");
}

TEST(DiagnosticTest, LongLinesAreCut) {
  std::string line(300000, 'a');
  line[150000] = 'b';
  const std::string text = Render(line, 150000, 160000);
  EXPECT_LT(text.size(), 500u);
  EXPECT_EQ(text, absl::StrCat("m.relay:1:150001: error: wrong\n...",
                               std::string(60, 'a'), "b", std::string(99, 'a'),
                               "...\n   ", std::string(60, ' '), "^",
                               std::string(99, '~')));
  EXPECT_TRUE(absl::EndsWith(Render(line, 0, 1), "a...\n^"));
  EXPECT_TRUE(absl::EndsWith(Render(line, 300000, 300000), "^"));
}

TEST(DiagnosticTest, WithoutPlace) {
  const Diagnostic diagnostic = {Severity::kWarning, {}, "odd"};
  EXPECT_EQ(diagnostic.ToString(), "warning: odd");
}

TEST(DiagnosticsTest, AreCollected) {
  Diagnostics diagnostics;
  diagnostics.Note({}, "n");
  EXPECT_TRUE(diagnostics.ToStatus().ok());
  diagnostics.Error({}, "a");
  diagnostics.Error({}, "b");
  EXPECT_EQ(diagnostics.ToStatus(),
            absl::InvalidArgumentError("note: n\nerror: a\nerror: b"));
}

TEST(DiagnosticsTest, ErrorsPastTheLimitAreCounted) {
  Diagnostics diagnostics;
  for (int i = 0; i < 250; ++i) diagnostics.Error({}, "x");
  EXPECT_EQ(diagnostics.num_errors(), 250);
  EXPECT_EQ(diagnostics.list().size(), 100u);
  EXPECT_TRUE(absl::EndsWith(diagnostics.ToString(), "error: 150 more errors"));
}

}  // namespace
}  // namespace baton
