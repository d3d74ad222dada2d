#include "baton/tools/run_model.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "baton/backend/cpu/bounded_executable.h"
#include "baton/backend/cpu/executable.h"
#include "baton/backend/cpu/executable_file.h"
#include "baton/backend/cpu/known_sizes.h"
#include "baton/backend/cpu/shadow.h"
#include "baton/base/attr_value.h"
#include "baton/base/flags.h"
#include "baton/base/hash_table.h"
#include "baton/base/limits.h"
#include "baton/base/plural.h"
#include "baton/base/printable.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/base/worker_pool.h"
#include "baton/instrument/crash_guard.h"
#include "baton/instrument/progress.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"
#include "baton/onnx/listing.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/random_inputs.h"
#include "baton/relay/runtime/value.h"
#include "baton/relay/runtime/value_tensors.h"
#include "baton/runtime/executor/runtime_instrument.h"
#include "baton/runtime/io/npy.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/jit/jit_evaluator.h"
#include "baton/tools/compare.h"
#include "baton/tools/crash_report.h"
#include "baton/tools/files.h"
#include "baton/tools/flag_pairs.h"
#include "baton/tools/input.h"
#include "baton/tools/module_source.h"
#include "baton/tools/plan_report.h"
#include "baton/tools/prepared_run.h"
#include "baton/tools/run_options.h"
#include "baton/tools/run_profile.h"
#include "baton/tools/tensor_files.h"
#include "baton/tools/unused_flags.h"
#include "baton/tools/version.h"
#include "baton/transform/limits_config.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"

