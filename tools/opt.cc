#include "baton/tools/opt.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "baton/instrument/bisect.h"
#include "baton/instrument/dump.h"
#include "baton/instrument/op_differ.h"
#include "baton/instrument/print_ir.h"
#include "baton/instrument/timing.h"
#include "baton/instrument/verify.h"
#include "baton/ir/attr_value.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/expr.h"
#include "baton/ir/fields.h"
#include "baton/ir/infer_type.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/status_macros.h"
#include "baton/ir/text_printer.h"
#include "baton/relay/bind.h"
#include "baton/runtime/kernel.h"
#include "baton/testing/workload.h"
#include "baton/tools/files.h"
#include "baton/tools/input.h"
#include "baton/tools/run_options.h"
#include "baton/transform/function_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"
#include "baton/transform/pipeline.h"
#include "baton/transform/pipeline_value.h"

namespace baton {
namespace {

constexpr char kStandardStream[] = "-";

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

absl::StatusOr<IRModule> LoadWorkload(const OptOptions& options) {
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

bool IsWorkload(absl::string_view text) {
  for (const testing::WorkloadInfo& info : testing::ListWorkloads()) {
    if (text.substr(0, text.find('{')) == info.name) return true;
  }
  return false;
}

// The modules to run passes over, and how.
struct Job {
  std::string name;  // of the input, for messages
  std::vector<InputModule> modules;
  RunOptions run;
};

absl::StatusOr<Job> ReadInput(const OptOptions& options,
                              const OptStreams& streams) {
  Job job;
  job.run = options.run;
  const bool from_stream = options.input == kStandardStream;
  job.name = from_stream ? "<stdin>" : options.input;
  absl::StatusOr<std::string> content =
      from_stream ? ReadStream(streams.in, job.name) : ReadFile(options.input);
  if (absl::IsNotFound(content.status()) && IsWorkload(options.input)) {
    return absl::NotFoundError(
        absl::StrCat("there is no file ", options.input,
                     "; did you mean --workload=", options.input, "?"));
  }
  BATON_RETURN_IF_ERROR(content.status());
  if (FormatOf(*content, job.name) == InputFormat::kBinary) {
    return absl::UnimplementedError(absl::StrCat(
        job.name, " is in the binary format, which is not supported"));
  }
  Diagnostics diagnostics;
  job.modules = ParseModules(*std::move(content), job.name,
                             options.split_input_file, diagnostics);
  if (!diagnostics.list().empty()) {
    streams.reports << diagnostics.ToString() << "\n" << std::flush;
  }
  if (const int n = diagnostics.num_errors(); n > 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(n, n == 1 ? " error" : " errors", " in ", job.name));
  }
  return job;
}

absl::StatusOr<Job> LoadInput(const OptOptions& options,
                              const OptStreams& streams) {
  if (options.input.empty() == options.workload.empty()) {
    return absl::InvalidArgumentError(
        options.input.empty()
            ? "nothing to do: give a file, - or --workload=WORKLOAD (see "
              "--help)"
            : absl::StrCat("both ", options.input,
                           " and --workload=", options.workload, " are given"));
  }
  if (!options.input.empty()) {
    if (options.bind_params) {
      return absl::InvalidArgumentError(
          "--bind_params: only workloads have weights to bind");
    }
    return ReadInput(options, streams);
  }
  BATON_ASSIGN_OR_RETURN(IRModule module, LoadWorkload(options));
  return Job{options.workload, {{.module = std::move(module)}}, options.run};
}

absl::StatusOr<AttrMap> Config(const RunOptions& run) {
  BATON_ASSIGN_OR_RETURN(AttrMap config,
                         ParseKeyValues(run.config, "--config"));
  const std::string& threads = ThreadsConfig().name();
  const bool is_set = std::any_of(
      config.begin(), config.end(),
      [&threads](const auto& setting) { return setting.first == threads; });
  if (!is_set) config.emplace_back(threads, run.threads);
  return config;
}

// Who watches the passes, as the options ask.
class Watch {
 public:
  // `folder`: in that of options.dump_dir; may be empty.
  static absl::StatusOr<Watch> Create(const OptOptions& options,
                                      const RunOptions& run,
                                      absl::string_view folder,
                                      std::ostream& reports);

  const PassInstruments& instruments() const { return instruments_; }

  // Whether there will be anything to read.
  bool talks() const { return talks_; }

  // What is to be said when the passes have run; the context must not have
  // exited.
  absl::StatusOr<std::string> Report() const;

