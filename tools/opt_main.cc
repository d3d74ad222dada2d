#include "baton/tools/opt_main.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <iterator>
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
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/fields.h"
#include "baton/base/near_names.h"
#include "baton/base/printable.h"
#include "baton/base/registry.h"
#include "baton/base/status_macros.h"
#include "baton/tools/flag_files.h"
#include "baton/tools/flags.h"
#include "baton/tools/instruments.h"
#include "baton/tools/opt.h"
#include "baton/tools/run_main.h"
#include "baton/tools/run_options.h"
#include "baton/tools/simplify.h"
#include "baton/triage/interrupt.h"

namespace baton {
namespace {

constexpr char kVersion[] = "0.1.0";

// The flags that list what is inside.
struct ListOptions {
  bool list_passes = false;
  bool list_pipelines = false;
  bool list_ops = false;
  bool list_workloads = false;
  bool list_rules = false;
  bool check_rules = false;

  template <typename V>
  static void VisitFields(V& v) {
    v("list_passes", &ListOptions::list_passes,
      FlagSpec{.help = "The passes, with their options.", .group = kListFlags});
    v("list_pipelines", &ListOptions::list_pipelines,
      FlagSpec{.help = "The named pipelines, with the reasons for their parts.",
               .group = kListFlags});
    v("list_ops", &ListOptions::list_ops,
      FlagSpec{.help = "The operators.", .group = kListFlags});
    v("list_workloads", &ListOptions::list_workloads,
      FlagSpec{.help = "The workloads, with their options.",
               .group = kListFlags});
    v("list_rules", &ListOptions::list_rules,
      FlagSpec{.help = "The rules of the pass Rewrite, as text.",
               .group = kListFlags});
    v("check_rules", &ListOptions::check_rules,
      FlagSpec{.help = "Tries the laws of these rules.", .group = kListFlags});
  }
};

// These are Abseil's, and shown under kListFlags.
constexpr const char* kAbseilFlags[] = {"help", "version"};

absl::StatusOr<FlagSet> OwnFlags() {
  FlagSet flags;
  for (const std::vector<Flag>* own :
       {&FlagsOf<RunOptions>(), &FlagsOf<OptOptions>(), &FlagsOf<ListOptions>(),
        &FlagsOf<SimplifyOptions>()}) {
    BATON_RETURN_IF_ERROR(flags.Add(*own, "baton-opt"));
  }
  return flags;
}

// With the flags of registered instruments.
absl::StatusOr<FlagSet> AllFlags() {
  BATON_ASSIGN_OR_RETURN(FlagSet flags, OwnFlags());
  BATON_RETURN_IF_ERROR(AddInstrumentFlags(flags));
  return flags;
}

// Flags of this program that ABSL_FLAG defines, but for Abseil's own.
std::vector<const absl::CommandLineFlag*> OtherFlags() {
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

std::string ProgramName(absl::string_view path) {
  const std::vector<std::string> parts = absl::StrSplit(path, '/');
  return parts.back();
}

// The help of a flag that takes a value may begin with `=` and what the value
// is.
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

std::string Help(const FlagSet& flags, absl::string_view program) {
  std::string help = absl::StrCat(
      "Runs compiler passes over modules.\n\n  ", program,
      " [INPUT] [flags]    INPUT: a text file, a .baton or .onnx file, or "
      "- for standard input\n");
  for (const char* group : {kInputFlags, kPassFlags, kOutputFlags, kReportFlags,
                            kFaultFlags, kListFlags}) {
    absl::StrAppend(&help, "\n", group, ":\n", flags.Help(group));
  }
  for (const char* name : kAbseilFlags) {
    absl::StrAppend(&help, "  --", name, "\n");
  }
  return help;
}

// The help, including the flags that libraries add.
std::string WholeHelp(const FlagSet& flags, absl::string_view program) {
  std::string help = Help(flags, program);
  for (const std::string& name : Instruments().Names()) {
    const InstrumentFactory* factory = Instruments().Find(name);
    if (factory == nullptr || factory->flags().empty()) continue;
    const std::string heading = InstrumentHeading(name, *factory);
    absl::StrAppend(&help, "\n", heading, "\n", flags.Help(heading));
  }
  const std::vector<const absl::CommandLineFlag*> others = OtherFlags();
  if (!others.empty()) help += "\nOf this program:\n";
  for (const absl::CommandLineFlag* flag : others) help += HelpOf(*flag);
  return help;
}

// An error if `arg` is a flag that neither `flags` nor Abseil knows.
absl::Status CheckKnown(const FlagSet& flags, absl::string_view arg) {
  const auto is_known = [&flags](absl::string_view name) {
    return flags.Find(name) != nullptr ||
           absl::FindCommandLineFlag(name) != nullptr;
  };
  absl::string_view name = arg;
  if (!absl::ConsumePrefix(&name, "-")) return absl::OkStatus();
  absl::ConsumePrefix(&name, "-");
  name = name.substr(0, name.find('='));
  // `-` is standard input, and `-1` the value of the flag before it.
  if (name.empty() ||
      absl::ascii_isdigit(static_cast<unsigned char>(name[0])) ||
      is_known(name)) {
    return absl::OkStatus();
  }
  absl::string_view positive = name;
  if (absl::ConsumePrefix(&positive, "no") && is_known(positive)) {
    return absl::OkStatus();
  }
  std::vector<std::string> names = flags.Names();
  for (const absl::CommandLineFlag* flag : OtherFlags()) {
    names.emplace_back(flag->Name());
  }
  names.insert(names.end(), std::begin(kAbseilFlags), std::end(kAbseilFlags));
  return absl::InvalidArgumentError(absl::StrCat(
      "unknown flag ", arg.substr(0, arg.find('=')), DidYouMean(name, names)));
}

struct CommandLine {
  bool help = false;
  bool version = false;
};

// Looks for what comes before all else: questions and unknown flags.
absl::StatusOr<CommandLine> Scan(const FlagSet& flags,
                                 const std::vector<Argument>& args) {
  CommandLine result;
  for (const Argument& arg : args) {
    const std::string& text = arg.text;
    if (text == "--") break;
    if (text == "--help" || text == "-help" || text == "-h") result.help = true;
    if (text == "--version" || text == "-version") result.version = true;
    if (result.help || result.version) break;
    const absl::Status known = CheckKnown(flags, text);
    if (!known.ok()) {
      return absl::Status(known.code(),
                          absl::StrCat(arg.where, known.message()));
    }
  }
  return result;
}

absl::StatusOr<OptOptions> OptionsOf(const AttrMap& values) {
  OptOptions options;
  BATON_RETURN_IF_ERROR(AssignFlags(values, &options));
  BATON_RETURN_IF_ERROR(AssignFlags(values, &options.run));
  for (const auto& [name, value] : values) {
    options.given.push_back(name);
    if (FieldsOf<OptOptions>().Find(name) == nullptr &&
        FieldsOf<RunOptions>().Find(name) == nullptr &&
        FieldsOf<ListOptions>().Find(name) == nullptr &&
        FieldsOf<SimplifyOptions>().Find(name) == nullptr) {
      options.run.instrument_flags.emplace_back(name, value);
    }
  }
  return options;
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

// Lists what is asked for; false if nothing is.
absl::StatusOr<bool> List(const AttrMap& values) {
  ListOptions options;
  BATON_RETURN_IF_ERROR(AssignFlags(values, &options));
  if (options.list_passes) ListPasses(std::cout);
  if (options.list_pipelines) ListPipelines(std::cout);
  if (options.list_ops) ListOps(std::cout);
  if (options.list_workloads) ListWorkloads(std::cout);
  RunOptions run;
  BATON_RETURN_IF_ERROR(AssignFlags(values, &run));
  if (options.list_rules) {
    BATON_RETURN_IF_ERROR(ListRules(run.rules, std::cout));
  }
  if (options.check_rules) {
    BATON_RETURN_IF_ERROR(CheckRules(run.rules, std::cout));
  }
  return options.list_passes || options.list_pipelines || options.list_ops ||
         options.list_workloads || options.list_rules || options.check_rules;
}

// The exit code.
absl::StatusOr<int> Main(const std::string& program,
                         absl::Span<const absl::string_view> raw_args) {
  BATON_RETURN_IF_ERROR(RegistrationErrors());
  BATON_ASSIGN_OR_RETURN(const FlagSet flags, AllFlags());
  BATON_ASSIGN_OR_RETURN(const std::vector<Argument> args,
                         ExpandFlagFiles(raw_args));
  BATON_ASSIGN_OR_RETURN(const CommandLine command, Scan(flags, args));
  if (command.help) {
    std::cout << WholeHelp(flags, program);
    return 0;
  }
  if (command.version) {
    std::cout << program << " (Baton " << kVersion << ")\n";
    return 0;
  }
  absl::StatusOr<ParsedFlags> parsed = flags.Parse(args);
  if (!parsed.ok()) {
    // As Abseil says it of flags of ABSL_FLAG.
    for (const absl::string_view line :
         absl::StrSplit(parsed.status().message(), '\n')) {
      std::cerr << "ERROR: " << line << "\n";
    }
    return 1;
  }
  const std::vector<std::string> positional =
      ParseAbseilFlags(program, std::move(parsed->rest));
  if (positional.size() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("unexpected argument \"", positional[1],
                     "\" after the input ", positional[0], " (see --help)"));
  }
  BATON_ASSIGN_OR_RETURN(const bool listed, List(parsed->values));
  if (listed) return 0;
  SimplifyOptions simplify;
  const bool given = std::any_of(
      parsed->values.begin(), parsed->values.end(),
      [](const auto& entry) { return entry.first == "simplifier"; });
  BATON_RETURN_IF_ERROR(AssignFlags(parsed->values, &simplify));
  BATON_ASSIGN_OR_RETURN(const bool simplified,
                         RunSimplify(simplify, given, std::cout));
  if (simplified) return 0;

  BATON_ASSIGN_OR_RETURN(OptOptions options, OptionsOf(parsed->values));
  if (!positional.empty()) options.input = positional[0];
  options.program = program;
  options.progress = isatty(STDERR_FILENO) != 0;
  BATON_RETURN_IF_ERROR(Opt(options, {std::cin, std::cout, std::cerr}));
  return 0;
}

}  // namespace

int OptMain(int argc, char** argv) {
  return RunMain("baton-opt", [argc, argv] {
    const std::vector<absl::string_view> args(argv, argv + argc);
    const std::string program =
        ProgramName(args.empty() ? "baton-opt" : args.front());
    const absl::StatusOr<int> code =
        Main(program, absl::MakeConstSpan(args).subspan(args.empty() ? 0 : 1));
    if (code.ok()) return *code;
    const std::string message = PrintableLines(code.status().message());
    std::cerr << program << ": "
              << (message.empty() ? "out of memory" : message) << "\n";
    return InterruptGuard::FailureExitCode();
  });
}

std::string OptHelp() {
  const absl::StatusOr<FlagSet> flags = OwnFlags();
  return flags.ok() ? Help(*flags, "baton-opt")
                    : std::string(flags.status().message());
}

}  // namespace baton
