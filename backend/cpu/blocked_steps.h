// Steps of the blocked kernels (runtime/kernels/blocked).

#ifndef BATON_BACKEND_CPU_BLOCKED_STEPS_H_
#define BATON_BACKEND_CPU_BLOCKED_STEPS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/backend/cpu/graph.h"
#include "baton/backend/cpu/kernel_choice.h"
#include "baton/backend/cpu/kernel_costs.h"
#include "baton/backend/cpu/rearrangement.h"
#include "baton/backend/cpu/step_source.h"
#include "baton/base/tensor.h"
#include "baton/runtime/executor/plan.h"
#include "baton/runtime/kernels/blocked/blocked_conv.h"
#include "baton/runtime/kernels/blocked/blocked_pool.h"
#include "baton/runtime/kernels/blocked/channels.h"
#include "baton/runtime/kernels/blocked/epilogue.h"
#include "baton/runtime/kernels/blocked/fold_windows.h"
#include "baton/runtime/kernels/blocked/kernels.h"
#include "baton/runtime/kernels/blocked/matmul.h"

namespace baton::cpu {

// A kernels::blocked::Epilogue with indices in Graph::tensors in place of
// pointers; a negative index is a null pointer.
struct EpilogueOperands {
  int bias = -1;
  int scale = -1;
  int shift = -1;
  int residual = -1;
  float low = -__builtin_inff();
  float high = __builtin_inff();
  kernels::blocked::Rounding rounding = kernels::blocked::Rounding::kNone;

  bool is_empty() const {
    return bias < 0 && scale < 0 && shift < 0 && residual < 0 &&
           low == -__builtin_inff() && high == __builtin_inff() &&
           rounding == kernels::blocked::Rounding::kNone;
  }
};

// The parameters of nn.conv2d in NCHW with a constant weight in OIHW, and of
// nn.conv1d in NCW and OIW, for any element types; nullopt for other nodes.
std::optional<kernels::blocked::ConvParams> ConvShapeOf(const GraphNode& node,
                                                        const Graph& graph);

// The parameters of nn.conv2d of float32 in NCHW with a constant weight in
// OIHW, and of nn.conv1d in NCW and OIW; nullopt for other nodes.
std::optional<kernels::blocked::ConvParams> ConvParamsOf(const GraphNode& node,
                                                         const Graph& graph);
// Packs the weight: in place if `weight` is its only reference and it has whole
// blocks, otherwise in new memory. Sets params.finite_weights. If `is_mapped`,
// the weight is in a mapped file, whose pages are released.
absl::StatusOr<Tensor> PackConv(Tensor weight, bool is_mapped,
                                kernels::blocked::ConvParams& params);

// A transposed convolution as a pointwise convolution, which computes the
// window of each element of the data, and a fold (fold_windows.h), which adds
// the windows.
struct TransposedConv {
  kernels::blocked::ConvParams product;
  kernels::blocked::FoldParams fold;
};
// The parameters of nn.conv2d_transpose of float32 in NCHW with a constant
// weight in IOHW, and of nn.conv1d_transpose in NCW and IOW, of one group;
// nullopt for other nodes.
std::optional<TransposedConv> TransposedConvOf(const GraphNode& node,
                                               const Graph& graph);
// Returns the weight of the pointwise convolution of a transposed convolution
// with the weight `weight`.
absl::StatusOr<Tensor> WeightOfWindows(const Tensor& weight);

// The parameters of nn.dense, and of nn.matmul without a transposed first
// operand, of any types, with a constant weight; nullopt for others.
std::optional<kernels::blocked::MatmulParams> MatmulShapeOf(
    const GraphNode& node, const Graph& graph);
// As above, if all types are float32.
std::optional<kernels::blocked::MatmulParams> MatmulParamsOf(
    const GraphNode& node, const Graph& graph);
// True if the weight's rows are the columns of the product.
bool HasTransposedWeight(const GraphNode& node);
// Packs the weight of a product; `transposed` is HasTransposedWeight() of its
// node. Memory and pages are as for PackConv().
absl::StatusOr<Tensor> PackWeight(Tensor weight, bool is_mapped,
                                  bool transposed,
                                  const kernels::blocked::MatmulParams& params);

// Where the matrices of a batch begin in their tensor, in floats.
struct MatrixPlaces {
  // The batch is groups of `group` matrices.
  int64_t group = 1;
  int64_t step = 0;        // from a matrix of a group to the next one
  int64_t group_step = 0;  // from a group to the next one

