#include "baton/tir/transform/thread_sync.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/ir/error_at.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/ir/span.h"
#include "baton/tir/analysis/scopes.h"
#include "baton/tir/arith/int_set.h"
#include "baton/tir/arith/pattern.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/tir/transform/wrapping_rewriter.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

bool IsDynamic(const MemoryScope& scope) {
  return scope.rank == MemoryRank::kShared && scope.tag == ".dyn";
}

enum class AccessType { kRead, kWrite, kSync };

struct Access {
  AccessType type = AccessType::kSync;
  // The pointer; null for a barrier. Of dynamic shared memory one stands for
  // all.
  const VarNode* pointer = nullptr;
  const VarNode* innermost_thread = nullptr;
  std::vector<IntSet> touched;
  bool fills_double_buffer = false;
};

struct StmtAccesses {
  const StmtNode* stmt = nullptr;
  std::vector<Access> accesses;
};

bool Conflict(const Access& before, const Access& now, bool next_step) {
  if (before.pointer != now.pointer) return false;
  bool one_index = true;
  bool by_thread = true;
  const VarNode* const thread = now.innermost_thread;
  const size_t axes = std::min(before.touched.size(), now.touched.size());
  for (size_t i = 0; i < axes && one_index && by_thread; ++i) {
    if (!before.touched[i].IsSinglePoint() || !now.touched[i].IsSinglePoint()) {
      one_index = false;
      continue;
    }
    const PrimExpr& a = before.touched[i].PointValue();
    const PrimExpr& b = now.touched[i].PointValue();
    one_index = ExprDeepEqual(a, b);
    if (thread != nullptr) {
      const auto is_thread = [thread](const VarNode* var) {
        return var == thread;
      };
      by_thread = UsesVar(a, is_thread) && UsesVar(b, is_thread);
    }
  }
  if (one_index && by_thread) return false;
  return !(before.fills_double_buffer && now.type == AccessType::kRead &&
           !next_step);
}

bool Conflicts(absl::Span<const Access> before, const Access& now,
               bool next_step) {
  for (const Access& access : before) {
    if (Conflict(access, now, next_step)) return true;
  }
  return false;
}

bool SameBound(const PrimExpr& a, const PrimExpr& b) {
  if (!a.defined() || !b.defined()) return a.defined() == b.defined();
  return ExprDeepEqual(a, b);
}

bool SameAccess(const Access& a, const Access& b) {
  if (a.type != b.type || a.pointer != b.pointer ||
      a.innermost_thread != b.innermost_thread ||
      a.fills_double_buffer != b.fills_double_buffer ||
      a.touched.size() != b.touched.size()) {
    return false;
  }
  for (size_t i = 0; i < a.touched.size(); ++i) {
    if (a.touched[i].IsSinglePoint() != b.touched[i].IsSinglePoint() ||
        !SameBound(a.touched[i].min(), b.touched[i].min()) ||
        !SameBound(a.touched[i].max(), b.touched[i].max())) {
      return false;
    }
  }
  return true;
}

// Equal accesses in a row count once.
void Append(Access access, std::vector<Access>& list) {
  if (list.empty() || !SameAccess(list.back(), access)) {
    list.push_back(std::move(access));
  }
}

// Finds the statements that need a barrier before them.
class Planner final : public Visitor {
 public:
  explicit Planner(const MemoryScope& scope) : scope_(scope) {
    sequences_.emplace_back();
  }
  const NodeSet& barriers() const { return barriers_; }
  const absl::Status& status() const { return status_; }

