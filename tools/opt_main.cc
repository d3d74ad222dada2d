#include "baton/tools/opt_main.h"

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "absl/flags/commandlineflag.h"
#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/reflection.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "baton/ir/diagnostics.h"
#include "baton/tools/opt.h"

ABSL_FLAG(std::string, workload, "",
          "Built-in workload: 'resnet{num_layers=18,batch_size=1}'.");
ABSL_FLAG(bool, bind_params, false, "Bind the workload's weights.");
ABSL_FLAG(std::string, passes, "",
          "Pipeline: 'FoldConstant,ConvertLayout{desired_layouts="
          "{nn.conv2d:[NHWC,HWIO]}}'.");
ABSL_FLAG(int, opt_level, 2, "Sequences run the passes up to this level.");
ABSL_FLAG(std::vector<std::string>, disabled_pass, {},
          "Passes that sequences leave out.");
ABSL_FLAG(std::vector<std::string>, required_pass, {},
          "Passes that run whatever their level.");
ABSL_FLAG(std::string, config, "", "Settings: KEY=VALUE,KEY=VALUE.");
ABSL_FLAG(std::string, output, "", "Output file (default: stdout).");
ABSL_FLAG(std::string, emit, "text", "text, text-no-meta or none.");
ABSL_FLAG(std::string, timing, "none",
          "Where time went, to stderr: none, text or json.");
ABSL_FLAG(bool, op_diff, false,
          "How each pass changed the calls per operator, to stderr.");
ABSL_FLAG(bool, list_passes, false, "List the passes.");
ABSL_FLAG(bool, list_ops, false, "List the operators.");
ABSL_FLAG(bool, list_workloads, false, "List the workloads.");

namespace baton {
namespace {

constexpr absl::string_view kUsage =
    "Runs compiler passes over a module.\n\n"
    "  baton-opt --workload=WORKLOAD [--passes=PIPELINE] [flags]\n";

// The flags defined above, by name.
std::vector<const absl::CommandLineFlag*> OptFlags() {
  std::vector<const absl::CommandLineFlag*> flags;
  for (const auto& [name, flag] : absl::GetAllFlags()) {
    if (absl::EndsWith(flag->Filename(), "tools/opt_main.cc")) {
      flags.push_back(flag);
    }
  }
  std::sort(flags.begin(), flags.end(),
            [](const auto* a, const auto* b) { return a->Name() < b->Name(); });
  return flags;
}

// OK if `arg` is no flag, or a known one.
absl::Status CheckFlag(absl::string_view arg) {
  absl::string_view name = arg;
  if (!absl::ConsumePrefix(&name, "-")) return absl::OkStatus();
  absl::ConsumePrefix(&name, "-");
  name = name.substr(0, name.find('='));
  if (name.empty() || absl::FindCommandLineFlag(name) != nullptr) {
    return absl::OkStatus();
  }
  absl::string_view positive = name;
  if (absl::ConsumePrefix(&positive, "no") &&
      absl::FindCommandLineFlag(positive) != nullptr) {
    return absl::OkStatus();
  }
  std::vector<std::string> names;
  for (const auto* flag : OptFlags()) names.emplace_back(flag->Name());
  return absl::InvalidArgumentError(absl::StrCat(
      "unknown flag ", arg.substr(0, arg.find('=')), DidYouMean(name, names)));
}

void PrintHelp() {
  std::cout << kUsage << "\n";
  for (const absl::CommandLineFlag* flag : OptFlags()) {
    const std::string value = flag->DefaultValue();
    const bool is_switch = value == "false";
    const std::string name =
        is_switch || value.empty()
            ? absl::StrCat("--", flag->Name(), is_switch ? "" : "=...")
            : absl::StrCat("--", flag->Name(), "=", value);
    std::cout << absl::StrFormat("  %-22s %s\n", name, flag->Help());
  }
}

}  // namespace

int OptMain(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const absl::string_view arg = argv[i];
    if (arg == "--") break;
    if (arg == "--help" || arg == "-help" || arg == "-h") {
      PrintHelp();
      return 0;
    }
    const absl::Status known = CheckFlag(arg);
    if (!known.ok()) {
      std::cerr << "baton-opt: " << known.message() << "\n";
      return 1;
    }
  }
  absl::SetProgramUsageMessage(kUsage);
  const std::vector<char*> positional = absl::ParseCommandLine(argc, argv);
  if (positional.size() > 1) {
    std::cerr << "baton-opt: unexpected argument \"" << positional[1]
              << "\"; see --help\n";
    return 1;
  }
  if (absl::GetFlag(FLAGS_list_passes)) {
    ListPasses(std::cout);
    return 0;
  }
  if (absl::GetFlag(FLAGS_list_ops)) {
    ListOps(std::cout);
    return 0;
  }
  if (absl::GetFlag(FLAGS_list_workloads)) {
    ListWorkloads(std::cout);
    return 0;
  }
  OptOptions options;
  options.workload = absl::GetFlag(FLAGS_workload);
  options.bind_params = absl::GetFlag(FLAGS_bind_params);
  options.passes = absl::GetFlag(FLAGS_passes);
  options.opt_level = absl::GetFlag(FLAGS_opt_level);
  options.disabled_pass = absl::GetFlag(FLAGS_disabled_pass);
  options.required_pass = absl::GetFlag(FLAGS_required_pass);
  options.config = absl::GetFlag(FLAGS_config);
  options.output = absl::GetFlag(FLAGS_output);
  options.emit = absl::GetFlag(FLAGS_emit);
  options.timing = absl::GetFlag(FLAGS_timing);
  options.op_diff = absl::GetFlag(FLAGS_op_diff);
  const absl::Status status = Opt(options, std::cout, std::cerr);
  if (!status.ok()) {
    std::cerr << "baton-opt: " << status.message() << "\n";
    return 1;
  }
  return 0;
}

}  // namespace baton
