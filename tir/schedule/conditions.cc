#include "baton/tir/schedule/conditions.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
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
#include "baton/tir/analysis/reduction.h"
#include "baton/tir/analysis/scopes.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/int_set.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/schedule/edit.h"
#include "baton/tir/schedule/state.h"

namespace baton::tir {
namespace {

constexpr absl::string_view kNotDominant =
    "another block of the scope writes the same buffer";

bool IsDominant(const ScheduleState& state, const Site* block,
                const Site* scope) {
  FlatHashMap<const BufferNode*, size_t> writers;
  const auto add = [&writers](const BlockScope& s) {
    for (const auto& [buffer, blocks] : s.writers) {
      writers.try_emplace(buffer, blocks.size());
    }
  };
  if (scope->is_block()) {
    add(state.ScopeOf(scope));
  } else {
    for (const Site* child : ChildBlocks(state, scope)) {
      add(state.ScopeOf(child));
    }
  }
  for (const BufferRegion& write : block->block()->writes()) {
    const auto it = writers.find(write->buffer().get());
    if (it != writers.end() && it->second != 1) return false;
  }
  return true;
}

// Why a block is not complete; empty if it is.
std::string WhyNotComplete(const ScheduleState& state, const Site* block,
                           const Site* scope) {
  const BlockNode* node = block->block();
  for (const IterVar& var : node->iter_vars()) {
    if (var->iter_type() != IterVarType::kDataPar) {
      return absl::StrCat("variable ", var->var()->name(), " is not spatial");
    }
  }
  if (!IsDominant(state, block, scope)) return std::string(kNotDominant);
  for (const BufferRegion& read : node->reads()) {
    if (RegionOf(node->writes(), read->buffer()).defined()) {
      return absl::StrCat("it reads and writes ", read->buffer()->name());
    }
  }
  return {};
}

std::string WhyNotReduction(const ScheduleState& state, const Site* block,
                            const Site* scope) {
  const BlockNode* node = block->block();
  if (!node->init().defined()) return "it has no T.init()";
  if (!state.IsAffine(block)) {
    return "the values of its variables are not affine in the loops";
  }
  for (const IterVar& var : node->iter_vars()) {
    if (var->iter_type() != IterVarType::kDataPar &&
        var->iter_type() != IterVarType::kCommReduce) {
      return absl::StrCat("variable ", var->var()->name(),
                          " is neither spatial nor reduces");
    }
  }
  if (!IsDominant(state, block, scope)) return std::string(kNotDominant);
  if (ReduceVarsIndexOutput(node)) {
    return "a variable that reduces indexes what the block writes";
  }
  return {};
}

}  // namespace

absl::Status SiteError(const Site* site, std::string message) {
  return ErrorAt(site->stmt->span(), std::move(message));
}

absl::StatusOr<const Site*> ScopeRoot(const ScheduleState& state,
                                      const Site* site,
                                      bool require_stage_pipeline) {
  const Site* scope = site->parent;
  while (scope != nullptr && !scope->is_block()) scope = scope->parent;
  if (scope == nullptr) {
    return SiteError(site, "the step does not apply to the root block");
  }
  if (require_stage_pipeline && !state.IsStagePipeline(scope)) {
    return SiteError(
        site, absl::StrCat(
                  scope->Describe(), ", the scope of ", site->Describe(), ",",
                  " is no stage pipeline: a block in it writes after a read, "
                  "or reads what is not written before"));
  }
  return scope;
}

absl::Status CheckCompleteBlock(const ScheduleState& state, const Site* block,
                                const Site* scope) {
  const std::string why = WhyNotComplete(state, block, scope);
  if (why.empty()) return absl::OkStatus();
  return SiteError(block,
                   absl::StrCat(block->Describe(), " is not complete: ", why));
}

absl::Status CheckReductionBlock(const ScheduleState& state, const Site* block,
                                 const Site* scope) {
  const std::string why = WhyNotReduction(state, block, scope);
  if (why.empty()) return absl::OkStatus();
  return SiteError(block,
                   absl::StrCat(block->Describe(), " is no reduction: ", why));
}

absl::Status CheckCompleteOrReductionBlock(const ScheduleState& state,
                                           const Site* block,
                                           const Site* scope) {
  const std::string complete = WhyNotComplete(state, block, scope);
  if (complete.empty()) return absl::OkStatus();
  const std::string reduction = WhyNotReduction(state, block, scope);
  if (reduction.empty()) return absl::OkStatus();
  return SiteError(
      block, absl::StrCat(block->Describe(), " is not complete (", complete,
                          ") and no reduction (", reduction, ")"));
}

absl::Status CheckCompactDataflow(const ScheduleState& state,
                                  const Site* site) {
  for (const Site* block : ChildBlocks(state, site)) {
    BATON_RETURN_IF_ERROR(CheckCompleteOrReductionBlock(state, block, site));
  }
  return absl::OkStatus();
}

bool IsOutputBlock(const Site* block, const Site* scope) {
  const auto allocated = scope->block()->alloc_buffers();
  for (const BufferRegion& write : block->block()->writes()) {
    if (std::find(allocated.begin(), allocated.end(), write->buffer()) ==
        allocated.end()) {
      return true;
    }
  }
  return false;
}

std::vector<const Site*> OutputBlocks(const ScheduleState& state,
                                      const Site* scope) {
  std::vector<const Site*> result;
  for (const Site& site : state.sites()) {
    if (!site.is_block() || &site == scope || !IsAncestor(scope, &site)) {
      continue;
    }
    const Site* around = site.parent;
    while (!around->is_block()) around = around->parent;
    if (IsOutputBlock(&site, around)) result.push_back(&site);
  }
  return result;
}

absl::Status CheckNotOutputBlock(const Site* block, const Site* scope) {
  if (!IsOutputBlock(block, scope)) return absl::OkStatus();
  return SiteError(block,
                   absl::StrCat(block->Describe(), " writes a buffer that ",
                                scope->Describe(), " does not allocate"));
}

absl::Status CheckPartialAffineBinding(const ScheduleState& state,
                                       const Site* block, const Site* high) {
  if (state.IsAffine(block)) return absl::OkStatus();
  if (block->parent != nullptr && high != nullptr) {
    Analyzer analyzer;
    if (IsAffineBinding(block->realize.get(), LoopDomains(block->parent, high),
                        analyzer)) {
      return absl::OkStatus();
    }
  }
  return SiteError(
      block, absl::StrCat("the values of the variables of ", block->Describe(),
                          " are not affine in the loops"));
}

absl::Status CheckStartsWithZero(const Site* loop, Analyzer& analyzer) {
  const PrimExpr& min = loop->loop()->min();
  if (analyzer.CanProveEqual(min, IntImm(min.dtype(), 0))) {
    return absl::OkStatus();
  }
  return SiteError(loop,
                   absl::StrCat(loop->Describe(), " does not start at 0"));
}

absl::Status CheckStartsWithZero(const Site* block, const IterVar& iter) {
  if (IsZero(iter->min())) return absl::OkStatus();
  return SiteError(block,
                   absl::StrCat("variable ", iter->var()->name(), " of ",
                                block->Describe(), " does not start at 0"));
}

absl::Status CheckHasIterations(const Site* loop) {
  const auto* extent = loop->loop()->extent().As<IntImmNode>();
  if (extent == nullptr || extent->value() > 0) return absl::OkStatus();
  return SiteError(loop, absl::StrCat(loop->Describe(), " has no iterations"));
}

absl::Status CheckPlainLoop(const Site* loop) {
  const ForNode* node = loop->loop();
  if (node->annotations().empty() && !node->thread().defined()) {
    return absl::OkStatus();
  }
  return SiteError(loop,
                   absl::StrCat(loop->Describe(),
                                " has an annotation or is bound to a thread"));
}

std::vector<const Site*> ChildBlocks(const ScheduleState& state,
                                     const Site* site) {
  std::vector<const Site*> result;
  // Sites stand after their parents.
  FlatHashSet<const Site*> inside = {site};
  for (const Site& s : state.sites()) {
    if (s.parent == nullptr || !inside.contains(s.parent)) continue;
    if (s.is_block()) {
      result.push_back(&s);
    } else {
      inside.insert(&s);
    }
  }
  return result;
}

absl::StatusOr<const Site*> OnlyChildBlock(const ScheduleState& state,
                                           const Site* site) {
  const std::vector<const Site*> blocks = ChildBlocks(state, site);
  if (blocks.size() == 1) return blocks[0];
  return SiteError(site, absl::StrCat(site->Describe(), " has ", blocks.size(),
                                      " blocks in it, the step requires one"));
}

std::vector<const Site*> ProducersOf(const ScheduleState& state,
                                     const Site* block) {
  std::vector<const Site*> result;
  const Site* scope = block->parent;
  while (scope != nullptr && !scope->is_block()) scope = scope->parent;
  if (scope == nullptr) return result;
  for (const Dependency& d : state.ScopeOf(scope).DependenciesOn(block)) {
    if (d.kind == DependencyKind::kWriteAfterRead) continue;
    if (std::find(result.begin(), result.end(), d.src) == result.end()) {
      result.push_back(d.src);
    }
  }
  return result;
}

std::vector<const Site*> ConsumersOf(const ScheduleState& state,
                                     const Site* block) {
  std::vector<const Site*> result;
  const Site* scope = block->parent;
  while (scope != nullptr && !scope->is_block()) scope = scope->parent;
  if (scope == nullptr) return result;
  for (const Dependency& d : state.ScopeOf(scope).DependenciesOf(block)) {
    if (d.kind == DependencyKind::kWriteAfterRead) continue;
    if (std::find(result.begin(), result.end(), d.dst) == result.end()) {
      result.push_back(d.dst);
    }
  }
  return result;
}

bool IsAncestor(const Site* high, const Site* low) {
  for (; low != nullptr; low = low->parent) {
    if (low == high) return true;
  }
  return false;
}

bool IsBefore(const ScheduleState& state, const Site* first,
              const Site* second) {
  for (const Site& site : state.sites()) {
    if (&site == second) return false;
    if (&site == first) return true;
  }
  return false;
}

absl::Status CheckInOrder(const ScheduleState& state,
                          absl::Span<const Site* const> sites) {
  for (size_t i = 1; i < sites.size(); ++i) {
    if (IsBefore(state, sites[i - 1], sites[i])) continue;
    return SiteError(
        sites[i], absl::StrCat(sites[i]->Describe(), " must be after ",
                               sites[i - 1]->Describe(), " in the function"));
  }
  return absl::OkStatus();
}

const Site* LowestCommonAncestor(absl::Span<const Site* const> sites) {
  const Site* p = sites[0];
  for (const Site* site : sites) {
    while (!IsAncestor(p, site)) p = p->parent;
  }
  return p;
}

absl::StatusOr<BufferRegion> AccessedRegion(const Site* block, int index,
                                            AccessKind kind) {
  const auto regions = kind == AccessKind::kRead ? block->block()->reads()
                                                 : block->block()->writes();
  if (index < 0 || index >= static_cast<int>(regions.size())) {
    return SiteError(
        block, absl::StrCat("buffer index ", index,
                            " is out of range: ", block->Describe(),
                            kind == AccessKind::kRead ? " reads " : " writes ",
                            regions.size(), " regions"));
  }
  return regions[index];
}

std::pair<const Site*, bool> DefiningSite(const Site* site,
                                          const Buffer& buffer) {
  for (; site != nullptr; site = site->parent) {
    const BlockNode* block = site->block();
    if (block == nullptr) continue;
    for (const Buffer& allocated : block->alloc_buffers()) {
      if (allocated == buffer) return {site, true};
    }
    for (const MatchRegion& match : block->match_buffers()) {
      if (match->buffer() == buffer) return {site, false};
    }
  }
  return {nullptr, false};
}

absl::StatusOr<const Site*> AllocationSite(const Site* site,
                                           const Buffer& buffer) {
  const auto [definition, allocated] = DefiningSite(site, buffer);
  if (allocated) return definition;
  return SiteError(site,
                   absl::StrCat("no block allocates buffer ", buffer->name(),
                                ": it is a parameter or a view"));
}

absl::Status CheckStorageScope(absl::string_view scope) {
  if (MemoryScope(scope).rank != MemoryRank::kUnknown) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("unknown scope of memory: \"", scope, "\""));
}

