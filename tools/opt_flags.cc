#include "baton/tools/opt_flags.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/fields.h"
#include "baton/base/flags.h"
#include "baton/base/status_macros.h"
#include "baton/instrument/instrument_registry.h"
#include "baton/tools/files.h"
#include "baton/tools/opt.h"
#include "baton/tools/opt_output.h"
#include "baton/tools/prepared_run.h"
#include "baton/tools/run_options.h"

namespace baton {
namespace {

// The name of a flag that was given with another value than its default; null
// if none of `flags` was.
const char* FirstGiven(const OptOptions& options,
                       const std::vector<const char*>& flags) {
  for (const char* flag : flags) {
    if (std::find(options.given.begin(), options.given.end(), flag) ==
        options.given.end()) {
      continue;
    }
    const Field* field = FieldsOf<OptOptions>().Find(flag);
    const bool is_default =
        field != nullptr
            ? FieldsOf<OptOptions>().IsDefault(*field, &options)
            : FieldsOf<RunOptions>().IsDefault(
                  *FieldsOf<RunOptions>().Find(flag), &options.run);
    if (!is_default) return flag;
  }
  return nullptr;
}

absl::Status Needs(absl::string_view flag, absl::string_view other) {
  return absl::InvalidArgumentError(
      absl::StrCat("--", flag, ": needs ", other));
}

// The files that a run writes, as pairs of a flag and a path; empty for those
// that are not given.
std::vector<std::pair<std::string, std::string>> FilesWritten(
    const OptOptions& options) {
  std::vector<std::pair<std::string, std::string>> files = {
      {"--output", options.output}, {"--report", options.report}};
  for (const auto& [name, value] : options.report_flags) {
    const Flag* flag = FindInstrumentFlag(name);
    const auto* file = value.As<std::string>();
    if (flag != nullptr && flag->spec.value == "FILE" && file != nullptr) {
      files.emplace_back(absl::StrCat("--", name), *file);
    }
  }
  if (options.onnx_external_data && !options.output.empty()) {
    files.emplace_back("the data of --output",
                       absl::StrCat(options.output, ".data"));
  }
  files.emplace_back("--reproducer", options.reproducer);
  return files;
}

// The files that flags name and a run reads, but for the input.
std::vector<std::string> FilesRead(const OptOptions& options) {
  std::vector<std::string> files = {options.resume, options.run.inputs,
                                    options.run.expect, options.run.schedule};
  files.insert(files.end(), options.run.rules.begin(), options.run.rules.end());
  return files;
}

// The files that a run reads and that flags do not name.
std::vector<std::string> FurtherFilesRead(const OptJob& job) {
  std::vector<std::string> files = job.further_files;
  files.push_back(job.prepared.run.inputs);
  files.push_back(job.prepared.run.expect);
  return files;
}

}  // namespace

absl::Status CheckFlagsTogether(const OptOptions& options) {
  struct Rule {
    std::vector<const char*> flags;
    bool is_met;
    const char* needs;
  };
  const bool has_triage = !options.triage.empty();
  const Rule rules[] = {
      {{"onnx_opset", "onnx_external_data"},
       EmitOf(options) == "onnx",
       "--emit=onnx or --output=FILE.onnx"},
      {{"llvm_target", "line_table"},
       EmitOf(options) == "llvm",
       "--emit=llvm or --output=FILE.ll"},
      {{"kernel_costs"},
       EmitOf(options) == "executable",
       "--emit=executable or --output=FILE.exe"},
      {{"triage_memory_gb"}, has_triage, "--triage"},
      {{"triage_seconds"},
       has_triage || !options.reproducer.empty(),
       "--triage or --reproducer"},
      {{"start_after"}, !options.resume.empty(), "--resume"},
      {{"bind_params"}, !options.workload.empty(), "--workload"}};
  for (const Rule& rule : rules) {
    const char* flag = FirstGiven(options, rule.flags);
    if (flag != nullptr && !rule.is_met) return Needs(flag, rule.needs);
  }
  if (EmitOf(options) == "none" && !options.output.empty()) {
    return absl::InvalidArgumentError(
        "--output: nothing is written with --emit=none");
  }
  if (options.input.empty()) {
    const char* flag = FirstGiven(
        options, {"input_values", "split_input_file",
                  options.resume.empty() ? "input_values" : "input_shapes"});
    if (flag != nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", flag, ": needs a file of modules as the input"));
    }
  }
  if (options.verify_diagnostics) {
    const char* flag = FirstGiven(
        options, {"workload", "resume", "input_shapes", "input_values",
                  "output", "artifacts", "report", "reproducer", "triage"});
    if (flag == nullptr && !options.report_flags.empty()) {
      flag = options.report_flags[0].first.c_str();
    }
    if (flag != nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--", flag, ": has no effect beside --verify_diagnostics"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckRunFlags(const OptOptions& options,
                           const PreparedRun& prepared) {
  CheckingInstruments ignored;
  BATON_RETURN_IF_ERROR(AddCheckingInstruments(
      prepared, prepared.pipeline, [](absl::string_view /*text*/) {}, ignored));
  if (ChecksValues(prepared.run)) return absl::OkStatus();
  if (FirstGiven(options, {"expect"}) != nullptr) {
    return Needs("expect", "--check_values");
  }
  if (FirstGiven(options, {"inputs"}) != nullptr && options.triage.empty() &&
      options.reproducer.empty()) {
    return Needs("inputs", "--check_values, --triage or --reproducer");
  }
  return absl::OkStatus();
}

absl::Status CheckFiles(const OptOptions& options) {
  const std::vector<std::pair<std::string, std::string>> written =
      FilesWritten(options);
  BATON_RETURN_IF_ERROR(CheckDifferentFiles(written));
  // A result may take the place of its input, and so may a reproducer.
  std::vector<std::pair<std::string, std::string>> files = {
      {"the input", options.input}};
  for (const auto& file : written) {
    if (file.first != "--output" && file.first != "--reproducer") {
      files.push_back(file);
    }
  }
  BATON_RETURN_IF_ERROR(CheckDifferentFiles(files));
  return CheckNotRead(written, FilesRead(options));
}

absl::Status CheckFurtherFiles(const OptOptions& options, const OptJob& job) {
  OptOptions written = options;
  if (!options.output.empty() &&
      FileToWrite(options.output) == FileToWrite(options.input)) {
    written.onnx_external_data = false;
  }
  return CheckNotRead(FilesWritten(written), FurtherFilesRead(job));
}

absl::Status CheckArtifactFiles(const OptOptions& options, const OptJob& job,
                                absl::Span<const std::string> artifacts) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const std::string& path : artifacts) {
    files.emplace_back("--artifacts", path);
  }
  std::vector<std::string> read = FilesRead(options);
  const std::vector<std::string> further = FurtherFilesRead(job);
  read.insert(read.end(), further.begin(), further.end());
  read.push_back(options.input);
  BATON_RETURN_IF_ERROR(CheckNotRead(files, read));
  for (auto& file : FilesWritten(options)) files.push_back(std::move(file));
  return CheckDifferentFiles(files);
}

}  // namespace baton
