#include "baton/tir/schedule/cache.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
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

// Finds the innermost loop that has a block and others in it, and where in its
// body the block is.
class PlaceFinder : public Visitor {
 public:
  PlaceFinder(const Site* block, FlatHashSet<const Node*> related)
      : block_(block->stmt.get()), related_(std::move(related)) {}

  const ForNode* loop() const { return loop_; }
  int position() const { return position_; }

 protected:
  void VisitSeqStmt(const SeqStmtNode* seq) override {
    const bool before = std::exchange(visited_block_, false);
    for (size_t i = 0; i < seq->seq().size() && position_ == -1; ++i) {
      Visit(seq->seq()[i]);
      if (visited_block_ && visited_related_ && position_ == -1) {
        position_ = static_cast<int>(i);
      }
      if (visited_related_) break;
    }
    visited_block_ = visited_block_ || before;
  }
  void VisitBlock(const BlockNode* block) override {
    if (block == block_) {
      visited_block_ = true;
    } else if (related_.contains(block)) {
      visited_related_ = true;
    }
  }
  void VisitFor(const ForNode* loop) override {
    Visitor::VisitFor(loop);
    if (visited_block_ && visited_related_ && loop_ == nullptr &&
        position_ != -1) {
      loop_ = loop;
    }
  }

 private:
  const Node* block_;
  FlatHashSet<const Node*> related_;
  bool visited_block_ = false;
  bool visited_related_ = false;
  const ForNode* loop_ = nullptr;
  int position_ = -1;
};

// Replaces accesses to one buffer by accesses to its copy.
class AccessReplacer : public Rewriter {
 public:
  AccessReplacer(const CacheStage& stage, const Site* scope,
                 const Buffer& old_buffer, const Buffer& new_buffer)
      : stage_(stage),
        scope_(scope->stmt.get()),
        old_buffer_(old_buffer),
        new_buffer_(new_buffer) {}

  absl::Status status;

 protected:
  PrimExpr VisitVar(const VarNode* var) override {
    if (var == old_buffer_->data().get()) return new_buffer_->data();
    return Var(var);
  }
  Stmt VisitFor(const ForNode* loop) override {
    Stmt result = Rewriter::VisitFor(loop);
    if (loop != stage_.place->stmt.get()) return result;
    const auto* rewritten = result.As<ForNode>();
    return WithBody(rewritten, Inserted(rewritten->body()));
  }
  // The indices of the load may load, too.
  PrimExpr NewLoad(const BufferLoadNode* node) {
    const PrimExpr rewritten = Rewriter::VisitBufferLoad(node);
    const auto* load = rewritten.As<BufferLoadNode>();
    return BufferLoad(new_buffer_, NewIndices(load->indices()), load->span());
  }

  Stmt Inserted(const Stmt& body) {
    absl::StatusOr<Stmt> result = InsertAt(body, stage_.position, stage_.nest);
    if (result.ok()) return *std::move(result);
    status = result.status();
    return body;
  }
  // Adds the copy and the allocation where they belong.
  void AddStage(const BlockNode* block, BlockNode::Parts& parts) {
    if (block == stage_.place->stmt.get()) parts.body = Inserted(parts.body);
    if (block == scope_ && stage_.allocated.defined()) {
      parts.alloc_buffers.push_back(stage_.allocated);
    }
  }
  std::vector<PrimExpr> NewIndices(absl::Span<const PrimExpr> indices) {
    if (!stage_.indices.empty()) return stage_.indices;
    std::vector<PrimExpr> result(indices.begin(), indices.end());
    if (stage_.full) return result;
    for (size_t i = 0; i < result.size(); ++i) {
      result[i] = Moved(result[i], i);
    }
    return result;
  }
  BufferRegion NewRegion(const BufferRegion& region) {
    std::vector<Range> ranges;
    if (!stage_.indices.empty()) {
      for (const PrimExpr& index : stage_.indices) {
        ranges.push_back({index, IntImm(kInt32, 1)});
      }
    } else {
      ranges.assign(region->region().begin(), region->region().end());
      for (size_t i = 0; i < ranges.size() && !stage_.full; ++i) {
        ranges[i].min = Moved(ranges[i].min, i);
      }
    }
    return BufferRegion(new_buffer_, std::move(ranges), region->span());
  }
  // True if a region changed.
  bool Replace(std::vector<BufferRegion>& regions) {
    bool changed = false;
    for (BufferRegion& region : regions) {
      if (region->buffer() != old_buffer_) continue;
      region = NewRegion(region);
      changed = true;
    }
    return changed;
  }
  bool Replace(std::vector<MatchRegion>& matches) {
    bool changed = false;
    for (MatchRegion& match : matches) {
      if (match->source()->buffer() != old_buffer_) continue;
      match = MatchRegion(match->buffer(), NewRegion(match->source()),
                          match->span());
      changed = true;
    }
    return changed;
  }

