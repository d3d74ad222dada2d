#include "baton/tools/runnable_model.h"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "baton/backend/cpu/bounded_executable.h"
#include "baton/backend/cpu/dim_bounds.h"
#include "baton/backend/cpu/executable.h"
#include "baton/backend/cpu/executable_file.h"
#include "baton/backend/cpu/kernel_costs.h"
#include "baton/backend/cpu/shadow.h"
#include "baton/base/pages.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/base/worker_pool.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/runtime/value.h"
#include "baton/runtime/io/npy.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/jit/jit_evaluator.h"
#include "baton/tools/flag_pairs.h"
#include "baton/tools/input.h"
#include "baton/tools/kernel_costs_file.h"
#include "baton/tools/module_source.h"
#include "baton/tools/prepared_run.h"
#include "baton/tools/run_model_options.h"
#include "baton/tools/run_options.h"
#include "baton/tools/tensor_files.h"
#include "baton/tools/unused_flags.h"
#include "baton/tools/version.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"

namespace baton {
namespace {

using relay::Function;
using relay::InferTypes;
using relay::Value;
using relay::Var;

using Clock = std::chrono::steady_clock;

double Milliseconds(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin)
      .count();
}

// True if --executor names an executor without plans.
bool WantsEvaluator(const RunModelOptions& options) {
  return options.executor == "evaluator" || options.executor == "jit";
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
// going to be run with, or null. `further_files` receives the paths of further
// files that are read, unless null.
absl::StatusOr<IRModule> ReadModule(const std::string& path,
                                    ModuleSource* source,
                                    const RunModelOptions& options,
                                    TensorsAtHand* at_hand,
                                    std::vector<std::string>* further_files) {
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
  if (further_files != nullptr) *further_files = std::move(read.further_files);
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

absl::Status AddShadow(const RunModelOptions& options, RunnableModel& model) {
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

// InvalidArgument if result `output` cannot be input `input` of the next run,
// or if one of them is state already.
absl::Status CheckState(const RunnableModel& model, const Function& main,
                        const StateBinding& ports) {
  const auto output = static_cast<size_t>(ports.output);
  const auto input = static_cast<size_t>(ports.input);
  const std::string& from_name = model.output_names[output];
  const std::string& to_name = model.input_names[input];
  for (const StateBinding& other : model.state) {
    if (other.output == ports.output || other.input == ports.input) {
      return absl::InvalidArgumentError(
          absl::StrCat("--state: result ", from_name, " or input ", to_name,
                       " is named twice"));
    }
  }
  const Type results = main->body()->type();
  const auto* tuple = results.As<TupleTypeNode>();
  // The fields of a tuple of tuples have other numbers, and the module of a
  // session has no results: Session::KeepState() checks these.
  if (tuple != nullptr && tuple->fields().size() != model.output_names.size()) {
    return absl::OkStatus();
  }
  const Type result = tuple == nullptr ? results : tuple->fields()[output];
  const Type parameter = main->params()[input]->annotation();
  const auto* from = result.As<TensorTypeNode>();
  const auto* to = parameter.As<TensorTypeNode>();
  if (from == nullptr || to == nullptr) return absl::OkStatus();
  const auto shape = ConstDims(from->shape());
  if (from->dtype() == to->dtype() &&
      (!shape.has_value() || shape == ConstDims(to->shape()))) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "--state: result ", from_name, " and input ", to_name,
      " differ: ", result.ToString(), " and ", parameter.ToString()));
}

// Sets the state of --state: zeros.
absl::Status AddState(const RunModelOptions& options, RunnableModel& model) {
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
    BATON_RETURN_IF_ERROR(CheckState(model, main, ports));
    BATON_ASSIGN_OR_RETURN(Tensor zeros, Tensor::Zeros(type->dtype(), *shape));
    model.state.push_back(ports);
    model.kept.push_back(std::move(zeros));
  }
  return model.session == nullptr ? absl::OkStatus()
                                  : model.session->KeepState(model.state);
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

// The table of --kernel_costs; null without the flag. Names the rows that it
// does not have.
absl::StatusOr<std::shared_ptr<const cpu::KernelCosts>> CostsOf(
    const RunModelOptions& options) {
  if (options.kernel_costs.empty()) return nullptr;
  return ReadKernelCosts(options.kernel_costs, options.notes, "baton-run");
}

void NoteEvaluatedPart(const Executable& executable,
                       const RunModelOptions& options) {
  if (executable.evaluated_part() == nullptr || options.notes == nullptr) {
    return;
  }
  *options.notes << "baton-run: the evaluator computes what has no plan: "
                 << executable.evaluated_part()->reason << "\n";
}

// Compiles the model for all sizes that --dims permits. `make`, unless null,
// makes the module for sizes where the symbolic one does not serve; `names` are
// those of the dimensions of its inputs.
absl::Status CompileBounded(const RunModelOptions& options, bool has_pipeline,
                            absl::string_view mapped_file,
                            BoundedExecutable::MakeModule make,
                            const std::vector<std::vector<std::string>>& names,
                            RunnableModel& model) {
  absl::StatusOr<std::vector<DimBound>> bounds = ParseDimBounds(options.dims);
  if (!bounds.ok()) {
    return absl::Status(bounds.status().code(),
                        absl::StrCat("--dims: ", bounds.status().message()));
  }
  const int threads = ThreadsOf(options);
  BATON_ASSIGN_OR_RETURN(auto costs, CostsOf(options));
  CompileOptions compile = {.pipeline = has_pipeline ? "" : "cpu",
                            .max_threads = threads,
                            .mapped_file = mapped_file,
                            .costs = std::move(costs)};
  // A plan of the whole model, if there is one.
  absl::StatusOr<BoundedExecutable> executable = absl::UnimplementedError("");
  for (const bool in_part : {false, true}) {
    if (!absl::IsUnimplemented(executable.status())) break;
    compile.allow_evaluated_part = in_part;
    executable = BoundedExecutable::Compile(model.module, *bounds, compile);
    if (!executable.ok() && make != nullptr) {
      executable = BoundedExecutable::Compile(make, *bounds, compile, names);
    }
  }
  if (!executable.ok()) {
    return absl::Status(
        executable.status().code(),
        absl::StrCat("--dims: ", executable.status().message()));
  }
  // Random arguments have the largest sizes.
  model.module = SignatureOf(executable->largest());
  NoteEvaluatedPart(executable->largest(), options);
  for (const Executable::Phase& phase : executable->largest().phases()) {
    model.creation.push_back(phase);
  }
  BATON_ASSIGN_OR_RETURN(model.bounded,
                         BoundedSession::Create(*std::move(executable)));
  if (threads > 1) model.pool = std::make_unique<WorkerPool>(threads);
  return absl::OkStatus();
}

// Compiles the model for the executor cpu. The evaluator is left what has no
// plan: all of a model, unless --executor=cpu was given.
absl::Status CompileModel(const RunModelOptions& options, bool has_pipeline,
                          absl::string_view mapped_file, RunnableModel& model) {
  const int threads = ThreadsOf(options);
  // Comparing nodes needs the weights again.
  const bool keeps_weights = !options.against.empty();
  IRModule module = model.module;
  if (!keeps_weights) {
    BATON_ASSIGN_OR_RETURN(model.module, Signature(module));
  }
  IRModule uncompiled;
  BATON_ASSIGN_OR_RETURN(const auto costs, CostsOf(options));
  absl::StatusOr<Executable> executable =
      Compile(std::move(module), {.pipeline = has_pipeline ? "" : "cpu",
                                  .max_threads = threads,
                                  .allow_evaluated_part = options.state.empty(),
                                  .keep_graph = !options.shadow.empty(),
                                  .mapped_file = mapped_file,
                                  .costs = costs,
                                  .uncompiled = &uncompiled});
  if (executable.ok()) NoteEvaluatedPart(*executable, options);
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
absl::StatusOr<RunnableModel> ReadCompiled(const ModuleSource& source,
                                           const RunModelOptions& options,
                                           bool is_oracle) {
  for (const auto& [flag, value] :
       {std::pair<const char*, const std::string&>{"passes", options.passes},
        {"dims", options.dims},
        {"kernel_costs", options.kernel_costs},
        {"input_shapes", options.input_shapes},
        {"input_values", options.input_values}}) {
    if (!value.empty() && !is_oracle) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", flag, ": ", source.name,
                       " is compiled; give the flag to baton-opt"));
    }
  }
  RunnableModel result;
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
    NoteEvaluatedPart(result.session->executable(), options);
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
                                      at_hand == nullptr ? nullptr : &values,
                                      /*further_files=*/nullptr));
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

}  // namespace

