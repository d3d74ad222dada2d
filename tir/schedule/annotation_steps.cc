// Steps that change kinds of loops, annotations, buffers and the order of
// variables, but not the shape of the program.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/tir/analysis/block_buffers.h"
#include "baton/tir/analysis/scopes.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/schedule/conditions.h"
#include "baton/tir/schedule/edit.h"
#include "baton/tir/schedule/state.h"
#include "baton/tir/schedule/steps.h"

namespace baton::tir {
namespace {

// Iterations of the loop may run at once: variables of blocks below whose
// values depend on it are spatial; or reduce, if threads of a group take the
// iterations.
absl::Status CheckParallelizable(const ScheduleState& state, const Site* loop,
                                 const ThreadScope& thread) {
  const VarNode* loop_var = loop->loop()->loop_var().get();
  for (const Site& site : state.sites()) {
    if (!site.is_block() || !IsAncestor(loop, &site)) continue;
    const BlockNode* block = site.block();
    for (size_t i = 0; i < block->iter_vars().size(); ++i) {
      const IterVar& var = block->iter_vars()[i];
      if (!UsesVar(site.realize->iter_values()[i], loop_var)) continue;
      const bool reduces_across_threads =
          var->iter_type() == IterVarType::kCommReduce && thread.rank == 1 &&
          thread.axis >= 0;
      if (var->iter_type() == IterVarType::kDataPar || reduces_across_threads) {
        continue;
      }
      return SiteError(
          &site,
          absl::StrCat("variable ", var->var()->name(), " of ", site.Describe(),
                       " is not spatial and depends on ", loop->Describe()));
    }
  }
  return absl::OkStatus();
}

absl::Status SetKind(ScheduleState& state, const Site* loop, ForKind kind,
                     IterVar thread, const ThreadScope& thread_scope) {
  BATON_RETURN_IF_ERROR(CheckCompactDataflow(state, loop));
  BATON_RETURN_IF_ERROR(CheckParallelizable(state, loop, thread_scope));
  ForNode::Parts parts = loop->loop()->parts();
  parts.kind = kind;
  parts.thread = std::move(thread);
  return state.Replace(loop, For(std::move(parts), loop->stmt->span()));
}

const Dict& AnnotationsOf(const Site* site) {
  return site->is_block() ? site->block()->annotations()
                          : site->loop()->annotations();
}

absl::Status ReplaceAnnotations(ScheduleState& state, const Site* site,
                                Dict annotations) {
  if (site->is_block()) {
    BlockNode::Parts parts = site->block()->parts();
    parts.annotations = std::move(annotations);
    return state.Replace(site, Block(std::move(parts), site->stmt->span()));
  }
  ForNode::Parts parts = site->loop()->parts();
  parts.annotations = std::move(annotations);
  return state.Replace(site, For(std::move(parts), site->stmt->span()));
}

// Gives views of a buffer the scope that it has.
class ScopeReplacer : public BufferReplacer {
 public:
  using BufferReplacer::BufferReplacer;
  using Rewriter::RewriteBlock;

 protected:
  Buffer MatchedBuffer(const Buffer& matched,
                       const Buffer& new_source) override {
    return WithScope(matched, new_source->scope());
  }
};

// Casts what is stored to a buffer and loaded from it.
class DTypeReplacer : public BufferReplacer {
 public:
  DTypeReplacer(const Buffer& old_buffer, const Buffer& new_buffer)
      : BufferReplacer(old_buffer, new_buffer),
        old_dtype_(old_buffer->dtype()) {}
  using Rewriter::RewriteBlock;

 protected:
  Buffer MatchedBuffer(const Buffer& matched,
                       const Buffer& new_source) override {
    return WithDType(matched, new_source->dtype());
  }
  Stmt VisitBufferStore(const BufferStoreNode* node) override {
    const Buffer buffer = RewriteBuffer(node->buffer());
    const Stmt result = BufferReplacer::VisitBufferStore(node);
    if (buffer == node->buffer()) return result;
    const auto* store = result.As<BufferStoreNode>();
    return BufferStore(buffer, Cast(buffer->dtype(), store->value()),
                       {store->indices().begin(), store->indices().end()},
                       store->span());
  }
  PrimExpr VisitBufferLoad(const BufferLoadNode* node) override {
    const PrimExpr result = BufferReplacer::VisitBufferLoad(node);
    if (RewriteBuffer(node->buffer()) == node->buffer()) return result;
    return Cast(old_dtype_, result);
  }

