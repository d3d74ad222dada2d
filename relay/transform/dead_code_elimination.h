// DeadCodeElimination: removes unused lets.
//
//   let %a = exp(%x);
//   let %b = log(%x);
//   %b
//
// becomes
//
//   let %b = log(%x);
//   %b
//
// Level 1, a module pass. A let is removed if no needed expression uses its
// variable and evaluating its value has no effect (relay/analysis/purity.h).
// All functions of the module stay, used or not.

#ifndef BATON_RELAY_TRANSFORM_DEAD_CODE_ELIMINATION_H_
#define BATON_RELAY_TRANSFORM_DEAD_CODE_ELIMINATION_H_

#include "baton/transform/pass.h"

namespace baton::relay {

struct DeadCodeEliminationOptions {
  bool inline_once = false;
  bool ignore_impurity = false;

  template <typename V>
  static void VisitFields(V& v) {
    v("inline_once", &DeadCodeEliminationOptions::inline_once,
      "Whether to inline values that are used once, outside of inner "
      "functions.");
    v("ignore_impurity", &DeadCodeEliminationOptions::ignore_impurity,
      "Whether to treat everything as free of effects.");
  }
};

// Requires InferType. An expression without types is taken to have effects,
// unless effects are ignored.
Pass DeadCodeElimination(DeadCodeEliminationOptions options = {});

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_DEAD_CODE_ELIMINATION_H_
