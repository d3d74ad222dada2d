// VectorizeLoop: computes all steps of a vectorized loop at once.
//
//   for i in T.vectorized(4):
//       A[i] = A[i] + x                 A[0:4] = A[0:4] + T.Broadcast(x, 4)

#ifndef BATON_TIR_TRANSFORM_VECTORIZE_LOOP_H_
#define BATON_TIR_TRANSFORM_VECTORIZE_LOOP_H_

#include "baton/transform/pass.h"

namespace baton::tir {

struct VectorizeLoopOptions {
  bool enable_vectorize = true;

  template <typename V>
  static void VisitFields(V& v) {
    v("enable_vectorize", &VectorizeLoopOptions::enable_vectorize,
      "If false, vectorized loops become serial ones.");
  }
};

// Statements that have no form on vectors, such as one whose condition differs
// between steps, become serial loops. A vectorized loop must begin at 0, have a
// constant extent, and no `while` in it.
Pass VectorizeLoop(VectorizeLoopOptions options = {});

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_VECTORIZE_LOOP_H_
