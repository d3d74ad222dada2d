#include "baton/tir/arith/analyzing_rewriter.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/pattern.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/intrinsics.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {
namespace {

// True for a call of `if_then_else`.
bool IsIfThenElse(const CallNode* node) {
  return node->op() == IntrinsicOp("if_then_else") && node->args().size() == 3;
}

Stmt Nothing() { return Evaluate(IntImm(kInt32, 0)); }

}  // namespace

PrimExpr WithoutLikely(const PrimExpr& condition) {
  const auto* call = condition.As<CallNode>();
  return call != nullptr && call->op() == IntrinsicOp("likely") &&
                 call->args().size() == 1
             ? call->args()[0]
             : condition;
}

bool BindsThread(const AttrStmtNode* node) {
  return (node->key() == "thread_extent" || node->key() == "virtual_thread") &&
         node->node().Is<IterVarNode>();
}

// --- AnalyzingRewriter -------------------------------------------------------

void AnalyzingRewriter::MarkBufferShapes(const PrimFunc& function) {
  for (const Buffer& buffer : function->buffers()) {
    for (const PrimExpr& extent : buffer->shape()) {
      analyzer_.MarkGlobalNonNeg(extent);
    }
  }
}

std::vector<PrimExpr> AnalyzingRewriter::SimplifyIndices(
    absl::Span<const PrimExpr> indices, bool non_trivial_only) {
  std::vector<PrimExpr> simplified = iters_.Simplify(indices, analyzer_);
  if (non_trivial_only) {
    for (size_t i = 0; i < simplified.size(); ++i) {
      if (simplified[i].Is<IntImmNode>() && indices[i].Is<VarNode>()) {
        simplified[i] = indices[i];
      }
    }
  }
  return simplified;
}

void AnalyzingRewriter::WithPredicate(const PrimExpr& condition,
                                      absl::FunctionRef<void()> fn) {
  iters_.Push(condition);
  fn();
  iters_.Pop();
}

Stmt AnalyzingRewriter::VisitFor(const ForNode* node) {
  const Range range = {node->min(), node->extent()};
  analyzer_.Bind(node->loop_var(), range);
  iters_.Bind(node->loop_var(), range);
  return Rewriter::VisitFor(node);
}

Stmt AnalyzingRewriter::VisitBlock(const BlockNode* node) {
  for (const IterVar& iter : node->iter_vars()) {
    const Range range = {iter->min(), iter->extent()};
    analyzer_.Bind(iter->var(), range);
    iters_.Bind(iter->var(), range);
  }
  return Rewriter::VisitBlock(node);
}

Stmt AnalyzingRewriter::VisitLetStmt(const LetStmtNode* node) {
  PrimExpr value = Rewrite(node->value());
  if (IsPure(value)) analyzer_.Bind(node->var(), value);
  Stmt body = Rewrite(node->body());
  if (value == node->value() && body == node->body()) return Stmt(node);
  return LetStmt(node->var(), std::move(value), std::move(body), node->span());
}

Stmt AnalyzingRewriter::VisitIfThenElse(const IfThenElseNode* node) {
  PrimExpr condition = Rewrite(node->condition());
  const PrimExpr real = WithoutLikely(condition);
  Stmt then_case;
  Stmt else_case;
  {
    const auto scope = analyzer_.WithConstraint(real);
    WithPredicate(real, [&] { then_case = Rewrite(node->then_case()); });
  }
  if (node->else_case().defined()) {
    const auto scope =
        analyzer_.WithConstraint(analyzer_.RewriteSimplify(Not(real)));
    else_case = Rewrite(node->else_case());
  }
  if (IsOne(real)) return then_case;
  if (IsZero(real)) return else_case.defined() ? else_case : Nothing();
  if (condition == node->condition() && then_case == node->then_case() &&
      else_case == node->else_case()) {
    return Stmt(node);
  }
  return IfThenElse(std::move(condition), std::move(then_case),
                    std::move(else_case), node->span());
}

Stmt AnalyzingRewriter::VisitAttrStmt(const AttrStmtNode* node) {
  if (BindsThread(node)) {
    const auto* iter = node->node().As<IterVarNode>();
    const Range range = {MakeConst(node->value().dtype(), 0), node->value()};
    analyzer_.Bind(iter->var(), range);
    iters_.Bind(iter->var(), range);
  }
  return Rewriter::VisitAttrStmt(node);
}

Stmt AnalyzingRewriter::VisitAssertStmt(const AssertStmtNode* node) {
  PrimExpr condition = Rewrite(node->condition());
  PrimExpr message = Rewrite(node->message());
  const auto scope = analyzer_.WithConstraint(condition);
  Stmt body = Rewrite(node->body());
  if (condition == node->condition() && message == node->message() &&
      body == node->body()) {
    return Stmt(node);
  }
  return AssertStmt(std::move(condition), std::move(message), std::move(body),
                    node->span());
}

