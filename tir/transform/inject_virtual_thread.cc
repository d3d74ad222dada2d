#include "baton/tir/transform/inject_virtual_thread.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/ir/error_at.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/ir/span.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/analyzing_rewriter.h"
#include "baton/tir/ir/buffer_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/convert_ssa.h"
#include "baton/tir/transform/copy_budget.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/tir/transform/wrapping_rewriter.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

// The variables and pointers in an expression.
struct Uses {
  bool touched = false;
  std::vector<const VarNode*> used;
  std::vector<const VarNode*> written;
};

class UseFinder final : public Visitor {
 public:
  UseFinder(const NodeSet& touched, Uses& uses)
      : touched_(touched), uses_(uses) {}

 protected:
  void VisitVar(const VarNode* node) override { Use(node); }
  void VisitBufferLoad(const BufferLoadNode* node) override {
    Use(node->buffer()->data().get());
    Visitor::VisitBufferLoad(node);
  }
  void VisitCall(const CallNode* node) override {
    if (node->op() != BATON_OP("tir.tvm_access_ptr") ||
        node->args().size() != 5) {
      Visitor::VisitCall(node);
      return;
    }
    const auto* pointer = node->args()[1].As<VarNode>();
    const auto* mask = node->args()[4].As<IntImmNode>();
    if (pointer != nullptr && mask != nullptr) {
      if ((mask->value() & 1) != 0) Use(pointer);
      if ((mask->value() & 2) != 0) uses_.written.push_back(pointer);
    }
    Visit(node->args()[2]);
  }

 private:
  void Use(const VarNode* var) {
    if (touched_.Contains(var)) uses_.touched = true;
    if (!uses_.touched) uses_.used.push_back(var);
  }

  const NodeSet& touched_;
  Uses& uses_;
};

// Finds the variables and pointers whose values depend on a thread.
class TouchedFinder final : public Visitor {
 public:
  explicit TouchedFinder(NodeSet& touched) : touched_(touched) {}

  void Run(const Stmt& body, const VarNode* thread) {
    Touch(thread);
    Visit(body);
    while (!pending_.empty()) {
      const VarNode* var = pending_.back();
      pending_.pop_back();
      const std::vector<const VarNode*>* affected = affects_.Find(var);
      if (affected == nullptr) continue;
      for (const VarNode* other : *affected) Touch(other);
    }
  }

 protected:
  void VisitLetStmt(const LetStmtNode* node) override {
    Record(node->var().get(), UsesOf({node->value()}));
    Visit(node->body());
  }
  void VisitBufferStore(const BufferStoreNode* node) override {
    std::vector<PrimExpr> parts = {node->value()};
    parts.insert(parts.end(), node->indices().begin(), node->indices().end());
    Record(node->buffer()->data().get(), UsesOf(parts));
  }
  void VisitFor(const ForNode* node) override {
    Record(node->loop_var().get(), UsesOf({node->min(), node->extent()}));
    Visit(node->body());
  }
  void VisitEvaluate(const EvaluateNode* node) override {
    const Uses uses = UsesOf({node->value()});
    for (const VarNode* var : uses.written) Record(var, uses);
  }
  void VisitAllocate(const AllocateNode* node) override {
    std::vector<PrimExpr> parts(node->extents().begin(), node->extents().end());
    parts.push_back(node->condition());
    Record(node->var().get(), UsesOf(parts));
    Visit(node->body());
  }

 private:
  void Touch(const VarNode* var) {
    if (touched_.Insert(var)) pending_.push_back(var);
  }
  Uses UsesOf(absl::Span<const PrimExpr> parts) const {
    Uses uses;
    UseFinder finder(touched_, uses);
    for (const PrimExpr& part : parts) finder.Visit(part);
    return uses;
  }
  void Record(const VarNode* var, const Uses& uses) {
    if (touched_.Contains(var)) return;
    if (uses.touched) {
      Touch(var);
      return;
    }
    for (const VarNode* used : uses.used) {
      if (used != var) affects_[used].push_back(var);
    }
  }

  NodeSet& touched_;
  std::vector<const VarNode*> pending_;
  NodeMap<std::vector<const VarNode*>> affects_;
};

