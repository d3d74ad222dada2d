#include "baton/testing/operation_count.h"

#include <cstdint>

#include "absl/strings/match.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/module.h"
#include "baton/relay/ir/visit.h"

namespace baton::testing {
namespace {

int64_t NumElements(const TensorTypeNode* type) {
  int64_t n = 1;
  for (const Dim& dim : type->shape()) n *= dim.is_const() ? dim.value() : 1;
  return n;
}

}  // namespace

int64_t NumOperations(const IRModule& module) {
  int64_t result = 0;
  for (const auto& d : module.functions<relay::Function>()) {
    relay::PostOrderVisit(d.function, [&](const ExprNode* node) {
      const TensorTypeNode* type = node->tensor_type();
      if (type == nullptr || node->kind() != relay::ExprKind::kCall) return;
      const auto* call = static_cast<const relay::CallNode*>(node);
      int64_t per_element = 1;
      // For a convolution or a product: the weights for each element of the
      // result.
      if (call->op_node() != nullptr && call->num_args() > 1 &&
          absl::StartsWith(call->op_node()->name(), "nn.")) {
        const TensorTypeNode* weight = call->arg(1)->tensor_type();
        if (weight != nullptr && !weight->shape().empty() &&
            weight->shape()[0].is_const() && weight->shape()[0].value() > 0) {
          per_element = NumElements(weight) / weight->shape()[0].value();
        }
      }
      result += NumElements(type) * (per_element + 1);
    });
  }
  return result;
}

}  // namespace baton::testing
