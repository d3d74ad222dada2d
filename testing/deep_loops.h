// Functions of deeply nested statements and expressions.

#ifndef BATON_TESTING_DEEP_LOOPS_H_
#define BATON_TESTING_DEEP_LOOPS_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/tir/ir/function.h"

namespace baton::testing {

// The kinds of functions: "loops", "branches", "sums" and others.
absl::Span<const absl::string_view> KindsOfDeepLoops();

// A function of `depth` statements or operations of a kind, each in the next.
tir::PrimFunc DeepLoops(absl::string_view kind, int depth);

}  // namespace baton::testing

#endif  // BATON_TESTING_DEEP_LOOPS_H_
