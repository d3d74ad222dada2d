// Steps of the blocked kernels (runtime/kernels/blocked).

#ifndef BATON_BACKEND_CPU_BLOCKED_STEPS_H_
#define BATON_BACKEND_CPU_BLOCKED_STEPS_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "baton/backend/cpu/graph.h"
#include "baton/backend/cpu/kernel_choice.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/blocked/conv.h"
#include "baton/runtime/kernels/blocked/kernels.h"
#include "baton/runtime/kernels/blocked/matmul.h"
#include "baton/runtime/kernels/blocked/pool.h"

namespace baton::cpu {

// The operands of an epilogue, beside the result: numbers of tensors, negative
// for none. In the order of kernels::blocked::Epilogue.
struct EpilogueOperands {
  int bias = -1;
  int scale = -1;
  int shift = -1;
  int residual = -1;
  float low = -__builtin_inff();
  float high = __builtin_inff();

  bool is_empty() const {
    return bias < 0 && scale < 0 && shift < 0 && residual < 0 &&
           low == -__builtin_inff() && high == __builtin_inff();
  }
};

// The parameters of nn.conv2d of float32 in NCHW with a constant weight in
// OIHW; nullopt for others.
std::optional<kernels::blocked::ConvParams> ConvParamsOf(const GraphNode& node,
                                                         const Graph& graph);
// Packs the weight; sets params.finite_weights.
absl::StatusOr<Tensor> PackConv(const Tensor& weight,
                                kernels::blocked::ConvParams& params);

// The parameters of nn.dense, and of nn.matmul without a transposed first
// operand, of float32 with a constant weight; nullopt for others.
std::optional<kernels::blocked::MatmulParams> MatmulParamsOf(
    const GraphNode& node, const Graph& graph);
// True if the weight's rows are the columns of the product.
bool HasTransposedWeight(const GraphNode& node);
absl::StatusOr<Tensor> PackWeight(const Tensor& weight, bool transposed,
                                  const kernels::blocked::MatmulParams& params);

// The kind and parameters of a pool of float32 maps in NCHW; nullopt for
// others.
enum class PoolKind { kMax, kAverage, kGlobalMax, kGlobalAverage };
struct PoolChoice {
  PoolKind kind;
  kernels::blocked::PoolParams params;
};
std::optional<PoolChoice> PoolOf(const GraphNode& node, const Graph& graph);

// `x`, `packed`, `y` and the others are numbers of tensors.
KernelChoice ConvStep(const kernels::blocked::Kernels& kernels,
                      const kernels::blocked::ConvParams& params, int x,
                      int packed, const EpilogueOperands& epilogue, int y);
KernelChoice MatmulStep(const kernels::blocked::Kernels& kernels,
                        const kernels::blocked::MatmulParams& params, int x,
                        int packed, const EpilogueOperands& epilogue, int y);
KernelChoice PoolStep(const kernels::blocked::Kernels& kernels,
                      const PoolChoice& pool, int x, int y);
// Between [N, C, H, W] and [N, C / 16, H, W, 16].
KernelChoice ToBlockedStep(const kernels::blocked::Kernels& kernels,
                           const TensorShape& planar, int x, int y);
KernelChoice ToPlanarStep(const kernels::blocked::Kernels& kernels,
                          const TensorShape& planar, int x, int y);

// The blocked form of a planar map.
TensorShape BlockedShape(const TensorShape& planar);
absl::StatusOr<Tensor> ToBlocked(const Tensor& planar);

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_BLOCKED_STEPS_H_
