// AnnotateTarget: assigns calls to external compilers.
//
// A call of a composite function is assigned to the compiler in its name, a
// call of an operator to the first compiler whose pattern table supports it
// (relay/pattern/pattern_table.h), and all other expressions to `default`.
// Annotations mark the assignment (relay/analysis/annotated_regions.h). Calls
// with an annotation for a compiler keep it.

#ifndef BATON_RELAY_TRANSFORM_ANNOTATE_TARGET_H_
#define BATON_RELAY_TRANSFORM_ANNOTATE_TARGET_H_

#include <string>
#include <vector>

#include "baton/base/fields.h"
#include "baton/transform/pass.h"

namespace baton::relay {

struct AnnotateTargetOptions {
  std::vector<std::string> targets;
  bool include_non_call_ops = true;

  template <typename V>
  static void VisitFields(V& v) {
    v("targets", &AnnotateTargetOptions::targets,
      "Names of compilers, the preferred first. One without a pattern table "
      "supports composite functions only.",
      kRequired);
    v("include_non_call_ops", &AnnotateTargetOptions::include_non_call_ops,
      "Whether tuples, projections and references between calls are annotated "
      "too, if all of their operands are.");
  }
};

// A function pass of level 0, which requires InferType.
Pass AnnotateTarget(AnnotateTargetOptions options);

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_ANNOTATE_TARGET_H_
