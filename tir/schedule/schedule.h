// Schedules: a function, and steps that transform its blocks and loops.
//
//   Schedule schedule(function);
//   BATON_ASSIGN_OR_RETURN(BlockRef c, schedule.GetBlock("C"));
//   BATON_ASSIGN_OR_RETURN(std::vector<LoopRef> loops, schedule.GetLoops(c));
//   BATON_ASSIGN_OR_RETURN(std::vector<LoopRef> i, schedule.Split(loops[0],
//                                                       {kInferred, 8}));
//   BATON_RETURN_IF_ERROR(schedule.Reorder({i[0], loops[1], i[1]}));
//   BATON_RETURN_IF_ERROR(schedule.Vectorize(i[1]));
//   Use(schedule.function(), schedule.TraceText());
//
// A step that cannot be taken returns an error with the place of the block or
// loop that is the reason, and leaves the function as it was. The trace has the
// steps that were taken; Apply() takes them again, on the same function or one
// like it. steps.h describes each step; docs/schedules.md has examples.

#ifndef BATON_TIR_SCHEDULE_SCHEDULE_H_
#define BATON_TIR_SCHEDULE_SCHEDULE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/schedule/conditions.h"
#include "baton/tir/schedule/state.h"
#include "baton/tir/schedule/step_text.h"

namespace baton::tir {

// A block. It is found again, after further steps, by its first variable or
// else by its name.
struct BlockRef {
  std::string name;
  Var var;
};

// A loop, by its variable.
struct LoopRef {
  Var var;
};

// A factor of Split() that is to be inferred.
inline constexpr int64_t kInferred = -1;

class Schedule {
 public:
  // If the function has no root block, every step is an error.
  explicit Schedule(PrimFunc function);

  const PrimFunc& function() const { return function_; }
  // The steps that were taken.
  absl::Span<const Step> trace() const { return trace_; }
  // The trace, one line for each step.
  std::string TraceText() const;

  // Takes a step by its name and parameters.
  absl::Status Apply(const Step& step);

  // A schedule of the same function with the same trace; references stay valid
  // in both.
  Schedule Copy() const;

  // The only block of that name.
  absl::StatusOr<BlockRef> GetBlock(absl::string_view name) const;
  bool HasBlock(const BlockRef& block) const { return SiteOf(block).ok(); }
  absl::StatusOr<Block> Get(const BlockRef& block) const;
  absl::StatusOr<For> Get(const LoopRef& loop) const;
  // The loops directly around a block, outermost first.
  absl::StatusOr<std::vector<LoopRef>> GetLoops(const BlockRef& block) const;
  absl::StatusOr<std::vector<BlockRef>> GetChildBlocks(
      const BlockRef& block) const;
  absl::StatusOr<std::vector<BlockRef>> GetChildBlocks(
      const LoopRef& loop) const;
  absl::StatusOr<std::vector<BlockRef>> GetProducers(
      const BlockRef& block) const;
  absl::StatusOr<std::vector<BlockRef>> GetConsumers(
      const BlockRef& block) const;
  // The blocks below `scope` that write a buffer which is not allocated there.
  absl::StatusOr<std::vector<BlockRef>> GetOutputBlocks(
      const BlockRef& scope) const;

  // Sampling steps, for search. Each returns `decision` or, if that is not
  // given, a fixed result. The trace records the result.
  absl::StatusOr<int64_t> SampleCategorical(
      const std::vector<int64_t>& candidates, const std::vector<double>& probs,
      std::optional<int> decision = {});
  absl::StatusOr<std::vector<int64_t>> SamplePerfectTile(
      const LoopRef& loop, int n, int max_innermost_factor = 16,
      const std::vector<int64_t>& decision = {});
  absl::StatusOr<std::vector<int64_t>> SamplePartitionedTile(
      const LoopRef& loop, int n, int partition_pos = 0,
      int innerpart_factor = 1, const std::vector<int64_t>& decision = {});
  // The index of a loop around the first consumer, kLocationInline or
  // kLocationRoot (steps.h).
  absl::StatusOr<int> SampleComputeLocation(const BlockRef& block,
                                            std::optional<int> decision = {});

  absl::StatusOr<std::vector<LoopRef>> Split(const LoopRef& loop,
                                             std::vector<int64_t> factors,
                                             bool preserve_unit_iters = true);
  absl::StatusOr<LoopRef> Fuse(const std::vector<LoopRef>& loops,
                               bool preserve_unit_iters = true);
  absl::StatusOr<LoopRef> Merge(const std::vector<LoopRef>& loops);
  absl::Status Reorder(const std::vector<LoopRef>& loops);
  absl::Status ReorderBlockIterVar(const BlockRef& block,
                                   const std::vector<int64_t>& new_order);
  absl::StatusOr<LoopRef> AddUnitLoop(const BlockRef& block);
  absl::StatusOr<LoopRef> AddUnitLoop(const LoopRef& loop);
  absl::Status Parallel(const LoopRef& loop);
  absl::Status Vectorize(const LoopRef& loop);
  absl::Status Unroll(const LoopRef& loop);
  absl::Status Bind(const LoopRef& loop, const std::string& thread_axis);
  absl::Status Annotate(const BlockRef& block, const std::string& key,
                        AttrValue value);
  absl::Status Annotate(const LoopRef& loop, const std::string& key,
                        AttrValue value);
  absl::Status Unannotate(const BlockRef& block, const std::string& key);
  absl::Status Unannotate(const LoopRef& loop, const std::string& key);