namespace baton {
namespace {

using relay::EvaluateFunction;
using relay::Function;
using relay::InferTypes;
using relay::Value;
using relay::Var;

namespace fs = std::filesystem;

struct Model {
  IRModule module;  // typed
  // The names of the parameters and results of `main`.
  std::vector<std::string> input_names;
  std::vector<std::string> output_names;
  // The model's names of the tensors that it was read for, in their order.
  std::vector<std::string> tensor_names;
  // The values and the shapes for which alone it was made, by the names of
  // inputs.
  NamedTensors used_values;
  NamedTensors used_shapes;
  // The parts of its inputs, if some are sequences or optionals.
  std::vector<TensorPart> parts;
  // The compiled model and its memory; null if the evaluator runs it.
  Session* session = nullptr;
  std::unique_ptr<Session> owned_session;
  // The part of the model that the evaluator computes, from the session's
  // results and the arguments; where values decide about sizes.
  std::optional<IRModule> rest;
  // For --dims: has the sessions of all sizes.
  std::unique_ptr<BoundedSession> bounded;
  // With --executor=jit: compiles the functions of loops that the evaluator
  // calls.
  std::shared_ptr<const tir::JitEvaluator> jit;
  std::unique_ptr<WorkerPool> pool;
  std::unique_ptr<StepChecker> shadow;  // of --shadow
  // --state, and the last result of each.
  std::vector<StateBinding> state;
  std::vector<Tensor> kept;
  // The session does not have `kept` yet: it is of another session.
  bool kept_is_new = false;
  // The time from the bytes of the file to a model that can run, and its parts.
  double creation_ms = 0;
  std::vector<Executable::Phase> creation;
};

using Clock = std::chrono::steady_clock;

double Milliseconds(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin)
      .count();
}

// True if --executor names an executor without plans.
bool WantsEvaluator(const RunModelOptions& options) {
  return options.executor == "evaluator" || options.executor == "jit";
}

// The executor cpu is the default where time or memory is measured.
bool WantsExecutor(const RunModelOptions& options) {
  if (!options.executor.empty()) return options.executor == "cpu";
  return options.bench > 0 || !options.profile.empty() ||
         !options.plan.empty() || !options.shadow.empty();
}

// Gives inputs of unknown extents those of the given tensors.
absl::StatusOr<IRModule> WithShapesAtHand(const IRModule& module,
                                          TensorsAtHand& at_hand) {
  const Function main = module.Find<Function>("main");
  if (!main.defined()) return module;
  std::vector<std::string> names = InputNames(main);
  std::vector<Var> params(main->params().begin(), main->params().end());
  for (size_t i = names.size();
       i-- > 0 && at_hand.tensors.size() < names.size();) {
    if (std::find(at_hand.kept.begin(), at_hand.kept.end(), names[i]) ==
        at_hand.kept.end()) {
      continue;
    }
    names.erase(names.begin() + static_cast<std::ptrdiff_t>(i));
    params.erase(params.begin() + static_cast<std::ptrdiff_t>(i));
  }
  // A run says what is wrong if they do not fit.
  const absl::StatusOr<std::vector<Tensor>> tensors =
      InOrder(at_hand.tensors, names, "inputs");
  if (!tensors.ok()) return module;
  std::map<std::string, std::vector<int64_t>> shapes;
  for (size_t i = 0; i < names.size(); ++i) {
    const Var& param = params[i];
    const auto* type = param->annotation().As<TensorTypeNode>();
    const absl::Span<const int64_t> shape = (*tensors)[i].shape();
    if (type == nullptr || type->is_static() ||
        static_cast<size_t>(type->rank()) != shape.size()) {
      continue;
    }
    bool fits = true;
    for (size_t d = 0; d < shape.size(); ++d) {
      const Dim& dim = type->shape()[d];
      fits = fits && (!dim.is_const() || dim.value() == shape[d]);
    }
    if (!fits) continue;
    shapes.emplace(param->name(),
                   std::vector<int64_t>(shape.begin(), shape.end()));
    at_hand.shapes_used.push_back(names[i]);
  }
  return WithInputShapes(module, shapes);
}

// `source`: the file, or null for a workload. `at_hand`: what the model is
// going to be run with, or null.
absl::StatusOr<IRModule> ReadModule(const std::string& path,
                                    ModuleSource* source,
                                    const RunModelOptions& options,
                                    TensorsAtHand* at_hand) {
  const bool takes_shapes = at_hand != nullptr && at_hand->takes_all_shapes;
  if (source == nullptr) {
    BATON_ASSIGN_OR_RETURN(
        const IRModule module,
        MakeWorkload(options.workload, /*bind_params=*/true));
    BATON_ASSIGN_OR_RETURN(const auto shapes,
                           ParseInputShapes(options.input_shapes));
    BATON_ASSIGN_OR_RETURN(const IRModule shaped,
                           WithInputShapes(module, shapes));
    return takes_shapes ? WithShapesAtHand(shaped, *at_hand) : shaped;
  }
  source->input_shapes = options.input_shapes;
  source->input_values = options.input_values;
  source->at_hand = at_hand;
  Diagnostics diagnostics;
  BATON_ASSIGN_OR_RETURN(ModulesRead read, ReadModules(*source, diagnostics));
  BATON_RETURN_IF_ERROR(diagnostics.ToStatus());
  if (read.modules.size() != 1) {
    return absl::InvalidArgumentError(absl::StrCat(path, " has no module"));
  }
  // The import of ONNX has taken the shapes.
  if (takes_shapes &&
      FormatOf(source->content.bytes, path) != InputFormat::kOnnx) {
    return WithShapesAtHand(read.modules[0].module, *at_hand);
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
    *options.notes << "baton-run: " << path << ": " << what
                   << (names.size() == 1 ? "" : "s") << " of "
                   << absl::StrJoin(names, ", ",
                                    [](std::string* out, absl::string_view n) {
                                      absl::StrAppend(out, "'",
                                                      absl::Utf8SafeCEscape(n),
                                                      "'");
                                    })
                   << ", taken from the inputs\n";
  };
  note("the import needs the value", at_hand.values_used);
  note(at_hand.takes_all_shapes ? "the executor needs the shape"
                                : "the import needs the shape",
       at_hand.shapes_used);
}

// Says which settings of --config no pass has read.
void NoteUnread(const RunModelOptions& options, const PassContext& context) {
  if (options.notes == nullptr) return;
  for (const std::string& line : UnreadSettings(options.config, context)) {
    *options.notes << line << "\n";
  }
}

// The number in --threads.
int ThreadsOf(const RunModelOptions& options) {
  if (options.threads > 0) return options.threads;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

// The K of `1/K`.
absl::StatusOr<int64_t> ShadowPeriod(absl::string_view text) {
  int64_t period = 0;
  if (!absl::ConsumePrefix(&text, "1/") || !absl::SimpleAtoi(text, &period) ||
      period < 1) {
    return absl::InvalidArgumentError(
        "--shadow: expected 1/K, as in --shadow=1/64");
  }
  return period;
}

absl::Status AddShadow(const RunModelOptions& options, Model& model) {
  if (options.shadow.empty() || model.session == nullptr) {
    return absl::OkStatus();
  }
  BATON_ASSIGN_OR_RETURN(const int64_t period, ShadowPeriod(options.shadow));
  model.shadow =
      std::make_unique<StepChecker>(model.session->executable(), period);
  return absl::OkStatus();
}

// The number of `name` among `names`.
absl::StatusOr<int> NumberOf(absl::string_view name,
                             const std::vector<std::string>& names,
                             absl::string_view kind) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    return absl::InvalidArgumentError(absl::StrCat("--state: the model has no ",
                                                   kind, " ", name, "; it has ",
                                                   absl::StrJoin(names, ", ")));
  }
  return static_cast<int>(found - names.begin());
}

// Sets the state of --state: zeros.
absl::Status AddState(const RunModelOptions& options, Model& model) {
  if (options.state.empty()) return absl::OkStatus();
  const Function main = model.module.Find<Function>("main");
  BATON_ASSIGN_OR_RETURN(const auto pairs,
                         ParseFlagPairs("state", "OUT:IN", options.state));
  for (const auto& [output, input] : pairs) {
    StateBinding ports;
    BATON_ASSIGN_OR_RETURN(ports.output,
                           NumberOf(output, model.output_names, "result"));
    BATON_ASSIGN_OR_RETURN(ports.input,
                           NumberOf(input, model.input_names, "input"));
    const TensorTypeNode* type =
        main->params()[static_cast<size_t>(ports.input)]->tensor_type();
    const auto shape =
        type == nullptr ? std::nullopt : ConstDims(type->shape());
    if (!shape.has_value()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--state: input ", input,
                       " has no shape of numbers; --input_shapes gives one"));
    }
    BATON_ASSIGN_OR_RETURN(Tensor zeros, Tensor::Zeros(type->dtype(), *shape));
    model.state.push_back(ports);
    model.kept.push_back(std::move(zeros));
  }
  return model.session == nullptr ? absl::OkStatus()
                                  : model.session->KeepState(model.state);
}