bool WantsExecutor(const RunModelOptions& options) {
  if (!options.executor.empty()) return options.executor == "cpu";
  return options.bench > 0 || !options.profile.empty() ||
         !options.plan.empty() || !options.shadow.empty();
}

absl::Status CheckExecutorFlags(const RunModelOptions& options) {
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
  return absl::OkStatus();
}

absl::StatusOr<RunnableModel> ReadRunnableModel(const std::string& path,
                                                const std::string& passes,
                                                const RunModelOptions& options,
                                                TensorsAtHand* at_hand,
                                                bool is_oracle) {
  Clock::time_point begin = Clock::now();
  std::optional<ModuleSource> source;
  if (!path.empty()) {
    BATON_ASSIGN_OR_RETURN(source, OpenModule(path, std::cin));
    begin = Clock::now();
    if (IsExecutable(source->content.bytes) || absl::EndsWith(path, ".exe")) {
      BATON_ASSIGN_OR_RETURN(RunnableModel compiled,
                             ReadCompiled(*source, options, is_oracle));
      compiled.creation_ms = Milliseconds(begin);
      BATON_RETURN_IF_ERROR(AddShadow(options, compiled));
      BATON_RETURN_IF_ERROR(AddState(options, compiled));
      return compiled;
    }
  }
  RunnableModel result;
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
                                options, at_hand, &result.further_files));
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
    // Releases the pages that passes have read; the plan reads again those that it
    // needs.
    if (source.has_value() && source->content.is_mapped) {
      const absl::string_view file = source->content.bytes;
      AdviseWholePages(file.data(), file.size(), MADV_DONTNEED);
    }
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

void NoteUnread(const RunModelOptions& options, const PassContext& context) {
  if (options.notes == nullptr) return;
  for (const std::string& line : UnreadSettings(options.config, context)) {
    *options.notes << line << "\n";
  }
}

absl::Status ChooseSession(absl::Span<const Value> args, RunnableModel& model) {
  if (model.bounded == nullptr) return absl::OkStatus();
  std::vector<TensorView> views;
  for (const Value& arg : args) views.push_back(TensorView(arg.tensor()));
  BATON_ASSIGN_OR_RETURN(model.session, model.bounded->For(views));
  return absl::OkStatus();
}

bool Suits(const RunnableModel& model, const TensorsAtHand& at_hand) {
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

void MoveState(const RunnableModel& last, RunnableModel& next,
               const RunModelOptions& options) {
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

}  // namespace baton
