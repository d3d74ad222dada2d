#include "baton/relay/transform/canonicalize_ops.h"

#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/analysis/broadcast_axes.h"
#include "baton/relay/analysis/graph_queries.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/nn/activation.h"
#include "baton/relay/op/tensor.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {
namespace {

// The addition that `call`, a nn.bias_add, is; null if the rank of its data is
// not known.
Expr AddOf(const CallNode& call, absl::Span<const Expr> args) {
  const TensorTypeNode* type = call.arg(0)->tensor_type();
  if (type == nullptr) return {};
  const auto* attrs = call.attrs_as<BiasAddAttrs>();
  int axis = attrs != nullptr ? attrs->axis : BiasAddAttrs().axis;
  if (axis < 0) axis += type->rank();
  return Add(WithExtentOf(args[0], *type, call.arg(1), axis),
             ExpandBiasToMatchAxis(args[1], type->rank(), {axis}));
}

BATON_EXTEND_OP("nn.bias_add").Set(CanonicalForms(), AddOf);

Function Canonicalize(const Function& function) {
  if (!CallsOpOf(function, CanonicalForms())) return function;
  const IndexedGraph graph(function);
  GraphRewriter rewriter(graph);
  const Expr result =
      rewriter.Rewrite<CallNode>([&](int i, const CallNode& call) -> Expr {
        const CanonicalForm* form = CanonicalForms().Get(call.op());
        return form == nullptr ? Expr() : (*form)(call, rewriter.Args(i));
      });
  return Function(result.As<FunctionNode>());
}

}  // namespace

OpAttrMap<CanonicalForm>& CanonicalForms() {
  static auto* const kForms = new OpAttrMap<CanonicalForm>;
  return *kForms;
}

Pass CanonicalizeOps() {
  return CreateFunctionPass(
      [](Function function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<Function> {
        return Canonicalize(function);
      },
      {.name = "CanonicalizeOps",
       .opt_level = 3,
       .required = {"InferType"},
       .doc = "Writes nn.bias_add as add.",
       .destroys = {"a_normal_form"},
       .idempotent = true});
}
BATON_REGISTER_PASS(CanonicalizeOps);

}  // namespace baton::relay
