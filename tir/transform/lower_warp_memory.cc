#include "baton/tir/transform/lower_warp_memory.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/ir/error_at.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/ir/span.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/analyzing_rewriter.h"
#include "baton/tir/arith/pattern.h"
#include "baton/tir/ir/buffer_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/func_target.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

// The base of consecutive elements; the index of a scalar.
PrimExpr BaseOf(const PrimExpr& index) {
  const auto* ramp = index.As<RampNode>();
  if (ramp != nullptr && IsOne(ramp->stride())) return ramp->base();
  return index.dtype().lanes() == 1 ? index : PrimExpr();
}

// Binds the ranges of loops and threads.
class RangeBinder final : public Visitor {
 public:
  explicit RangeBinder(Analyzer& analyzer) : analyzer_(analyzer) {}

 protected:
  void VisitFor(const ForNode* node) override {
    analyzer_.Bind(node->loop_var(), Range{node->min(), node->extent()});
    Visitor::VisitFor(node);
  }
  void VisitAttrStmt(const AttrStmtNode* node) override {
    const auto* thread = node->node().As<IterVarNode>();
    if (thread != nullptr && BindsThread(node) &&
        bound_.Insert(thread->var().get())) {
      analyzer_.Bind(thread->var(),
                     Range{MakeConst(node->value().dtype(), 0), node->value()});
    }
    Visitor::VisitAttrStmt(node);
  }

 private:
  Analyzer& analyzer_;
  NodeSet bound_;
};

// Finds the thread axis along which a warp lies, and its extent.
class WarpFinder final : public Visitor {
 public:
  explicit WarpFinder(int64_t warp_size) : warp_size_(warp_size) {}
  const IterVar& thread() const { return thread_; }
  int64_t width() const { return width_; }
  const absl::Status& status() const { return status_; }

 protected:
  void VisitAttrStmt(const AttrStmtNode* node) override {
    const auto* thread = node->node().As<IterVarNode>();
    if (node->key() == "thread_extent" && thread != nullptr &&
        thread->thread_tag() == "threadIdx.x") {
      const auto* extent = node->value().As<IntImmNode>();
      if (extent == nullptr || extent->value() <= 0 ||
          warp_size_ % extent->value() != 0) {
        Fail(
            node->span(),
            absl::StrCat("the extent of threadIdx.x does not divide a warp of ",
                         warp_size_, " threads"));
      } else if (thread_.defined() && thread_.get() != thread &&
                 thread_->var() != thread->var()) {
        Fail(node->span(), "a kernel must have one variable for threadIdx.x");
      } else if (!thread_.defined()) {
        thread_ = IterVar(thread);
        width_ = extent->value();
      }
    }
    Visitor::VisitAttrStmt(node);
  }

 private:
  void Fail(const Span& span, std::string message) {
    if (status_.ok()) status_ = ErrorAt(span, std::move(message));
  }

  const int64_t warp_size_;
  IterVar thread_;
  int64_t width_ = 0;
  absl::Status status_;
};

// Finds the factor of the thread in the indices of stores.
class FactorFinder final : public Visitor {
 public:
  FactorFinder(const VarNode* pointer, Var thread, Analyzer& analyzer)
      : pointer_(pointer), thread_(std::move(thread)), analyzer_(analyzer) {}
  int64_t factor() const { return factor_; }
  const absl::Status& status() const { return status_; }

 protected:
  void VisitCall(const CallNode* node) override {
    const auto args = node->args();
    if (node->op() == BATON_OP("tir.ptx_ldmatrix") && args.size() > 4 &&
        args[3].get() == pointer_) {
      Note(args[4], node->span());
    } else if (node->op() == BATON_OP("tir.mma_fill") && args.size() > 1 &&
               args[1].get() == pointer_) {
      if (const auto* size = args[0].As<IntImmNode>()) factor_ = size->value();
    }
    Visitor::VisitCall(node);
  }
  void VisitBufferStore(const BufferStoreNode* node) override {
    if (node->buffer()->data().get() != pointer_) {
      Visitor::VisitBufferStore(node);
      return;
    }
    const PrimExpr base =
        node->indices().size() == 1 ? BaseOf(node->indices()[0]) : PrimExpr();
    if (!base.defined()) {
      Fail(node->span(),
           "a store to a warp's memory must have one index, whose lanes are "
           "consecutive");
      return;
    }
    Note(base, node->span());
  }

