// Constant bounds of integer expressions. See Analyzer::BoundOf.

#ifndef BATON_TIR_ARITH_CONST_INT_BOUND_H_
#define BATON_TIR_ARITH_CONST_INT_BOUND_H_

#include <cstddef>

#include "baton/base/dtype.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/recent_nodes.h"
#include "baton/tir/arith/scoped_exprs.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"

namespace baton::tir {

// Known bounds of variables and conditions, and the bounds of expressions that
// follow from them.
class ConstIntBounds {
 public:
  void Bind(const Var& var, const Range& range);
  void Update(const Var& var, ConstIntBound bound) {
    known_.Clear();
    vars_.Set(var, bound);
  }
  ConstIntBound Of(const PrimExpr& e, Analyzer::BoundMemo* memo = nullptr);

  // Adds the bounds that `condition` implies. Leave(n), where n is the size()
  // before this call, removes them.
  void Enter(const PrimExpr& condition);
  size_t size() const { return conditions_.size(); }
  void Leave(size_t size) {
    if (size == conditions_.size()) return;
    known_.Clear();
    conditions_.Leave(size);
  }

  // The values of a data type.
  static ConstIntBound Everything(DType dtype);

 private:
  ConstIntBound Visit(const PrimExpr& e);
  ConstIntBound VisitNode(const PrimExpr& e);
  ConstIntBound VisitBinary(const BinaryNode* node);
  ConstIntBound VisitCall(const CallNode* node);
  ConstIntBound VisitCast(const CastNode* node);

  VarMap<ConstIntBound> vars_;
  // The bounds that all conditions together give.
  ScopedExprs<ConstIntBound> conditions_;
  Analyzer::BoundMemo* memo_ = nullptr;
  // A cache of the bounds of operations, cleared when the known bounds change.
  RecentNodes<ConstIntBound> known_;
};

}  // namespace baton::tir

#endif  // BATON_TIR_ARITH_CONST_INT_BOUND_H_