 private:
  PassInstruments instruments_;
  std::shared_ptr<BisectInstrument> bisect_;
  std::shared_ptr<PassTimingInstrument> timing_;
  std::shared_ptr<OpDiffer> differ_;
  bool json_ = false;
  bool talks_ = false;
};

absl::StatusOr<Watch> Watch::Create(const OptOptions& options,
                                    const RunOptions& run,
                                    absl::string_view folder,
                                    std::ostream& reports) {
  Watch watch;
  watch.json_ = options.timing == "json";
  if (run.bisect_limit >= 0) {
    watch.bisect_ = std::make_shared<BisectInstrument>(run.bisect_limit);
    watch.instruments_.push_back(watch.bisect_);
  }
  // What the others do after a pass takes none of its time.
  if (options.timing != "none") {
    watch.timing_ = std::make_shared<PassTimingInstrument>();
    watch.instruments_.push_back(watch.timing_);
  }
  if (options.op_diff) {
    watch.differ_ = std::make_shared<OpDiffer>();
    watch.instruments_.push_back(watch.differ_);
  }
  watch.talks_ = !watch.instruments_.empty();
  using Changed = PrintIrOptions::Changed;
  PrintIrOptions print = {
      .before = options.print_before,
      .after = options.print_after,
      .changed = options.print_changed == "full"   ? Changed::kFull
                 : options.print_changed == "diff" ? Changed::kDiff
                                                   : Changed::kNone,
      .out = &reports};
  if (!print.before.empty() || !print.after.empty() ||
      print.changed != Changed::kNone) {
    BATON_ASSIGN_OR_RETURN(auto printer,
                           PrintIrInstrument::Create(std::move(print)));
    watch.instruments_.push_back(std::move(printer));
    watch.talks_ = true;
  }
  if (!options.dump_dir.empty()) {
    watch.instruments_.push_back(std::make_shared<DumpInstrument>(
        absl::StrCat(options.dump_dir, folder.empty() ? "" : "/", folder)));
  }
  // Those that may find fault come last: the others have seen the culprit.
  if (run.verify_each) {
    watch.instruments_.push_back(std::make_shared<VerifyInstrument>());
  }
  return watch;
}

absl::StatusOr<std::string> Watch::Report() const {
  std::string report;
  if (differ_ != nullptr) report = differ_->ToString();
  if (bisect_ != nullptr) absl::StrAppend(&report, bisect_->ToString());
  if (timing_ != nullptr) {
    BATON_ASSIGN_OR_RETURN(const std::string profile,
                           json_ ? timing_->RenderJson() : timing_->Render());
    report += profile;
  }
  return report;
}

// Runs the pipeline over one module.
absl::StatusOr<IRModule> RunPasses(IRModule module, const Pass& pipeline,
                                   const RunOptions& run, const Watch& watch,
                                   std::ostream& reports) {
  BATON_ASSIGN_OR_RETURN(AttrMap config, Config(run));
  const PassContext context({.opt_level = run.opt_level,
                             .required_pass = run.required_pass,
                             .disabled_pass = run.disabled_pass,
                             .config = std::move(config),
                             .instruments = watch.instruments()});
  return context.Run([&]() -> absl::StatusOr<IRModule> {
    BATON_ASSIGN_OR_RETURN(module, pipeline(std::move(module)));
    BATON_ASSIGN_OR_RETURN(const std::string report, watch.Report());
    reports << report << std::flush;
    return module;
  });
}

absl::Status CheckOptions(const OptOptions& options) {
  BATON_RETURN_IF_ERROR(
      CheckChoice("emit", options.emit, {"text", "text-no-meta", "none"}));
  BATON_RETURN_IF_ERROR(
      CheckChoice("timing", options.timing, {"none", "text", "json"}));
  return CheckChoice("print_changed", options.print_changed,
                     {"none", "full", "diff"});
}

// The pipeline; an error if anything else in `run` is wrong.
absl::StatusOr<Pass> CheckRunOptions(const RunOptions& run) {
  BATON_RETURN_IF_ERROR(CheckPassNames("disabled_pass", run.disabled_pass));
  BATON_RETURN_IF_ERROR(CheckPassNames("required_pass", run.required_pass));
  BATON_ASSIGN_OR_RETURN(AttrMap config, Config(run));
  BATON_RETURN_IF_ERROR(PassContext({.config = std::move(config)}).status());
  return ParsePipeline(run.passes, PassRegistry::Global(), "--passes");
}

absl::Status Emit(const OptOptions& options, const std::string& text,
                  std::ostream& out) {
  if (options.emit == "none") return absl::OkStatus();
  if (!options.output.empty() && options.output != kStandardStream) {
    return WriteFileAtomically(options.output, text);
  }
  out << text << std::flush;
  return out ? absl::OkStatus()
             : absl::UnavailableError("cannot write to standard output");
}

}  // namespace

absl::Status Opt(const OptOptions& options, const OptStreams& streams) {
  // What can be found wrong at once is not left for later.
  BATON_RETURN_IF_ERROR(CheckOptions(options));
  BATON_RETURN_IF_ERROR(CheckRunOptions(options.run).status());
  BATON_RETURN_IF_ERROR(
      Watch::Create(options, options.run, "", streams.reports).status());

  BATON_ASSIGN_OR_RETURN(Job job, LoadInput(options, streams));
  BATON_ASSIGN_OR_RETURN(const Pass pipeline, CheckRunOptions(job.run));

  const std::string separator = absl::StrCat(kModuleSeparator, "\n");
  const bool several = job.modules.size() > 1;
  std::string text;
  std::vector<std::string> errors;
  for (size_t i = 0; i < job.modules.size(); ++i) {
    InputModule& input = job.modules[i];
    BATON_ASSIGN_OR_RETURN(
        const Watch watch,
        Watch::Create(options, job.run, several ? absl::StrCat(i + 1) : "",
                      streams.reports));
    if (i > 0) {
      text += separator;
      if (watch.talks()) streams.reports << separator;
    }
    absl::StatusOr<IRModule> result = RunPasses(
        std::move(input.module), pipeline, job.run, watch, streams.reports);
    if (!result.ok()) {
      if (!several) return result.status();
      errors.push_back(absl::StrCat("the module at ", job.name, ":", input.line,
                                    ": ", result.status().message()));
      continue;
    }
    if (options.emit == "none" || !errors.empty()) continue;
    text += AsText(*result, {.metadata = options.emit == "text"});
    if (text.empty() || text.back() != '\n') text += '\n';
  }
  if (!errors.empty()) {
    return absl::AbortedError(absl::StrJoin(errors, "\n"));
  }
  return Emit(options, text, streams.out);
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
