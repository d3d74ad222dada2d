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
// like it. Steps are explained in steps.h and docs/schedules.md.

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
  // The trace, a line a step.
  std::string TraceText() const;

  // Takes a step by its name and parameters.
  absl::Status Apply(const Step& step);

  // The only block of that name.
  absl::StatusOr<BlockRef> GetBlock(absl::string_view name) const;
  // The loops directly around a block, outermost first.
  absl::StatusOr<std::vector<LoopRef>> GetLoops(const BlockRef& block) const;
  absl::StatusOr<std::vector<BlockRef>> GetChildBlocks(
      const BlockRef& block) const;
  absl::StatusOr<std::vector<BlockRef>> GetProducers(
      const BlockRef& block) const;
  absl::StatusOr<std::vector<BlockRef>> GetConsumers(
      const BlockRef& block) const;

  absl::StatusOr<std::vector<LoopRef>> Split(const LoopRef& loop,
                                             std::vector<int64_t> factors,
                                             bool preserve_unit_iters = true);
  absl::StatusOr<LoopRef> Fuse(const std::vector<LoopRef>& loops,
                               bool preserve_unit_iters = true);
  absl::Status Reorder(const std::vector<LoopRef>& loops);
  absl::Status Parallel(const LoopRef& loop);
  absl::Status Vectorize(const LoopRef& loop);
  absl::Status Unroll(const LoopRef& loop);
  absl::Status Bind(const LoopRef& loop, const std::string& thread_axis);
  absl::Status ComputeInline(const BlockRef& block);
  absl::Status ReverseComputeInline(const BlockRef& block);
  absl::Status ComputeAt(const BlockRef& block, const LoopRef& loop,
                         bool preserve_unit_loops = false, int index = -1);
  absl::Status ReverseComputeAt(const BlockRef& block, const LoopRef& loop,
                                bool preserve_unit_loops = false,
                                int index = -1);
  absl::StatusOr<BlockRef> CacheRead(const BlockRef& block,
                                     int read_buffer_index,
                                     const std::string& storage_scope);
  absl::StatusOr<BlockRef> CacheWrite(const BlockRef& block,
                                      int write_buffer_index,
                                      const std::string& storage_scope);
  absl::StatusOr<BlockRef> DecomposeReduction(const BlockRef& block,
                                              const LoopRef& loop);
  absl::StatusOr<BlockRef> RFactor(const LoopRef& loop, int factor_axis);
  absl::StatusOr<BlockRef> Blockize(const LoopRef& loop,
                                    bool preserve_unit_iters = true);

 private:
  // Blocks and loops that a step made.
  struct Made {
    std::vector<BlockRef> blocks;
    std::vector<LoopRef> loops;
  };

  absl::StatusOr<Made> Take(Step step);
  absl::StatusOr<const Site*> SiteOf(const BlockRef& block) const;
  absl::StatusOr<const Site*> SiteOf(const LoopRef& loop) const;
  absl::StatusOr<AttrValue> Param(const BlockRef& block) const;
  absl::StatusOr<AttrValue> Param(const LoopRef& loop) const;
  absl::StatusOr<AttrValue> Param(const std::vector<LoopRef>& loops) const;
  absl::Status TakeOnLoop(const char* name, const LoopRef& loop);
  absl::Status TakeOnBlock(const char* name, const BlockRef& block);

  PrimFunc function_;
  absl::Status error_;  // why there is no state
  std::optional<ScheduleState> state_;
  std::vector<Step> trace_;
};

}  // namespace baton::tir

#endif  // BATON_TIR_SCHEDULE_SCHEDULE_H_
