// Plan: a computation as a flat list of steps over one arena.
//
// A plan is data: functions, offsets and parameters that were chosen before. It
// does not refer to the program that it computes. PlaceValues gives values
// their offsets in the arena (arena_planner.h); VerifyPlan checks the result
// (plan_verifier.h); a PlanRunner runs it (plan_runner.h).

#ifndef BATON_RUNTIME_EXECUTOR_PLAN_H_
#define BATON_RUNTIME_EXECUTOR_PLAN_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "baton/base/align.h"

namespace baton::executor {

// The alignment of the arena and of the values in it, in bytes. Inputs and
// outputs are aligned to their elements, and so are constants, except those of
// which steps only copy bytes.
inline constexpr int64_t kAlignment = 64;

// The arguments of a step's function.
struct StepCall {
  const void* params;
  const void* const* inputs;
  void* const* outputs;
  // Memory of this thread alone: Step::workspace_bytes, aligned to kAlignment.
  void* workspace;
  // True if the previous call of this function with this workspace was of the
  // same step in the same run: the workspace has what that call wrote.
  bool resumes = false;
  // The part of the step's items that the call computes.
  int64_t begin;
  int64_t end;
  void* user;  // from PlanRunner::Run
};

// Computes a part of a step. Returns 0, or a number other than 0 for values
// that the step refuses. A function of a plan without fallbacks allocates no
// memory. Calls for disjoint parts run at the same time and write disjoint
// bytes. The bytes do not depend on how items are divided.
using StepFunction = int (*)(const StepCall& call);

// The memory of a value.
enum class Space : uint8_t { kArena, kConstant, kInput, kOutput };

// A piece of memory with one lifetime.
struct Value {
  Space space = Space::kArena;
  // The place among the constants, the inputs or the outputs.
  int32_t index = 0;
  int64_t bytes = 0;
  // In the arena.
  int64_t offset = 0;
  // The steps that first and last use the value. An input begins at -1, and an
  // output ends at the number of steps; only values in the arena need them.
  int32_t first_step = 0;
  int32_t last_step = 0;
  // The value whose bytes this one overwrites in its first step, element by
  // element; -1 for none.
  int32_t overwrites = -1;
};

// The part of a value that a step reads or writes.
struct Operand {
  int32_t value = 0;
  int64_t offset = 0;  // in the value
  int64_t bytes = 0;
};

struct Step {
  StepFunction function = nullptr;
  // Owned by Plan::owners, or static.
  const void* params = nullptr;
  // Places in Plan::operands: inputs first.
  int32_t first_operand = 0;
  int32_t num_inputs = 0;
  int32_t num_outputs = 0;
  // The number of items of work that threads divide; at least 1.
  int64_t items = 1;
  // The value with the workspaces of all threads; -1 for none.
  int32_t workspace = -1;
  int64_t workspace_bytes = 0;  // of one thread, a multiple of kAlignment
  // The input that result 0 may overwrite, element by element: kNoInput,
  // kAnyInput or its number.
  int32_t overwritable = kNoInput;
  // The predicted time at one thread, in nanoseconds: short steps are not
  // divided.
  double cost_ns = 0;

  static constexpr int32_t kNoInput = -1;
  static constexpr int32_t kAnyInput = -2;
};

// An operand as a tensor of the caller's program.
struct NotedTensor {
  int32_t number = -1;  // -1 if the operand is not such a tensor
  // True if the channels are in blocks of 16: the layout (N, C / 16, H, W, 16).
  bool is_blocked = false;
};

// A layout that a step might have had.
struct Candidate {
  std::string layout;
  double cost_ns = 0;  // predicted, with the conversions that it needs
};

// The description of a step, for reports. Runs do not use it.
struct StepNote {
  std::string kernel;              // `conv2d.blocked16`
  std::vector<std::string> names;  // of the operators that it computes
  std::vector<int32_t> sources;    // numbers of nodes of the caller's program
  // The operands: inputs first. Empty if they are not known.
  std::vector<NotedTensor> tensors;
  std::string reason;  // why this kernel and this layout
  // The layouts among which predicted times decided, the chosen one first.
  std::vector<Candidate> candidates;
  double flops = 0;
  double bytes = 0;  // read and written, each operand once
  bool is_fallback = false;
};

struct Constant {
  const void* data = nullptr;
  int64_t bytes = 0;
};

// A plan. Immutable once it is made, and shared between threads.
struct Plan {
  std::vector<Step> steps;
  std::vector<StepNote> notes;  // one for each step
  std::vector<Operand> operands;
  std::vector<Value> values;
  std::vector<Constant> constants;
  std::vector<int64_t> input_bytes;
  std::vector<int64_t> output_bytes;
  int64_t arena_bytes = 0;
  // The largest sum of the bytes of values in the arena that live at the same
  // time, each rounded up to kAlignment: no plan of these values needs less.
  int64_t arena_lower_bound = 0;
  // DataflowDigest() of the plan before its values had places.
  uint64_t dataflow = 0;
  // The most threads for which there is workspace.
  int32_t max_threads = 1;
  std::vector<std::shared_ptr<const void>> owners;
  // The machine on which the costs were measured from which times are
  // predicted; for reports.
  std::string costs;
};

inline int64_t AlignUp(int64_t bytes) {
  return baton::AlignUp(bytes, kAlignment);
}

}  // namespace baton::executor

#endif  // BATON_RUNTIME_EXECUTOR_PLAN_H_
