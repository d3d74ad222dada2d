// Passes over scripts, a level of the IR for tests (ir/testing/script_level.h):
// what they need is ir/ and transform/, and no Relay.

#ifndef BATON_TESTING_SCRIPT_PASSES_H_
#define BATON_TESTING_SCRIPT_PASSES_H_

#include "baton/ir/testing/script_level.h"
#include "baton/transform/function_pass.h"
#include "baton/transform/pass.h"

namespace baton::script {

// The scripts of a module, as function passes see them: none is skipped, and
// nothing completes them.
const FunctionKind<Script>& Scripts();

// Function pass: calls of one function in a row become one.
Pass MergeCalls();

}  // namespace baton::script

#endif  // BATON_TESTING_SCRIPT_PASSES_H_
