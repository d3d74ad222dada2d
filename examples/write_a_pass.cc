#include "baton/examples/write_a_pass.h"

#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/ir/node.h"
#include "baton/ir/op.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::examples {
namespace {

using relay::Function;
using relay::GraphRewriter;
using relay::IndexedGraph;

// [rewriter]
// `graph` with its root rewritten.
Function RemoveRelus(const IndexedGraph& graph,
                     const absl::flat_hash_set<Expr>& non_negative) {
  const Op& relu = BATON_OP("nn.relu");
  GraphRewriter rewriter(graph);
  const Expr result = rewriter.Rewrite<relay::CallNode>(
      [&](int i, const relay::CallNode& call) -> Expr {
        if (call.op() != relu) return {};
        // The rewritten argument: it may have been an nn.relu, too.
        const Expr arg = rewriter.Args(i)[0];
        const auto* data = arg.As<relay::CallNode>();
        const bool redundant =
            data != nullptr && non_negative.contains(data->op());
        return redundant ? arg : Expr();
      });
  return Function(result.As<relay::FunctionNode>());
}
// [/rewriter]

// [body]
// Whether `root` calls or mentions `op`.
bool Mentions(const Expr& root, const Op& op) {
  bool found = false;
  relay::PostOrderVisit(
      root, [&](const ExprNode* node) { found |= node == op.get(); });
  return found;
}

absl::StatusOr<Function> RemoveRelus(
    const Function& function, const RemoveRedundantReluOptions& options) {
  absl::flat_hash_set<Expr> non_negative;
  for (const std::string& name : options.non_negative) {
    BATON_ASSIGN_OR_RETURN(Expr op, Op::Get(name));
    non_negative.insert(std::move(op));
  }
  if (!Mentions(function, Op::Find("nn.relu"))) return function;
  return RemoveRelus(IndexedGraph(function), non_negative);
}
// [/body]

}  // namespace

// [pass]
Pass RemoveRedundantRelu(RemoveRedundantReluOptions options) {
  return relay::CreateFunctionPass(
      [options](const Function& function, const IRModule& /*module*/,
                const PassContext& /*context*/) {
        return RemoveRelus(function, options);
      },
      {.name = "RemoveRedundantRelu",
       .opt_level = 1,
       .doc = "Removes nn.relu where its argument is never negative.",
       .idempotent = true},
      options);
}
BATON_REGISTER_PASS(RemoveRedundantRelu);
// [/pass]

}  // namespace baton::examples
