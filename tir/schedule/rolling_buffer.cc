// The step that keeps only the part of a buffer that later iterations need.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/status_macros.h"
#include "baton/tir/analysis/access_region.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/int_set.h"
#include "baton/tir/arith/var_map.h"
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

// An axis of the region that one iteration writes. `loop_var` is null where
// iterations do not overlap.
struct RolledAxis {
  Var loop_var;
  int64_t overlap = 0;
};

// `begin` as (var * stride) // divisor; false if it is of another form.
bool MatchBegin(const PrimExpr& begin, Var& var, int64_t& stride) {
  const auto match_product = [&](const PrimExpr& e) {
    const BinaryNode* product = AsBinary(e, BinaryOp::kMul);
    if (product == nullptr) return false;
    const auto* node = product->a().As<VarNode>();
    const auto* factor = product->b().As<IntImmNode>();
    if (node == nullptr || factor == nullptr) return false;
    var = Var(node);
    stride = factor->value();
    return true;
  };
  if (const BinaryNode* quotient = AsBinary(begin, BinaryOp::kFloorDiv)) {
    const auto* divisor = quotient->b().As<IntImmNode>();
    if (divisor == nullptr || divisor->value() <= 0 ||
        !match_product(quotient->a()) || stride < 0) {
      return false;
    }
    const bool rounds = stride % divisor->value() != 0;
    stride = stride / divisor->value() + (rounds ? 1 : 0);
    return true;
  }
  if (match_product(begin)) return true;
  if (const auto* node = begin.As<VarNode>()) {
    var = Var(node);
    stride = 1;
    return true;
  }
  var = {};
  return begin.As<IntImmNode>() != nullptr;
}

struct Rolling {
  Buffer old_buffer;
  Buffer new_buffer;
  size_t axis = 0;
  PrimExpr extent;  // of that axis
  std::vector<RolledAxis> axes;
};

class Roller : public Rewriter {
 public:
  Roller(const BlockNode* scope, const Rolling& rolling)
      : scope_(scope), rolling_(rolling) {}
  using Rewriter::RewriteBlock;

  bool failed = false;

 protected:
  Stmt VisitBlock(const BlockNode* block) override {
    const Stmt rewritten = Rewriter::VisitBlock(block);
    BlockNode::Parts parts = rewritten.As<BlockNode>()->parts();
    if (block == scope_) {
      std::replace(parts.alloc_buffers.begin(), parts.alloc_buffers.end(),
                   rolling_.old_buffer, rolling_.new_buffer);
      return Block(std::move(parts), block->span());
    }
    // Iterations of the axis depend on those before.
    if (rolling_.axis < parts.iter_vars.size()) {
      IterVar& iter = parts.iter_vars[rolling_.axis];
      iter = IterVar({iter->min(), iter->extent()}, iter->var(),
                     IterVarType::kOpaque, {}, iter->span());
    }
    const ReadWriteRegions regions = FindBlockReadWriteRegions(
        Block(rewritten.As<BlockNode>()),
        {{rolling_.new_buffer->data(), rolling_.new_buffer}});
    Replace(regions.reads, parts.reads);
    Replace(regions.writes, parts.writes);
    return Block(std::move(parts), block->span());
  }
  Stmt VisitBlockRealize(const BlockRealizeNode* node) override {
    const Stmt rewritten = Rewriter::VisitBlockRealize(node);
    if (!std::exchange(stored_, false)) return rewritten;
    const auto* realize = rewritten.As<BlockRealizeNode>();
    // Elements that an earlier iteration has written are not written again.
    PrimExpr predicate = realize->predicate();
    for (size_t i = 0; i < rolling_.axes.size(); ++i) {
      const RolledAxis& axis = rolling_.axes[i];
      if (!axis.loop_var.defined() || i >= node->iter_values().size()) continue;
      const PrimExpr zero = IntImm(axis.loop_var.dtype(), 0);
      Analyzer analyzer;
      const IntSet set = analyzer.IntSetOf(
          node->iter_values()[i], {{axis.loop_var, IntSet::SinglePoint(zero)}});
      if (!set.HasLowerBound()) {
        failed = true;
        continue;
      }
      const PrimExpr first = MakeBinary(BinaryOp::kLT, axis.loop_var,
                                        IntImm(axis.loop_var.dtype(), 1));
      const PrimExpr fresh = MakeBinary(
          BinaryOp::kGE, set.min(), IntImm(set.min().dtype(), axis.overlap));
      predicate = analyzer.Simplify(MakeBinary(
          BinaryOp::kAnd, predicate, MakeBinary(BinaryOp::kOr, first, fresh)));
    }
    return BlockRealize(
        {realize->iter_values().begin(), realize->iter_values().end()},
        std::move(predicate), realize->block(), node->span());
  }
  Stmt VisitBufferStore(const BufferStoreNode* node) override {
    const Stmt rewritten = Rewriter::VisitBufferStore(node);
    const auto* store = rewritten.As<BufferStoreNode>();
    if (store->buffer() != rolling_.old_buffer) return rewritten;
    stored_ = true;
    return BufferStore(rolling_.new_buffer, store->value(),
                       Rolled(store->indices()), store->span());
  }
  PrimExpr VisitBufferLoad(const BufferLoadNode* node) override {
    const PrimExpr rewritten = Rewriter::VisitBufferLoad(node);
    const auto* load = rewritten.As<BufferLoadNode>();
    if (load->buffer() != rolling_.old_buffer) return rewritten;
    return BufferLoad(rolling_.new_buffer, Rolled(load->indices()),
                      load->span());
  }

