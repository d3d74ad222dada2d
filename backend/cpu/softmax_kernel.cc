// Steps of nn.softmax and nn.log_softmax.

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
#include "baton/relay/op/nn/activation.h"
#include "baton/runtime/executor/plan.h"
#include "baton/runtime/kernels/normalize_kernels.h"

namespace baton::cpu {
namespace {

struct Params {
  int64_t extent = 1;
  int64_t inner = 1;
  bool log = false;
};

// An item is what has one place in the dimensions before the axis.
int Run(const executor::StepCall& call) {
  const Params& p = *static_cast<const Params*>(call.params);
  const int64_t first = call.begin * p.extent * p.inner;
  kernels::SoftmaxInto(static_cast<const float*>(call.inputs[0]) + first,
                       call.end - call.begin, p.extent, p.inner, p.log,
                       static_cast<float*>(call.outputs[0]) + first);
  return 0;
}

void RunRows(const void* params, const void* const* inputs, void* output,
             void* /*workspace*/, int64_t rows) {
  const Params& p = *static_cast<const Params*>(params);
  kernels::SoftmaxInto(static_cast<const float*>(inputs[0]), rows, p.extent,
                       p.inner, p.log, static_cast<float*>(output));
}

absl::StatusOr<std::optional<KernelChoice>> Choose(const GraphNode& node,
                                                   const Graph& graph) {
  if (node.inputs.size() != 1 || node.outputs.size() != 1) return std::nullopt;
  const GraphTensor& x = graph.tensors[static_cast<size_t>(node.inputs[0])];
  const int64_t rank = static_cast<int64_t>(x.shape.size());
  int64_t axis = AttrsOrDefaults<relay::SoftmaxAttrs>(node.call->attrs()).axis;
  if (axis < 0) axis += rank;
  if (x.dtype != DType::Float(32) || x.num_elements() == 0 || axis < 0 ||
      axis >= rank) {
    return std::nullopt;
  }
  auto params = std::make_shared<Params>();
  params->log = node.op_name() == "nn.log_softmax";
  params->extent = x.shape[static_cast<size_t>(axis)];
  for (int64_t d = axis + 1; d < rank; ++d) {
    params->inner *= x.shape[static_cast<size_t>(d)];
  }
  KernelChoice choice;
  choice.function = Run;
  choice.kernel = params->log ? "log_softmax" : "softmax";
  choice.reason = "a row is computed as a whole";
  choice.inputs = node.inputs;
  choice.outputs = node.outputs;
  choice.items =
      std::max<int64_t>(1, x.num_elements() / (params->extent * params->inner));
  choice.flops = 8 * static_cast<double>(x.num_elements());
  choice.work =
      WorkOf(KernelRate::kSoftmax, static_cast<double>(x.num_elements()));
  const int64_t row_bytes = params->extent * params->inner * 4;
  choice.rows = {RunRows, choice.items, {row_bytes}, row_bytes};
  choice.params = std::move(params);
  return choice;
}

BATON_EXTEND_OP("nn.softmax").Set(CpuKernels(), Choose);
BATON_EXTEND_OP("nn.log_softmax").Set(CpuKernels(), Choose);

}  // namespace
}  // namespace baton::cpu
