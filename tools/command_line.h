// Reads the command line of a tool: flag files, --help, --version, flags and
// arguments.
//
//   BATON_ASSIGN_OR_RETURN(
//       const ParsedCommandLine line,
//       ReadCommandLine({.program = "baton-history",
//                        .flags = &flags,
//                        .help = [&] { return Help(flags); }},
//                       args, std::cout));
//   if (line.is_answered) return absl::OkStatus();
//   BATON_RETURN_IF_ERROR(AssignFlags(line.flags, &options));

#ifndef BATON_TOOLS_COMMAND_LINE_H_
#define BATON_TOOLS_COMMAND_LINE_H_

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/flags.h"

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
// to `out`. Errors: a registration of this process is invalid; a flag file
// cannot be read; a flag is unknown or has an illegal value, each with its
// place.
absl::StatusOr<ParsedCommandLine> ReadCommandLine(
    const CommandLineSpec& spec, absl::Span<const absl::string_view> args,
    std::ostream& out);

// An error if `arguments` has more than `most` arguments: it names the first
// that is too much.
absl::Status CheckNumArguments(const std::vector<std::string>& arguments,
                               size_t most);

// The help of the flags of ABSL_FLAG in this program, a line each, without
// those of Abseil itself.
std::string AbseilFlagsHelp();

}  // namespace baton

#endif  // BATON_TOOLS_COMMAND_LINE_H_
