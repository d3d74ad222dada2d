// Modular sets of integer expressions: `coeff * k + base` for integers k. See
// Analyzer::ModularSetOf.

#ifndef BATON_TIR_ARITH_MODULAR_SET_H_
#define BATON_TIR_ARITH_MODULAR_SET_H_

#include <cstdint>

#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/recent_nodes.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"

namespace baton::tir {

class ModularSets {
 public:
  explicit ModularSets(Analyzer& analyzer) : analyzer_(analyzer) {}

  // Sets or replaces the set of `var`.
  void Update(const Var& var, ModularSet set);
  // A set that has all values of `e`; all integers if nothing is known.
  ModularSet Of(const PrimExpr& e);

  // The variable whose set a condition changed, and its set before.
  struct Undo {
    Var var;
    ModularSet set;
  };
  // Assumes `condition` until Leave() is called with the result.
  Undo Enter(const PrimExpr& condition);
  void Leave(const Undo& undo);

 private:
  ModularSet Visit(const PrimExpr& e);
  ModularSet VisitNode(const PrimExpr& e);
  ModularSet VisitBinary(const BinaryNode* node);
  ModularSet Quotient(const PrimExpr& e, int64_t divisor, bool rounds_down);
  ModularSet Rest(const PrimExpr& e, int64_t divisor, bool rounds_down);

  Analyzer& analyzer_;
  VarMap<ModularSet> vars_;
  // A cache of the sets of operations, cleared when the version of the analyzer
  // changes.
  RecentNodes<ModularSet> known_;
  uint64_t version_ = 0;
};

}  // namespace baton::tir

#endif  // BATON_TIR_ARITH_MODULAR_SET_H_
