#include "baton/relay/ir/module.h"

#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"

namespace baton::relay {

IRModule ModuleFromExpr(const Expr& expr) {
  IRModule module;
  const auto* function = expr.As<FunctionNode>();
  module.Set("main", function != nullptr ? Function(function)
                                         : Function(FreeVars(expr), expr));
  return module;
}

}  // namespace baton::relay
