#include "baton/tools/opt.h"

#include <cstdio>
#include <fstream>
#include <memory>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "baton/instrument/op_differ.h"
#include "baton/instrument/timing.h"
#include "baton/ir/attr_value.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/expr.h"
#include "baton/ir/fields.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/status_macros.h"
#include "baton/ir/text_printer.h"
#include "baton/relay/bind.h"
#include "baton/runtime/kernel.h"
#include "baton/testing/workload.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"
#include "baton/transform/pipeline.h"
#include "baton/transform/pipeline_value.h"

namespace baton {
namespace {

absl::Status CheckChoice(absl::string_view flag, const std::string& value,
                         const std::vector<std::string>& choices) {
  for (const std::string& choice : choices) {
    if (value == choice) return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "--", flag, "=", value, ": unknown value", DidYouMean(value, choices),
      " (expected one of ", absl::StrJoin(choices, ", "), ")"));
}

absl::Status CheckPassNames(absl::string_view flag,
                            const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    absl::Status status = PassRegistry::Global().Info(name).status();
    if (!status.ok()) {
      return absl::Status(status.code(),
                          absl::StrCat("--", flag, ": ", status.message()));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<IRModule> LoadModule(const OptOptions& options) {
  if (options.workload.empty()) {
    return absl::InvalidArgumentError(
        "nothing to do: give --workload=WORKLOAD (see --list_workloads)");
  }
  if (!options.bind_params) {
    return testing::GetWorkloadModule(options.workload);
  }
  BATON_ASSIGN_OR_RETURN(testing::Workload workload,
                         testing::GetWorkload(options.workload));
  BATON_ASSIGN_OR_RETURN(
      Function bound,
      relay::BindParamsByName(workload.module.Find("main"), workload.params));
  workload.module.Set("main", std::move(bound));
  return workload.module;
}

// Writes a file that appears whole or not at all.
absl::Status WriteFileAtomically(const std::string& path,
                                 const std::string& content) {
  const std::string temporary = path + ".tmp";
  std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
  if (!file) {
    return absl::PermissionDeniedError(absl::StrCat("cannot write ", path));
  }
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  if (!file || std::rename(temporary.c_str(), path.c_str()) != 0) {
    std::remove(temporary.c_str());
    return absl::UnavailableError(absl::StrCat("cannot write ", path));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Opt(const OptOptions& options, std::ostream& out,
                 std::ostream& reports) {
  BATON_RETURN_IF_ERROR(
      CheckChoice("emit", options.emit, {"text", "text-no-meta", "none"}));
  BATON_RETURN_IF_ERROR(
      CheckChoice("timing", options.timing, {"none", "text", "json"}));
  BATON_RETURN_IF_ERROR(CheckPassNames("disabled_pass", options.disabled_pass));
  BATON_RETURN_IF_ERROR(CheckPassNames("required_pass", options.required_pass));
  BATON_ASSIGN_OR_RETURN(AttrMap config,
                         ParseKeyValues(options.config, "--config"));
  BATON_ASSIGN_OR_RETURN(
      const Pass pipeline,
      ParsePipeline(options.passes, PassRegistry::Global(), "--passes"));
  BATON_ASSIGN_OR_RETURN(IRModule module, LoadModule(options));

  const auto timing = std::make_shared<PassTimingInstrument>();
  const auto differ = std::make_shared<OpDiffer>();
  PassInstruments instruments;
  if (options.op_diff) instruments.push_back(differ);
  if (options.timing != "none") instruments.push_back(timing);
  std::ostringstream report;
  if (!options.passes.empty()) {
    const PassContext context({.opt_level = options.opt_level,
                               .required_pass = options.required_pass,
                               .disabled_pass = options.disabled_pass,
                               .config = std::move(config),
                               .instruments = std::move(instruments)});
    BATON_RETURN_IF_ERROR(context.Run([&]() -> absl::Status {
      BATON_ASSIGN_OR_RETURN(module, pipeline(module));
      if (options.op_diff) report << differ->ToString();
      if (options.timing == "text") {
        BATON_ASSIGN_OR_RETURN(const std::string profile, timing->Render());
        report << profile;
      } else if (options.timing == "json") {
        BATON_ASSIGN_OR_RETURN(const std::string profile, timing->RenderJson());
        report << profile;
      }
      return absl::OkStatus();
    }));
  }
  if (options.emit != "none") {
    std::string text = AsText(module, {.metadata = options.emit == "text"});
    if (text.empty() || text.back() != '\n') text += '\n';
    if (options.output.empty()) {
      out << text << std::flush;
      if (!out) return absl::UnavailableError("cannot write the output");
    } else {
      BATON_RETURN_IF_ERROR(WriteFileAtomically(options.output, text));
    }
  }
  reports << report.str() << std::flush;
  return absl::OkStatus();
}

namespace {

std::string FieldsToString(const FieldList* fields) {
  if (fields == nullptr) return "";
  std::string result;
  for (const auto& field : fields->fields()) {
    absl::StrAppend(&result, result.empty() ? "" : ",", field->name(), "=",
                    field->required()
                        ? absl::StrCat("<", field->type_name(), ">")
                        : field->Get(fields->default_object()).ToString());
  }
  return absl::StrCat("{", result, "}");
}

}  // namespace

void ListPasses(std::ostream& out) {
  const PassRegistry& registry = PassRegistry::Global();
  for (const std::string& name : registry.Names()) {
    const absl::StatusOr<PassInfo> info = registry.Info(name);
    const absl::StatusOr<PassFactory> factory = registry.Factory(name);
    if (!info.ok() || !factory.ok()) {
      out << name << "  " << info.status().message() << "\n";
      continue;
    }
    out << absl::StrFormat("%-26s level %d  %s %s\n", name, info->opt_level,
                           info->doc, FieldsToString(factory->options()));
  }
}

void ListOps(std::ostream& out) {
  for (const OpNode* op : OpRegistry::Global().List()) {
    out << absl::StrFormat("%-34s %s%s\n", op->name(), op->doc(),
                           Kernels().Get(*op) == nullptr ? " (no kernel)" : "");
  }
}

void ListWorkloads(std::ostream& out) {
  for (const testing::WorkloadInfo& info : testing::ListWorkloads()) {
    out << absl::StrFormat("%-12s %s\n", info.name, info.doc);
    for (const auto& field : info.options->fields()) {
      out << absl::StrFormat(
          "  %s=%s  %s\n", field->name(),
          field->Get(info.options->default_object()).ToString(), field->doc());
    }
  }
}

}  // namespace baton
