// AddedLowerPasses: runs the passes that a context adds to the pipeline
// tir.lower.
//
//   --config=tir.add_lower_pass=[[1,tir.Simplify],[2,"A,B{n=1}"]]

#ifndef BATON_TIR_TRANSFORM_ADDED_LOWER_PASSES_H_
#define BATON_TIR_TRANSFORM_ADDED_LOWER_PASSES_H_

#include <cstdint>

#include "baton/base/fields.h"
#include "baton/transform/pass.h"

namespace baton::tir {

struct AddedLowerPassesOptions {
  int64_t phase = 0;

  template <typename V>
  static void VisitFields(V& v) {
    v("phase", &AddedLowerPassesOptions::phase,
      "The phase that has ended: 0 before all passes, 3 before "
      "CommonSubexprElimTIR.",
      kRequired);
  }
};

// Runs the pipelines that the setting `tir.add_lower_pass` has for the phase.
// The setting is a list of pairs, each a phase and the text of a pipeline.
// Phase 3 runs the pipelines of all higher phases, too.
Pass AddedLowerPasses(AddedLowerPassesOptions options);

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_ADDED_LOWER_PASSES_H_