// Makes the last results of --state arguments.
void KeepState(const NamedTensors& got, Model& model,
               std::vector<Value>& args) {
  model.kept_is_new = false;
  for (size_t i = 0; i < model.state.size(); ++i) {
    model.kept[i] = got[static_cast<size_t>(model.state[i].output)].second;
    args[static_cast<size_t>(model.state[i].input)] = model.kept[i];
  }
}

// A module whose @main has the parameters of that of `module`, and no weights.
absl::StatusOr<IRModule> Signature(const IRModule& module) {
  BATON_ASSIGN_OR_RETURN(const Function main, module.Lookup<Function>("main"));
  IRModule result;
  result.Set("main", Function(std::vector<Var>(main->params().begin(),
                                               main->params().end()),
                              relay::Tuple(std::vector<Expr>())));
  return result;
}

// A module whose @main has the inputs of the executable.
IRModule SignatureOf(const Executable& executable) {
  std::vector<Var> params;
  for (const Executable::Port& port : executable.inputs()) {
    params.push_back(Var(port.name, TensorType::Of(port.shape, port.dtype)));
  }
  IRModule result;
  result.Set("main",
             Function(std::move(params), relay::Tuple(std::vector<Expr>())));
  return result;
}

// Compiles the model for all sizes that --dims permits. `make`, unless null,
// makes the module for sizes where the symbolic one does not serve; `names` are
// those of the dimensions of its inputs.
absl::Status CompileBounded(const RunModelOptions& options, bool has_pipeline,
                            absl::string_view mapped_file,
                            BoundedExecutable::MakeModule make,
                            const std::vector<std::vector<std::string>>& names,
                            Model& model) {
  absl::StatusOr<std::vector<DimBound>> bounds = ParseDimBounds(options.dims);
  if (!bounds.ok()) {
    return absl::Status(bounds.status().code(),
                        absl::StrCat("--dims: ", bounds.status().message()));
  }
  const int threads = ThreadsOf(options);
  const CompileOptions compile = {.pipeline = has_pipeline ? "" : "cpu",
                                  .max_threads = threads,
                                  .mapped_file = mapped_file};
  absl::StatusOr<BoundedExecutable> executable =
      BoundedExecutable::Compile(std::move(model.module), *bounds, compile);
  if (!executable.ok() && make != nullptr) {
    executable =
        BoundedExecutable::Compile(std::move(make), *bounds, compile, names);
  }
  if (!executable.ok()) {
    return absl::Status(
        executable.status().code(),
        absl::StrCat("--dims: ", executable.status().message()));
  }
  // Random arguments have the largest sizes.
  model.module = SignatureOf(executable->largest());
  for (const Executable::Phase& phase : executable->largest().phases()) {
    model.creation.push_back(phase);
  }
  BATON_ASSIGN_OR_RETURN(model.bounded,
                         BoundedSession::Create(*std::move(executable)));
  if (threads > 1) model.pool = std::make_unique<WorkerPool>(threads);
  return absl::OkStatus();
}

// The session for the sizes of `args`, of a model that --dims bounds.
absl::Status ChooseSession(absl::Span<const Value> args, Model& model) {
  if (model.bounded == nullptr) return absl::OkStatus();
  std::vector<TensorView> views;
  for (const Value& arg : args) views.push_back(TensorView(arg.tensor()));
  BATON_ASSIGN_OR_RETURN(model.session, model.bounded->For(views));
  return absl::OkStatus();
}

// The parts of a model of which not all has a plan.
absl::StatusOr<cpu::SplitModule> Split(IRModule module, bool has_pipeline) {
  if (!has_pipeline) {
    BATON_ASSIGN_OR_RETURN(module, RunNamedPipeline("cpu", std::move(module)));
    BATON_ASSIGN_OR_RETURN(module, InferTypes(module));
  }
  return cpu::SplitByKnownSizes(module);
}

