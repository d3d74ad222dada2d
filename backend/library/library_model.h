// LibraryModel: the steps and the memory of a model, from which compile_model.h
// writes a C++ library.
//
// A step is a call of a function of loops, or C++ source that uses the kernels
// of the executor (backend/cpu/step_source.h).

#ifndef BATON_BACKEND_LIBRARY_LIBRARY_MODEL_H_
#define BATON_BACKEND_LIBRARY_LIBRARY_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/backend/cpu/padded_sizes.h"
#include "baton/backend/cpu/step_source.h"
#include "baton/backend/library/loops_check.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/tir/codegen/cpp_source.h"
#include "baton/transform/pass_context.h"

namespace baton {

enum class LibrarySpace { kInput, kOutput, kConstant, kArena };

// A tensor in memory.
struct LibrarySlot {
  LibrarySpace space = LibrarySpace::kArena;
  int index = 0;  // among the inputs, outputs or constants
  // In bytes, in the arena, or in the input, output or constant.
  int64_t offset = 0;
  DType dtype;
  std::vector<int64_t> shape;
  int64_t bytes = 0;
  // The place among the operands of a step of the plan, inputs first; -1 for
  // none.
  int operand = -1;
  bool is_result = false;
  // True if each group of LibraryStep::groups has rows of its own in the
  // tensor, false if all read the whole of it.
  bool has_groups = false;
};

// Steps that compute nothing: above all the beginnings and ends of branches and
// loops. The steps between them are those of the executor's nested plans.
enum class LibraryControl {
  kNone,
  kIf,     // if slots[0], a boolean
  kElse,   // the steps of the other branch
  kLoop,   // repeats the steps before its end
  kBreak,  // leaves the loop if slots[0] is not `continue_value`
  kEnd,    // of the branch or the loop
  kMark,   // computes nothing: shows the operands of a loop
  kFail,   // ends the run with an error
};

struct LibraryStep {
  LibraryControl control = LibraryControl::kNone;
  bool continue_value = true;
  std::string kernel;  // `conv.blocked16+bias`
  std::string origin;  // lines: the places in the model
  std::string reason;  // why this kernel and this layout; may be empty
  // The number of a function of loops in LibraryModel::functions; or -1, and
  // there are `sources` unless the step is a `control`.
  int function = -1;
  // The groups of rows of the operands (backend/cpu/row_groups.h), for each of
  // which the function is called; each thread has its own workspace.
  int64_t groups = 1;
  int64_t group_workspace_bytes = 0;
  // One for any number of threads, or one for each of ThreadCounts().
  std::vector<cpu::StepSource> sources;
  // The operands of a source, or of the function's buffers; results last.
  std::vector<LibrarySlot> slots;
  // The place in the arena of the workspaces of all threads.
  int64_t workspace_bytes = 0;
  int64_t workspace_offset = 0;
  double flops = 0;
  // The number of parts that are worth a thread each, by the predicted time. The
  // plan's arena has workspaces for the most threads of a run only.
  int64_t most_parts = 1;
};

// The numbers of threads for which steps are divided: 1, 2, 4 and so on, and
// `most`, which is at least 1. A run on other threads takes the next larger
// number.
std::vector<int> ThreadCounts(int most);
// The index in ThreadCounts(), if it is that long, of the number of threads for
// which steps are divided in runs that do not say how many threads they have.
// The number of parts of a step in such a run depends on how many parts have
// run concurrently before, and is at most that of a run on `most` threads.
inline constexpr size_t kUnknownThreadsLevel = 1;

struct LibraryModel {
  std::vector<LibraryStep> steps;
  // The first and the last step of each step of the executor's plan: those of a
  // branch or a loop are several.
  std::vector<std::pair<size_t, size_t>> plan_steps;
  // The number of the first step of each variant. A model with bounded
  // dimensions has a variant for each combination of sizes.
  std::vector<size_t> variants = {0};
  std::vector<size_t> plan_variants = {0};  // as above, in `plan_steps`
  std::vector<tir::CppFunction> functions;
  std::vector<tir::CppEmitted> emitted;  // of `functions`
  std::vector<LibrarySlot> inputs;
  std::vector<LibrarySlot> outputs;
  // The module of the plan, and the outputs with data-dependent shapes; their
  // extents are the last outputs, in the same order. Empty for functions of
  // loops.
  cpu::PaddedModule padded;
  std::vector<Tensor> constants;  // each once
  // An output that is an input of the next run. Both are in the arena, at these
  // offsets in the first run, and change places after each run.
  struct State {
    int output = 0;
    int input = 0;
    int64_t output_offset = 0;
    int64_t input_offset = 0;
    int64_t bytes = 0;
  };
  std::vector<State> state;
  int64_t arena_bytes = 0;
  int64_t arena_lower_bound = 0;

  bool IsStateInput(int i) const;
  bool IsStateOutput(int i) const;
  // The number of an equal constant, added if it is new.
  int ConstantIndex(const Tensor& value);

  // The numbers of constants by their first bytes, for ConstantIndex().
  FlatHashMap<std::string, std::vector<int>> constants_by_start;
};

struct LibraryModelOptions {
  // Pairs of an output and the input that it is in the next run: see
  // PlaceState().
  std::vector<std::pair<int, int>> state;
  // The most threads of a run.
  int max_threads = 1;
  // The context of the passes that lower functions of loops to flat loops.
  PassContextOptions lowering = {};
  // If not null, receives that context after the passes.
  std::function<void(const PassContext&)> lowered = nullptr;
  // If not null, checks these functions at each step.
  std::shared_ptr<LoopsCheck> check = nullptr;
};

// The steps of the executor's plan for @main of a module of Relay. Steps whose
// kernel has no C++ source become loops. An error names all operators that have
// neither, with their places.
absl::StatusOr<LibraryModel> LibraryFromPlan(
    const IRModule& module, const LibraryModelOptions& options);

// The calls of functions of loops in @main, which were lowered by the user's
// own passes.
absl::StatusOr<LibraryModel> LibraryFromLoops(const IRModule& module);

// True if `module` has functions of loops.
bool HasLoops(const IRModule& module);

// Merges the variants of a model, whose inputs and outputs differ in shape
// only. The last variant must have the largest shapes.
LibraryModel MergeVariants(std::vector<LibraryModel> models);

// Places the inputs and outputs of options.state in the arena, after all else.
absl::Status PlaceState(const LibraryModelOptions& options,
                        LibraryModel& model);

// `float32[4,8]`
std::string DescribeSlot(const LibrarySlot& slot);

}  // namespace baton

#endif  // BATON_BACKEND_LIBRARY_LIBRARY_MODEL_H_