namespace {

// True if `inner` is the body of `outer`, or a statement of it.
bool IsStatementOf(const Site* inner, const Site* outer) {
  Stmt body =
      outer->is_block() ? outer->block()->body() : outer->loop()->body();
  TakeDefinitions(body);
  for (const Stmt& stmt : SeqOf(body)) {
    const auto* realize = stmt.As<BlockRealizeNode>();
    if (stmt == inner->stmt ||
        (realize != nullptr && realize->block() == inner->stmt)) {
      return true;
    }
  }
  return false;
}

}  // namespace

absl::Status CheckRunsInLoops(const Site* block, const Site* place) {
  for (const Site* p = block; p != place && p->parent != nullptr;
       p = p->parent) {
    if (!IsStatementOf(p, p->parent)) {
      return SiteError(
          p, absl::StrCat(p->Describe(), " is below another statement of ",
                          p->parent->Describe(),
                          ", which may leave out iterations"));
    }
    if (p->is_block()) continue;
    BATON_RETURN_IF_ERROR(CheckHasIterations(p));
  }
  return absl::OkStatus();
}

namespace {

bool HasConditionInside(const Site* block) {
  bool found = false;
  PostOrderVisit(
      block->block()->body(), [](const PrimExpr&) {},
      [&found](const Stmt& part) {
        const auto* realize = part.As<BlockRealizeNode>();
        found |= part.As<IfThenElseNode>() != nullptr ||
                 part.As<WhileNode>() != nullptr ||
                 (realize != nullptr && !IsOne(realize->predicate()));
      });
  return found;
}

absl::Status LeavesOutError(const Site* block, const Buffer& buffer) {
  return SiteError(
      block, absl::StrCat(block->Describe(),
                          " may leave out elements of the "
                          "region of buffer ",
                          buffer->name(), " that would be copied after it"));
}

}  // namespace

