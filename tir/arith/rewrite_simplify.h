// Simplifies by rewrite rules. See Analyzer::RewriteSimplify.

#ifndef BATON_TIR_ARITH_REWRITE_SIMPLIFY_H_
#define BATON_TIR_ARITH_REWRITE_SIMPLIFY_H_

#include <cstddef>
#include <cstdint>

#include "baton/base/dtype.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/analyzing_rewriter.h"
#include "baton/tir/arith/recent_nodes.h"
#include "baton/tir/arith/rewrite_rules.h"
#include "baton/tir/arith/rule.h"
#include "baton/tir/arith/scoped_exprs.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"

namespace baton::tir {

class RewriteSimplifier : public AnalyzingRewriter, protected RuleProver {
 public:
  explicit RewriteSimplifier(Analyzer& analyzer)
      : AnalyzingRewriter(analyzer) {}

  // Simplifies twice, unless the first time changes nothing.
  PrimExpr Simplify(const PrimExpr& e);

  void Update(const Var& var, const PrimExpr& value) { vars_.Set(var, value); }
  // Adds the parts of `condition` as known truths. Leave(n), where n is the
  // size() before this call, removes them.
  void Enter(const PrimExpr& condition);
  size_t size() const { return literals_.size(); }
  void Leave(size_t size) { literals_.Leave(size); }

  void set_extensions(unsigned extensions) { extensions_ = extensions; }
  unsigned extensions() const { return extensions_; }
  void set_max_steps(int64_t steps) { max_steps_ = steps; }
  void reset_steps() { steps_ = 0; }
  bool exceeded() const { return max_steps_ > 0 && steps_ > max_steps_; }

 protected:
  PrimExpr VisitVar(const VarNode* node) override;
  // Caches results until a known truth is added or removed: proofs simplify the
  // operands of a comparison again.
  PrimExpr VisitBinary(const BinaryNode* node) override;
  virtual PrimExpr SimplifyBinary(const BinaryNode* node);
  // The cached result for `node`; null if there is none.
  PrimExpr Remembered(const BinaryNode* node);
  void Remember(const BinaryNode* node, const PrimExpr& result);
  PrimExpr VisitNot(const NotNode* node) override;
  PrimExpr VisitSelect(const SelectNode* node) override;
  PrimExpr VisitCall(const CallNode* node) override;
  PrimExpr VisitCast(const CastNode* node) override;
  PrimExpr VisitLet(const LetNode* node) override;

  // The operation of `node` on operands that are simplified.
  PrimExpr Combine(const BinaryNode* node, const PrimExpr& a,
                   const PrimExpr& b);

  bool ProveGreaterEqual(const PrimExpr& e, int64_t bound) override;
  bool ProveZero(const PrimExpr& e) override;

  // Compares by constant bounds, modular sets and known comparisons.
  CompareResult TryCompare(const PrimExpr& e, int64_t value);
  CompareResult TryCompare(const PrimExpr& a, const PrimExpr& b);

  // Exists during each call that simplifies. The outermost call shrinks the
  // cache; calls within its proofs do not.
  class Outermost {
   public:
    explicit Outermost(RewriteSimplifier& simplifier)
        : simplifier_(simplifier) {
      if (simplifier.active_++ == 0) simplifier.ForgetSome();
    }
    Outermost(const Outermost&) = delete;
    Outermost& operator=(const Outermost&) = delete;
    ~Outermost() { --simplifier_.active_; }

   private:
    RewriteSimplifier& simplifier_;
  };
  virtual void ForgetSome() {}

 private:
  // Replaces `e` if a rule matches.
  bool Try(RewriteRules rules, PrimExpr& e);
  // Simplifies a result again, to a limited depth.
  PrimExpr Again(const PrimExpr& e);

  PrimExpr SimplifyArithmetic(PrimExpr e);
  PrimExpr SimplifyMinMax(PrimExpr e);
  PrimExpr SimplifyEqual(PrimExpr e);
  PrimExpr SimplifyLess(PrimExpr e);
  PrimExpr SimplifyNot(PrimExpr e);
  PrimExpr SimplifyNotEqual(const PrimExpr& e);
  PrimExpr SimplifyLessEqual(const PrimExpr& e);
  PrimExpr SimplifyAndOr(PrimExpr e);
  PrimExpr BooleanOperands(const BinaryNode* node);
  PrimExpr SimplifyVectorQuotient(const BinaryNode* node);
  PrimExpr SimplifyFloorDiv(const BinaryNode* node);
  PrimExpr SimplifyModByConstant(const BinaryNode* node);
  PrimExpr MergeConstants(const BinaryNode* node);
  void EnterLiteral(const PrimExpr& e);
  // The known truth of `e`, as a constant; null if it is not known.
  PrimExpr MatchLiteral(const PrimExpr& e);

  static constexpr int kMaxDepth = 5;
  int active_ = 0;

  struct Result {
    PrimExpr result;
    int depth = 0;  // of the call that computed `result`; deeper calls may
                    // simplify less
  };
  // The parts of a large expression that were just left: more would not stay in
  // the processor's caches.
  RecentNodes<Result> memo_;
  uint64_t memo_version_ = 0;
  VarMap<PrimExpr> vars_;
  // The truth of conditions, that of the outermost one where several are equal.
  ScopedExprs<bool> literals_;
  unsigned extensions_ = Analyzer::kNoExtension;
  int depth_ = 0;
  int64_t max_steps_ = 0;
  int64_t steps_ = 0;
};

// True for signed scalars of 32 or 64 bits, for which the index rules hold.
bool IsIndexType(DType dtype);

// The negation of a simplified condition.
PrimExpr NegateCondition(const PrimExpr& e);

}  // namespace baton::tir

#endif  // BATON_TIR_ARITH_REWRITE_SIMPLIFY_H_
