// Steps that change layouts of buffers and of the iterations of blocks.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/status_macros.h"
#include "baton/ir/error_at.h"
#include "baton/tir/analysis/access_region.h"
#include "baton/tir/analysis/undefined_vars.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/analyzing_rewriter.h"
#include "baton/tir/arith/index_map.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/schedule/conditions.h"
#include "baton/tir/schedule/edit.h"
#include "baton/tir/schedule/layout_padding.h"
#include "baton/tir/schedule/state.h"
#include "baton/tir/schedule/steps.h"

namespace baton::tir {
namespace {

// The block that has all accesses to a buffer: the one that allocates it, else
// the scope.
absl::StatusOr<const Site*> SiteOfBuffer(const ScheduleState& state,
                                         const Site* block,
                                         const Buffer& buffer, bool& is_param) {
  const auto [definition, allocated] = DefiningSite(block, buffer);
  is_param = definition == nullptr;
  if (is_param) return ScopeRoot(state, block, false);
  if (allocated) return definition;
  return SiteError(block, absl::StrCat("buffer ", buffer->name(),
                                       " is a view: a block matches it"));
}

// Replaces accesses to a buffer by those of another layout.
class LayoutRewriter : public AnalyzingRewriter {
 public:
  LayoutRewriter(const Buffer& old_buffer, const Buffer& new_buffer,
                 const IndexMap& map, const PaddingPlan& plan,
                 Analyzer& analyzer)
      : AnalyzingRewriter(analyzer),
        old_buffer_(old_buffer),
        new_buffer_(new_buffer),
        map_(map),
        plan_(plan) {}
  using Rewriter::RewriteBlock;

  absl::Status status;

 protected:
  PrimExpr VisitBufferLoad(const BufferLoadNode* node) override {
    const PrimExpr rewritten = AnalyzingRewriter::VisitBufferLoad(node);
    const auto* load = rewritten.As<BufferLoadNode>();
    if (load->buffer() != old_buffer_) return rewritten;
    return BufferLoad(new_buffer_, NewIndices(load), load->span());
  }
  Stmt VisitBufferStore(const BufferStoreNode* node) override {
    const Stmt rewritten = AnalyzingRewriter::VisitBufferStore(node);
    const auto* store = rewritten.As<BufferStoreNode>();
    if (store->buffer() != old_buffer_) return rewritten;
    return BufferStore(new_buffer_, store->value(), NewIndices(store),
                       store->span());
  }
  Stmt VisitFor(const ForNode* loop) override {
    if (const Stmt* replacement = plan_.ReplacementOf(loop)) {
      return Rewrite(*replacement);
    }
    Stmt result = AnalyzingRewriter::VisitFor(loop);
    return loop == plan_.insert_after ? FlatSeq({result, plan_.epilogue})
                                      : result;
  }
  Stmt VisitBlockRealize(const BlockRealizeNode* realize) override {
    Stmt result = AnalyzingRewriter::VisitBlockRealize(realize);
    return realize == plan_.insert_after ? FlatSeq({result, plan_.epilogue})
                                         : result;
  }
  Stmt VisitBlock(const BlockNode* block) override {
    const Stmt rewritten = AnalyzingRewriter::VisitBlock(block);
    BlockNode::Parts parts = rewritten.As<BlockNode>()->parts();
    const ReadWriteRegions regions = FindBlockReadWriteRegions(
        Block(rewritten.As<BlockNode>()), {{new_buffer_->data(), new_buffer_}});
    Replace(regions.reads, parts.reads);
    Replace(regions.writes, parts.writes);
    std::replace(parts.alloc_buffers.begin(), parts.alloc_buffers.end(),
                 old_buffer_, new_buffer_);
    return Block(std::move(parts), block->span());
  }

 private:
  template <typename Access>
  std::vector<PrimExpr> NewIndices(const Access* access) {
    const absl::Span<const PrimExpr> indices = access->indices();
    absl::StatusOr<std::vector<PrimExpr>> mapped =
        MapIndices(map_, indices, index_analyzer_);
    if (mapped.ok() && !KeepsLanes(indices, *mapped)) {
      mapped = ErrorAt(
          access->span(),
          absl::StrCat("in the new layout of buffer ", old_buffer_->name(),
                       " the vector of this access would not be "
                       "along the last axis"));
    }
    if (!mapped.ok()) {
      status = mapped.status();
      return {indices.begin(), indices.end()};
    }
    return SimplifyIndices(*mapped, true);
  }
  void Replace(const std::vector<BufferRegion>& found,
               std::vector<BufferRegion>& regions) {
    for (BufferRegion& region : regions) {
      if (region->buffer() != old_buffer_) continue;
      if (found.size() == 1) {
        region = found[0];
      } else {
        status = absl::InvalidArgumentError(
            absl::StrCat("the region of buffer ", old_buffer_->name(),
                         " that a block accesses cannot be found"));
      }
    }
  }

