// LibraryModel: a model as steps on places in memory, of which a library is
// written (compile_model.h).
//
// A step is a call of a function of loops, or a source with the kernels of the
// executor (backend/cpu/step_source.h).

#ifndef BATON_TOOLS_LIBRARY_MODEL_H_
#define BATON_TOOLS_LIBRARY_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/backend/cpu/step_source.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/tir/codegen/cpp_source.h"

namespace baton {

enum class LibrarySpace { kInput, kOutput, kConstant, kArena };

// A tensor in memory.
struct LibrarySlot {
  LibrarySpace space = LibrarySpace::kArena;
  int index = 0;  // among the inputs, outputs or constants
  // In the arena, or in the input, output or constant.
  int64_t offset = 0;
  DType dtype;
  std::vector<int64_t> shape;
  int64_t bytes = 0;
};

struct LibraryStep {
  std::string kernel;  // `conv.blocked16+bias`
  std::string origin;  // lines: the places in the model
  int function = -1;   // among the functions, of loops; or
  std::optional<cpu::StepSource> source;
  // The operands of the source, or of the function's buffers; results last.
  std::vector<LibrarySlot> slots;
  // Bytes for one thread, and the place of those for all threads.
  int64_t workspace_bytes = 0;
  int64_t workspace_offset = 0;
  double flops = 0;
  double cost_ns = 0;  // predicted
};

struct LibraryModel {
  std::vector<LibraryStep> steps;
  // The numbers of the first steps of each variant: a library of a model with
  // bounded dimensions has a variant for each of their values.
  std::vector<size_t> variants = {0};
  std::vector<tir::CppFunction> functions;
  std::vector<tir::CppEmitted> emitted;  // of `functions`
  std::vector<LibrarySlot> inputs;
  std::vector<LibrarySlot> outputs;
  std::vector<Tensor> constants;  // each once
  // Inputs and outputs that are kept in the arena: bytes that the last run left
  // (`from`) become those of the next one (`to`).
  struct State {
    int output = 0;
    int input = 0;
    int64_t from = 0;
    int64_t to = 0;
    int64_t bytes = 0;
  };
  std::vector<State> state;
  int64_t arena_bytes = 0;
  int64_t arena_lower_bound = 0;

  bool IsStateInput(int i) const;
  bool IsStateOutput(int i) const;
  // The number of an equal constant, added if it is new.
  int ConstantIndex(const Tensor& value);

  FlatHashMap<std::string, std::vector<int>> constants_by_start;
};

struct LibraryModelOptions {
  // Outputs that are inputs of the next run: see PlaceState().
  std::vector<std::pair<int, int>> state;
  // The most parts into which threads divide a step.
  int max_parts = 1;
};

// The steps of the executor's plan of @main of a module of Relay. What has no
// kernel as source becomes loops. An error names all operators that have
// neither, with their places.
absl::StatusOr<LibraryModel> LibraryFromPlan(
    const IRModule& module, const LibraryModelOptions& options);

// The calls of functions of loops in @main, which were lowered by the user's own
// passes.
absl::StatusOr<LibraryModel> LibraryFromLoops(const IRModule& module);

// True if `module` has functions of loops.
bool HasLoops(const IRModule& module);

// One model of several, which have the same inputs and outputs, of other shapes.
// Those of the last one are taken as the largest.
LibraryModel MergeVariants(std::vector<LibraryModel> models);

// Gives state its places, behind the rest of the arena.
absl::Status PlaceState(const LibraryModelOptions& options,
                        LibraryModel& model);

// The passes from blocks to flat loops.
extern const char kLoopLowering[];

// `float32[4,8]`
std::string DescribeSlot(const LibrarySlot& slot);

}  // namespace baton

#endif  // BATON_TOOLS_LIBRARY_MODEL_H_
