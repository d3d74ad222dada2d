#include "baton/relay/ir/module.h"

#include <type_traits>
#include <vector>

#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/ir/node_rebuild.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/dispatch.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"

namespace baton {
namespace {

template <typename N>
constexpr bool kMeansTheSameEverywhere =
    std::is_same_v<N, OpNode> || std::is_same_v<N, GlobalVarNode> ||
    std::is_same_v<N, ConstructorNode>;

}  // namespace

IRModule ModuleFromExpr(const Expr& expr) {
  IRModule module;
  const auto* function = expr.As<FunctionNode>();
  module.Set("main", function != nullptr ? Function(function)
                                         : Function(FreeVars(expr), expr));
  return module;
}

IRModule DeepCopy(const IRModule& module) {
  IRModule result = module;
  NodeMap<Expr> copies;
  std::vector<Expr> children;
  for (const IRModule::Definition& definition : module.functions()) {
    PostOrderVisit(
        definition.function,
        [&copies](const ExprNode* node) { return !copies.Contains(node); },
        [&](const ExprNode* node) {
          if (copies.Contains(node)) return;
          children.clear();
          ForEachChild(node, [&](const Expr& child) {
            children.push_back(*copies.Find(child.get()));
          });
          copies[node] = DispatchExpr(
              node,
              [&children]<typename N>(const N* relay) -> Expr {
                if constexpr (kMeansTheSameEverywhere<N>) {
                  return Expr(relay);
                } else {
                  return CopyWithChildren(*relay, children, relay->type());
                }
              },
              [](const ExprNode* other) { return Expr(other); });
        });
    if (const auto* copy =
            copies.Find(definition.function.get())->As<FunctionNode>()) {
      result.Set(definition.var, Function(copy));
    }
  }
  return result;
}

}  // namespace baton