// Repeats what depends on one thread.
class Repeater final : public WrappingRewriter<AnalyzingRewriter> {
 public:
  Repeater(Analyzer& analyzer, Var var, int64_t threads, const NodeSet& touched,
           bool may_share, CopyBudget& budget)
      : WrappingRewriter(analyzer),
        var_(std::move(var)),
        threads_(threads),
        may_share_(may_share),
        touched_(touched),
        budget_(budget) {}
  const absl::Status& status() const { return status_; }

 protected:
  Stmt Around(const StmtNode* /*node*/, RewriteFn rewrite) override {
    Stmt result = rewrite();
    if (uses_touched_ || repeat_) {
      if (!repeated_) return Repeat(std::move(result));
      uses_touched_ = false;
      repeat_ = false;
    }
    return result;
  }

  PrimExpr VisitVar(const VarNode* node) override {
    if (strides_.Contains(node)) {
      Fail(node->span(),
           absl::StrCat("virtual threads share the memory of the pointer ",
                        node->name(), ", which may be used in accesses only"));
    }
    if (touched_.Contains(node)) uses_touched_ = true;
    return Var(node);
  }
  PrimExpr VisitCall(const CallNode* node) override {
    if (node->op() == BATON_OP("tir.tvm_context_id")) {
      return may_share_ ? PrimExpr(Call(node)) : PrimExpr(var_);
    }
    if (node->op() != BATON_OP("tir.tvm_access_ptr") ||
        node->args().size() != 5) {
      return Rewriter::VisitCall(node);
    }
    const PrimExpr* stride = strides_.Find(node->args()[1].get());
    if (stride == nullptr) return Rewriter::VisitCall(node);
    uses_touched_ = true;
    const PrimExpr elements = *stride;
    PrimExpr offset = Rewrite(node->args()[2]);
    PrimExpr extent = Rewrite(node->args()[3]);
    const PrimExpr lanes =
        MakeConst(offset.dtype(), node->args()[0].dtype().lanes());
    offset = IndexOfThread(offset, MakeBinary(BinaryOp::kDiv, elements, lanes));
    return Call(node->dtype(), node->op(),
                {node->args()[0], node->args()[1], std::move(offset),
                 std::move(extent), node->args()[4]},
                node->span());
  }
  PrimExpr VisitBufferLoad(const BufferLoadNode* node) override {
    PrimExpr result = Rewriter::VisitBufferLoad(node);
    const VarNode* pointer = node->buffer()->data().get();
    if (touched_.Contains(pointer)) uses_touched_ = true;
    const PrimExpr* stride = strides_.Find(pointer);
    if (stride == nullptr) return result;
    const auto* load = result.As<BufferLoadNode>();
    if (!IsFlat(load->buffer(), load->indices(), node->span())) return result;
    return BufferLoad(BufferOfAll(load->buffer(), *stride),
                      {IndexOfThread(load->indices()[0], *stride)},
                      load->span());
  }
  Stmt DoBufferStore(const BufferStoreNode* node) override {
    Stmt result = Rewriter::VisitBufferStore(node);
    repeat_ = !may_share_;
    const VarNode* pointer = node->buffer()->data().get();
    if (touched_.Contains(pointer)) uses_touched_ = true;
    const PrimExpr* stride = strides_.Find(pointer);
    if (stride == nullptr) return result;
    const auto* store = result.As<BufferStoreNode>();
    if (!IsFlat(store->buffer(), store->indices(), node->span())) return result;
    return BufferStore(BufferOfAll(store->buffer(), *stride), store->value(),
                       {IndexOfThread(store->indices()[0], *stride)},
                       store->span());
  }
  Stmt DoEvaluate(const EvaluateNode* node) override {
    repeat_ = !may_share_;
    return Rewriter::VisitEvaluate(node);
  }
  Stmt DoAttrStmt(const AttrStmtNode* node) override {
    PrimExpr value = Rewrite(node->value());
    if (!repeated_ &&
        (uses_touched_ || (!may_share_ && (node->key() == "coproc_uop_scope" ||
                                           node->key() == "coproc_scope")))) {
      return RepeatWhole(AttrStmt(node));
    }
    Stmt body = Rewrite(node->body());
    if (value == node->value() && body == node->body()) return AttrStmt(node);
    return AttrStmt(node->node(), node->key(), std::move(value),
                    std::move(body), node->span());
  }
  Stmt DoLetStmt(const LetStmtNode* node) override {
    PrimExpr value = Rewrite(node->value());
    if (uses_touched_ && !repeated_) return RepeatWhole(LetStmt(node));
    uses_touched_ = false;
    Stmt body = Rewrite(node->body());
    if (value == node->value() && body == node->body()) return LetStmt(node);
    return LetStmt(node->var(), std::move(value), std::move(body),
                   node->span());
  }
  Stmt DoFor(const ForNode* node) override {
    if (!IsZero(node->min())) {
      Fail(node->span(), "a loop in a virtual thread must begin at 0");
    }
    PrimExpr extent = Rewrite(node->extent());
    if (uses_touched_ && !repeated_) {
      Stmt result = RepeatWhole(For(node));
      ++loop_depth_;
      return result;
    }
    uses_touched_ = false;
    Stmt body = Rewrite(node->body());
    ++loop_depth_;
    if (extent == node->extent() && body == node->body()) return For(node);
    ForNode::Parts parts = node->parts();
    parts.extent = std::move(extent);
    parts.body = std::move(body);
    return For(std::move(parts), node->span());
  }
  Stmt DoIfThenElse(const IfThenElseNode* node) override {
    PrimExpr condition = Rewrite(node->condition());
    if (uses_touched_ && !repeated_) return RepeatWhole(IfThenElse(node));
    uses_touched_ = false;
    Stmt then_case = Rewrite(node->then_case());
    Stmt else_case;
    if (node->else_case().defined()) {
      const int depth = std::exchange(loop_depth_, 0);
      else_case = Rewrite(node->else_case());
      loop_depth_ = std::max(depth, loop_depth_);
    }
    if (condition == node->condition() && then_case == node->then_case() &&
        else_case == node->else_case()) {
      return IfThenElse(node);
    }
    return IfThenElse(std::move(condition), std::move(then_case),
                      std::move(else_case), node->span());
  }
  Stmt DoWhile(const WhileNode* node) override {
    Fail(node->span(), "a while loop in a virtual thread is not supported");
    return While(node);
  }
  Stmt DoSeqStmt(const SeqStmtNode* node) override {
    std::vector<Stmt> seq;
    bool changed = false;
    for (const Stmt& stmt : node->seq()) {
      const int depth = std::exchange(loop_depth_, 0);
      Stmt result = Rewrite(stmt);
      loop_depth_ = std::max(depth, loop_depth_);
      changed = changed || result != stmt;
      if (const auto* nested = result.As<SeqStmtNode>()) {
        seq.insert(seq.end(), nested->seq().begin(), nested->seq().end());
      } else {
        seq.push_back(std::move(result));
      }
    }
    return changed ? SeqStmt(std::move(seq), node->span()) : SeqStmt(node);
  }
  Stmt DoAllocate(const AllocateNode* node) override {
    PrimExpr condition = Rewrite(node->condition());
    std::vector<PrimExpr> extents(node->extents().begin(),
                                  node->extents().end());
    bool changed = RewriteAll(extents);
    if (uses_touched_ && !repeated_) return RepeatWhole(Allocate(node));
    uses_touched_ = false;
    if (touched_.Contains(node->var().get()) || !may_share_) {
      if (extents.size() != 1) {
        Fail(node->span(),
             "memory of a virtual thread must have one axis; tir.FlattenBuffer "
             "flattens it");
        return Allocate(node);
      }
      const PrimExpr stride = extents[0];
      extents[0] = Mul(stride, MakeConst(stride.dtype(), threads_));
      changed = true;
      strides_[node->var().get()] = stride;
    }
    Stmt body = Rewrite(node->body());
    if (!changed && body == node->body() && condition == node->condition()) {
      return Allocate(node);
    }
    return Allocate(node->var(), node->dtype(), std::move(extents),
                    std::move(condition), node->annotations(), std::move(body),
                    node->span());
  }

