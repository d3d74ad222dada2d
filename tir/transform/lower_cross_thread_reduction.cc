#include "baton/tir/transform/lower_cross_thread_reduction.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/ir/error_at.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/tir/analysis/reduction.h"
#include "baton/tir/analysis/scopes.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/buffer_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/intrinsics.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/tir/transform/te_schedule.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

const IntImm& Zero() {
  static const auto& zero = *new IntImm(kInt32, 0);
  return zero;
}

bool IsLocal(const Buffer& buffer) { return buffer->scope() == "local"; }

ThreadScope ScopeOf(const ForNode* loop) {
  return ThreadScope(loop->thread()->thread_tag());
}

// One buffer of one element for each of `buffers`.
std::vector<Buffer> MakeScratch(const std::vector<Buffer>& buffers,
                                const char* prefix) {
  std::vector<Buffer> result;
  for (const Buffer& buffer : buffers) {
    const std::string name = absl::StrCat(prefix, "_thread_", buffer->name());
    BufferNode::Parts parts;
    parts.name = name;
    parts.data = Var::Pointer(name, buffer.dtype(), "local", buffer->span());
    parts.dtype = buffer.dtype();
    parts.shape = {IntImm(kInt32, 1)};
    parts.strides = {IntImm(kInt32, 1)};
    result.emplace_back(std::move(parts), buffer->span());
  }
  return result;
}

std::vector<BufferRegion> FirstElements(const std::vector<Buffer>& buffers) {
  std::vector<BufferRegion> result;
  for (const Buffer& buffer : buffers) {
    result.emplace_back(buffer,
                        std::vector<Range>{{Zero(), IntImm(kInt32, 1)}});
  }
  return result;
}

// Replaces accesses of buffers by those of the first element of others.
class ScratchAccess final : public Rewriter {
 public:
  ScratchAccess(const std::vector<Buffer>& from,
                const std::vector<Buffer>& to) {
    for (size_t i = 0; i < from.size(); ++i) buffers_.Set(from[i], to[i]);
  }
  PrimExpr VisitBufferLoad(const BufferLoadNode* load) override {
    const Buffer* to = buffers_.Find(load->buffer());
    return to == nullptr ? BufferLoad(load)
                         : BufferLoad(*to, {Zero()}, load->span());
  }
  Stmt VisitBufferStore(const BufferStoreNode* store) override {
    const Buffer* to = buffers_.Find(store->buffer());
    if (to == nullptr) return Rewriter::VisitBufferStore(store);
    return BufferStore(*to, Rewrite(store->value()), {Zero()}, store->span());
  }

 private:
  BufferMap buffers_;
};

// Copies the loops around a block without those that are bound to threads, with
// `inner` in its place. Null, where `inner` is, if nothing remains.
class InThreadMaker final : public Rewriter {
 public:
  InThreadMaker(const BlockRealizeNode* realize, Stmt inner)
      : realize_(realize), inner_(std::move(inner)) {}

  Stmt VisitBlockRealize(const BlockRealizeNode* realize) override {
    return realize == realize_ ? inner_ : BlockRealize(realize);
  }
  Stmt VisitFor(const ForNode* loop) override {
    Stmt body = Rewrite(loop->body());
    if (!body.defined() || loop->thread().defined()) return body;
    ForNode::Parts parts = loop->parts();
    parts.body = std::move(body);
    return For(std::move(parts), loop->span());
  }
  Stmt VisitSeqStmt(const SeqStmtNode* seq) override {
    std::vector<Stmt> result;
    for (const Stmt& stmt : seq->seq()) {
      AppendFlattened(Rewrite(stmt), result);
    }
    return result.empty() ? Stmt() : MakeSeq(std::move(result));
  }

 private:
  const BlockRealizeNode* realize_;
  const Stmt inner_;
};

BlockNode::Parts MakeParts(std::string name, std::vector<BufferRegion> reads,
                           std::vector<BufferRegion> writes, Stmt body) {
  return {.name = std::move(name),
          .iter_vars = {},
          .reads = std::move(reads),
          .writes = std::move(writes),
          .alloc_buffers = {},
          .match_buffers = {},
          .annotations = {},
          .init = {},
          .body = std::move(body)};
}

