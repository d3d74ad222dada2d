#include "baton/tools/flag_files.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "baton/base/status_macros.h"
#include "baton/tools/files.h"

namespace baton {
namespace {

// The value in `--flagfile=VALUE`; nullopt for any other argument. One dash is
// as good as two.
std::optional<absl::string_view> FlagFileValue(absl::string_view arg) {
  if (!absl::ConsumePrefix(&arg, "-")) return std::nullopt;
  absl::ConsumePrefix(&arg, "-");
  if (!absl::ConsumePrefix(&arg, "flagfile=")) return std::nullopt;
  return arg;
}

class Expander {
 public:
  // `files` is a list with commas, found at `where`.
  absl::Status AddFiles(absl::string_view files, const std::string& where) {
    for (const absl::string_view file :
         absl::StrSplit(files, ',', absl::SkipEmpty())) {
      const absl::Status status = AddFile(std::string(file));
      if (!status.ok()) {
        return absl::Status(
            status.code(),
            absl::StrCat(where, "--flagfile: ", status.message()));
      }
    }
    return absl::OkStatus();
  }
  void Add(absl::string_view text, std::string where) {
    result_.push_back({std::string(text), std::move(where)});
  }
  std::vector<Argument> Take() { return std::move(result_); }

 private:
  absl::Status AddFile(const std::string& path) {
    if (std::find(open_.begin(), open_.end(), path) != open_.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat(absl::StrJoin(open_, " includes "), " includes ", path));
    }
    BATON_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
    open_.push_back(path);
    int number = 0;
    for (absl::string_view line : absl::StrSplit(text, '\n')) {
      ++number;
      line = absl::StripAsciiWhitespace(line);
      if (line.empty() || absl::StartsWith(line, "#")) continue;
      std::string where = absl::StrCat(path, ":", number, ": ");
      if (line.find_first_not_of('-') == absl::string_view::npos ||
          line[0] != '-') {
        return absl::InvalidArgumentError(
            absl::StrCat(where, "expected a flag, found `", line, "`"));
      }
      if (const auto files = FlagFileValue(line); files.has_value()) {
        BATON_RETURN_IF_ERROR(AddFiles(*files, where));
      } else {
        Add(line, std::move(where));
      }
    }
    open_.pop_back();
    return absl::OkStatus();
  }

  std::vector<Argument> result_;
  std::vector<std::string> open_;  // files that are being read
};

}  // namespace

absl::StatusOr<std::vector<Argument>> ExpandFlagFiles(
    absl::Span<const absl::string_view> args) {
  Expander expander;
  bool flags = true;
  for (size_t i = 0; i < args.size(); ++i) {
    flags = flags && args[i] != "--";
    std::optional<absl::string_view> files = FlagFileValue(args[i]);
    if (flags && (args[i] == "--flagfile" || args[i] == "-flagfile") &&
        i + 1 < args.size()) {
      files = args[++i];
    }
    if (flags && files.has_value()) {
      BATON_RETURN_IF_ERROR(expander.AddFiles(*files, ""));
    } else {
      expander.Add(args[i], "");
    }
  }
  return expander.Take();
}

}  // namespace baton
