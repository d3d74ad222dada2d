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

absl::StatusOr<IRModule> WithWeights(const std::string& text) {
  BATON_ASSIGN_OR_RETURN(IRModule module, ParseModule(text));
  BATON_ASSIGN_OR_RETURN(module, InferTypes(module));
  BATON_ASSIGN_OR_RETURN(const Function main, module.Lookup<Function>("main"));
  BATON_ASSIGN_OR_RETURN(const std::vector<Value> values,
                         RandomInputs(main, 3));
  relay::NamedTensors weights;
  for (size_t i = 0; i < main->params().size(); ++i) {
    const std::string name(main->params()[i]->name());
    if (absl::StartsWith(name, "w")) {
      weights.emplace_back(name, values[i].tensor());
    }
  }
  BATON_ASSIGN_OR_RETURN(Function bound,
                         relay::BindParamsByName(main, weights));
  module.Set("main", std::move(bound));
  return InferTypes(module);
}

}  // namespace baton::cpu
