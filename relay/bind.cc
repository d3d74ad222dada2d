#include "baton/relay/bind.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "baton/base/hash_table.h"
#include "baton/base/near_names.h"
#include "baton/base/status_macros.h"
#include "baton/ir/attrs.h"
#include "baton/ir/origin.h"
#include "baton/relay/ir/param_devices.h"
#include "baton/relay/ir/tensor_fits.h"
#include "baton/relay/ir/visit.h"

namespace baton::relay {
namespace {

absl::Status CheckFits(const VarNode* param, const Tensor& value) {
  const Type& type =
      param->type().defined() ? param->type() : param->annotation();
  if (!type.defined()) return absl::OkStatus();
  const auto* tensor_type = type.As<TensorTypeNode>();
  if (tensor_type != nullptr && TensorFits(value, *tensor_type)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("cannot bind %", param->name(), " of type ", type.ToString(),
                   " to a tensor ", value.TypeToString()));
}

}  // namespace

absl::StatusOr<Function> BindParamsByName(const Function& function,
                                          const NamedTensors& params) {
  FlatHashMap<std::string, const VarNode*> by_name;
  for (const Var& param : function->params()) {
    auto [it, inserted] = by_name.emplace(param->name(), param.get());
    if (!inserted) it->second = nullptr;  // ambiguous
  }
  FlatHashMap<const VarNode*, Expr> values;
  for (const auto& [name, tensor] : params) {
    const auto it = by_name.find(name);
    if (it == by_name.end()) {
      std::vector<std::string> names;
      for (const Var& param : function->params()) {
        names.push_back(param->name());
      }
      return absl::NotFoundError(
          absl::StrCat("the function has no parameter \"", name, "\"",
                       DidYouMean(name, names)));
    }
    if (it->second == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the function has several parameters named \"", name, "\""));
    }
    BATON_RETURN_IF_ERROR(CheckFits(it->second, tensor));
    values.insert_or_assign(it->second, Constant(tensor));
  }
  return Bind(function, values);
}

Function Bind(const Function& function,
              const absl::flat_hash_map<const VarNode*, Expr>& values) {
  if (values.empty()) return function;
  std::vector<Var> params;
  for (const Var& param : function->params()) {
    if (!values.contains(param.get())) params.push_back(param);
  }
  DictAttrs attrs = AttrsWithParams(*function, params);
  const Function bound(
      std::move(params), Substitute(function->body(), values),
      function->result_type(),
      {function->type_params().begin(), function->type_params().end()},
      std::move(attrs), Type(), function->span());
  LogOrigins(bound, function.get());
  return bound;
}

}  // namespace baton::relay