// Compiles the model for the executor cpu. The evaluator is left what has no
// plan: all of a model, unless --executor=cpu was given.
absl::Status CompileModel(const RunModelOptions& options, bool has_pipeline,
                          absl::string_view mapped_file, Model& model) {
  const int threads = ThreadsOf(options);
  // Comparing nodes needs the weights again.
  const bool keeps_weights = !options.against.empty();
  IRModule module = model.module;
  if (!keeps_weights) {
    BATON_ASSIGN_OR_RETURN(model.module, Signature(module));
  }
  IRModule uncompiled;
  absl::StatusOr<Executable> executable =
      Compile(std::move(module), {.pipeline = has_pipeline ? "" : "cpu",
                                  .max_threads = threads,
                                  .keep_graph = !options.shadow.empty(),
                                  .mapped_file = mapped_file,
                                  .uncompiled = &uncompiled});
  // A part of it may have a plan.
  if (absl::IsUnimplemented(executable.status()) && options.shadow.empty() &&
      options.state.empty() &&
      (options.profile.empty() || options.profile == "text")) {
    absl::StatusOr<cpu::SplitModule> split = Split(uncompiled, has_pipeline);
    if (split.ok()) {
      absl::StatusOr<Executable> planned = Compile(
          std::move(split->planned), {.pipeline = "", .max_threads = threads});
      if (planned.ok()) {
        if (options.notes != nullptr) {
          *options.notes << "baton-run: the evaluator computes what has no "
                            "plan: "
                         << executable.status().message() << "\n";
        }
        executable = std::move(planned);
        model.rest = std::move(split->rest);
      }
    }
  }
  if (absl::IsUnimplemented(executable.status()) && options.executor.empty() &&
      options.plan.empty() && options.shadow.empty()) {
    if (options.notes != nullptr) {
      *options.notes << "baton-run: the evaluator runs the model, since it has "
                        "no plan: "
                     << executable.status().message() << "\n";
    }
    model.module = std::move(uncompiled);
    return absl::OkStatus();
  }
  BATON_RETURN_IF_ERROR(executable.status());
  BATON_ASSIGN_OR_RETURN(model.owned_session,
                         Session::Create(*std::move(executable)));
  model.session = model.owned_session.get();
  for (const Executable::Phase& phase : model.session->executable().phases()) {
    model.creation.push_back(phase);
  }
  if (threads > 1) model.pool = std::make_unique<WorkerPool>(threads);
  return absl::OkStatus();
}

// The compiler of --executor=jit. An error if the module has nothing to
// compile.
absl::StatusOr<std::shared_ptr<const tir::JitEvaluator>> JitOf(
    const IRModule& module) {
  for (const auto& [var, function] : module.functions()) {
    if (function.Is<tir::PrimFuncNode>()) return tir::JitEvaluator::Create();
  }
  return absl::InvalidArgumentError(
      "--executor=jit: the module has no functions of loops; "
      "--passes=FuseOps,LowerToTir,tir.lower makes them");
}

// A model that baton-opt --emit=executable wrote. The executor runs it unless
// --executor names another one.
absl::StatusOr<Model> ReadCompiled(const ModuleSource& source,
                                   const RunModelOptions& options,
                                   bool is_oracle) {
  for (const auto& [flag, value] :
       {std::pair<const char*, const std::string&>{"passes", options.passes},
        {"dims", options.dims},
        {"input_shapes", options.input_shapes},
        {"input_values", options.input_values}}) {
    if (!value.empty() && !is_oracle) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", flag, ": ", source.name,
                       " is compiled; give the flag to baton-opt"));
    }
  }
  Model result;
  BATON_ASSIGN_OR_RETURN(
      MappedExecutable read,
      ReadExecutable(source.content.bytes, source.content.owner, source.name,
                     {.max_threads = ThreadsOf(options),
                      .version = std::string(BatonVersion()),
                      .is_mapped = source.content.is_mapped,
                      .keep_graph = !options.shadow.empty()}));
  result.module = std::move(read.module);
  BATON_ASSIGN_OR_RETURN(const Function main,
                         result.module.Lookup<Function>("main"));
  result.input_names = InputNames(main);
  result.output_names = std::move(read.output_names);
  if (!is_oracle && !WantsEvaluator(options)) {
    BATON_ASSIGN_OR_RETURN(result.owned_session,
                           Session::Create(std::move(read.executable)));
    result.session = result.owned_session.get();
    if (ThreadsOf(options) > 1) {
      result.pool = std::make_unique<WorkerPool>(ThreadsOf(options));
    }
  }
  if (!is_oracle && options.executor == "jit") {
    BATON_ASSIGN_OR_RETURN(result.jit, JitOf(result.module));
  }
  return result;
}

// Runs the passes of --passes. Says which do not run, if `is_first`.
absl::StatusOr<IRModule> RunPasses(const std::string& passes,
                                   const RunModelOptions& options,
                                   bool is_first, IRModule module) {
  BATON_ASSIGN_OR_RETURN(const PreparedRun prepared,
                         Prepare({.passes = passes,
                                  .opt_level = options.opt_level,
                                  .config = options.config,
                                  .threads = options.threads}));
  const PassContext context(prepared.context);
  const std::string skipped = DescribeSkippedPasses(prepared.pipeline, context);
  if (!skipped.empty() && is_first) {
    std::fprintf(stderr, "%s\n", skipped.c_str());
  }
  BATON_ASSIGN_OR_RETURN(const Pass pipeline,
                         CompletePipeline(prepared, module));
  // Passes release the weights that they replace.
  BATON_ASSIGN_OR_RETURN(
      module, context.Run([&] { return pipeline(std::move(module)); }));
  if (is_first) NoteUnread(options, context);
  return InferTypes(module);
}

