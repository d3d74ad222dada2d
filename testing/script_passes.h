// Passes over scripts, a level of the IR for tests (ir/testing/script_level.h).
// They depend only on ir/ and transform/, not on Relay.

#ifndef BATON_TESTING_SCRIPT_PASSES_H_
#define BATON_TESTING_SCRIPT_PASSES_H_

#include "baton/ir/testing/script_level.h"
#include "baton/transform/function_pass.h"
#include "baton/transform/pass.h"

namespace baton::script {

// The FunctionKind of scripts. Function passes skip no script, and no finishing
// pass runs after them (FunctionKind::FinishingPass).
const FunctionKind<Script>& Scripts();

// Function pass: merges consecutive calls of one function into one.
Pass MergeCalls();

}  // namespace baton::script

#endif  // BATON_TESTING_SCRIPT_PASSES_H_
