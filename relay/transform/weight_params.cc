#include "baton/relay/transform/weight_params.h"

#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "baton/base/hash_table.h"
#include "baton/ir/attrs.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/param_devices.h"
#include "baton/relay/ir/visit.h"

namespace baton::relay {

bool IsParam(const Function& function, const Expr& expr) {
  return absl::c_linear_search(function->params(), expr);
}

Function WithUsedParams(const Function& function) {
  FlatHashSet<const VarNode*> is_param;
  for (const Var& param : function->params()) is_param.insert(param.get());
  std::vector<Var> params;
  std::vector<Var> added;
  for (const Var& var : FreeVars(function->body())) {
    (is_param.contains(var.get()) ? params : added).push_back(var);
  }
  params.insert(params.end(), added.begin(), added.end());
  DictAttrs attrs = AttrsWithParams(*function, params);
  return Function(
      std::move(params), function->body(), function->result_type(),
      {function->type_params().begin(), function->type_params().end()},
      std::move(attrs), {}, function->span());
}

}  // namespace baton::relay
