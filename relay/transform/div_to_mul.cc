#include "baton/relay/transform/div_to_mul.h"

#include <cmath>
#include <cstddef>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/relay/analysis/graph_queries.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {
namespace {

// The reciprocals of the elements, computed in float64 and rounded; null if one
// is no number to multiply by.
Expr Reciprocals(const Tensor& divisors) {
  if (divisors.dtype().code() != DType::Code::kFloat) return {};
  absl::StatusOr<MutableTensor> result =
      MutableTensor::Create(divisors.dtype(), divisors.shape());
  if (!result.ok()) return {};
  const bool all_finite = VisitDType(divisors.dtype(), [&]<typename T>() {
    const absl::Span<const T> from = divisors.span<T>();
    const absl::Span<T> to = result->span<T>();
    for (size_t i = 0; i < from.size(); ++i) {
      to[i] = static_cast<T>(1.0 / static_cast<double>(from[i]));
      if (!std::isfinite(static_cast<double>(to[i]))) return false;
    }
    return true;
  });
  if (!all_finite) return {};
  return Const(std::move(*result).Freeze());
}

Expr MultiplyByReciprocals(const Expr& expr) {
  const Op& divide = BATON_OP("divide");
  if (!CallsOp(expr, divide)) return expr;
  const IndexedGraph graph(expr);
  GraphRewriter rewriter(graph);
  return rewriter.Rewrite<CallNode>([&](int i, const CallNode& call) -> Expr {
    if (call.op() != divide || call.num_args() != 2) return {};
    const absl::Span<const Expr> args = rewriter.Args(i);
    const Tensor* divisors = ConstantTensor(args[1]);
    if (divisors == nullptr) return {};
    Expr reciprocals = Reciprocals(*divisors);
    if (!reciprocals.defined()) return {};
    return Multiply(args[0], std::move(reciprocals));
  });
}

}  // namespace

Pass DivToMul() {
  return CreateFunctionPass(
      [](const Function& function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<Function> {
        return Function(MultiplyByReciprocals(function).As<FunctionNode>());
      },
      {.name = "DivToMul",
       .required = {"InferType", "FoldConstant"},
       .doc = "Multiplies by the reciprocal in the place of dividing by a "
              "constant.",
       .destroys = {"a_normal_form"},
       .idempotent = true,
       .exact = false,
       .tolerance = 2e-3});
}
BATON_REGISTER_PASS(DivToMul);

}  // namespace baton::relay
