#include "baton/tir/schedule/state.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/ir/error_at.h"
#include "baton/ir/node.h"
#include "baton/tir/analysis/reduction.h"
#include "baton/tir/analysis/scopes.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/int_set.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {
namespace {

// Makes the sites of a function.
class SiteCollector : public Visitor {
 public:
  SiteCollector(std::deque<Site>& sites,
                FlatHashMap<const Node*, const Site*>& by_stmt)
      : sites_(sites), by_stmt_(by_stmt) {}

 protected:
  void VisitFor(const ForNode* loop) override {
    const Site* site = Add(Stmt(loop), {});
    const Site* const outer = std::exchange(parent_, site);
    Visit(loop->body());
    parent_ = outer;
  }
  void VisitBlockRealize(const BlockRealizeNode* realize) override {
    const Site* site = Add(realize->block(), BlockRealize(realize));
    const Site* const outer = std::exchange(parent_, site);
    Visit(realize->block()->body());
    parent_ = outer;
  }
  void VisitSeqStmt(const SeqStmtNode* seq) override {
    for (size_t i = 0; i < seq->seq().size(); ++i) {
      const Stmt& stmt = seq->seq()[i];
      const bool is_site = stmt.As<ForNode>() != nullptr ||
                           stmt.As<BlockRealizeNode>() != nullptr;
      seq_index_ = is_site ? static_cast<int>(i) : -1;
      Visit(stmt);
    }
    seq_index_ = -1;
  }
  // No site is in an expression.
  void VisitBufferStore(const BufferStoreNode* /*node*/) override {}
  void VisitEvaluate(const EvaluateNode* /*node*/) override {}

 private:
  const Site* Add(Stmt stmt, BlockRealize realize) {
    const Node* node = stmt.get();
    sites_.push_back({.stmt = std::move(stmt),
                      .realize = std::move(realize),
                      .parent = parent_,
                      .seq_index = std::exchange(seq_index_, -1)});
    by_stmt_[node] = &sites_.back();
    return &sites_.back();
  }

  std::deque<Site>& sites_;
  FlatHashMap<const Node*, const Site*>& by_stmt_;
  const Site* parent_ = nullptr;
  int seq_index_ = -1;
};

// Replaces one loop or block. Only statements around it are made anew.
class SiteReplacer : public Rewriter {
 public:
  SiteReplacer(const Site* site, const Stmt& replacement)
      : target_(site->stmt.get()), replacement_(replacement) {
    for (const Site* p = site->parent; p != nullptr; p = p->parent) {
      around_.insert(p->stmt.get());
    }
  }

 protected:
  Stmt VisitFor(const ForNode* loop) override {
    if (loop == target_) return replacement_;
    if (!around_.contains(loop)) return For(loop);
    ForNode::Parts parts = loop->parts();
    parts.body = Rewrite(loop->body());
    return For(std::move(parts), loop->span());
  }
  Stmt VisitBlockRealize(const BlockRealizeNode* realize) override {
    const BlockNode* block = realize->block().get();
    Block result;
    if (block == target_) {
      result = Block(replacement_.As<BlockNode>());
    } else if (around_.contains(block)) {
      BlockNode::Parts parts = block->parts();
      parts.body = Rewrite(block->body());
      result = Block(std::move(parts), block->span());
    } else {
      return BlockRealize(realize);
    }
    return BlockRealize(
        {realize->iter_values().begin(), realize->iter_values().end()},
        realize->predicate(), std::move(result), realize->span());
  }
  Stmt VisitBufferStore(const BufferStoreNode* node) override {
    return BufferStore(node);
  }
  Stmt VisitEvaluate(const EvaluateNode* node) override {
    return Evaluate(node);
  }

