#include "baton/tools/command_line.h"

#include <algorithm>
#include <cstddef>
#include <iostream>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/commandlineflag.h"
#include "absl/flags/parse.h"
#include "absl/flags/reflection.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "baton/base/flags.h"
#include "baton/base/near_names.h"
#include "baton/base/registry.h"
#include "baton/base/status_macros.h"
#include "baton/tools/flag_files.h"
#include "baton/tools/version.h"

namespace baton {
namespace {

// Flags of this program that ABSL_FLAG defines, but for Abseil's own.
std::vector<const absl::CommandLineFlag*> AbseilFlags() {
  std::vector<const absl::CommandLineFlag*> flags;
  for (const auto& [name, flag] : absl::GetAllFlags()) {
    if (!absl::StrContains(flag->Filename(), "absl/flags/")) {
      flags.push_back(flag);
    }
  }
  std::sort(flags.begin(), flags.end(),
            [](const absl::CommandLineFlag* a, const absl::CommandLineFlag* b) {
              return a->Name() < b->Name();
            });
  return flags;
}

// The help of a flag that takes a value may begin with `=` and the name of the
// value.
std::string HelpOf(const absl::CommandLineFlag& flag) {
  const std::string help = flag.Help();
  absl::string_view text = help;
  absl::string_view value;
  if (absl::ConsumePrefix(&text, "=")) {
    value = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), value.size() + 1));
  }
  return FlagHelp(flag.Name(), value, text, flag.DefaultValue());
}

bool IsKnown(const CommandLineSpec& spec, absl::string_view name) {
  return spec.flags->Find(name) != nullptr ||
         (spec.has_abseil_flags && absl::FindCommandLineFlag(name) != nullptr);
}

// An error if `arg` is an unknown flag.
absl::Status CheckKnown(const CommandLineSpec& spec, absl::string_view arg) {
  absl::string_view name = arg;
  if (!absl::ConsumePrefix(&name, "-")) return absl::OkStatus();
  absl::ConsumePrefix(&name, "-");
  name = name.substr(0, name.find('='));
  if (name == "help" || name == "version") {
    return absl::InvalidArgumentError(
        absl::StrCat("--", name, ": takes no value"));
  }
  // `-` is standard input, and `-1` the value of the flag before it.
  if (name.empty() ||
      absl::ascii_isdigit(static_cast<unsigned char>(name[0])) ||
      IsKnown(spec, name)) {
    return absl::OkStatus();
  }
  absl::string_view positive = name;
  if (absl::ConsumePrefix(&positive, "no") && IsKnown(spec, positive)) {
    return absl::OkStatus();
  }
  std::vector<std::string> names = spec.flags->Names();
  if (spec.has_abseil_flags) {
    for (const absl::CommandLineFlag* flag : AbseilFlags()) {
      names.emplace_back(flag->Name());
    }
  }
  names.push_back("help");
  names.push_back("version");
  return absl::InvalidArgumentError(absl::StrCat(
      "unknown flag ", arg.substr(0, arg.find('=')), DidYouMean(name, names)));
}

// Looks for questions and unknown flags, which precede all else. Returns the
// answer to a question.
absl::StatusOr<std::string> Scan(const CommandLineSpec& spec,
                                 const std::vector<Argument>& args) {
  for (const Argument& arg : args) {
    const std::string& text = arg.text;
    if (text == "--") break;
    if (text == "--help" || text == "-help" || text == "-h") {
      return spec.help();
    }
    if (text == "--version" || text == "-version") {
      return absl::StrCat(VersionText(spec.program), "\n");
    }
    const absl::Status known = CheckKnown(spec, text);
    if (!known.ok()) {
      return absl::Status(known.code(),
                          absl::StrCat(arg.where, known.message()));
    }
  }
  return std::string();
}

// Sets the flags of ABSL_FLAG. Returns the arguments that are none.
std::vector<std::string> ParseAbseilFlags(std::string program,
                                          std::vector<std::string> args) {
  absl::SetProgramUsageMessage("see --help");
  std::vector<char*> argv = {program.data()};
  for (std::string& arg : args) argv.push_back(arg.data());
  const std::vector<char*> rest =
      absl::ParseCommandLine(static_cast<int>(argv.size()), argv.data());
  return {rest.begin() + 1, rest.end()};
}

}  // namespace

absl::StatusOr<ParsedCommandLine> ReadCommandLine(
    const CommandLineSpec& spec, absl::Span<const absl::string_view> raw_args,
    std::ostream& out) {
  BATON_ASSIGN_OR_RETURN(const std::vector<Argument> args,
                         ExpandFlagFiles(raw_args));
  ParsedCommandLine line;
  BATON_ASSIGN_OR_RETURN(const std::string answer, Scan(spec, args));
  if (!answer.empty()) {
    out << answer << std::flush;
    line.is_answered = true;
    return line;
  }
  BATON_ASSIGN_OR_RETURN(ParsedFlags parsed, spec.flags->Parse(args));
  for (const std::string& note : parsed.notes) std::cerr << note << "\n";
  line.flags = std::move(parsed.values);
  const auto end = std::find(parsed.rest.begin(), parsed.rest.end(), "--");
  if (end != parsed.rest.end()) line.behind.assign(end + 1, parsed.rest.end());
  line.arguments.assign(parsed.rest.begin(), end);
  if (spec.has_abseil_flags) {
    line.arguments = ParseAbseilFlags(spec.program, std::move(line.arguments));
  }
  return line;
}

absl::StatusOr<ParsedCommandLine> ReadCommandLine(
    const std::string& program, absl::string_view usage,
    const std::vector<Flag>& flags, absl::Span<const absl::string_view> args,
    std::ostream& out) {
  FlagSet set;
  BATON_RETURN_IF_ERROR(RegistrationErrors());
  BATON_RETURN_IF_ERROR(set.Add(flags, program));
  return ReadCommandLine(
      {.program = program,
       .flags = &set,
       .help = [&] { return absl::StrCat(usage, set.Help("")); }},
      args, out);
}

absl::Status CheckNumArguments(const std::vector<std::string>& arguments,
                               size_t most) {
  if (arguments.size() <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "unexpected argument \"", arguments[most], "\"",
      most == 0 ? "" : absl::StrCat(" after ", arguments[most - 1]),
      " (see --help)"));
}

std::string AbseilFlagsHelp() {
  std::string help;
  for (const absl::CommandLineFlag* flag : AbseilFlags()) help += HelpOf(*flag);
  return help;
}

}  // namespace baton
