// AnnotateSpans: gives every expression a place in the text of the module, so
// that errors in programs that were made by code show where they are.

#ifndef BATON_RELAY_TRANSFORM_ANNOTATE_SPANS_H_
#define BATON_RELAY_TRANSFORM_ANNOTATE_SPANS_H_

#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/transform/pass.h"

namespace baton::relay {

// A module pass of level 0. The result is what the module's text, of the name
// `GeneratedSource`, is read as, with types.
Pass AnnotateSpans();

// The same for a module.
absl::StatusOr<IRModule> AnnotateSpansInModule(const IRModule& module);

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_ANNOTATE_SPANS_H_