  Buffer old_buffer_;
  Buffer new_buffer_;
  const IndexMap& map_;
  const PaddingPlan& plan_;
  Analyzer index_analyzer_;
};

}  // namespace

absl::Status TransformLayout(ScheduleState& state, const Site* block,
                             int buffer_index, AccessKind kind,
                             const IndexMap& given_map,
                             const IndexMap& pad_value,
                             bool assume_injective_transform) {
  Analyzer analyzer;
  BindShapes(state, analyzer);
  BATON_ASSIGN_OR_RETURN(const BufferRegion region,
                         AccessedRegion(block, buffer_index, kind));
  const Buffer& buffer = region->buffer();
  BATON_ASSIGN_OR_RETURN(const IndexMap map,
                         WithTypesOf(given_map, buffer->shape()));
  bool is_param = false;
  BATON_ASSIGN_OR_RETURN(const Site* site,
                         SiteOfBuffer(state, block, buffer, is_param));
  IndexMap pad = pad_value;
  if (pad.defined()) {
    BATON_ASSIGN_OR_RETURN(pad, CheckPadValue(pad, buffer, map));
  }
  InverseMap inverse = {{}, IntImm::Bool(false)};
  if (!assume_injective_transform) {
    BATON_ASSIGN_OR_RETURN(inverse,
                           InvertWithPadding(map, buffer->shape(), analyzer));
  }
  if (!IsZero(inverse.padding) && !pad.defined()) {
    return SiteError(
        block, absl::StrCat("the map of indices pads buffer ", buffer->name(),
                            ", and no value for padding is "
                            "given"));
  }
  BufferNode::Parts parts = buffer->parts();
  BATON_ASSIGN_OR_RETURN(parts.shape, MapShape(map, buffer->shape(), analyzer));
  if (parts.strides.size() != parts.shape.size()) parts.strides.clear();
  const Buffer new_buffer(std::move(parts));
  PaddingPlan plan;
  if (pad.defined() && inverse.map.defined()) {
    BATON_ASSIGN_OR_RETURN(
        plan, PlanPadding(Block(site->block()), buffer, new_buffer, inverse,
                          pad, analyzer));
  }
  Analyzer rewrite_analyzer;
  LayoutRewriter rewriter(buffer, new_buffer, map, plan, rewrite_analyzer);
  Block result = rewriter.RewriteBlock(Block(site->block()));
  BATON_RETURN_IF_ERROR(rewriter.status);
  if (plan.prologue.defined()) {
    BlockNode::Parts with_prologue = result->parts();
    with_prologue.body = FlatSeq({plan.prologue, with_prologue.body});
    result = Block(std::move(with_prologue), result->span());
  }
  if (is_param) return state.Replace(site, result, buffer, new_buffer);
  return state.Replace(site, result);
}

namespace {

// Simplifies indices and regions of accesses.
class AccessSimplifier : public AnalyzingRewriter {
 public:
  explicit AccessSimplifier(Analyzer& analyzer) : AnalyzingRewriter(analyzer) {}
  using Rewriter::RewriteBlock;

