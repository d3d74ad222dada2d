#include "baton/backend/cpu/executable.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "baton/backend/cpu/fallback_step.h"
#include "baton/backend/cpu/graph.h"
#include "baton/backend/cpu/half_tensors.h"
#include "baton/backend/cpu/known_sizes.h"
#include "baton/backend/cpu/lower.h"
#include "baton/base/dtype.h"
#include "baton/base/out_of_memory.h"
#include "baton/base/pages.h"
#include "baton/base/parallel_for.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/error_at.h"
#include "baton/ir/module.h"
#include "baton/ir/span.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/value.h"
#include "baton/relay/runtime/value_tensors.h"
#include "baton/runtime/executor/plan.h"
#include "baton/runtime/executor/plan_runner.h"
#include "baton/runtime/executor/plan_verifier.h"
#include "baton/runtime/executor/runtime_instrument.h"
#include "baton/runtime/kernels/blocked/kernels.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pipeline.h"

namespace baton {
namespace {

using Clock = std::chrono::steady_clock;

std::string Describe(const Executable::Port& port) {
  return absl::StrCat(port.dtype.ToString(), "[",
                      absl::StrJoin(port.shape, ", "), "]");
}

// True if `view` is a tensor of the port. `is_state`: its data may be null.
template <typename View>
bool Fits(const Executable::Port& port, const View& view, bool is_state) {
  if (view.dtype != port.dtype ||
      view.shape != absl::MakeConstSpan(port.shape)) {
    return false;
  }
  for (const int64_t extent : port.shape) {
    if (extent == 0) return true;
  }
  if (view.data == nullptr) return is_state;
  return IsAligned(view.data, port.dtype.bytes());
}

// The tensors of a type, in order, with -1 for extents that are not constant.
// nullopt if it has other values.
std::optional<std::vector<Executable::Port>> PortsOf(const Type& type) {
  std::vector<Executable::Port> ports;
  std::vector<Type> work = {type};
  while (!work.empty()) {
    const Type one = std::move(work.back());
    work.pop_back();
    if (const auto* tuple = one.As<TupleTypeNode>()) {
      work.insert(work.end(), tuple->fields().rbegin(), tuple->fields().rend());
      continue;
    }
    const auto* tensor = one.As<TensorTypeNode>();
    if (tensor == nullptr) return std::nullopt;
    Executable::Port port = {"", tensor->dtype(), {}};
    for (const Dim& dim : tensor->shape()) {
      port.shape.push_back(dim.is_const() ? dim.value() : -1);
    }
    ports.push_back(std::move(port));
  }
  return ports;
}

// A model of which only a part has a plan.
struct PlannedPart {
  cpu::Graph graph;
  IRModule evaluated;
  std::vector<Executable::Port> outputs;  // of the model
};

// nullopt if no part of the module has a plan.
std::optional<PlannedPart> BuildPlannedPart(const IRModule& module) {
  absl::StatusOr<cpu::SplitModule> split = cpu::SplitByKnownSizes(module);
  if (!split.ok()) return std::nullopt;
  const relay::Function main = split->rest.Find<relay::Function>("main");
  std::optional<std::vector<Executable::Port>> outputs =
      PortsOf(main->body()->type());
  if (!outputs.has_value()) return std::nullopt;
  absl::StatusOr<cpu::Graph> graph = cpu::BuildGraph(split->planned, "main");
  if (!graph.ok()) return std::nullopt;
  return PlannedPart{*std::move(graph), std::move(split->rest),
                     *std::move(outputs)};
}

}  // namespace

absl::StatusOr<IRModule> RunNamedPipeline(const std::string& name,
                                          IRModule module) {
  BATON_ASSIGN_OR_RETURN(const Pass pipeline, ParsePipeline(name));
  PassContextOptions context;
  context.opt_level = OptLevelOf(pipeline);
  return PassContext(context).Run([&] { return pipeline(std::move(module)); });
}

absl::StatusOr<Executable> Compile(IRModule module,
                                   const CompileOptions& options) {
  if (options.uncompiled != nullptr) *options.uncompiled = module;
  auto impl = std::make_shared<Executable::Impl>();
  Clock::time_point begin = Clock::now();
  const auto end_phase = [&impl, &begin](const char* name) {
    const Clock::time_point end = Clock::now();
    impl->phases.push_back(
        {name, std::chrono::duration<double, std::milli>(end - begin).count()});
    begin = end;
  };
  if (options.width.has_value() &&
      !kernels::blocked::IsSupported(*options.width)) {
    return absl::InvalidArgumentError(
        "the processor does not have vectors of that width");
  }
  if (!options.pipeline.empty()) {
    BATON_ASSIGN_OR_RETURN(
        module, RunNamedPipeline(options.pipeline, std::move(module)));
    BATON_ASSIGN_OR_RETURN(module, relay::InferTypes(module));
    end_phase("pipeline");
  }
  absl::StatusOr<cpu::Graph> built = cpu::BuildGraph(module, options.function);
  if (absl::IsUnimplemented(built.status()) && options.allow_evaluated_part &&
      !options.only_sources && options.function == "main") {
    if (std::optional<PlannedPart> part = BuildPlannedPart(module)) {
      impl->evaluated_part = {std::move(part->evaluated),
                              std::string(built.status().message())};
      impl->outputs = std::move(part->outputs);
      built = std::move(part->graph);
    }
  }
  BATON_ASSIGN_OR_RETURN(cpu::Graph graph, std::move(built));
  if (options.use_kernels) {
    BATON_RETURN_IF_ERROR(cpu::ComputeHalvesInFloat32(graph));
  }
  // Weights are the graph's alone now, unless the caller has them.
  module = IRModule();
  if (options.uncompiled != nullptr) *options.uncompiled = IRModule();
  end_phase("graph");
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const cpu::GraphTensor& tensor =
        graph.tensors[static_cast<size_t>(graph.inputs[i])];
    impl->inputs.push_back({graph.input_names[i], tensor.dtype, tensor.shape});
    impl->wrong_input.push_back(absl::InvalidArgumentError(absl::StrCat(
        "input ", i, " (%", graph.input_names[i], ") must be ",
        Describe(impl->inputs.back()), ", aligned to its elements")));
    impl->overlapping.push_back(absl::InvalidArgumentError(
        absl::StrCat("input ", i, " (%", graph.input_names[i],
                     ") overlaps the arena of the session")));
  }
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const cpu::GraphTensor& tensor =
        graph.tensors[static_cast<size_t>(graph.outputs[i])];
    impl->plan_outputs.push_back({"", tensor.dtype, tensor.shape});
    impl->wrong_output.push_back(absl::InvalidArgumentError(absl::StrCat(
        "output ", i, " must be ", Describe(impl->plan_outputs.back()),
        ", aligned to its elements")));
    impl->overlapping.push_back(absl::InvalidArgumentError(
        absl::StrCat("output ", i,
                     " overlaps an input, another output or the arena of the "
                     "session")));
  }
  if (!impl->evaluated_part.has_value()) impl->outputs = impl->plan_outputs;
  for (const cpu::GraphNode& node : graph.nodes) {
    const size_t i = impl->sources.size();
    impl->sources.push_back(
        {node.op_name(), node.call->span(),
         i < options.origins.size() ? options.origins[i] : ""});
  }
  if (options.keep_graph) {
    impl->graph = std::make_shared<const cpu::Graph>(graph);
  }
  BATON_ASSIGN_OR_RETURN(
      impl->plan, cpu::LowerGraph(std::move(graph),
                                  {.max_threads = options.max_threads,
                                   .use_kernels = options.use_kernels,
                                   .packed = options.packed,
                                   .shared = options.shared_weights,
                                   .mapped_file = options.mapped_file,
                                   .width = options.width,
                                   .costs = options.costs.get(),
                                   .costs_width = options.costs_width,
                                   .use_amx = options.use_amx,
                                   .only_sources = options.only_sources}));
  end_phase("packing and plan");
  if (options.verify_plan) {
    BATON_RETURN_IF_ERROR(executor::VerifyPlan(impl->plan));
    end_phase("verification");
  }
  impl->wrong_number = absl::InvalidArgumentError(
      absl::StrCat("the model has ", impl->inputs.size(), " inputs and ",
                   impl->outputs.size(), " outputs"));
  impl->busy = absl::FailedPreconditionError(
      "another thread runs this session, or one with the same arena; each "
      "thread needs one of its own");
  impl->wrong_threads = absl::InvalidArgumentError(absl::StrCat(
      "a run has at least one thread, and the model was compiled for at most ",
      impl->plan.max_threads, " threads (CompileOptions::max_threads)"));
  impl->has_evaluated_part = absl::FailedPreconditionError(
      "the evaluator computes a part of the model: call Session::Run(inputs), "
      "which allocates the results; such a model keeps no state");
  return Executable(std::move(impl));
}

