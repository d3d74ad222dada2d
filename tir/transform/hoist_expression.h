// HoistExpression, HoistIfThenElse: compute conditions and lets outside of the
// loops on which they do not depend.
//
//   for i in range(8):              if n < 4:
//       if n < 4:                       for i in range(8):
//           A[i] = 0                        A[i] = 0

#ifndef BATON_TIR_TRANSFORM_HOIST_EXPRESSION_H_
#define BATON_TIR_TRANSFORM_HOIST_EXPRESSION_H_

#include <optional>
#include <string>

#include "baton/transform/pass.h"

namespace baton::tir {

// Moves what the setting `tir.HoistExpression` selects, then simplifies and
// removes statements without effect. Stays within a loop that has a sequence of
// statements between itself and the expression.
Pass HoistExpression();

struct HoistIfThenElseOptions {
  std::optional<std::string> variant;

  template <typename V>
  static void VisitFields(V& v) {
    v("variant", &HoistIfThenElseOptions::variant,
      "`basic`: ignores the setting tir.HoistIfThenElse.");
  }
};

// Moves the conditions of `if` statements.
Pass HoistIfThenElse(HoistIfThenElseOptions options = {});

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_HOIST_EXPRESSION_H_
