// Compiles a model to a plan, and runs it.
//
//   BATON_ASSIGN_OR_RETURN(const Executable model, Compile(module, {}));
//   BATON_ASSIGN_OR_RETURN(std::unique_ptr<Session> session,
//                          Session::Create(model));   // one for each thread
//   BATON_RETURN_IF_ERROR(session->Run({image}, {scores}));
//
// All work that does not depend on inputs is done by Compile: passes, choice of
// kernels and layouts, packing of weights, places in memory.

#ifndef BATON_BACKEND_CPU_EXECUTABLE_H_
#define BATON_BACKEND_CPU_EXECUTABLE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/parallel_for.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/ir/span.h"
#include "baton/runtime/executor/plan.h"
#include "baton/runtime/executor/plan_runner.h"
#include "baton/runtime/executor/runtime_instrument.h"
#include "baton/runtime/kernels/blocked/kernels.h"

namespace baton {
namespace cpu {

struct Graph;           // graph.h
class KernelCosts;      // kernel_costs.h
class PackedConstants;  // packed_constants.h
class SharedWeights;    // shared_weights.h

}  // namespace cpu

struct CompileOptions {
  // The function that is compiled.
  std::string function = "main";
  // The named pipeline that runs first; empty for none.
  std::string pipeline = "cpu";
  // The greatest number of threads of a run. The arena has a workspace for
  // each.
  int max_threads = 1;
  // Runs the plan's verifier (runtime/executor/plan_verifier.h).
  bool verify_plan = true;
  // If false, each call is a step that runs the evaluator's kernel. For tests.
  bool use_kernels = true;
  // Uses only kernels that can be written as C++ source, for models that are
  // compiled to C++ libraries.
  bool only_sources = false;
  // If false, or if `only_sources`, values of @main that a plan cannot have are
  // an error. Otherwise the evaluator computes them, and all that depends on
  // them (Executable::evaluated_part).
  bool allow_evaluated_part = true;
  // Keeps the graph, which StepChecker needs (shadow.h), with the weights as
  // they were before packing.
  bool keep_graph = false;
  // If not null, receives and provides the packed weights that several
  // compilations of a model share (bounded_executable.h). Used during Compile
  // only.
  cpu::SharedWeights* shared_weights = nullptr;
  // The bytes of a mapped file. Pages of the file that have weights of the
  // module are released as the weights are packed, so the file must stay mapped
  // until Compile returns.
  absl::string_view mapped_file = {};
  // The vector width of the kernels; nullopt for the widest of the processor.
  // Kernels of bytes use AVX2 for vectors of 256 bits, and plain code for those
  // of 128.
  std::optional<kernels::blocked::Width> width = std::nullopt;
  // The costs of kernels, from which times are predicted: they decide the
  // layouts of convolutions, and into how many parts threads divide a step, but
  // no byte of a result. Null: the built-in table.
  std::shared_ptr<const cpu::KernelCosts> costs = nullptr;
  // The vector width for which times are predicted; nullopt for `width`, or, if
  // `only_sources`, for 256 bits.
  std::optional<kernels::blocked::Width> costs_width = std::nullopt;
  // If false, products of integers do not use AMX, and Compile does not request
  // the permission that AMX needs, which also makes Linux refuse small stacks
  // of signals (runtime/kernels/blocked/int8_isa.h). The results are the same.
  bool use_amx = true;
  // If not null and the module cannot become a graph, Compile moves the module
  // here; otherwise Compile sets it to an empty module. So a caller can give
  // Compile its only reference, in which case weights are packed in place, and
  // still evaluate a module that does not compile.
  IRModule* uncompiled = nullptr;
  // For files of executables (executable_file.h). Compile fills `packed` if it
  // is empty, otherwise takes packed constants from it. Null outside of
  // Compile.
  cpu::PackedConstants* packed = nullptr;
  // The names of the calls in the file of the model, in the order of the calls.
  std::vector<std::string> origins;
};

// A tensor in the caller's memory, which is aligned to its elements. The bytes
// of bools are 0 or 1.
struct TensorView {
  TensorView(DType dtype, absl::Span<const int64_t> shape, const void* data)
      : dtype(dtype), shape(shape), data(data) {}
  TensorView(const Tensor& tensor)  // NOLINT
      : TensorView(tensor.dtype(), tensor.shape(), tensor.data()) {}

