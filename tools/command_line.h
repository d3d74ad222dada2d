// Reads the command line of a tool: flag files, --help, --version, flags and
// arguments.
//
//   HistoryToolOptions options;
//   BATON_ASSIGN_OR_RETURN(
//       const ParsedCommandLine line,
//       ReadCommandLine("baton-history", kUsage, args, std::cout, &options));
//   if (line.is_answered) return absl::OkStatus();

#ifndef BATON_TOOLS_COMMAND_LINE_H_
#define BATON_TOOLS_COMMAND_LINE_H_

#include <cstddef>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/flags.h"
#include "baton/base/status_macros.h"

namespace baton {

// The flags and the texts of a tool.
struct CommandLineSpec {
  std::string program;  // for --version
  const FlagSet* flags = nullptr;
  std::function<std::string()> help;  // the output of --help
  // If true, flags of ABSL_FLAG are set, too.
  bool has_abseil_flags = false;
};

struct ParsedCommandLine {
  // True if --help or --version was given and printed; then the rest is empty.
  bool is_answered = false;
  AttrMap flags;                       // the values of the given flags
  std::vector<std::string> arguments;  // the other arguments before `--`
  std::vector<std::string> behind;     // the arguments behind `--`
};

// Reads `args`, which exclude the name of the program. Prints help and version
// to `out`. Errors: a flag file cannot be read; a flag is unknown or has an
// illegal value, each with its place. A program whose flags are those of
// registries calls RegistrationErrors() first.
absl::StatusOr<ParsedCommandLine> ReadCommandLine(
    const CommandLineSpec& spec, absl::Span<const absl::string_view> args,
    std::ostream& out);

// As above, for a program with the flags `flags`. Its help is `usage` and a
// line for each flag.
absl::StatusOr<ParsedCommandLine> ReadCommandLine(
    const std::string& program, absl::string_view usage,
    const std::vector<Flag>& flags, absl::Span<const absl::string_view> args,
    std::ostream& out);

// As above, with the flags of the class of `options`, whose fields it sets.
template <typename T>
absl::StatusOr<ParsedCommandLine> ReadCommandLine(
    const std::string& program, absl::string_view usage,
    absl::Span<const absl::string_view> args, std::ostream& out, T* options) {
  BATON_ASSIGN_OR_RETURN(
      ParsedCommandLine line,
      ReadCommandLine(program, usage, FlagsOf<T>(), args, out));
  BATON_RETURN_IF_ERROR(AssignFlags(line.flags, options));
  BATON_RETURN_IF_ERROR(CheckFlagValues(FlagsOf<T>(), options));
  return line;
}

// An error if `arguments` has more than `most` arguments: it names the first
// that is too much.
absl::Status CheckNumArguments(const std::vector<std::string>& arguments,
                               size_t most);

// The help of the flags of ABSL_FLAG in this program, a line each, without
// those of Abseil itself.
std::string AbseilFlagsHelp();

}  // namespace baton

#endif  // BATON_TOOLS_COMMAND_LINE_H_
