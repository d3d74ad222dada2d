#include "baton/tir/transform/simplify.h"

#include <cstddef>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/ir/rewrite_gate.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/analyzing_rewriter.h"
#include "baton/tir/arith/pattern.h"
#include "baton/tir/arith/var_map.h"
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

BATON_REGISTER_CONFIG(kConfig, SimplifyConfig, "tir.Simplify", {},
                      "What tir.Simplify does beside the usual.");

bool AllDeepEqual(absl::Span<const PrimExpr> a, absl::Span<const PrimExpr> b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!ExprDeepEqual(a[i], b[i])) return false;
  }
  return true;
}

bool IsConstantNumber(const PrimExpr& e) {
  return e.Is<IntImmNode>() || e.Is<FloatImmNode>();
}

// The variables in shapes, strides and offsets of accessed buffers, and their
// pointers. Their let bindings must stay.
class BufferVars final : public Visitor {
 public:
  bool Contains(const VarNode* var) const { return vars_.Contains(var); }

 protected:
  void VisitBufferLoad(const BufferLoadNode* node) override {
    Collect(node->buffer());
    Visitor::VisitBufferLoad(node);
  }
  void VisitBufferStore(const BufferStoreNode* node) override {
    Collect(node->buffer());
    Visitor::VisitBufferStore(node);
  }

 private:
  void Collect(const Buffer& buffer) {
    if (!buffers_.Insert(buffer.get())) return;
    const auto collect = [this](const PrimExpr& e) {
      if (!e.defined()) return;
      PostOrderVisit(e, [this](const PrimExpr& part) {
        if (part.Is<VarNode>()) vars_.Insert(part.get());
      });
    };
    collect(buffer->data());
    for (const PrimExpr& extent : buffer->shape()) collect(extent);
    for (const PrimExpr& stride : buffer->strides()) collect(stride);
    collect(buffer->elem_offset());
  }

  NodeSet buffers_;
  NodeSet vars_;
};

class Simplifier final : public AnalyzingRewriter {
 public:
  Simplifier(Analyzer& analyzer, const PrimFunc& function,
             const SimplifyConfig& config)
      : AnalyzingRewriter(analyzer), config_(config) {
    if (config.propagate_knowns_to_prove_conditional ||
        config.propagate_knowns_to_simplify_expressions) {
      known_.emplace(function->body());
    }
    buffer_vars_.Visit(function->body());
    MarkBufferShapes(function);
  }

 protected:
#define BATON_TIR_SIMPLIFY(Name)                          \
  PrimExpr Visit##Name(const Name##Node* node) override { \
    return SimplifyExpr(PrimExpr(node));                  \
  }
  BATON_TIR_SIMPLIFY(Var)
  BATON_TIR_SIMPLIFY(Cast)
  BATON_TIR_SIMPLIFY(Binary)
  BATON_TIR_SIMPLIFY(Not)
  BATON_TIR_SIMPLIFY(Select)
  BATON_TIR_SIMPLIFY(Ramp)
  BATON_TIR_SIMPLIFY(Broadcast)
  BATON_TIR_SIMPLIFY(Shuffle)
  BATON_TIR_SIMPLIFY(BufferLoad)
  BATON_TIR_SIMPLIFY(Call)
  BATON_TIR_SIMPLIFY(Let)
  BATON_TIR_SIMPLIFY(Reduce)
#undef BATON_TIR_SIMPLIFY
#define BATON_TIR_AT(Name)                            \
  Stmt Visit##Name(const Name##Node* node) override { \
    const At at(*this, node);                         \
    return AnalyzingRewriter::Visit##Name(node);      \
  }
  BATON_TIR_AT(AttrStmt)
  BATON_TIR_AT(AssertStmt)
  BATON_TIR_AT(While)
  BATON_TIR_AT(BufferRealize)
  BATON_TIR_AT(Allocate)
  BATON_TIR_AT(AllocateConst)
  BATON_TIR_AT(DeclBuffer)
  BATON_TIR_AT(SeqStmt)
  BATON_TIR_AT(Evaluate)
  BATON_TIR_AT(Block)
  BATON_TIR_AT(BlockRealize)
  BATON_TIR_AT(Prefetch)