// The blocks that replace a reduction.
class ReductionLowering {
 public:
  ReductionLowering(const BlockRealizeNode* realize, Reduction reduction,
                    const std::vector<const ForNode*>& loops, bool in_thread)
      : realize_(realize),
        block_(realize->block().get()),
        reduction_(std::move(reduction)),
        loops_(loops) {
    for (const BufferStore& update : reduction_.updates) {
      buffers_.push_back(update->buffer());
    }
    cross_ = MakeScratch(buffers_, "cross");
    if (in_thread) own_ = MakeScratch(buffers_, "in");
  }

  const std::vector<Buffer>& buffers() const { return buffers_; }
  // The new buffers: of results of all threads, and of one thread.
  std::vector<Buffer> Scratch() const {
    std::vector<Buffer> result = cross_;
    result.insert(result.end(), own_.begin(), own_.end());
    return result;
  }

  Stmt Lower() const {
    std::vector<Stmt> seq;
    if (!own_.empty()) seq.push_back(InitOwn());
    AppendFlattened(ReduceOwn(), seq);
    seq.push_back(ReduceCross());
    seq.push_back(WriteBack());
    Stmt result = MakeSeq(std::move(seq));
    for (size_t i = loops_.size(); i-- > 0;) {
      if (!loops_[i]->thread().defined()) continue;
      ForNode::Parts parts = loops_[i]->parts();
      parts.body = std::move(result);
      result = For(std::move(parts), loops_[i]->span());
    }
    return result;
  }

 private:
  std::string Name(const char* suffix) const {
    return absl::StrCat(block_->name(), suffix);
  }
  Stmt Realize(BlockNode::Parts parts) const {
    return BlockRealize({}, IntImm::Bool(true),
                        Block(std::move(parts), block_->span()),
                        realize_->span());
  }

  Stmt InitOwn() const {
    std::vector<Stmt> stores;
    for (size_t i = 0; i < own_.size(); ++i) {
      stores.push_back(
          BufferStore(own_[i], reduction_.reducer->identity()[i], {Zero()}));
    }
    return Realize(MakeParts(Name("_in_thread_init"), {}, FirstElements(own_),
                             MakeSeq(std::move(stores))));
  }

  Stmt ReduceOwn() const {
    Stmt inner;
    if (!own_.empty()) {
      BlockNode::Parts parts = block_->parts();
      parts.writes = FirstElements(own_);
      parts.name = Name("_in_thread");
      parts.body = ScratchAccess(buffers_, own_).Rewrite(parts.body);
      parts.init = Stmt();
      inner = BlockRealize(
          {realize_->iter_values().begin(), realize_->iter_values().end()},
          realize_->predicate(), Block(std::move(parts), block_->span()),
          realize_->span());
    }
    return InThreadMaker(realize_, std::move(inner)).Rewrite(For(loops_[0]));
  }

  Stmt ReduceCross() const {
    std::vector<PrimExpr> args = {
        IntImm(DType::UInt(32), static_cast<int64_t>(buffers_.size()))};
    if (own_.empty()) {
      args.insert(args.end(), reduction_.rhs.begin(), reduction_.rhs.end());
    } else {
      for (const Buffer& buffer : own_) {
        args.push_back(BufferLoad(buffer, {Zero()}));
      }
    }
    args.push_back(IntImm::Bool(true));
    for (const Buffer& buffer : cross_) {
      args.push_back(BufferLoad(buffer, {Zero()}));
    }
    for (const ForNode* loop : loops_) {
      if (loop->thread().defined()) args.push_back(loop->loop_var());
    }
    // A null pointer.
    const PrimExpr null =
        Call(kHandle, IntrinsicOp("reinterpret"), {IntImm(DType::UInt(64), 0)});
    Stmt body = AttrStmt(
        reduction_.reducer, "reduce_scope", null,
        Evaluate(CallIntrinsic("tvm_thread_allreduce", std::move(args))));
    BlockNode::Parts parts =
        MakeParts(Name("_cross_thread"), FirstElements(own_),
                  FirstElements(cross_), std::move(body));
    if (!own_.empty()) return Realize(std::move(parts));
    parts.iter_vars.assign(block_->iter_vars().begin(),
                           block_->iter_vars().end());
    parts.reads.assign(block_->reads().begin(), block_->reads().end());
    return BlockRealize(
        {realize_->iter_values().begin(), realize_->iter_values().end()},
        IntImm::Bool(true), Block(std::move(parts), block_->span()),
        realize_->span());
  }