 private:
  DType old_dtype_;
};

// Puts the variables of a block into another order.
class VarReorderer : public Rewriter {
 public:
  VarReorderer(const BlockNode* block, absl::Span<const int64_t> order)
      : block_(block), order_(order) {}

 protected:
  Stmt VisitBlockRealize(const BlockRealizeNode* realize) override {
    if (realize->block().get() != block_) {
      return Rewriter::VisitBlockRealize(realize);
    }
    BlockNode::Parts parts = block_->parts();
    std::vector<PrimExpr> values;
    for (size_t i = 0; i < order_.size(); ++i) {
      parts.iter_vars[i] = block_->iter_vars()[order_[i]];
      values.push_back(realize->iter_values()[order_[i]]);
    }
    return BlockRealize(std::move(values), realize->predicate(),
                        Block(std::move(parts), block_->span()),
                        realize->span());
  }

 private:
  const BlockNode* block_;
  absl::Span<const int64_t> order_;
};

}  // namespace

absl::Status Parallel(ScheduleState& state, const Site* loop) {
  return SetKind(state, loop, ForKind::kParallel, {}, ThreadScope(""));
}

absl::Status Vectorize(ScheduleState& state, const Site* loop) {
  return SetKind(state, loop, ForKind::kVectorized, {}, ThreadScope(""));
}

absl::Status Bind(ScheduleState& state, const Site* loop,
                  const std::string& thread_axis) {
  const ThreadScope thread(thread_axis);
  if (thread.rank < 0) {
    return SiteError(loop, absl::StrCat("unknown thread axis: ", thread_axis));
  }
  IterVar var({}, Var(thread_axis, kInt32), IterVarType::kThreadIndex,
              thread_axis);
  return SetKind(state, loop, ForKind::kThreadBinding, std::move(var), thread);
}

absl::Status Unroll(ScheduleState& state, const Site* loop) {
  ForNode::Parts parts = loop->loop()->parts();
  parts.kind = ForKind::kUnrolled;
  parts.thread = {};
  return state.Replace(loop, For(std::move(parts), loop->stmt->span()));
}

absl::Status Annotate(ScheduleState& state, const Site* site,
                      const std::string& key, PrimExpr value) {
  const Dict& annotations = AnnotationsOf(site);
  if (annotations.Find(key).defined()) return absl::OkStatus();
  return ReplaceAnnotations(state, site,
                            WithAnnotation(annotations, key, std::move(value)));
}

absl::Status Unannotate(ScheduleState& state, const Site* site,
                        const std::string& key) {
  const Dict& annotations = AnnotationsOf(site);
  if (!annotations.Find(key).defined()) {
    return SiteError(
        site, absl::StrCat(site->Describe(), " has no annotation ", key));
  }
  return ReplaceAnnotations(state, site, WithoutAnnotation(annotations, key));
}

absl::Status StorageAlign(ScheduleState& state, const Site* block,
                          int buffer_index, int axis, int factor, int offset) {
  BATON_ASSIGN_OR_RETURN(
      const BufferRegion region,
      AccessedRegion(block, buffer_index, AccessKind::kWrite));
  const Buffer& buffer = region->buffer();
  if (factor <= 0) {
    return SiteError(
        block, absl::StrCat("factor is ", factor, ", it must be positive"));
  }
  const int rank = static_cast<int>(buffer->shape().size());
  if (axis < -rank || axis >= rank) {
    return SiteError(block,
                     absl::StrCat("axis ", axis, " is out of range: buffer ",
                                  buffer->name(), " has ", rank, " axes"));
  }
  if (axis < 0) axis += rank;
  BATON_RETURN_IF_ERROR(AllocationSite(block, buffer).status());
  std::vector<DimAlign> aligns;
  const PrimExpr old = block->block()->annotations().Find(kBufferDimAlign);
  if (old.defined()) {
    aligns = DimAlignsOf(old);
    const auto* list = old.As<ListNode>();
    if (list == nullptr || list->items().size() != aligns.size()) {
      return SiteError(block,
                       absl::StrCat("annotation ", kBufferDimAlign, " of ",
                                    block->Describe(),
                                    " is no list of lists of 4 integers"));
    }
  }
  const DimAlign align = {buffer_index, axis, factor, offset};
  const auto it =
      std::find_if(aligns.begin(), aligns.end(), [&](const DimAlign& a) {
        return a.buffer_index == buffer_index && a.axis == axis;
      });
  if (it != aligns.end()) {
    *it = align;
  } else {
    aligns.push_back(align);
  }
  return ReplaceAnnotations(
      state, block,
      WithAnnotation(block->block()->annotations(), kBufferDimAlign,
                     MakeDimAligns(aligns)));
}

absl::Status SetScope(ScheduleState& state, const Site* block, int buffer_index,
                      const std::string& storage_scope) {
  BATON_ASSIGN_OR_RETURN(
      const BufferRegion region,
      AccessedRegion(block, buffer_index, AccessKind::kWrite));
  const Buffer& buffer = region->buffer();
  if (buffer->scope() == storage_scope) return absl::OkStatus();
  BATON_RETURN_IF_ERROR(CheckStorageScope(storage_scope));
  BATON_ASSIGN_OR_RETURN(const Site* site, AllocationSite(block, buffer));
  ScopeReplacer replacer(buffer, WithScope(buffer, storage_scope));
  return state.Replace(site, replacer.RewriteBlock(Block(site->block())));
}

absl::Status UnsafeSetDType(ScheduleState& state, const Site* block,
                            int buffer_index, DType dtype) {
  BATON_ASSIGN_OR_RETURN(
      const BufferRegion region,
      AccessedRegion(block, buffer_index, AccessKind::kWrite));
  const Buffer& buffer = region->buffer();
  if (buffer->dtype() == dtype) return absl::OkStatus();
  BATON_ASSIGN_OR_RETURN(const Site* site, AllocationSite(block, buffer));
  DTypeReplacer replacer(buffer, WithDType(buffer, dtype));
  return state.Replace(site, replacer.RewriteBlock(Block(site->block())));
}

absl::Status ReorderBlockIterVar(ScheduleState& state, const Site* block,
                                 absl::Span<const int64_t> new_order) {
  const size_t count = block->block()->iter_vars().size();
  FlatHashSet<int64_t> seen;
  bool valid = new_order.size() == count;
  for (const int64_t i : new_order) {
    valid &= i >= 0 && i < static_cast<int64_t>(count) && seen.insert(i).second;
  }
  if (!valid) {
    return SiteError(block, absl::StrCat("[", absl::StrJoin(new_order, ", "),
                                         "] is no order of the ", count,
                                         " variables of ", block->Describe()));
  }
  BATON_ASSIGN_OR_RETURN(const Site* scope, ScopeRoot(state, block, false));
  BlockNode::Parts parts = scope->block()->parts();
  parts.body = VarReorderer(block->block(), new_order).Rewrite(parts.body);
  return state.Replace(scope, Block(std::move(parts), scope->stmt->span()));
}

absl::Status UnsafeHideBufferAccess(ScheduleState& state, const Site* block,
                                    AccessKind kind,
                                    absl::Span<const int64_t> buffer_indices) {
  BlockNode::Parts parts = block->block()->parts();
  std::vector<BufferRegion>& regions =
      kind == AccessKind::kRead ? parts.reads : parts.writes;
  const auto size = static_cast<int64_t>(regions.size());
  std::vector<bool> hidden(regions.size(), false);
  for (const int64_t index : buffer_indices) {
    if (index < 0 || index >= size) {
      return SiteError(block, absl::StrCat(block->Describe(), " has ", size,
                                           " such regions, no number ", index));
    }
    hidden[static_cast<size_t>(index)] = true;
  }
  std::vector<BufferRegion> rest;
  for (size_t i = 0; i < regions.size(); ++i) {
    if (!hidden[i]) rest.push_back(regions[i]);
  }
  regions = std::move(rest);
  return state.Replace(block, Block(std::move(parts), block->stmt->span()));
}

}  // namespace baton::tir
