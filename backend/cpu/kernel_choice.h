// CpuKernel: a function that chooses the kernel of an operator's call in a
// plan.
//
//   absl::StatusOr<std::optional<KernelChoice>> ChooseSoftmax(
//       const GraphNode& node, const Graph& graph);
//   BATON_EXTEND_OP("nn.softmax").Set(CpuKernels(), ChooseSoftmax);

#ifndef BATON_BACKEND_CPU_KERNEL_CHOICE_H_
#define BATON_BACKEND_CPU_KERNEL_CHOICE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/backend/cpu/graph.h"
#include "baton/backend/cpu/kernel_costs.h"
#include "baton/ir/op.h"
#include "baton/runtime/executor/plan.h"

namespace baton::cpu {

// A kernel that computes any number of rows. A row is a contiguous part of the
// one result, with the part of each input from which it is computed. Rows are
// adjacent in memory and do not depend on each other.
struct RowKernel {
  // Computes `rows` rows of `output`, which is the first of them. `inputs` are
  // the operands from that row on.
  using Function = void (*)(const void* params, const void* const* inputs,
                            void* output, void* workspace, int64_t rows);

  Function function = nullptr;  // null: the kernel has no such form
  int64_t rows = 0;
  // The bytes of a row of each input; 0 for what all rows read.
  std::vector<int64_t> input_bytes;
  int64_t output_bytes = 0;
};

// A step of a plan before its tensors have offsets in the arena.
struct KernelChoice {
  executor::StepFunction function = nullptr;
  std::shared_ptr<const void> params;
  std::string kernel;  // `softmax`
  std::string reason = {};
  // The layouts among which the least predicted time decided, the chosen one
  // first; empty if there was no choice.
  std::vector<executor::Candidate> candidates = {};
  // Indices in Graph::tensors. A choice may leave out inputs that it has in
  // `params`.
  std::vector<int> inputs;
  std::vector<int> outputs;
  // True if output 0 may have the memory of any input of the same size.
  bool in_place = false;
  // The tensor among `inputs` whose memory it may have if `in_place` is false;
  // negative for none.
  int overwrites = -1;
  int64_t items = 1;  // independent parts, which threads share
  int64_t workspace_bytes = 0;
  double flops = 0;
  Work work;           // from which the time is predicted
  double cost_ns = 0;  // the predicted time on one thread; set by the lowering
  bool is_fallback = false;
  // True if the step copies bytes of input 0, which need not be aligned.
  bool moves_bytes = false;
  RowKernel rows;  // with the same params and workspace
  // True if the output is the bytes of the inputs, in order. The plan has no
  // step for such a call, and `function` is null.
  bool is_join = false;
};

// A call whose output is the bytes of the inputs, in order.
inline KernelChoice Joined(std::vector<int> inputs, int output) {
  KernelChoice choice;
  choice.is_join = true;
  choice.inputs = std::move(inputs);
  choice.outputs = {output};
  return choice;
}

// Chooses the kernel of a call. Returns nullopt if no kernel supports its
// types, shapes and attributes; then the evaluator's kernel computes the call.
using CpuKernel = absl::StatusOr<std::optional<KernelChoice>> (*)(
    const GraphNode& node, const Graph& graph);

// The function of each operator.
OpProperty<CpuKernel>& CpuKernels();

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_KERNEL_CHOICE_H_
