#include "baton/ir/function_evaluator.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/registry.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/node.h"
#include "baton/ir/node_class.h"
#include "baton/ir/node_kind.h"
#include "baton/ir/type.h"

namespace baton {

Registry<std::shared_ptr<const FunctionEvaluator>>& FunctionEvaluators() {
  static auto& registry =
      *Registry<std::shared_ptr<const FunctionEvaluator>>::NewGlobal(
          "function evaluator");
  return registry;
}

const FunctionEvaluator* FindFunctionEvaluator(NodeKind kind) {
  const auto* found = FunctionEvaluators().Find(QualifiedNodeKindName(kind));
  return found == nullptr ? nullptr : found->get();
}

absl::StatusOr<std::vector<Tensor>> CallByType(
    const IRModule& module, const BaseFunc& function,
    absl::Span<const Tensor> arguments, const FunctionEvaluator* evaluator) {
  if (evaluator == nullptr) {
    evaluator = FindFunctionEvaluator(function->kind());
  }
  const FuncTypeNode* type = function->func_type();
  if (evaluator == nullptr || type == nullptr) {
    return absl::UnimplementedError(absl::StrCat(
        "a ", NodeKindName(function->kind()),
        evaluator == nullptr ? " cannot be evaluated: no evaluator is linked"
                             : " without a type cannot be called"));
  }
  std::vector<Type> results = {type->result()};
  if (const auto* tuple = type->result().As<TupleTypeNode>()) {
    results.assign(tuple->fields().begin(), tuple->fields().end());
  }
  std::vector<Tensor> all(arguments.begin(), arguments.end());
  for (const Type& result : results) {
    const auto* tensor = result.As<TensorTypeNode>();
    if (tensor == nullptr || !tensor->is_static()) {
      return absl::UnimplementedError(absl::StrCat(
          "there is no memory for a result that is a ", result.ToString()));
    }
    std::vector<int64_t> shape;
    for (const Dim& dim : tensor->shape()) shape.push_back(dim.value());
    BATON_ASSIGN_OR_RETURN(Tensor memory,
                           Tensor::Zeros(tensor->dtype(), shape));
    all.push_back(std::move(memory));
  }
  BATON_ASSIGN_OR_RETURN(
      std::vector<Tensor> after,
      evaluator->Evaluate(module, function, all,
                          std::numeric_limits<int64_t>::max()));
  if (after.size() < results.size()) {
    return absl::InternalError("the function returned fewer tensors");
  }
  after.erase(after.begin(),
              after.end() - static_cast<ptrdiff_t>(results.size()));
  return after;
}

namespace internal {

bool RegisterFunctionEvaluator(
    NodeKind kind, std::shared_ptr<const FunctionEvaluator> evaluator,
    CodeLocation location) {
  return FunctionEvaluators().Register(QualifiedNodeKindName(kind),
                                       std::move(evaluator), location);
}

}  // namespace internal
}  // namespace baton
