#include "baton/tools/run_model.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "baton/backend/cpu/executable.h"
#include "baton/backend/cpu/shadow.h"
#include "baton/base/flags.h"
#include "baton/base/hash_table.h"
#include "baton/base/limits.h"
#include "baton/base/plural.h"
#include "baton/base/printable.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/base/write_file.h"
#include "baton/instrument/crash_guard.h"
#include "baton/ir/module.h"
#include "baton/ir/type.h"
#include "baton/onnx/listing.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/runtime/random_inputs.h"
#include "baton/relay/runtime/value.h"
#include "baton/runtime/io/npy.h"
#include "baton/tools/compare.h"
#include "baton/tools/crash_report.h"
#include "baton/tools/files.h"
#include "baton/tools/flag_pairs.h"
#include "baton/tools/input.h"
#include "baton/tools/model_runs.h"
#include "baton/tools/plan_report.h"
#include "baton/tools/prepared_run.h"
#include "baton/tools/run_model_options.h"
#include "baton/tools/run_profile.h"
#include "baton/tools/runnable_model.h"
#include "baton/tools/tensor_files.h"
#include "baton/transform/limits_config.h"
#include "baton/transform/pass_context.h"

namespace baton {
namespace {

using relay::Function;
using relay::Value;
using relay::Var;

namespace fs = std::filesystem;

bool CompareAll(const NamedTensors& got, const std::vector<Tensor>& want,
                const RunModelOptions& options, std::ostream& out) {
  bool all = true;
  for (size_t i = 0; i < got.size(); ++i) {
    const Difference difference = Compare(
        got[i].second, want[i], {.rtol = options.rtol, .atol = options.atol});
    out << Describe(got[i].first, difference, got[i].second, want[i]) << "\n";
    all = all && difference.is_within;
  }
  return all;
}

// The nodes of both models whose results have the same type, in the order of
// evaluation: those that differ by more than the tolerance, and how many there
// are.
void CompareNodes(const NodeResults& got, const NodeResults& want,
                  const RunModelOptions& options, std::ostream& out) {
  constexpr int kShown = 10;
  FlatHashMap<absl::string_view, const Tensor*> expected;
  for (const auto& [name, tensor] : want) expected.emplace(name, &tensor);
  int compared = 0;
  int differ = 0;
  for (const auto& [name, tensor] : got) {
    const auto other = expected.find(name);
    if (other == expected.end()) continue;
    const Difference difference = Compare(
        tensor, *other->second, {.rtol = options.rtol, .atol = options.atol});
    if (difference.has_other_type) continue;
    ++compared;
    if (difference.is_within) continue;
    if (differ++ < kShown) {
      out << "  node " << Describe(name, difference, tensor, *other->second)
          << "\n";
    }
  }
  out << "  " << differ << " of " << Plural(compared, "node")
      << " that both models have " << (differ == 1 ? "differs" : "differ")
      << "\n";
}

void Print(const NamedTensors& tensors, std::ostream& out) {
  constexpr int64_t kShown = 8;
  for (const auto& [name, tensor] : tensors) {
    out << Printable(name) << ": " << tensor.TypeToString() << " [";
    for (int64_t i = 0; i < std::min(kShown, tensor.num_elements()); ++i) {
      out << (i == 0 ? "" : ", ")
          << absl::StrFormat("%g", tensor.AtAsDouble(i));
    }
    out << (tensor.num_elements() > kShown ? ", ...]\n" : "]\n");
  }
}

// Notes which of the tensors `given` by `flag` are not taken by their names.
void NoteNames(const RunModelOptions& options, absl::string_view flag,
               const NamedTensors& given, const std::vector<std::string>& names,
               absl::string_view what) {
  if (options.notes == nullptr) return;
  for (const std::string& note : NotesOnNames(given, names, what)) {
    *options.notes << "--" << flag << ": " << note << "\n";
  }
}

// The arguments of `model` among `given`. State that is not given is kept.
absl::StatusOr<std::vector<Value>> ArgsOf(const RunnableModel& model,
                                          const NamedTensors& tensors_given,
                                          const RunModelOptions& options) {
  NamedTensors given = tensors_given;
  std::erase_if(given, [&model](const auto& tensor) {
    return std::any_of(
        model.used_values.begin(), model.used_values.end(),
        [&](const auto& used) { return used.first == tensor.first; });
  });
  std::vector<std::string> names = model.input_names;
  std::vector<bool> is_kept(names.size(), false);
  if (given.size() < names.size()) {
    for (const StateBinding& ports : model.state) {
      const std::string& name =
          model.input_names[static_cast<size_t>(ports.input)];
      if (std::none_of(given.begin(), given.end(), [&](const auto& tensor) {
            return tensor.first == name;
          })) {
        is_kept[static_cast<size_t>(ports.input)] = true;
        std::erase(names, name);
      }
    }
  }
  BATON_ASSIGN_OR_RETURN(const std::vector<Tensor> tensors,
                         InOrder(given, names, "inputs"));
  NoteNames(options, "inputs", given, names, "inputs");
  std::vector<Value> args;
  size_t next = 0;
  for (size_t i = 0; i < is_kept.size(); ++i) {
    if (is_kept[i]) {
      args.emplace_back();
    } else if (next < tensors.size()) {
      args.emplace_back(tensors[next++]);
    }
  }
  for (size_t i = 0; i < model.state.size(); ++i) {
    const size_t input = static_cast<size_t>(model.state[i].input);
    if (is_kept[input]) args[input] = model.kept[i];
  }
  return args;
}

// Makes the last results of --state arguments.
void KeepState(const NamedTensors& got, RunnableModel& model,
               std::vector<Value>& args) {
  model.kept_is_new = false;
  for (size_t i = 0; i < model.state.size(); ++i) {
    model.kept[i] = got[static_cast<size_t>(model.state[i].output)].second;
    args[static_cast<size_t>(model.state[i].input)] = model.kept[i];
  }
}

// One set of arguments, and what is expected of it. `given`: the tensors of
// options.inputs, if that is not empty.
absl::StatusOr<bool> RunOnce(RunnableModel& model,
                             std::optional<RunnableModel>& other,
                             const NamedTensors& given_inputs,
                             const RunModelOptions& options,
                             std::ostream& out) {
  const Function main = model.module.Find<Function>("main");
  std::vector<Value> args;
  std::vector<Value> other_args;
  if (options.random_inputs) {
    BATON_ASSIGN_OR_RETURN(
        args, relay::RandomInputs(main, static_cast<uint32_t>(options.seed)));
    for (size_t i = 0; i < model.state.size(); ++i) {
      args[static_cast<size_t>(model.state[i].input)] = model.kept[i];
    }
  } else if (!options.inputs.empty()) {
    BATON_ASSIGN_OR_RETURN(args, ArgsOf(model, given_inputs, options));
    if (other.has_value()) {
      BATON_ASSIGN_OR_RETURN(other_args, ArgsOf(*other, given_inputs, options));
    }
  } else if (!main->params().empty()) {
    return absl::InvalidArgumentError(
        "the model has inputs: give --inputs or --random_inputs");
  }
  BATON_RETURN_IF_ERROR(ChooseSession(args, model));
  BATON_ASSIGN_OR_RETURN(const NamedTensors got,
                         ComputeResults(model, args, options));
  bool all = true;
  bool compared = false;
  if (!options.expect.empty()) {
    BATON_ASSIGN_OR_RETURN(const NamedTensors given,
                           ReadTensors(options.expect, "output"));
    std::vector<std::string> names;
    for (const auto& [name, tensor] : got) names.push_back(name);
    BATON_ASSIGN_OR_RETURN(const std::vector<Tensor> want,
                           InOrder(given, names, "results"));
    NoteNames(options, "expect", given, names, "results");
    all = CompareAll(got, want, options, out);
    compared = true;
  }
  if (other.has_value()) {
    if (options.inputs.empty()) other_args = args;
    BATON_ASSIGN_OR_RETURN(const NamedTensors given,
                           ComputeResults(*other, other_args, options));
    if (given.size() != got.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the models have ", got.size(), " and ",
                       Plural(static_cast<int64_t>(given.size()), "result")));
    }
    std::vector<Tensor> want;
    for (const auto& [name, tensor] : given) want.push_back(tensor);
    std::vector<Value> next = other_args;
    KeepState(given, *other, next);
    if (!CompareAll(got, want, options, out)) {
      // Again, now with the results of all nodes, which take memory.
      NodeResults nodes;
      NodeResults other_nodes;
      BATON_RETURN_IF_ERROR(
          ComputeResults(model, args, options, &nodes).status());
      BATON_RETURN_IF_ERROR(
          ComputeResults(*other, other_args, options, &other_nodes).status());
      CompareNodes(nodes, other_nodes, options, out);
      all = false;
    }
    compared = true;
  }
  KeepState(got, model, args);
  if (!options.outputs.empty()) {
    BATON_ASSIGN_OR_RETURN(const std::string npz, WriteNpz(got));
    BATON_RETURN_IF_ERROR(WriteFileAtomically(options.outputs, npz));
  }
  if (options.bench > 0) {
    BATON_RETURN_IF_ERROR(MeasureRuns(model, args, options, out));
  }
  std::vector<double> step_us;
  if (!options.profile.empty()) {
    BATON_RETURN_IF_ERROR(ProfileRun(model, args, options, out, step_us));
  }
  if (!options.plan.empty() && model.session != nullptr) {
    const Executable& executable = model.session->executable();
    BATON_RETURN_IF_ERROR(
        WriteFileAtomically(options.plan, absl::EndsWith(options.plan, ".json")
                                              ? PlanJson(executable)
                                              : PlanText(executable, step_us)));
  }
  if (!compared && options.outputs.empty() && options.bench <= 0 &&
      options.profile.empty() && options.plan.empty()) {
    Print(got, out);
  }
  return all;
}