 private:
  const Node* target_;
  const Stmt& replacement_;
  FlatHashSet<const Node*> around_;
};

// True if what is produced has all that is consumed and lies in the buffer.
bool Covers(const Buffer& buffer, const std::vector<IntSet>& produced_region,
            const std::vector<IntSet>& consumed_region, Analyzer& analyzer) {
  const auto simplified = [&](const IntSet& set, bool canonical) {
    const auto simplify = [&](const PrimExpr& e) {
      if (!e.defined()) return e;
      return canonical ? analyzer.CanonicalSimplify(e) : analyzer.Simplify(e);
    };
    return IntSet::Interval(simplify(set.min()), simplify(set.max()));
  };
  for (size_t i = 0; i < produced_region.size(); ++i) {
    const PrimExpr& extent = buffer->shape()[i];
    const IntSet all = IntSet::FromMinExtent(IntImm(extent.dtype(), 0), extent);
    if (produced_region[i].IsNothing()) return false;
    if (consumed_region[i].IsNothing()) continue;
    const IntSet produced = simplified(
        Intersect({{simplified(produced_region[i], true), all}}), false);
    const IntSet consumed = simplified(
        Intersect({{simplified(consumed_region[i], true), all}}), false);
    if (!produced.min().defined() || !produced.max().defined() ||
        !consumed.min().defined() || !consumed.max().defined()) {
      return false;
    }
    const auto not_positive = [&](const PrimExpr& e) {
      return MakeBinary(BinaryOp::kLE, analyzer.CanonicalSimplify(e),
                        IntImm(e.dtype(), 0));
    };
    const PrimExpr condition = MakeBinary(
        BinaryOp::kAnd, not_positive(Sub(produced.min(), consumed.min())),
        not_positive(Sub(consumed.max(), produced.max())));
    if (!analyzer.CanProve(condition)) return false;
  }
  return true;
}

}  // namespace

std::string Site::Describe() const {
  if (const BlockNode* b = block()) return absl::StrCat("block ", b->name());
  return absl::StrCat("loop ", loop()->loop_var()->name());
}

std::vector<Dependency> BlockScope::DependenciesOf(const Site* src) const {
  std::vector<Dependency> result;
  for (const Dependency& d : dependencies) {
    if (d.src == src) result.push_back(d);
  }
  return result;
}

std::vector<Dependency> BlockScope::DependenciesOn(const Site* dst) const {
  std::vector<Dependency> result;
  for (const Dependency& d : dependencies) {
    if (d.dst == dst) result.push_back(d);
  }
  return result;
}

absl::StatusOr<ScheduleState> ScheduleState::Create(PrimFunc function) {
  ScheduleState state;
  BATON_RETURN_IF_ERROR(state.SetFunction(std::move(function)));
  return state;
}

absl::Status ScheduleState::SetFunction(PrimFunc function) {
  const auto* realize = function->body().As<BlockRealizeNode>();
  if (realize == nullptr) {
    return ErrorAt(function->span(),
                   "only a function whose body is a block can be scheduled");
  }
  function_ = std::move(function);
  sites_.clear();
  by_stmt_.clear();
  flags_.clear();
  SiteCollector(sites_, by_stmt_).Visit(function_->body());
  return absl::OkStatus();
}

const Site* ScheduleState::Find(const Node* stmt) const {
  const auto it = by_stmt_.find(stmt);
  return it == by_stmt_.end() ? nullptr : it->second;
}

std::vector<const Site*> ScheduleState::BlocksNamed(
    absl::string_view name) const {
  std::vector<const Site*> result;
  for (const Site& site : sites_) {
    if (site.is_block() && site.block()->name() == name) {
      result.push_back(&site);
    }
  }
  return result;
}

ScheduleState::Flags& ScheduleState::FlagsOf(const Site* site) const {
  std::unique_ptr<Flags>& flags = flags_[site];
  if (flags == nullptr) flags = std::make_unique<Flags>();
  return *flags;
}