absl::Status Executable::Impl::FailedStep(int32_t step) const {
  const executor::StepNote& note = plan.notes[static_cast<size_t>(step)];
  std::string message = absl::StrCat("step ", step, " (", note.kernel,
                                     ") refuses the values of its operands");
  const char* separator = "; it computes ";
  Span place;
  for (const int32_t i : note.sources) {
    const Source& source = sources[static_cast<size_t>(i)];
    if (!place.defined()) place = source.span;
    if (source.origin.empty()) continue;
    absl::StrAppend(&message, separator, source.origin);
    separator = ", ";
  }
  return ErrorAt(place, std::move(message));
}

Session::Session(Executable executable, void* arena)
    : executable_(std::move(executable)),
      runner_(arena == nullptr
                  ? std::make_unique<executor::PlanRunner>(executable_.plan())
                  : std::make_unique<executor::PlanRunner>(executable_.plan(),
                                                           arena)),
      inputs_(executable_.inputs().size()),
      outputs_(executable_.plan().output_bytes.size()) {
  const executor::Plan& plan = executable_.plan();
  const auto add = [this](int64_t bytes) {
    ranges_.push_back({.port = static_cast<int32_t>(ranges_.size()),
                       .bytes = static_cast<uintptr_t>(bytes)});
  };
  for (const int64_t bytes : plan.input_bytes) add(bytes);
  for (const int64_t bytes : plan.output_bytes) add(bytes);
  add(plan.arena_bytes);
}

