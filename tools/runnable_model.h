// A model that `baton-run` has read, and compiled if the executor runs it.

#ifndef BATON_TOOLS_RUNNABLE_MODEL_H_
#define BATON_TOOLS_RUNNABLE_MODEL_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/backend/cpu/bounded_executable.h"
#include "baton/backend/cpu/executable.h"
#include "baton/backend/cpu/shadow.h"
#include "baton/base/tensor.h"
#include "baton/base/worker_pool.h"
#include "baton/ir/module.h"
#include "baton/relay/runtime/value.h"
#include "baton/runtime/io/npy.h"
#include "baton/tir/jit/jit_evaluator.h"
#include "baton/tools/input.h"
#include "baton/tools/run_model_options.h"
#include "baton/transform/pass_context.h"

namespace baton {

struct RunnableModel {
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
  // The paths of further files that it was read from, such as external data.
  std::vector<std::string> further_files;
  // The parts of its inputs, if some are sequences or optionals.
  std::vector<TensorPart> parts;
  // The compiled model and its memory; null if the evaluator runs it.
  Session* session = nullptr;
  std::unique_ptr<Session> owned_session;
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

// True if the executor cpu runs the model: by default where time or memory is
// measured.
bool WantsExecutor(const RunModelOptions& options);

// Errors of --shadow and --executor: a period that is none, an executor without
// plans where a flag needs one.
absl::Status CheckExecutorFlags(const RunModelOptions& options);

// Reads the model in the file `path`, or the workload if `path` is empty, and
// runs `passes`. `at_hand`: the tensors that the model is going to be run with;
// may be null. If `is_oracle`, the evaluator runs it in any case.
absl::StatusOr<RunnableModel> ReadRunnableModel(const std::string& path,
                                                const std::string& passes,
                                                const RunModelOptions& options,
                                                TensorsAtHand* at_hand,
                                                bool is_oracle);

// Notes the settings of --config that no pass has read.
void NoteUnread(const RunModelOptions& options, const PassContext& context);

// Takes the session for the sizes of `args`, of a model that --dims bounds.
absl::Status ChooseSession(absl::Span<const relay::Value> args,
                           RunnableModel& model);

// True if the tensors have the values and shapes for which the model was made.
bool Suits(const RunnableModel& model, const TensorsAtHand& at_hand);

// Gives `next` the state that `last` has, as far as it has the same type, and
// notes what starts anew.
void MoveState(const RunnableModel& last, RunnableModel& next,
               const RunModelOptions& options);

}  // namespace baton

#endif  // BATON_TOOLS_RUNNABLE_MODEL_H_
