// The sets of variables in scope. See Analyzer::IntSetOf.

#ifndef BATON_TIR_ARITH_INT_SET_ANALYZER_H_
#define BATON_TIR_ARITH_INT_SET_ANALYZER_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/int_set.h"
#include "baton/tir/ir/expr.h"

namespace baton::tir {

// Computes the sets of expressions.
class IntSetEvaluator {
 public:
  using Scoped = std::vector<std::pair<Var, IntSet>>;
  // `scoped` has further sets of variables, which must hold as well; null if
  // there are none.
  IntSetEvaluator(Analyzer& analyzer, const Domains& domains,
                  const Scoped* scoped = nullptr)
      : analyzer_(analyzer), domains_(domains), scoped_(scoped) {}

  IntSet Eval(const PrimExpr& e);
  IntSet Eval(const IntSet& set);
  // Records the set of each expression that is visited.
  void set_record(std::vector<std::pair<PrimExpr, IntSet>>* record) {
    record_ = record;
  }

 private:
  IntSet Visit(const PrimExpr& e);
  IntSet VisitVar(const PrimExpr& e);
  IntSet VisitBinary(const BinaryNode* node);
  IntSet Combine(BinaryOp op, const IntSet& a, const IntSet& b);
  IntSet Scale(BinaryOp op, const IntSet& a, const PrimExpr& factor);
  IntSet Rest(BinaryOp op, const IntSet& a, const PrimExpr& divisor);

  Analyzer& analyzer_;
  const Domains& domains_;
  const Scoped* scoped_;
  std::vector<std::pair<PrimExpr, IntSet>>* record_ = nullptr;
  size_t depth_ = 0;
};

class IntSets {
 public:
  explicit IntSets(Analyzer& analyzer) : analyzer_(analyzer) {}
  void Update(const Var& var, const IntSet& set) { domains_.Set(var, set); }
  IntSet Of(const PrimExpr& e) {
    return IntSetEvaluator(analyzer_, domains_, &scoped_).Eval(e);
  }
  // Adds the sets that a condition gives; ends with Leave(size() before).
  void Enter(const PrimExpr& condition);
  size_t size() const { return scoped_.size(); }
  void Leave(size_t size) { scoped_.resize(size); }

 private:
  Analyzer& analyzer_;
  Domains domains_;
  IntSetEvaluator::Scoped scoped_;
};

}  // namespace baton::tir

#endif  // BATON_TIR_ARITH_INT_SET_ANALYZER_H_
