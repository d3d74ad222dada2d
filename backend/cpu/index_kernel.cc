// Steps of gather_nd and one_hot.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "baton/backend/cpu/graph.h"
#include "baton/backend/cpu/kernel_choice.h"
#include "baton/backend/cpu/kernel_costs.h"
#include "baton/base/dtype.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/relay/op/tensor/indexing.h"
#include "baton/runtime/executor/plan.h"
#include "baton/runtime/kernels/shape_kernels.h"

namespace baton::cpu {
namespace {

bool IsIndex(DType dtype) {
  return dtype == DType::Int(32) || dtype == DType::Int(64);
}

const GraphTensor& TensorOf(const Graph& graph, int t) {
  return graph.tensors[static_cast<size_t>(t)];
}

// --- gather_nd ---------------------------------------------------------------

// Points of an item.
constexpr int64_t kPointsOfItem = 256;

// The most extents that a shape holds without an allocation.
constexpr size_t kMostExtents = 6;

int RunGatherNd(const executor::StepCall& call) {
  const auto& p = *static_cast<const kernels::GatherNdParams*>(call.params);
  const bool is_done = kernels::GatherNdInto(
      p, call.inputs[0], call.inputs[1], call.begin * kPointsOfItem,
      std::min(p.points, call.end * kPointsOfItem), call.outputs[0]);
  return is_done ? 0 : 1;
}

absl::StatusOr<std::optional<KernelChoice>> ChooseGatherNd(
    const GraphNode& node, const Graph& graph) {
  if (node.inputs.size() != 2 || node.outputs.size() != 1) return std::nullopt;
  const GraphTensor& x = TensorOf(graph, node.inputs[0]);
  const GraphTensor& indices = TensorOf(graph, node.inputs[1]);
  const GraphTensor& y = TensorOf(graph, node.outputs[0]);
  const int64_t batch_dims =
      AttrsOrDefaults<relay::GatherNDAttrs>(node.call->attrs()).batch_dims;
  if (!IsIndex(indices.dtype) || y.num_elements() == 0 || batch_dims < 0 ||
      indices.shape.empty()) {
    return std::nullopt;
  }
  const auto b = static_cast<size_t>(batch_dims);
  const auto m = static_cast<size_t>(indices.shape[0]);
  if (m > kMostExtents || b + m > x.shape.size() || m == 0) return std::nullopt;
  auto params = std::make_shared<kernels::GatherNdParams>();
  params->points = indices.num_elements() / indices.shape[0];
  params->per_batch = params->points;
  params->run = x.dtype.bytes();
  for (size_t d = 0; d < x.shape.size(); ++d) {
    if (d < b) {
      params->per_batch /= x.shape[d];
    } else if (d < b + m) {
      params->extents.push_back(x.shape[d]);
    } else {
      params->run *= x.shape[d];
    }
  }
  params->has_wide_indices = indices.dtype == DType::Int(64);
  KernelChoice choice;
  choice.function = RunGatherNd;
  choice.kernel = "gather_nd";
  choice.reason = "parts are copied, each as a whole";
  choice.inputs = node.inputs;
  choice.outputs = node.outputs;
  choice.items = (params->points + kPointsOfItem - 1) / kPointsOfItem;
  choice.work =
      WorkOf(KernelRate::kGatherIndex,
             static_cast<double>(indices.num_elements()))
          .Add(KernelRate::kGatherBytes, static_cast<double>(y.bytes()));
  choice.params = std::move(params);
  return choice;
}

// --- one_hot -----------------------------------------------------------------

// An item is what has one place in the dimensions before the new one.
int RunOneHot(const executor::StepCall& call) {
  const auto& p = *static_cast<const kernels::OneHotParams*>(call.params);
  const int64_t index_bytes = p.has_wide_indices ? 8 : 4;
  kernels::OneHotInto(p,
                      static_cast<const char*>(call.inputs[0]) +
                          call.begin * p.inner * index_bytes,
                      call.inputs[1], call.inputs[2], call.end - call.begin,
                      static_cast<char*>(call.outputs[0]) +
                          call.begin * p.depth * p.inner * p.bytes);
  return 0;
}

absl::StatusOr<std::optional<KernelChoice>> ChooseOneHot(const GraphNode& node,
                                                         const Graph& graph) {
  if (node.inputs.size() != 3 || node.outputs.size() != 1) return std::nullopt;
  const GraphTensor& indices = TensorOf(graph, node.inputs[0]);
  const GraphTensor& on = TensorOf(graph, node.inputs[1]);
  const GraphTensor& off = TensorOf(graph, node.inputs[2]);
  const GraphTensor& y = TensorOf(graph, node.outputs[0]);
  const auto& attrs = AttrsOrDefaults<relay::OneHotAttrs>(node.call->attrs());
  if (!IsIndex(indices.dtype) || y.num_elements() == 0 || on.dtype != y.dtype ||
      off.dtype != y.dtype || on.num_elements() != 1 ||
      off.num_elements() != 1) {
    return std::nullopt;
  }
  const auto rank = static_cast<int64_t>(indices.shape.size());
  const int64_t axis = attrs.axis < 0 ? attrs.axis + rank + 1 : attrs.axis;
  if (axis < 0 || axis > rank) return std::nullopt;
  auto params = std::make_shared<kernels::OneHotParams>();
  params->depth = attrs.depth;
  params->bytes = y.dtype.bytes();
  params->has_wide_indices = indices.dtype == DType::Int(64);
  int64_t outer = 1;
  for (int64_t d = 0; d < rank; ++d) {
    (d < axis ? outer : params->inner) *= indices.shape[static_cast<size_t>(d)];
  }
  KernelChoice choice;
  choice.function = RunOneHot;
  choice.kernel = "one_hot";
  choice.reason = "a fill, then one element for each index";
  choice.inputs = node.inputs;
  choice.outputs = node.outputs;
  choice.items = outer;
  choice.work = WorkOf(KernelRate::kOneHot, static_cast<double>(y.bytes()));
  choice.params = std::move(params);
  return choice;
}

BATON_EXTEND_OP("gather_nd").Set(CpuKernels(), ChooseGatherNd);
BATON_EXTEND_OP("one_hot").Set(CpuKernels(), ChooseOneHot);

}  // namespace
}  // namespace baton::cpu
