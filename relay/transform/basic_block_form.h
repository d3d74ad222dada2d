// Checks for basic block normal form, the result of ToBasicBlockNormalForm
// (to_basic_block_normal_form.h).

#ifndef BATON_RELAY_TRANSFORM_BASIC_BLOCK_FORM_H_
#define BATON_RELAY_TRANSFORM_BASIC_BLOCK_FORM_H_

#include "absl/status/status.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

// OK if `expr` is in basic block normal form; otherwise InvalidArgument, which
// names the expressions that must be bound and are not.
absl::Status CheckBasicBlockNormalForm(const Expr& expr);

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_BASIC_BLOCK_FORM_H_