  int64_t Begin(int64_t matrix) const {
    return matrix / group * group_step + matrix % group * step;
  }
};

// A product of two float32 matrices that are both computed: nn.batch_matmul,
// and nn.dense and nn.matmul without a transposed first operand. The second
// operand is packed in each run.
struct ProductChoice {
  kernels::blocked::MatmulParams params;
  int64_t batch = 1;
  MatrixPlaces a;
  MatrixPlaces b;
  MatrixPlaces y;
  bool transposed = false;
};
// For products of fewer rows, packing takes more time than it saves.
inline constexpr int64_t kFewRows = 8;
// The product that `node` computes; nullopt for other nodes, and for products
// of fewer than `least_rows` rows.
std::optional<ProductChoice> ProductOf(const GraphNode& node,
                                       const Graph& graph,
                                       int64_t least_rows = kFewRows);

// Lets a product read operand 0 or 1 where `move`, which computes the operand,
// reads its elements. Returns false, and changes nothing, if rows of the
// operand do not have adjacent elements there.
bool ReadMoved(const Rearrangement& move, int operand, ProductChoice& product);
// Lets a product store its result where `move`, a permutation, moves the
// elements; returns false if rows of the result do not stay adjacent elements.
bool StoreMoved(const Rearrangement& move, ProductChoice& product);

// The kind and parameters of a pool of maps of `type` in NCHW; nullopt for
// others.
enum class PoolKind { kMax, kAverage, kGlobalMax, kGlobalAverage };
struct PoolChoice {
  PoolKind kind;
  kernels::blocked::PoolParams params;
};
std::optional<PoolChoice> PoolOf(const GraphNode& node, const Graph& graph,
                                 DType type = DType::Float(32));

// The parameters of nn.lrn along the channels of a float32 map; nullopt for
// others, and for exponents other than 0.75.
std::optional<kernels::blocked::BlockedLrnParams> LrnParamsOf(
    const GraphNode& node, const Graph& graph);

// The work of these kernels, from which their time is predicted.
Work WorkOfConv(const kernels::blocked::ConvParams& params);
Work WorkOfMatmul(const kernels::blocked::MatmulParams& params);
Work WorkOfProduct(const ProductChoice& product);

// `x`, `packed`, `y` and the others are indices in Graph::tensors. Shapes are
// those of planar maps.
KernelChoice ConvStep(const kernels::blocked::Kernels& kernels,
                      const kernels::blocked::ConvParams& params, int x,
                      int packed, const EpilogueOperands& epilogue, int y);
KernelChoice MatmulStep(const kernels::blocked::Kernels& kernels,
                        const kernels::blocked::MatmulParams& params, int x,
                        int packed, const EpilogueOperands& epilogue, int y);
KernelChoice ProductStep(const kernels::blocked::Kernels& kernels,
                         const ProductChoice& product, int a, int b, int y);
// `x` is the result of the pointwise convolution of a transposed convolution.
KernelChoice FoldStep(const kernels::blocked::Kernels& kernels,
                      const kernels::blocked::FoldParams& params, int x,
                      const EpilogueOperands& epilogue, int y);
KernelChoice PoolStep(const kernels::blocked::Kernels& kernels,
                      const PoolChoice& pool, int x, int y);
// Applies the epilogue to `x`.
KernelChoice ApplyStep(const kernels::blocked::Kernels& kernels,
                       const TensorShape& planar, int x,
                       const EpilogueOperands& epilogue, int y);
KernelChoice LrnStep(const kernels::blocked::Kernels& kernels,
                     const kernels::blocked::BlockedLrnParams& params, int x,
                     int y);
// Gathers the channels `sources` of maps of the shapes `inputs`.
KernelChoice GatherStep(const kernels::blocked::Kernels& kernels,
                        const std::vector<TensorShape>& inputs,
                        std::vector<kernels::blocked::ChannelSource> sources,
                        std::vector<int> xs, int y);
// Convert maps between the layouts [N, C, H, W] and [N, C / 16, H, W, 16].
KernelChoice ToBlockedStep(const kernels::blocked::Kernels& kernels,
                           const TensorShape& planar, int x, int y);
KernelChoice ToPlanarStep(const kernels::blocked::Kernels& kernels,
                          const TensorShape& planar, int x, int y);

// The C++ source of a step that one of the functions above made, in the items
// that `threads` threads need; nullopt for other steps.
std::optional<StepSource> BlockedStepSource(const executor::Step& step,
                                            int threads);
// Write C++: the initializer of an axis, and the definition of the constant
// `kPlan@N@` of the type `kernels::TYPE` (step_source.h).
std::string AxisText(const kernels::blocked::Axis& axis);
std::string PlanDefinition(absl::string_view type, const std::string& value);

// The blocked form of a planar map.
TensorShape BlockedShape(const TensorShape& planar);
absl::StatusOr<Tensor> ToBlocked(const Tensor& planar,
                                 const TensorShape& shape);

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_BLOCKED_STEPS_H_