 protected:
  void VisitBufferLoad(const BufferLoadNode* node) override {
    const Var& pointer = node->buffer()->data();
    if (IsPlanned(pointer)) {
      if (!in_statement_) {
        Fail(node->span(),
             "memory that threads share is read outside of a store or call");
      }
      Note(AccessType::kRead, pointer, Points(node->indices()));
    }
    Visitor::VisitBufferLoad(node);
  }
  void VisitBufferStore(const BufferStoreNode* node) override {
    in_statement_ = true;
    const Var& pointer = node->buffer()->data();
    if (IsPlanned(pointer)) {
      Note(AccessType::kWrite, pointer, Points(node->indices()));
    }
    Visitor::VisitBufferStore(node);
    sequences_.back().push_back({node, std::exchange(accesses_, {})});
    in_statement_ = false;
  }
  void VisitEvaluate(const EvaluateNode* node) override {
    in_statement_ = true;
    Visitor::VisitEvaluate(node);
    if (!accesses_.empty()) {
      sequences_.back().push_back({node, std::exchange(accesses_, {})});
    }
    in_statement_ = false;
  }
  void VisitAttrStmt(const AttrStmtNode* node) override {
    const auto* thread = node->node().As<IterVarNode>();
    if (node->key() == "double_buffer_write") {
      sequences_.emplace_back();
      Visitor::VisitAttrStmt(node);
      StmtAccesses inner = {node, Summarize(nullptr)};
      for (Access& access : inner.accesses) {
        if (access.type == AccessType::kWrite &&
            access.pointer == node->node().get()) {
          access.fills_double_buffer = true;
        }
      }
      if (!inner.accesses.empty()) {
        sequences_.back().push_back(std::move(inner));
      }
    } else if (node->key() == "coproc_scope" && thread != nullptr) {
      threads_.push_back(thread);
      Visitor::VisitAttrStmt(node);
      threads_.pop_back();
    } else if (node->key() == "thread_extent" && thread != nullptr) {
      threads_.push_back(thread);
      if (in_kernel_) {
        Visitor::VisitAttrStmt(node);
      } else {
        in_kernel_ = true;
        sequences_.emplace_back();
        Visitor::VisitAttrStmt(node);
        Summarize(nullptr);
        in_kernel_ = false;
      }
      threads_.pop_back();
    } else if (node->key() != "hand_threaded") {
      Visitor::VisitAttrStmt(node);
    }
  }
  void VisitFor(const ForNode* node) override {
    sequences_.emplace_back();
    Visitor::VisitFor(node);
    StmtAccesses inner = {node, Summarize(node)};
    if (inner.accesses.empty()) return;
    const Domains domain = {
        {node->loop_var(), IntSet::FromMinExtent(node->min(), node->extent())}};
    for (Access& access : inner.accesses) {
      for (IntSet& set : access.touched) set = EvalSet(set, domain);
    }
    sequences_.back().push_back(std::move(inner));
  }
  void VisitIfThenElse(const IfThenElseNode* node) override {
    ++conditions_;
    Visit(node->condition());
    sequences_.emplace_back();
    Visit(node->then_case());
    StmtAccesses inner = {node, Summarize(nullptr)};
    if (node->else_case().defined()) {
      sequences_.emplace_back();
      Visit(node->else_case());
      for (Access& access : Summarize(nullptr)) {
        inner.accesses.push_back(std::move(access));
      }
    }
    sequences_.back().push_back(std::move(inner));
    --conditions_;
  }
  void VisitWhile(const WhileNode* node) override {
    ++conditions_;
    Visit(node->condition());
    sequences_.emplace_back();
    Visit(node->body());
    StmtAccesses inner = {node, Summarize(nullptr)};
    sequences_.back().push_back(std::move(inner));
    --conditions_;
  }
  void VisitCall(const CallNode* node) override {
    const auto args = node->args();
    if (node->op() == BATON_OP("tir.address_of") && args.size() == 1) {
      if (const auto* load = args[0].As<BufferLoadNode>()) {
        VisitAll(load->indices());
        return;
      }
    }
    if (node->op() == BATON_OP("tir.tvm_storage_sync") && !args.empty()) {
      const auto* scope = args[0].As<StringImmNode>();
      if (scope != nullptr && scope->value() != "warp") {
        Note(AccessType::kSync, Var(), {});
      }
      return;
    }
    if (node->op() == BATON_OP("tir.tvm_access_ptr") && args.size() == 5) {
      const auto* pointer = args[1].As<VarNode>();
      const auto* mask = args[4].As<IntImmNode>();
      if (pointer != nullptr && mask != nullptr && IsPlanned(Var(pointer))) {
        const std::vector<IntSet> touched = {
            IntSet::FromMinExtent(args[2], args[3])};
        if ((mask->value() & 1) != 0) {
          Note(AccessType::kRead, Var(pointer), touched);
        }
        if ((mask->value() & 2) != 0) {
          Note(AccessType::kWrite, Var(pointer), touched);
        }
      }
    }
    Visitor::VisitCall(node);
  }

