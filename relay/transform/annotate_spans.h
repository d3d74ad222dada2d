// AnnotateSpans: gives every expression a place in the text of the module, so
// that errors in generated programs show their place.

#ifndef BATON_RELAY_TRANSFORM_ANNOTATE_SPANS_H_
#define BATON_RELAY_TRANSFORM_ANNOTATE_SPANS_H_

#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/transform/pass.h"

namespace baton::relay {

// A module pass of level 0. Prints the module, parses the text under the name
// `GeneratedSource`, and infers types.
Pass AnnotateSpans();

// Runs the pass on a module.
absl::StatusOr<IRModule> AnnotateSpansInModule(const IRModule& module);

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_ANNOTATE_SPANS_H_
