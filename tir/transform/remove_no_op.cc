#include "baton/tir/transform/remove_no_op.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/ir/rewrite_gate.h"
#include "baton/tir/analysis/side_effect.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/analyzing_rewriter.h"
#include "baton/tir/arith/int_set.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/intrinsics.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/known_values.h"
#include "baton/tir/transform/pass_config.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/transform/config.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

struct RemoveNoOpConfig {
  static constexpr bool kIsPassConfig = true;
  bool use_dataflow_analysis = false;
  int64_t max_simplification_steps = 0;

  template <typename V>
  static void VisitFields(V& v) {
    v("use_dataflow_analysis", &RemoveNoOpConfig::use_dataflow_analysis,
      "Removes stores that are overwritten, and those of known values.");
    v("max_simplification_steps", &RemoveNoOpConfig::max_simplification_steps,
      "Most steps of simplification; 0: no limit.");
  }
};
BATON_REGISTER_CONFIG(kConfig, RemoveNoOpConfig, "tir.RemoveNoOp", {},
                      "How far tir.RemoveNoOp looks.");

bool IsNoOp(const Stmt& stmt) {
  const auto* evaluate = stmt.As<EvaluateNode>();
  return evaluate != nullptr && evaluate->value().As<IntImmNode>() != nullptr;
}

Stmt NoOp() { return Evaluate(IntImm(kInt32, 0)); }

bool HasSideEffect(const PrimExpr& e) {
  return SideEffectOf(e) > CallEffect::kReadState;
}

// Evaluates those of `values` that have side effects.
Stmt EffectsOf(absl::Span<const PrimExpr> values) {
  std::vector<Stmt> effects;
  for (const PrimExpr& value : values) {
    if (HasSideEffect(value)) effects.push_back(Evaluate(value));
  }
  return MakeSeq(std::move(effects));
}

// Finds what is without effect by the values of expressions: loops that never
// run, branches that are never taken, stores of the value that is there.
class Simplifier final : public AnalyzingRewriter {
 public:
  // `known` and `context` may be null.
  Simplifier(Analyzer& analyzer, KnownValues* known, const Stmt& context)
      : AnalyzingRewriter(analyzer), known_(known), context_(context) {}

 protected:
  Stmt VisitAttrStmt(const AttrStmtNode* node) override {
    if (node->key() == "pragma_debug_skip_region" && MayRewrite()) {
      return NoOp();
    }
    if (node->key() == "async_wait_queue_scope") {
      // A count below 0, as unrolling makes them, waits for nothing.
      const auto* inner = node->body().As<AttrStmtNode>();
      if (inner != nullptr && inner->key() == "async_wait_inflight_count" &&
          Analyzer().CanProve(
              MakeBinary(BinaryOp::kLT, inner->value(),
                         MakeConst(inner->value().dtype(), 0))) &&
          MayRewrite()) {
        return Rewrite(inner->body());
      }
    }
    return AnalyzingRewriter::VisitAttrStmt(node);
  }

  Stmt VisitFor(const ForNode* node) override {
    const IntSet extents = EvalSet(node->extent(), loops_);
    if (extents.HasUpperBound() &&
        analyzer_.CanProve(
            MakeBinary(BinaryOp::kLE, extents.max(), IntImm(kInt32, 0))) &&
        MayRewrite()) {
      return NoOp();
    }
    loops_.Set(node->loop_var(),
               IntSet::FromMinExtent(node->min(), node->extent()));
    Stmt result = AnalyzingRewriter::VisitFor(node);
    const auto* loop = result.As<ForNode>();
    return loop != nullptr && IsZero(loop->extent()) && MayRewrite() ? NoOp()
                                                                     : result;
  }