 private:
  Stmt RepeatWhole(const Stmt& stmt) {
    uses_touched_ = false;
    repeat_ = false;
    repeated_ = true;
    return Repeated(Rewrite(stmt));
  }
  Stmt Repeat(Stmt stmt) {
    uses_touched_ = false;
    repeat_ = false;
    return Repeated(std::move(stmt));
  }
  Stmt Repeated(Stmt stmt) {
    repeated_ = false;
    uses_touched_ = false;
    const auto with = [&](const PrimExpr& value) {
      return Substitute(stmt, [&](const VarNode* var) {
        return var == var_.get() ? value : PrimExpr();
      });
    };
    const DType dtype = var_->dtype();
    if (loop_depth_ == 0 && threads_ < 16) {
      if (status_.ok()) {
        status_ = budget_.Take(stmt, threads_ - 1, stmt->span());
      }
      if (!status_.ok()) return stmt;
      std::vector<Stmt> seq;
      for (int64_t i = 0; i < threads_; ++i) {
        AppendFlattened(with(MakeConst(dtype, i)), seq);
      }
      return MakeSeq(std::move(seq));
    }
    const Var index(absl::StrCat(var_->name(), ".s"), dtype);
    ForNode::Parts parts;
    parts.loop_var = index;
    parts.min = MakeConst(dtype, 0);
    parts.extent = MakeConst(dtype, threads_);
    parts.body = with(index);
    return For(std::move(parts));
  }

