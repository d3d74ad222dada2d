#include "baton/tools/reduce_main.h"

#include <iostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/flags.h"
#include "baton/base/printable.h"
#include "baton/base/registry.h"
#include "baton/base/status_macros.h"
#include "baton/instrument/instrument_registry.h"
#include "baton/tools/command_line.h"
#include "baton/tools/opt.h"
#include "baton/tools/reduce_tool.h"
#include "baton/tools/run_options.h"
#include "baton/tools/tool_main.h"
#include "baton/triage/interrupt.h"

namespace baton {
namespace {

constexpr char kUsage[] =
    "Finds the smallest program and the shortest pipeline that still fail.\n\n"
    "  baton-reduce INPUT --passes=PIPELINE\n"
    "               (--fails[=RE] | --differs | --crashes | --test=COMMAND) "
    "--output=FILE\n\n"
    "INPUT is an input of baton-opt, such as a reproducer. The result is an IR "
    "test with\nRUN and CHECK lines.\n";

// The flags of baton-opt that define the input.
const std::vector<Flag>& InputFlags() {
  static const auto* const kFlags = [] {
    auto* flags = new std::vector<Flag>();
    for (const Flag& flag : FlagsOf<OptOptions>()) {
      if (flag.spec.group == kInputFlags && flag.name != "split_input_file") {
        flags->push_back(flag);
      }
    }
    return flags;
  }();
  return *kFlags;
}

absl::StatusOr<FlagSet> AllFlags() {
  FlagSet flags;
  for (const std::vector<Flag>* own :
       {&FlagsOf<ReduceToolOptions>(), &InputFlags(), &FlagsOf<RunOptions>()}) {
    BATON_RETURN_IF_ERROR(flags.Add(*own, "baton-reduce"));
  }
  for (const InstrumentPhase phase :
       {InstrumentPhase::kSkipExecutions, InstrumentPhase::kSkip,
        InstrumentPhase::kCheckValues, InstrumentPhase::kCheck,
        InstrumentPhase::kRegistered}) {
    BATON_RETURN_IF_ERROR(AddInstrumentFlags(flags, phase));
  }
  return flags;
}

std::string Help(const FlagSet& flags) {
  std::string help = kUsage;
  for (const char* heading :
       {kOracleFlags, kReduceFlags, kInputFlags, kPassFlags, kFaultFlags}) {
    absl::StrAppend(&help, "\n", heading, ":\n", flags.Help(heading));
  }
  return help;
}

absl::Status Main(const std::vector<absl::string_view>& args) {
  BATON_RETURN_IF_ERROR(RegistrationErrors());
  BATON_ASSIGN_OR_RETURN(const FlagSet flags, AllFlags());
  BATON_ASSIGN_OR_RETURN(const ParsedCommandLine line,
                         ReadCommandLine({.program = "baton-reduce",
                                          .flags = &flags,
                                          .help = [&] { return Help(flags); }},
                                         args, std::cout));
  if (line.is_answered) return absl::OkStatus();
  BATON_RETURN_IF_ERROR(CheckNumArguments(line.arguments, 1));
  OptOptions input;
  if (!line.arguments.empty()) input.input = line.arguments[0];
  ReduceToolOptions options;
  AttrMap of_input;
  AttrMap of_tool;
  for (const auto& [name, value] : line.flags) {
    if (FieldsOf<ReduceToolOptions>().Find(name) != nullptr) {
      of_tool.emplace_back(name, value);
      if (name == "fails") options.wants_error = true;
      continue;
    }
    input.given.push_back(name);
    if (FieldsOf<OptOptions>().Find(name) != nullptr ||
        FieldsOf<RunOptions>().Find(name) != nullptr) {
      of_input.emplace_back(name, value);
    } else {
      input.run.instrument_flags.emplace_back(name, value);
    }
  }
  BATON_RETURN_IF_ERROR(AssignFlags(of_tool, &options));
  BATON_RETURN_IF_ERROR(AssignFlags(of_input, &input));
  BATON_RETURN_IF_ERROR(AssignFlags(of_input, &input.run));
  return ReduceTool(input, options, {std::cin, std::cout, std::cerr});
}

}  // namespace

int ReduceMain(int argc, char** argv) {
  return RunTool("baton-reduce", [argc, argv] {
    const absl::Status status = Main({argv + (argc > 0 ? 1 : 0), argv + argc});
    if (status.ok()) return 0;
    std::cerr << "baton-reduce: " << PrintableLines(status.message()) << "\n";
    return InterruptGuard::FailureExitCode();
  });
}

}  // namespace baton
