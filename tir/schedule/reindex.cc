// Steps that copy what a block accesses into a buffer with other indices, and
// copies at a loop.

#include <algorithm>
#include <cstddef>
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
#include "baton/tir/analysis/undefined_vars.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/index_map.h"
#include "baton/tir/arith/int_set.h"
#include "baton/tir/arith/pattern.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/schedule/cache.h"
#include "baton/tir/schedule/conditions.h"
#include "baton/tir/schedule/edit.h"
#include "baton/tir/schedule/state.h"
#include "baton/tir/schedule/steps.h"

namespace baton::tir {
namespace {

using VarSet = FlatHashSet<const VarNode*>;

VarSet VarsOf(absl::Span<const PrimExpr> exprs) {
  VarSet result;
  for (const PrimExpr& e : exprs) {
    for (const Var& var : UndefinedVars(e)) result.insert(var.get());
  }
  return result;
}

// Fills in the copy for ReindexCacheRead() and ReindexCacheWrite(), whose
// indices are a map of the block's variables.
absl::Status MakeReindexedStage(const ScheduleState& state, const Site* block,
                                const Buffer& buffer,
                                const BufferRegion& region,
                                const std::string& storage_scope,
                                const IndexMap& index_map, bool is_read,
                                CacheStage& stage) {
  for (const Range& range : region->region()) {
    if (IsOne(range.extent)) continue;
    return SiteError(block, absl::StrCat(block->Describe(),
                                         " accesses more than one element of "
                                         "buffer ",
                                         buffer->name()));
  }
  const BlockNode* node = block->block();
  std::vector<PrimExpr> vars;
  std::vector<PrimExpr> extents;
  for (const IterVar& iter : node->iter_vars()) {
    vars.push_back(iter->var());
    extents.push_back(iter->extent());
  }
  Analyzer analyzer;
  BATON_ASSIGN_OR_RETURN(stage.indices, MapIndices(index_map, vars, analyzer));
  BATON_ASSIGN_OR_RETURN(std::vector<PrimExpr> shape,
                         MapShape(index_map, extents, analyzer));
  std::vector<PrimExpr> old_indices;
  for (const Range& range : region->region()) old_indices.push_back(range.min);
  for (const PrimExpr& index : old_indices) {
    if (HasLoad(index)) {
      return SiteError(
          block, absl::StrCat("an index of buffer ", buffer->name(), " in ",
                              block->Describe(), " is loaded"));
    }
  }
  if (is_read) {
    BATON_RETURN_IF_ERROR(CheckReadsInside(state, block, buffer, old_indices));
  }
  const VarSet old_vars = VarsOf(old_indices);
  const VarSet new_vars = VarsOf(stage.indices);
  VarMap<PrimExpr> copies;
  BlockNode::Parts parts;
  std::vector<PrimExpr> used_values;
  for (size_t i = 0; i < node->iter_vars().size(); ++i) {
    const IterVar& iter = node->iter_vars()[i];
    const bool in_new = new_vars.contains(iter->var().get());
    if (in_new != old_vars.contains(iter->var().get())) {
      return SiteError(block,
                       absl::StrCat("variable ", iter->var()->name(), " of ",
                                    block->Describe(), " is in the ",
                                    in_new ? "new" : "old", " indices only"));
    }
    if (!in_new) continue;
    BATON_RETURN_IF_ERROR(CheckStartsWithZero(block, iter));
    const Var var(iter->var()->name(), iter->var().dtype());
    parts.iter_vars.push_back(
        IterVar({iter->min(), iter->extent()}, var, IterVarType::kDataPar));
    copies.Set(iter->var(), var);
    used_values.push_back(block->realize->iter_values()[i]);
  }
  const VarSet loop_vars = VarsOf(used_values);
  std::vector<std::pair<Var, const ForNode*>> loops;  // innermost first
  for (const Site* p = block->parent; p != nullptr && !p->is_block();
       p = p->parent) {
    if (p == stage.place) break;
    if (!loop_vars.contains(p->loop()->loop_var().get())) continue;
    const Var& old_var = p->loop()->loop_var();
    loops.emplace_back(Var(old_var->name(), old_var.dtype()), p->loop());
    copies.Set(old_var, loops.back().first);
  }
  std::vector<PrimExpr> values;
  for (const PrimExpr& value : used_values) {
    values.push_back(Substitute(value, copies));
  }
  BufferNode::Parts copy = WithScope(buffer, storage_scope)->parts();
  copy.shape = std::move(shape);
  copy.strides.clear();
  stage.allocated = Buffer(std::move(copy));
  (is_read ? stage.target : stage.source) = stage.allocated;
  stage.region = region;
  const auto substituted = [&](std::vector<PrimExpr> list) {
    for (PrimExpr& e : list) e = Substitute(e, copies);
    return list;
  };
  const auto region_of = [](const Buffer& b,
                            const std::vector<PrimExpr>& indices) {
    std::vector<Range> ranges;
    for (const PrimExpr& index : indices) {
      ranges.push_back({index, IntImm(kInt32, 1)});
    }
    return BufferRegion(b, std::move(ranges));
  };
  const std::vector<PrimExpr> outer = substituted(old_indices);
  const std::vector<PrimExpr> inner = substituted(stage.indices);
  const std::vector<PrimExpr>& from = is_read ? outer : inner;
  const std::vector<PrimExpr>& to = is_read ? inner : outer;
  parts.name = absl::StrCat(buffer->name(), "_", storage_scope);
  parts.reads = {region_of(stage.source, from)};
  parts.writes = {region_of(stage.target, to)};
  parts.body = BufferStore(stage.target, BufferLoad(stage.source, from), to);
  stage.block = Block(std::move(parts));
  // The copy leaves out the iterations that the block leaves out.
  const PrimExpr& predicate = block->realize->predicate();
  for (const Var& var : UndefinedVars(predicate)) {
    for (const Site* p = block->parent; p != stage.place && !p->is_block();
         p = p->parent) {
      if (p->loop()->loop_var() == var && !copies.Contains(var)) {
        return SiteError(
            block,
            absl::StrCat(block->Describe(), " has a condition on ",
                         p->Describe(), ", which is not around the copy"));
      }
    }
  }
  stage.nest = BlockRealize(std::move(values), Substitute(predicate, copies),
                            stage.block);
  for (const auto& [var, loop] : loops) {
    stage.nest = SerialLoop(var, loop->min(), loop->extent(), stage.nest);
  }
  return absl::OkStatus();
}

// Finds the indices by which a leaf block accesses a buffer.
class IndexCollector : public Visitor {
 public:
  explicit IndexCollector(const Buffer& buffer) : buffer_(buffer) {}
  std::vector<PrimExpr> indices;
  bool found = false;
  std::string problem;

