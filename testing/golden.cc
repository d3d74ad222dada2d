#include "baton/testing/golden.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "baton/base/text_file.h"

namespace baton::testing {
namespace {

// A line around column `at`, short enough to read.
std::string Excerpt(absl::string_view line, size_t at) {
  constexpr size_t kBefore = 60;
  constexpr size_t kLength = 160;
  const size_t begin = at > kBefore ? at - kBefore : 0;
  return absl::StrCat(begin > 0 ? "..." : "", line.substr(begin, kLength),
                      line.size() > begin + kLength ? "..." : "");
}

}  // namespace

std::string RunfilePath(absl::string_view path) {
  const char* root = std::getenv("TEST_SRCDIR");
  const char* workspace = std::getenv("TEST_WORKSPACE");
  if (root == nullptr || workspace == nullptr) return std::string(path);
  return absl::StrCat(root, "/", workspace, "/", path);
}

std::string ReadFileOrFail(const std::string& path) {
  absl::StatusOr<std::string> text = ReadTextFile(path);
  if (text.ok()) return *std::move(text);
  ADD_FAILURE() << text.status().message();
  return "";
}

std::string ReadGolden(absl::string_view name) {
  return ReadFileOrFail(RunfilePath(absl::StrCat("testing/golden/", name)));
}

::testing::AssertionResult SameText(absl::string_view got,
                                    absl::string_view want) {
  if (got == want) return ::testing::AssertionSuccess();
  const std::vector<absl::string_view> got_lines = absl::StrSplit(got, '\n');
  const std::vector<absl::string_view> want_lines = absl::StrSplit(want, '\n');
  size_t line = 0;
  while (line < got_lines.size() && line < want_lines.size() &&
         got_lines[line] == want_lines[line]) {
    ++line;
  }
  const absl::string_view g = line < got_lines.size() ? got_lines[line] : "";
  const absl::string_view w = line < want_lines.size() ? want_lines[line] : "";
  size_t column = 0;
  while (column < std::min(g.size(), w.size()) && g[column] == w[column]) {
    ++column;
  }
  return ::testing::AssertionFailure()
         << "line " << line + 1 << " of " << want_lines.size() << ", column "
         << column + 1 << ":\n  got:  " << Excerpt(g, column)
         << "\n  want: " << Excerpt(w, column);
}

::testing::AssertionResult MatchesGolden(absl::string_view text,
                                         absl::string_view name) {
  const ::testing::AssertionResult result = SameText(text, ReadGolden(name));
  if (result) return result;
  return ::testing::AssertionFailure() << name << ": " << result.message();
}

}  // namespace baton::testing
