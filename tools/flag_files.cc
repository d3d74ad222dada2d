#include "baton/tools/flag_files.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
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

// The value in `--NAME=VALUE`; nullopt for any other argument. One dash is as
// good as two.
std::optional<absl::string_view> ValueOf(absl::string_view name,
                                         absl::string_view arg) {
  if (!absl::ConsumePrefix(&arg, "-")) return std::nullopt;
  absl::ConsumePrefix(&arg, "-");
  if (!absl::ConsumePrefix(&arg, name) || !absl::ConsumePrefix(&arg, "=")) {
    return std::nullopt;
  }
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
  // `names` is a list with commas, found at `where`.
  absl::Status AddFromEnvironment(absl::string_view names, bool must_exist,
                                  const std::string& where) {
    for (const absl::string_view name :
         absl::StrSplit(names, ',', absl::SkipEmpty())) {
      const std::string variable = absl::StrCat("FLAGS_", name);
      const char* const value = std::getenv(variable.c_str());
      if (value != nullptr) {
        Add(absl::StrCat("--", name, "=", value), where);
      } else if (must_exist) {
        return absl::NotFoundError(
            absl::StrCat(where, variable, " not found in environment"));
      }
    }
    return absl::OkStatus();
  }
  // Adds `arg`, or what it stands for.
  absl::Status Expand(absl::string_view arg, const std::string& where) {
    if (const auto files = ValueOf("flagfile", arg)) {
      return AddFiles(*files, where);
    }
    if (const auto names = ValueOf("fromenv", arg)) {
      return AddFromEnvironment(*names, /*must_exist=*/true, where);
    }
    if (const auto names = ValueOf("tryfromenv", arg)) {
      return AddFromEnvironment(*names, /*must_exist=*/false, where);
    }
    Add(arg, where);
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
    // Files that include each other twice would be read again and again.
    constexpr int kMostFiles = 1000;
    if (++files_ > kMostFiles) {
      return absl::ResourceExhaustedError(
          absl::StrCat("more than ", kMostFiles, " files of flags are read, ",
                       path, " among them"));
    }
    BATON_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
    open_.push_back(path);
    int number = 0;
    for (absl::string_view line : absl::StrSplit(text, '\n')) {
      ++number;
      line = absl::StripAsciiWhitespace(line);
      if (line.empty() || absl::StartsWith(line, "#")) continue;
      const std::string where = absl::StrCat(path, ":", number, ": ");
      if (line.find_first_not_of('-') == absl::string_view::npos ||
          line[0] != '-') {
        return absl::InvalidArgumentError(
            absl::StrCat(where, "expected a flag, found `", line, "`"));
      }
      BATON_RETURN_IF_ERROR(Expand(line, where));
    }
    open_.pop_back();
    return absl::OkStatus();
  }

  std::vector<Argument> result_;
  std::vector<std::string> open_;  // files that are being read
  int files_ = 0;                  // that were read
};

}  // namespace

absl::StatusOr<std::vector<Argument>> ExpandFlagFiles(
    absl::Span<const absl::string_view> args) {
  Expander expander;
  bool flags = true;
  for (size_t i = 0; i < args.size(); ++i) {
    flags = flags && args[i] != "--";
    if (!flags) {
      expander.Add(args[i], "");
    } else if ((args[i] == "--flagfile" || args[i] == "-flagfile") &&
               i + 1 < args.size()) {
      BATON_RETURN_IF_ERROR(expander.AddFiles(args[++i], ""));
    } else {
      BATON_RETURN_IF_ERROR(expander.Expand(args[i], ""));
    }
  }
  return expander.Take();
}

}  // namespace baton