// Imports an ONNX file for each combination of sizes of --dims, and runs the
// passes: a graph may not be typed, or have a plan, with symbolic dimensions.
BoundedExecutable::MakeModule ImporterOf(const std::string& path,
                                         const std::string& passes,
                                         const ModuleSource& source,
                                         const RunModelOptions& options,
                                         const TensorsAtHand* at_hand) {
  const auto tensors = std::make_shared<TensorsAtHand>(
      at_hand == nullptr ? TensorsAtHand() : *at_hand);
  return [=](const std::vector<int64_t>& sizes) -> absl::StatusOr<IRModule> {
    ModuleSource sized = source;
    BATON_ASSIGN_OR_RETURN(const std::vector<DimBound> bounds,
                           ParseDimBounds(options.dims));
    for (size_t i = 0; i < bounds.size(); ++i) {
      sized.dims.emplace(bounds[i].name, sizes[i]);
    }
    TensorsAtHand values = *tensors;
    BATON_ASSIGN_OR_RETURN(IRModule module,
                           ReadModule(path, &sized, options,
                                      at_hand == nullptr ? nullptr : &values));
    BATON_ASSIGN_OR_RETURN(module, InferTypes(module));
    if (passes.empty()) return module;
    return RunPasses(passes, options, /*is_first=*/false, std::move(module));
  };
}

// The parts of the inputs, if some are sequences or optionals; otherwise none.
std::vector<TensorPart> PartsOf(const TensorsAtHand& at_hand) {
  const bool any = std::any_of(
      at_hand.parts.begin(), at_hand.parts.end(), [](const TensorPart& part) {
        return part.is_sequence || part.num_tensors != 1;
      });
  return any ? at_hand.parts : std::vector<TensorPart>();
}

// `is_oracle`: the evaluator runs it in any case.
absl::StatusOr<Model> ReadModel(const std::string& path,
                                const std::string& passes,
                                const RunModelOptions& options,
                                TensorsAtHand* at_hand, bool is_oracle) {
  Clock::time_point begin = Clock::now();
  std::optional<ModuleSource> source;
  if (!path.empty()) {
    BATON_ASSIGN_OR_RETURN(source, OpenModule(path, std::cin));
    begin = Clock::now();
    if (IsExecutable(source->content.bytes) || absl::EndsWith(path, ".exe")) {
      BATON_ASSIGN_OR_RETURN(Model compiled,
                             ReadCompiled(*source, options, is_oracle));
      compiled.creation_ms = Milliseconds(begin);
      BATON_RETURN_IF_ERROR(AddShadow(options, compiled));
      BATON_RETURN_IF_ERROR(AddState(options, compiled));
      return compiled;
    }
  }
  Model result;
  if (at_hand != nullptr) {
    at_hand->values_used.clear();
    at_hand->shapes_used.clear();
    // The plan is for shapes that are numbers.
    at_hand->takes_all_shapes =
        !is_oracle && WantsExecutor(options) && options.dims.empty();
  }
  std::vector<std::vector<std::string>> dim_names;
  if (source.has_value()) {
    source->param_dims = &dim_names;
    source->keeps_weights = !is_oracle && WantsExecutor(options);
  }
  BATON_ASSIGN_OR_RETURN(
      result.module, ReadModule(path, source.has_value() ? &*source : nullptr,
                                options, at_hand));
  if (source.has_value()) source->param_dims = nullptr;
  if (at_hand != nullptr) {
    const auto is_in = [](const std::vector<std::string>& names,
                          const std::string& name) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    result.parts = PartsOf(*at_hand);
    for (const auto& [name, tensor] : at_hand->tensors) {
      result.tensor_names.push_back(name);
      if (is_in(at_hand->values_used, name)) {
        result.used_values.emplace_back(name, tensor);
      } else if (is_in(at_hand->shapes_used, name) || !result.parts.empty()) {
        result.used_shapes.emplace_back(name, tensor);
      }
    }
    NoteUsed(path, *at_hand, options);
  }
  BATON_ASSIGN_OR_RETURN(result.module, InferTypes(result.module));
  result.creation.push_back({"read", Milliseconds(begin)});
  // The names are those of the model as it was read.
  if (const Function main = result.module.Find<Function>("main");
      main.defined()) {
    result.input_names = InputNames(main);
    result.output_names = OutputNames(main);
  } else {
    return absl::InvalidArgumentError(absl::StrCat(
        path.empty() ? options.workload : path, " has no function @main"));
  }
  if (!passes.empty()) {
    const Clock::time_point passes_begin = Clock::now();
    BATON_ASSIGN_OR_RETURN(result.module,
                           RunPasses(passes, options, /*is_first=*/true,
                                     std::move(result.module)));
    result.creation.push_back({"passes", Milliseconds(passes_begin)});
  }
  if (!is_oracle && WantsExecutor(options)) {
    const bool has_pipeline = passes == "cpu" || absl::EndsWith(passes, ",cpu");
    const absl::string_view mapped_file =
        source.has_value() && source->content.is_mapped
            ? absl::string_view(source->content.bytes)
            : absl::string_view();
    if (!options.dims.empty()) {
      BoundedExecutable::MakeModule make;
      if (source.has_value() &&
          FormatOf(source->content.bytes, path) == InputFormat::kOnnx) {
        make = ImporterOf(path, passes, *source, options, at_hand);
      }
      BATON_RETURN_IF_ERROR(CompileBounded(options, has_pipeline, mapped_file,
                                           std::move(make), dim_names, result));
      result.creation_ms = Milliseconds(begin);
      return result;
    }
    BATON_RETURN_IF_ERROR(
        CompileModel(options, has_pipeline, mapped_file, result));
  }
  if (!is_oracle && options.executor == "jit") {
    BATON_ASSIGN_OR_RETURN(result.jit, JitOf(result.module));
  }
  result.creation_ms = Milliseconds(begin);
  BATON_RETURN_IF_ERROR(AddShadow(options, result));
  BATON_RETURN_IF_ERROR(AddState(options, result));
  return result;
}