  Stmt WriteBack() const {
    std::vector<IterVar> vars;
    std::vector<PrimExpr> values;
    NodeMap<PrimExpr> renamed;
    for (size_t i = 0; i < block_->iter_vars().size(); ++i) {
      const IterVar& var = block_->iter_vars()[i];
      if (var->iter_type() == IterVarType::kCommReduce) continue;
      const Var copy(var->var()->name(), var.dtype(), var->var()->span());
      vars.emplace_back(Range{var->min(), var->extent()}, copy,
                        var->iter_type(), var->thread_tag(), var->span());
      values.push_back(realize_->iter_values()[i]);
      renamed[var->var().get()] = copy;
    }
    std::vector<Range> region;
    for (const Range& range : block_->writes()[0]->region()) {
      region.push_back(
          {Substitute(range.min, renamed), Substitute(range.extent, renamed)});
    }
    std::vector<PrimExpr> indices;
    for (const PrimExpr& index : reduction_.updates[0]->indices()) {
      indices.push_back(Substitute(index, renamed));
    }
    std::vector<Stmt> stores;
    std::vector<BufferRegion> writes;
    for (size_t i = 0; i < buffers_.size(); ++i) {
      stores.push_back(
          BufferStore(buffers_[i], BufferLoad(cross_[i], {Zero()}), indices));
      writes.emplace_back(buffers_[i], region);
    }
    BlockNode::Parts parts =
        MakeParts(Name("_write_back"), FirstElements(cross_), std::move(writes),
                  MakeSeq(std::move(stores)));
    parts.iter_vars = std::move(vars);
    return BlockRealize(std::move(values), WriteBackPredicate(),
                        Block(std::move(parts), block_->span()),
                        realize_->span());
  }

  // The conjuncts of the predicate without loops of the reduction; where the
  // result is not local, in the first thread only.
  PrimExpr WriteBackPredicate() const {
    PrimExpr result = IntImm::Bool(true);
    const auto add = [&result](const PrimExpr& e) {
      result = MakeBinary(BinaryOp::kAnd, result, e);
    };
    PostOrderVisit(realize_->predicate(), [&](const PrimExpr& e) {
      const BinaryNode* both = AsBinary(e, BinaryOp::kAnd);
      if (both == nullptr) return;
      for (const PrimExpr& part : {both->a(), both->b()}) {
        if (AsBinary(part, BinaryOp::kAnd) != nullptr) continue;
        const bool is_reduction = UsesVar(part, [this](const VarNode* var) {
          return std::any_of(loops_.begin(), loops_.end(),
                             [var](const ForNode* loop) {
                               return loop->loop_var().get() == var;
                             });
        });
        if (!is_reduction) add(part);
      }
    });
    if (IsLocal(buffers_[0])) return result;
    for (const ForNode* loop : loops_) {
      if (!loop->thread().defined()) continue;
      add(MakeBinary(BinaryOp::kEQ, loop->loop_var(),
                     IntImm(loop->loop_var().dtype(), 0)));
    }
    return result;
  }

  const BlockRealizeNode* realize_;
  const BlockNode* block_;
  const Reduction reduction_;
  const std::vector<const ForNode*>& loops_;
  std::vector<Buffer> buffers_;
  std::vector<Buffer> cross_;  // results of all threads
  std::vector<Buffer> own_;    // results of one thread; may be empty
};

