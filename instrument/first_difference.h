// From results that differ to the first node that made them differ.

#ifndef BATON_INSTRUMENT_FIRST_DIFFERENCE_H_
#define BATON_INSTRUMENT_FIRST_DIFFERENCE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/ir/module.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/value.h"
#include "baton/transform/pass_info.h"

namespace baton {

// Evaluates `function` of two typed modules with `args`, and looks at the nodes
// that the second has in place of other ones (structural_diff.h). Returns a
// line about the first, in the order of evaluation, whose value a pass with the
// promises of `info` may not give it: which node it is, what it stands for, and
// how the values differ. Empty if there is none. A node that was computed
// several times counts with its first value.
std::string FirstDifference(const IRModule& before, const IRModule& after,
                            absl::string_view function,
                            absl::Span<const Value> args, const PassInfo& info,
                            const EvaluateOptions& options);

}  // namespace baton

#endif  // BATON_INSTRUMENT_FIRST_DIFFERENCE_H_