 private:
  bool IsPlanned(const Var& pointer) const {
    return in_kernel_ && MemoryScope(pointer->scope()) == scope_;
  }
  static std::vector<IntSet> Points(absl::Span<const PrimExpr> indices) {
    std::vector<IntSet> points;
    for (const PrimExpr& index : indices) {
      points.push_back(IntSet::Vector(index));
    }
    return points;
  }
  void Note(AccessType type, const Var& pointer, std::vector<IntSet> touched) {
    Access access;
    access.type = type;
    access.pointer = pointer.defined() ? pointer.get() : nullptr;
    if (!threads_.empty()) {
      access.innermost_thread = threads_.back()->var().get();
    }
    access.touched = std::move(touched);
    accesses_.push_back(std::move(access));
  }

  void NeedBarrier(const StmtNode* stmt) {
    if (conditions_ != 0) {
      Fail(stmt->span(), "a barrier is needed within a condition");
    }
    barriers_.Insert(stmt);
  }

  // Plans barriers in the innermost sequence and ends it. Returns the accesses
  // that those around it see: before its first barrier and after its last.
  std::vector<Access> Summarize(const ForNode* loop) {
    std::vector<StmtAccesses> seq = std::move(sequences_.back());
    sequences_.pop_back();
    if (IsDynamic(scope_)) {
      const VarNode* all = nullptr;
      for (StmtAccesses& stmt : seq) {
        for (Access& access : stmt.accesses) {
          if (access.pointer == nullptr) continue;
          if (all == nullptr) all = access.pointer;
          access.pointer = all;
        }
      }
    }
    std::vector<Access> reads;
    std::vector<Access> writes;
    const auto forget = [&] {
      reads.clear();
      writes.clear();
    };
    const auto needs_barrier = [&](const StmtAccesses& stmt, bool next_step) {
      for (const Access& access : stmt.accesses) {
        if (access.type == AccessType::kSync) {
          forget();
        } else if (Conflicts(access.type == AccessType::kRead ? writes : reads,
                             access, next_step)) {
          return true;
        }
      }
      return false;
    };
    for (const StmtAccesses& stmt : seq) {
      bool barrier = barriers_.Contains(stmt.stmt);
      if (barrier) forget();
      barrier = needs_barrier(stmt, /*next_step=*/false) || barrier;
      if (barrier) forget();
      for (const Access& access : stmt.accesses) {
        switch (access.type) {
          case AccessType::kRead:
            Append(access, reads);
            break;
          case AccessType::kWrite:
            Append(access, writes);
            break;
          case AccessType::kSync:
            forget();
            break;
        }
      }
      if (barrier) NeedBarrier(stmt.stmt);
    }
    if (loop != nullptr) {
      for (const StmtAccesses& stmt : seq) {
        if (barriers_.Contains(stmt.stmt)) break;
        if (reads.empty() && writes.empty()) break;
        if (needs_barrier(stmt, /*next_step=*/true)) {
          NeedBarrier(stmt.stmt);
          break;
        }
      }
    }
    return Exposed(std::move(seq), loop != nullptr);
  }

  std::vector<Access> Exposed(std::vector<StmtAccesses> seq,
                              bool is_loop) const {
    Access barrier;
    if (!threads_.empty()) {
      barrier.innermost_thread = threads_.back()->var().get();
    }
    bool has_barrier = false;
    std::vector<Access> head;
    std::vector<Access> tail;
    const auto add_barrier = [&] {
      if (has_barrier) {
        tail.clear();
      } else {
        head.push_back(barrier);
      }
      has_barrier = true;
    };
    for (StmtAccesses& stmt : seq) {
      if (barriers_.Contains(stmt.stmt)) add_barrier();
      for (Access& access : stmt.accesses) {
        if (access.type == AccessType::kSync) {
          add_barrier();
        } else {
          Append(std::move(access), has_barrier ? tail : head);
        }
      }
    }
    for (Access& access : tail) Append(std::move(access), head);
    if (is_loop) {
      for (Access& access : head) access.fills_double_buffer = false;
    }
    return head;
  }

