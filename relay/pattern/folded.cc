#include "baton/relay/pattern/folded.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/all_finite.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/op_flags.h"
#include "baton/relay/op/tensor/create.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/value.h"

namespace baton::relay {
namespace {

constexpr int64_t kMaxElements = int64_t{1} << 22;

// The numbers of a floating-point type: the least that is not subnormal, and
// half a unit in the last place of 1.
struct FloatLimits {
  double least_normal;
  double rounding;
};
FloatLimits LimitsOf(DType dtype) {
  if (dtype.code() == DType::Code::kBFloat) return {0x1p-126, 0x1p-8};
  if (dtype.bits() == 16) return {0x1p-14, 0x1p-11};
  if (dtype.bits() == 32) return {0x1p-126, 0x1p-24};
  return {0x1p-1022, 0x1p-53};
}

// True if a sum is small beside the largest of its operands.
bool Cancels(double largest, double sum, const FloatLimits& limits) {
  const double error = std::max(1e-5, 16 * limits.rounding);
  return largest * limits.rounding > error * (1 + std::abs(sum));
}

// The value of an operand of a call, broadcast to `shape`.
std::optional<Tensor> Operand(const Expr& operand,
                              absl::Span<const int64_t> shape) {
  const Expr folded =
      Folded(BroadcastTo(operand, {shape.begin(), shape.end()}));
  const Tensor* tensor = ConstantTensor(folded);
  return tensor == nullptr ? std::nullopt : std::optional<Tensor>(*tensor);
}

// True if an element of `value`, the value of `call`, is as FoldedInRange()
// says. Operands that are not finite may make any value.
bool LosesNumbers(const CallNode& call, const Tensor& value) {
  const bool is_sum =
      call.op() == BATON_OP("add") || call.op() == BATON_OP("subtract");
  const bool is_product =
      call.op() == BATON_OP("multiply") || call.op() == BATON_OP("divide");
  if (!is_sum && !is_product) return false;
  const std::optional<Tensor> a = Operand(call.arg(0), value.shape());
  const std::optional<Tensor> b = Operand(call.arg(1), value.shape());
  if (!a.has_value() || !b.has_value()) return false;
  const FloatLimits limits = LimitsOf(value.dtype());
  for (int64_t i = 0; i < value.num_elements(); ++i) {
    const double left = std::abs(a->AtAsDouble(i));
    const double right = std::abs(b->AtAsDouble(i));
    const double result = std::abs(value.AtAsDouble(i));
    if (is_sum && Cancels(std::max(left, right), result, limits)) return true;
    if (is_product && std::min(left, right) >= limits.least_normal &&
        result < limits.least_normal) {
      return true;
    }
  }
  return false;
}

}  // namespace

Expr Folded(const Expr& expr) {
  bool is_constant = true;
  int64_t given = 0;
  PostOrderVisit(expr, [&](const ExprNode* node) {
    if (node->kind() == ExprKind::kConstant) {
      given += static_cast<const ConstantNode*>(node)->value().num_elements();
    } else if (node->kind() == ExprKind::kOp) {
      is_constant &= !IsStateful(Expr(node));
    } else {
      is_constant &= node->kind() == ExprKind::kCall ||
                     node->kind() == ExprKind::kTuple ||
                     node->kind() == ExprKind::kTupleGetItem;
    }
  });
  if (!is_constant) return expr;
  const absl::StatusOr<Expr> typed = InferTypeOf(expr, nullptr);
  if (!typed.ok()) return expr;
  const TensorTypeNode* type = (*typed)->tensor_type();
  if (type == nullptr) return expr;
  const auto dims = ConstDims(type->shape());
  if (!dims.has_value()) return expr;
  const absl::StatusOr<int64_t> elements = NumElements(type->dtype(), *dims);
  if (!elements.ok() || *elements > std::max(given, kMaxElements)) return expr;
  const absl::StatusOr<Value> value = Evaluate(*typed, nullptr);
  return value.ok() && value->is_tensor() ? Constant(value->tensor()) : expr;
}

Expr FoldedInRange(const Expr& expr) {
  const Expr folded = Folded(expr);
  const Tensor* value = ConstantTensor(folded);
  if (value == nullptr || !value->dtype().is_float()) return folded;
  bool finite = true;
  bool loses = false;
  PostOrderVisit(expr, [&](const ExprNode* node) {
    if (const Tensor* constant = ConstantTensor(Expr(node))) {
      finite &= AllFinite(*constant);
    } else if (const auto* call = Expr(node).As<CallNode>()) {
      const Expr part = node == expr.get() ? folded : Folded(Expr(node));
      const Tensor* own = ConstantTensor(part);
      loses |= own != nullptr && own->dtype().is_float() &&
               (!AllFinite(*own) || LosesNumbers(*call, *own));
    }
  });
  if (!finite) return folded;
  return loses ? Expr() : folded;
}

}  // namespace baton::relay
