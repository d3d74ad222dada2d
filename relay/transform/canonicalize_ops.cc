#include "baton/relay/transform/canonicalize_ops.h"

#include "absl/types/span.h"
#include "baton/ir/type.h"
#include "baton/relay/analysis/broadcast_axes.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/nn/activation.h"
#include "baton/relay/op/tensor.h"
#include "baton/relay/pattern/dataflow_pattern.h"
#include "baton/relay/pattern/matcher.h"
#include "baton/relay/pattern/rewrite_rule.h"
#include "baton/relay/pattern/rule_registry.h"
#include "baton/relay/transform/rewrite.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {
namespace {

RewriteRule BiasAddIsAdd() {
  const DataflowPattern data = Wildcard("data"), bias = Wildcard("bias");
  const DataflowPattern sum = IsOp("nn.bias_add")(data, bias);
  return {.name = "bias_add",
          .passes = {"CanonicalizeOps"},
          .doc = "nn.bias_add is add, along the axes of the data.",
          .pattern = sum,
          .replace = [=](const PatternMatch& m) -> Expr {
            const TensorTypeNode* type = m.tensor_type(data);
            if (type == nullptr) return m.Decline("the rank is not known");
            int axis = m.attrs<BiasAddAttrs>(sum).axis;
            if (axis < 0) axis += type->rank();
            const Expr typed[] = {m[data], m[bias]};
            Expr args[] = {m[data], m[bias]};
            if (!MatchExtents(typed, axis, absl::MakeSpan(args))) {
              return m.Decline("the extents have different names");
            }
            return Add(args[0],
                       ExpandBiasToMatchAxis(args[1], type->rank(), {axis}));
          }};
}
BATON_REGISTER_RULE(BiasAddIsAdd);

}  // namespace

Pass CanonicalizeOps() {
  return OwnRulesPass({.name = "CanonicalizeOps",
                       .opt_level = 3,
                       .required = {"InferType"},
                       .doc = "Writes nn.bias_add as add.",
                       .invalidates = {"a_normal_form"},
                       .idempotent = true});
}
BATON_REGISTER_PASS(CanonicalizeOps);

}  // namespace baton::relay