  void Fail(const Span& span, std::string message) {
    if (status_.ok()) status_ = ErrorAt(span, std::move(message));
  }

  const MemoryScope scope_;
  NodeSet barriers_;
  // The accesses of the statement that is visited.
  std::vector<Access> accesses_;
  bool in_statement_ = false;
  bool in_kernel_ = false;
  int conditions_ = 0;
  std::vector<const IterVarNode*> threads_;
  std::vector<std::vector<StmtAccesses>> sequences_;
  absl::Status status_;
};

// Puts a barrier after each wait for asynchronous copies.
class BarrierAfterWaits final : public Rewriter {
 public:
  explicit BarrierAfterWaits(Stmt barrier) : barrier_(std::move(barrier)) {}

 protected:
  Stmt VisitAttrStmt(const AttrStmtNode* node) override {
    const auto* inner = node->body().As<AttrStmtNode>();
    if (node->key() != "async_wait_queue_scope" || inner == nullptr ||
        inner->key() != "async_wait_inflight_count") {
      return Rewriter::VisitAttrStmt(node);
    }
    std::vector<Stmt> seq = {barrier_};
    AppendFlattened(inner->body(), seq);
    const PrimExpr zero = IntImm(kInt32, 0);
    return AttrStmt(zero, node->key(), node->value(),
                    AttrStmt(zero, inner->key(), inner->value(),
                             MakeSeq(std::move(seq)), inner->span()),
                    node->span());
  }

 private:
  const Stmt barrier_;
};

class BarrierInserter final : public WrappingRewriter<Rewriter> {
 public:
  BarrierInserter(std::string scope, const NodeSet& barriers)
      : scope_(std::move(scope)),
        is_global_(MemoryScope(scope_).rank == MemoryRank::kGlobal),
        barriers_(barriers) {}

 protected:
  Stmt Around(const StmtNode* node, RewriteFn rewrite) override {
    if (!barriers_.Contains(node)) return rewrite();
    std::vector<Stmt> seq = {Barrier()};
    AppendFlattened(rewrite(), seq);
    return MakeSeq(std::move(seq));
  }
  PrimExpr VisitBufferLoad(const BufferLoadNode* node) override {
    Count(node->buffer()->data(), /*reads=*/true, /*writes=*/false);
    return Rewriter::VisitBufferLoad(node);
  }
  Stmt DoBufferStore(const BufferStoreNode* node) override {
    Count(node->buffer()->data(), /*reads=*/false, /*writes=*/true);
    return Rewriter::VisitBufferStore(node);
  }
  PrimExpr VisitCall(const CallNode* node) override {
    const auto args = node->args();
    if (node->op() == BATON_OP("tir.tvm_access_ptr") && args.size() == 5) {
      const auto* pointer = args[1].As<VarNode>();
      const auto* mask = args[4].As<IntImmNode>();
      if (pointer != nullptr && mask != nullptr) {
        Count(Var(pointer), (mask->value() & 1) != 0, (mask->value() & 2) != 0);
      }
    }
    return Rewriter::VisitCall(node);
  }
  Stmt DoAttrStmt(const AttrStmtNode* node) override {
    if (node->key() != "thread_extent") return Rewriter::VisitAttrStmt(node);
    threads_.push_back(node);
    Stmt result = Rewriter::VisitAttrStmt(node);
    threads_.pop_back();
    if (!threads_.empty() || !is_global_) return result;
    result = WithGlobalBarrier(result.As<AttrStmtNode>());
    blocks_ = PrimExpr();
    is_first_ = PrimExpr();
    return result;
  }

 private:
  struct Use {
    Var pointer;
    bool reads = false;
    bool writes = false;
  };

  void Count(const Var& pointer, bool reads, bool writes) {
    if (!is_global_ ||
        MemoryScope(pointer->scope()).rank != MemoryRank::kGlobal) {
      return;
    }
    const auto [index, is_new] = use_of_.TryEmplace(pointer.get());
    if (is_new) {
      *index = uses_.size();
      uses_.push_back({pointer});
    }
    uses_[*index].reads |= reads;
    uses_[*index].writes |= writes;
  }

