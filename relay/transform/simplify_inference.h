// Operators that normalize, written out for inference.
//
//   nn.batch_norm(...).0   a multiplication and an addition per channel
//   nn.dropout(x).0        x
//   nn.layer_norm, nn.instance_norm, nn.group_norm, nn.l2_normalize
//                          means, variances and elementwise arithmetic

#ifndef BATON_RELAY_TRANSFORM_SIMPLIFY_INFERENCE_H_
#define BATON_RELAY_TRANSFORM_SIMPLIFY_INFERENCE_H_

#include "absl/types/span.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/transform/pass.h"

namespace baton::relay {

// What replaces calls of an operator at inference time.
struct InferenceRule {
  // The replacement. `call` is the call before any change, for its attributes
  // and types; `args` are its arguments as they are now. Null: the call stays.
  Expr (*rewrite)(const CallNode& call, absl::Span<const Expr> args) = nullptr;
  // The call has a tuple for a result, and only its field 0 is replaced.
  bool replaces_first_field = false;
};
OpAttrMap<InferenceRule>& InferenceRules();

// A function pass of level 0, which requires InferType.
Pass SimplifyInference();

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_SIMPLIFY_INFERENCE_H_
