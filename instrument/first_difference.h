// Finds the first node whose value a pass changed.

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

// Evaluates `function` of two typed modules with `args`, and compares the
// values of the nodes of `after` that replace nodes of `before`
// (structural_diff.h). Returns a line about the first such node, in the order
// of evaluation, whose value breaks the promise of `info`: the node, the node
// that it replaces, and how the values differ. Returns the empty string if
// there is none. If a node was computed several times, its first value counts.
std::string FirstDifference(const IRModule& before, const IRModule& after,
                            absl::string_view function,
                            absl::Span<const relay::Value> args,
                            const PassInfo& info,
                            const relay::EvaluateOptions& options);

}  // namespace baton

#endif  // BATON_INSTRUMENT_FIRST_DIFFERENCE_H_
