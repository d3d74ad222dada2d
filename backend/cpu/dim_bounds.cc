#include "baton/backend/cpu/dim_bounds.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/ir/type.h"
#include "baton/relay/bind.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"

namespace baton {

std::string DimName(const Dim& dim) {
  return dim.is_symbolic() && dim.expr()->is_var()
             ? std::string(dim.expr()->name())
             : "";
}

absl::StatusOr<IRModule> BindDims(const IRModule& module,
                                  const std::string& function,
                                  const std::vector<DimBound>& bounds,
                                  const std::vector<int64_t>& sizes) {
  BATON_ASSIGN_OR_RETURN(const Function main,
                         module.Lookup<Function>(function));
  FlatHashMap<const VarNode*, Expr> values;
  std::vector<Var> params(main->params().begin(), main->params().end());
  for (Var& param : params) {
    const TensorTypeNode* type = param->tensor_type();
    if (type == nullptr || type->is_static()) continue;
    std::vector<Dim> dims(type->shape().begin(), type->shape().end());
    for (Dim& dim : dims) {
      const std::string name = DimName(dim);
      for (size_t i = 0; i < bounds.size(); ++i) {
        if (bounds[i].name == name) dim = Dim(sizes[i]);
      }
    }
    const Var sized(param->name(), TensorType(dims, type->dtype()),
                    param->span());
    values[param.get()] = sized;
    param = sized;
  }
  // The declared type of the result may follow from the shapes.
  const Function bound = relay::Bind(main, values);
  IRModule result = module;
  result.Set(function,
             Function(std::move(params), bound->body(), Type(),
                      {main->type_params().begin(), main->type_params().end()},
                      main->attrs()));
  return InferTypes(result);
}

absl::StatusOr<std::vector<DimBound>> ParseDimBounds(absl::string_view text) {
  std::vector<DimBound> bounds;
  for (const absl::string_view pair :
       absl::StrSplit(text, ',', absl::SkipEmpty())) {
    const size_t equals = pair.rfind('=');
    DimBound bound;
    bool is_valid = equals != absl::string_view::npos && equals > 0;
    if (is_valid) {
      bound.name = std::string(pair.substr(0, equals));
      const absl::string_view value = pair.substr(equals + 1);
      const size_t dots = value.find("..");
      is_valid =
          dots == absl::string_view::npos
              ? absl::SimpleAtoi(value, &bound.least)
              : absl::SimpleAtoi(value.substr(0, dots), &bound.least) &&
                    absl::SimpleAtoi(value.substr(dots + 2), &bound.most);
      if (dots == absl::string_view::npos) bound.most = bound.least;
      is_valid = is_valid && bound.least >= 1 && bound.least <= bound.most;
    }
    if (!is_valid) {
      return absl::InvalidArgumentError(absl::StrCat(
          "expected NAME=N or NAME=LEAST..MOST, as in batch=1..64, found `",
          pair, "`"));
    }
    for (const DimBound& other : bounds) {
      if (other.name == bound.name) {
        return absl::InvalidArgumentError(
            absl::StrCat("dimension ", bound.name, " has two bounds"));
      }
    }
    bounds.push_back(std::move(bound));
  }
  return bounds;
}

}  // namespace baton