  Stmt VisitBufferStore(const BufferStoreNode* node) override {
    const std::vector<PrimExpr> indices(node->indices().begin(),
                                        node->indices().end());
    bool is_overwritten = false;
    bool is_useless = false;
    if (known_ != nullptr &&
        known_->IsOverwritten(BufferStore(node), ContextOf(node))) {
      is_overwritten = true;
      is_useless = true;
    } else if (const auto* load = node->value().As<BufferLoadNode>();
               load != nullptr && IsSamePlace(*load, *node)) {
      is_useless = true;
    } else {
      is_useless = StoresKnownValue(node, BufferLoad(node->buffer(), indices));
    }
    if (!is_useless || !MayRewrite()) return BufferStore(node);
    if (is_overwritten && !context_.defined()) {
      known_->Remove(BufferStore(node));
    }
    std::vector<PrimExpr> parts = {node->value()};
    parts.insert(parts.end(), indices.begin(), indices.end());
    return EffectsOf(parts);
  }

 private:
  Stmt ContextOf(const BufferStoreNode* store) const {
    return context_.defined() ? context_ : Stmt(store);
  }

  // True if the element has the value already.
  bool StoresKnownValue(const BufferStoreNode* node, const BufferLoad& there) {
    if (there->dtype() != node->value().dtype()) return false;
    const PrimExpr difference = Sub(node->value(), there);
    const PrimExpr is_zero =
        MakeBinary(BinaryOp::kEQ, difference, MakeConst(difference.dtype(), 0));
    return IsOne(known_ == nullptr
                     ? analyzer_.Simplify(is_zero)
                     : known_->SimplifyAt(is_zero, ContextOf(node), analyzer_));
  }

  bool IsSamePlace(const BufferLoadNode& load, const BufferStoreNode& store) {
    const BufferNode& a = *load.buffer();
    const BufferNode& b = *store.buffer();
    return a.data() == b.data() &&
           analyzer_.CanProveEqual(a.elem_offset(), b.elem_offset()) &&
           AllEqual(a.shape(), b.shape()) &&
           AllEqual(a.strides(), b.strides()) &&
           AllEqual(load.indices(), store.indices());
  }
  bool AllEqual(absl::Span<const PrimExpr> a, absl::Span<const PrimExpr> b) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i) {
      if (!analyzer_.CanProveEqual(a[i], b[i])) return false;
    }
    return true;
  }

  KnownValues* known_;
  const Stmt context_;
  Domains loops_;  // also of loops that have ended
};

// Removes what is empty and what is not used. Bodies come before values, so
// that uses in what has been removed do not count.
class Pruner final : public Rewriter {
 protected:
  PrimExpr VisitVar(const VarNode* node) override {
    used_.Insert(node);
    return Var(node);
  }
  PrimExpr VisitBufferLoad(const BufferLoadNode* node) override {
    UseBuffer(node->buffer());
    return Rewriter::VisitBufferLoad(node);
  }
  Stmt VisitBufferStore(const BufferStoreNode* node) override {
    UseBuffer(node->buffer());
    return Rewriter::VisitBufferStore(node);
  }