 private:
  void Note(const PrimExpr& index, const Span& span) {
    const Var threads[] = {thread_};
    const std::vector<PrimExpr> parts = DetectLinearEquation(index, threads);
    const PrimExpr simple =
        parts.size() == 2 ? analyzer_.CanonicalSimplify(parts[0]) : PrimExpr();
    const auto* factor = simple.As<IntImmNode>();
    if (factor == nullptr || factor->value() <= 0) {
      Fail(span,
           "an index of a warp's memory must be the thread times a positive "
           "constant, plus a rest");
    } else if (factor_ != 0 && factor_ != factor->value()) {
      Fail(span,
           "stores to a warp's memory must have one factor of the thread");
    } else {
      factor_ = factor->value();
    }
  }
  void Fail(const Span& span, std::string message) {
    if (status_.ok()) status_ = ErrorAt(span, std::move(message));
  }

  const VarNode* const pointer_;
  const Var thread_;
  Analyzer& analyzer_;
  int64_t factor_ = 0;
  absl::Status status_;
};

// Rewrites the accesses of one allocation.
class AccessRewriter final : public Rewriter {
 public:
  AccessRewriter(const VarNode* pointer, Var thread, int64_t warp_size,
                 int64_t width, int64_t factor, int64_t groups,
                 Analyzer& analyzer)
      : pointer_(pointer),
        thread_(std::move(thread)),
        warp_size_(warp_size),
        width_(width),
        factor_(factor),
        groups_(groups),
        analyzer_(analyzer) {}
  const absl::Status& status() const { return status_; }

 protected:
  PrimExpr VisitCall(const CallNode* node) override {
    if (node->op() == BATON_OP("tir.ptx_mma")) {
      return WithLocalIndices(node, {6, 8, 10});
    }
    if (node->op() == BATON_OP("tir.ptx_ldmatrix") ||
        node->op() == BATON_OP("tir.mma_store")) {
      return WithLocalIndices(node, {3});
    }
    if (node->op() == BATON_OP("tir.mma_fill")) {
      return WithLocalIndices(node, {1});
    }
    return Rewriter::VisitCall(node);
  }
  PrimExpr VisitVar(const VarNode* node) override {
    if (node == pointer_) {
      Fail(node->span(), absl::StrCat("the pointer ", node->name(),
                                      " to a warp's memory is used"));
    }
    return Var(node);
  }
  Stmt VisitBufferStore(const BufferStoreNode* node) override {
    Stmt result = Rewriter::VisitBufferStore(node);
    if (node->buffer()->data().get() != pointer_) return result;
    const auto* store = result.As<BufferStoreNode>();
    if (store->indices().size() != 1) return result;
    return BufferStore(store->buffer(), store->value(),
                       {Split(store->indices()[0]).local}, store->span());
  }
  PrimExpr VisitBufferLoad(const BufferLoadNode* node) override {
    PrimExpr result = Rewriter::VisitBufferLoad(node);
    if (node->buffer()->data().get() != pointer_) return result;
    const auto* load = result.As<BufferLoadNode>();
    if (load->indices().size() != 1) {
      Fail(node->span(), "a load from a warp's memory must have one index");
      return result;
    }
    const Place place = Split(node->indices()[0]);
    if (UsesVar(place.local, thread_.get())) {
      Fail(node->span(),
           "the place in a thread of a load from a warp's memory must not "
           "depend on the thread");
    }
    const PrimExpr local =
        BufferLoad(load->buffer(), {place.local}, load->span());
    if (analyzer_.CanProveEqual(place.thread, thread_)) return local;
    const PrimExpr mask =
        Call(DType::UInt(32), BATON_OP("tir.tvm_warp_activemask"), {});
    return Call(local.dtype(), BATON_OP("tir.tvm_warp_shuffle"),
                {mask, local, place.thread, IntImm(kInt32, width_),
                 IntImm(kInt32, warp_size_)},
                load->span());
  }