  DType dtype;
  absl::Span<const int64_t> shape;
  const void* data;
};

struct MutableTensorView {
  MutableTensorView(DType dtype, absl::Span<const int64_t> shape, void* data)
      : dtype(dtype), shape(shape), data(data) {}
  MutableTensorView(MutableTensor& tensor)  // NOLINT
      : MutableTensorView(tensor.dtype(), tensor.shape(), tensor.data()) {}

  DType dtype;
  absl::Span<const int64_t> shape;
  void* data;
};

// A compiled model. Immutable; copies share it, and threads may.
class Executable {
 public:
  struct Port {
    std::string name;  // of an input; empty for an output
    DType dtype;
    TensorShape shape;
  };
  // The source location of an operator in the module before the pipeline ran.
  struct Source {
    std::string op_name;
    Span span;
    // The operator's name in the file of the model; empty if it has none.
    std::string origin = {};
  };

  // A part of compilation and its time.
  struct Phase {
    std::string name;
    double ms = 0;
  };

  const std::vector<Port>& inputs() const { return impl_->inputs; }
  // An extent that depends on values is -1.
  const std::vector<Port>& outputs() const { return impl_->outputs; }
  const executor::Plan& plan() const { return impl_->plan; }
  // The part of the model that the evaluator computes after the plan: values
  // that a plan cannot have, such as the boxes that non-maximum suppression
  // selects, whose number depends on values, or branches that are too deep; and
  // all that depends on them.
  struct EvaluatedPart {
    // The parameters of @main are the outputs of the plan, then the inputs of
    // the model; its tensors are the results of the model.
    IRModule module;
    // Names the first such value, with its place.
    std::string reason;
  };
  // Null if the plan computes all.
  const EvaluatedPart* evaluated_part() const {
    return impl_->evaluated_part.has_value() ? &*impl_->evaluated_part
                                             : nullptr;
  }
  // The sources to which the numbers in StepNote::sources refer.
  const std::vector<Source>& sources() const { return impl_->sources; }
  // The parts of compilation, in the order in which they ran.
  const std::vector<Phase>& phases() const { return impl_->phases; }
  // Null without CompileOptions::keep_graph.
  const cpu::Graph* graph() const { return impl_->graph.get(); }

 private:
  friend class Session;
  friend absl::StatusOr<Executable> Compile(IRModule module,
                                            const CompileOptions& options);
  struct Impl {
    std::vector<Port> inputs;
    std::vector<Port> outputs;
    std::vector<Port> plan_outputs;  // those of the plan
    std::optional<EvaluatedPart> evaluated_part;
    std::vector<Source> sources;
    std::vector<Phase> phases;
    executor::Plan plan;
    std::shared_ptr<const cpu::Graph> graph;
    // The errors that a run may return.
    absl::Status wrong_number;
    std::vector<absl::Status> wrong_input;
    std::vector<absl::Status> wrong_output;
    std::vector<absl::Status> overlapping;  // of inputs, then of outputs
    absl::Status busy;
    absl::Status wrong_threads;
    absl::Status has_evaluated_part;

    // The error of a run in which `step` failed, at the operator that it
    // computes.
    absl::Status FailedStep(int32_t step) const;
  };

  explicit Executable(std::shared_ptr<const Impl> impl)
      : impl_(std::move(impl)) {}

