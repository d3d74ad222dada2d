#include "baton/tools/run_model.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <optional>
#include <ostream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/flags.h"
#include "baton/base/hash_table.h"
#include "baton/base/limits.h"
#include "baton/base/plural.h"
#include "baton/base/printable.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/instrument/progress.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/random_inputs.h"
#include "baton/relay/runtime/value.h"
#include "baton/tools/compare.h"
#include "baton/tools/files.h"
#include "baton/tools/input.h"
#include "baton/tools/module_source.h"
#include "baton/tools/npy.h"
#include "baton/tools/prepared_run.h"
#include "baton/tools/run_options.h"
#include "baton/tools/run_profile.h"
#include "baton/tools/tensor_files.h"
#include "baton/transform/limits_config.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"

namespace baton {
namespace {

namespace fs = std::filesystem;

struct Model {
  IRModule module;  // typed
  // The names of the parameters and results of `main`.
  std::vector<std::string> input_names;
  std::vector<std::string> output_names;
  // What the model calls the tensors that it was read for, in their order.
  std::vector<std::string> tensor_names;
  // Whether it is the model of the tensors of one data set only.
  bool depends_on_inputs = false;
};

// `at_hand`: what the model is going to be run with, or null.
absl::StatusOr<IRModule> ReadModule(const std::string& path,
                                    const RunModelOptions& options,
                                    TensorsAtHand* at_hand) {
  if (path.empty()) {
    BATON_ASSIGN_OR_RETURN(
        const IRModule module,
        MakeWorkload(options.workload, /*bind_params=*/true));
    BATON_ASSIGN_OR_RETURN(const auto shapes,
                           ParseInputShapes(options.input_shapes));
    return WithInputShapes(module, shapes);
  }
  BATON_ASSIGN_OR_RETURN(ModuleSource source, OpenModule(path, std::cin));
  source.input_shapes = options.input_shapes;
  source.input_values = options.input_values;
  source.at_hand = at_hand;
  Diagnostics diagnostics;
  BATON_ASSIGN_OR_RETURN(ModulesRead read, ReadModules(source, diagnostics));
  BATON_RETURN_IF_ERROR(diagnostics.ToStatus());
  if (read.modules.size() != 1) {
    return absl::InvalidArgumentError(absl::StrCat(path, " has no module"));
  }
  return std::move(read.modules[0].module);
}

// Says which inputs are constants of a module that was read.
void NoteUsed(const std::string& path, const TensorsAtHand& at_hand,
              const RunModelOptions& options) {
  if (options.notes == nullptr) return;
  const auto note = [&](absl::string_view what,
                        const std::vector<std::string>& names) {
    if (names.empty()) return;
    *options.notes << "baton-run: " << path << ": the import needs the " << what
                   << (names.size() == 1 ? "" : "s") << " of "
                   << absl::StrJoin(names, ", ",
                                    [](std::string* out, absl::string_view n) {
                                      absl::StrAppend(out, "'",
                                                      absl::Utf8SafeCEscape(n),
                                                      "'");
                                    })
                   << ", taken from the inputs\n";
  };
  note("value", at_hand.values_used);
  note("shape", at_hand.shapes_used);
}

absl::StatusOr<Model> ReadModel(const std::string& path,
                                const std::string& passes,
                                const RunModelOptions& options,
                                TensorsAtHand* at_hand) {
  Model result;
  BATON_ASSIGN_OR_RETURN(result.module, ReadModule(path, options, at_hand));
  if (at_hand != nullptr) {
    for (const auto& [name, tensor] : at_hand->tensors) {
      result.tensor_names.push_back(name);
    }
    result.depends_on_inputs =
        !at_hand->values_used.empty() || !at_hand->shapes_used.empty();
    NoteUsed(path, *at_hand, options);
  }
  BATON_ASSIGN_OR_RETURN(result.module, InferTypes(result.module));
  // The names are those of the model as it was read.
  const Function main = result.module.Find<Function>("main");
  if (!main.defined()) {
    return absl::InvalidArgumentError(absl::StrCat(
        path.empty() ? options.workload : path, " has no function @main"));
  }
  result.input_names = InputNames(main);
  result.output_names = OutputNames(main);
  if (!passes.empty()) {
    BATON_ASSIGN_OR_RETURN(const PreparedRun prepared,
                           Prepare({.passes = passes,
                                    .opt_level = options.opt_level,
                                    .config = options.config,
                                    .threads = options.threads}));
    const PassContext context(prepared.context);
    const std::string skipped =
        DescribeSkippedPasses(prepared.pipeline, context);
    if (!skipped.empty()) std::fprintf(stderr, "%s\n", skipped.c_str());
    BATON_ASSIGN_OR_RETURN(const Pass pipeline,
                           CompletePipeline(prepared, result.module));
    BATON_ASSIGN_OR_RETURN(
        result.module, context.Run([&] { return pipeline(result.module); }));
    BATON_ASSIGN_OR_RETURN(result.module, InferTypes(result.module));
  }
  return result;
}

// The results of the nodes of a model, by the names of the nodes. If a node
// became several calls, the last one counts, since it has the node's result.
using NodeResults = std::vector<std::pair<std::string, Tensor>>;

// Shows on a terminal which node is computed, if that takes long.
class Progress {
 public:
  explicit Progress(bool shown) {
    if (!shown) return;
    line_.emplace([](absl::string_view text) {
      std::fwrite(text.data(), 1, text.size(), stderr);
      std::fflush(stderr);
    });
  }