class CrossThreadReducer final : public Rewriter {
 public:
  absl::StatusOr<PrimFunc> Lower(const PrimFunc& function) {
    PrimFunc result = RewriteBody(function);
    BATON_RETURN_IF_ERROR(status_);
    return result;
  }

#define BATON_TIR_PATH_HOOK(Name)                     \
  Stmt Visit##Name(const Name##Node* node) override { \
    path_.push_back(node);                            \
    Stmt result = Rewriter::Visit##Name(node);        \
    path_.pop_back();                                 \
    return result;                                    \
  }
  BATON_TIR_PATH_HOOK(LetStmt)
  BATON_TIR_PATH_HOOK(AttrStmt)
  BATON_TIR_PATH_HOOK(AssertStmt)
  BATON_TIR_PATH_HOOK(While)
  BATON_TIR_PATH_HOOK(Allocate)
  BATON_TIR_PATH_HOOK(AllocateConst)
  BATON_TIR_PATH_HOOK(DeclBuffer)
  BATON_TIR_PATH_HOOK(IfThenElse)
#undef BATON_TIR_PATH_HOOK

  Stmt VisitFor(const ForNode* loop) override {
    bool is_block_idx = false;
    bool is_thread_idx = false;
    if (loop->for_kind() == ForKind::kThreadBinding) {
      is_block_idx = IsBlockIdx(ScopeOf(loop));
      is_thread_idx = IsThreadIdx(ScopeOf(loop));
    }
    path_.push_back(loop);
    loops_.push_back(loop);
    ranges_.Set(loop->loop_var(), {loop->min(), loop->extent()});
    block_idx_depth_ += is_block_idx ? 1 : 0;
    thread_idx_depth_ += is_thread_idx ? 1 : 0;
    Stmt result = Rewriter::VisitFor(loop);
    block_idx_depth_ -= is_block_idx ? 1 : 0;
    thread_idx_depth_ -= is_thread_idx ? 1 : 0;
    ranges_.Erase(loop->loop_var().get());
    loops_.pop_back();
    path_.pop_back();
    if (is_block_idx ||
        (is_thread_idx && thread_idx_depth_ == 0 && block_idx_depth_ == 0)) {
      threads_of_.clear();
    }
    const auto found = replaced_.find(loop);
    return found == replaced_.end() ? result : found->second;
  }

  Stmt VisitBlock(const BlockNode* block) override {
    path_.push_back(block);
    blocks_.push_back(block);
    VarRanges ranges = std::exchange(ranges_, {});
    const Stmt changed = Rewriter::VisitBlock(block);
    ranges_ = std::move(ranges);
    blocks_.pop_back();
    path_.pop_back();
    const auto found = new_buffers_.find(block);
    if (found == new_buffers_.end()) return changed;
    BlockNode::Parts parts = changed.As<BlockNode>()->parts();
    parts.alloc_buffers.insert(parts.alloc_buffers.end(), found->second.begin(),
                               found->second.end());
    return Block(std::move(parts), block->span());
  }

  Stmt VisitBlockRealize(const BlockRealizeNode* realize) override {
    const std::vector<const ForNode*> loops = ReductionLoops(realize);
    if (!loops.empty()) {
      has_reduction_ = true;
      const absl::Status status = Replace(realize, loops);
      if (status_.ok()) status_ = status;
      return BlockRealize(realize);  // its outermost loop is replaced
    }
    if (has_reduction_) {
      const std::vector<Thread> threads = FreeThreads(realize);
      if (!threads.empty()) return InFirstThread(realize, threads);
    }
    path_.push_back(realize);
    Stmt result = Rewriter::VisitBlockRealize(realize);
    path_.pop_back();
    return result;
  }

 private:
  struct Thread {
    int axis;
    Range range;
  };

  // The loops of a reduction over threads, outermost first; none if the block
  // is no such reduction.
  std::vector<const ForNode*> ReductionLoops(const BlockRealizeNode* realize) {
    const BlockNode* block = realize->block().get();
    if (blocks_.empty() || !block->init().defined() ||
        !IsAffineBinding(realize, ranges_, analyzer_) ||
        !HasOnlySpatialAndReduceVars(block) || !IsOnlyWriter(block) ||
        ReduceVarsIndexOutput(block)) {
      return {};
    }
    const std::vector<Var> vars = VarsOfReduceBindings(realize);
    std::vector<const ForNode*> loops;
    bool over_threads = false;
    for (const ForNode* loop : loops_) {
      if (std::find(vars.begin(), vars.end(), loop->loop_var()) == vars.end()) {
        continue;
      }
      loops.push_back(loop);
      over_threads = over_threads || loop->thread().defined();
    }
    if (!over_threads) loops.clear();
    return loops;
  }

  // True if no other block below the one around writes to what `block` writes.
  bool IsOnlyWriter(const BlockNode* block) {
    NodeMap<int>& counts = WriterCounts(blocks_.back());
    for (const BufferRegion& region : block->writes()) {
      const int* count = counts.Find(region->buffer().get());
      if (count != nullptr && *count != 1) return false;
    }
    return true;
  }

  // For each buffer, how many regions the outermost blocks in `scope` write.
  NodeMap<int>& WriterCounts(const BlockNode* scope) {
    class Counter final : public Visitor {
     public:
      explicit Counter(NodeMap<int>& counts) : counts_(counts) {}
      void VisitBlock(const BlockNode* block) override {
        for (const BufferRegion& region : block->writes()) {
          ++counts_[region->buffer().get()];
        }
      }

     private:
      NodeMap<int>& counts_;
    };
    NodeMap<int>& counts = writer_counts_[scope];
    if (counts.empty()) Counter(counts).Visit(scope->body());
    return counts;
  }

  absl::Status Replace(const BlockRealizeNode* realize,
                       const std::vector<const ForNode*>& loops) {
    const BlockNode* block = realize->block().get();
    const auto fail = [block](const char* message) {
      return ErrorAt(block->span(),
                     absl::StrCat("block ", block->name(),
                                  " reduces over threads: ", message));
    };
    // All loops of the reduction are the innermost statements.
    size_t directly_around = 0;
    for (size_t i = path_.size(); i-- > 0;) {
      if (std::find(loops.begin(), loops.end(), path_[i]) == loops.end()) {
        break;
      }
      ++directly_around;
    }
    if (directly_around != loops.size()) {
      return fail("its loops must lie directly around it");
    }
    size_t num_bound = 0;
    for (const ForNode* loop : loops) {
      if (!loop->thread().defined()) continue;
      ++num_bound;
      if (!IsThreadIdx(ScopeOf(loop))) {
        return fail(
            "threads must be threadIdx.x, threadIdx.y or "
            "threadIdx.z");
      }
    }
    BATON_ASSIGN_OR_RETURN(Reduction reduction, FindReduction(Block(block)));
    for (const BufferStore& update : reduction.updates) {
      if (IsLocal(update->buffer()) !=
          IsLocal(reduction.updates[0]->buffer())) {
        return fail("its buffers must be all local, or all not local");
      }
    }
    if (!IsLastBlock(block, loops[0])) {
      return fail("it must be the last block in its outermost loop");
    }
    const bool in_thread =
        num_bound < loops.size() || !IsOne(realize->predicate());
    const ReductionLowering lowering(realize, std::move(reduction), loops,
                                     in_thread);
    std::vector<Buffer>& buffers = new_buffers_[blocks_.back()];
    const std::vector<Buffer> scratch = lowering.Scratch();
    buffers.insert(buffers.end(), scratch.begin(), scratch.end());
    replaced_[loops[0]] = lowering.Lower();
    std::vector<Thread> threads;
    for (const ForNode* loop : loops) {
      if (!loop->thread().defined()) continue;
      threads.push_back({ScopeOf(loop).axis, {loop->min(), loop->extent()}});
    }
    for (const Buffer& buffer : lowering.buffers()) {
      threads_of_[buffer.get()] = threads;
    }
    return absl::OkStatus();
  }

  static bool IsLastBlock(const BlockNode* block, const ForNode* loop) {
    class Finder final : public Visitor {
     public:
      explicit Finder(const BlockNode* block) : block_(block) {}
      bool followed = false;
      void VisitBlockRealize(const BlockRealizeNode* realize) override {
        followed = followed || found_;
        found_ = found_ || realize->block().get() == block_;
      }

     private:
      const BlockNode* block_;
      bool found_ = false;
    };
    Finder finder(block);
    finder.Visit(For(loop));
    return !finder.followed;
  }

  // The threads of a reduction whose result the block reads that are not bound
  // around it; none if it writes to local memory.
  std::vector<Thread> FreeThreads(const BlockRealizeNode* realize) const {
    const BlockNode* block = realize->block().get();
    for (const BufferRegion& region : block->writes()) {
      if (IsLocal(region->buffer())) return {};
    }
    std::map<int, Range> by_axis;
    for (const BufferRegion& region : block->reads()) {
      const auto found = threads_of_.find(region->buffer().get());
      if (found == threads_of_.end()) continue;
      for (const Thread& thread : found->second) {
        by_axis[thread.axis] = thread.range;
      }
    }
    for (const ForNode* loop : loops_) {
      if (!loop->thread().defined()) continue;
      const ThreadScope scope = ScopeOf(loop);
      if (IsThreadIdx(scope)) by_axis.erase(scope.axis);
    }
    std::vector<Thread> result;
    for (const auto& [axis, range] : by_axis) result.push_back({axis, range});
    return result;
  }

  static Stmt InFirstThread(const BlockRealizeNode* realize,
                            const std::vector<Thread>& threads) {
    PrimExpr predicate = realize->predicate();
    std::vector<Var> vars;
    for (const Thread& thread : threads) {
      vars.emplace_back(
          absl::StrCat("t",
                       std::string(1, static_cast<char>('x' + thread.axis))),
          thread.range.min.dtype());
      predicate = MakeBinary(
          BinaryOp::kAnd,
          MakeBinary(BinaryOp::kEQ, vars.back(), thread.range.min), predicate);
    }
    Stmt body = BlockRealize(
        {realize->iter_values().begin(), realize->iter_values().end()},
        std::move(predicate), realize->block(), realize->span());
    for (size_t i = 0; i < threads.size(); ++i) {
      const std::string tag = absl::StrCat(
          "threadIdx.",
          std::string(1, static_cast<char>('x' + threads[i].axis)));
      body = For({.loop_var = vars[i],
                  .min = threads[i].range.min,
                  .extent = threads[i].range.extent,
                  .kind = ForKind::kThreadBinding,
                  .thread = IterVar({}, Var("", kInt32),
                                    IterVarType::kThreadIndex, tag),
                  .annotations = {},
                  .body = std::move(body)},
                 realize->span());
    }
    return body;
  }

  Analyzer analyzer_;
  // Statements around the current one, without sequences; loops and blocks
  // among them.
  std::vector<const StmtNode*> path_;
  std::vector<const ForNode*> loops_;
  std::vector<const BlockNode*> blocks_;
  VarRanges ranges_;  // of the loops in the innermost block
  int block_idx_depth_ = 0;
  int thread_idx_depth_ = 0;
  bool has_reduction_ = false;
  std::map<const BlockNode*, NodeMap<int>> writer_counts_;
  FlatHashMap<const ForNode*, Stmt> replaced_;
  FlatHashMap<const BlockNode*, std::vector<Buffer>> new_buffers_;
  // The threads over which a buffer was reduced in this kernel.
  FlatHashMap<const BufferNode*, std::vector<Thread>> threads_of_;
  absl::Status status_;
};

}  // namespace

Pass LowerCrossThreadReduction() {
  return CreatePrimFuncPass(
      [](const PrimFunc& function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        if (IsFromTeSchedule(function)) return function;
        return CrossThreadReducer().Lower(function);
      },
      {.name = "tir.LowerCrossThreadReduction",
       .doc = "Reduces over loops that are bound to threads by "
              "tvm_thread_allreduce.",
       .exact = false});
}
BATON_REGISTER_PASS_AS("tir.LowerCrossThreadReduction",
                       LowerCrossThreadReduction);

}  // namespace baton::tir
