#include "baton/tools/opt_main.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/commandlineflag.h"
#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/reflection.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "baton/base/near_names.h"
#include "baton/base/status_macros.h"
#include "baton/tools/flag_files.h"
#include "baton/tools/opt.h"

// The help of a flag that takes a value begins with `=` and what the value is.

ABSL_FLAG(std::string, workload, "",
          "=SPEC A built-in network in place of INPUT: "
          "'resnet{num_layers=18}'.");
ABSL_FLAG(bool, bind_params, false, "Binds the workload's weights.");
ABSL_FLAG(bool, split_input_file, false,
          "Lines `// -----` separate independent modules.");

ABSL_FLAG(std::string, passes, "",
          "=PIPELINE As in 'FoldConstant,ConvertLayout{desired_layouts="
          "{nn.conv2d:[NHWC]}}'.");
ABSL_FLAG(int, opt_level, 2,
          "=N Sequences run the passes of this level and below.");
ABSL_FLAG(std::vector<std::string>, disabled_pass, {},
          "=A,B Passes that sequences leave out.");
ABSL_FLAG(std::vector<std::string>, required_pass, {},
          "=A,B Passes that run whatever their level.");
ABSL_FLAG(std::string, config, "", "=KEY=VALUE,... Settings that passes read.");
ABSL_FLAG(int, threads, 1,
          "=N For function passes; 0 for as many as the machine has.");
ABSL_FLAG(int64_t, bisect_limit, -1,
          "=N Executions after which passes change nothing; -1: no limit.");

ABSL_FLAG(std::string, output, "", "=FILE Standard output if not given.");
ABSL_FLAG(std::string, emit, "text",
          "=FORMAT Of the result: text, text-no-meta, binary or none.");

ABSL_FLAG(std::string, timing, "none",
          "=FORMAT Where time went, pass by pass: none, text or json.");
ABSL_FLAG(bool, op_diff, false,
          "How each pass changed the calls of each operator.");
ABSL_FLAG(std::string, report, "", "=FILE Times and changes of calls as JSON.");
ABSL_FLAG(std::string, print_before, "",
          "=RE The module before passes of these names (RE2, whole name).");
ABSL_FLAG(std::string, print_after, "", "=RE The same, after them.");
ABSL_FLAG(std::string, print_changed, "none",
          "=HOW The functions that each pass changed: none, full or diff.");
ABSL_FLAG(std::string, dump_dir, "",
          "=DIR A file for each execution of a pass.");

ABSL_FLAG(bool, verify_each, false,
          "Checks the module after each pass; names the guilty one.");

ABSL_FLAG(bool, check_values, false,
          "Evaluates the module before and after each pass; names the "
          "guilty one.");
ABSL_FLAG(int64_t, seed, 0, "=N Of the random inputs of --check_values.");
ABSL_FLAG(
    std::string, reproducer, "",
    "=FILE On failure: module, passes and settings; INPUT of another run.");

ABSL_FLAG(bool, list_passes, false, "The passes, with their options.");
ABSL_FLAG(bool, list_ops, false, "The operators.");
ABSL_FLAG(bool, list_workloads, false, "The workloads, with their options.");

