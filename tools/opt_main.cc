#include "baton/tools/opt_main.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/fields.h"
#include "baton/base/flags.h"
#include "baton/base/printable.h"
#include "baton/base/registry.h"
#include "baton/base/status_macros.h"
#include "baton/instrument/instrument_registry.h"
#include "baton/tools/command_line.h"
#include "baton/tools/lists.h"
#include "baton/tools/opt.h"
#include "baton/tools/reduced_test.h"
#include "baton/tools/run_options.h"
#include "baton/tools/simplify_lines.h"
#include "baton/tools/tool_main.h"
#include "baton/triage/interrupt.h"

namespace baton {
namespace {

// The flags that list what is inside.
struct ListOptions {
  std::vector<std::string> list_passes;
  bool list_properties = false;
  bool list_pipelines = false;
  bool list_ops = false;
  bool list_workloads = false;
  bool list_rules = false;
  bool check_rules = false;

  template <typename V>
  static void VisitFields(V& v) {
    v("list_passes", &ListOptions::list_passes,
      FlagSpec{
          .help = "Lists the passes with their options; or describes these.",
          .value = "NAME,NAME",
          .group = kListFlags,
          .value_optional = true});
    v("list_properties", &ListOptions::list_properties,
      FlagSpec{.help = "Lists the properties of programs that passes require.",
               .group = kListFlags});
    v("list_pipelines", &ListOptions::list_pipelines,
      FlagSpec{
          .help =
              "Lists the named pipelines, with the reasons for their parts.",
          .group = kListFlags});
    v("list_ops", &ListOptions::list_ops,
      FlagSpec{.help = "Lists the operators.", .group = kListFlags});
    v("list_workloads", &ListOptions::list_workloads,
      FlagSpec{.help = "Lists the workloads with their options.",
               .group = kListFlags});
    v("list_rules", &ListOptions::list_rules,
      FlagSpec{.help = "Prints the rules as text: those that belong to no "
                       "pass, then by pass.",
               .group = kListFlags});
    v("check_rules", &ListOptions::check_rules,
      FlagSpec{.help = "Checks the laws of the rules on programs made from "
                       "their patterns.",
               .group = kListFlags});
  }
};

absl::StatusOr<FlagSet> OwnFlags() {
  FlagSet flags;
  for (const std::vector<Flag>* own :
       {&FlagsOf<RunOptions>(), &FlagsOf<OptOptions>(), &FlagsOf<ListOptions>(),
        &FlagsOf<SimplifyOptions>()}) {
    BATON_RETURN_IF_ERROR(flags.Add(*own, "baton-opt"));
  }
  for (const InstrumentPhase phase :
       {InstrumentPhase::kSkipExecutions, InstrumentPhase::kSkip,
        InstrumentPhase::kTime, InstrumentPhase::kRecord,
        InstrumentPhase::kMeasure, InstrumentPhase::kPrint,
        InstrumentPhase::kCheckValues, InstrumentPhase::kCheck}) {
    BATON_RETURN_IF_ERROR(AddInstrumentFlags(flags, phase));
  }
  return flags;
}

std::string ProgramName(absl::string_view path) {
  const std::vector<std::string> parts = absl::StrSplit(path, '/');
  return parts.back();
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
  return absl::StrCat(help, "  --help\n  --version\n");
}

// The help, including the flags that libraries add.
std::string WholeHelp(const FlagSet& flags, absl::string_view program) {
  std::string help = Help(flags, program);
  for (const std::string& name : Instruments().Names()) {
    const InstrumentFactory* factory = Instruments().Find(name);
    if (factory == nullptr || factory->flags().empty() ||
        factory->phase() != InstrumentPhase::kRegistered) {
      continue;
    }
    const std::string heading = InstrumentHeading(name, *factory);
    absl::StrAppend(&help, "\n", heading, "\n", flags.Help(heading));
  }
  const std::string others = AbseilFlagsHelp();
  if (!others.empty()) absl::StrAppend(&help, "\nOf this program:\n", others);
  return help;
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
      (IsReport(PhaseOfFlag(name)) ? options.report_flags
                                   : options.run.instrument_flags)
          .emplace_back(name, value);
    }
  }
  return options;
}