  Stmt VisitEvaluate(const EvaluateNode* node) override {
    if (!HasSideEffect(node->value()) &&
        (IsNoOp(Evaluate(node)) || MayRewrite())) {
      return NoOp();
    }
    return Rewriter::VisitEvaluate(node);
  }
  Stmt VisitLetStmt(const LetStmtNode* node) override {
    Stmt body = Rewrite(node->body());
    const bool is_used = used_.Contains(node->var().get());
    const bool may_go = (IsNoOp(body) || !is_used) && MayRewrite();
    if (may_go && IsNoOp(body)) return Effects({node->value()});
    if (!may_go) {
      Rewrite(node->value());
      if (body == node->body()) return LetStmt(node);
      return LetStmt(node->var(), node->value(), std::move(body), node->span());
    }
    if (!HasSideEffect(node->value())) return body;
    std::vector<Stmt> seq = {Effects({node->value()})};
    AppendFlattened(body, seq);
    return MakeSeq(std::move(seq));
  }
  Stmt VisitAttrStmt(const AttrStmtNode* node) override {
    Stmt body = Rewrite(node->body());
    if (IsNoOp(body) && MayRewrite()) return Effects({node->value()});
    Rewrite(node->value());
    if (body == node->body()) return AttrStmt(node);
    return AttrStmt(node->node(), node->key(), node->value(), std::move(body),
                    node->span());
  }
  Stmt VisitIfThenElse(const IfThenElseNode* node) override {
    Stmt then_case = Rewrite(node->then_case());
    Stmt else_case = Rewrite(node->else_case());
    PrimExpr condition = node->condition();
    if (else_case.defined() && IsNoOp(else_case) && MayRewrite()) {
      else_case = Stmt();
    }
    if (IsNoOp(then_case) && MayRewrite()) {
      if (!else_case.defined()) return Effects({condition});
      then_case = std::exchange(else_case, Stmt());
      condition = Negated(condition);
    }
    Rewrite(condition);
    if (condition == node->condition() && then_case == node->then_case() &&
        else_case == node->else_case()) {
      return IfThenElse(node);
    }
    return IfThenElse(std::move(condition), std::move(then_case),
                      std::move(else_case), node->span());
  }
  Stmt VisitFor(const ForNode* node) override {
    Stmt body = Rewrite(node->body());
    if (IsNoOp(body) && MayRewrite()) {
      return Effects({node->min(), node->extent()});
    }
    Rewrite(node->min());
    Rewrite(node->extent());
    if (body == node->body()) return For(node);
    ForNode::Parts parts = node->parts();
    parts.body = std::move(body);
    return For(std::move(parts), node->span());
  }
  Stmt VisitAllocate(const AllocateNode* node) override {
    Stmt result = Rewriter::VisitAllocate(node);
    const auto* alloc = result.As<AllocateNode>();
    return IsNoOp(alloc->body()) && MayRewrite() ? Effects(alloc->extents())
                                                 : result;
  }
  Stmt VisitDeclBuffer(const DeclBufferNode* node) override {
    Stmt result = Rewriter::VisitDeclBuffer(node);
    return used_.Contains(node->buffer().get()) || !MayRewrite()
               ? result
               : result.As<DeclBufferNode>()->body();
  }

 private:
  static PrimExpr Negated(const PrimExpr& condition) {
    if (const auto* imm = condition.As<IntImmNode>()) {
      return IntImm(imm->dtype(), imm->value() == 0 ? 1 : 0);
    }
    return Not(condition);
  }

  Stmt Effects(absl::Span<const PrimExpr> values) {
    Stmt result = EffectsOf(values);
    if (!IsNoOp(result)) {
      for (const PrimExpr& value : values) Rewrite(value);
    }
    return result;
  }
  void UseBuffer(const Buffer& buffer) {
    used_.Insert(buffer.get());
    used_.Insert(buffer->data().get());
  }

  NodeSet used_;  // variables and buffers
};

}  // namespace

Stmt RemoveNoOps(const Stmt& stmt, Analyzer& analyzer, KnownValues* known,
                 const Stmt& context) {
  return Pruner().Rewrite(Simplifier(analyzer, known, context).Rewrite(stmt));
}

Pass RemoveNoOp() {
  return CreatePrimFuncPass(
      [](PrimFunc function, const IRModule& /*module*/,
         const PassContext& context) -> absl::StatusOr<PrimFunc> {
        const RemoveNoOpConfig config = context.Get(kConfig);
        std::unique_ptr<KnownValues> known;
        if (config.use_dataflow_analysis) {
          known = std::make_unique<KnownValues>(
              function->body(), config.max_simplification_steps);
          if (!known->status().ok()) return known->status();
        }
        Analyzer analyzer;
        analyzer.SetMaxRewriteSteps(config.max_simplification_steps);
        PrimFuncNode::Parts parts = function->parts();
        parts.body = RemoveNoOps(function->body(), analyzer, known.get());
        if (parts.body == function->body()) return function;
        return PrimFunc(std::move(parts), function->span());
      },
      {.name = "tir.RemoveNoOp",
       .doc = "Removes statements without effect.",
       .idempotent = true});
}
BATON_REGISTER_PASS_AS("tir.RemoveNoOp", RemoveNoOp);

}  // namespace baton::tir