absl::StatusOr<std::unique_ptr<Session>> Session::Create(
    Executable executable) {
  std::unique_ptr<Session> session(new Session(std::move(executable), nullptr));
  if (!session->runner_->ok()) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for an arena of ",
                     session->executable_.plan().arena_bytes, " bytes"));
  }
  return session;
}

absl::StatusOr<std::unique_ptr<Session>> Session::Create(
    Executable executable, absl::Span<std::byte> arena,
    std::atomic<bool>* is_running) {
  const int64_t bytes = executable.plan().arena_bytes;
  if (static_cast<int64_t>(arena.size()) < bytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the arena must have ", bytes, " bytes, not ", arena.size()));
  }
  if (!IsAligned(arena.data(), executor::kAlignment)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the arena must be aligned to ", executor::kAlignment, " bytes"));
  }
  std::unique_ptr<Session> session(
      new Session(std::move(executable), arena.data()));
  if (is_running != nullptr) session->is_running_ = is_running;
  return session;
}

bool Session::IsStateInput(size_t i) const {
  return std::any_of(state_.begin(), state_.end(), [&](const State& state) {
    return state.ports.input == static_cast<int>(i);
  });
}

bool Session::IsStateOutput(size_t i) const {
  return std::any_of(state_.begin(), state_.end(), [&](const State& state) {
    return state.ports.output == static_cast<int>(i);
  });
}

absl::Status Session::KeepState(absl::Span<const StateBinding> state) {
  const size_t num_kept = state_.size();
  absl::Status status;
  for (const StateBinding& ports : state) {
    status = KeepOne(ports);
    if (!status.ok()) {
      state_.erase(state_.begin() + static_cast<std::ptrdiff_t>(num_kept),
                   state_.end());
      break;
    }
  }
  return status;
}