const BlockScope& ScheduleState::ScopeOf(const Site* block) const {
  Flags& flags = FlagsOf(block);
  if (flags.scope.has_value()) return *flags.scope;
  BlockScope scope;
  FlatHashMap<const BufferNode*, std::vector<const Site*>> readers;
  for (const Site& site : sites_) {
    if (!site.is_block() || site.parent == nullptr) continue;
    const Site* around = site.parent;
    while (!around->is_block()) around = around->parent;
    if (around != block) continue;
    scope.blocks.push_back(&site);
    const auto add = [&](absl::Span<const BufferRegion> regions,
                         const auto& accesses, DependencyKind kind) {
      for (const BufferRegion& region : regions) {
        const auto it = accesses.find(region->buffer().get());
        if (it == accesses.end()) continue;
        for (const Site* src : it->second) {
          if (src != &site) scope.dependencies.push_back({src, &site, kind});
        }
      }
    };
    const BlockNode* node = site.block();
    for (const BufferRegion& region : node->writes()) {
      scope.writers[region->buffer().get()].push_back(&site);
    }
    for (const BufferRegion& region : node->reads()) {
      readers[region->buffer().get()].push_back(&site);
    }
    add(node->reads(), scope.writers, DependencyKind::kReadAfterWrite);
    add(node->writes(), scope.writers, DependencyKind::kWriteAfterWrite);
    add(node->writes(), readers, DependencyKind::kWriteAfterRead);
  }
  flags.scope = std::move(scope);
  return *flags.scope;
}

bool ScheduleState::IsAffine(const Site* block) const {
  std::optional<bool>& flag = FlagsOf(block).affine;
  if (!flag.has_value()) flag = ComputeAffine(block);
  return *flag;
}

bool ScheduleState::ComputeAffine(const Site* block) const {
  if (block->parent == nullptr) return block->block()->iter_vars().empty();
  Analyzer analyzer;
  std::vector<const ForNode*> loops;
  for (const Site* p = block->parent; p != nullptr; p = p->parent) {
    if (const ForNode* loop = p->loop()) loops.push_back(loop);
  }
  for (auto it = loops.rbegin(); it != loops.rend(); ++it) {
    analyzer.Bind((*it)->loop_var(), Range{(*it)->min(), (*it)->extent()});
  }
  return IsAffineBinding(block->realize.get(), LoopDomains(block->parent),
                         analyzer);
}

bool ScheduleState::IsRegionCovered(const Site* block) const {
  std::optional<bool>& flag = FlagsOf(block).region_cover;
  if (!flag.has_value()) flag = ComputeCover(block);
  return *flag;
}

bool ScheduleState::ComputeCover(const Site* block) const {
  if (block->parent == nullptr) return true;
  const Site* scope_block = block->parent;
  while (!scope_block->is_block()) scope_block = scope_block->parent;
  // The sites around the block, as far as the scope, and for each the blocks
  // whose first common site with the block it is.
  std::vector<std::pair<const Site*, std::vector<const Site*>>> path;
  for (const Site* p = block; p != scope_block->parent; p = p->parent) {
    path.push_back({p, {}});
  }
  for (const Dependency& d : ScopeOf(scope_block).DependenciesOn(block)) {
    if (d.kind != DependencyKind::kReadAfterWrite) continue;
    for (const Site* p = d.src; p != nullptr; p = p->parent) {
      const auto it = std::find_if(path.begin(), path.end(),
                                   [p](const auto& e) { return e.first == p; });
      if (it == path.end()) continue;
      it->second.push_back(d.src);
      break;
    }
  }
  Analyzer analyzer;
  for (const Site& site : sites_) {
    if (const ForNode* loop = site.loop()) {
      analyzer.Bind(loop->loop_var(), Range{loop->min(), loop->extent()});
    }
  }
  const VarMap<PrimExpr> bindings = BindingsOf(block->realize.get());
  for (const auto& [lca, producers] : path) {
    if (producers.empty()) continue;
    for (const BufferRegion& read : block->block()->reads()) {
      const Buffer& buffer = read->buffer();
      std::vector<std::vector<IntSet>> touched;
      for (const Site* producer : producers) {
        const VarMap<PrimExpr> values = BindingsOf(producer->realize.get());
        for (const BufferRegion& write : producer->block()->writes()) {
          if (write->buffer() != buffer) continue;
          std::optional<std::vector<IntSet>> bound = EstimateRegionLowerBound(
              Substitute(write->region(), values),
              LoopDomains(producer->parent, lca, buffer->scope()),
              producer->realize->predicate(), analyzer);
          if (!bound.has_value()) {
            bound.emplace(buffer->shape().size(), IntSet::Nothing());
          }
          touched.push_back(*std::move(bound));
        }
      }
      if (touched.empty()) continue;
      const std::vector<IntSet> consumed = EstimateRegionUpperBound(
          Substitute(read->region(), bindings),
          LoopDomains(block->parent, lca, buffer->scope()),
          block->realize->predicate(), analyzer);
      if (!Covers(buffer, UnionRegionLowerBound(touched), consumed, analyzer)) {
        return false;
      }
    }
  }
  return true;
}