#undef BATON_TIR_AT

  Stmt VisitFor(const ForNode* node) override {
    const At at(*this, node);
    analyzer_.Bind(node->loop_var(), Range{node->min(), node->extent()});
    const auto above = analyzer_.WithConstraint(
        MakeBinary(BinaryOp::kGE, node->loop_var(), node->min()));
    const auto below = analyzer_.WithConstraint(MakeBinary(
        BinaryOp::kLT, node->loop_var(), Add(node->min(), node->extent())));
    return AnalyzingRewriter::VisitFor(node);
  }

  Stmt VisitLetStmt(const LetStmtNode* node) override {
    const At at(*this, node);
    PrimExpr value = Rewrite(node->value());
    const bool pure = IsPure(node->value());
    const bool inlines =
        (IsConstantNumber(node->value()) || node->value().Is<VarNode>() ||
         (node->value().dtype().is_int() && pure)) &&
        MayRewrite();
    if (inlines) {
      analyzer_.Bind(node->var(), value);
      inlined_.Set(node->var(), value);
    } else if (pure) {
      // Conditions may need the value.
      values_.Set(node->var(), value);
    }
    Stmt body = Rewrite(node->body());
    if (inlines && !buffer_vars_.Contains(node->var().get())) return body;
    if (value == node->value() && body == node->body()) return Stmt(node);
    return LetStmt(node->var(), std::move(value), std::move(body),
                   node->span());
  }

  Stmt VisitIfThenElse(const IfThenElseNode* node) override {
    const At at(*this, node);
    const PrimExpr with_values = WithValues(node->condition(), values_);
    const PrimExpr condition = ProveCondition(with_values);
    const auto* imm = condition.As<IntImmNode>();
    if (imm == nullptr || !MayRewrite()) {
      // The base class begins with the condition.
      if (with_values == node->condition() &&
          config_.propagate_knowns_to_prove_conditional ==
              config_.propagate_knowns_to_simplify_expressions) {
        proved_ = {node->condition(), condition};
      }
      return AnalyzingRewriter::VisitIfThenElse(node);
    }
    if (imm->value() != 0) return Rewrite(node->then_case());
    if (node->else_case().defined()) return Rewrite(node->else_case());
    return Evaluate(IntImm(kInt32, 0));
  }

  // A store of the value that is there has no effect.
  Stmt VisitBufferStore(const BufferStoreNode* node) override {
    const At at(*this, node);
    Stmt stmt = AnalyzingRewriter::VisitBufferStore(node);
    const auto* store = stmt.As<BufferStoreNode>();
    if (store == nullptr) return stmt;
    const auto* load = store->value().As<BufferLoadNode>();
    if (load == nullptr || !AllDeepEqual(load->indices(), store->indices())) {
      return stmt;
    }
    const Buffer& from = load->buffer();
    const Buffer& to = store->buffer();
    if (from == to ||
        (from->data() == to->data() && from->dtype() == to->dtype() &&
         ExprDeepEqual(from->elem_offset(), to->elem_offset()) &&
         AllDeepEqual(from->shape(), to->shape()) &&
         AllDeepEqual(from->strides(), to->strides()))) {
      if (MayRewrite()) return Evaluate(IntImm(kInt32, 0));
    }
    return stmt;
  }

 private:
  // Remembers the statement that is visited.
  class At {
   public:
    At(Simplifier& simplifier, const StmtNode* node)
        : simplifier_(simplifier), outer_(simplifier.at_) {
      simplifier.at_ = node;
    }
    At(const At&) = delete;
    At& operator=(const At&) = delete;
    ~At() { simplifier_.at_ = outer_; }

   private:
    Simplifier& simplifier_;
    const StmtNode* outer_;
  };

  PrimExpr SimplifyExpr(const PrimExpr& e) {
    const auto [proved, value] = std::exchange(proved_, {});
    PrimExpr result = e == proved ? value
                      : config_.propagate_knowns_to_simplify_expressions
                          ? known_->SimplifyAt(e, Stmt(at_), analyzer_)
                          : analyzer_.Simplify(e);
    if (result == e || MayRewrite()) return result;
    return WithValues(e, inlined_);
  }

  // `e` with the values of variables.
  static PrimExpr WithValues(const PrimExpr& e,
                             const VarMap<PrimExpr>& values) {
    if (values.empty()) return e;
    return Substitute(e, [&values](const VarNode* var) {
      const PrimExpr* value = values.Find(var);
      return value != nullptr ? *value : PrimExpr();
    });
  }

  PrimExpr ProveCondition(const PrimExpr& condition) {
    return config_.propagate_knowns_to_prove_conditional
               ? known_->SimplifyAt(condition, Stmt(at_), analyzer_)
               : analyzer_.Simplify(condition);
  }

  const SimplifyConfig& config_;
  std::optional<KnownValues> known_;
  const StmtNode* at_ = nullptr;
  BufferVars buffer_vars_;
  // A condition that was simplified just now, and the result.
  std::pair<PrimExpr, PrimExpr> proved_;
  VarMap<PrimExpr> values_;
  // The values of variables whose bindings are removed; they replace the
  // variables in the rest of the function.
  VarMap<PrimExpr> inlined_;
};

}  // namespace

unsigned SimplifyConfig::extensions() const {
  unsigned extensions = Analyzer::kNoExtension;
  if (transitively_prove_inequalities) {
    extensions |= Analyzer::kTransitivelyProveInequalities;
  }
  if (convert_boolean_to_and_of_ors) {
    extensions |= Analyzer::kConvertBooleanToAndOfOrs;
  }
  if (apply_constraints_to_boolean_branches) {
    extensions |= Analyzer::kApplyConstraintsToBooleanBranches;
  }
  return extensions;
}

PrimFunc SimplifyFunction(const PrimFunc& function, Analyzer& analyzer,
                          const SimplifyConfig& config) {
  analyzer.SetExtensions(config.extensions());
  return Simplifier(analyzer, function, config).RewriteBody(function);
}

Pass Simplify() {
  return CreatePrimFuncPass(
      [](PrimFunc function, const IRModule& /*module*/,
         const PassContext& context) -> absl::StatusOr<PrimFunc> {
        Analyzer analyzer;
        return SimplifyFunction(function, analyzer, context.Get(kConfig));
      },
      {.name = "tir.Simplify",
       .doc = "Simplifies expressions and conditions by what loops and "
              "branches around them say.",
       .exact = false});
}
BATON_REGISTER_PASS_AS("tir.Simplify", Simplify);

}  // namespace baton::tir