 protected:
  PrimExpr VisitBufferLoad(const BufferLoadNode* node) override {
    const PrimExpr rewritten = AnalyzingRewriter::VisitBufferLoad(node);
    const auto* load = rewritten.As<BufferLoadNode>();
    return BufferLoad(load->buffer(), SimplifyIndices(load->indices(), true),
                      load->span());
  }
  Stmt VisitBufferStore(const BufferStoreNode* node) override {
    const Stmt rewritten = AnalyzingRewriter::VisitBufferStore(node);
    const auto* store = rewritten.As<BufferStoreNode>();
    return BufferStore(store->buffer(), store->value(),
                       SimplifyIndices(store->indices(), true), store->span());
  }
  PrimExpr VisitBufferRegion(const BufferRegionNode* region) override {
    std::vector<PrimExpr> mins;
    for (const Range& range : region->region()) mins.push_back(range.min);
    mins = SimplifyIndices(mins, true);
    std::vector<Range> ranges;
    for (size_t i = 0; i < mins.size(); ++i) {
      ranges.push_back(
          {mins[i], analyzer_.Simplify(region->region()[i].extent)});
    }
    return BufferRegion(region->buffer(), std::move(ranges), region->span());
  }
};

}  // namespace

absl::Status TransformBlockLayout(ScheduleState& state, const Site* block,
                                  const IndexMap& given_map) {
  Analyzer analyzer;
  BindShapes(state, analyzer);
  const std::vector<const Site*> loops = LoopsOf(block);
  const BlockNode* node = block->block();
  const auto values = block->realize->iter_values();
  for (const Site* loop : loops) {
    BATON_RETURN_IF_ERROR(CheckStartsWithZero(loop, analyzer));
  }
  bool trivial = !loops.empty() && loops.size() == values.size();
  for (size_t i = 0; trivial && i < loops.size(); ++i) {
    trivial = values[i] == loops[i]->loop()->loop_var();
  }
  if (!loops.empty()) {
    BATON_RETURN_IF_ERROR(OnlyChildBlock(state, loops[0]).status());
  }
  if (!trivial) {
    return SiteError(block, absl::StrCat("the values of the variables of ",
                                         block->Describe(),
                                         " are not the loops around it, in "
                                         "their order"));
  }
  std::vector<PrimExpr> vars;
  std::vector<PrimExpr> extents;
  for (const IterVar& iter : node->iter_vars()) {
    if (!IsZero(iter->min())) {
      return SiteError(block, absl::StrCat("variable ", iter->var()->name(),
                                           " does not start at 0"));
    }
    vars.push_back(iter->var());
    extents.push_back(iter->extent());
  }
  BATON_ASSIGN_OR_RETURN(const IndexMap index_map,
                         WithTypesOf(given_map, vars));
  BATON_ASSIGN_OR_RETURN(const std::vector<PrimExpr> mapped,
                         MapIndices(index_map, vars, analyzer));
  BATON_ASSIGN_OR_RETURN(const std::vector<PrimExpr> new_extents,
                         MapShape(index_map, extents, analyzer));
  std::vector<IterVar> iters;
  std::vector<PrimExpr> new_vars;
  for (size_t i = 0; i < mapped.size(); ++i) {
    // All variables of an index are of one kind.
    bool known = false;
    IterVarType type = IterVarType::kOpaque;
    for (const Var& var : UndefinedVars(mapped[i])) {
      for (const IterVar& iter : node->iter_vars()) {
        if (iter->var() != var) continue;
        if (known && type != iter->iter_type()) {
          return SiteError(block,
                           "an index of the map has variables of several "
                           "kinds");
        }
        known = true;
        type = iter->iter_type();
      }
    }
    if (type == IterVarType::kOpaque) {
      return SiteError(block, "an index of the map has no kind of variables");
    }
    const Var var(absl::StrCat("v", i), mapped[i].dtype());
    new_vars.push_back(var);
    iters.push_back(
        IterVar({IntImm(var.dtype(), 0), new_extents[i]}, var, type));
  }
  BATON_ASSIGN_OR_RETURN(const IndexMap inverse,
                         Invert(index_map, extents, analyzer));
  BATON_ASSIGN_OR_RETURN(const std::vector<PrimExpr> old_values,
                         MapIndices(inverse, new_vars, analyzer));
  VarMap<PrimExpr> substitution;
  for (size_t i = 0; i < old_values.size(); ++i) {
    substitution.Set(node->iter_vars()[i]->var(), old_values[i]);
  }
  const Stmt substituted = Substitute(Stmt(Block(node)), substitution);
  BlockNode::Parts parts = substituted.As<BlockNode>()->parts();
  parts.iter_vars = std::move(iters);
  AccessSimplifier simplifier(analyzer);
  const Block new_block =
      simplifier.RewriteBlock(Block(std::move(parts), node->span()));
  std::vector<PrimExpr> loop_vars;
  for (size_t i = 0; i < new_vars.size(); ++i) {
    loop_vars.push_back(Var(absl::StrCat("ax", i), new_vars[i].dtype()));
  }
  // The condition is one on the old loops, which have the values of the old
  // variables.
  BATON_ASSIGN_OR_RETURN(const std::vector<PrimExpr> old_loop_values,
                         MapIndices(inverse, loop_vars, analyzer));
  VarMap<PrimExpr> values_of_loops;
  for (size_t i = 0; i < loops.size(); ++i) {
    values_of_loops.Set(loops[i]->loop()->loop_var(), old_loop_values[i]);
  }
  Stmt nest = BlockRealize(
      loop_vars, Substitute(block->realize->predicate(), values_of_loops),
      new_block, block->realize->span());
  for (size_t i = loop_vars.size(); i-- > 0;) {
    nest = SerialLoop(Var(loop_vars[i].As<VarNode>()), IntImm(kInt32, 0),
                      new_extents[i], std::move(nest));
  }
  return state.Replace(loops[0], nest);
}

namespace {

// Gives views of a buffer the separators that it has.
class SeparatorReplacer : public BufferReplacer {
 public:
  using BufferReplacer::BufferReplacer;
  using Rewriter::RewriteBlock;

 protected:
  Buffer MatchedBuffer(const Buffer& matched,
                       const Buffer& new_source) override {
    BufferNode::Parts parts = matched->parts();
    parts.axis_separators.assign(new_source->axis_separators().begin(),
                                 new_source->axis_separators().end());
    return Buffer(std::move(parts));
  }
};

}  // namespace

absl::Status SetAxisSeparator(ScheduleState& state, const Site* block,
                              int buffer_index, AccessKind kind,
                              absl::Span<const int64_t> axis_separators) {
  BATON_ASSIGN_OR_RETURN(const BufferRegion region,
                         AccessedRegion(block, buffer_index, kind));
  const Buffer& buffer = region->buffer();
  bool is_param = false;
  BATON_ASSIGN_OR_RETURN(const Site* site,
                         SiteOfBuffer(state, block, buffer, is_param));
  BufferNode::Parts parts = buffer->parts();
  parts.axis_separators.assign(axis_separators.begin(), axis_separators.end());
  const Buffer new_buffer(std::move(parts));
  SeparatorReplacer replacer(buffer, new_buffer);
  const Block result = replacer.RewriteBlock(Block(site->block()));
  if (is_param) return state.Replace(site, result, buffer, new_buffer);
  return state.Replace(site, result);
}

}  // namespace baton::tir
