// Narrows the sets of values of variables where a condition is true.
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
  // The values of the variables that a region of accesses does not contain: the
  // region is the union of the accesses for all these values.
  Domains domains;
  // The values of other variables, where conditions bound them.
  Domains hints;
  // Conditions that are true and that `domains` and `hints` do not express:
  // conditions that bound no variable, and those that say more than the ranges
  // of their variables. At most 64.
  std::vector<PrimExpr> pending;

  // Assumes `condition` until the scope is destroyed: intersects the domains or
  // hints of its variables with the ranges that it implies, or adds it to
  // `pending`. Ignores a condition of more than 1024 nodes. Scopes must nest.
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
