#include "baton/tir/schedule/schedule.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/status_macros.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/schedule/conditions.h"
#include "baton/tir/schedule/state.h"
#include "baton/tir/schedule/step_table.h"
#include "baton/tir/schedule/step_text.h"

namespace baton::tir {
namespace {

BlockRef RefOf(const BlockNode* block) {
  const auto vars = block->iter_vars();
  return {block->name(), vars.empty() ? Var() : vars[0]->var()};
}

std::vector<BlockRef> RefsOf(const std::vector<const Site*>& sites) {
  std::vector<BlockRef> result;
  for (const Site* site : sites) result.push_back(RefOf(site->block()));
  return result;
}

std::vector<LoopRef> RefsOfLoops(const std::vector<const Site*>& sites) {
  std::vector<LoopRef> result;
  for (const Site* site : sites) result.push_back({site->loop()->loop_var()});
  return result;
}

AttrList ListOf(const std::vector<int64_t>& numbers) {
  return AttrList(numbers.begin(), numbers.end());
}

// The parameter of a step for a buffer that a block accesses.
AttrList BufferParam(AccessKind kind, int index) {
  return {kind == AccessKind::kRead ? "read" : "write", int64_t{index}};
}

}  // namespace

// Makes a step for Take(), which returns the first error of the parameters.
class Schedule::Builder {
 public:
  Builder(const Schedule& schedule, std::string name)
      : schedule_(&schedule), step_{std::move(name), {}} {}

  Builder& Set(const char* key, AttrValue value) {
    step_.params.emplace_back(key, std::move(value));
    return *this;
  }
  // A block or a loop.
  template <typename Ref>
  Builder& At(const char* key, const Ref& ref) {
    return Set(key, Param(ref));
  }
  template <typename Ref>
  Builder& AtAll(const char* key, const std::vector<Ref>& refs) {
    AttrList list;
    for (const Ref& ref : refs) list.push_back(Param(ref));
    return Set(key, std::move(list));
  }

  absl::StatusOr<Step> Finish() {
    if (!error_.ok()) return error_;
    return std::move(step_);
  }

 private:
  template <typename Ref>
  AttrValue Param(const Ref& ref) {
    const absl::StatusOr<const Site*> site = schedule_->SiteOf(ref);
    absl::StatusOr<AttrValue> param =
        site.ok() ? SiteParam(*schedule_->state_, *site) : site.status();
    if (param.ok()) return *std::move(param);
    if (error_.ok()) error_ = param.status();
    return {};
  }

