// Steps that compute a block inside of the blocks that read it, or inside of
// the block that it reads.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/status_macros.h"
#include "baton/tir/analysis/access_region.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/int_set.h"
#include "baton/tir/arith/iter_map.h"
#include "baton/tir/arith/pattern.h"
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

constexpr char kAutoCopy[] = "auto_copy";

// The store of a body that is one store, else null.
const BufferStoreNode* StoreOf(const Stmt& body) {
  return body.As<BufferStoreNode>();
}

// Rewrites a scope without a block and without the buffer that it wrote or
// read.
class Inliner : public Rewriter {
 public:
  Inliner(Buffer buffer, const BlockNode* inlined, const BlockNode* scope,
          Removal removal)
      : buffer_(std::move(buffer)),
        store_(StoreOf(inlined->body())),
        scope_(scope),
        removal_(std::move(removal)) {
    AddBuffers(inlined);
  }

  // True if the rewritten scope had another use of the buffer than loads and
  // stores of its elements.
  bool has_opaque_access() const { return has_opaque_access_; }
  Block RewriteScope() { return RewriteBlock(Block(scope_)); }

 protected:
  PrimExpr VisitVar(const VarNode* var) override {
    has_opaque_access_ |= buffer_->data().get() == var;
    return Var(var);
  }
  Stmt VisitFor(const ForNode* loop) override {
    if (loop == removal_.before.get()) loop = removal_.after.As<ForNode>();
    return Rewriter::VisitFor(loop);
  }
  Stmt VisitBlock(const BlockNode* block) override {
    for (const MatchRegion& match : block->match_buffers()) {
      has_opaque_access_ |= match->source()->buffer() == buffer_;
    }
    AddBuffers(block);
    const bool is_scope = block == scope_;
    const BlockNode* source =
        block == removal_.before.get() ? removal_.after.As<BlockNode>() : block;
    const Stmt rewritten = Rewriter::VisitBlock(source);
    BlockNode::Parts parts = rewritten.As<BlockNode>()->parts();
    if (is_scope) {
      parts.alloc_buffers.erase(std::remove(parts.alloc_buffers.begin(),
                                            parts.alloc_buffers.end(), buffer_),
                                parts.alloc_buffers.end());
    } else {
      if (!RegionOf(parts.reads, buffer_).defined() &&
          !RegionOf(parts.writes, buffer_).defined()) {
        return rewritten;
      }
      ReadWriteRegions regions =
          FindBlockReadWriteRegions(Block(rewritten.As<BlockNode>()), buffers_);
      parts.reads = std::move(regions.reads);
      parts.writes = std::move(regions.writes);
    }
    return Block(std::move(parts), block->span());
  }

  Buffer buffer_;
  const BufferStoreNode* store_;

 private:
  void AddBuffers(const BlockNode* block) {
    for (const BufferRegion& region : block->reads()) Note(region->buffer());
    for (const BufferRegion& region : block->writes()) Note(region->buffer());
    for (const Buffer& buffer : block->alloc_buffers()) Note(buffer);
  }
  void Note(const Buffer& buffer) { buffers_.Set(buffer->data(), buffer); }

  const BlockNode* scope_;
  Removal removal_;
  BuffersByPointer buffers_;
  bool has_opaque_access_ = false;
};

// Puts what a block stores in the place of loads from its buffer.
class ComputeInliner : public Inliner {
 public:
  using Inliner::Inliner;

  // True if the block stores one element each for its variables' values, so
  // that indices give the values.
  bool Analyze(const BlockNode* producer) {
    if (store_ == nullptr) return false;
    value_ = store_->value();
    const auto iters = producer->iter_vars();
    const auto indices = store_->indices();
    if (iters.size() == indices.size()) {
      std::vector<Var> vars;
      for (size_t i = 0; i < iters.size(); ++i) {
        const IterVar& iter = iters[i];
        if (indices[i] == iter->var() ||
            (Equals(indices[i], 0) && Equals(iter->min(), 0) &&
             Equals(iter->extent(), 1))) {
          vars.push_back(iter->var());
        } else {
          break;
        }
      }
      if (vars.size() == iters.size()) {
        vars_ = std::move(vars);
        return true;
      }
    }
    VarRanges domains;
    for (const IterVar& iter : iters) {
      domains.Set(iter->var(), Range{iter->min(), iter->extent()});
    }
    const IterMapResult map =
        DetectIterMap(indices, domains, IntImm::Bool(true),
                      IterMapLevel::kBijective, analyzer_, false);
    if (map.indices.size() != indices.size()) return false;
    std::vector<PrimExpr> outputs;
    for (size_t i = 0; i < indices.size(); ++i) {
      vars_.emplace_back(absl::StrCat("ph_", i), indices[i].dtype());
      outputs.push_back(vars_.back());
    }
    VarMap<PrimExpr> inverse = InverseAffineIterMap(map.indices, outputs);
    for (const IterVar& iter : iters) {
      if (iter->min().As<IntImmNode>() != nullptr &&
          Equals(iter->extent(), 1)) {
        inverse.Set(iter->var(), iter->min());
      }
    }
    value_ = Substitute(value_, inverse);
    return true;
  }