absl::Status CheckWritesAll(const Site* block, const BufferRegion& region,
                            const Site* place, absl::Span<const Range> copied,
                            absl::string_view storage_scope) {
  BATON_RETURN_IF_ERROR(CheckRunsInLoops(block, place));
  Analyzer analyzer;
  for (const Site* p = block->parent; p != nullptr; p = p->parent) {
    if (const ForNode* loop = p->loop()) {
      analyzer.Bind(loop->loop_var(), Range{loop->min(), loop->extent()});
    }
  }
  const VarRanges domains = LoopDomains(block->parent, place, storage_scope);
  const PrimExpr& predicate = block->realize->predicate();
  const std::optional<std::vector<IntSet>> written = EstimateRegionLowerBound(
      Substitute(region->region(), BindingsOf(block->realize.get())), domains,
      predicate, analyzer);
  // The copy is outside of a condition on other loops, and of those inside.
  bool all = written.has_value() && !HasConditionInside(block);
  for (const Site* p = place; p != nullptr && all; p = p->parent) {
    if (p->is_block()) continue;
    const VarNode* var = p->loop()->loop_var().get();
    all = !UsesVar(predicate, var);
  }
  const auto proves = [&analyzer](const PrimExpr& e, int64_t bound) {
    return analyzer.CanProveGreaterEqual(analyzer.Simplify(e), bound);
  };
  for (size_t i = 0; all && i < copied.size(); ++i) {
    const IntSet& set = (*written)[i];
    const Range& range = copied[i];
    all = set.HasLowerBound() && set.HasUpperBound() &&
          proves(Sub(range.min, set.min()), 0) &&
          proves(Sub(set.max(), Add(range.min, range.extent)), -1);
  }
  return all ? absl::OkStatus() : LeavesOutError(block, region->buffer());
}