  const CacheStage& stage_;
  const Node* scope_;
  Buffer old_buffer_;
  Buffer new_buffer_;

 private:
  PrimExpr Moved(const PrimExpr& index, size_t axis) {
    return analyzer_.Simplify(Sub(index, stage_.region->region()[axis].min));
  }

  Analyzer analyzer_;
};

class ReaderRewriter : public AccessReplacer {
 public:
  ReaderRewriter(const CacheStage& stage, const Site* scope)
      : AccessReplacer(stage, scope, stage.source, stage.target) {}
  using Rewriter::RewriteBlock;

 protected:
  Stmt VisitBlock(const BlockNode* block) override {
    const bool consumes =
        stage_.consumers.empty() || stage_.consumers.contains(block);
    // The block that makes the data keeps the buffer.
    if (block != scope_ && RegionOf(block->writes(), old_buffer_).defined()) {
      return Block(block);
    }
    const bool outer = std::exchange(consumes_, consumes);
    const Stmt rewritten = Rewriter::VisitBlock(block);
    consumes_ = outer;
    BlockNode::Parts parts = rewritten.As<BlockNode>()->parts();
    AddStage(block, parts);
    if (block != scope_ && consumes) {
      parts.reads.assign(block->reads().begin(), block->reads().end());
      parts.match_buffers.assign(block->match_buffers().begin(),
                                 block->match_buffers().end());
      Replace(parts.reads);
      Replace(parts.match_buffers);
    }
    return Block(std::move(parts), block->span());
  }
  PrimExpr VisitBufferLoad(const BufferLoadNode* load) override {
    if (load->buffer() == old_buffer_ && consumes_) return NewLoad(load);
    return Rewriter::VisitBufferLoad(load);
  }

 private:
  bool consumes_ = false;
};

class WriterRewriter : public AccessReplacer {
 public:
  WriterRewriter(const CacheStage& stage, const Site* scope, const Site* writer)
      : AccessReplacer(stage, scope, stage.target, stage.source),
        writer_(writer->stmt.get()) {}
  using Rewriter::RewriteBlock;

 protected:
  Stmt VisitBlock(const BlockNode* block) override {
    if (stage_.consumers.contains(block)) {
      BlockNode::Parts parts = block->parts();
      bool changed = Replace(parts.writes);
      changed |= Replace(parts.reads);
      changed |= Replace(parts.match_buffers);
      if (!changed) return Block(block);
      parts.body = Rewrite(parts.body);
      return Block(std::move(parts), block->span());
    }
    if (block != writer_ && block != scope_ && !in_writer_) {
      return Block(block);
    }
    const bool outer =
        std::exchange(in_writer_, in_writer_ || block == writer_);
    const Stmt rewritten = Rewriter::VisitBlock(block);
    in_writer_ = outer;
    BlockNode::Parts parts = rewritten.As<BlockNode>()->parts();
    AddStage(block, parts);
    if (block != scope_) {
      parts.writes.assign(block->writes().begin(), block->writes().end());
      parts.reads.assign(block->reads().begin(), block->reads().end());
      parts.match_buffers.assign(block->match_buffers().begin(),
                                 block->match_buffers().end());
      Replace(parts.writes);
      Replace(parts.reads);
      Replace(parts.match_buffers);
    }
    return Block(std::move(parts), block->span());
  }
  Stmt VisitBufferStore(const BufferStoreNode* node) override {
    const Stmt rewritten = Rewriter::VisitBufferStore(node);
    const auto* store = rewritten.As<BufferStoreNode>();
    if (store->buffer() != old_buffer_) return rewritten;
    return BufferStore(new_buffer_, store->value(),
                       NewIndices(store->indices()), store->span());
  }
  PrimExpr VisitBufferLoad(const BufferLoadNode* load) override {
    if (load->buffer() == old_buffer_) return NewLoad(load);
    return Rewriter::VisitBufferLoad(load);
  }