 protected:
  PrimExpr VisitBufferLoad(const BufferLoadNode* node) override {
    const PrimExpr rewritten = Inliner::VisitBufferLoad(node);
    const auto* load = rewritten.As<BufferLoadNode>();
    if (load->buffer() != buffer_) return rewritten;
    VarMap<PrimExpr> values;
    for (size_t i = 0; i < vars_.size(); ++i) {
      values.Set(vars_[i], load->indices()[i]);
    }
    return Substitute(value_, values);
  }

 private:
  bool Equals(const PrimExpr& e, int64_t value) {
    return analyzer_.CanProveEqual(e, IntImm(e.dtype(), value));
  }

  Analyzer analyzer_;
  std::vector<Var> vars_;
  PrimExpr value_;
};

// Collects loads from a buffer.
class LoadCollector : public Visitor {
 public:
  explicit LoadCollector(const Buffer& buffer) : buffer_(buffer) {}
  std::vector<const BufferLoadNode*> loads;

 protected:
  void VisitBufferLoad(const BufferLoadNode* load) override {
    if (load->buffer() == buffer_) loads.push_back(load);
    Visitor::VisitBufferLoad(load);
  }

 private:
  const Buffer& buffer_;
};

// Stores to the consumer's buffer where the producer stored to its own.
class ReverseInliner : public Inliner {
 public:
  ReverseInliner(Buffer buffer, const BlockNode* producer,
                 const BlockRealizeNode* consumer, const BlockNode* scope,
                 Removal removal)
      : Inliner(std::move(buffer), consumer->block().get(), scope,
                std::move(removal)),
        producer_(producer),
        consumer_(consumer->block().get()) {
    for (const IterVar& iter : consumer_->iter_vars()) {
      const PrimExpr end = Add(iter->min(), iter->extent());
      in_bounds_ = And(in_bounds_,
                       And(MakeBinary(BinaryOp::kGE, iter->var(), iter->min()),
                           MakeBinary(BinaryOp::kLT, iter->var(), end)));
    }
  }

  bool Analyze(const BlockRealizeNode* consumer) {
    if (!IsOne(consumer->predicate()) || store_ == nullptr) return false;
    LoadCollector collector(buffer_);
    for (const PrimExpr& index : store_->indices()) collector.Visit(index);
    collector.Visit(store_->value());
    if (collector.loads.empty()) return false;
    VarRanges domains;
    for (const IterVar& iter : consumer_->iter_vars()) {
      domains.Set(iter->var(), Range{iter->min(), iter->extent()});
      if (IsOne(iter->extent()) && iter->min().As<IntImmNode>() != nullptr) {
        values_.Set(iter->var(), iter->min());
      }
    }
    const auto indices = collector.loads[0]->indices();
    for (const BufferLoadNode* load : collector.loads) {
      for (size_t i = 0; i < indices.size(); ++i) {
        if (!ExprDeepEqual(load->indices()[i], indices[i])) return false;
      }
    }
    const IterMapResult map =
        DetectIterMap(indices, domains, IntImm::Bool(true),
                      IterMapLevel::kNoCheck, analyzer_, false);
    if (map.indices.empty()) return false;
    const BufferStoreNode* producer_store = ProducerStore();
    if (producer_store == nullptr) return false;
    for (const auto& [var, value] :
         InverseAffineIterMap(map.indices, producer_store->indices())) {
      values_.Set(var, value);
    }
    return IsConsumerCovered();
  }

 protected:
  Stmt VisitBlock(const BlockNode* block) override {
    const Stmt rewritten = Inliner::VisitBlock(block);
    if (block != producer_) return rewritten;
    return WithPredicate(rewritten.As<BlockNode>());
  }
  Stmt VisitBufferStore(const BufferStoreNode* node) override {
    const Stmt rewritten = Inliner::VisitBufferStore(node);
    const auto* store = rewritten.As<BufferStoreNode>();
    if (store->buffer() != buffer_) return rewritten;
    Substituter substituter(buffer_, values_, store->value());
    return substituter.Rewrite(BufferStore(store_));
  }

 private:
  class Substituter : public Rewriter {
   public:
    Substituter(const Buffer& buffer, const VarMap<PrimExpr>& values,
                PrimExpr loaded)
        : buffer_(buffer), values_(values), loaded_(std::move(loaded)) {}