 private:
  // An index in the memory of a thread, and the thread.
  struct Place {
    PrimExpr local;
    PrimExpr thread;
  };

  Place Split(const PrimExpr& index) {
    if (index.dtype().lanes() != 1) {
      const PrimExpr base = BaseOf(index);
      if (!base.defined()) {
        Fail(index->span(), "a warp's memory is not accessed in order");
        return {index, thread_};
      }
      Place place = Split(base);
      const PrimExpr one = MakeConst(place.local.dtype(), 1);
      place.local = Ramp(place.local, one, index.dtype().lanes());
      return place;
    }
    const PrimExpr factor = MakeConst(index.dtype(), factor_);
    const PrimExpr rest = analyzer_.CanonicalSimplify(
        MakeBinary(BinaryOp::kFloorMod, index, factor));
    if (groups_ == 1) {
      return {rest, analyzer_.CanonicalSimplify(
                        MakeBinary(BinaryOp::kFloorDiv, index, factor))};
    }
    const PrimExpr group = MakeConst(index.dtype(), factor_ * width_);
    const PrimExpr local =
        Add(Mul(MakeBinary(BinaryOp::kDiv, index, group), factor), rest);
    const PrimExpr thread =
        MakeBinary(BinaryOp::kFloorDiv,
                   MakeBinary(BinaryOp::kFloorMod, index, group), factor);
    return {analyzer_.CanonicalSimplify(local),
            analyzer_.CanonicalSimplify(thread)};
  }

  PrimExpr WithLocalIndices(const CallNode* node,
                            std::vector<size_t> pointers) {
    std::vector<PrimExpr> args(node->args().begin(), node->args().end());
    for (const size_t i : pointers) {
      if (i + 1 < args.size() && args[i].get() == pointer_) {
        args[i + 1] = Split(args[i + 1]).local;
      }
    }
    return Call(node->dtype(), node->op(), std::move(args), node->span());
  }

  void Fail(const Span& span, std::string message) {
    if (status_.ok()) status_ = ErrorAt(span, std::move(message));
  }

  const VarNode* const pointer_;
  const Var thread_;
  const int64_t warp_size_;
  const int64_t width_;
  const int64_t factor_;
  const int64_t groups_;
  Analyzer& analyzer_;
  absl::Status status_;
};

class WarpLowerer final : public Rewriter {
 public:
  WarpLowerer(int64_t warp_size, Analyzer& analyzer)
      : warp_size_(warp_size), analyzer_(analyzer) {}
  const absl::Status& status() const { return status_; }
  NodeMap<Var>& pointers() { return pointers_; }

 protected:
  Stmt VisitAllocate(const AllocateNode* node) override {
    Stmt result = Rewriter::VisitAllocate(node);
    if (node->var()->scope() != "warp") return result;
    const auto* alloc = result.As<AllocateNode>();
    absl::StatusOr<Stmt> local = Local(alloc);
    if (!local.ok()) {
      if (status_.ok()) status_ = local.status();
      return result;
    }
    pointers_[node->var().get()] =
        Var::Pointer(node->var()->name(), node->var()->element(), "local");
    return *std::move(local);
  }

