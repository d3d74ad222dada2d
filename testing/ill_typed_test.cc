// Tests that every error in a program of testing/ill_typed/ is shown with its
// place, the line and a mark below it. The programs list their expected errors
// (baton-opt --verify_diagnostics).

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "baton/base/source.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"
#include "baton/ir/span.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/testing/golden.h"
#include "gtest/gtest.h"

namespace baton::testing {
namespace {

// Parses and infers; the program is refused where the first mistakes show.
Diagnostics Check(absl::string_view program) {
  Diagnostics diagnostics;
  const IRModule module = ParseModule(program, "program", diagnostics);
  if (!diagnostics.has_errors()) relay::InferTypes(module, diagnostics);
  return diagnostics;
}

// Checks that the rendering has the place, the line and a mark below it.
void ExpectLocated(const Diagnostic& diagnostic) {
  ASSERT_TRUE(diagnostic.span.defined())
      << "no place: " << diagnostic.ToString();
  const Source& source = diagnostic.span->source();
  const Source::Position at = source.PositionOf(diagnostic.span->begin());
  const std::vector<std::string> lines =
      absl::StrSplit(diagnostic.ToString(), '\n');
  ASSERT_GE(lines.size(), 3);
  EXPECT_TRUE(absl::StartsWith(
      lines[0], absl::StrCat("program:", at.line, ":", at.column, ": error: ")))
      << lines[0];
  const size_t mark = lines[2].find('^');
  ASSERT_NE(mark, std::string::npos) << diagnostic.ToString();
  EXPECT_EQ(lines[2].find_first_not_of(" \t"), mark);
  // Long lines are shown in part.
  if (!absl::StartsWith(lines[1], "...")) {
    EXPECT_EQ(mark, at.column - 1);
    EXPECT_EQ(lines[1].substr(0, mark), source.Line(at.line).substr(0, mark));
  }
}

void ExpectRefused(absl::string_view program) {
  const Diagnostics diagnostics = Check(program);
  EXPECT_EQ(diagnostics.ToStatus().code(), absl::StatusCode::kInvalidArgument);
  for (const Diagnostic& diagnostic : diagnostics.list()) {
    if (diagnostic.severity == Severity::kError) ExpectLocated(diagnostic);
  }
}

TEST(IllTypedTest, EveryMistakeIsShownInItsLine) {
  std::vector<std::string> paths;
  for (const auto& entry :
       std::filesystem::directory_iterator(RunfilePath("testing/ill_typed"))) {
    paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  int count = 0;
  for (const std::string& path : paths) {
    const std::string text = ReadFileOrFail(path);
    for (const absl::string_view program : absl::StrSplit(text, "// -----\n")) {
      SCOPED_TRACE(absl::StrCat(path, "\n", program));
      ExpectRefused(program);
      ++count;
    }
  }
  EXPECT_GE(count, 250);
}

}  // namespace
}  // namespace baton::testing
