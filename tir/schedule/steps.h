// Steps of schedules: rewrites of a function, each with the conditions under
// which it keeps the function's values. docs/schedules.md describes each step.
//
//   BATON_ASSIGN_OR_RETURN(std::vector<For> loops,
//                          Split(state, loop, {outer, inner}, true));
//   const Site* inner = state.Find(loops[1].get());
//
// A step that fails leaves the state as it was. Sites of the state before a
// step are invalid after it; results are nodes of the new function. See
// schedule.h for handles that outlive steps.

#ifndef BATON_TIR_SCHEDULE_STEPS_H_
#define BATON_TIR_SCHEDULE_STEPS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/schedule/conditions.h"
#include "baton/tir/schedule/state.h"

namespace baton::tir {

using Sites = absl::Span<const Site* const>;

// Loops (loop_steps.cc).

// Splits a loop into one for each factor, outermost first. A null factor is
// inferred: the smallest for which the product is not less than the extent.
absl::StatusOr<std::vector<For>> Split(ScheduleState& state, const Site* loop,
                                       absl::Span<const PrimExpr> factors,
                                       bool preserve_unit_iters);
// Fuses perfectly nested loops, outermost first.
absl::StatusOr<For> Fuse(ScheduleState& state, Sites loops,
                         bool preserve_unit_iters);
// Fuses adjacent nests of the same extents; `loops` are the innermost loop of
// each.
absl::StatusOr<For> Merge(ScheduleState& state, Sites loops);
// Puts loops of one nest into this order; other loops of the nest keep their
// places.
absl::Status Reorder(ScheduleState& state, Sites loops);
// Puts a loop of one iteration around a block or loop.
absl::StatusOr<For> AddUnitLoop(ScheduleState& state, const Site* site);

// Kinds of loops, annotations and variables (annotation_steps.cc).

absl::Status Parallel(ScheduleState& state, const Site* loop);
absl::Status Vectorize(ScheduleState& state, const Site* loop);
absl::Status Unroll(ScheduleState& state, const Site* loop);
// `thread_axis` is `threadIdx.x`, `blockIdx.y`, `vthread.z` ...
absl::Status Bind(ScheduleState& state, const Site* loop,
                  const std::string& thread_axis);
// Changes nothing if there is an annotation of that key.
absl::Status Annotate(ScheduleState& state, const Site* site,
                      const std::string& key, PrimExpr value);
absl::Status Unannotate(ScheduleState& state, const Site* site,
                        const std::string& key);
// Requests for the buffer that the block writes a stride of `axis` that is
// `factor` * k + `offset` for some k.
absl::Status StorageAlign(ScheduleState& state, const Site* block,
                          int buffer_index, int axis, int factor, int offset);
absl::Status SetScope(ScheduleState& state, const Site* block, int buffer_index,
                      const std::string& storage_scope);
// Values are rounded to `dtype`.
absl::Status UnsafeSetDType(ScheduleState& state, const Site* block,
                            int buffer_index, DType dtype);
absl::Status ReorderBlockIterVar(ScheduleState& state, const Site* block,
                                 absl::Span<const int64_t> new_order);

// Inlining (compute_inline.cc).

absl::Status ComputeInline(ScheduleState& state, const Site* block);
absl::Status ReverseComputeInline(ScheduleState& state, const Site* block);

// Moving blocks (compute_at.cc). `index` is a position in the body of the loop;
// -1: the last possible one, -2: the first.

absl::Status ComputeAt(ScheduleState& state, const Site* block,
                       const Site* loop, bool preserve_unit_loops, int index);
absl::Status ReverseComputeAt(ScheduleState& state, const Site* block,
                              const Site* loop, bool preserve_unit_loops,
                              int index);

// Reductions (reduction_steps.cc).

absl::StatusOr<Block> DecomposeReduction(ScheduleState& state,
                                         const Site* block, const Site* loop);
absl::StatusOr<Block> RFactor(ScheduleState& state, const Site* loop,
                              int factor_axis);

// Copies of buffers (cache.cc, reindex.cc).

absl::StatusOr<Block> CacheRead(ScheduleState& state, const Site* block,
                                int buffer_index,
                                const std::string& storage_scope,
                                Sites consumers);
absl::StatusOr<Block> CacheWrite(ScheduleState& state, const Site* block,
                                 int buffer_index,
                                 const std::string& storage_scope,
                                 Sites consumers);
absl::StatusOr<std::vector<Block>> CacheInplace(
    ScheduleState& state, const Site* block, int buffer_index,
    const std::string& storage_scope);
absl::StatusOr<Block> ReindexCacheRead(ScheduleState& state, const Site* block,
                                       int buffer_index,
                                       const std::string& storage_scope,
                                       const IndexMap& index_map);
absl::StatusOr<Block> ReindexCacheWrite(ScheduleState& state, const Site* block,
                                        int buffer_index,
                                        const std::string& storage_scope,
                                        const IndexMap& index_map);
absl::StatusOr<Block> ReIndex(ScheduleState& state, const Site* block,
                              int buffer_index, AccessKind kind);
absl::StatusOr<Block> ReadAt(ScheduleState& state, const Site* loop,
                             const Site* block, int buffer_index,
                             const std::string& storage_scope);
absl::StatusOr<Block> WriteAt(ScheduleState& state, const Site* loop,
                              const Site* block, int buffer_index,
                              const std::string& storage_scope);
// Computes indices that occur at least `cse_thresh` times once, into buffers.
absl::StatusOr<std::vector<Block>> CacheIndex(ScheduleState& state,
                                              const Site* block,
                                              const std::string& storage_scope,
                                              int cse_thresh);

// Blocks (blockize.cc).

// Makes the body of a loop a block.
absl::StatusOr<Block> Blockize(ScheduleState& state, const Site* loop,
                               bool preserve_unit_iters);
// Puts adjacent blocks into one block.
absl::StatusOr<Block> BlockizeBlocks(ScheduleState& state, Sites blocks,
                                     bool preserve_unit_iters);
// Replaces the body of a block or loop, which must compute the same as `desc`,
// by the body of `impl`, whose variables occur nowhere else.
absl::Status Tensorize(ScheduleState& state, const Site* site,
                       const PrimFunc& desc, const PrimFunc& impl,
                       bool preserve_unit_iters);

// An error if the functions are not a description and an implementation of an
// intrinsic.
absl::Status CheckTensorIntrin(const PrimFunc& desc, const PrimFunc& impl);

// Padding (padding.cc, rolling_buffer.cc).

absl::StatusOr<Block> DecomposePadding(ScheduleState& state, const Site* block,
                                       const Site* loop);
absl::Status PadEinsum(ScheduleState& state, const Site* block,
                       absl::Span<const int64_t> padding);
absl::Status RollingBuffer(ScheduleState& state, const Site* block,
                           int buffer_index);

// Layouts (layout_steps.cc).

// A null `pad_value`: the map must not introduce padding.
absl::Status TransformLayout(ScheduleState& state, const Site* block,
                             int buffer_index, AccessKind kind,
                             const IndexMap& index_map,
                             const IndexMap& pad_value,
                             bool assume_injective_transform);
absl::Status TransformBlockLayout(ScheduleState& state, const Site* block,
                                  const IndexMap& index_map);
absl::Status SetAxisSeparator(ScheduleState& state, const Site* block,
                              int buffer_index, AccessKind kind,
                              absl::Span<const int64_t> axis_separators);

// Removes regions from the list of reads or writes of a block. Later steps
// ignore dependences through them.
absl::Status UnsafeHideBufferAccess(ScheduleState& state, const Site* block,
                                    AccessKind kind,
                                    absl::Span<const int64_t> buffer_indices);

// Sampling (sampling.cc). No random numbers are drawn: without a decision each
// function has a fixed result.

// The factors into which a loop of constant extent is split: those of
// `decision`, made to divide it exactly; else {-1, 1, 1...}. Without a decision
// the innermost factor is as large as `max_innermost_factor` allows.
absl::StatusOr<std::vector<int64_t>> PerfectTile(
    const Site* loop, int n, int max_innermost_factor,
    absl::Span<const int64_t> decision);
// As PerfectTile(), where the product of the factors from `partition_pos` on is
// a multiple of `innerpart_factor`.
absl::StatusOr<std::vector<int64_t>> PartitionedTile(
    const Site* loop, int n, int partition_pos, int innerpart_factor,
    absl::Span<const int64_t> decision);
// The number of a candidate: `decision`, or the most probable one.
absl::StatusOr<int> Categorical(absl::Span<const int64_t> candidates,
                                absl::Span<const double> probs,
                                std::optional<int> decision);

// The place at which a block may be computed: a loop around its first consumer,
// by its index, or one of these.
inline constexpr int kLocationInline = -2;
inline constexpr int kLocationRoot = -1;
// All possible places, ascending.
std::vector<int> ComputeLocations(const ScheduleState& state,
                                  const Site* block);
// `decision`, or the last possible place before it; without a decision the last
// one.
int ComputeLocation(const ScheduleState& state, const Site* block,
                    std::optional<int> decision);

}  // namespace baton::tir

#endif  // BATON_TIR_SCHEDULE_STEPS_H_
