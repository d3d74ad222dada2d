// The example of docs/write_a_tir_pass.md: RemoveUnitLoops.

#ifndef BATON_EXAMPLES_WRITE_A_TIR_PASS_H_
#define BATON_EXAMPLES_WRITE_A_TIR_PASS_H_

#include "baton/transform/pass.h"

namespace baton::examples {

// [declaration]
struct RemoveUnitLoopsOptions {
  bool annotated = false;

  template <typename V>
  static void VisitFields(V& v) {
    v("annotated", &RemoveUnitLoopsOptions::annotated,
      "Removes loops with annotations, too, which are then lost.");
  }
};

// A loop of one step becomes its body, with its first value in place of its
// variable. Loops that are bound to threads stay.
Pass RemoveUnitLoops(RemoveUnitLoopsOptions options = {});
// [/declaration]

}  // namespace baton::examples

#endif  // BATON_EXAMPLES_WRITE_A_TIR_PASS_H_