PrimExpr AnalyzingRewriter::VisitLet(const LetNode* node) {
  PrimExpr value = Rewrite(node->value());
  if (IsPure(value)) analyzer_.Bind(node->var(), value);
  PrimExpr body = Rewrite(node->body());
  if (value == node->value() && body == node->body()) return PrimExpr(node);
  return Let(node->var(), std::move(value), std::move(body), node->span());
}

PrimExpr AnalyzingRewriter::VisitSelect(const SelectNode* node) {
  PrimExpr condition = Rewrite(node->condition());
  PrimExpr true_value;
  PrimExpr false_value;
  {
    const auto scope = analyzer_.WithConstraint(condition);
    true_value = Rewrite(node->true_value());
  }
  {
    const auto scope =
        analyzer_.WithConstraint(analyzer_.RewriteSimplify(Not(condition)));
    false_value = Rewrite(node->false_value());
  }
  if (IsZero(condition)) return false_value;
  if (IsOne(condition)) return true_value;
  if (condition == node->condition() && true_value == node->true_value() &&
      false_value == node->false_value()) {
    return PrimExpr(node);
  }
  return Select(std::move(condition), std::move(true_value),
                std::move(false_value), node->span());
}

PrimExpr AnalyzingRewriter::VisitCall(const CallNode* node) {
  if (!IsIfThenElse(node)) return Rewriter::VisitCall(node);
  const absl::Span<const PrimExpr> args = node->args();
  PrimExpr condition = Rewrite(args[0]);
  PrimExpr true_value;
  PrimExpr false_value;
  {
    const auto scope = analyzer_.WithConstraint(condition);
    WithPredicate(condition, [&] { true_value = Rewrite(args[1]); });
  }
  {
    const auto scope =
        analyzer_.WithConstraint(analyzer_.RewriteSimplify(Not(condition)));
    false_value = Rewrite(args[2]);
  }
  if (IsZero(condition)) return false_value;
  if (IsOne(condition)) return true_value;
  if (condition == args[0] && true_value == args[1] && false_value == args[2]) {
    return PrimExpr(node);
  }
  return Call(
      node->dtype(), node->op(),
      {std::move(condition), std::move(true_value), std::move(false_value)},
      node->span());
}

PrimExpr AnalyzingRewriter::VisitReduce(const ReduceNode* node) {
  for (const IterVar& iter : node->axis()) {
    analyzer_.Bind(iter->var(), Range{iter->min(), iter->extent()});
  }
  return Rewriter::VisitReduce(node);
}

// --- AnalyzingVisitor --------------------------------------------------------

void AnalyzingVisitor::VisitFor(const ForNode* node) {
  analyzer_.Bind(node->loop_var(), Range{node->min(), node->extent()});
  Visitor::VisitFor(node);
}

void AnalyzingVisitor::VisitBlock(const BlockNode* node) {
  for (const IterVar& iter : node->iter_vars()) {
    analyzer_.Bind(iter->var(), Range{iter->min(), iter->extent()});
  }
  Visitor::VisitBlock(node);
}

void AnalyzingVisitor::VisitLetStmt(const LetStmtNode* node) {
  Visit(node->value());
  analyzer_.Bind(node->var(), node->value());
  Visit(node->body());
}

void AnalyzingVisitor::VisitIfThenElse(const IfThenElseNode* node) {
  Visit(node->condition());
  const PrimExpr real = WithoutLikely(node->condition());
  {
    const auto scope = analyzer_.WithConstraint(real);
    Visit(node->then_case());
  }
  if (node->else_case().defined()) {
    const auto scope =
        analyzer_.WithConstraint(analyzer_.RewriteSimplify(Not(real)));
    Visit(node->else_case());
  }
}

void AnalyzingVisitor::VisitAttrStmt(const AttrStmtNode* node) {
  if (BindsThread(node)) {
    analyzer_.Bind(node->node().As<IterVarNode>()->var(),
                   Range{IntImm(kInt32, 0), node->value()});
  }
  Visitor::VisitAttrStmt(node);
}

void AnalyzingVisitor::VisitAssertStmt(const AssertStmtNode* node) {
  Visit(node->condition());
  Visit(node->message());
  const auto scope = analyzer_.WithConstraint(node->condition());
  Visit(node->body());
}

void AnalyzingVisitor::VisitLet(const LetNode* node) {
  Visit(node->value());
  analyzer_.Bind(node->var(), node->value());
  Visit(node->body());
}

void AnalyzingVisitor::VisitCall(const CallNode* node) {
  if (!IsIfThenElse(node)) {
    Visitor::VisitCall(node);
    return;
  }
  const PrimExpr& condition = node->args()[0];
  Visit(condition);
  {
    const auto scope = analyzer_.WithConstraint(condition);
    Visit(node->args()[1]);
  }
  {
    const auto scope =
        analyzer_.WithConstraint(analyzer_.RewriteSimplify(Not(condition)));
    Visit(node->args()[2]);
  }
}

void AnalyzingVisitor::VisitReduce(const ReduceNode* node) {
  for (const IterVar& iter : node->axis()) {
    analyzer_.Bind(iter->var(), Range{iter->min(), iter->extent()});
  }
  Visitor::VisitReduce(node);
}

}  // namespace baton::tir
