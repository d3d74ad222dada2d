// tir.Simplify: simplifies expressions, branches with provable conditions, and
// stores of the value that the element already has.

#ifndef BATON_TIR_TRANSFORM_SIMPLIFY_H_
#define BATON_TIR_TRANSFORM_SIMPLIFY_H_

#include "baton/tir/arith/analyzer.h"
#include "baton/tir/ir/function.h"
#include "baton/transform/pass.h"

namespace baton::tir {

// The setting `tir.Simplify`. All are off unless set.
struct SimplifyConfig {
  static constexpr bool kIsPassConfig = true;
  bool transitively_prove_inequalities = false;
  bool propagate_knowns_to_prove_conditional = false;
  bool propagate_knowns_to_simplify_expressions = false;
  bool convert_boolean_to_and_of_ors = false;
  bool apply_constraints_to_boolean_branches = false;

  template <typename V>
  static void VisitFields(V& v) {
    v("transitively_prove_inequalities",
      &SimplifyConfig::transitively_prove_inequalities,
      "Proves conditions by way of further conditions in scope.");
    v("propagate_knowns_to_prove_conditional",
      &SimplifyConfig::propagate_knowns_to_prove_conditional,
      "Proves conditions by values that buffers are known to have.");
    v("propagate_knowns_to_simplify_expressions",
      &SimplifyConfig::propagate_knowns_to_simplify_expressions,
      "Replaces loads by values that buffers are known to have.");
    v("convert_boolean_to_and_of_ors",
      &SimplifyConfig::convert_boolean_to_and_of_ors,
      "Makes conditions conjunctions of disjunctions.");
    v("apply_constraints_to_boolean_branches",
      &SimplifyConfig::apply_constraints_to_boolean_branches,
      "Simplifies each side of `and` and `or` where the other side does not "
      "decide.");
  }

  // The extensions of the analyzer that the setting enables, a set of bits of
  // Analyzer::Extension.
  unsigned extensions() const;
};

// Simplifies one function. The analyzer gets the extensions of `config`.
PrimFunc SimplifyFunction(const PrimFunc& function, Analyzer& analyzer,
                          const SimplifyConfig& config = {});

// The pass `tir.Simplify`.
Pass Simplify();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_SIMPLIFY_H_
