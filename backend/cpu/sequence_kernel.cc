// Steps of topk, cumsum and cumprod.

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
#include "baton/relay/op/tensor/sequence.h"
#include "baton/runtime/executor/plan.h"
#include "baton/runtime/kernels/sort.h"

namespace baton::cpu {
namespace {

// A tensor as [outer, extent, inner] elements around an axis.
struct Around {
  int64_t outer = 1;
  int64_t extent = 1;
  int64_t inner = 1;
};

// Nullopt if there is no such axis or there are no elements.
std::optional<Around> ViewAround(const GraphTensor& x, int64_t axis) {
  const auto rank = static_cast<int64_t>(x.shape.size());
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank || x.num_elements() == 0) return std::nullopt;
  Around view;
  for (int64_t d = 0; d < rank; ++d) {
    (d < axis    ? view.outer
     : d == axis ? view.extent
                 : view.inner) *= x.shape[static_cast<size_t>(d)];
  }
  return view;
}

// --- topk --------------------------------------------------------------------

// Lines of an item, so that some are sorted side by side.
constexpr int64_t kLinesOfItem = 16;

struct TopKStep {
  kernels::TopKParams topk;
  int64_t outer = 1;
  int64_t of_item = 1;  // of the outer dimension
  // The numbers of the results, or -1.
  int values = -1;
  int indices = -1;
};

int RunTopK(const executor::StepCall& call) {
  const TopKStep& p = *static_cast<const TopKStep*>(call.params);
  const int64_t begin = call.begin * p.of_item;
  const int64_t end = std::min(p.outer, call.end * p.of_item);
  if (begin >= end) return 0;
  const int64_t results = begin * p.topk.k * p.topk.inner;
  const int64_t bytes = p.topk.dtype.bytes();
  const auto result = [&](int number, int64_t size) -> void* {
    if (number < 0) return nullptr;
    return static_cast<char*>(call.outputs[number]) + results * size;
  };
  kernels::TopKInto(p.topk,
                    static_cast<const char*>(call.inputs[0]) +
                        begin * p.topk.extent * p.topk.inner * bytes,
                    end - begin, call.workspace, result(p.values, bytes),
                    result(p.indices, p.topk.has_wide_indices ? 8 : 4));
  return 0;
}

absl::StatusOr<std::optional<KernelChoice>> ChooseTopK(const GraphNode& node,
                                                       const Graph& graph) {
  const auto* attrs = node.call->attrs_as<relay::TopKAttrs>();
  if (attrs == nullptr || !attrs->k.has_value() || node.inputs.size() != 1) {
    return std::nullopt;
  }
  const GraphTensor& x = graph.tensors[static_cast<size_t>(node.inputs[0])];
  const std::optional<Around> view = ViewAround(x, attrs->axis);
  auto params = std::make_shared<TopKStep>();
  int num_results = 0;
  if (attrs->ret_type != "indices") params->values = num_results++;
  if (attrs->ret_type != "values") params->indices = num_results++;
  if (!view.has_value() || !x.dtype.IsStorable() || *attrs->k > view->extent ||
      node.outputs.size() != static_cast<size_t>(num_results)) {
    return std::nullopt;
  }
  if (params->indices >= 0) {
    const DType type =
        graph
            .tensors[static_cast<size_t>(
                node.outputs[static_cast<size_t>(params->indices)])]
            .dtype;
    if (type != DType::Int(32) && type != DType::Int(64)) return std::nullopt;
    params->topk.has_wide_indices = type == DType::Int(64);
  }
  params->topk.dtype = x.dtype;
  params->topk.extent = view->extent;
  params->topk.inner = view->inner;
  params->topk.k = *attrs->k < 1 ? view->extent : *attrs->k;
  params->topk.ascending = attrs->is_ascend;
  params->outer = view->outer;
  params->of_item = view->inner == 1 ? kLinesOfItem : 1;
  KernelChoice choice;
  choice.function = RunTopK;
  choice.kernel = "topk";
  choice.reason = "each row is searched on its own";
  choice.inputs = node.inputs;
  choice.outputs = node.outputs;
  choice.items = (view->outer + params->of_item - 1) / params->of_item;
  choice.workspace_bytes = kernels::TopKWorkspaceSize(params->topk);
  choice.work =
      WorkOf(KernelRate::kTopK, static_cast<double>(x.num_elements()));
  choice.params = std::move(params);
  return choice;
}

// --- cumsum and cumprod ------------------------------------------------------

int RunScan(const executor::StepCall& call) {
  const auto& p = *static_cast<const kernels::ScanParams*>(call.params);
  const int64_t first = call.begin * p.extent * p.inner * p.dtype.bytes();
  kernels::ScanInto(p, static_cast<const char*>(call.inputs[0]) + first,
                    call.end - call.begin,
                    static_cast<char*>(call.outputs[0]) + first);
  return 0;
}

template <bool kMultiply>
absl::StatusOr<std::optional<KernelChoice>> ChooseScan(const GraphNode& node,
                                                       const Graph& graph) {
  if (node.inputs.size() != 1 || node.outputs.size() != 1) return std::nullopt;
  const GraphTensor& x = graph.tensors[static_cast<size_t>(node.inputs[0])];
  const GraphTensor& y = graph.tensors[static_cast<size_t>(node.outputs[0])];
  const auto& attrs = AttrsOrDefaults<relay::ScanopAttrs>(node.call->attrs());
  if (x.dtype != y.dtype || !kernels::HasScanInto(x.dtype)) return std::nullopt;
  std::optional<Around> view;
  if (attrs.axis.has_value()) {
    view = ViewAround(x, *attrs.axis);
  } else if (x.num_elements() > 0) {
    view = Around{1, x.num_elements(), 1};
  }
  if (!view.has_value()) return std::nullopt;
  KernelChoice choice;
  choice.function = RunScan;
  choice.kernel = node.op_name();
  choice.reason = "each row is scanned on its own";
  choice.inputs = node.inputs;
  choice.outputs = node.outputs;
  choice.items = view->outer;
  choice.work =
      WorkOf(KernelRate::kScan, static_cast<double>(x.num_elements()));
  choice.params = std::make_shared<kernels::ScanParams>(
      kernels::ScanParams{.dtype = x.dtype,
                          .multiply = kMultiply,
                          .exclusive = attrs.exclusive,
                          .extent = view->extent,
                          .inner = view->inner});
  return choice;
}

BATON_EXTEND_OP("topk").Set(CpuKernels(), ChooseTopK);
BATON_EXTEND_OP("cumsum").Set(CpuKernels(), ChooseScan<false>);
BATON_EXTEND_OP("cumprod").Set(CpuKernels(), ChooseScan<true>);

}  // namespace
}  // namespace baton::cpu