 private:
  const Node* writer_;
  bool in_writer_ = false;
};

// The region of `buffer` among `regions`, which must not have two of it.
absl::StatusOr<BufferRegion> UniqueRegion(
    const Site* block, absl::Span<const BufferRegion> regions,
    const Buffer& buffer) {
  BufferRegion result;
  for (const BufferRegion& region : regions) {
    if (region->buffer() != buffer) continue;
    if (result.defined()) {
      return SiteError(block, absl::StrCat(block->Describe(),
                                           " accesses several regions of "
                                           "buffer ",
                                           buffer->name()));
    }
    result = region;
  }
  return result;
}

// Makes the nest that copies the region.
void MakeNest(const std::string& storage_scope, CacheStage& stage) {
  const Buffer& cached = stage.region->buffer();
  const bool is_read = cached == stage.source;
  std::vector<Var> loop_vars;
  std::vector<PrimExpr> values;
  BlockNode::Parts parts;
  std::vector<PrimExpr> outer_indices;  // of the cached buffer
  std::vector<PrimExpr> indices;        // of the copy
  for (size_t i = 0; i < stage.region->region().size(); ++i) {
    const Range& range = stage.region->region()[i];
    const DType dtype = range.extent.dtype();
    const Var loop_var(absl::StrCat("ax", i), dtype);
    const Var var(absl::StrCat("v", i), dtype);
    loop_vars.push_back(loop_var);
    if (stage.full) {
      values.push_back(Add(range.min, loop_var));
      const PrimExpr& extent = cached->shape()[i];
      parts.iter_vars.push_back(IterVar({IntImm(extent.dtype(), 0), extent},
                                        var, IterVarType::kDataPar));
      outer_indices.push_back(var);
    } else {
      values.push_back(loop_var);
      parts.iter_vars.push_back(IterVar({IntImm(dtype, 0), range.extent}, var,
                                        IterVarType::kDataPar));
      outer_indices.push_back(Add(range.min, var));
    }
    indices.push_back(var);
  }
  const std::vector<PrimExpr>& from = is_read ? outer_indices : indices;
  const std::vector<PrimExpr>& to = is_read ? indices : outer_indices;
  parts.name = absl::StrCat(cached->name(), "_", storage_scope);
  parts.reads = {PointRegion(stage.source, from)};
  parts.writes = {PointRegion(stage.target, to)};
  parts.body = BufferStore(stage.target, BufferLoad(stage.source, from), to);
  stage.block = Block(std::move(parts));
  stage.nest = BlockRealize(std::move(values), IntImm::Bool(true), stage.block);
  for (size_t i = loop_vars.size(); i-- > 0;) {
    stage.nest = SerialLoop(loop_vars[i], IntImm(kInt32, 0),
                            stage.region->region()[i].extent, stage.nest);
  }
}

// The region that `block` accesses, over the loops below the place.
BufferRegion Relaxed(const BufferRegion& region, const Site* block,
                     const Site* place) {
  const Buffer& buffer = region->buffer();
  Analyzer analyzer;
  const std::vector<IntSet> sets = EstimateRegionUpperBound(
      Substitute(region->region(), BindingsOf(block->realize.get())),
      LoopDomains(block->parent, place, buffer->scope()),
      block->realize->predicate(), analyzer);
  std::vector<Range> result;
  for (size_t i = 0; i < sets.size(); ++i) {
    result.push_back(
        sets[i].CoverRange({IntImm(kInt32, 0), buffer->shape()[i]}));
  }
  return BufferRegion(buffer, std::move(result));
}