  const Schedule* schedule_;
  Step step_;
  absl::Status error_;
};

Schedule::Schedule(PrimFunc function) : function_(std::move(function)) {
  absl::StatusOr<ScheduleState> state = ScheduleState::Create(function_);
  if (state.ok()) {
    state_ = *std::move(state);
  } else {
    error_ = state.status();
  }
}

Schedule Schedule::Copy() const {
  Schedule copy(function_);
  copy.trace_ = trace_;
  return copy;
}

std::string Schedule::TraceText() const {
  std::string text;
  for (const Step& step : trace_) absl::StrAppend(&text, StepText(step), "\n");
  return text;
}

absl::Status Schedule::Apply(const Step& step) { return Take(step).status(); }

absl::StatusOr<Schedule::Made> Schedule::Take(Step step) {
  BATON_RETURN_IF_ERROR(error_);
  BATON_ASSIGN_OR_RETURN(const StepResult result, ApplyStep(*state_, step));
  function_ = state_->function();
  if (!result.decision.is_none()) {
    const auto is_decision = [](const auto& entry) {
      return entry.first == "decision";
    };
    step.params.erase(
        std::remove_if(step.params.begin(), step.params.end(), is_decision),
        step.params.end());
    step.params.emplace_back("decision", result.decision);
  }
  trace_.push_back(std::move(step));
  Made made;
  for (const Block& block : result.blocks) {
    made.blocks.push_back(RefOf(block.get()));
  }
  for (const For& loop : result.loops) made.loops.push_back({loop->loop_var()});
  made.values = result.values;
  return made;
}

absl::StatusOr<Schedule::Made> Schedule::Take(Builder& step) {
  BATON_ASSIGN_OR_RETURN(Step made, step.Finish());
  return Take(std::move(made));
}

absl::StatusOr<const Site*> Schedule::SiteOf(const BlockRef& block) const {
  BATON_RETURN_IF_ERROR(error_);
  if (block.var.defined()) {
    for (const Site& site : state_->sites()) {
      if (!site.is_block()) continue;
      const auto vars = site.block()->iter_vars();
      if (!vars.empty() && vars[0]->var() == block.var) return &site;
    }
  }
  const std::vector<const Site*> blocks = state_->BlocksNamed(block.name);
  if (blocks.size() == 1) return blocks[0];
  return absl::NotFoundError(
      blocks.empty() ? absl::StrCat("there is no block ", block.name)
                     : absl::StrCat("there are ", blocks.size(),
                                    " blocks of the name ", block.name));
}

absl::StatusOr<const Site*> Schedule::SiteOf(const LoopRef& loop) const {
  BATON_RETURN_IF_ERROR(error_);
  for (const Site& site : state_->sites()) {
    if (!site.is_block() && site.loop()->loop_var() == loop.var) return &site;
  }
  return absl::NotFoundError(
      absl::StrCat("the function has no loop ",
                   loop.var.defined() ? loop.var->name() : "?", " any more"));
}

absl::StatusOr<BlockRef> Schedule::GetBlock(absl::string_view name) const {
  BATON_ASSIGN_OR_RETURN(const Site* site,
                         SiteOf(BlockRef{std::string(name), {}}));
  return RefOf(site->block());
}

absl::StatusOr<Block> Schedule::Get(const BlockRef& block) const {
  BATON_ASSIGN_OR_RETURN(const Site* site, SiteOf(block));
  return Block(site->block());
}

absl::StatusOr<For> Schedule::Get(const LoopRef& loop) const {
  BATON_ASSIGN_OR_RETURN(const Site* site, SiteOf(loop));
  return For(site->loop());
}

absl::StatusOr<std::vector<LoopRef>> Schedule::GetLoops(
    const BlockRef& block) const {
  BATON_ASSIGN_OR_RETURN(const Site* site, SiteOf(block));
  return RefsOfLoops(LoopsOf(site));
}

absl::StatusOr<std::vector<BlockRef>> Schedule::GetChildBlocks(
    const BlockRef& block) const {
  BATON_ASSIGN_OR_RETURN(const Site* site, SiteOf(block));
  return RefsOf(ChildBlocks(*state_, site));
}

absl::StatusOr<std::vector<BlockRef>> Schedule::GetChildBlocks(
    const LoopRef& loop) const {
  BATON_ASSIGN_OR_RETURN(const Site* site, SiteOf(loop));
  return RefsOf(ChildBlocks(*state_, site));
}

absl::StatusOr<std::vector<BlockRef>> Schedule::GetProducers(
    const BlockRef& block) const {
  BATON_ASSIGN_OR_RETURN(const Site* site, SiteOf(block));
  return RefsOf(ProducersOf(*state_, site));
}

absl::StatusOr<std::vector<BlockRef>> Schedule::GetConsumers(
    const BlockRef& block) const {
  BATON_ASSIGN_OR_RETURN(const Site* site, SiteOf(block));
  return RefsOf(ConsumersOf(*state_, site));
}

absl::StatusOr<std::vector<BlockRef>> Schedule::GetOutputBlocks(
    const BlockRef& scope) const {
  BATON_ASSIGN_OR_RETURN(const Site* site, SiteOf(scope));
  return RefsOf(OutputBlocks(*state_, site));
}

absl::StatusOr<int64_t> Schedule::SampleCategorical(
    const std::vector<int64_t>& candidates, const std::vector<double>& probs,
    std::optional<int> decision) {
  Builder step = Builder(*this, "sample_categorical")
                     .Set("candidates", ListOf(candidates))
                     .Set("probs", AttrList(probs.begin(), probs.end()));
  if (decision.has_value()) {
    step.Set("decision", int64_t{*decision});
  }
  BATON_ASSIGN_OR_RETURN(const Made made, Take(step));
  return made.values[0];
}

absl::StatusOr<std::vector<int64_t>> Schedule::SamplePerfectTile(
    const LoopRef& loop, int n, int max_innermost_factor,
    const std::vector<int64_t>& decision) {
  BATON_ASSIGN_OR_RETURN(Made made, Take(Builder(*this, "sample_perfect_tile")
                                             .Set("decision", ListOf(decision))
                                             .At("loop", loop)
                                             .Set("max_innermost_factor",
                                                  int64_t{max_innermost_factor})
                                             .Set("n", int64_t{n})));
  return std::move(made.values);
}

absl::StatusOr<std::vector<int64_t>> Schedule::SamplePartitionedTile(
    const LoopRef& loop, int n, int partition_pos, int innerpart_factor,
    const std::vector<int64_t>& decision) {
  BATON_ASSIGN_OR_RETURN(
      Made made, Take(Builder(*this, "sample_partitioned_tile")
                          .Set("decision", ListOf(decision))
                          .Set("innerpart_factor", int64_t{innerpart_factor})
                          .At("loop", loop)
                          .Set("n", int64_t{n})
                          .Set("partition_pos", int64_t{partition_pos})));
  return std::move(made.values);
}

absl::StatusOr<int> Schedule::SampleComputeLocation(
    const BlockRef& block, std::optional<int> decision) {
  Builder step = Builder(*this, "sample_compute_location").At("block", block);
  if (decision.has_value()) {
    step.Set("decision", int64_t{*decision});
  }
  BATON_ASSIGN_OR_RETURN(const Made made, Take(step));
  return static_cast<int>(made.values[0]);
}

absl::StatusOr<std::vector<LoopRef>> Schedule::Split(
    const LoopRef& loop, std::vector<int64_t> factors,
    bool preserve_unit_iters) {
  AttrList list;
  for (const int64_t factor : factors) {
    list.push_back(factor == kInferred ? AttrValue() : AttrValue(factor));
  }
  BATON_ASSIGN_OR_RETURN(
      Made made, Take(Builder(*this, "split")
                          .Set("factors", std::move(list))
                          .At("loop", loop)
                          .Set("preserve_unit_iters", preserve_unit_iters)));
  return std::move(made.loops);
}

absl::StatusOr<LoopRef> Schedule::Fuse(const std::vector<LoopRef>& loops,
                                       bool preserve_unit_iters) {
  BATON_ASSIGN_OR_RETURN(
      Made made, Take(Builder(*this, "fuse")
                          .AtAll("loops", loops)
                          .Set("preserve_unit_iters", preserve_unit_iters)));
  return made.loops[0];
}

absl::StatusOr<LoopRef> Schedule::Merge(const std::vector<LoopRef>& loops) {
  BATON_ASSIGN_OR_RETURN(Made made,
                         Take(Builder(*this, "merge").AtAll("loops", loops)));
  return made.loops[0];
}

absl::Status Schedule::Reorder(const std::vector<LoopRef>& loops) {
  return Take(Builder(*this, "reorder").AtAll("ordered_loops", loops)).status();
}

absl::Status Schedule::ReorderBlockIterVar(
    const BlockRef& block, const std::vector<int64_t>& new_order) {
  return Take(Builder(*this, "reorder_block_iter_var")
                  .At("block", block)
                  .Set("new_order", ListOf(new_order)))
      .status();
}

absl::StatusOr<LoopRef> Schedule::AddUnitLoop(const BlockRef& block) {
  BATON_ASSIGN_OR_RETURN(
      Made made,
      Take(Builder(*this, "add_unit_loop").At("block_or_loop", block)));
  return made.loops[0];
}

absl::StatusOr<LoopRef> Schedule::AddUnitLoop(const LoopRef& loop) {
  BATON_ASSIGN_OR_RETURN(
      Made made,
      Take(Builder(*this, "add_unit_loop").At("block_or_loop", loop)));
  return made.loops[0];
}

absl::Status Schedule::Parallel(const LoopRef& loop) {
  return Take(Builder(*this, "parallel").At("loop", loop)).status();
}

absl::Status Schedule::Vectorize(const LoopRef& loop) {
  return Take(Builder(*this, "vectorize").At("loop", loop)).status();
}

absl::Status Schedule::Unroll(const LoopRef& loop) {
  return Take(Builder(*this, "unroll").At("loop", loop)).status();
}

absl::Status Schedule::Bind(const LoopRef& loop,
                            const std::string& thread_axis) {
  return Take(Builder(*this, "bind")
                  .At("loop", loop)
                  .Set("thread_axis", thread_axis))
      .status();
}

absl::Status Schedule::Annotate(const BlockRef& block, const std::string& key,
                                AttrValue value) {
  return Take(Builder(*this, "annotate")
                  .Set("ann_key", key)
                  .Set("ann_val", std::move(value))
                  .At("block_or_loop", block))
      .status();
}

absl::Status Schedule::Annotate(const LoopRef& loop, const std::string& key,
                                AttrValue value) {
  return Take(Builder(*this, "annotate")
                  .Set("ann_key", key)
                  .Set("ann_val", std::move(value))
                  .At("block_or_loop", loop))
      .status();
}

absl::Status Schedule::Unannotate(const BlockRef& block,
                                  const std::string& key) {
  return Take(Builder(*this, "unannotate")
                  .Set("ann_key", key)
                  .At("block_or_loop", block))
      .status();
}

absl::Status Schedule::Unannotate(const LoopRef& loop, const std::string& key) {
  return Take(Builder(*this, "unannotate")
                  .Set("ann_key", key)
                  .At("block_or_loop", loop))
      .status();
}

absl::Status Schedule::ComputeInline(const BlockRef& block) {
  return Take(Builder(*this, "compute_inline").At("block", block)).status();
}

absl::Status Schedule::ReverseComputeInline(const BlockRef& block) {
  return Take(Builder(*this, "reverse_compute_inline").At("block", block))
      .status();
}

absl::Status Schedule::ComputeAt(const BlockRef& block, const LoopRef& loop,
                                 bool preserve_unit_loops, int index) {
  return Take(Builder(*this, "compute_at")
                  .At("block", block)
                  .Set("index", int64_t{index})
                  .At("loop", loop)
                  .Set("preserve_unit_loops", preserve_unit_loops))
      .status();
}

absl::Status Schedule::ReverseComputeAt(const BlockRef& block,
                                        const LoopRef& loop,
                                        bool preserve_unit_loops, int index) {
  return Take(Builder(*this, "reverse_compute_at")
                  .At("block", block)
                  .Set("index", int64_t{index})
                  .At("loop", loop)
                  .Set("preserve_unit_loops", preserve_unit_loops))
      .status();
}

absl::StatusOr<BlockRef> Schedule::CacheRead(
    const BlockRef& block, int read_buffer_index,
    const std::string& storage_scope,
    const std::vector<BlockRef>& consumer_blocks) {
  Builder step = Builder(*this, "cache_read")
                     .At("block", block)
                     .Set("read_buffer_index", int64_t{read_buffer_index})
                     .Set("storage_scope", storage_scope);
  if (!consumer_blocks.empty()) {
    step.AtAll("consumer_blocks", consumer_blocks);
  }
  BATON_ASSIGN_OR_RETURN(Made made, Take(step));
  return made.blocks[0];
}

absl::StatusOr<BlockRef> Schedule::CacheWrite(
    const BlockRef& block, int write_buffer_index,
    const std::string& storage_scope,
    const std::vector<BlockRef>& consumer_blocks) {
  Builder step = Builder(*this, "cache_write")
                     .At("block", block)
                     .Set("write_buffer_index", int64_t{write_buffer_index})
                     .Set("storage_scope", storage_scope);
  if (!consumer_blocks.empty()) {
    step.AtAll("consumer_blocks", consumer_blocks);
  }
  BATON_ASSIGN_OR_RETURN(Made made, Take(step));
  return made.blocks[0];
}

absl::StatusOr<BlockRef> Schedule::ReindexCacheRead(
    const BlockRef& block, int read_buffer_index,
    const std::string& storage_scope, const std::string& index_map) {
  BATON_ASSIGN_OR_RETURN(
      Made made, Take(Builder(*this, "reindex_cache_read")
                          .At("block", block)
                          .Set("index_map", index_map)
                          .Set("read_buffer_index", int64_t{read_buffer_index})
                          .Set("storage_scope", storage_scope)));
  return made.blocks[0];
}

absl::StatusOr<BlockRef> Schedule::ReindexCacheWrite(
    const BlockRef& block, int write_buffer_index,
    const std::string& storage_scope, const std::string& index_map) {
  BATON_ASSIGN_OR_RETURN(
      Made made,
      Take(Builder(*this, "reindex_cache_write")
               .At("block", block)
               .Set("index_map", index_map)
               .Set("storage_scope", storage_scope)
               .Set("write_buffer_index", int64_t{write_buffer_index})));
  return made.blocks[0];
}

absl::StatusOr<std::vector<BlockRef>> Schedule::CacheInplace(
    const BlockRef& block, int read_buffer_index,
    const std::string& storage_scope) {
  BATON_ASSIGN_OR_RETURN(
      Made made, Take(Builder(*this, "cache_inplace")
                          .At("block", block)
                          .Set("read_buffer_index", int64_t{read_buffer_index})
                          .Set("storage_scope", storage_scope)));
  return std::move(made.blocks);
}

absl::StatusOr<std::vector<BlockRef>> Schedule::CacheIndex(
    const BlockRef& block, const std::string& storage_scope, int cse_thresh) {
  BATON_ASSIGN_OR_RETURN(Made made,
                         Take(Builder(*this, "cache_index")
                                  .At("block", block)
                                  .Set("cse_thresh", int64_t{cse_thresh})
                                  .Set("storage_scope", storage_scope)));
  return std::move(made.blocks);
}

absl::StatusOr<BlockRef> Schedule::ReIndex(const BlockRef& block,
                                           AccessKind kind, int buffer_index) {
  BATON_ASSIGN_OR_RETURN(
      Made made, Take(Builder(*this, "reindex")
                          .At("block", block)
                          .Set("buffer", BufferParam(kind, buffer_index))));
  return made.blocks[0];
}

absl::StatusOr<BlockRef> Schedule::ReadAt(const LoopRef& loop,
                                          const BlockRef& block,
                                          int read_buffer_index,
                                          const std::string& storage_scope) {
  BATON_ASSIGN_OR_RETURN(
      Made made, Take(Builder(*this, "read_at")
                          .At("block", block)
                          .At("loop", loop)
                          .Set("read_buffer_index", int64_t{read_buffer_index})
                          .Set("storage_scope", storage_scope)));
  return made.blocks[0];
}

absl::StatusOr<BlockRef> Schedule::WriteAt(const LoopRef& loop,
                                           const BlockRef& block,
                                           int write_buffer_index,
                                           const std::string& storage_scope) {
  BATON_ASSIGN_OR_RETURN(
      Made made,
      Take(Builder(*this, "write_at")
               .At("block", block)
               .At("loop", loop)
               .Set("storage_scope", storage_scope)
               .Set("write_buffer_index", int64_t{write_buffer_index})));
  return made.blocks[0];
}

absl::StatusOr<BlockRef> Schedule::DecomposeReduction(const BlockRef& block,
                                                      const LoopRef& loop) {
  BATON_ASSIGN_OR_RETURN(Made made, Take(Builder(*this, "decompose_reduction")
                                             .At("block", block)
                                             .At("loop", loop)));
  return made.blocks[0];
}

absl::StatusOr<BlockRef> Schedule::RFactor(const LoopRef& loop,
                                           int factor_axis) {
  BATON_ASSIGN_OR_RETURN(Made made,
                         Take(Builder(*this, "rfactor")
                                  .Set("factor_axis", int64_t{factor_axis})
                                  .At("loop", loop)));
  return made.blocks[0];
}

absl::Status Schedule::StorageAlign(const BlockRef& block, int buffer_index,
                                    int axis, int factor, int offset) {
  return Take(Builder(*this, "storage_align")
                  .Set("axis", int64_t{axis})
                  .At("block", block)
                  .Set("buffer_index", int64_t{buffer_index})
                  .Set("factor", int64_t{factor})
                  .Set("offset", int64_t{offset}))
      .status();
}

absl::Status Schedule::SetScope(const BlockRef& block, int buffer_index,
                                const std::string& storage_scope) {
  return Take(Builder(*this, "set_scope")
                  .At("block", block)
                  .Set("buffer_index", int64_t{buffer_index})
                  .Set("storage_scope", storage_scope))
      .status();
}

absl::Status Schedule::UnsafeSetDType(const BlockRef& block, int buffer_index,
                                      const std::string& dtype) {
  return Take(Builder(*this, "unsafe_set_dtype")
                  .At("block", block)
                  .Set("buffer_index", int64_t{buffer_index})
                  .Set("dtype", dtype))
      .status();
}

absl::StatusOr<BlockRef> Schedule::Blockize(const LoopRef& loop,
                                            bool preserve_unit_iters) {
  BATON_ASSIGN_OR_RETURN(
      Made made, Take(Builder(*this, "blockize")
                          .Set("preserve_unit_iters", preserve_unit_iters)
                          .At("target", loop)));
  return made.blocks[0];
}

absl::StatusOr<BlockRef> Schedule::Blockize(const std::vector<BlockRef>& blocks,
                                            bool preserve_unit_iters) {
  BATON_ASSIGN_OR_RETURN(
      Made made, Take(Builder(*this, "blockize")
                          .Set("preserve_unit_iters", preserve_unit_iters)
                          .AtAll("target", blocks)));
  return made.blocks[0];
}

absl::Status Schedule::Tensorize(const LoopRef& loop, const std::string& intrin,
                                 bool preserve_unit_iters) {
  return Take(Builder(*this, "tensorize")
                  .At("block_or_loop", loop)
                  .Set("preserve_unit_iters", preserve_unit_iters)
                  .Set("tensor_intrin", intrin))
      .status();
}

absl::Status Schedule::Tensorize(const BlockRef& block,
                                 const std::string& intrin,
                                 bool preserve_unit_iters) {
  return Take(Builder(*this, "tensorize")
                  .At("block_or_loop", block)
                  .Set("preserve_unit_iters", preserve_unit_iters)
                  .Set("tensor_intrin", intrin))
      .status();
}

absl::Status Schedule::TransformLayout(const BlockRef& block, AccessKind kind,
                                       int buffer_index,
                                       const std::string& index_map,
                                       AttrValue pad_value,
                                       bool assume_injective_transform) {
  return Take(Builder(*this, "transform_layout")
                  .Set("assume_injective_transform", assume_injective_transform)
                  .At("block", block)
                  .Set("buffer", BufferParam(kind, buffer_index))
                  .Set("index_map", index_map)
                  .Set("pad_value", std::move(pad_value)))
      .status();
}

absl::Status Schedule::TransformBlockLayout(const BlockRef& block,
                                            const std::string& index_map) {
  return Take(Builder(*this, "transform_block_layout")
                  .At("block", block)
                  .Set("index_map", index_map))
      .status();
}

absl::Status Schedule::SetAxisSeparator(
    const BlockRef& block, AccessKind kind, int buffer_index,
    const std::vector<int64_t>& axis_separators) {
  return Take(Builder(*this, "set_axis_separator")
                  .Set("axis_separators", ListOf(axis_separators))
                  .At("block", block)
                  .Set("buffer", BufferParam(kind, buffer_index)))
      .status();
}

absl::StatusOr<BlockRef> Schedule::DecomposePadding(const BlockRef& block,
                                                    const LoopRef& loop) {
  BATON_ASSIGN_OR_RETURN(Made made, Take(Builder(*this, "decompose_padding")
                                             .At("block", block)
                                             .At("loop", loop)));
  return made.blocks[0];
}

bool Schedule::CanDecomposePadding(const BlockRef& block,
                                   const LoopRef& loop) const {
  Schedule copy(function_);
  return copy.DecomposePadding(block, loop).ok();
}

absl::Status Schedule::PadEinsum(const BlockRef& block,
                                 const std::vector<int64_t>& padding) {
  return Take(Builder(*this, "pad_einsum")
                  .At("block", block)
                  .Set("padding", ListOf(padding)))
      .status();
}

absl::Status Schedule::RollingBuffer(const BlockRef& block,
                                     int write_buffer_index) {
  return Take(Builder(*this, "rolling_buffer")
                  .At("block", block)
                  .Set("write_buffer_index", int64_t{write_buffer_index}))
      .status();
}

absl::Status Schedule::EnterPostproc() {
  return Take(Step{"enter_postproc", {}}).status();
}

absl::Status Schedule::UnsafeHideBufferAccess(
    const BlockRef& block, AccessKind kind,
    const std::vector<int64_t>& indices) {
  return Take(
             Builder(*this, "unsafe_hide_buffer_access")
                 .At("block", block)
                 .Set("buf_index_array", ListOf(indices))
                 .Set("buf_type", kind == AccessKind::kRead ? "read" : "write"))
      .status();
}

}  // namespace baton::tir
