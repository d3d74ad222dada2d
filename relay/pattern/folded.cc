#include "baton/relay/pattern/folded.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "baton/base/tensor.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/op_flags.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/value.h"

namespace baton::relay {
namespace {

constexpr int64_t kMaxElements = int64_t{1} << 22;

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

}  // namespace baton::relay
