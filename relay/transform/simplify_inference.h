// SimplifyInference: expands normalization operators for inference.
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

// The rule for calls of an operator at inference time.
struct InferenceRule {
  // Returns the replacement. `call` is the original call, for its attributes
  // and types; `args` are its current arguments. Null keeps the call.
  Expr (*rewrite)(const CallNode& call, absl::Span<const Expr> args) = nullptr;
  // True if the result of the call is a tuple of which only field 0 is
  // replaced.
  bool replaces_first_field = false;
};
OpProperty<InferenceRule>& InferenceRules();

// A function pass of level 0, which requires InferType.
Pass SimplifyInference();

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_SIMPLIFY_INFERENCE_H_