 private:
  absl::StatusOr<Stmt> Local(const AllocateNode* alloc) {
    int64_t size = alloc->dtype().lanes();
    for (const PrimExpr& extent : alloc->extents()) {
      const auto* imm = extent.As<IntImmNode>();
      constexpr int64_t kMaxSize = int64_t{1} << 32;
      if (imm == nullptr || imm->value() <= 0 ||
          imm->value() > (int64_t{1} << 24) || size > kMaxSize) {
        return ErrorAt(alloc->span(),
                       "the size of a warp's memory is not constant");
      }
      size *= imm->value();
    }
    WarpFinder warp(warp_size_);
    warp.Visit(alloc->body());
    BATON_RETURN_IF_ERROR(warp.status());
    if (!warp.thread().defined()) {
      return ErrorAt(alloc->span(),
                     "a warp's memory must be used in a loop over threadIdx.x");
    }
    const Var& thread = warp.thread()->var();
    FactorFinder factors(alloc->var().get(), thread, analyzer_);
    factors.Visit(alloc->body());
    BATON_RETURN_IF_ERROR(factors.status());
    constexpr int64_t kMaxFactor = int64_t{1} << 24;
    if (factors.factor() == 0) {
      return ErrorAt(alloc->span(), "nothing is stored to a warp's memory");
    }
    if (factors.factor() < 0 || factors.factor() > kMaxFactor) {
      return ErrorAt(alloc->span(),
                     absl::StrCat("a thread must not store ", factors.factor(),
                                  " elements to a warp's memory"));
    }
    const int64_t step = warp.width() * factors.factor();
    const int64_t groups = (size + step - 1) / step;
    if (groups * factors.factor() > std::numeric_limits<int32_t>::max()) {
      return ErrorAt(alloc->span(),
                     "the size of a warp's memory overflows int32");
    }
    AccessRewriter rewriter(alloc->var().get(), thread, warp_size_,
                            warp.width(), factors.factor(), groups, analyzer_);
    Stmt body = rewriter.Rewrite(alloc->body());
    BATON_RETURN_IF_ERROR(rewriter.status());
    return Allocate(alloc->var(), alloc->dtype(),
                    {IntImm(kInt32, groups * factors.factor())},
                    alloc->condition(), alloc->annotations(), std::move(body),
                    alloc->span());
  }

  const int64_t warp_size_;
  Analyzer& analyzer_;
  NodeMap<Var> pointers_;
  absl::Status status_;
};

// Replaces pointers, also where they are allocated.
class PointerReplacer final : public Rewriter {
 public:
  explicit PointerReplacer(const NodeMap<Var>& pointers)
      : pointers_(pointers) {}

 protected:
  PrimExpr VisitVar(const VarNode* node) override {
    return Replaced(Var(node));
  }
  Stmt VisitAllocate(const AllocateNode* node) override {
    const Stmt result = Rewriter::VisitAllocate(node);
    const auto* alloc = result.As<AllocateNode>();
    const Var pointer = Replaced(alloc->var());
    if (pointer == alloc->var()) return result;
    return Allocate(pointer, alloc->dtype(),
                    {alloc->extents().begin(), alloc->extents().end()},
                    alloc->condition(), alloc->annotations(), alloc->body(),
                    alloc->span());
  }
  Buffer RewriteBuffer(const Buffer& buffer) override {
    const Var pointer = Replaced(buffer->data());
    if (pointer == buffer->data()) return buffer;
    return buffers_.FindOrMake(
        buffer, [&](BufferNode::Parts& parts) { parts.data = pointer; });
  }

 private:
  Var Replaced(const Var& var) const {
    const Var* found = pointers_.Find(var.get());
    return found == nullptr ? var : *found;
  }

  const NodeMap<Var>& pointers_;
  BufferMap buffers_;
};

}  // namespace

Pass LowerWarpMemory() {
  return CreatePrimFuncPass(
      [](PrimFunc function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        BATON_ASSIGN_OR_RETURN(const Target target, RequiredTargetOf(function));
        BATON_ASSIGN_OR_RETURN(const int64_t warp_size,
                               WarpSizeOf(function, target));
        if (warp_size == 1) return function;
        Analyzer analyzer;
        RangeBinder(analyzer).Visit(function->body());
        WarpLowerer lowerer(warp_size, analyzer);
        Stmt body = lowerer.Rewrite(function->body());
        if (!lowerer.status().ok()) return lowerer.status();
        if (body == function->body()) return function;
        PrimFuncNode::Parts parts = function->parts();
        parts.body = PointerReplacer(lowerer.pointers()).Rewrite(body);
        return PrimFunc(std::move(parts), function->span());
      },
      {.name = "tir.LowerWarpMemory",
       .doc = "Keeps memory of the scope `warp` in the registers of the "
              "threads of a warp.",
       .needs = {"tir.has_targets"},
       .idempotent = true});
}
BATON_REGISTER_PASS_AS("tir.LowerWarpMemory", LowerWarpMemory);

}  // namespace baton::tir
