// MergeComposite: makes functions of operator groups that external compilers
// support as one operation.
//
// Each match of a composite pattern (relay/pattern/pattern_table.h) becomes the
// call of a function with the attribute `Composite`, the pattern's name.
// Patterns are tried in order, each on the whole program: operators in a
// composite function belong to it. AnnotateTarget assigns the calls to the
// compilers.

#ifndef BATON_RELAY_TRANSFORM_MERGE_COMPOSITE_H_
#define BATON_RELAY_TRANSFORM_MERGE_COMPOSITE_H_

#include <string>
#include <vector>

#include "baton/relay/pattern/pattern_table.h"
#include "baton/transform/pass.h"

namespace baton::relay {

struct MergeCompositeOptions {
  std::vector<std::string> compilers;

  template <typename V>
  static void VisitFields(V& v) {
    v("compilers", &MergeCompositeOptions::compilers,
      "Names of the compilers whose pattern tables are used, in this order; if "
      "empty, all that are linked in, by name.");
  }
};

// A function pass of level 0, which requires InferType.
Pass MergeComposite(MergeCompositeOptions options = {});

// As MergeComposite, with the given patterns.
Pass MergeCompositePatterns(std::vector<CompositePattern> patterns);

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_MERGE_COMPOSITE_H_
