// ToBasicBlockNormalForm: binds expressions that several scopes share to
// variables, in the innermost scope around all uses.
//
//   if (%c) { %0 = add(%x, 1f); %0 } else { multiply(%0, 2f) }
//
// becomes
//
//   let %x1 = add(%x, 1f);
//   if (%c) { %x1 } else { multiply(%x1, 2f) }
//
// The result shows where each expression is computed, and that it is computed
// only once. Scopes are function bodies, lets, branches and clauses. Within a
// scope, expressions stay a graph.
//
// Level 1, a module pass. Lets that bind lets are flattened. Functions with a
// `Compiler` attribute, and Primitive functions, stay unchanged. New nodes have
// no types until InferType runs.

#ifndef BATON_RELAY_TRANSFORM_TO_BASIC_BLOCK_NORMAL_FORM_H_
#define BATON_RELAY_TRANSFORM_TO_BASIC_BLOCK_NORMAL_FORM_H_

#include "absl/status/statusor.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/transform/basic_block_form.h"  // IWYU pragma: export
#include "baton/transform/pass.h"

namespace baton::relay {

Pass ToBasicBlockNormalForm();

// Runs the pass on one function. An error if it has free variables.
absl::StatusOr<Function> ToBasicBlockNormalFormInFunction(
    const Function& function);

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_TO_BASIC_BLOCK_NORMAL_FORM_H_
