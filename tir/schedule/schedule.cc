#include "baton/tir/schedule/schedule.h"

#include <cstdint>
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

}  // namespace

Schedule::Schedule(PrimFunc function) : function_(std::move(function)) {
  absl::StatusOr<ScheduleState> state = ScheduleState::Create(function_);
  if (state.ok()) {
    state_ = *std::move(state);
  } else {
    error_ = state.status();
  }
}

std::string Schedule::TraceText() const {
  std::string text;
  for (const Step& step : trace_) absl::StrAppend(&text, StepText(step), "\n");
  return text;
}

absl::Status Schedule::Apply(const Step& step) { return Take(step).status(); }

absl::StatusOr<Schedule::Made> Schedule::Take(Step step) {
  BATON_RETURN_IF_ERROR(error_);
  BATON_ASSIGN_OR_RETURN(const StepResult result, TakeStep(*state_, step));
  function_ = state_->function();
  trace_.push_back(std::move(step));
  Made made;
  for (const Block& block : result.blocks) {
    made.blocks.push_back(RefOf(block.get()));
  }
  for (const For& loop : result.loops) made.loops.push_back({loop->loop_var()});
  return made;
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

absl::StatusOr<AttrValue> Schedule::Param(const BlockRef& block) const {
  BATON_ASSIGN_OR_RETURN(const Site* site, SiteOf(block));
  return SiteParam(*state_, site);
}

absl::StatusOr<AttrValue> Schedule::Param(const LoopRef& loop) const {
  BATON_ASSIGN_OR_RETURN(const Site* site, SiteOf(loop));
  return SiteParam(*state_, site);
}

absl::StatusOr<AttrValue> Schedule::Param(
    const std::vector<LoopRef>& loops) const {
  AttrList list;
  for (const LoopRef& loop : loops) {
    BATON_ASSIGN_OR_RETURN(AttrValue param, Param(loop));
    list.push_back(std::move(param));
  }
  return AttrValue(std::move(list));
}

absl::Status Schedule::TakeOnLoop(const char* name, const LoopRef& loop) {
  BATON_ASSIGN_OR_RETURN(AttrValue param, Param(loop));
  return Take({name, {{"loop", std::move(param)}}}).status();
}

absl::Status Schedule::TakeOnBlock(const char* name, const BlockRef& block) {
  BATON_ASSIGN_OR_RETURN(AttrValue param, Param(block));
  return Take({name, {{"block", std::move(param)}}}).status();
}

absl::StatusOr<BlockRef> Schedule::GetBlock(absl::string_view name) const {
  BATON_ASSIGN_OR_RETURN(const Site* site,
                         SiteOf(BlockRef{std::string(name), {}}));
  return RefOf(site->block());
}

absl::StatusOr<std::vector<LoopRef>> Schedule::GetLoops(
    const BlockRef& block) const {
  BATON_ASSIGN_OR_RETURN(const Site* site, SiteOf(block));
  std::vector<LoopRef> result;
  for (const Site* loop : LoopsOf(site)) {
    result.push_back({loop->loop()->loop_var()});
  }
  return result;
}

absl::StatusOr<std::vector<BlockRef>> Schedule::GetChildBlocks(
    const BlockRef& block) const {
  BATON_ASSIGN_OR_RETURN(const Site* site, SiteOf(block));
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

absl::StatusOr<std::vector<LoopRef>> Schedule::Split(
    const LoopRef& loop, std::vector<int64_t> factors,
    bool preserve_unit_iters) {
  BATON_ASSIGN_OR_RETURN(AttrValue param, Param(loop));
  AttrList list;
  for (const int64_t factor : factors) {
    list.push_back(factor == kInferred ? AttrValue() : AttrValue(factor));
  }
  BATON_ASSIGN_OR_RETURN(
      Made made, Take({"split",
                       {{"factors", std::move(list)},
                        {"loop", std::move(param)},
                        {"preserve_unit_iters", preserve_unit_iters}}}));
  return std::move(made.loops);
}

absl::StatusOr<LoopRef> Schedule::Fuse(const std::vector<LoopRef>& loops,
                                       bool preserve_unit_iters) {
  BATON_ASSIGN_OR_RETURN(AttrValue param, Param(loops));
  BATON_ASSIGN_OR_RETURN(
      const Made made, Take({"fuse",
                             {{"loops", std::move(param)},
                              {"preserve_unit_iters", preserve_unit_iters}}}));
  return made.loops[0];
}

absl::Status Schedule::Reorder(const std::vector<LoopRef>& loops) {
  BATON_ASSIGN_OR_RETURN(AttrValue param, Param(loops));
  return Take({"reorder", {{"ordered_loops", std::move(param)}}}).status();
}

absl::Status Schedule::Parallel(const LoopRef& loop) {
  return TakeOnLoop("parallel", loop);
}

absl::Status Schedule::Vectorize(const LoopRef& loop) {
  return TakeOnLoop("vectorize", loop);
}

absl::Status Schedule::Unroll(const LoopRef& loop) {
  return TakeOnLoop("unroll", loop);
}

absl::Status Schedule::Bind(const LoopRef& loop,
                            const std::string& thread_axis) {
  BATON_ASSIGN_OR_RETURN(AttrValue param, Param(loop));
  return Take({"bind",
               {{"loop", std::move(param)}, {"thread_axis", thread_axis}}})
      .status();
}

absl::Status Schedule::ComputeInline(const BlockRef& block) {
  return TakeOnBlock("compute_inline", block);
}

absl::Status Schedule::ReverseComputeInline(const BlockRef& block) {
  return TakeOnBlock("reverse_compute_inline", block);
}

absl::Status Schedule::ComputeAt(const BlockRef& block, const LoopRef& loop,
                                 bool preserve_unit_loops, int index) {
  BATON_ASSIGN_OR_RETURN(AttrValue block_param, Param(block));
  BATON_ASSIGN_OR_RETURN(AttrValue loop_param, Param(loop));
  return Take({"compute_at",
               {{"block", std::move(block_param)},
                {"index", int64_t{index}},
                {"loop", std::move(loop_param)},
                {"preserve_unit_loops", preserve_unit_loops}}})
      .status();
}

absl::Status Schedule::ReverseComputeAt(const BlockRef& block,
                                        const LoopRef& loop,
                                        bool preserve_unit_loops, int index) {
  BATON_ASSIGN_OR_RETURN(AttrValue block_param, Param(block));
  BATON_ASSIGN_OR_RETURN(AttrValue loop_param, Param(loop));
  return Take({"reverse_compute_at",
               {{"block", std::move(block_param)},
                {"index", int64_t{index}},
                {"loop", std::move(loop_param)},
                {"preserve_unit_loops", preserve_unit_loops}}})
      .status();
}

absl::StatusOr<BlockRef> Schedule::CacheRead(const BlockRef& block,
                                             int read_buffer_index,
                                             const std::string& storage_scope) {
  BATON_ASSIGN_OR_RETURN(AttrValue param, Param(block));
  BATON_ASSIGN_OR_RETURN(
      const Made made, Take({"cache_read",
                             {{"block", std::move(param)},
                              {"read_buffer_index", int64_t{read_buffer_index}},
                              {"storage_scope", storage_scope}}}));
  return made.blocks[0];
}

absl::StatusOr<BlockRef> Schedule::CacheWrite(
    const BlockRef& block, int write_buffer_index,
    const std::string& storage_scope) {
  BATON_ASSIGN_OR_RETURN(AttrValue param, Param(block));
  BATON_ASSIGN_OR_RETURN(
      const Made made,
      Take({"cache_write",
            {{"block", std::move(param)},
             {"storage_scope", storage_scope},
             {"write_buffer_index", int64_t{write_buffer_index}}}}));
  return made.blocks[0];
}

absl::StatusOr<BlockRef> Schedule::DecomposeReduction(const BlockRef& block,
                                                      const LoopRef& loop) {
  BATON_ASSIGN_OR_RETURN(AttrValue block_param, Param(block));
  BATON_ASSIGN_OR_RETURN(AttrValue loop_param, Param(loop));
  BATON_ASSIGN_OR_RETURN(const Made made,
                         Take({"decompose_reduction",
                               {{"block", std::move(block_param)},
                                {"loop", std::move(loop_param)}}}));
  return made.blocks[0];
}

absl::StatusOr<BlockRef> Schedule::RFactor(const LoopRef& loop,
                                           int factor_axis) {
  BATON_ASSIGN_OR_RETURN(AttrValue param, Param(loop));
  BATON_ASSIGN_OR_RETURN(const Made made,
                         Take({"rfactor",
                               {{"factor_axis", int64_t{factor_axis}},
                                {"loop", std::move(param)}}}));
  return made.blocks[0];
}

absl::StatusOr<BlockRef> Schedule::Blockize(const LoopRef& loop,
                                            bool preserve_unit_iters) {
  BATON_ASSIGN_OR_RETURN(AttrValue param, Param(loop));
  BATON_ASSIGN_OR_RETURN(const Made made,
                         Take({"blockize",
                               {{"preserve_unit_iters", preserve_unit_iters},
                                {"target", std::move(param)}}}));
  return made.blocks[0];
}

}  // namespace baton::tir