// Reports what --shadow found. False if a step differs.
bool ReportShadow(const StepChecker& shadow, std::ostream& out) {
  const std::string counts = absl::StrCat(
      shadow.num_compared(), " of ", shadow.num_steps(),
      " steps that ran were evaluated again",
      shadow.num_skipped() > 0
          ? absl::StrCat(" (", shadow.num_skipped(), " could not be)")
          : "");
  if (!shadow.first_difference().has_value()) {
    out << "shadow: " << counts << ", none differs\n";
    return true;
  }
  const StepChecker::Difference& found = *shadow.first_difference();
  const std::string origin = found.source.origin.empty()
                                 ? onnx::OriginName(found.source.span)
                                 : found.source.origin;
  out << "shadow: step " << found.step << " (" << found.kernel << ") of "
      << found.source.op_name << " " << origin << " differs: " << found.text
      << "; " << counts << "\n";
  return false;
}

// The command that runs the passes of `options` alone.
std::string OptCommandOf(const RunModelOptions& options) {
  std::error_code error;
  const bool is_folder = fs::is_directory(options.model, error);
  std::string passes = options.passes;
  if (WantsExecutor(options) && passes != "cpu" &&
      !absl::EndsWith(passes, ",cpu")) {
    absl::StrAppend(&passes, passes.empty() ? "" : ",", "cpu");
  }
  const auto number = [](int value, int by_default) {
    return value == by_default ? "" : absl::StrCat(value);
  };
  return OptCommand(
      is_folder ? (fs::path(options.model) / "model.onnx").string()
                : options.model,
      {{"workload", options.workload},
       {"input_shapes", options.input_shapes},
       {"input_values", options.input_values},
       {"passes", passes},
       {"opt_level", number(options.opt_level, RunModelOptions().opt_level)},
       {"config", options.config},
       {"threads", number(options.threads, RunModelOptions().threads)}});
}