   protected:
    PrimExpr VisitVar(const VarNode* var) override {
      const PrimExpr* value = values_.Find(var);
      if (value != nullptr) return *value;
      return Var(var);
    }
    PrimExpr VisitBufferLoad(const BufferLoadNode* node) override {
      if (node->buffer() == buffer_) return loaded_;
      return Rewriter::VisitBufferLoad(node);
    }

   private:
    const Buffer& buffer_;
    const VarMap<PrimExpr>& values_;
    PrimExpr loaded_;
  };

  static PrimExpr And(PrimExpr a, PrimExpr b) {
    return MakeBinary(BinaryOp::kAnd, std::move(a), std::move(b));
  }

  // The loops of a block that copies automatically.
  std::vector<const ForNode*> CopyLoops() const {
    std::vector<const ForNode*> loops;
    if (!producer_->annotations().Find(kAutoCopy).defined()) return loops;
    for (const auto* loop = producer_->body().As<ForNode>(); loop != nullptr;
         loop = loop->body().As<ForNode>()) {
      loops.push_back(loop);
    }
    return loops;
  }

  const BufferStoreNode* ProducerStore() const {
    if (const auto* branch = producer_->body().As<IfThenElseNode>()) {
      if (branch->else_case().defined()) return nullptr;
      return StoreOf(branch->then_case());
    }
    const std::vector<const ForNode*> loops = CopyLoops();
    return StoreOf(loops.empty() ? producer_->body() : loops.back()->body());
  }

  // False if the consumer's variables take more values than the producer gives.
  bool IsConsumerCovered() {
    Domains domains;
    for (const IterVar& iter : producer_->iter_vars()) {
      domains.Set(iter->var(),
                  IntSet::FromMinExtent(iter->min(), iter->extent()));
    }
    for (const IterVar& iter : consumer_->iter_vars()) {
      const PrimExpr* value = values_.Find(iter->var());
      if (value == nullptr) return false;
      const IntSet set = EvalSet(*value, domains);
      const PrimExpr last = Sub(Add(iter->min(), iter->extent()),
                                IntImm(iter->extent().dtype(), 1));
      if (set.HasLowerBound() && analyzer_.CanProve(MakeBinary(
                                     BinaryOp::kGT, set.min(), iter->min()))) {
        return false;
      }
      if (set.HasUpperBound() &&
          analyzer_.CanProve(MakeBinary(BinaryOp::kLT, set.max(), last))) {
        return false;
      }
    }
    return true;
  }

  // The producer, which stores where the consumer's variables are in range.
  Block WithPredicate(const BlockNode* producer) {
    for (const IterVar& iter : producer->iter_vars()) {
      analyzer_.Bind(iter->var(), Range{iter->min(), iter->extent()});
    }
    for (const ForNode* loop : CopyLoops()) {
      analyzer_.Bind(loop->loop_var(),
                     Range{IntImm(loop->extent().dtype(), 0), loop->extent()});
    }
    PrimExpr predicate = analyzer_.Simplify(
        Substituter(buffer_, values_, {}).Rewrite(in_bounds_));
    if (IsOne(predicate)) return Block(producer);
    BlockNode::Parts parts = producer->parts();
    if (const auto* branch = producer->body().As<IfThenElseNode>()) {
      if (!ExprDeepEqual(predicate, analyzer_.Simplify(branch->condition()))) {
        predicate = analyzer_.Simplify(And(predicate, branch->condition()));
      }
      parts.body = IfThenElse(predicate, branch->then_case());
    } else {
      parts.body = IfThenElse(predicate, parts.body);
    }
    return Block(std::move(parts), producer->span());
  }

  const BlockNode* producer_;
  const BlockNode* consumer_;
  Analyzer analyzer_;
  VarMap<PrimExpr> values_;  // of the consumer's variables
  PrimExpr in_bounds_ = IntImm::Bool(true);
};

// Collects the blocks that write a buffer and have no block in them that does.
class WriterCollector : public Visitor {
 public:
  explicit WriterCollector(const Buffer& buffer) : buffer_(buffer) {}
  std::vector<const BlockNode*> writers;

 protected:
  void VisitBlock(const BlockNode* block) override {
    const size_t before = writers.size();
    Visitor::VisitBlock(block);
    if (writers.size() != before) return;
    if (RegionOf(block->writes(), buffer_).defined()) writers.push_back(block);
  }

 private:
  const Buffer& buffer_;
};

absl::Status CheckNoInit(const Site* block) {
  if (!block->block()->init().defined()) return absl::OkStatus();
  return SiteError(block, absl::StrCat(block->Describe(),
                                       " has T.init(): a reduction cannot be "
                                       "inlined"));
}

