// Steps of sums, means, extrema and variances of float32, and of argmax and
// argmin.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/backend/cpu/graph.h"
#include "baton/backend/cpu/kernel_choice.h"
#include "baton/backend/cpu/kernel_costs.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/relay/op/tensor/reduce.h"
#include "baton/runtime/executor/plan.h"
#include "baton/runtime/kernels/reduce_kernels.h"

namespace baton::cpu {
namespace {

using kernels::FloatReduction;

struct Params {
  FloatReduction reduction = FloatReduction::kSum;
  int64_t extent = 1;
  int64_t inner = 1;
};

// An item is what has one place in the dimensions before those reduced.
int Run(const executor::StepCall& call) {
  const Params& p = *static_cast<const Params*>(call.params);
  kernels::ReduceInto(
      p.reduction,
      static_cast<const float*>(call.inputs[0]) +
          call.begin * p.extent * p.inner,
      call.end - call.begin, p.extent, p.inner,
      static_cast<float*>(call.outputs[0]) + call.begin * p.inner);
  return 0;
}

void RunRows(const void* params, const void* const* inputs, void* output,
             void* /*workspace*/, int64_t rows) {
  const Params& p = *static_cast<const Params*>(params);
  kernels::ReduceInto(p.reduction, static_cast<const float*>(inputs[0]), rows,
                      p.extent, p.inner, static_cast<float*>(output));
}

// The dimensions of `x` that a reduction takes, which are adjacent.
struct Reduced {
  int64_t outer = 1;
  int64_t extent = 1;
  int64_t inner = 1;
  std::vector<bool> is_reduced;
};

template <typename A>
std::optional<Reduced> ReducedOf(const A& attrs, const GraphTensor& x) {
  if (x.num_elements() == 0) return std::nullopt;
  const auto rank = static_cast<int64_t>(x.shape.size());
  const bool takes_all = !attrs.axis.has_value() || attrs.axis->empty();
  Reduced result;
  std::vector<bool>& is_reduced = result.is_reduced;
  is_reduced.assign(x.shape.size(), takes_all);
  if (!takes_all) {
    for (const int64_t axis : *attrs.axis) {
      const int64_t normal = axis < 0 ? axis + rank : axis;
      if (normal < 0 || normal >= rank) return std::nullopt;
      is_reduced[static_cast<size_t>(normal)] = true;
    }
    if (attrs.exclude) is_reduced.flip();
  }
  enum { kBefore, kWithin, kBehind } part = kBefore;
  for (size_t d = 0; d < x.shape.size(); ++d) {
    if (x.shape[d] == 1) continue;
    if (is_reduced[d]) {
      if (part == kBehind) return std::nullopt;
      part = kWithin;
      result.extent *= x.shape[d];
    } else if (part == kBefore) {
      result.outer *= x.shape[d];
    } else {
      part = kBehind;
      result.inner *= x.shape[d];
    }
  }
  return result;
}

// The step of `node`, whose items are the places before the dimensions that it
// reduces.
KernelChoice StepOf(const GraphNode& node, executor::StepFunction function,
                    const Reduced& reduced) {
  KernelChoice choice;
  choice.function = function;
  choice.kernel = "reduce." + node.op_name();
  choice.reason = "the reduced dimensions are adjacent";
  choice.inputs = node.inputs;
  choice.outputs = node.outputs;
  choice.items = reduced.outer;
  return choice;
}

template <FloatReduction kReduction>
absl::StatusOr<std::optional<KernelChoice>> Choose(const GraphNode& node,
                                                   const Graph& graph) {
  if (node.inputs.size() != 1 || node.outputs.size() != 1) return std::nullopt;
  const GraphTensor& x = graph.tensors[static_cast<size_t>(node.inputs[0])];
  const std::optional<Reduced> reduced =
      ReducedOf(AttrsOrDefaults<relay::ReduceAttrs>(node.call->attrs()), x);
  if (!reduced.has_value() || x.dtype != DType::Float(32)) return std::nullopt;
  KernelChoice choice = StepOf(node, Run, *reduced);
  choice.flops = static_cast<double>(x.num_elements());
  choice.work =
      WorkOf(KernelRate::kReduce, static_cast<double>(x.num_elements()));
  choice.params = std::make_shared<Params>(
      Params{kReduction, reduced->extent, reduced->inner});
  choice.rows = {RunRows,
                 reduced->outer,
                 {reduced->extent * reduced->inner * 4},
                 reduced->inner * 4};
  return choice;
}

int RunVariance(const executor::StepCall& call) {
  const Params& p = *static_cast<const Params*>(call.params);
  kernels::VarianceInto(
      static_cast<const float*>(call.inputs[0]) + call.begin * p.extent,
      static_cast<const float*>(call.inputs[1]) + call.begin,
      call.end - call.begin, p.extent, static_cast<float*>(call.workspace),
      static_cast<float*>(call.outputs[0]) + call.begin);
  return 0;
}

void RunVarianceRows(const void* params, const void* const* inputs,
                     void* output, void* workspace, int64_t rows) {
  const Params& p = *static_cast<const Params*>(params);
  kernels::VarianceInto(static_cast<const float*>(inputs[0]),
                        static_cast<const float*>(inputs[1]), rows, p.extent,
                        static_cast<float*>(workspace),
                        static_cast<float*>(output));
}

// Chooses the kernel of a variance of rows, whose means are argument 1.
absl::StatusOr<std::optional<KernelChoice>> ChooseVariance(
    const GraphNode& node, const Graph& graph) {
  if (node.inputs.size() != 2 || node.outputs.size() != 1) return std::nullopt;
  const GraphTensor& x = graph.tensors[static_cast<size_t>(node.inputs[0])];
  const GraphTensor& mean = graph.tensors[static_cast<size_t>(node.inputs[1])];
  const auto& attrs = AttrsOrDefaults<relay::VarianceAttrs>(node.call->attrs());
  const std::optional<Reduced> reduced = ReducedOf(attrs, x);
  if (!reduced.has_value() || x.dtype != DType::Float(32) || attrs.unbiased ||
      reduced->inner != 1 || mean.dtype != x.dtype ||
      mean.shape.size() != x.shape.size()) {
    return std::nullopt;
  }
  for (size_t d = 0; d < x.shape.size(); ++d) {
    if (mean.shape[d] != (reduced->is_reduced[d] ? 1 : x.shape[d])) {
      return std::nullopt;
    }
  }
  KernelChoice choice = StepOf(node, RunVariance, *reduced);
  choice.workspace_bytes = reduced->extent * 4;
  choice.flops = 3 * static_cast<double>(x.num_elements());
  choice.work =
      WorkOf(KernelRate::kVariance, static_cast<double>(x.num_elements()));
  choice.params = std::make_shared<Params>(
      Params{FloatReduction::kMean, reduced->extent, reduced->inner});
  choice.rows = {RunVarianceRows, reduced->outer, {reduced->extent * 4, 4}, 4};
  return choice;
}

struct ArgParams {
  kernels::ArgReduction search;
  DType dtype;
  int64_t extent = 1;
  int64_t inner = 1;
  bool is_wide = false;
};

// An item is what has one place in the dimensions before those reduced.
int RunArgReduce(const executor::StepCall& call) {
  const ArgParams& p = *static_cast<const ArgParams*>(call.params);
  kernels::ArgReduceInto(p.search, p.dtype,
                         static_cast<const char*>(call.inputs[0]) +
                             call.begin * p.extent * p.inner * p.dtype.bytes(),
                         call.end - call.begin, p.extent, p.inner, p.is_wide,
                         static_cast<char*>(call.outputs[0]) +
                             call.begin * p.inner * (p.is_wide ? 8 : 4));
  return 0;
}

template <bool kIsMax>
absl::StatusOr<std::optional<KernelChoice>> ChooseArgReduce(
    const GraphNode& node, const Graph& graph) {
  if (node.inputs.size() != 1 || node.outputs.size() != 1) return std::nullopt;
  const GraphTensor& x = graph.tensors[static_cast<size_t>(node.inputs[0])];
  const GraphTensor& y = graph.tensors[static_cast<size_t>(node.outputs[0])];
  const auto& attrs =
      AttrsOrDefaults<relay::ArgReduceAttrs>(node.call->attrs());
  const std::optional<Reduced> reduced = ReducedOf(attrs, x);
  if (!reduced.has_value() || !kernels::HasArgReduceInto(x.dtype) ||
      (y.dtype != DType::Int(32) && y.dtype != DType::Int(64))) {
    return std::nullopt;
  }
  auto params = std::make_shared<ArgParams>();
  params->search = {.is_max = kIsMax, .is_last = attrs.select_last_index};
  params->dtype = x.dtype;
  params->extent = reduced->extent;
  params->inner = reduced->inner;
  params->is_wide = y.dtype == DType::Int(64);
  KernelChoice choice = StepOf(node, RunArgReduce, *reduced);
  choice.work =
      WorkOf(KernelRate::kArgReduce, static_cast<double>(x.num_elements()));
  choice.params = std::move(params);
  return choice;
}

BATON_EXTEND_OP("sum").Set(CpuKernels(), Choose<FloatReduction::kSum>);
BATON_EXTEND_OP("mean").Set(CpuKernels(), Choose<FloatReduction::kMean>);
BATON_EXTEND_OP("max").Set(CpuKernels(), Choose<FloatReduction::kMax>);
BATON_EXTEND_OP("min").Set(CpuKernels(), Choose<FloatReduction::kMin>);
BATON_EXTEND_OP("variance").Set(CpuKernels(), ChooseVariance);
BATON_EXTEND_OP("argmax").Set(CpuKernels(), ChooseArgReduce<true>);
BATON_EXTEND_OP("argmin").Set(CpuKernels(), ChooseArgReduce<false>);

}  // namespace
}  // namespace baton::cpu