absl::Status Session::KeepOne(const StateBinding& ports) {
  const Executable::Impl& impl = *executable_.impl_;
  if (impl.evaluated_part.has_value()) return impl.has_evaluated_part;
  if (ports.output < 0 || ports.input < 0 ||
      static_cast<size_t>(ports.output) >= impl.outputs.size() ||
      static_cast<size_t>(ports.input) >= impl.inputs.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no output ", ports.output, " or no input ",
                     ports.input, " to keep state"));
  }
  const Executable::Port& input = impl.inputs[static_cast<size_t>(ports.input)];
  const Executable::Port& output =
      impl.outputs[static_cast<size_t>(ports.output)];
  if (input.dtype != output.dtype || input.shape != output.shape) {
    return absl::InvalidArgumentError(absl::StrCat(
        "output ", ports.output, " is ", Describe(output), ", but input ",
        ports.input, " (%", input.name, ") is ", Describe(input)));
  }
  if (IsStateInput(static_cast<size_t>(ports.input)) ||
      IsStateOutput(static_cast<size_t>(ports.output))) {
    return absl::InvalidArgumentError(absl::StrCat(
        "output ", ports.output, " or input ", ports.input, " is state twice"));
  }
  State added;
  added.ports = ports;
  for (int i = 0; i < 2; ++i) {
    BATON_ASSIGN_OR_RETURN(MutableTensor place,
                           MutableTensor::Create(input.dtype, input.shape));
    added.places.push_back(std::move(place));
  }
  state_.push_back(std::move(added));
  return absl::OkStatus();
}

int32_t Session::FindOverlap() {
  const size_t num_inputs = inputs_.size();
  const auto arena = static_cast<int32_t>(num_inputs + outputs_.size());
  bool is_sorted = true;
  uintptr_t before = 0;
  for (Range& range : ranges_) {
    const auto port = static_cast<size_t>(range.port);
    const void* const data = range.port == arena ? runner_->arena()
                             : port < num_inputs ? inputs_[port]
                                                 : outputs_[port - num_inputs];
    range.begin = reinterpret_cast<uintptr_t>(data);
    range.end = range.begin + range.bytes;
    is_sorted = is_sorted && range.begin >= before;
    before = range.begin;
  }
  if (!is_sorted) {
    std::sort(ranges_.begin(), ranges_.end(),
              [](const Range& a, const Range& b) { return a.begin < b.begin; });
  }
  // The ranges that end last so far.
  const Range none = {.port = -1, .bytes = 0};
  const Range* last = &none;
  const Range* last_written = &none;
  for (const Range& range : ranges_) {
    if (range.begin == range.end) continue;
    const bool is_written = static_cast<size_t>(range.port) >= num_inputs;
    const Range* const other = is_written ? last : last_written;
    if (range.begin < other->end) {
      // An output rather than an input, which may be right.
      if (range.port == arena) return other->port;
      if (other->port == arena) return range.port;
      return std::max(range.port, other->port);
    }
    if (range.end > last->end) last = &range;
    if (is_written && range.end > last_written->end) last_written = &range;
  }
  return -1;
}

absl::Status Session::Run(absl::Span<const TensorView> inputs,
                          absl::Span<const MutableTensorView> outputs,
                          ParallelFor* parallel,
                          executor::RuntimeInstrument* instrument) {
  if (executable_.evaluated_part() != nullptr) {
    return executable_.impl_->has_evaluated_part;
  }
  return RunPlan(inputs, outputs, parallel, instrument);
}