// The files that a run writes, as pairs of a flag and a path.
std::vector<std::pair<std::string, std::string>> FilesWritten(
    const RunModelOptions& options) {
  return {{"--outputs", options.outputs},
          {"--report", options.report},
          {"--plan", options.plan}};
}

}  // namespace

absl::StatusOr<bool> RunModel(const RunModelOptions& options,
                              std::ostream& out) {
  if (options.random_inputs && !options.inputs.empty()) {
    return absl::InvalidArgumentError(
        "both --inputs and --random_inputs are given");
  }
  if (!options.outputs.empty() && !absl::EndsWith(options.outputs, ".npz")) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--outputs: results are written as .npz, not as ", options.outputs));
  }
  BATON_RETURN_IF_ERROR(CheckFlagValues(FlagsOf<RunModelOptions>(), &options));
  const std::vector<std::pair<std::string, std::string>> written =
      FilesWritten(options);
  std::vector<std::pair<std::string, std::string>> files = {
      {"the model", options.model}, {"--inputs", options.inputs}};
  files.insert(files.end(), written.begin(), written.end());
  BATON_RETURN_IF_ERROR(CheckDifferentFiles(files));
  // Results may take the place of those that were expected.
  BATON_RETURN_IF_ERROR(
      CheckNotRead({{"--report", options.report}, {"--plan", options.plan}},
                   {options.expect}));
  BATON_RETURN_IF_ERROR(CheckNotRead(written, {options.against}));
  BATON_RETURN_IF_ERROR(CheckExecutorFlags(options));
  if (!options.profile.empty()) {
    // Before the model runs, which may take long.
    BATON_RETURN_IF_ERROR(RunProfile().Report(options.profile).status());
  } else if (!options.report.empty()) {
    return absl::InvalidArgumentError("--report: needs --profile");
  }
  const CrashGuard guard([&options](int signal) {
    std::cerr << CrashReport("baton-run", OptCommandOf(options), signal)
              << std::flush;
  });
  // The limits of --config apply to the reader and to evaluation, too.
  BATON_ASSIGN_OR_RETURN(const PreparedRun settings,
                         Prepare({.config = options.config}));
  const Limits limits = LimitsOf(settings.context.config);
  const ScopedLimits scoped_limits(limits);
  if (options.passes.empty()) {
    NoteUnread(options, PassContext(settings.context));
  }
  std::error_code error;
  const bool is_folder = fs::is_directory(options.model, error);
  const std::string path =
      is_folder ? (fs::path(options.model) / "model.onnx").string()
                : options.model;
  std::vector<std::string> kept;
  if (!options.state.empty()) {
    BATON_ASSIGN_OR_RETURN(const auto pairs,
                           ParseFlagPairs("state", "OUT:IN", options.state));
    for (const auto& [output, input] : pairs) kept.push_back(input);
  }
  // The models of the last data set.
  std::optional<RunnableModel> model;
  std::optional<RunnableModel> other;
  const auto run = [&](const RunModelOptions& one) -> absl::StatusOr<bool> {
    TensorsAtHand at_hand;
    at_hand.kept = kept;
    if (!one.random_inputs && !one.inputs.empty()) {
      BATON_ASSIGN_OR_RETURN(at_hand.tensors,
                             ReadTensors(one.inputs, "input", &at_hand.parts));
    }
    TensorsAtHand* const inputs = one.inputs.empty() ? nullptr : &at_hand;
    if (!model.has_value() || !Suits(*model, at_hand)) {
      BATON_ASSIGN_OR_RETURN(
          RunnableModel next,
          ReadRunnableModel(path, one.passes, one, inputs, false));
      if (model.has_value()) MoveState(*model, next, one);
      model = std::move(next);
    } else if (model->tensor_names.size() == at_hand.tensors.size()) {
      for (size_t i = 0; i < at_hand.tensors.size(); ++i) {
        std::string& name = at_hand.tensors[i].first;
        if (name.empty()) name = model->tensor_names[i];
      }
    }
    if (!one.against.empty() &&
        (!other.has_value() || !Suits(*other, at_hand))) {
      BATON_ASSIGN_OR_RETURN(
          RunnableModel next,
          ReadRunnableModel(one.against, "", one, inputs, true));
      if (other.has_value()) MoveState(*other, next, one);
      other = std::move(next);
    }
    for (const std::optional<RunnableModel>* read : {&model, &other}) {
      if (!read->has_value()) continue;
      BATON_RETURN_IF_ERROR(CheckNotRead(written, (*read)->further_files));
    }
    BATON_ASSIGN_OR_RETURN(const bool holds,
                           RunOnce(*model, other, at_hand.tensors, one, out));
    return (model->shadow == nullptr || ReportShadow(*model->shadow, out)) &&
           holds;
  };
  if (!is_folder || !options.inputs.empty() || options.random_inputs) {
    return run(options);
  }
  bool all = true;
  for (int i = 0;; ++i) {
    const fs::path set =
        fs::path(options.model) / absl::StrCat("test_data_set_", i);
    if (!fs::is_directory(set, error)) {
      if (i > 0) return all;
      return absl::NotFoundError(absl::StrCat(
          options.model, " has no test_data_set_0; give --inputs"));
    }
    RunModelOptions one = options;
    one.inputs = set.string();
    if (one.expect.empty()) one.expect = set.string();
    BATON_ASSIGN_OR_RETURN(const bool holds, run(one));
    all = all && holds;
  }
}

}  // namespace baton
