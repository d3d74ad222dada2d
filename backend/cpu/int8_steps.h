// Steps of convolutions of 8-bit maps (runtime/kernels/blocked/int8_conv.h),
// and of products of matrices of integers (int_matmul.h).

#ifndef BATON_BACKEND_CPU_INT8_STEPS_H_
#define BATON_BACKEND_CPU_INT8_STEPS_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/backend/cpu/graph.h"
#include "baton/backend/cpu/kernel_choice.h"
#include "baton/backend/cpu/step_source.h"
#include "baton/base/tensor.h"
#include "baton/runtime/executor/plan.h"
#include "baton/runtime/kernels/blocked/int8_conv.h"
#include "baton/runtime/kernels/blocked/int8_isa.h"
#include "baton/runtime/kernels/blocked/int_matmul.h"

namespace baton::cpu {

// The parameters of nn.conv2d and nn.conv1d, in NCHW and NCW, of 8-bit data
// with a constant weight of bytes and an int32 result; nullopt for other nodes,
// and for groups of few channels.
std::optional<kernels::blocked::Int8ConvParams> Int8ConvParamsOf(
    const GraphNode& node, const Graph& graph);

// Packs the constant weight of such a node.
absl::StatusOr<Tensor> PackInt8Conv(
    const Tensor& weight, const kernels::blocked::Int8ConvParams& params);

// As kernels::blocked::Int8Requantization; empty vectors for none.
struct Int8Scales {
  std::vector<float> factor;
  std::vector<float> addend;
  std::vector<float> divisor;
  std::vector<float> shift;
  bool round = false;
  float low = 0;
  float high = 0;
};

// `x`, `packed`, `bias` and `y` are indices in Graph::tensors; `bias` is
// negative for none. The elements of the result are int32 sums or, if there are
// `scales`, requantized bytes. `isa` is supported.
KernelChoice Int8ConvStep(const kernels::blocked::Int8ConvParams& params, int x,
                          int packed, int bias,
                          std::optional<Int8Scales> scales, int y,
                          kernels::blocked::Int8Isa isa);

// The parameters of nn.dense and nn.matmul of integers of 8 or 32 bits with a
// constant weight that fits into 16 bits and an int32 result; nullopt for other
// nodes.
std::optional<kernels::blocked::IntMatmulParams> IntMatmulParamsOf(
    const GraphNode& node, const Graph& graph);

// Packs the constant weight of such a node.
absl::StatusOr<Tensor> PackIntWeight(
    const Tensor& weight, bool transposed,
    const kernels::blocked::IntMatmulParams& params);

// The operands of IntMatmulScales, as indices in Graph::tensors; negative for
// an operand that is absent. If `scale` is absent, so are the others, and the
// results are int32 sums.
struct IntMatmulOperands {
  int zero = -1;
  int offset = -1;
  int scale = -1;
  bool has_scale_of_column = false;
  int bias = -1;
};

KernelChoice IntMatmulStep(const kernels::blocked::IntMatmulParams& params,
                           int x, int packed, const IntMatmulOperands& operands,
                           int y, kernels::blocked::Int8Isa isa);

// The source of such steps, in the items that `threads` threads need; nullopt
// for others.
std::optional<StepSource> Int8StepSource(const executor::Step& step,
                                         int threads);

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_INT8_STEPS_H_
