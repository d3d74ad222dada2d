// Function passes over tapes.

#ifndef BATON_TESTING_TAPE_PASSES_H_
#define BATON_TESTING_TAPE_PASSES_H_

#include "absl/strings/string_view.h"
#include "baton/testing/tape/tape.h"
#include "baton/transform/function_pass.h"
#include "baton/transform/pass.h"

namespace baton {
namespace tape {

// Passes skip tapes with this attribute.
inline constexpr absl::string_view kFrozen = "Frozen";

// The kind of tapes. CheckTapes runs after every pass over them.
const FunctionKind<Tape>& Tapes();

// Removes steps whose results no other step reads. Steps have no effects.
Pass RemoveDeadSteps();

// An error if a function of the module is not well-formed.
Pass CheckTapes();

}  // namespace tape
}  // namespace baton

#endif  // BATON_TESTING_TAPE_PASSES_H_