// Views of the arguments of a session. Those that it keeps have no data.
std::vector<TensorView> ViewsOf(const Model& model,
                                const std::vector<Tensor>& inputs) {
  std::vector<TensorView> views(inputs.begin(), inputs.end());
  for (size_t i = 0; i < model.state.size(); ++i) {
    TensorView& view = views[static_cast<size_t>(model.state[i].input)];
    if (!model.kept_is_new && view.data == model.kept[i].data()) {
      view.data = nullptr;
    }
  }
  return views;
}

// The tensors of a result, and of the tuples in it.
absl::StatusOr<std::vector<Tensor>> ResultTensors(const Value& value) {
  if (relay::HasOnlyTensors(value)) return relay::TensorsOf(value);
  return absl::UnimplementedError(
      "a result is a function, a reference or of an algebraic data type; only "
      "tensors are printed, compared and written");
}

// The arguments of the rest of a model, of which `planned` are the results of
// the session.
std::vector<Value> RestArguments(const std::vector<Tensor>& planned,
                                 absl::Span<const Value> args) {
  std::vector<Value> all(planned.begin(), planned.end());
  all.insert(all.end(), args.begin(), args.end());
  return all;
}

// The results of the model, of which `planned` are those of the session.
absl::StatusOr<std::vector<Tensor>> RunRest(const Model& model,
                                            std::vector<Tensor> planned,
                                            absl::Span<const Value> args) {
  if (!model.rest.has_value()) return planned;
  BATON_ASSIGN_OR_RETURN(
      const Value value,
      EvaluateFunction(*model.rest, "main", RestArguments(planned, args)));
  return ResultTensors(value);
}

// The results of a run of the session.
absl::StatusOr<std::vector<Tensor>> RunPlan(
    const Model& model, absl::Span<const Value> args,
    executor::RuntimeInstrument* instrument = nullptr) {
  std::vector<Tensor> inputs;
  for (const Value& arg : args) {
    if (!arg.is_tensor()) {
      return absl::UnimplementedError("an argument is no tensor");
    }
    inputs.push_back(arg.tensor());
  }
  const std::vector<TensorView> views = ViewsOf(model, inputs);
  std::vector<MutableTensor> results;
  for (const Executable::Port& port : model.session->executable().outputs()) {
    BATON_ASSIGN_OR_RETURN(MutableTensor one,
                           MutableTensor::Create(port.dtype, port.shape));
    results.push_back(std::move(one));
  }
  const std::vector<MutableTensorView> targets(results.begin(), results.end());
  BATON_RETURN_IF_ERROR(model.session->Run(
      views, targets, model.pool.get(),
      instrument == nullptr ? model.shadow.get() : instrument));
  std::vector<Tensor> outputs;
  for (MutableTensor& one : results) {
    outputs.push_back(std::move(one).Freeze());
  }
  return outputs;
}