bool ScheduleState::IsStagePipeline(const Site* block) const {
  {
    const std::optional<bool>& flag = FlagsOf(block).stage_pipeline;
    if (flag.has_value()) return *flag;
  }
  bool result = true;
  const BlockScope& scope = ScopeOf(block);
  for (const Dependency& d : scope.dependencies) {
    if (d.kind == DependencyKind::kWriteAfterRead) result = false;
  }
  for (const Site* child : scope.blocks) {
    if (!result) break;
    result = IsRegionCovered(child);
  }
  FlagsOf(block).stage_pipeline = result;
  return result;
}

absl::Status ScheduleState::Replace(const Site* site, const Stmt& replacement,
                                    const Buffer& old_buffer,
                                    const Buffer& new_buffer) {
  PrimFuncNode::Parts parts = function_->parts();
  if (replacement != site->stmt) {
    parts.body = SiteReplacer(site, replacement).Rewrite(parts.body);
  }
  if (new_buffer.defined()) {
    for (ParamBuffer& param : parts.buffers) {
      if (param.buffer == old_buffer) param.buffer = new_buffer;
    }
  }
  return SetFunction(PrimFunc(std::move(parts), function_->span()));
}

std::vector<const Site*> LoopsOf(const Site* block) {
  std::vector<const Site*> result;
  for (const Site* p = block->parent; p != nullptr && !p->is_block();
       p = p->parent) {
    result.push_back(p);
  }
  std::reverse(result.begin(), result.end());
  return result;
}

VarRanges LoopDomains(const Site* low, const Site* high,
                      absl::string_view storage_scope) {
  VarRanges result;
  const Site* p = low;
  for (; p != high && p != nullptr; p = p->parent) {
    const ForNode* loop = p->loop();
    if (loop == nullptr) break;
    result.Set(loop->loop_var(), Range{loop->min(), loop->extent()});
  }
  const MemoryScope memory(storage_scope);
  if (memory.rank == MemoryRank::kGlobal) return result;
  for (; p != nullptr; p = p->parent) {
    const ForNode* loop = p->loop();
    if (loop == nullptr || loop->for_kind() != ForKind::kThreadBinding) {
      continue;
    }
    if (IsSharedByThreads(memory, ThreadScope(loop->thread()->thread_tag()))) {
      result.Set(loop->loop_var(), Range{loop->min(), loop->extent()});
    }
  }
  return result;
}

VarMap<PrimExpr> BindingsOf(const BlockRealizeNode* realize) {
  VarMap<PrimExpr> result;
  for (size_t i = 0; i < realize->iter_values().size(); ++i) {
    result.Set(realize->block()->iter_vars()[i]->var(),
               realize->iter_values()[i]);
  }
  return result;
}

PrimExpr Substitute(const PrimExpr& e, const VarMap<PrimExpr>& values) {
  return Substitute(e, [&values](const VarNode* var) {
    const PrimExpr* value = values.Find(var);
    return value == nullptr ? PrimExpr() : *value;
  });
}

Stmt Substitute(const Stmt& stmt, const VarMap<PrimExpr>& values) {
  return Substitute(stmt, [&values](const VarNode* var) {
    const PrimExpr* value = values.Find(var);
    return value == nullptr ? PrimExpr() : *value;
  });
}

std::vector<Range> Substitute(absl::Span<const Range> region,
                              const VarMap<PrimExpr>& values) {
  std::vector<Range> result;
  result.reserve(region.size());
  for (const Range& range : region) {
    result.push_back(
        {Substitute(range.min, values), Substitute(range.extent, values)});
  }
  return result;
}

}  // namespace baton::tir
