// CpuKernel: chooses the function that computes a call of an operator in a plan.
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
#include <vector>

#include "absl/status/statusor.h"
#include "baton/backend/cpu/graph.h"
#include "baton/ir/op.h"
#include "baton/runtime/executor/plan.h"

namespace baton::cpu {

// A step of a plan before it has a place in memory.
struct KernelChoice {
  executor::StepFunction function = nullptr;
  std::shared_ptr<const void> params;
  std::string kernel;  // `softmax`
  std::string reason = {};
  // Tensors of the graph. A choice may leave out inputs that it has in `params`.
  std::vector<int> inputs;
  std::vector<int> outputs;
  // True if output 0 may have the memory of an input of the same size.
  bool in_place = false;
  // The only input of which it may; negative for none.
  int overwrites = -1;
  int64_t items = 1;  // see executor::Step
  int64_t workspace_bytes = 0;
  double flops = 0;
  double cost_ns = 0;
  bool is_fallback = false;
  // No step of its own: the output is the bytes of the inputs, in order. There
  // is no function.
  bool is_join = false;
};

// Returns nullopt if there is no kernel for these types, shapes and attributes;
// then the evaluator's kernel computes the call.
using CpuKernel = absl::StatusOr<std::optional<KernelChoice>> (*)(
    const GraphNode& node, const Graph& graph);

// The choices of operators.
OpAttrMap<CpuKernel>& CpuKernels();

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_KERNEL_CHOICE_H_