 protected:
  void VisitBlock(const BlockNode* block) override {
    problem = absl::StrCat("block ", block->name(), " is in it");
  }
  void VisitVar(const VarNode* var) override {
    if (var == buffer_->data().get()) problem = "it uses the buffer's pointer";
  }
  void VisitBufferLoad(const BufferLoadNode* load) override {
    Visitor::VisitBufferLoad(load);
    if (load->buffer() == buffer_) Add(load->indices());
  }
  void VisitBufferStore(const BufferStoreNode* store) override {
    Visitor::VisitBufferStore(store);
    if (store->buffer() == buffer_) Add(store->indices());
  }

 private:
  void Add(absl::Span<const PrimExpr> list) {
    if (!found) {
      indices.assign(list.begin(), list.end());
      found = true;
      return;
    }
    for (size_t i = 0; i < list.size(); ++i) {
      if (!ExprDeepEqual(indices[i], list[i])) {
        problem = "it accesses the buffer by several indices";
      }
    }
  }

  const Buffer& buffer_;
};

// Finds the variables that loops and lets define.
class LocalVarFinder : public Visitor {
 public:
  VarSet vars;

 protected:
  void VisitFor(const ForNode* loop) override {
    vars.insert(loop->loop_var().get());
    Visitor::VisitFor(loop);
  }
  void VisitLetStmt(const LetStmtNode* let) override {
    vars.insert(let->var().get());
    Visitor::VisitLetStmt(let);
  }
  void VisitLet(const LetNode* let) override {
    vars.insert(let->var().get());
    Visitor::VisitLet(let);
  }
};

// Replaces accesses of one block to a buffer by accesses to another one, by the
// same indices everywhere. Other blocks stay.
class Reindexer : public Rewriter {
 public:
  Reindexer(const BlockNode* block, const Buffer& old_buffer,
            const Buffer& new_buffer, std::vector<PrimExpr> indices)
      : block_(block),
        old_buffer_(old_buffer),
        new_buffer_(new_buffer),
        indices_(std::move(indices)) {}