absl::Status OpaqueAccess(const Site* block, const Buffer& buffer) {
  return SiteError(block, absl::StrCat("buffer ", buffer->name(),
                                       " is used otherwise than by its "
                                       "elements, or a block matches it"));
}

// The only buffer that the block reads and blocks of the scope write.
absl::StatusOr<Buffer> SingleRead(const ScheduleState& state, const Site* block,
                                  const Site* scope) {
  const BlockScope& s = state.ScopeOf(scope);
  Buffer result;
  for (const BufferRegion& read : block->block()->reads()) {
    const Buffer& buffer = read->buffer();
    if (buffer == result || !s.writers.contains(buffer.get())) continue;
    if (result.defined()) {
      return SiteError(block, absl::StrCat(block->Describe(),
                                           " reads several buffers that "
                                           "blocks of its scope write"));
    }
    result = buffer;
  }
  if (result.defined()) return result;
  return SiteError(block, absl::StrCat(block->Describe(),
                                       " reads no buffer that a block of its "
                                       "scope writes"));
}

}  // namespace

absl::Status ComputeInline(ScheduleState& state, const Site* block) {
  BATON_RETURN_IF_ERROR(CheckNoInit(block));
  if (block->block()->writes().size() != 1) {
    return SiteError(block, absl::StrCat(block->Describe(), " writes ",
                                         block->block()->writes().size(),
                                         " regions, not one"));
  }
  const Buffer buffer = block->block()->writes()[0]->buffer();
  BATON_ASSIGN_OR_RETURN(const Site* scope, ScopeRoot(state, block, true));
  BATON_RETURN_IF_ERROR(CheckNotOutputBlock(block, scope));
  BATON_RETURN_IF_ERROR(CheckCompleteBlock(state, block, scope));
  BATON_ASSIGN_OR_RETURN(Removal removal, RemovalOf(block));
  ComputeInliner inliner(buffer, block->block(), scope->block(),
                         std::move(removal));
  if (!inliner.Analyze(block->block())) {
    return SiteError(block,
                     absl::StrCat("the body of ", block->Describe(),
                                  " is not one store A[f(i, j, ...)] = "
                                  "g(i, j, ...) with a bijective affine f"));
  }
  const Block result = inliner.RewriteScope();
  if (inliner.has_opaque_access()) return OpaqueAccess(block, buffer);
  return state.Replace(scope, result);
}

absl::Status ReverseComputeInline(ScheduleState& state, const Site* block) {
  BATON_RETURN_IF_ERROR(CheckNoInit(block));
  BATON_ASSIGN_OR_RETURN(const Site* scope, ScopeRoot(state, block, true));
  BATON_ASSIGN_OR_RETURN(const Buffer buffer, SingleRead(state, block, scope));
  BATON_RETURN_IF_ERROR(CheckCompleteBlock(state, block, scope));
  WriterCollector collector(buffer);
  collector.Visit(scope->stmt);
  const Site* producer = collector.writers.size() == 1
                             ? state.Find(collector.writers[0])
                             : nullptr;
  if (producer == nullptr) {
    return SiteError(block, absl::StrCat(block->Describe(),
                                         " must have one "
                                         "producer, it has ",
                                         collector.writers.size()));
  }
  BATON_RETURN_IF_ERROR(CheckNotOutputBlock(producer, scope));
  BATON_RETURN_IF_ERROR(CheckRunsInLoops(block, scope));
  if (producer->block()->init().defined() ||
      RegionOf(producer->block()->reads(), buffer).defined()) {
    return SiteError(producer,
                     absl::StrCat(producer->Describe(), " computes buffer ",
                                  buffer->name(), " in more than one step"));
  }
  for (const Site& site : state.sites()) {
    if (site.is_block() && &site != block &&
        RegionOf(site.block()->reads(), buffer).defined()) {
      return SiteError(
          &site,
          absl::StrCat(site.Describe(), " reads buffer ", buffer->name(),
                       ", which is inlined in ", block->Describe(), " only"));
    }
  }
  BATON_ASSIGN_OR_RETURN(Removal removal, RemovalOf(block));
  ReverseInliner inliner(buffer, producer->block(), block->realize.get(),
                         scope->block(), std::move(removal));
  if (!inliner.Analyze(block->realize.get())) {
    return SiteError(
        block,
        absl::StrCat("the body of ", block->Describe(),
                     " is not one store B[...] = g(A[f(i, j, ...)], i, j, ...)"
                     " without a predicate, with an affine f of which the "
                     "producer gives all values"));
  }
  const Block result = inliner.RewriteScope();
  if (inliner.has_opaque_access()) return OpaqueAccess(block, buffer);
  return state.Replace(scope, result);
}

}  // namespace baton::tir