bool AllReadersBelow(const ScheduleState& state, const Buffer& buffer,
                     const Site* scope, const Site* place) {
  for (const Site* block : ChildBlocks(state, scope)) {
    if (RegionOf(block->block()->reads(), buffer).defined() &&
        !IsAncestor(place, block)) {
      return false;
    }
  }
  return true;
}

absl::Status CheckRegionCover(const ScheduleState& state, const Site* scope,
                              const Buffer& buffer) {
  for (const Site* block : ChildBlocks(state, scope)) {
    if (RegionOf(block->block()->reads(), buffer).defined() &&
        !state.IsRegionCovered(block)) {
      return SiteError(
          block, absl::StrCat(block->Describe(), " reads of buffer ",
                              buffer->name(), " what is not written before"));
    }
  }
  return absl::OkStatus();
}

// The copy of a buffer in another memory, of the region only if it suffices.
Buffer CopyOf(const Buffer& buffer, const std::string& storage_scope,
              const CacheStage& stage) {
  Buffer copy = WithScope(buffer, storage_scope);
  if (stage.full) return copy;
  BufferNode::Parts parts = copy->parts();
  parts.shape.clear();
  for (const Range& range : stage.region->region()) {
    parts.shape.push_back(range.extent);
  }
  return Buffer(std::move(parts));
}

FlatHashSet<const Node*> ConsumersWithChildren(const ScheduleState& state,
                                               Sites consumers) {
  FlatHashSet<const Node*> result;
  for (const Site* consumer : consumers) {
    result.insert(consumer->stmt.get());
    for (const Site* child : ChildBlocks(state, consumer)) {
      result.insert(child->stmt.get());
    }
  }
  return result;
}

}  // namespace