  // A node was computed.
  void Computed(const ExprNode& node) {
    if (!line_.has_value()) return;
    ++count_;
    // Names cost more than small nodes.
    const auto now = std::chrono::steady_clock::now();
    if (now - shown_at_ < std::chrono::milliseconds(100)) return;
    shown_at_ = now;
    line_->Show(
        absl::StrCat(Plural(count_, "node"), " computed, ", OriginName(node)));
  }

 private:
  std::optional<ProgressLine> line_;
  int64_t count_ = 0;
  std::chrono::steady_clock::time_point shown_at_;
};

absl::StatusOr<NamedTensors> Run(const Model& model,
                                 absl::Span<const Value> args,
                                 const RunModelOptions& options,
                                 NodeResults* nodes = nullptr) {
  Progress progress(options.progress);
  EvaluateOptions evaluate;
  if (options.progress) {
    evaluate.observe = [&progress](const ExprNode& node, const Value&) {
      progress.Computed(node);
    };
  }
  FlatHashMap<std::string, size_t> places;
  if (nodes != nullptr) {
    evaluate.observe = [&](const ExprNode& node, const Value& value) {
      progress.Computed(node);
      if (!value.is_tensor()) return;
      std::string name = OriginName(node);
      if (name.empty()) return;
      const auto [place, is_new] = places.emplace(name, nodes->size());
      if (is_new) {
        nodes->emplace_back(std::move(name), value.tensor());
      } else {
        (*nodes)[place->second].second = value.tensor();
      }
    };
  }
  BATON_ASSIGN_OR_RETURN(
      const Value value,
      EvaluateFunction(model.module, "main", args, evaluate));
  NamedTensors result;
  std::vector<Value> values;
  if (value.is_tuple()) {
    values.assign(value.fields().begin(), value.fields().end());
  } else {
    values.push_back(value);
  }
  for (const Value& field : values) {
    if (!field.is_tensor()) {
      return absl::UnimplementedError("a result is no tensor");
    }
    const size_t i = result.size();
    result.emplace_back(i < model.output_names.size()
                            ? model.output_names[i]
                            : absl::StrCat("output_", i),
                        field.tensor());
  }
  return result;
}

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

absl::Status Bench(const Model& model, absl::Span<const Value> args,
                   const RunModelOptions& options, std::ostream& out) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;  // ms
  for (int i = -std::max(0, options.warmup); i < options.bench; ++i) {
    const Clock::time_point begin = Clock::now();
    BATON_RETURN_IF_ERROR(
        EvaluateFunction(model.module, "main", args).status());
    if (i < 0) continue;
    times.push_back(
        std::chrono::duration<double, std::milli>(Clock::now() - begin)
            .count());
  }
  std::sort(times.begin(), times.end());
  out << absl::StrFormat(
      "%d runs: least %.3f ms, median %.3f ms, most %.3f ms\n", times.size(),
      times.front(), times[times.size() / 2], times.back());
  return absl::OkStatus();
}

absl::Status Profile(const Model& model, absl::Span<const Value> args,
                     const RunModelOptions& options, std::ostream& out) {
  for (int i = 0; i < std::max(0, options.warmup); ++i) {
    BATON_RETURN_IF_ERROR(
        EvaluateFunction(model.module, "main", args).status());
  }
  RunProfile profile;
  EvaluateOptions evaluate;
  evaluate.observe = [&profile](const ExprNode& node, const Value&) {
    profile.Computed(node);
  };
  BATON_RETURN_IF_ERROR(
      EvaluateFunction(model.module, "main", args, evaluate).status());
  BATON_ASSIGN_OR_RETURN(const std::string report,
                         profile.Report(options.profile));
  if (!options.report.empty()) {
    return WriteFileAtomically(options.report, report);
  }
  out << report;
  return absl::OkStatus();
}

bool HasUnknownDimension(const Function& main) {
  return std::any_of(
      main->params().begin(), main->params().end(), [](const Var& param) {
        const TensorTypeNode* type = param->tensor_type();
        return type != nullptr && !ConstDims(type->shape()).has_value();
      });
}

// Those of `given` that are arguments of `model`.
absl::StatusOr<std::vector<Value>> ArgsOf(const Model& model,
                                          const NamedTensors& given) {
  BATON_ASSIGN_OR_RETURN(const std::vector<Tensor> tensors,
                         InOrder(given, model.input_names, "inputs"));
  return std::vector<Value>(tensors.begin(), tensors.end());
}

// One set of arguments, and what is expected of it. `given`: the tensors of
// options.inputs, if that is not empty.
absl::StatusOr<bool> RunOnce(const Model& model,
                             const std::optional<Model>& other,
                             const NamedTensors& given_inputs,
                             const RunModelOptions& options,
                             std::ostream& out) {
  const Function main = model.module.Find<Function>("main");
  std::vector<Value> args;
  std::vector<Value> other_args;
  if (options.random_inputs) {
    absl::StatusOr<std::vector<Value>> random =
        RandomInputs(main, static_cast<uint32_t>(options.seed));
    if (!random.ok() && HasUnknownDimension(main)) {
      return absl::Status(
          random.status().code(),
          absl::StrCat(random.status().message(),
                       "; --input_shapes says how large an input is"));
    }
    BATON_ASSIGN_OR_RETURN(args, std::move(random));
  } else if (!options.inputs.empty()) {
    BATON_ASSIGN_OR_RETURN(args, ArgsOf(model, given_inputs));
    if (other.has_value()) {
      BATON_ASSIGN_OR_RETURN(other_args, ArgsOf(*other, given_inputs));
    }
  } else if (!main->params().empty()) {
    return absl::InvalidArgumentError(
        "the model has inputs: give --inputs or --random_inputs");
  }
  BATON_ASSIGN_OR_RETURN(const NamedTensors got,
                         Run(model, args, options, nullptr));
  bool all = true;
  bool compared = false;
  if (!options.expect.empty()) {
    BATON_ASSIGN_OR_RETURN(const NamedTensors given,
                           ReadTensors(options.expect, "output"));
    std::vector<std::string> names;
    for (const auto& [name, tensor] : got) names.push_back(name);
    BATON_ASSIGN_OR_RETURN(const std::vector<Tensor> want,
                           InOrder(given, names, "results"));
    all = CompareAll(got, want, options, out);
    compared = true;
  }
  if (other.has_value()) {
    if (options.inputs.empty()) other_args = args;
    BATON_ASSIGN_OR_RETURN(const NamedTensors given,
                           Run(*other, other_args, options, nullptr));
    if (given.size() != got.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the models have ", got.size(), " and ",
                       Plural(static_cast<int64_t>(given.size()), "result")));
    }
    std::vector<Tensor> want;
    for (const auto& [name, tensor] : given) want.push_back(tensor);
    if (!CompareAll(got, want, options, out)) {
      // Again, now with the results of all nodes, which take memory.
      NodeResults nodes;
      NodeResults other_nodes;
      BATON_RETURN_IF_ERROR(Run(model, args, options, &nodes).status());
      BATON_RETURN_IF_ERROR(
          Run(*other, other_args, options, &other_nodes).status());
      CompareNodes(nodes, other_nodes, options, out);
      all = false;
    }
    compared = true;
  }
  if (!options.outputs.empty()) {
    BATON_ASSIGN_OR_RETURN(const std::string npz, WriteNpz(got));
    BATON_RETURN_IF_ERROR(WriteFileAtomically(options.outputs, npz));
  }
  if (options.bench > 0) {
    BATON_RETURN_IF_ERROR(Bench(model, args, options, out));
  }
  if (!options.profile.empty()) {
    BATON_RETURN_IF_ERROR(Profile(model, args, options, out));
  }
  if (!compared && options.outputs.empty() && options.bench <= 0 &&
      options.profile.empty()) {
    Print(got, out);
  }
  return all;
}

}  // namespace