  PrimExpr IndexOfThread(const PrimExpr& index, const PrimExpr& stride) {
    return analyzer_.Simplify(Add(index, Mul(var_, stride)));
  }
  bool IsFlat(const Buffer& buffer, absl::Span<const PrimExpr> indices,
              const Span& span) {
    if (indices.size() == 1 && buffer->shape().size() == 1) return true;
    Fail(span,
         "memory of a virtual thread must have one axis; tir.FlattenBuffer "
         "flattens it");
    return false;
  }
  Buffer BufferOfAll(const Buffer& buffer, const PrimExpr& stride) {
    return buffers_.FindOrMake(buffer, [&](BufferNode::Parts& parts) {
      parts.shape = {Mul(buffer->shape()[0], stride)};
    });
  }
  void Fail(const Span& span, std::string message) {
    if (status_.ok()) status_ = ErrorAt(span, std::move(message));
  }

  const Var var_;
  const int64_t threads_;
  const bool may_share_;
  const NodeSet& touched_;
  CopyBudget& budget_;
  bool repeated_ = false;  // around the statement that is rewritten
  bool uses_touched_ = false;
  bool repeat_ = false;
  // Loops in the statement that was rewritten.
  int loop_depth_ = 0;
  // By pointer: the elements of one thread.
  NodeMap<PrimExpr> strides_;
  BufferMap buffers_;
  absl::Status status_;
};

class Injector final : public AnalyzingRewriter {
 public:
  using AnalyzingRewriter::AnalyzingRewriter;
  const absl::Status& status() const { return status_; }

 protected:
  Stmt VisitAttrStmt(const AttrStmtNode* node) override {
    const Stmt result = Rewriter::VisitAttrStmt(node);
    const auto* attr = result.As<AttrStmtNode>();
    if (attr->key() != "virtual_thread") return result;
    const auto* thread = attr->node().As<IterVarNode>();
    const auto* threads = attr->value().As<IntImmNode>();
    if (thread == nullptr || threads == nullptr) {
      if (status_.ok()) {
        status_ = ErrorAt(node->span(),
                          "the number of virtual threads is not constant");
      }
      return result;
    }
    NodeSet touched;
    TouchedFinder(touched).Run(attr->body(), thread->var().get());
    Repeater repeater(analyzer_, thread->var(), threads->value(), touched,
                      absl::StartsWith(thread->thread_tag(), "vthread"),
                      budget_);
    Stmt body = repeater.Rewrite(attr->body());
    if (status_.ok()) status_ = repeater.status();
    return body;
  }

 private:
  CopyBudget budget_{"tir.InjectVirtualThread"};
  absl::Status status_;
};

}  // namespace

Pass InjectVirtualThread() {
  return CreatePrimFuncPass(
      [](PrimFunc function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        Analyzer analyzer;
        Injector injector(analyzer);
        Stmt body = injector.Rewrite(function->body());
        if (!injector.status().ok()) return injector.status();
        body = ConvertSSA(body);
        if (body == function->body()) return function;
        PrimFuncNode::Parts parts = function->parts();
        parts.body = std::move(body);
        return PrimFunc(std::move(parts), function->span());
      },
      {.name = "tir.InjectVirtualThread",
       .doc = "Runs virtual threads one after the other.",
       .idempotent = true});
}
BATON_REGISTER_PASS_AS("tir.InjectVirtualThread", InjectVirtualThread);

}  // namespace baton::tir