  Stmt Barrier() {
    std::vector<PrimExpr> args = {StringImm(scope_)};
    if (is_global_) {
      if (!blocks_.defined()) {
        for (const AttrStmtNode* thread : threads_) {
          const auto* var = thread->node().As<IterVarNode>();
          if (var == nullptr) continue;
          const ThreadScope scope(var->thread_tag());
          if (scope.rank == 0) {
            blocks_ = blocks_.defined() ? Mul(thread->value(), blocks_)
                                        : thread->value();
          } else if (scope.rank == 1) {
            PrimExpr first = MakeBinary(BinaryOp::kEQ, var->var(),
                                        MakeConst(var->var()->dtype(), 0));
            is_first_ = is_first_.defined()
                            ? MakeBinary(BinaryOp::kAnd, is_first_, first)
                            : first;
          }
        }
        if (!blocks_.defined()) blocks_ = IntImm(kInt32, 1);
        if (!is_first_.defined()) is_first_ = IntImm::Bool(true);
      }
      args.push_back(is_first_);
      args.push_back(blocks_);
    }
    return Evaluate(
        Call(kInt32, BATON_OP("tir.tvm_storage_sync"), std::move(args)));
  }

  Stmt WithGlobalBarrier(const AttrStmtNode* kernel) {
    std::vector<Stmt> seq = {
        Evaluate(Call(kInt32, BATON_OP("tir.tvm_global_barrier_kinit"), {}))};
    Stmt body = kernel->body();
    for (const Use& use : uses_) {
      if (use.reads && use.writes) {
        body = AttrStmt(use.pointer, "volatile_scope", IntImm(kInt32, 1),
                        std::move(body));
      }
    }
    uses_.clear();
    use_of_.Clear();
    AppendFlattened(body, seq);
    return SeqStmt({Evaluate(Call(kInt32, BATON_OP("tir.tvm_call_packed"),
                                  {StringImm("__tvm_prepare_global_barrier")})),
                    AttrStmt(kernel->node(), kernel->key(), kernel->value(),
                             MakeSeq(std::move(seq)), kernel->span())});
  }

  const std::string scope_;
  const bool is_global_;
  const NodeSet& barriers_;
  std::vector<const AttrStmtNode*> threads_;
  std::vector<Use> uses_;
  NodeMap<size_t> use_of_;
  // The number of blocks, and whether a thread is the first of its block.
  PrimExpr blocks_;
  PrimExpr is_first_;
};

}  // namespace

Pass ThreadSync(ThreadSyncOptions options) {
  return CreatePrimFuncPass(
      [options](PrimFunc function, const IRModule& /*module*/,
                const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        const MemoryScope scope(options.storage_scope);
        if (scope.rank == MemoryRank::kUnknown) {
          return absl::InvalidArgumentError(
              "storage_scope is no scope of memory");
        }
        Stmt body = function->body();
        if (scope == MemoryScope("shared")) {
          body = BarrierAfterWaits(
                     Evaluate(Call(kInt32, BATON_OP("tir.tvm_storage_sync"),
                                   {StringImm(options.storage_scope)})))
                     .Rewrite(body);
        }
        Planner planner(scope);
        planner.Visit(body);
        if (!planner.status().ok()) return planner.status();
        if (planner.barriers().size() != 0) {
          body = BarrierInserter(options.storage_scope, planner.barriers())
                     .Rewrite(body);
        }
        if (body == function->body()) return function;
        PrimFuncNode::Parts parts = function->parts();
        parts.body = std::move(body);
        return PrimFunc(std::move(parts), function->span());
      },
      {.name = "tir.ThreadSync",
       .doc = "Puts barriers between threads where one needs what another "
              "wrote.",
       .examples = {"storage_scope=shared", "storage_scope=shared.dyn"}},
      options);
}
BATON_REGISTER_PASS_AS("tir.ThreadSync", ThreadSync);

}  // namespace baton::tir