  std::shared_ptr<const Impl> impl_;
};

// Runs the named pipeline at the optimization level that it declares.
absl::StatusOr<IRModule> RunNamedPipeline(const std::string& name,
                                          IRModule module);

// Compiles a typed module. If `module` is moved here, weights without other
// references are released as they are packed. Errors have source locations:
// those of BuildGraph (backend/cpu/graph.h). If the evaluator computes a part of
// the model (Executable::evaluated_part), results cannot be written to memory of
// the caller, and no state is kept.
absl::StatusOr<Executable> Compile(IRModule module,
                                   const CompileOptions& options);

// A result that is an input of the next run.
struct StateBinding {
  int output = 0;
  int input = 0;
};

// The memory of one run at a time. Sessions of one executable share its
// weights.
class Session {
 public:
  static absl::StatusOr<std::unique_ptr<Session>> Create(Executable executable);
  // Uses `arena`, which has plan().arena_bytes bytes, is aligned to 64 bytes
  // and outlives the session. Sessions that share an arena share `is_running`,
  // with which a run rejects a second one; null for a flag of the session.
  static absl::StatusOr<std::unique_ptr<Session>> Create(
      Executable executable, absl::Span<std::byte> arena,
      std::atomic<bool>* is_running = nullptr);

  // Keeps outputs in the session as inputs of the next run. Call it before the
  // first run. In Run(), null data of such an input means the kept output, at
  // first zeros; other data replaces it. Null data of such an output means that
  // the result stays in the session; it is not copied, as there are two
  // buffers. After an error the session keeps what it kept before.
  absl::Status KeepState(absl::Span<const StateBinding> state);

  // Computes `outputs` from `inputs`, on the threads of `parallel` if that is
  // not null. Inputs may share memory. Allocates nothing unless a step of the
  // plan is a fallback (a call of the evaluator) or rejects values, which is an
  // error at its operator. Other errors, which Compile allocated, and after
  // which no output has changed: views that do not match the ports, an output
  // that overlaps an input or another output, an input or output in the arena,
  // a number of threads that `parallel` has and the plan does not allow, a run
  // while another one is running, a model with an evaluated part.
  absl::Status Run(absl::Span<const TensorView> inputs,
                   absl::Span<const MutableTensorView> outputs,
                   ParallelFor* parallel = nullptr,
                   executor::RuntimeInstrument* instrument = nullptr);

  // As above, with new tensors for the results. Computes the evaluated part of
  // the model, too.
  absl::StatusOr<std::vector<Tensor>> Run(
      absl::Span<const Tensor> inputs, ParallelFor* parallel = nullptr,
      executor::RuntimeInstrument* instrument = nullptr);

  // Runs the plan alone, and returns its outputs.
  absl::StatusOr<std::vector<Tensor>> RunPlan(
      absl::Span<const Tensor> inputs, ParallelFor* parallel = nullptr,
      executor::RuntimeInstrument* instrument = nullptr);

  const Executable& executable() const { return executable_; }

 private:
  Session(Executable executable, void* arena);

  // Runs the plan.
  absl::Status RunPlan(absl::Span<const TensorView> inputs,
                       absl::Span<const MutableTensorView> outputs,
                       ParallelFor* parallel,
                       executor::RuntimeInstrument* instrument);
  // KeepState for one binding.
  absl::Status KeepOne(const StateBinding& ports);
  // Memory that a run reads or writes.
  struct Range {
    int32_t port;  // the inputs, then the outputs, then the arena
    uintptr_t bytes;
    uintptr_t begin = 0;
    uintptr_t end = 0;
  };

  bool IsStateInput(size_t i) const;
  bool IsStateOutput(size_t i) const;
  // The number of an input or output, as Range::port, that overlaps what it
  // must not; -1 if none does. For a run that has begun.
  int32_t FindOverlap();

  const Executable executable_;
  std::unique_ptr<executor::PlanRunner> runner_;
  std::vector<const void*> inputs_;
  std::vector<void*> outputs_;
  // All ports and the arena, by their begin in the last run, which is mostly
  // their order in the next one.
  std::vector<Range> ranges_;
  struct State {
    StateBinding ports;
    std::vector<MutableTensor> places;  // two
    int current = 0;
  };
  std::vector<State> state_;
  std::atomic<bool> own_is_running_{false};
  std::atomic<bool>* is_running_ = &own_is_running_;
};

}  // namespace baton

#endif  // BATON_BACKEND_CPU_EXECUTABLE_H_
