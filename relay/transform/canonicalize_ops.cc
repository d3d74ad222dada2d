#include "baton/relay/transform/canonicalize_ops.h"

#include <utility>

#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/analysis/broadcast_axes.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/nn_attrs.h"
#include "baton/relay/op/tensor.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {
namespace {

// The addition that `call`, a nn.bias_add, is; null if the rank of its data is
// not known.
Expr AddOf(const CallNode& call, const Expr& data, const Expr& bias) {
  const TensorTypeNode* type = call.arg(0)->tensor_type();
  if (type == nullptr) return {};
  const auto* attrs = call.attrs_as<BiasAddAttrs>();
  int axis = attrs != nullptr ? attrs->axis : BiasAddAttrs().axis;
  if (axis < 0) axis += type->rank();
  return Add(data, ExpandBiasToMatchAxis(bias, type->rank(), {axis}));
}

Function Canonicalize(const IndexedGraph& graph) {
  static const Op& kBiasAdd = *new Op(Op::Find("nn.bias_add"));
  GraphRewriter rewriter(graph);
  const Expr result =
      rewriter.Rewrite<CallNode>([&](int i, const CallNode& call) -> Expr {
        if (call.op() != kBiasAdd) return {};
        const absl::Span<const Expr> args = rewriter.Args(i);
        return AddOf(call, args[0], args[1]);
      });
  return Function(result.As<FunctionNode>());
}

}  // namespace

Pass CanonicalizeOps() {
  return CreateFunctionPass(
      [](Function function, const IRModule& /*module*/,
         const PassContext& context) -> absl::StatusOr<Function> {
        return Canonicalize(*context.Analyze<IndexedGraph>(function));
      },
      {.name = "CanonicalizeOps",
       .opt_level = 3,
       .required = {"InferType"},
       .doc = "Writes nn.bias_add as add.",
       .idempotent = true});
}
BATON_REGISTER_PASS(CanonicalizeOps);

}  // namespace baton::relay