namespace baton {
namespace {

constexpr char kVersion[] = "0.1.0";

// The flags as --help shows them. `help` and `version` are Abseil's.
struct Section {
  const char* title;
  std::vector<const char*> flags;
};

const std::vector<Section>& Sections() {
  static const auto* const kSections = new std::vector<Section>{
      {"Input", {"workload", "bind_params", "split_input_file"}},
      {"Passes",
       {"passes", "opt_level", "disabled_pass", "required_pass", "config",
        "threads", "bisect_limit"}},
      {"Output", {"output", "emit"}},
      {"Reports, on standard error",
       {"timing", "op_diff", "report", "print_before", "print_after",
        "print_changed", "dump_dir"}},
      {"Finding what is wrong",
       {"verify_each", "check_values", "seed", "reproducer"}},
      {"What is inside",
       {"list_passes", "list_ops", "list_workloads", "help", "version"}},
  };
  return *kSections;
}

// Flags of this program that are neither in Sections() nor Abseil's own.
std::vector<std::string> OtherFlags() {
  std::vector<std::string> names;
  for (const auto& [name, flag] : absl::GetAllFlags()) {
    const bool is_listed = std::any_of(
        Sections().begin(), Sections().end(), [name = name](const Section& s) {
          return std::find(s.flags.begin(), s.flags.end(), name) !=
                 s.flags.end();
        });
    if (!is_listed && !absl::StrContains(flag->Filename(), "absl/flags/")) {
      names.emplace_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string ProgramName(absl::string_view path) {
  const std::vector<std::string> parts = absl::StrSplit(path, '/');
  return parts.back();
}

// `  --opt_level=N      Sequences run ... Default: 2.`
std::string FlagHelp(absl::string_view name) {
  if (name == "help" || name == "version") return absl::StrCat("  --", name);
  const absl::CommandLineFlag* flag = absl::FindCommandLineFlag(name);
  if (flag == nullptr) return "";
  const std::string help = flag->Help();
  absl::string_view text = help;
  absl::string_view value;
  if (absl::StartsWith(text, "=")) {
    value = text.substr(0, text.find(' '));
    text.remove_prefix(value.size() + 1);
  }
  std::string result = absl::StrCat("  --", name, value);
  constexpr size_t kColumn = 28;
  if (result.size() + 2 > kColumn) {
    result += "  ";
  } else {
    result.resize(kColumn, ' ');
  }
  const std::string default_value = flag->DefaultValue();
  return absl::StrCat(result, text,
                      value.empty() || default_value.empty()
                          ? ""
                          : absl::StrCat(" Default: ", default_value, "."));
}

void PrintHelp(const std::string& program) {
  std::cout << "Runs compiler passes over modules.\n\n  " << program
            << " [INPUT] [flags]    INPUT: a text file, a .baton file, or - "
               "for standard input\n";
  for (const Section& section : Sections()) {
    std::cout << "\n" << section.title << ":\n";
    for (const char* name : section.flags) std::cout << FlagHelp(name) << "\n";
  }
  const std::vector<std::string> others = OtherFlags();
  if (!others.empty()) std::cout << "\nOf this program:\n";
  for (const std::string& name : others) std::cout << FlagHelp(name) << "\n";
}

// The name of the flag that `arg` sets; empty if it is no flag. An unknown one
// is an error.
absl::StatusOr<std::string> FlagName(absl::string_view arg) {
  absl::string_view name = arg;
  if (!absl::ConsumePrefix(&name, "-")) return "";
  absl::ConsumePrefix(&name, "-");
  name = name.substr(0, name.find('='));
  // `-` is standard input, and `-1` the value of the flag before it.
  if (name.empty() ||
      absl::ascii_isdigit(static_cast<unsigned char>(name[0]))) {
    return "";
  }
  if (absl::FindCommandLineFlag(name) != nullptr) {
    return std::string(name);
  }
  absl::string_view positive = name;
  if (absl::ConsumePrefix(&positive, "no") &&
      absl::FindCommandLineFlag(positive) != nullptr) {
    return std::string(positive);
  }
  std::vector<std::string> names = OtherFlags();
  for (const Section& section : Sections()) {
    names.insert(names.end(), section.flags.begin(), section.flags.end());
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "unknown flag ", arg.substr(0, arg.find('=')), DidYouMean(name, names)));
}

struct CommandLine {
  bool help = false;
  bool version = false;
  std::vector<std::string> flags;  // that are set
};

// What can be said of the arguments before Abseil reads them.
absl::StatusOr<CommandLine> Scan(const std::vector<Argument>& args) {
  CommandLine result;
  for (const Argument& arg : args) {
    const std::string& text = arg.text;
    if (text == "--") break;
    if (text == "--help" || text == "-help" || text == "-h") result.help = true;
    if (text == "--version" || text == "-version") result.version = true;
    if (result.help || result.version) break;
    absl::StatusOr<std::string> name = FlagName(text);
    if (!name.ok()) {
      return absl::Status(name.status().code(),
                          absl::StrCat(arg.where, name.status().message()));
    }
    if (!name->empty()) result.flags.push_back(*std::move(name));
  }
  return result;
}

OptOptions OptionsFromFlags() {
  OptOptions options;
  options.workload = absl::GetFlag(FLAGS_workload);
  options.bind_params = absl::GetFlag(FLAGS_bind_params);
  options.split_input_file = absl::GetFlag(FLAGS_split_input_file);
  options.run.passes = absl::GetFlag(FLAGS_passes);
  options.run.opt_level = absl::GetFlag(FLAGS_opt_level);
  options.run.disabled_pass = absl::GetFlag(FLAGS_disabled_pass);
  options.run.required_pass = absl::GetFlag(FLAGS_required_pass);
  options.run.config = absl::GetFlag(FLAGS_config);
  options.run.threads = absl::GetFlag(FLAGS_threads);
  options.run.bisect_limit = absl::GetFlag(FLAGS_bisect_limit);
  options.run.verify_each = absl::GetFlag(FLAGS_verify_each);
  options.run.check_values = absl::GetFlag(FLAGS_check_values);
  options.run.seed = absl::GetFlag(FLAGS_seed);
  options.output = absl::GetFlag(FLAGS_output);
  options.emit = absl::GetFlag(FLAGS_emit);
  options.timing = absl::GetFlag(FLAGS_timing);
  options.op_diff = absl::GetFlag(FLAGS_op_diff);
  options.report = absl::GetFlag(FLAGS_report);
  options.print_before = absl::GetFlag(FLAGS_print_before);
  options.print_after = absl::GetFlag(FLAGS_print_after);
  options.print_changed = absl::GetFlag(FLAGS_print_changed);
  options.dump_dir = absl::GetFlag(FLAGS_dump_dir);
  options.reproducer = absl::GetFlag(FLAGS_reproducer);
  return options;
}

// `flags`, which the command line sets, and those that it sets in other ways,
// as by --fromenv.
std::vector<std::string> GivenFlags(std::vector<std::string> flags) {
  for (const Section& section : Sections()) {
    for (const char* name : section.flags) {
      const absl::CommandLineFlag* flag = absl::FindCommandLineFlag(name);
      if (flag != nullptr && flag->CurrentValue() != flag->DefaultValue()) {
        flags.emplace_back(name);
      }
    }
  }
  return flags;
}

// Sets the flags. Returns the arguments that are none, in `args` or, as the
// first, `program`.
std::vector<char*> ParseFlags(std::string& program,
                              std::vector<Argument>& args) {
  std::vector<char*> argv = {program.data()};
  for (Argument& arg : args) argv.push_back(arg.text.data());
  return absl::ParseCommandLine(static_cast<int>(argv.size()), argv.data());
}

absl::Status Main(std::string program,
                  absl::Span<const absl::string_view> raw_args) {
  BATON_ASSIGN_OR_RETURN(std::vector<Argument> args, ExpandFlagFiles(raw_args));
  BATON_ASSIGN_OR_RETURN(CommandLine command, Scan(args));
  if (command.help) {
    PrintHelp(program);
    return absl::OkStatus();
  }
  if (command.version) {
    std::cout << program << " (Baton " << kVersion << ")\n";
    return absl::OkStatus();
  }
  absl::SetProgramUsageMessage("see --help");
  const std::vector<char*> positional = ParseFlags(program, args);
  if (positional.size() > 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("unexpected argument \"", positional[2],
                     "\" after the input ", positional[1], " (see --help)"));
  }
  bool listed = false;
  const auto list = [&listed](bool wanted, void (*print)(std::ostream&)) {
    if (wanted) print(std::cout);
    listed = listed || wanted;
  };
  list(absl::GetFlag(FLAGS_list_passes), ListPasses);
  list(absl::GetFlag(FLAGS_list_ops), ListOps);
  list(absl::GetFlag(FLAGS_list_workloads), ListWorkloads);
  if (listed) return absl::OkStatus();

  OptOptions options = OptionsFromFlags();
  if (positional.size() > 1) options.input = positional[1];
  options.given = GivenFlags(std::move(command.flags));
  options.progress = isatty(STDERR_FILENO) != 0;
  return Opt(options, {std::cin, std::cout, std::cerr});
}

}  // namespace

int OptMain(int argc, char** argv) {
  const std::vector<absl::string_view> args(argv, argv + argc);
  const std::string program =
      ProgramName(args.empty() ? "baton-opt" : args.front());
  const absl::Status status =
      Main(program, absl::MakeConstSpan(args).subspan(args.empty() ? 0 : 1));
  if (status.ok()) return 0;
  std::cerr << program << ": " << status.message() << "\n";
  return 1;
}

}  // namespace baton
