#include "baton/relay/op/gradients.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/gradient_helpers.h"
#include "baton/relay/op/tensor.h"

namespace baton::relay {

OpProperty<GradientFn>& Gradients() {
  static auto* const kGradients = new OpProperty<GradientFn>;
  return *kGradients;
}

namespace internal {

absl::Status Unknown(const Call& call, absl::string_view why) {
  return absl::UnimplementedError(
      absl::StrCat("the gradient of ", call->op_node()->name(), " is not known",
                   why.empty() ? "" : " ", why));
}

absl::StatusOr<const TensorTypeNode*> TensorTypeOf(const Call& call,
                                                   const Expr& expr) {
  if (expr->tensor_type() == nullptr) {
    return Unknown(call, "for what is not a tensor");
  }
  return expr->tensor_type();
}

DType DTypeOf(const Expr& expr) {
  const TensorTypeNode* type = expr->tensor_type();
  return type == nullptr ? DType::Float(32) : type->dtype();
}

absl::StatusOr<std::vector<int64_t>> ShapeOfTyped(const Call& call,
                                                  const Expr& expr) {
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* const type,
                         TensorTypeOf(call, expr));
  const auto dims = ConstDims(type->shape());
  if (!dims.has_value()) {
    return Unknown(
        call, absl::StrCat("where a shape is not: ", expr->type().ToString()));
  }
  return std::vector<int64_t>(dims->begin(), dims->end());
}

Expr ScalarOf(double value, const Expr& like) {
  return Const(value, DTypeOf(like));
}

Expr ScalarInt32(int64_t value) {
  return Const(static_cast<double>(value), kInt32);
}

absl::StatusOr<Expr> VectorInt32(absl::Span<const int64_t> values) {
  std::vector<int32_t> elements;
  for (const int64_t value : values) {
    elements.push_back(static_cast<int32_t>(
        std::clamp<int64_t>(value, std::numeric_limits<int32_t>::min(),
                            std::numeric_limits<int32_t>::max())));
  }
  BATON_ASSIGN_OR_RETURN(Tensor tensor,
                         Tensor::FromValues<int32_t>(
                             {static_cast<int64_t>(values.size())}, elements));
  return Expr(Const(std::move(tensor)));
}

GradientsOr ZeroGradients(const Call& call, const Expr& /*grad*/) {
  Exprs result;
  for (const Expr& arg : call->args()) result.push_back(ZerosLike(arg));
  return result;
}

}  // namespace internal
}  // namespace baton::relay
