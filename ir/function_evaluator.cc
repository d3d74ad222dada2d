#include "baton/ir/function_evaluator.h"

#include <memory>
#include <utility>

#include "baton/base/registry.h"
#include "baton/ir/node.h"
#include "baton/ir/node_kind.h"

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

namespace internal {

bool RegisterFunctionEvaluator(
    NodeKind kind, std::shared_ptr<const FunctionEvaluator> evaluator,
    CodeLocation location) {
  return FunctionEvaluators().Register(QualifiedNodeKindName(kind),
                                       std::move(evaluator), location);
}

}  // namespace internal
}  // namespace baton
