// baton-run: runs a model, compares results and measures time.
//
// Exit code 0 if it ran and all comparisons succeeded; otherwise 1.

#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/backend/cpu/kernel_costs.h"
#include "baton/base/attr_value.h"
#include "baton/base/fields.h"
#include "baton/base/printable.h"
#include "baton/base/status_macros.h"
#include "baton/base/write_file.h"
#include "baton/tools/command_line.h"
#include "baton/tools/heap.h"
#include "baton/tools/measure_kernels.h"
#include "baton/tools/run_model.h"
#include "baton/tools/tool_main.h"

namespace baton {
namespace {

constexpr char kUsage[] =
    "Runs a model, compares and measures.\n\n"
    "  baton-run MODEL [flags]    MODEL: a text, .baton, .onnx or .exe file, "
    "or "
    "a folder\n"
    "                             with model.onnx and test_data_set_0 ...\n\n";

// An error if a flag that is given has no effect beside the others.
absl::Status CheckFlagsTogether(const AttrMap& given,
                                const RunModelOptions& options) {
  const bool compares = !options.expect.empty() || !options.against.empty() ||
                        std::filesystem::is_directory(options.model);
  const struct {
    absl::string_view flag;
    bool acts;
    absl::string_view needs;
  } rules[] = {
      {"seed", options.random_inputs, "--random_inputs"},
      {"rtol", compares, "--expect, --against or a folder with data sets"},
      {"atol", compares, "--expect, --against or a folder with data sets"},
      {"warmup", options.bench > 0 || !options.profile.empty(),
       "--bench or --profile"},
      {"kernel_costs",
       options.executor == "cpu" ||
           (options.executor.empty() &&
            (options.bench > 0 || !options.profile.empty() ||
             !options.plan.empty() || !options.shadow.empty())),
       "--executor=cpu"},
      {"opt_level", !options.passes.empty(), "--passes"}};
  const FieldList& fields = FieldsOf<RunModelOptions>();
  for (const auto& rule : rules) {
    for (const auto& [flag, value] : given) {
      if (flag != rule.flag || rule.acts ||
          fields.IsDefault(*fields.Find(flag), &options)) {
        continue;
      }
      return absl::InvalidArgumentError(
          absl::StrCat("--", flag, ": needs ", rule.needs));
    }
  }
  return absl::OkStatus();
}

// Writes the table of --measure_kernels.
absl::Status WriteMeasuredKernels(const std::string& path) {
  BATON_ASSIGN_OR_RETURN(const cpu::KernelCosts costs, MeasureKernels({}));
  return WriteFileAtomically(path, costs.ToString());
}

absl::StatusOr<bool> Main(const std::vector<absl::string_view>& args) {
  // Results come and go: to ask the system for pages anew takes longer than
  // most operators.
  KeepFreedMemory();
  RunModelOptions options;
  BATON_ASSIGN_OR_RETURN(
      const ParsedCommandLine line,
      ReadCommandLine("baton-run", kUsage, args, std::cout, &options));
  if (line.is_answered) return true;
  BATON_RETURN_IF_ERROR(CheckNumArguments(line.arguments, 1));
  if (!line.arguments.empty()) options.model = line.arguments[0];
  if (!options.measure_kernels.empty()) {
    if (line.flags.size() > 1 || !options.model.empty()) {
      return absl::InvalidArgumentError(
          "--measure_kernels: measures without a model or other flags");
    }
    BATON_RETURN_IF_ERROR(WriteMeasuredKernels(options.measure_kernels));
    return true;
  }
  if (options.model.empty() == options.workload.empty()) {
    return absl::InvalidArgumentError(
        options.model.empty()
            ? "nothing to do: give a model or --workload=WORKLOAD (see --help)"
            : absl::StrCat("both ", options.model,
                           " and --workload=", options.workload, " are given"));
  }
  BATON_RETURN_IF_ERROR(CheckFlagsTogether(line.flags, options));
  options.notes = &std::cerr;
  options.progress = isatty(STDERR_FILENO) != 0;
  return RunModel(options, std::cout);
}

}  // namespace
}  // namespace baton

int main(int argc, char** argv) {
  return baton::RunTool("baton-run", [argc, argv] {
    const absl::StatusOr<bool> holds =
        baton::Main({argv + (argc > 0 ? 1 : 0), argv + argc});
    if (holds.ok()) return *holds ? 0 : 1;
    std::cerr << "baton-run: "
              << baton::PrintableLines(holds.status().message()) << "\n";
    return 1;
  });
}