absl::Status Session::RunPlan(absl::Span<const TensorView> inputs,
                              absl::Span<const MutableTensorView> outputs,
                              ParallelFor* parallel,
                              executor::RuntimeInstrument* instrument) {
  const Executable::Impl& impl = *executable_.impl_;
  if (inputs.size() != impl.inputs.size() ||
      outputs.size() != impl.plan_outputs.size()) {
    return impl.wrong_number;
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!Fits(impl.inputs[i], inputs[i], IsStateInput(i)))
      return impl.wrong_input[i];
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!Fits(impl.plan_outputs[i], outputs[i], IsStateOutput(i)))
      return impl.wrong_output[i];
  }
  if (parallel != nullptr) {
    const int threads = parallel->num_threads();
    if (threads < 1 || threads > impl.plan.max_threads) {
      return impl.wrong_threads;
    }
  }
  if (is_running_->exchange(true, std::memory_order_acquire)) return impl.busy;
  for (size_t i = 0; i < inputs.size(); ++i) inputs_[i] = inputs[i].data;
  for (size_t i = 0; i < outputs.size(); ++i) outputs_[i] = outputs[i].data;
  for (State& state : state_) {
    const void*& input = inputs_[static_cast<size_t>(state.ports.input)];
    void*& output = outputs_[static_cast<size_t>(state.ports.output)];
    if (input == nullptr) {
      input = state.places[static_cast<size_t>(state.current)].data();
    }
    if (output == nullptr) {
      output = state.places[static_cast<size_t>(1 - state.current)].data();
    }
  }
  if (const int32_t port = FindOverlap(); port >= 0) {
    is_running_->store(false, std::memory_order_release);
    return impl.overlapping[static_cast<size_t>(port)];
  }
  cpu::RunState state;
  const executor::PlanRunner::Outcome outcome = runner_->Run(
      inputs_, absl::MakeSpan(outputs_), parallel, &state, instrument);
  if (outcome.step < 0) {
    for (State& state : state_) {
      state.current = 1 - state.current;
      MutableTensor& kept = state.places[static_cast<size_t>(state.current)];
      const MutableTensorView& output =
          outputs[static_cast<size_t>(state.ports.output)];
      if (output.data != nullptr && kept.num_elements() > 0) {
        std::memcpy(kept.data(), output.data,
                    static_cast<size_t>(kept.num_elements()) *
                        static_cast<size_t>(kept.dtype().bytes()));
      }
    }
  }
  is_running_->store(false, std::memory_order_release);
  if (outcome.step < 0) return absl::OkStatus();
  if (!state.failure.ok()) return state.failure;
  return impl.FailedStep(outcome.step);
}

absl::StatusOr<std::vector<Tensor>> Session::Run(
    absl::Span<const Tensor> inputs, ParallelFor* parallel,
    executor::RuntimeInstrument* instrument) {
  BATON_ASSIGN_OR_RETURN(std::vector<Tensor> planned,
                         RunPlan(inputs, parallel, instrument));
  const Executable::EvaluatedPart* const part = executable_.evaluated_part();
  if (part == nullptr) return planned;
  std::vector<relay::Value> args(planned.begin(), planned.end());
  args.insert(args.end(), inputs.begin(), inputs.end());
  std::vector<Tensor> results;
  BATON_RETURN_IF_ERROR(CatchOutOfMemory("the evaluator", [&] {
    BATON_ASSIGN_OR_RETURN(const relay::Value value,
                           relay::EvaluateFunction(part->module, "main", args));
    results = relay::TensorsOf(value);
    return absl::OkStatus();
  }));
  return results;
}

absl::StatusOr<std::vector<Tensor>> Session::RunPlan(
    absl::Span<const Tensor> inputs, ParallelFor* parallel,
    executor::RuntimeInstrument* instrument) {
  const std::vector<TensorView> views(inputs.begin(), inputs.end());
  std::vector<MutableTensor> results;
  for (const Executable::Port& port : executable_.impl_->plan_outputs) {
    BATON_ASSIGN_OR_RETURN(MutableTensor result, MutableTensor::Uninitialized(
                                                     port.dtype, port.shape));
    results.push_back(std::move(result));
  }
  std::vector<MutableTensorView> outputs(results.begin(), results.end());
  BATON_RETURN_IF_ERROR(RunPlan(views, outputs, parallel, instrument));
  std::vector<Tensor> tensors;
  for (MutableTensor& result : results) {
    tensors.push_back(std::move(result).Freeze());
  }
  return tensors;
}

}  // namespace baton
