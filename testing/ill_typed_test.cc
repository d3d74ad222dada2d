// Programs that must be refused, in testing/ill_typed/*.relay. Each begins with
// the errors that are expected, all of them, as comments
//
//   // LINE:COLUMN: a part of the message
//
// where lines are counted from the first of these.

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
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

struct Error {
  int line = 0;
  int column = 0;
  std::string message;
};

std::vector<Error> ExpectedErrors(absl::string_view program) {
  std::vector<Error> errors;
  for (const absl::string_view line : absl::StrSplit(program, '\n')) {
    if (!absl::StartsWith(line, "// ")) break;
    const std::vector<absl::string_view> parts =
        absl::StrSplit(line.substr(3), absl::MaxSplits(": ", 1));
    const std::vector<absl::string_view> place = absl::StrSplit(parts[0], ':');
    Error error;
    if (parts.size() != 2 || place.size() != 2 ||
        !absl::SimpleAtoi(place[0], &error.line) ||
        !absl::SimpleAtoi(place[1], &error.column)) {
      ADD_FAILURE() << "not LINE:COLUMN: MESSAGE: " << line;
      break;
    }
    error.message = std::string(parts[1]);
    errors.push_back(std::move(error));
  }
  return errors;
}

// Parses and infers; the program is refused where the first mistakes show.
Diagnostics Check(absl::string_view program) {
  Diagnostics diagnostics;
  const IRModule module = ParseModule(program, "program", diagnostics);
  if (!diagnostics.has_errors()) InferTypes(module, diagnostics);
  return diagnostics;
}

// Whether the rendering has the place, the line and a mark below it.
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
  const std::vector<Error> expected = ExpectedErrors(program);
  EXPECT_FALSE(expected.empty()) << "no error is expected";
  const Diagnostics diagnostics = Check(program);
  EXPECT_EQ(diagnostics.ToStatus().code(), absl::StatusCode::kInvalidArgument);
  std::vector<Error> found;
  for (const Diagnostic& diagnostic : diagnostics.list()) {
    if (diagnostic.severity != Severity::kError) continue;
    ExpectLocated(diagnostic);
    if (!diagnostic.span.defined()) continue;
    const Source::Position at =
        diagnostic.span->source().PositionOf(diagnostic.span->begin());
    found.push_back({at.line, at.column, diagnostic.message});
  }
  EXPECT_EQ(found.size(), expected.size()) << diagnostics.ToString();
  for (size_t i = 0; i < std::min(found.size(), expected.size()); ++i) {
    EXPECT_EQ(found[i].line, expected[i].line) << diagnostics.ToString();
    EXPECT_EQ(found[i].column, expected[i].column) << diagnostics.ToString();
    EXPECT_TRUE(absl::StrContains(found[i].message, expected[i].message))
        << found[i].message << "\nis not\n"
        << expected[i].message;
  }
}

TEST(IllTypedTest, EveryProgramIsRefusedWhereTheMistakeIs) {
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