// The results of a run of the executor, which are named as those of the
// evaluator.
absl::StatusOr<NamedTensors> RunExecutor(const Model& model,
                                         absl::Span<const Value> args) {
  BATON_ASSIGN_OR_RETURN(std::vector<Tensor> planned, RunPlan(model, args));
  BATON_ASSIGN_OR_RETURN(const std::vector<Tensor> outputs,
                         RunRest(model, std::move(planned), args));
  NamedTensors result;
  for (size_t i = 0; i < outputs.size(); ++i) {
    result.emplace_back(i < model.output_names.size()
                            ? model.output_names[i]
                            : absl::StrCat("output_", i),
                        outputs[i]);
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
    line_->Show(absl::StrCat(Plural(count_, "node"), " computed, ",
                             onnx::OriginName(node.span())));
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
  // The executor does not compute the results of all nodes.
  if (model.session != nullptr && nodes == nullptr) {
    return RunExecutor(model, args);
  }
  Progress progress(options.progress);
  relay::EvaluateOptions evaluate;
  evaluate.other_level = model.jit.get();
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
      std::string name = onnx::OriginName(node.span());
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
  BATON_ASSIGN_OR_RETURN(const std::vector<Tensor> tensors,
                         ResultTensors(value));
  NamedTensors result;
  for (const Tensor& tensor : tensors) {
    const size_t i = result.size();
    result.emplace_back(i < model.output_names.size()
                            ? model.output_names[i]
                            : absl::StrCat("output_", i),
                        tensor);
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

// VmHWM, in bytes; 0 if the system does not say.
int64_t PeakMemory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    absl::string_view text = line;
    if (!absl::ConsumePrefix(&text, "VmHWM:")) continue;
    int64_t kib = 0;
    text = absl::StripAsciiWhitespace(text);
    return absl::SimpleAtoi(text.substr(0, text.find(' ')), &kib) ? kib * 1024
                                                                  : 0;
  }
  return 0;
}

absl::Status Bench(const Model& model, absl::Span<const Value> args,
                   const RunModelOptions& options, std::ostream& out) {
  std::vector<Tensor> inputs;
  std::vector<TensorView> views;
  std::vector<MutableTensor> results;
  std::vector<MutableTensorView> outputs;
  if (model.session != nullptr) {
    for (const Value& arg : args) inputs.push_back(arg.tensor());
    views = ViewsOf(model, inputs);
    for (const Executable::Port& port : model.session->executable().outputs()) {
      BATON_ASSIGN_OR_RETURN(MutableTensor result,
                             MutableTensor::Create(port.dtype, port.shape));
      results.push_back(std::move(result));
    }
    outputs.assign(results.begin(), results.end());
    for (const StateBinding& ports : model.state) {
      outputs[static_cast<size_t>(ports.output)].data = nullptr;
    }
  }
  std::vector<double> times;  // ms
  for (int i = -std::max(0, options.warmup); i < options.bench; ++i) {
    const Clock::time_point begin = Clock::now();
    if (model.rest.has_value()) {
      BATON_RETURN_IF_ERROR(RunExecutor(model, args).status());
    } else if (model.session != nullptr) {
      BATON_RETURN_IF_ERROR(model.session->Run(views, outputs, model.pool.get(),
                                               model.shadow.get()));
    } else {
      BATON_RETURN_IF_ERROR(EvaluateFunction(model.module, "main", args,
                                             {.other_level = model.jit.get()})
                                .status());
    }
    if (i < 0) continue;
    times.push_back(Milliseconds(begin));
  }
  std::sort(times.begin(), times.end());
  const bool is_plan = model.session != nullptr;
  out << absl::StrFormat(
      "ms min %.3f median %.3f threads %d creation %.3f arena %d peak %d\n",
      times.front(), times[times.size() / 2],
      model.pool != nullptr ? model.pool->num_threads() : 1, model.creation_ms,
      model.bounded != nullptr ? model.bounded->arena_bytes()
      : is_plan                ? model.session->executable().plan().arena_bytes
                               : 0,
      PeakMemory());
  return absl::OkStatus();
}

// The profile of a run of `module`, the model or its rest, by the evaluator.
absl::StatusOr<std::string> EvaluatorProfile(const Model& model,
                                             const IRModule& module,
                                             absl::Span<const Value> args,
                                             const RunModelOptions& options) {
  for (int i = 0; i < std::max(0, options.warmup); ++i) {
    BATON_RETURN_IF_ERROR(
        EvaluateFunction(module, "main", args, {.other_level = model.jit.get()})
            .status());
  }
  RunProfile profile;
  relay::EvaluateOptions evaluate;
  evaluate.other_level = model.jit.get();
  evaluate.observe = [&profile](const ExprNode& node, const Value&) {
    profile.Computed(node);
  };
  BATON_RETURN_IF_ERROR(
      EvaluateFunction(module, "main", args, evaluate).status());
  return profile.Report(options.profile);
}

// The profile of a run of the executor, and of the evaluator behind it.
absl::StatusOr<std::string> ExecutorProfile(const Model& model,
                                            absl::Span<const Value> args,
                                            const RunModelOptions& options) {
  for (int i = 0; i < std::max(0, options.warmup); ++i) {
    BATON_RETURN_IF_ERROR(RunExecutor(model, args).status());
  }
  PlanProfile profile(model.session->executable(), model.creation);
  BATON_ASSIGN_OR_RETURN(const std::vector<Tensor> planned,
                         RunPlan(model, args, &profile));
  BATON_ASSIGN_OR_RETURN(std::string report, profile.Report(options.profile));
  if (!model.rest.has_value()) return report;
  BATON_ASSIGN_OR_RETURN(
      const std::string rest,
      EvaluatorProfile(model, *model.rest, RestArguments(planned, args),
                       options));
  return absl::StrCat(report, "the evaluator:\n", rest);
}

absl::Status Profile(const Model& model, absl::Span<const Value> args,
                     const RunModelOptions& options, std::ostream& out) {
  BATON_ASSIGN_OR_RETURN(
      const std::string report,
      model.session != nullptr
          ? ExecutorProfile(model, args, options)
          : EvaluatorProfile(model, model.module, args, options));
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
absl::StatusOr<std::vector<Value>> ArgsOf(const Model& model,
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

// True if the tensors have the values and shapes for which the model was made.
bool Suits(const Model& model, const TensorsAtHand& at_hand) {
  const NamedTensors& tensors = at_hand.tensors;
  if (PartsOf(at_hand) != model.parts) return false;
  if (model.used_values.empty() && model.used_shapes.empty()) return true;
  if (tensors.size() != model.tensor_names.size()) return false;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto& [given, tensor] = tensors[i];
    const std::string& name = given.empty() ? model.tensor_names[i] : given;
    for (const auto& [used, value] : model.used_values) {
      if (used == name && !(value == tensor)) return false;
    }
    for (const auto& [used, value] : model.used_shapes) {
      if (used == name && value.shape() != tensor.shape()) return false;
    }
  }
  return true;
}

// Gives `next` the state that `last` has, as far as it has the same type, and
// says what starts anew.
void MoveState(const Model& last, Model& next, const RunModelOptions& options) {
  for (size_t i = 0; i < std::min(last.kept.size(), next.kept.size()); ++i) {
    if (last.kept[i].dtype() != next.kept[i].dtype() ||
        last.kept[i].shape() != next.kept[i].shape()) {
      if (options.notes != nullptr) {
        const size_t input = static_cast<size_t>(next.state[i].input);
        *options.notes
            << "--state: input " << next.input_names[input]
            << " has another type than in the run before, and starts "
               "with zeros\n";
      }
      continue;
    }
    next.kept[i] = last.kept[i];
    next.kept_is_new = true;
  }
}

// One set of arguments, and what is expected of it. `given`: the tensors of
// options.inputs, if that is not empty.
absl::StatusOr<bool> RunOnce(Model& model, std::optional<Model>& other,
                             const NamedTensors& given_inputs,
                             const RunModelOptions& options,
                             std::ostream& out) {
  const Function main = model.module.Find<Function>("main");
  std::vector<Value> args;
  std::vector<Value> other_args;
  if (options.random_inputs) {
    absl::StatusOr<std::vector<Value>> random =
        relay::RandomInputs(main, static_cast<uint32_t>(options.seed));
    if (!random.ok() && HasUnknownDimension(main)) {
      return absl::Status(
          random.status().code(),
          absl::StrCat(random.status().message(),
                       "; --input_shapes gives the shape of an input"));
    }
    BATON_ASSIGN_OR_RETURN(args, std::move(random));
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
    NoteNames(options, "expect", given, names, "results");
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
    std::vector<Value> next = other_args;
    KeepState(given, *other, next);
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
  KeepState(got, model, args);
  if (!options.outputs.empty()) {
    BATON_ASSIGN_OR_RETURN(const std::string npz, WriteNpz(got));
    BATON_RETURN_IF_ERROR(WriteFileAtomically(options.outputs, npz));
  }
  if (!options.plan.empty() && model.session != nullptr) {
    const Executable& executable = model.session->executable();
    BATON_RETURN_IF_ERROR(
        WriteFileAtomically(options.plan, absl::EndsWith(options.plan, ".json")
                                              ? PlanJson(executable)
                                              : PlanText(executable)));
  }
  if (options.bench > 0) {
    BATON_RETURN_IF_ERROR(Bench(model, args, options, out));
  }
  if (!options.profile.empty()) {
    BATON_RETURN_IF_ERROR(Profile(model, args, options, out));
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
  BATON_RETURN_IF_ERROR(CheckDifferentFiles({{"the model", options.model},
                                             {"--inputs", options.inputs},
                                             {"--outputs", options.outputs},
                                             {"--report", options.report},
                                             {"--plan", options.plan}}));
  if (!options.plan.empty() && WantsEvaluator(options)) {
    return absl::InvalidArgumentError(
        "--plan: needs --executor=cpu: the evaluator has no plan");
  }
  if (!options.dims.empty()) {
    if (!WantsExecutor(options)) {
      return absl::InvalidArgumentError(
          "--dims needs --executor=cpu: the evaluator takes inputs of any "
          "size");
    }
    for (const auto& [flag, value] :
         {std::pair<const char*, const std::string&>{"shadow", options.shadow},
          {"state", options.state},
          {"against", options.against}}) {
      if (!value.empty()) {
        return absl::InvalidArgumentError(absl::StrCat(
            "--", flag, " needs one size; give --input_shapes, not --dims"));
      }
    }
  }
  if (!options.shadow.empty()) {
    BATON_RETURN_IF_ERROR(ShadowPeriod(options.shadow).status());
    if (WantsEvaluator(options)) {
      return absl::InvalidArgumentError(
          "--shadow: needs --executor=cpu: it compares with the evaluator");
    }
  }
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
  std::optional<Model> model;
  std::optional<Model> other;
  const auto run = [&](const RunModelOptions& one) -> absl::StatusOr<bool> {
    TensorsAtHand at_hand;
    at_hand.kept = kept;
    if (!one.random_inputs && !one.inputs.empty()) {
      BATON_ASSIGN_OR_RETURN(at_hand.tensors,
                             ReadTensors(one.inputs, "input", &at_hand.parts));
    }
    TensorsAtHand* const inputs = one.inputs.empty() ? nullptr : &at_hand;
    if (!model.has_value() || !Suits(*model, at_hand)) {
      BATON_ASSIGN_OR_RETURN(Model next,
                             ReadModel(path, one.passes, one, inputs, false));
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
      BATON_ASSIGN_OR_RETURN(Model next,
                             ReadModel(one.against, "", one, inputs, true));
      if (other.has_value()) MoveState(*other, next, one);
      other = std::move(next);
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