  absl::Status ComputeInline(const BlockRef& block);
  absl::Status ReverseComputeInline(const BlockRef& block);
  absl::Status ComputeAt(const BlockRef& block, const LoopRef& loop,
                         bool preserve_unit_loops = false, int index = -1);
  absl::Status ReverseComputeAt(const BlockRef& block, const LoopRef& loop,
                                bool preserve_unit_loops = false,
                                int index = -1);

  // Copies of buffers. The copy is for `consumer_blocks`, or for all consumers
  // if there are none.
  absl::StatusOr<BlockRef> CacheRead(
      const BlockRef& block, int read_buffer_index,
      const std::string& storage_scope,
      const std::vector<BlockRef>& consumer_blocks = {});
  absl::StatusOr<BlockRef> CacheWrite(
      const BlockRef& block, int write_buffer_index,
      const std::string& storage_scope,
      const std::vector<BlockRef>& consumer_blocks = {});
  // `index_map` is text: `lambda i, j: (j, i)`.
  absl::StatusOr<BlockRef> ReindexCacheRead(const BlockRef& block,
                                            int read_buffer_index,
                                            const std::string& storage_scope,
                                            const std::string& index_map);
  absl::StatusOr<BlockRef> ReindexCacheWrite(const BlockRef& block,
                                             int write_buffer_index,
                                             const std::string& storage_scope,
                                             const std::string& index_map);
  // Returns the block that fills the copy, and the one that writes it back.
  absl::StatusOr<std::vector<BlockRef>> CacheInplace(
      const BlockRef& block, int read_buffer_index,
      const std::string& storage_scope);
  absl::StatusOr<std::vector<BlockRef>> CacheIndex(
      const BlockRef& block, const std::string& storage_scope,
      int cse_thresh = 0);
  absl::StatusOr<BlockRef> ReIndex(const BlockRef& block, AccessKind kind,
                                   int buffer_index);
  absl::StatusOr<BlockRef> ReadAt(const LoopRef& loop, const BlockRef& block,
                                  int read_buffer_index,
                                  const std::string& storage_scope);
  absl::StatusOr<BlockRef> WriteAt(const LoopRef& loop, const BlockRef& block,
                                   int write_buffer_index,
                                   const std::string& storage_scope);

  absl::StatusOr<BlockRef> DecomposeReduction(const BlockRef& block,
                                              const LoopRef& loop);
  absl::StatusOr<BlockRef> RFactor(const LoopRef& loop, int factor_axis);

  absl::Status StorageAlign(const BlockRef& block, int buffer_index, int axis,
                            int factor, int offset);
  absl::Status SetScope(const BlockRef& block, int buffer_index,
                        const std::string& storage_scope);
  absl::Status UnsafeSetDType(const BlockRef& block, int buffer_index,
                              const std::string& dtype);

  absl::StatusOr<BlockRef> Blockize(const LoopRef& loop,
                                    bool preserve_unit_iters = true);
  absl::StatusOr<BlockRef> Blockize(const std::vector<BlockRef>& blocks,
                                    bool preserve_unit_iters = true);
  // `intrin` is the name of a registered intrinsic.
  absl::Status Tensorize(const LoopRef& loop, const std::string& intrin,
                         bool preserve_unit_iters = true);
  absl::Status Tensorize(const BlockRef& block, const std::string& intrin,
                         bool preserve_unit_iters = true);

  // `pad_value` is a number, text such as `T.int8(0)`, the text of a map of the
  // new indices, or none.
  absl::Status TransformLayout(const BlockRef& block, AccessKind kind,
                               int buffer_index, const std::string& index_map,
                               AttrValue pad_value = {},
                               bool assume_injective_transform = false);
  absl::Status TransformBlockLayout(const BlockRef& block,
                                    const std::string& index_map);
  absl::Status SetAxisSeparator(const BlockRef& block, AccessKind kind,
                                int buffer_index,
                                const std::vector<int64_t>& axis_separators);

  absl::StatusOr<BlockRef> DecomposePadding(const BlockRef& block,
                                            const LoopRef& loop);
  bool CanDecomposePadding(const BlockRef& block, const LoopRef& loop) const;
  absl::Status PadEinsum(const BlockRef& block,
                         const std::vector<int64_t>& padding);
  absl::Status RollingBuffer(const BlockRef& block, int write_buffer_index);

  // Marks in the trace the begin of postprocessing steps. Changes nothing else.
  absl::Status EnterPostproc();
  absl::Status UnsafeHideBufferAccess(const BlockRef& block, AccessKind kind,
                                      const std::vector<int64_t>& indices);

 private:
  class Builder;
  // The results of a step.
  struct Made {
    std::vector<BlockRef> blocks;
    std::vector<LoopRef> loops;
    std::vector<int64_t> values;
  };

  absl::StatusOr<Made> Take(Step step);
  absl::StatusOr<Made> Take(Builder& step);
  absl::StatusOr<const Site*> SiteOf(const BlockRef& block) const;
  absl::StatusOr<const Site*> SiteOf(const LoopRef& loop) const;

  PrimFunc function_;
  absl::Status error_;  // why there is no state
  std::optional<ScheduleState> state_;
  std::vector<Step> trace_;
};

}  // namespace baton::tir

#endif  // BATON_TIR_SCHEDULE_SCHEDULE_H_
