#include "baton/relay/transform/fast_math.h"

#include <string>

#include "absl/status/statusor.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/relay/analysis/graph_queries.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {

OpAttrMap<std::string>& FastCounterparts() {
  static auto* const counterparts = new OpAttrMap<std::string>;
  return *counterparts;
}

namespace {

BATON_EXTEND_OP("exp").Set(FastCounterparts(), "fast_exp");
BATON_EXTEND_OP("tanh").Set(FastCounterparts(), "fast_tanh");
BATON_EXTEND_OP("erf").Set(FastCounterparts(), "fast_erf");
BATON_EXTEND_OP("nn.softmax").Set(FastCounterparts(), "nn.fast_softmax");

absl::StatusOr<Expr> ReplaceWithFast(const Expr& expr) {
  if (!CallsOpOf(expr, FastCounterparts())) return expr;
  const IndexedGraph graph(expr);
  GraphRewriter rewriter(graph);
  return rewriter.Rewrite<CallNode>(
      [&](int i, const CallNode& call) -> absl::StatusOr<Expr> {
        const std::string* name = FastCounterparts().Get(call.op());
        if (name == nullptr) return Expr();
        BATON_ASSIGN_OR_RETURN(const Op op, Op::Get(*name));
        return Call(op, rewriter.Args(i), call.attrs());
      });
}

}  // namespace

Pass FastMath() {
  return CreateFunctionPass(
      [](const Function& function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<Function> {
        BATON_ASSIGN_OR_RETURN(const Expr result, ReplaceWithFast(function));
        return Function(result.As<FunctionNode>());
      },
      {.name = "FastMath",
       .opt_level = 4,
       .required = {"InferType"},
       .doc = "Replaces exponentials and their like by operators that may be "
              "approximate.",
       .destroys = {"a_normal_form"},
       .idempotent = true,
       .exact = false,
       .exceptions = {
           {"precision", "Approximations may stand for functions."}}});
}
BATON_REGISTER_PASS(FastMath);

}  // namespace baton::relay
