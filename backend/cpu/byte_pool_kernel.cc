// Steps of nn.max_pool2d of bytes.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "baton/backend/cpu/blocked_steps.h"
#include "baton/backend/cpu/graph.h"
#include "baton/backend/cpu/kernel_choice.h"
#include "baton/backend/cpu/kernel_costs.h"
#include "baton/base/dtype.h"
#include "baton/ir/op.h"
#include "baton/runtime/executor/plan.h"
#include "baton/runtime/kernels/blocked/blocked_conv.h"
#include "baton/runtime/kernels/pool_kernels.h"

namespace baton::cpu {
namespace {

// An item reads about so many bytes.
constexpr int64_t kItemBytes = 16 << 10;

struct Params {
  kernels::MaxPoolOfBytes pool;
  int64_t planes;
  int64_t planes_of_item;
  int64_t in_bytes;  // of a plane
  int64_t out_bytes;
};

int Run(const executor::StepCall& call) {
  const Params& p = *static_cast<const Params*>(call.params);
  const int64_t begin = call.begin * p.planes_of_item;
  const int64_t end = std::min(p.planes, call.end * p.planes_of_item);
  if (begin >= end) return 0;
  p.pool.Run(static_cast<const char*>(call.inputs[0]) + begin * p.in_bytes,
             end - begin, call.workspace,
             static_cast<char*>(call.outputs[0]) + begin * p.out_bytes);
  return 0;
}

absl::StatusOr<std::optional<KernelChoice>> Choose(const GraphNode& node,
                                                   const Graph& graph) {
  std::optional<PoolChoice> pool = PoolOf(node, graph, DType::UInt(8));
  const bool is_signed = !pool.has_value();
  if (is_signed) pool = PoolOf(node, graph, DType::Int(8));
  if (!pool.has_value()) return std::nullopt;
  const auto axis = [](const kernels::blocked::Axis& a) {
    return kernels::MaxPoolOfBytes::Axis{.in = a.in,
                                         .kernel = a.kernel,
                                         .stride = a.stride,
                                         .dilation = a.dilation,
                                         .pad_before = a.pad_before,
                                         .out = a.out};
  };
  const auto& h = pool->params.h;
  const auto& w = pool->params.w;
  const int64_t in_bytes = h.in * w.in;
  auto params = std::make_shared<Params>(Params{
      kernels::MaxPoolOfBytes(is_signed, axis(h), axis(w)),
      pool->params.batch * pool->params.channels,
      std::max<int64_t>(1, kItemBytes / in_bytes), in_bytes, h.out * w.out});
  KernelChoice choice;
  choice.function = Run;
  choice.kernel = "max_pool.bytes";
  choice.reason = "rows of bytes, one window after the other";
  choice.inputs = node.inputs;
  choice.outputs = node.outputs;
  choice.items =
      (params->planes + params->planes_of_item - 1) / params->planes_of_item;
  choice.workspace_bytes = params->pool.workspace_bytes();
  choice.work =
      WorkOf(KernelRate::kBytePool,
             static_cast<double>(params->planes * (h.kernel + w.kernel) *
                                 params->out_bytes));
  choice.params = std::move(params);
  return choice;
}

BATON_EXTEND_OP("nn.max_pool2d").Set(CpuKernels(), Choose);

}  // namespace
}  // namespace baton::cpu