absl::StatusOr<bool> RunModel(const RunModelOptions& options,
                              std::ostream& out) {
  if (options.random_inputs && !options.inputs.empty()) {
    return absl::InvalidArgumentError(
        "both --inputs and --random_inputs are given");
  }
  if (!options.outputs.empty() && !absl::EndsWith(options.outputs, ".npz")) {
    return absl::InvalidArgumentError(
        absl::StrCat("results are written as .npz, not as ", options.outputs));
  }
  BATON_RETURN_IF_ERROR(CheckChoices(FlagsOf<RunModelOptions>(), &options));
  BATON_RETURN_IF_ERROR(CheckDifferentFiles({{"the model", options.model},
                                             {"--inputs", options.inputs},
                                             {"--outputs", options.outputs},
                                             {"--report", options.report}}));
  if (!options.profile.empty()) {
    // Before the model runs, which may take long.
    BATON_RETURN_IF_ERROR(RunProfile().Report(options.profile).status());
  } else if (!options.report.empty()) {
    return absl::InvalidArgumentError("--report needs --profile");
  }
  // The limits of --config apply to the reader and to evaluation, too.
  BATON_ASSIGN_OR_RETURN(const PreparedRun settings,
                         Prepare({.config = options.config}));
  const Limits limits = LimitsOf(settings.context.config);
  const ScopedLimits scoped_limits(limits);
  std::error_code error;
  const bool is_folder = fs::is_directory(options.model, error);
  const std::string path =
      is_folder ? (fs::path(options.model) / "model.onnx").string()
                : options.model;
  // The models of the last data set.
  std::optional<Model> model;
  std::optional<Model> other;
  const auto run = [&](const RunModelOptions& one) -> absl::StatusOr<bool> {
    TensorsAtHand at_hand;
    if (!one.random_inputs && !one.inputs.empty()) {
      BATON_ASSIGN_OR_RETURN(at_hand.tensors, ReadTensors(one.inputs, "input"));
    }
    TensorsAtHand* const inputs = one.inputs.empty() ? nullptr : &at_hand;
    if (!model.has_value() || model->depends_on_inputs) {
      BATON_ASSIGN_OR_RETURN(model, ReadModel(path, one.passes, one, inputs));
    } else if (model->tensor_names.size() == at_hand.tensors.size()) {
      for (size_t i = 0; i < at_hand.tensors.size(); ++i) {
        std::string& name = at_hand.tensors[i].first;
        if (name.empty()) name = model->tensor_names[i];
      }
    }
    if (!one.against.empty() &&
        (!other.has_value() || other->depends_on_inputs)) {
      BATON_ASSIGN_OR_RETURN(other, ReadModel(one.against, "", one, inputs));
    }
    return RunOnce(*model, other, at_hand.tensors, one, out);
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
