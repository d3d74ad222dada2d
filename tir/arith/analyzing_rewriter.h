// Visitors and rewriters with an analyzer to which they add the facts of each
// scope: ranges of loop variables, block variables and threads, values of let
// bindings, conditions of branches and assertions.
//
//   class Folder : public AnalyzingRewriter {
//    public:
//     explicit Folder(Analyzer& analyzer) : AnalyzingRewriter(analyzer) {}
//     PrimExpr VisitBufferLoad(const BufferLoadNode* load) override { ... }
//   };
//
// A subclass that overrides a hook that is listed here calls the hook of this
// class, or binds the variables itself.

#ifndef BATON_TIR_ARITH_ANALYZING_REWRITER_H_
#define BATON_TIR_ARITH_ANALYZING_REWRITER_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/iter_scope.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {

class AnalyzingRewriter : public Rewriter {
 public:
  explicit AnalyzingRewriter(Analyzer& analyzer) : analyzer_(analyzer) {}

 protected:
  Stmt VisitFor(const ForNode* node) override;
  Stmt VisitBlock(const BlockNode* node) override;
  Stmt VisitLetStmt(const LetStmtNode* node) override;
  Stmt VisitIfThenElse(const IfThenElseNode* node) override;
  Stmt VisitAttrStmt(const AttrStmtNode* node) override;
  Stmt VisitAssertStmt(const AssertStmtNode* node) override;
  PrimExpr VisitLet(const LetNode* node) override;
  PrimExpr VisitSelect(const SelectNode* node) override;
  PrimExpr VisitCall(const CallNode* node) override;
  PrimExpr VisitReduce(const ReduceNode* node) override;

  // Records that extents of parameters' buffers are not negative.
  void MarkBufferShapes(const PrimFunc& function);
  // Simplifies indices as a map (iter_map.h) of the iterators in scope. With
  // `non_trivial_only`, variables that would become constants stay.
  std::vector<PrimExpr> SimplifyIndices(absl::Span<const PrimExpr> indices,
                                        bool non_trivial_only = false);
  // Calls `fn`, during which SimplifyIndices() assumes `condition`.
  void WithPredicate(const PrimExpr& condition, absl::FunctionRef<void()> fn);

  Analyzer& analyzer_;

 private:
  IterScope iters_;
};

class AnalyzingVisitor : public Visitor {
 public:
  PrimExpr Simplify(const PrimExpr& e) { return analyzer_.Simplify(e); }

 protected:
  void VisitFor(const ForNode* node) override;
  void VisitBlock(const BlockNode* node) override;
  void VisitLetStmt(const LetStmtNode* node) override;
  void VisitIfThenElse(const IfThenElseNode* node) override;
  void VisitAttrStmt(const AttrStmtNode* node) override;
  void VisitAssertStmt(const AssertStmtNode* node) override;
  void VisitLet(const LetNode* node) override;
  void VisitCall(const CallNode* node) override;
  void VisitReduce(const ReduceNode* node) override;

  Analyzer analyzer_;
};

// `condition` without an outer `likely`.
PrimExpr WithoutLikely(const PrimExpr& condition);
// True for an AttrStmt that binds a thread or a virtual thread.
bool BindsThread(const AttrStmtNode* node);

}  // namespace baton::tir

#endif  // BATON_TIR_ARITH_ANALYZING_REWRITER_H_