 protected:
  Stmt VisitBlock(const BlockNode* block) override {
    if (block != block_) return Block(block);
    const Stmt rewritten = Rewriter::VisitBlock(block);
    BlockNode::Parts parts = rewritten.As<BlockNode>()->parts();
    const BufferRegion region = PointRegion(new_buffer_, indices_);
    parts.reads = ReplaceRegion(block->reads(), old_buffer_, region);
    parts.writes = ReplaceRegion(block->writes(), old_buffer_, region);
    for (MatchRegion& match : parts.match_buffers) {
      if (match->source()->buffer() != old_buffer_) continue;
      match = MatchRegion(match->buffer(), region, match->span());
    }
    return Block(std::move(parts), block->span());
  }
  Stmt VisitBufferStore(const BufferStoreNode* node) override {
    const Stmt rewritten = Rewriter::VisitBufferStore(node);
    const auto* store = rewritten.As<BufferStoreNode>();
    if (store->buffer() != old_buffer_) return rewritten;
    return BufferStore(new_buffer_, store->value(), indices_, store->span());
  }
  PrimExpr VisitBufferLoad(const BufferLoadNode* load) override {
    if (load->buffer() != old_buffer_) return Rewriter::VisitBufferLoad(load);
    return BufferLoad(new_buffer_, indices_, load->span());
  }

