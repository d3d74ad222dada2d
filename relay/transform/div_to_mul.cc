#include "baton/relay/transform/div_to_mul.h"

#include <cmath>
#include <cstddef>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/pattern/dataflow_pattern.h"
#include "baton/relay/pattern/matcher.h"
#include "baton/relay/pattern/rewrite_rule.h"
#include "baton/relay/pattern/rule_registry.h"
#include "baton/relay/transform/rewrite.h"
#include "baton/transform/pass.h"
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

RewriteRule DivideByConstant() {
  const DataflowPattern x = Wildcard("x"), divisors = IsConstant();
  return {.name = "divide_by_constant",
          .passes = {"DivToMul"},
          .doc = "x / c is x * (1 / c), if all reciprocals are finite.",
          .pattern = x / divisors,
          .replace = [=](const PatternMatch& m) -> Expr {
            Expr reciprocals = Reciprocals(*ConstantTensor(m[divisors]));
            if (!reciprocals.defined()) {
              return m.Decline("a divisor has no finite reciprocal");
            }
            return Multiply(m[x], std::move(reciprocals));
          },
          .promise = {.exact = false, .rtol = 2e-3}};
}
BATON_REGISTER_RULE(DivideByConstant);

}  // namespace

Pass DivToMul() {
  return OwnRulesPass(
      {.name = "DivToMul",
       .required = {"InferType", "FoldConstant"},
       .doc = "Multiplies by the reciprocal in the place of dividing by a "
              "constant.",
       .invalidates = {"a_normal_form"},
       .idempotent = true,
       .exact = false,
       .tolerance = 2e-3});
}
BATON_REGISTER_PASS(DivToMul);

}  // namespace baton::relay
