// baton-check: checks standard input against the CHECK lines of a file.
//
//   baton-opt model.relay --passes=FoldConstant | baton-check model.relay
//
// Exit code 0: the input matches; 1: it does not; 2: bad lines or bad usage.

#include <cstddef>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/flags.h"
#include "baton/base/source.h"
#include "baton/base/status_macros.h"
#include "baton/base/text_file.h"
#include "baton/tools/check.h"
#include "baton/tools/command_line.h"
#include "baton/tools/tool_main.h"

namespace baton {
namespace {

constexpr int kMismatch = 1;
constexpr int kBadUsage = 2;

constexpr char kUsage[] =
    "Checks a text against the CHECK lines of a file.\n\n"
    "  baton-check CHECK_FILE [flags] <INPUT\n\n"
    "Exit codes: 0 the input matches, 1 it does not, 2 the lines or the flags "
    "are wrong.\n\nFlags:\n";

// Each field is a flag of the same name.
struct CheckToolOptions {
  std::vector<std::string> check_prefix = {"CHECK"};
  std::string input_file = "-";
  std::string implicit_check_not;
  std::vector<std::string> define;
  bool allow_empty = false;
  bool strict_whitespace = false;
  bool match_full_lines = false;

  template <typename V>
  static void VisitFields(V& v) {
    v("check_prefix", &CheckToolOptions::check_prefix,
      FlagSpec{.help = "Prefixes of directives.", .value = "NAME,NAME"});
    v("input_file", &CheckToolOptions::input_file,
      FlagSpec{.help = "File with the text to check; - is standard input.",
               .value = "FILE"});
    v("implicit_check_not", &CheckToolOptions::implicit_check_not,
      FlagSpec{.help = "A pattern that must not match between two matches.",
               .value = "PATTERN"});
    v("define", &CheckToolOptions::define,
      FlagSpec{.help = "Variables with an initial value.",
               .value = "NAME=VALUE,..."});
    v("allow_empty", &CheckToolOptions::allow_empty,
      FlagSpec{.help = "Accepts an empty input."});
    v("strict_whitespace", &CheckToolOptions::strict_whitespace,
      FlagSpec{.help = "Blanks must be equal; otherwise a run of blanks "
                       "matches any other."});
    v("match_full_lines", &CheckToolOptions::match_full_lines,
      FlagSpec{.help = "All patterns but those of -NOT match whole lines."});
  }
};

int Fail(int code, const absl::Status& status) {
  std::cerr << status.message() << "\nbaton-check: "
            << (code == kMismatch ? "the input does not match the lines"
                                  : "cannot check")
            << "\n";
  return code;
}

absl::StatusOr<CheckOptions> OptionsOf(const CheckToolOptions& flags) {
  CheckOptions options = {.prefixes = flags.check_prefix,
                          .allow_empty = flags.allow_empty,
                          .strict_whitespace = flags.strict_whitespace,
                          .match_full_lines = flags.match_full_lines};
  if (!flags.implicit_check_not.empty()) {
    options.implicit_check_not.push_back(flags.implicit_check_not);
  }
  for (const std::string& definition : flags.define) {
    const size_t equals = definition.find('=');
    if (equals == std::string::npos || equals == 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--define: \"", definition, "\" is not of the form NAME=VALUE"));
    }
    options.variables[definition.substr(0, equals)] =
        definition.substr(equals + 1);
  }
  return options;
}

// The texts to compare; none if the command line is answered.
struct Comparison {
  std::unique_ptr<Checks> checks;
  std::shared_ptr<const Source> input;
};

absl::StatusOr<Comparison> Read(const std::vector<absl::string_view>& args) {
  CheckToolOptions options;
  BATON_ASSIGN_OR_RETURN(
      const ParsedCommandLine line,
      ReadCommandLine("baton-check", kUsage, args, std::cout, &options));
  if (line.is_answered) return Comparison();
  BATON_RETURN_IF_ERROR(CheckNumArguments(line.arguments, 1));
  if (line.arguments.empty()) {
    return absl::InvalidArgumentError(
        "usage: baton-check CHECK_FILE [flags] <INPUT (see --help)");
  }
  BATON_ASSIGN_OR_RETURN(CheckOptions check, OptionsOf(options));
  const std::string& check_path = line.arguments[0];
  BATON_ASSIGN_OR_RETURN(std::string check_text, ReadTextFile(check_path));
  BATON_ASSIGN_OR_RETURN(Checks checks,
                         Checks::Parse(std::make_shared<const Source>(
                                           check_path, std::move(check_text)),
                                       std::move(check)));
  BATON_ASSIGN_OR_RETURN(std::string input, ReadTextFile(options.input_file));
  return Comparison{
      std::make_unique<Checks>(std::move(checks)),
      std::make_shared<const Source>(
          options.input_file == "-" ? "<stdin>" : options.input_file,
          std::move(input))};
}

int CheckMain(const std::vector<absl::string_view>& args) {
  const absl::StatusOr<Comparison> comparison = Read(args);
  if (!comparison.ok()) return Fail(kBadUsage, comparison.status());
  if (comparison->checks == nullptr) return 0;
  const absl::Status status = comparison->checks->Check(comparison->input);
  return status.ok() ? 0 : Fail(kMismatch, status);
}

}  // namespace
}  // namespace baton

int main(int argc, char** argv) {
  return baton::RunTool("baton-check", [argc, argv] {
    return baton::CheckMain({argv + (argc > 0 ? 1 : 0), argv + argc});
  });
}
