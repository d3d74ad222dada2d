// Steps on maps of bytes with slabs of 32 channels
// (runtime/kernels/blocked/byte_slabs.h).

#ifndef BATON_BACKEND_CPU_SLAB_STEPS_H_
#define BATON_BACKEND_CPU_SLAB_STEPS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "baton/backend/cpu/blocked_steps.h"
#include "baton/backend/cpu/element_group.h"
#include "baton/backend/cpu/graph.h"
#include "baton/backend/cpu/kernel_choice.h"
#include "baton/backend/cpu/step_source.h"
#include "baton/base/dtype.h"
#include "baton/runtime/executor/plan.h"
#include "baton/runtime/kernels/blocked/byte_slabs.h"
#include "baton/runtime/kernels/blocked/int8_isa.h"

namespace baton::cpu {

// Steps that convert a planar map to slabs, and slabs to a planar map. Here and
// below tensors are indices in Graph::tensors.
KernelChoice ToSlabsStep(const kernels::blocked::ByteMap& map, int from,
                         int to);
KernelChoice FromSlabsStep(const kernels::blocked::ByteMap& map, int from,
                           int to);

// The step that joins the channels of maps of one image; the maps have
// `channels` channels each, and `plane` positions.
KernelChoice JoinSlabsStep(std::vector<int64_t> channels, int64_t plane,
                           std::vector<int> parts, int y);

// The step of a maximum pool of bytes.
KernelChoice SlabPoolStep(const PoolChoice& pool, bool is_signed, int x, int y);

// A group of elementwise calls that adds two quantized maps.
struct ByteSum {
  kernels::blocked::ByteSumParams params;  // without the size
  int x = -1;
  int y = -1;
};

// The sum that a group of elementwise calls computes; nullopt for groups that
// compute something else. `type` and `shape` are those of the result.
std::optional<ByteSum> ByteSumOf(absl::Span<const ElementArg> operands,
                                 absl::Span<const GroupCall> calls,
                                 const TensorShape& shape, DType type,
                                 const Graph& graph);

// `size` is the number of bytes of each tensor; `isa` is supported.
KernelChoice ByteSumStep(kernels::blocked::ByteSumParams params, int64_t size,
                         int x, int y, int result,
                         kernels::blocked::Int8Isa isa);

// A step of this header as C++; nullopt for other steps.
std::optional<StepSource> SlabStepSource(const executor::Step& step);

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_SLAB_STEPS_H_
