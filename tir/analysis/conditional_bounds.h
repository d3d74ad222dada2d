// Narrows domains of variables where a condition holds.
//
//   ConditionalBounds bounds;
//   bounds.domains.Set(i, IntSet::FromRange({zero, n}));
//   ConditionalBounds::Scope scope(bounds, i < 8);  // i's domain is [0, 7]

#ifndef BATON_TIR_ANALYSIS_CONDITIONAL_BOUNDS_H_
#define BATON_TIR_ANALYSIS_CONDITIONAL_BOUNDS_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "baton/tir/arith/int_set.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"

namespace baton::tir {

struct ConditionalBounds {
  // The domains of the variables over which accesses are relaxed.
  Domains domains;
  // The domains of other variables.
  Domains hints;
  // Conditions that are true and that domains cannot express.
  std::vector<PrimExpr> pending;

  // Solves `condition` for its variables until it is destroyed.
  class Scope {
   public:
    Scope(ConditionalBounds& bounds, const PrimExpr& condition);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    ConditionalBounds& bounds_;
    size_t num_pending_;
    // The domains before.
    std::vector<std::pair<Var, IntSet>> before_;
  };
};

// The negation; a constant is folded.
PrimExpr Negated(const PrimExpr& condition);

}  // namespace baton::tir

#endif  // BATON_TIR_ANALYSIS_CONDITIONAL_BOUNDS_H_
