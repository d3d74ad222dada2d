// baton-check: checks standard input against the CHECK lines of a file.
//
//   baton-opt model.relay --passes=FoldConstant | baton-check model.relay
//
// Exit code 0: the input matches; 1: it does not; 2: bad lines or bad usage.

#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/source.h"
#include "baton/base/text_file.h"
#include "baton/tools/check.h"
#include "baton/tools/run_main.h"

ABSL_FLAG(std::vector<std::string>, check_prefix, {"CHECK"},
          "What directives begin with; several are separated by commas.");
ABSL_FLAG(std::string, input_file, "-", "What to check; - is standard input.");
ABSL_FLAG(std::string, implicit_check_not, "",
          "A pattern that must not match between any two matches.");
ABSL_FLAG(std::vector<std::string>, define, {},
          "NAME=VALUE,...: variables that are set from the start.");
ABSL_FLAG(bool, allow_empty, false, "An empty input is no error.");
ABSL_FLAG(bool, strict_whitespace, false,
          "Blanks match as they are; else a run of them matches any other.");
ABSL_FLAG(bool, match_full_lines, false,
          "All patterns but those of -NOT match whole lines.");

namespace baton {
namespace {

constexpr int kMismatch = 1;
constexpr int kBadUsage = 2;

int Fail(int code, const absl::Status& status) {
  std::cerr << status.message() << "\nbaton-check: "
            << (code == kMismatch ? "the input is not as the lines say"
                                  : "cannot check")
            << "\n";
  return code;
}

int CheckMain(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "holds standard input against the CHECK lines of a file\n"
      "  baton-check CHECK_FILE [flags] <INPUT");
  const std::vector<char*> positional = absl::ParseCommandLine(argc, argv);
  if (positional.size() != 2) {
    return Fail(kBadUsage, absl::InvalidArgumentError(
                               "usage: baton-check CHECK_FILE [flags] <INPUT"));
  }
  CheckOptions options = {
      .prefixes = absl::GetFlag(FLAGS_check_prefix),
      .allow_empty = absl::GetFlag(FLAGS_allow_empty),
      .strict_whitespace = absl::GetFlag(FLAGS_strict_whitespace),
      .match_full_lines = absl::GetFlag(FLAGS_match_full_lines)};
  if (std::string pattern = absl::GetFlag(FLAGS_implicit_check_not);
      !pattern.empty()) {
    options.implicit_check_not.push_back(std::move(pattern));
  }
  for (const std::string& definition : absl::GetFlag(FLAGS_define)) {
    const size_t equals = definition.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Fail(kBadUsage, absl::InvalidArgumentError(absl::StrCat(
                                 "--define: \"", definition,
                                 "\" is not of the form NAME=VALUE")));
    }
    options.variables[definition.substr(0, equals)] =
        definition.substr(equals + 1);
  }
  const std::string check_path = positional[1];
  absl::StatusOr<std::string> check_text = ReadTextFile(check_path);
  if (!check_text.ok()) return Fail(kBadUsage, check_text.status());
  const absl::StatusOr<Checks> checks = Checks::Parse(
      std::make_shared<const Source>(check_path, *std::move(check_text)),
      std::move(options));
  if (!checks.ok()) return Fail(kBadUsage, checks.status());
  const std::string input_path = absl::GetFlag(FLAGS_input_file);
  absl::StatusOr<std::string> input = ReadTextFile(input_path);
  if (!input.ok()) return Fail(kBadUsage, input.status());
  const absl::Status status = checks->Check(std::make_shared<const Source>(
      input_path == "-" ? "<stdin>" : input_path, *std::move(input)));
  return status.ok() ? 0 : Fail(kMismatch, status);
}

}  // namespace
}  // namespace baton

int main(int argc, char** argv) {
  return baton::RunMain("baton-check",
                        [argc, argv] { return baton::CheckMain(argc, argv); });
}