absl::Status CheckWritesAlways(const Site* block, const Buffer& buffer) {
  return HasConditionInside(block) ? LeavesOutError(block, buffer)
                                   : absl::OkStatus();
}

namespace {

// Finds loads of a buffer in a block, except those in the blocks below it.
class OwnLoadFinder : public Visitor {
 public:
  explicit OwnLoadFinder(const Buffer& buffer) : buffer_(buffer) {}
  bool found = false;

 protected:
  void VisitVar(const VarNode* var) override {
    found |= var == buffer_->data().get();
  }
  void VisitBufferLoad(const BufferLoadNode* load) override {
    found |= load->buffer() == buffer_;
    Visitor::VisitBufferLoad(load);
  }
  void VisitBlock(const BlockNode*) override {}

 private:
  const Buffer& buffer_;
};

// Each block in `block` that reads the buffer does so after others in it, which
// write all of these elements.
bool ReadsWhatItWrote(const ScheduleState& state, const Site* block,
                      const Buffer& buffer) {
  OwnLoadFinder loads(buffer);
  loads.Visit(block->block()->body());
  if (loads.found) return false;
  const BlockScope& scope = state.ScopeOf(block);
  const auto writers = scope.writers.find(buffer.get());
  if (writers == scope.writers.end()) return false;
  for (const Site* child : scope.blocks) {
    if (!RegionOf(child->block()->reads(), buffer).defined()) continue;
    bool is_after = false;
    for (const Site* writer : writers->second) {
      is_after |= writer != child && IsBefore(state, writer, child);
    }
    if (!is_after || !state.IsRegionCovered(child)) return false;
  }
  return true;
}

}  // namespace

