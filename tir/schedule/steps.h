// Steps of schedules: rewrites of a function, each with the conditions under
// which it keeps the function's values. Names and results are those of TVM
// 0.14. See docs/schedules.md for examples.
//
//   BATON_ASSIGN_OR_RETURN(std::vector<For> loops,
//                          Split(state, loop, {outer, inner}, true));
//   const Site* inner = state.Find(loops[1].get());
//
// A step that fails leaves the state as it was. Sites of the state before a
// step are invalid after it; results are nodes of the new function. See
// schedule.h for handles that outlive steps.
//
// Parameters of several steps:
//   `buffer_index`         a position in T.reads or T.writes of the block
//   `storage_scope`        the memory of the new buffer: `global`, `shared` ...
//   `preserve_unit_iters`  loops of extent 1 keep variables in blocks
//   `preserve_unit_loops`  new loops of extent 1 stay

#ifndef BATON_TIR_SCHEDULE_STEPS_H_
#define BATON_TIR_SCHEDULE_STEPS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
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
// Binds a loop to `thread_axis`: `threadIdx.x`, `blockIdx.y`, `vthread.z` ...
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
// Moves the buffer that the block writes to other memory.
absl::Status SetScope(ScheduleState& state, const Site* block, int buffer_index,
                      const std::string& storage_scope);
// Changes the type of the buffer that the block writes. Values are rounded to
// `dtype`.
absl::Status UnsafeSetDType(ScheduleState& state, const Site* block,
                            int buffer_index, DType dtype);
// Reorders the variables of a block: new_order[i] is the old position of
// variable i.
absl::Status ReorderBlockIterVar(ScheduleState& state, const Site* block,
                                 absl::Span<const int64_t> new_order);

// Inlining (compute_inline.cc).

// Removes a block and computes what it stores where other blocks load it.
absl::Status ComputeInline(ScheduleState& state, const Site* block);
// Removes a block that reads one buffer, and computes its result in the only
// block that writes that buffer.
absl::Status ReverseComputeInline(ScheduleState& state, const Site* block);

// Moving blocks (compute_at.cc). `index` is a position in the body of the loop;
// -1: the last possible one, -2: the first.

// Moves a block into `loop`, which has all its consumers. The block then
// computes in each iteration the region that they read.
absl::Status ComputeAt(ScheduleState& state, const Site* block,
                       const Site* loop, bool preserve_unit_loops, int index);
// Moves a block into `loop`, which has all its producers. The block then
// consumes in each iteration the region that they write.
absl::Status ReverseComputeAt(ScheduleState& state, const Site* block,
                              const Site* loop, bool preserve_unit_loops,
                              int index);

// Reductions (reduction_steps.cc).

// Makes T.init() of a reduction a block before `loop`, which is around the
// reduction. Returns the new block.
absl::StatusOr<Block> DecomposeReduction(ScheduleState& state,
                                         const Site* block, const Site* loop);
// Reduces for each iteration of `loop` separately, into a buffer that has axis
// `factor_axis` for the loop, and then over that axis. Returns the block of the
// first reduction.
absl::StatusOr<Block> RFactor(ScheduleState& state, const Site* loop,
                              int factor_axis);

// Copies of buffers (cache.cc, reindex.cc). Each step returns the blocks that
// copy.

// Copies a buffer that the block reads; `consumers`, or all blocks that read
// the buffer if there are none, read the copy.
absl::StatusOr<Block> CacheRead(ScheduleState& state, const Site* block,
                                int buffer_index,
                                const std::string& storage_scope,
                                Sites consumers);
// The block writes a new buffer, which is then copied to the one that it wrote.
// `consumers` read the new buffer.
absl::StatusOr<Block> CacheWrite(ScheduleState& state, const Site* block,
                                 int buffer_index,
                                 const std::string& storage_scope,
                                 Sites consumers);
// For a buffer that the block reads and writes: copies it before the block, and
// back after the block.
absl::StatusOr<std::vector<Block>> CacheInplace(
    ScheduleState& state, const Site* block, int buffer_index,
    const std::string& storage_scope);
// As CacheRead and CacheWrite for this block alone. The block accesses the copy
// at the results of `index_map`, a map of the block's variables.
absl::StatusOr<Block> ReindexCacheRead(ScheduleState& state, const Site* block,
                                       int buffer_index,
                                       const std::string& storage_scope,
                                       const IndexMap& index_map);
absl::StatusOr<Block> ReindexCacheWrite(ScheduleState& state, const Site* block,
                                        int buffer_index,
                                        const std::string& storage_scope,
                                        const IndexMap& index_map);
// As ReindexCacheRead or ReindexCacheWrite: the copy has an axis for each
// variable of the block that the indices use.
absl::StatusOr<Block> ReIndex(ScheduleState& state, const Site* block,
                              int buffer_index, AccessKind kind);
// Copies in `loop` the region that `block` reads (writes) in one iteration. The
// copy has the annotation `auto_copy`: LowerAutoCopy divides it among threads.
absl::StatusOr<Block> ReadAt(ScheduleState& state, const Site* loop,
                             const Site* block, int buffer_index,
                             const std::string& storage_scope);
absl::StatusOr<Block> WriteAt(ScheduleState& state, const Site* loop,
                              const Site* block, int buffer_index,
                              const std::string& storage_scope);
// Computes each expression in indices of the block that occurs at least
// `cse_thresh` times into a buffer, before the block.
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

// Splits a block that pads: a new block, before `loop`, stores the padding
// value everywhere, and the old block stores only the elements that are not
// padding. Returns the new block.
absl::StatusOr<Block> DecomposePadding(ScheduleState& state, const Site* block,
                                       const Site* loop);
// Pads the extents of the variables of a sum of products to multiples of
// `padding`, one number for each variable. The operands are copied to padded
// buffers, and the result is copied back.
absl::Status PadEinsum(ScheduleState& state, const Site* block,
                       absl::Span<const int64_t> padding);
// Shrinks a buffer that the block writes to the part that later iterations
// read: iterations overwrite it in turn.
absl::Status RollingBuffer(ScheduleState& state, const Site* block,
                           int buffer_index);

// Layouts (layout_steps.cc).

// Stores a buffer that the block accesses in the layout that `index_map` gives
// its indices, in the whole function. A null `pad_value`: the map must not
// introduce padding. With `assume_injective_transform`, the map is not checked.
absl::Status TransformLayout(ScheduleState& state, const Site* block,
                             int buffer_index, AccessKind kind,
                             const IndexMap& index_map,
                             const IndexMap& pad_value,
                             bool assume_injective_transform);
// Replaces the variables of a block, and the loops around it, by the results of
// `index_map`.
absl::Status TransformBlockLayout(ScheduleState& state, const Site* block,
                                  const IndexMap& index_map);
// Sets the axes at which the buffer is divided into groups when it is
// flattened.
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

// The `n` factors into which a loop is split, outermost first. They are those
// of `decision`; a factor that does not divide the rest of the extent becomes
// that rest. Without a decision, the innermost factor is the largest divisor of
// the extent up to `max_innermost_factor` (negative: no limit), the outermost
// one the rest, and all others are 1. For a loop whose extent is not constant,
// {-1, 1, 1...}.
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