 private:
  std::vector<PrimExpr> Rolled(absl::Span<const PrimExpr> indices) const {
    std::vector<PrimExpr> result(indices.begin(), indices.end());
    PrimExpr index = result[rolling_.axis];
    PrimExpr extent = rolling_.extent;
    MatchTypes(index, extent);
    result[rolling_.axis] =
        Binary(BinaryOp::kFloorMod, std::move(index), std::move(extent));
    return result;
  }
  void Replace(const std::vector<BufferRegion>& found,
               std::vector<BufferRegion>& regions) {
    for (BufferRegion& region : regions) {
      if (region->buffer() != rolling_.old_buffer) continue;
      if (found.size() != 1) {
        failed = true;
        return;
      }
      region = found[0];
    }
  }

  const BlockNode* scope_;
  const Rolling& rolling_;
  bool stored_ = false;
};

}  // namespace

absl::Status RollingBuffer(ScheduleState& state, const Site* block,
                           int buffer_index) {
  BATON_ASSIGN_OR_RETURN(
      const BufferRegion region,
      AccessedRegion(block, buffer_index, AccessKind::kWrite));
  const Buffer& buffer = region->buffer();
  BATON_ASSIGN_OR_RETURN(const Site* scope, ScopeRoot(state, block, false));
  BATON_RETURN_IF_ERROR(CheckNotOutputBlock(block, scope));
  for (const Dependency& d : state.ScopeOf(scope).dependencies) {
    if ((d.src == block || d.dst == block) &&
        d.kind != DependencyKind::kReadAfterWrite) {
      return SiteError(
          block, absl::StrCat(block->Describe(), " and ",
                              (d.src == block ? d.dst : d.src)->Describe(),
                              " depend on one another otherwise than by "
                              "reads after writes"));
    }
  }
  std::vector<const Site*> users = ConsumersOf(state, block);
  users.push_back(block);
  const Site* lca = LowestCommonAncestor(users);
  if (lca->is_block()) {
    return SiteError(block, absl::StrCat("no loop has all accesses to buffer ",
                                         buffer->name()));
  }
  const std::vector<const Site*> loops = LoopsOf(block);
  Domains domains;
  for (auto it = loops.rbegin(); it != loops.rend() && *it != lca; ++it) {
    const ForNode* loop = (*it)->loop();
    domains.Set(loop->loop_var(),
                IntSet::FromMinExtent(loop->min(), loop->extent()));
  }
  const std::vector<IntSet> sets = EvalSet(
      Substitute(region->region(), BindingsOf(block->realize.get())), domains);
  Rolling rolling;
  std::vector<Range> relaxed;
  const auto no_pattern = [&] {
    return SiteError(block,
                     absl::StrCat("the region of buffer ", buffer->name(),
                                  " that one iteration writes has no "
                                  "axis that begins at loop * stride "
                                  "and overlaps"));
  };
  for (size_t i = 0; i < sets.size(); ++i) {
    const Range range =
        sets[i].CoverRange({IntImm(kInt32, 0), buffer->shape()[i]});
    relaxed.push_back(range);
    RolledAxis axis;
    int64_t stride = 0;
    if (!MatchBegin(range.min, axis.loop_var, stride)) return no_pattern();
    if (axis.loop_var.defined()) {
      const auto* extent = range.extent.As<IntImmNode>();
      if (extent == nullptr ||
          __builtin_sub_overflow(extent->value(), stride, &axis.overlap)) {
        return no_pattern();
      }
      if (axis.overlap <= 0) axis.loop_var = {};
    }
    rolling.axes.push_back(std::move(axis));
  }
  // The axis of the outermost loop rolls.
  bool found = false;
  for (const Site* loop : loops) {
    for (size_t i = 0; i < rolling.axes.size() && !found; ++i) {
      if (rolling.axes[i].loop_var != loop->loop()->loop_var()) continue;
      rolling.axis = i;
      found = true;
    }
    if (found) break;
  }
  if (!found) return no_pattern();
  rolling.extent = relaxed[rolling.axis].extent;
  rolling.old_buffer = buffer;
  BufferNode::Parts parts = buffer->parts();
  parts.shape[rolling.axis] = rolling.extent;
  rolling.new_buffer = Buffer(std::move(parts));
  Roller roller(scope->block(), rolling);
  const Block result = roller.RewriteBlock(Block(scope->block()));
  if (roller.failed) {
    return SiteError(
        block, absl::StrCat("a block must have one region of buffer ",
                            buffer->name(), ", whose start has a lower bound"));
  }
  return state.Replace(scope, result);
}

}  // namespace baton::tir