 private:
  const BlockNode* block_;
  Buffer old_buffer_;
  Buffer new_buffer_;
  std::vector<PrimExpr> indices_;
};

}  // namespace

absl::StatusOr<Block> ReindexCacheRead(ScheduleState& state, const Site* block,
                                       int buffer_index,
                                       const std::string& storage_scope,
                                       const IndexMap& index_map) {
  BATON_RETURN_IF_ERROR(CheckStorageScope(storage_scope));
  BATON_ASSIGN_OR_RETURN(
      const BufferRegion region,
      AccessedRegion(block, buffer_index, AccessKind::kRead));
  BATON_ASSIGN_OR_RETURN(const Site* scope, ScopeRoot(state, block, true));
  CacheStage stage;
  stage.source = region->buffer();
  stage.consumers.insert(block->stmt.get());
  BATON_ASSIGN_OR_RETURN(const Site* writer,
                         OnlyWriter(state, scope, region->buffer()));
  stage.place = scope;
  if (writer != nullptr) {
    BATON_RETURN_IF_ERROR(
        ReadersAreBefore(state, scope, writer, stage).status());
    FindPlace(state, writer, scope, true, stage);
  }
  BATON_RETURN_IF_ERROR(MakeReindexedStage(state, block, region->buffer(),
                                           region, storage_scope, index_map,
                                           true, stage));
  BATON_ASSIGN_OR_RETURN(const Block result, RewriteReaders(scope, stage));
  BATON_RETURN_IF_ERROR(state.Replace(scope, result));
  return stage.block;
}

absl::StatusOr<Block> ReindexCacheWrite(ScheduleState& state, const Site* block,
                                        int buffer_index,
                                        const std::string& storage_scope,
                                        const IndexMap& index_map) {
  BATON_RETURN_IF_ERROR(CheckStorageScope(storage_scope));
  BATON_ASSIGN_OR_RETURN(
      const BufferRegion region,
      AccessedRegion(block, buffer_index, AccessKind::kWrite));
  BATON_ASSIGN_OR_RETURN(const Site* scope, ScopeRoot(state, block, true));
  CacheStage stage;
  stage.target = region->buffer();
  BATON_RETURN_IF_ERROR(OnlyWriter(state, scope, region->buffer()).status());
  BATON_RETURN_IF_ERROR(CheckDoesNotRead(state, block, stage.target));
  BATON_RETURN_IF_ERROR(CheckWritesAlways(block, stage.target));
  FindPlace(state, block, scope, false, stage);
  BATON_RETURN_IF_ERROR(CheckRunsInLoops(block, stage.place));
  BATON_RETURN_IF_ERROR(MakeReindexedStage(state, block, region->buffer(),
                                           region, storage_scope, index_map,
                                           false, stage));
  BATON_ASSIGN_OR_RETURN(const Block result,
                         RewriteWriter(scope, block, stage));
  BATON_RETURN_IF_ERROR(state.Replace(scope, result));
  return stage.block;
}

absl::StatusOr<Block> ReIndex(ScheduleState& state, const Site* block,
                              int buffer_index, AccessKind kind) {
  BATON_ASSIGN_OR_RETURN(const BufferRegion region,
                         AccessedRegion(block, buffer_index, kind));
  const Buffer& buffer = region->buffer();
  BATON_ASSIGN_OR_RETURN(const Site* scope, ScopeRoot(state, block, true));
  const BlockNode* node = block->block();
  IndexCollector collector(buffer);
  collector.Visit(node->body());
  if (!collector.found && collector.problem.empty()) {
    collector.problem = "it does not access the buffer";
  }
  if (!collector.problem.empty()) {
    return SiteError(block,
                     absl::StrCat(block->Describe(),
                                  " cannot have "
                                  "other indices of buffer ",
                                  buffer->name(), ": ", collector.problem));
  }
  Analyzer analyzer;
  for (const IterVar& iter : node->iter_vars()) {
    analyzer.Bind(iter->var(), Range{iter->min(), iter->extent()});
  }
  for (PrimExpr& index : collector.indices) {
    const PrimExpr simplified = analyzer.Simplify(index);
    if (simplified.As<IntImmNode>() == nullptr) index = simplified;
  }
  for (const PrimExpr& index : collector.indices) {
    if (HasLoad(index)) {
      return SiteError(
          block, absl::StrCat("an index of buffer ", buffer->name(), " in ",
                              block->Describe(), " is loaded"));
    }
  }
  const VarSet covered = VarsOf(collector.indices);
  LocalVarFinder locals;
  locals.Visit(node->body());
  for (const VarNode* var : covered) {
    if (!locals.vars.contains(var)) continue;
    return SiteError(block,
                     absl::StrCat("an index of buffer ", buffer->name(), " in ",
                                  block->Describe(), " depends on variable ",
                                  var->name(), " inside of the block"));
  }
  if (kind == AccessKind::kRead) {
    BATON_RETURN_IF_ERROR(
        CheckReadsInside(state, block, buffer, collector.indices));
  }
  // The nest around the block stands alone in the scope.
  const Site* outermost = block->parent;
  if (outermost == scope) {
    return SiteError(block,
                     absl::StrCat(block->Describe(), " has no loop around it"));
  }
  if (outermost->loop()->body() != block->realize) {
    return SiteError(
        block, absl::StrCat(block->Describe(), " is not all of the body of ",
                            outermost->Describe()));
  }
  for (; outermost->parent != scope; outermost = outermost->parent) {
    const ForNode* outer = outermost->parent->loop();
    if (outer == nullptr || outer->body() != outermost->stmt) {
      return SiteError(outermost, absl::StrCat(outermost->Describe(),
                                               " is not all of the body of ",
                                               outermost->parent->Describe()));
    }
  }
  if (RegionOf(node->reads(), buffer).defined() &&
      RegionOf(node->writes(), buffer).defined() && !node->init().defined()) {
    return SiteError(
        block, absl::StrCat(block->Describe(), " reads and writes buffer ",
                            buffer->name(), ": one copy is not enough"));
  }
  // The buffer has an axis for each variable that the indices use.
  std::vector<PrimExpr> shape;
  std::vector<PrimExpr> block_indices;
  BlockNode::Parts parts;
  std::vector<PrimExpr> indices;
  std::vector<PrimExpr> values;
  std::vector<Var> loop_vars;
  VarMap<PrimExpr> copies;
  for (const IterVar& iter : node->iter_vars()) {
    if (!covered.contains(iter->var().get())) continue;
    shape.push_back(Add(iter->min(), iter->extent()));
    block_indices.push_back(iter->var());
    const DType dtype = iter->var().dtype();
    const Var var(absl::StrCat("v", indices.size()), dtype);
    copies.Set(iter->var(), var);
    parts.iter_vars.push_back(
        IterVar({iter->min(), iter->extent()}, var, IterVarType::kDataPar));
    indices.push_back(var);
    loop_vars.emplace_back(absl::StrCat("ax", loop_vars.size()), dtype);
    values.push_back(loop_vars.back());
  }
  if (kind == AccessKind::kWrite) {
    std::vector<Range> domain;
    for (const IterVar& iter : parts.iter_vars) {
      domain.push_back({iter->min(), iter->extent()});
    }
    BATON_RETURN_IF_ERROR(CheckWritesAll(
        block, PointRegion(buffer, block_indices), scope, domain));
  }
  BufferNode::Parts copy = buffer->parts();
  copy.shape = std::move(shape);
  copy.strides.clear();
  copy.data = CopyVar(copy.data, "_reindex");
  absl::StrAppend(&copy.name, "_reindex");
  const Buffer reindexed(std::move(copy));
  std::vector<PrimExpr> old_indices;
  for (const PrimExpr& index : collector.indices) {
    old_indices.push_back(Substitute(index, copies));
  }
  const bool is_write = kind == AccessKind::kWrite;
  const Buffer& source = is_write ? reindexed : buffer;
  const Buffer& target = is_write ? buffer : reindexed;
  const std::vector<PrimExpr>& from = is_write ? indices : old_indices;
  const std::vector<PrimExpr>& to = is_write ? old_indices : indices;
  parts.name = absl::StrCat(target->name(), "_reindex");
  parts.reads = {PointRegion(source, from)};
  parts.writes = {PointRegion(target, to)};
  parts.body = BufferStore(target, BufferLoad(source, from), to);
  const Block result(std::move(parts));
  Stmt nest = BlockRealize(std::move(values), IntImm::Bool(true), result);
  for (size_t i = loop_vars.size(); i-- > 0;) {
    const IterVar& iter = result->iter_vars()[i];
    nest = SerialLoop(loop_vars[i], iter->min(), iter->extent(), nest);
  }
  const int position = std::max(0, outermost->seq_index) + (is_write ? 1 : 0);
  BlockNode::Parts new_scope = scope->block()->parts();
  new_scope.body = Reindexer(node, buffer, reindexed, std::move(block_indices))
                       .Rewrite(new_scope.body);
  BATON_ASSIGN_OR_RETURN(new_scope.body,
                         InsertAt(new_scope.body, position, nest));
  new_scope.alloc_buffers.push_back(reindexed);
  BATON_RETURN_IF_ERROR(
      state.Replace(scope, Block(std::move(new_scope), scope->stmt->span())));
  return result;
}

namespace {

// Replaces a buffer by another one.
class PlainReplacer : public Rewriter {
 public:
  PlainReplacer(const Buffer& old_buffer, const Buffer& new_buffer)
      : old_buffer_(old_buffer), new_buffer_(new_buffer) {}

