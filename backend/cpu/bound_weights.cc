#include "baton/backend/cpu/bound_weights.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/relay/bind.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/relay/runtime/random_inputs.h"
#include "baton/relay/runtime/value.h"

namespace baton::cpu {

using relay::Function;

absl::StatusOr<IRModule> WithWeights(const std::string& text) {
  BATON_ASSIGN_OR_RETURN(IRModule module, ParseModule(text));
  BATON_ASSIGN_OR_RETURN(module, relay::InferTypes(module));
  BATON_ASSIGN_OR_RETURN(const Function main, module.Lookup<Function>("main"));
  std::vector<relay::Var> params;
  for (const relay::Var& param : main->params()) {
    if (absl::StartsWith(param->name(), "w")) params.push_back(param);
  }
  // Other parameters need not have shapes of numbers.
  BATON_ASSIGN_OR_RETURN(
      const std::vector<relay::Value> values,
      relay::RandomInputs(Function(params, relay::Tuple(std::vector<Expr>())),
                          3));
  relay::NamedTensors weights;
  for (size_t i = 0; i < params.size(); ++i) {
    weights.emplace_back(std::string(params[i]->name()), values[i].tensor());
  }
  BATON_ASSIGN_OR_RETURN(Function bound,
                         relay::BindParamsByName(main, weights));
  module.Set("main", std::move(bound));
  return relay::InferTypes(module);
}

}  // namespace baton::cpu