// Prints the lists that the flags select; false if they select none.
absl::StatusOr<bool> List(const AttrMap& values) {
  ListOptions options;
  BATON_RETURN_IF_ERROR(AssignFlags(values, &options));
  RunOptions run;
  BATON_RETURN_IF_ERROR(AssignFlags(values, &run));
  bool has_list_passes = false;
  for (const auto& [name, value] : values) {
    has_list_passes = has_list_passes || name == "list_passes";
  }
  if (has_list_passes && options.list_passes.empty()) ListPasses(std::cout);
  BATON_RETURN_IF_ERROR(DescribePasses(options.list_passes, std::cout));
  if (options.list_properties) ListProperties(std::cout);
  if (options.list_pipelines) ListPipelines(std::cout);
  if (options.list_ops) ListOps(std::cout);
  if (options.list_workloads) ListWorkloads(std::cout);
  if (options.list_rules) {
    BATON_RETURN_IF_ERROR(ListRules(run.rules, std::cout));
  }
  if (options.check_rules) {
    BATON_RETURN_IF_ERROR(CheckRules(run.rules, std::cout));
  }
  return has_list_passes || options.list_properties || options.list_pipelines ||
         options.list_ops || options.list_workloads || options.list_rules ||
         options.check_rules;
}

absl::Status Main(const std::string& program,
                  absl::Span<const absl::string_view> args) {
  BATON_RETURN_IF_ERROR(RegistrationErrors());
  BATON_ASSIGN_OR_RETURN(FlagSet flags, OwnFlags());
  BATON_RETURN_IF_ERROR(AddInstrumentFlags(flags));
  BATON_ASSIGN_OR_RETURN(
      const ParsedCommandLine line,
      ReadCommandLine({.program = program,
                       .flags = &flags,
                       .help = [&] { return WholeHelp(flags, program); },
                       .has_abseil_flags = true},
                      args, std::cout));
  if (line.is_answered) return absl::OkStatus();
  std::vector<std::string> inputs = line.arguments;
  inputs.insert(inputs.end(), line.behind.begin(), line.behind.end());
  BATON_RETURN_IF_ERROR(CheckNumArguments(inputs, 1));
  BATON_ASSIGN_OR_RETURN(const bool listed, List(line.flags));
  if (listed) return absl::OkStatus();
  SimplifyOptions simplify;
  const bool names_simplifier =
      std::any_of(line.flags.begin(), line.flags.end(),
                  [](const auto& flag) { return flag.first == "simplifier"; });
  BATON_RETURN_IF_ERROR(AssignFlags(line.flags, &simplify));
  BATON_ASSIGN_OR_RETURN(const bool simplified,
                         RunSimplify(simplify, names_simplifier, std::cout));
  if (simplified) return absl::OkStatus();

  BATON_ASSIGN_OR_RETURN(OptOptions options, OptionsOf(line.flags));
  if (!inputs.empty()) options.input = inputs[0];
  options.program = program;
  options.command = program;
  for (const absl::string_view arg : args) {
    absl::StrAppend(&options.command, " ", ShellWord(arg));
  }
  options.progress = isatty(STDERR_FILENO) != 0;
  return Opt(options, {std::cin, std::cout, std::cerr});
}

}  // namespace

int OptMain(int argc, char** argv) {
  return RunTool("baton-opt", [argc, argv] {
    const std::vector<absl::string_view> args(argv, argv + argc);
    const std::string program =
        ProgramName(args.empty() ? "baton-opt" : args.front());
    const absl::Status status =
        Main(program, absl::MakeConstSpan(args).subspan(args.empty() ? 0 : 1));
    if (status.ok()) return 0;
    const std::string message = PrintableLines(status.message());
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