 protected:
  Buffer RewriteBuffer(const Buffer& buffer) override {
    return buffer == old_buffer_ ? new_buffer_ : buffer;
  }

 private:
  const Buffer& old_buffer_;
  const Buffer& new_buffer_;
};

// Replaces a loop that stands in no further block.
class LoopReplacer : public Rewriter {
 public:
  LoopReplacer(const ForNode* loop, Stmt replacement)
      : loop_(loop), replacement_(std::move(replacement)) {}

 protected:
  Stmt VisitFor(const ForNode* loop) override {
    return loop == loop_ ? replacement_ : Rewriter::VisitFor(loop);
  }
  Stmt VisitBlock(const BlockNode* block) override { return Block(block); }

 private:
  const ForNode* loop_;
  Stmt replacement_;
};

// A block in an iteration of `loop` writes all of `copied`; the iteration does
// not read the buffer before it writes it.
absl::Status CheckWritesAllAt(const ScheduleState& state, const Site* loop,
                              const Buffer& buffer, int first_read,
                              int first_write, absl::Span<const IntSet> copied,
                              absl::string_view storage_scope) {
  if (first_read >= 0 && first_read <= first_write) {
    return SiteError(
        loop, absl::StrCat("in ", loop->Describe(), " buffer ", buffer->name(),
                           " is read before it is written"));
  }
  std::vector<Range> ranges;
  for (size_t i = 0; i < copied.size(); ++i) {
    ranges.push_back(
        copied[i].CoverRange({IntImm(kInt32, 0), buffer->shape()[i]}));
  }
  absl::Status status;
  for (const Site* block : ChildBlocks(state, loop)) {
    for (const BufferRegion& region : block->block()->writes()) {
      if (region->buffer() != buffer) continue;
      status = CheckWritesAll(block, region, loop, ranges, storage_scope);
      if (status.ok()) return status;
    }
  }
  return status;
}

absl::StatusOr<Block> CopyAtLoop(ScheduleState& state, const Site* loop,
                                 const Site* block, int buffer_index,
                                 const std::string& storage_scope,
                                 AccessKind kind) {
  const bool is_read = kind == AccessKind::kRead;
  BATON_RETURN_IF_ERROR(CheckStorageScope(storage_scope));
  BATON_ASSIGN_OR_RETURN(const BufferRegion accessed,
                         AccessedRegion(block, buffer_index, kind));
  const Buffer& buffer = accessed->buffer();
  BATON_ASSIGN_OR_RETURN(const Site* scope, ScopeRoot(state, loop, true));
  const Buffer copy = WithScope(buffer, storage_scope);
  std::vector<Stmt> body = SeqOf(loop->loop()->body());
  std::vector<std::vector<IntSet>> regions;
  int first_read = -1;
  int last_read = -1;
  int first_write = -1;
  int last_write = -1;
  for (const Site* child : ChildBlocks(state, loop)) {
    const Site* statement = child;
    while (statement->parent != loop) statement = statement->parent;
    const int position = std::max(0, statement->seq_index);
    const BlockNode* node = child->block();
    if (RegionOf(node->reads(), buffer).defined()) {
      // A reduction reads what it initialized.
      if (first_read < 0 && (is_read || !node->init().defined())) {
        first_read = position;
      }
      last_read = position;
      if (is_read && !IsOne(child->realize->predicate()) &&
          DefiningSite(loop, buffer).first != nullptr) {
        return SiteError(
            child, absl::StrCat(child->Describe(),
                                " has a condition, without which the copy "
                                "would read elements of buffer ",
                                buffer->name(), " that nothing may write"));
      }
    }
    if (RegionOf(node->writes(), buffer).defined()) {
      if (first_write < 0) first_write = position;
      last_write = position;
    }
    const Domains domains =
        AsIntSets(LoopDomains(child->parent, loop, storage_scope));
    const VarMap<PrimExpr> values = BindingsOf(child->realize.get());
    for (const BufferRegion& region :
         is_read ? node->reads() : node->writes()) {
      if (region->buffer() != buffer) continue;
      regions.push_back(EvalSet(Substitute(region->region(), values), domains));
    }
  }
  if ((is_read ? first_read : first_write) < 0) {
    return SiteError(loop, absl::StrCat("no block in ", loop->Describe(),
                                        is_read ? " reads" : " writes",
                                        " buffer ", buffer->name()));
  }
  if (is_read ? last_write >= first_read : last_read > last_write) {
    return SiteError(
        loop, absl::StrCat("in ", loop->Describe(), " buffer ", buffer->name(),
                           is_read ? " is written after it is read"
                                   : " is read after it is written"));
  }
  const int position = is_read ? first_read : last_write + 1;
  Analyzer analyzer;
  const std::vector<IntSet> all =
      regions.size() == 1 ? regions[0] : UnionRegion(regions);
  if (!is_read) {
    BATON_RETURN_IF_ERROR(CheckWritesAllAt(state, loop, buffer, first_read,
                                           first_write, all, storage_scope));
  }
  VarRanges loops;
  Analyzer bounds;
  BindShapes(state, bounds);
  for (const Site* p = loop; !p->is_block(); p = p->parent) {
    const Range range = {p->loop()->min(), p->loop()->extent()};
    loops.Set(p->loop()->loop_var(), range);
    bounds.Bind(p->loop()->loop_var(), range);
  }
  BlockNode::Parts parts;
  std::vector<PrimExpr> values;
  VarMap<PrimExpr> iters;
  bool known = true;
  const auto substituted = [&](const PrimExpr& e) {
    return Substitute(e, [&](const VarNode* node) -> PrimExpr {
      if (const PrimExpr* iter = iters.Find(node)) return *iter;
      const Range* range = loops.Find(node);
      if (range == nullptr) {
        known = false;
        return {};
      }
      const Var old_var(node);
      const Var var(absl::StrCat("v", parts.iter_vars.size()), old_var.dtype());
      iters.Set(old_var, var);
      values.push_back(old_var);
      parts.iter_vars.push_back(IterVar(*range, var, IterVarType::kDataPar));
      return var;
    });
  };
  std::vector<Range> region;
  std::vector<Var> loop_vars;
  std::vector<PrimExpr> indices;
  for (const IntSet& set : all) {
    if (!set.HasLowerBound() || !set.HasUpperBound()) {
      return SiteError(loop, "the region that is accessed is not bounded");
    }
    // A block may access a part of its region; the copy does not.
    const PrimExpr& last = buffer->shape()[region.size()];
    if (!bounds.CanProveGreaterEqual(set.min(), 0) ||
        !bounds.CanProveGreaterEqual(Sub(last, set.max()), 1)) {
      return SiteError(
          loop, absl::StrCat("in ", loop->Describe(), " blocks may ",
                             is_read ? "read" : "write", " outside of buffer ",
                             buffer->name()));
    }
    const PrimExpr min = analyzer.Simplify(set.min());
    const PrimExpr extent = analyzer.Simplify(
        Sub(Add(set.max(), IntImm(set.max().dtype(), 1)), min));
    const PrimExpr new_min = substituted(min);
    region.push_back({new_min, substituted(extent)});
    loop_vars.emplace_back(absl::StrCat("ax", loop_vars.size()), kInt32);
  }
  if (!known) {
    return SiteError(loop,
                     "the region that is accessed depends on variables that "
                     "are no loops around the copy");
  }
  for (size_t i = 0; i < region.size(); ++i) {
    indices.push_back(Add(region[i].min, loop_vars[i]));
  }
  const Buffer& source = is_read ? buffer : copy;
  const Buffer& target = is_read ? copy : buffer;
  Stmt stmt = BufferStore(target, BufferLoad(source, indices), indices);
  for (size_t i = region.size(); i-- > 0;) {
    stmt = SerialLoop(loop_vars[i], IntImm(kInt32, 0), region[i].extent, stmt);
  }
  parts.name = absl::StrCat(buffer->name(), "_", storage_scope);
  parts.reads = {BufferRegion(source, region)};
  parts.writes = {BufferRegion(target, region)};
  parts.annotations = WithAnnotation({}, "auto_copy", IntImm(kInt32, 1));
  parts.body = std::move(stmt);
  const Block result(std::move(parts));
  PlainReplacer replacer(buffer, copy);
  const size_t begin = is_read ? position : 0;
  const size_t end = is_read ? body.size() : position;
  for (size_t i = begin; i < end; ++i) body[i] = replacer.Rewrite(body[i]);
  body.insert(body.begin() + position,
              BlockRealize(std::move(values), IntImm::Bool(true), result));
  BlockNode::Parts new_scope = scope->block()->parts();
  new_scope.body =
      LoopReplacer(loop->loop(), WithBody(loop->loop(), FlatSeq(body)))
          .Rewrite(new_scope.body);
  new_scope.alloc_buffers.push_back(copy);
  BATON_RETURN_IF_ERROR(
      state.Replace(scope, Block(std::move(new_scope), scope->stmt->span())));
  return result;
}

}  // namespace

absl::StatusOr<Block> ReadAt(ScheduleState& state, const Site* loop,
                             const Site* block, int buffer_index,
                             const std::string& storage_scope) {
  return CopyAtLoop(state, loop, block, buffer_index, storage_scope,
                    AccessKind::kRead);
}

absl::StatusOr<Block> WriteAt(ScheduleState& state, const Site* loop,
                              const Site* block, int buffer_index,
                              const std::string& storage_scope) {
  return CopyAtLoop(state, loop, block, buffer_index, storage_scope,
                    AccessKind::kWrite);
}

}  // namespace baton::tir