absl::Status CheckDoesNotRead(const ScheduleState& state, const Site* block,
                              const Buffer& buffer) {
  // A reduction reads what it initialized.
  if (!RegionOf(block->block()->reads(), buffer).defined() ||
      block->block()->init().defined() ||
      ReadsWhatItWrote(state, block, buffer)) {
    return absl::OkStatus();
  }
  return SiteError(
      block, absl::StrCat(block->Describe(), " reads buffer ", buffer->name(),
                          ", too, whose elements the copy would lack"));
}

absl::Status CheckReadsInside(const ScheduleState& state, const Site* block,
                              const Buffer& buffer,
                              absl::Span<const PrimExpr> indices) {
  Analyzer bounds;
  BindShapes(state, bounds);
  for (const IterVar& iter : block->block()->iter_vars()) {
    bounds.Bind(iter->var(), Range{iter->min(), iter->extent()});
  }
  for (size_t i = 0; i < indices.size(); ++i) {
    if (bounds.CanProveGreaterEqual(bounds.Simplify(indices[i]), 0) &&
        bounds.CanProveGreaterEqual(
            bounds.Simplify(Sub(buffer->shape()[i], indices[i])), 1)) {
      continue;
    }
    return SiteError(
        block, absl::StrCat(block->Describe(), " may read outside of buffer ",
                            buffer->name()));
  }
  return absl::OkStatus();
}

void BindShapes(const ScheduleState& state, Analyzer& analyzer) {
  for (const Buffer& buffer : state.function()->buffers()) {
    for (const PrimExpr& extent : buffer->shape()) {
      analyzer.MarkGlobalNonNeg(extent);
    }
  }
}

absl::StatusOr<Removal> RemovalOf(const Site* block) {
  const Node* last = block->stmt.get();
  const Site* site = block->parent;
  if (site == nullptr) {
    return SiteError(block, "the root block cannot be removed");
  }
  for (; !site->is_block(); last = site->stmt.get(), site = site->parent) {
    const auto* seq = site->loop()->body().As<SeqStmtNode>();
    if (seq != nullptr && seq->seq().size() > 1) break;
  }
  const auto without = [last](const SeqStmtNode* seq) {
    std::vector<Stmt> rest;
    for (const Stmt& stmt : seq->seq()) {
      const auto* realize = stmt.As<BlockRealizeNode>();
      if (stmt.get() == last ||
          (realize != nullptr && realize->block().get() == last)) {
        continue;
      }
      rest.push_back(stmt);
    }
    return FlatSeq(rest);
  };
  if (const ForNode* loop = site->loop()) {
    return Removal{site->stmt,
                   WithBody(loop, without(loop->body().As<SeqStmtNode>()))};
  }
  // Definitions at the begin of a block's body stay around the rest.
  Stmt inner = site->block()->body();
  const std::vector<Stmt> definitions = TakeDefinitions(inner);
  const auto* seq = inner.As<SeqStmtNode>();
  if (seq == nullptr) {
    return SiteError(
        block, absl::StrCat(block->Describe(), " is all that ",
                            site->Describe(), " has: it cannot be removed"));
  }
  BlockNode::Parts parts = site->block()->parts();
  parts.body = AroundDefinitions(definitions, without(seq));
  return Removal{site->stmt, Block(std::move(parts), site->stmt->span())};
}

}  // namespace baton::tir
