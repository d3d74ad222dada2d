#include "baton/relay/transform/simplify_fc_transpose.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/status_macros.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/analysis/graph_queries.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/tensor/shape.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/relay/transform/weight_params.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {
namespace {

// The parameter, a matrix, that `call` transposes to use it as the weight of
// nn.dense; null if there is none.
const VarNode* TransposedWeight(const Function& function,
                                const CallNode& call) {
  if (call.op() != BATON_OP("nn.dense") || call.num_args() != 2) return nullptr;
  const auto* transpose = call.arg(1).As<CallNode>();
  if (transpose == nullptr || transpose->op() != BATON_OP("transpose") ||
      transpose->num_args() != 1) {
    return nullptr;
  }
  const auto* weight = transpose->arg(0).As<VarNode>();
  if (weight == nullptr || !IsParam(function, transpose->arg(0))) {
    return nullptr;
  }
  const auto* type = weight->annotation().As<TensorTypeNode>();
  if (type == nullptr || type->rank() != 2) return nullptr;
  // The axes, where those from the end are negative.
  const auto* attrs = transpose->attrs_as<TransposeAttrs>();
  if (attrs != nullptr && attrs->axes.has_value() && !attrs->axes->empty()) {
    const std::vector<int64_t>& axes = *attrs->axes;
    if (axes.size() != 2 || (axes[0] != 1 && axes[0] != -1)) return nullptr;
  }
  return weight;
}

}  // namespace

std::vector<std::string> TransposedDenseWeights(const Function& function) {
  std::vector<std::string> names;
  const IndexedGraph graph(function);
  for (int i = 0; i < graph.size(); ++i) {
    const auto* call = graph.As<CallNode>(i);
    if (call == nullptr) continue;
    if (const VarNode* weight = TransposedWeight(function, *call)) {
      names.push_back(weight->name());
    }
  }
  return names;
}

absl::StatusOr<Function> SimplifyFCTransposeInFunction(
    const Function& function, const SimplifyFCTransposeOptions& options) {
  if (!CallsOp(function, BATON_OP("nn.dense")) ||
      !CallsOp(function, BATON_OP("transpose"))) {
    return function;
  }
  Diagnostics diagnostics;
  const IndexedGraph graph(function);
  GraphRewriter rewriter(graph);
  const Expr result =
      rewriter.RewriteAll<CallNode>([&](int i, const CallNode& call) -> Expr {
        const VarNode* weight = TransposedWeight(function, call);
        if (weight == nullptr) return {};
        if (!absl::c_linear_search(options.target_weight_name,
                                   weight->name())) {
          diagnostics.Error(call.span(),
                            absl::StrCat("%", weight->name(),
                                         " is transposed for nn.dense, but is "
                                         "not in target_weight_name"));
          return {};
        }
        const auto& type = *weight->annotation().As<TensorTypeNode>();
        const Var transposed(
            absl::StrCat(weight->name(), ".T"),
            TensorType({type.dim(1), type.dim(0)}, type.dtype()),
            weight->span());
        return Call(call.op(), {rewriter.Args(i)[0], transposed}, call.attrs(),
                    {}, {}, call.span());
      });
  BATON_RETURN_IF_ERROR(diagnostics.ToStatus());
  if (result == function) return function;
  return WithUsedParams(Function(result.As<FunctionNode>()));
}

Pass SimplifyFCTranspose(SimplifyFCTransposeOptions options) {
  return CreateFunctionPass(
      [options](const Function& function, const IRModule& /*module*/,
                const PassContext& /*context*/) {
        return SimplifyFCTransposeInFunction(function, options);
      },
      {.name = "SimplifyFCTranspose",
       .opt_level = 4,
       .required = {"DeadCodeElimination"},
       .doc = "Takes weights of nn.dense that are transposed as parameters "
              "that are so already.",
       .idempotent = true,
       .waivers = {{"runs", "The options must name all such weights."},
                   {"values", "Parameters change."}}},
      options);
}
BATON_REGISTER_PASS(SimplifyFCTranspose);

}  // namespace baton::relay