namespace {

// A loop from the first common site of the two to their scope has several
// iterations.
bool RunAgain(const Site* a, const Site* b) {
  for (const Site* p = LowestCommonAncestor({{a, b}}); !p->is_block();
       p = p->parent) {
    if (!IsOne(p->loop()->extent())) return true;
  }
  return false;
}

// The region is not known to have elements outside of the buffer, which a
// condition in the writer leaves out and the copy does not.
absl::Status CheckNotOutside(const Site* writer, const BufferRegion& region) {
  const Buffer& buffer = region->buffer();
  Analyzer analyzer;
  for (size_t i = 0; i < region->region().size(); ++i) {
    const Range& range = region->region()[i];
    const PrimExpr after =
        Sub(Add(range.min, range.extent), buffer->shape()[i]);
    if (!analyzer.CanProveGreaterEqual(analyzer.Simplify(after), 1)) continue;
    return SiteError(writer,
                     absl::StrCat("the region that ", writer->Describe(),
                                  " writes is not in buffer ", buffer->name()));
  }
  return absl::OkStatus();
}

// The writer's condition, which the copy at `place` does not have, holds in all
// iterations of the loops there.
absl::Status CheckWritesIn(const Site* writer, const Site* place) {
  for (const Site* p = place; !p->is_block(); p = p->parent) {
    const VarNode* var = p->loop()->loop_var().get();
    if (!UsesVar(writer->realize->predicate(), var)) continue;
    return SiteError(
        writer,
        absl::StrCat(writer->Describe(), " has a condition on ", p->Describe(),
                     ": the copy would read what nothing writes"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<bool> ReadersAreBefore(const ScheduleState& state,
                                      const Site* scope, const Site* writer,
                                      const CacheStage& stage) {
  const Site* before = nullptr;
  bool all_before = !stage.consumers.empty();
  for (const Site* block : ChildBlocks(state, scope)) {
    if (block == writer ||
        !RegionOf(block->block()->reads(), stage.source).defined() ||
        (!stage.consumers.empty() &&
         !stage.consumers.contains(block->stmt.get()))) {
      continue;
    }
    if (IsBefore(state, writer, block)) {
      all_before = false;
    } else {
      before = block;
      // A loop around both runs the block after the writer, too.
      all_before &= !RunAgain(writer, block);
    }
  }
  if (before == nullptr) return false;
  if (all_before) return true;
  return SiteError(before, absl::StrCat(before->Describe(), " reads buffer ",
                                        stage.source->name(), " before ",
                                        writer->Describe(), " writes it"));
}

absl::StatusOr<Stmt> InsertAt(const Stmt& stmt, int position,
                              const Stmt& inserted) {
  Stmt body = stmt;
  const std::vector<Stmt> definitions = TakeDefinitions(body);
  std::vector<Stmt> seq = SeqOf(body);
  if (position < 0 || position > static_cast<int>(seq.size())) {
    return absl::InternalError(
        absl::StrCat("no statement can be inserted at ", position));
  }
  seq.insert(seq.begin() + position, inserted);
  return AroundDefinitions(definitions, FlatSeq(seq));
}

absl::StatusOr<const Site*> OnlyWriter(const ScheduleState& state,
                                       const Site* scope,
                                       const Buffer& buffer) {
  const BlockScope& s = state.ScopeOf(scope);
  const auto it = s.writers.find(buffer.get());
  if (it == s.writers.end()) return static_cast<const Site*>(nullptr);
  if (it->second.size() == 1) return it->second[0];
  return SiteError(it->second[1],
                   absl::StrCat(it->second.size(), " blocks write buffer ",
                                buffer->name(), ", the step requires one"));
}

void FindPlace(const ScheduleState& state, const Site* block, const Site* scope,
               bool is_read, CacheStage& stage) {
  FlatHashSet<const Node*> related;
  if (is_read && !stage.consumers.empty()) {
    related = stage.consumers;
  } else {
    for (const Dependency& d : state.ScopeOf(scope).DependenciesOf(block)) {
      if (d.kind != DependencyKind::kReadAfterWrite) continue;
      if (!is_read && stage.consumers.contains(d.dst->stmt.get())) continue;
      related.insert(d.dst->stmt.get());
    }
  }
  stage.place = scope;
  if (related.empty()) {
    Stmt body = scope->block()->body();
    TakeDefinitions(body);
    const auto* seq = body.As<SeqStmtNode>();
    stage.position = seq == nullptr ? 1 : static_cast<int>(seq->seq().size());
    return;
  }
  PlaceFinder finder(block, std::move(related));
  finder.Visit(scope->block()->body());
  stage.position = finder.position();
  if (finder.loop() != nullptr) stage.place = state.Find(finder.loop());
  // Before the first consumer; at the begin if none stands beside the block.
  if (stage.position < 0) stage.position = 0;
}

absl::StatusOr<Block> RewriteReaders(const Site* scope,
                                     const CacheStage& stage) {
  ReaderRewriter rewriter(stage, scope);
  Block result = rewriter.RewriteBlock(Block(scope->block()));
  BATON_RETURN_IF_ERROR(rewriter.status);
  return result;
}

absl::StatusOr<Block> RewriteWriter(const Site* scope, const Site* writer,
                                    const CacheStage& stage) {
  WriterRewriter rewriter(stage, scope, writer);
  Block result = rewriter.RewriteBlock(Block(scope->block()));
  BATON_RETURN_IF_ERROR(rewriter.status);
  return result;
}

absl::StatusOr<Block> CacheRead(ScheduleState& state, const Site* block,
                                int buffer_index,
                                const std::string& storage_scope,
                                Sites consumers) {
  BATON_RETURN_IF_ERROR(CheckStorageScope(storage_scope));
  BATON_ASSIGN_OR_RETURN(
      const BufferRegion accessed,
      AccessedRegion(block, buffer_index, AccessKind::kRead));
  const Buffer& buffer = accessed->buffer();
  BATON_ASSIGN_OR_RETURN(const Site* scope, ScopeRoot(state, block, false));
  BATON_RETURN_IF_ERROR(CheckRegionCover(state, scope, buffer));
  CacheStage stage;
  stage.source = buffer;
  stage.consumers = ConsumersWithChildren(state, consumers);
  BATON_ASSIGN_OR_RETURN(const Site* writer, OnlyWriter(state, scope, buffer));
  if (writer != nullptr) {
    BATON_ASSIGN_OR_RETURN(const bool are_before,
                           ReadersAreBefore(state, scope, writer, stage));
    if (are_before) writer = nullptr;
  }
  if (writer != nullptr) {
    BATON_ASSIGN_OR_RETURN(
        const BufferRegion region,
        UniqueRegion(writer, writer->block()->writes(), buffer));
    FindPlace(state, writer, scope, true, stage);
    BATON_RETURN_IF_ERROR(CheckWritesIn(writer, stage.place));
    stage.region = Relaxed(region, writer, stage.place);
    BATON_RETURN_IF_ERROR(CheckNotOutside(writer, stage.region));
  } else {
    stage.place = scope;
    stage.position = 0;
    BATON_ASSIGN_OR_RETURN(
        stage.region, UniqueRegion(scope, scope->block()->reads(), buffer));
    if (!stage.region.defined()) {
      std::vector<Range> region;
      for (const PrimExpr& extent : buffer->shape()) {
        region.push_back({IntImm(kInt32, 0), extent});
      }
      stage.region = BufferRegion(buffer, std::move(region));
    }
  }
  stage.full = !stage.place->is_block() ||
               !AllReadersBelow(state, buffer, scope, stage.place);
  stage.target = CopyOf(buffer, storage_scope, stage);
  stage.allocated = stage.target;
  MakeNest(storage_scope, stage);
  BATON_ASSIGN_OR_RETURN(const Block result, RewriteReaders(scope, stage));
  BATON_RETURN_IF_ERROR(state.Replace(scope, result));
  return stage.block;
}

absl::StatusOr<Block> CacheWrite(ScheduleState& state, const Site* block,
                                 int buffer_index,
                                 const std::string& storage_scope,
                                 Sites consumers) {
  BATON_RETURN_IF_ERROR(CheckStorageScope(storage_scope));
  BATON_ASSIGN_OR_RETURN(
      const BufferRegion accessed,
      AccessedRegion(block, buffer_index, AccessKind::kWrite));
  const Buffer& buffer = accessed->buffer();
  BATON_ASSIGN_OR_RETURN(const Site* scope, ScopeRoot(state, block, false));
  CacheStage stage;
  stage.target = buffer;
  stage.consumers = ConsumersWithChildren(state, consumers);
  BATON_RETURN_IF_ERROR(OnlyWriter(state, scope, buffer).status());
  BATON_ASSIGN_OR_RETURN(const BufferRegion region,
                         UniqueRegion(block, block->block()->writes(), buffer));
  BATON_RETURN_IF_ERROR(CheckDoesNotRead(state, block, buffer));
  FindPlace(state, block, scope, false, stage);
  stage.region = Relaxed(region, block, stage.place);
  BATON_RETURN_IF_ERROR(
      CheckWritesAll(block, region, stage.place, stage.region->region()));
  stage.full = !stage.place->is_block() ||
               !AllReadersBelow(state, buffer, scope, stage.place);
  stage.source = CopyOf(buffer, storage_scope, stage);
  stage.allocated = stage.source;
  MakeNest(storage_scope, stage);
  BATON_ASSIGN_OR_RETURN(const Block result,
                         RewriteWriter(scope, block, stage));
  BATON_RETURN_IF_ERROR(state.Replace(scope, result));
  return stage.block;
}

namespace {

// The place of a block itself: the loop around it, and its position there.
void FindOwnPlace(const Site* block, const Site* scope, CacheStage& stage) {
  // The first sequence around the block, else the innermost loop.
  stage.place = block->parent;
  stage.position = 0;
  for (const Site* p = block; p != scope; p = p->parent) {
    if (p->seq_index < 0) continue;
    stage.place = p->parent;
    stage.position = p->seq_index;
    return;
  }
}

// The copies beside the block run when it does, on elements that no loop between
// them and the block determines.
absl::Status CheckOwnPlace(const Site* block, const CacheStage& stage) {
  if (!IsOne(block->realize->predicate())) {
    return SiteError(
        block, absl::StrCat(block->Describe(),
                            " has a condition, which its copies would lack"));
  }
  for (const Site* p = block->parent; p != stage.place && !p->is_block();
       p = p->parent) {
    const VarNode* var = p->loop()->loop_var().get();
    for (const Range& range : stage.region->region()) {
      if (!UsesVar(range.min, var) && !UsesVar(range.extent, var)) {
        continue;
      }
      return SiteError(
          p, absl::StrCat("the copies are outside of ", p->Describe(),
                          ", on which the region of ", block->Describe(),
                          " depends"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<Block>> CacheInplace(
    ScheduleState& state, const Site* block, int buffer_index,
    const std::string& storage_scope) {
  BATON_RETURN_IF_ERROR(CheckStorageScope(storage_scope));
  BATON_ASSIGN_OR_RETURN(
      const BufferRegion accessed,
      AccessedRegion(block, buffer_index, AccessKind::kRead));
  const Buffer& buffer = accessed->buffer();
  BATON_ASSIGN_OR_RETURN(const Site* scope, ScopeRoot(state, block, false));
  BATON_RETURN_IF_ERROR(CheckRegionCover(state, scope, buffer));
  BATON_ASSIGN_OR_RETURN(const BufferRegion read,
                         UniqueRegion(block, block->block()->reads(), buffer));
  BATON_ASSIGN_OR_RETURN(const BufferRegion write,
                         UniqueRegion(block, block->block()->writes(), buffer));
  if (!write.defined()) {
    return SiteError(
        block,
        absl::StrCat(block->Describe(), " does not both read and write buffer ",
                     buffer->name()));
  }
  // The copies stand beside the block, where its variables are their values.
  const VarMap<PrimExpr> bindings = BindingsOf(block->realize.get());
  const auto outside = [&bindings](const BufferRegion& region) {
    return BufferRegion(region->buffer(),
                        Substitute(region->region(), bindings), region->span());
  };
  BATON_ASSIGN_OR_RETURN(ScheduleState next,
                         ScheduleState::Create(state.function()));
  std::vector<Block> result;
  CacheStage stage;
  stage.source = buffer;
  stage.target = WithScope(buffer, storage_scope);
  stage.allocated = stage.target;
  stage.consumers.insert(block->stmt.get());
  stage.region = outside(read);
  FindOwnPlace(block, scope, stage);
  BATON_RETURN_IF_ERROR(CheckOwnPlace(block, stage));
  MakeNest(storage_scope, stage);
  result.push_back(stage.block);
  BATON_ASSIGN_OR_RETURN(const Block with_read, RewriteReaders(scope, stage));
  BATON_RETURN_IF_ERROR(next.Replace(next.Find(scope->stmt.get()), with_read));

  // The block writes the buffer: the first copy left it as it was.
  const Node* const node = block->stmt.get();
  block = next.Find(node);
  if (block == nullptr) return absl::InternalError("the block is lost");
  BATON_ASSIGN_OR_RETURN(scope, ScopeRoot(next, block, false));
  std::swap(stage.source, stage.target);
  stage.allocated = {};
  stage.consumers.clear();
  stage.region = outside(write);
  FindOwnPlace(block, scope, stage);
  ++stage.position;
  MakeNest(storage_scope, stage);
  result.push_back(stage.block);
  BATON_ASSIGN_OR_RETURN(const Block with_write,
                         RewriteWriter(scope, block, stage));
  BATON_RETURN_IF_ERROR(next.Replace(scope, with_write));
  state = std::move(next);
  return result;
}

}  // namespace baton::tir
