#include "baton/onnx/ops/recursive_function.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/ir/type.h"
#include "baton/onnx/converter.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"

namespace baton::onnx {

absl::StatusOr<Expr> RecursiveFunction::AddParam(std::string name, Expr initial,
                                                 const Type& type) {
  BATON_ASSIGN_OR_RETURN(Expr typed,
                         node_.Typed(relay::Var(std::move(name), type)));
  params_.emplace_back(typed.As<relay::VarNode>());
  node_.graphs().NoteParam(typed, initial);
  initial_.push_back(std::move(initial));
  next_.push_back(typed);
  return typed;
}

absl::StatusOr<Expr> RecursiveFunction::Capture(std::string name,
                                                const Expr& value) {
  if (!value.defined() || relay::ConstantTensor(value) != nullptr) return value;
  const auto found = captured_.find(value);
  if (found != captured_.end()) return found->second;
  BATON_ASSIGN_OR_RETURN(const Expr typed, node_.Typed(value));
  BATON_ASSIGN_OR_RETURN(Expr param,
                         AddParam(std::move(name), typed, typed->type()));
  captured_.emplace(value, param);
  return param;
}

absl::StatusOr<Outputs> RecursiveFunction::ConvertBody(
    absl::Span<const Expr> inputs) {
  absl::Status status;
  const auto capture = [&](const Expr& value) -> Expr {
    absl::StatusOr<Expr> param =
        Capture(absl::StrCat("captured_", captured_.size()), value);
    status.Update(param.status());
    return param.ok() ? *std::move(param) : value;
  };
  BATON_ASSIGN_OR_RETURN(const absl::string_view body, node_.Graph("body"));
  BATON_ASSIGN_OR_RETURN(
      Outputs outputs,
      node_.graphs().ConvertBody(body, inputs, "a round", capture));
  BATON_RETURN_IF_ERROR(status);
  return outputs;
}

void RecursiveFunction::SetNext(const Expr& param, Expr value) {
  for (size_t i = 0; i < params_.size(); ++i) {
    if (params_[i].get() == param.get()) next_[i] = std::move(value);
  }
}

absl::StatusOr<Outputs> RecursiveFunction::Call(Expr goes_on,
                                                std::vector<Expr> results) {
  std::vector<Type> param_types;
  for (const relay::Var& param : params_) param_types.push_back(param->type());
  std::vector<Type> types;
  for (const Expr& result : results) types.push_back(result->type());
  const size_t count = types.size();
  const Type result_type = TupleType(std::move(types));
  const relay::Var loop("loop", FuncType(std::move(param_types), result_type));
  const relay::Function function(
      params_,
      relay::If(std::move(goes_on), baton::relay::Call(loop, next_),
                relay::Tuple(std::move(results))),
      result_type);
  BATON_ASSIGN_OR_RETURN(
      const Expr all, node_.Typed(relay::Let(
                          loop, function, baton::relay::Call(loop, initial_))));
  Outputs values;
  for (size_t i = 0; i < count; ++i) {
    values.push_back(relay::TupleGetItem(all, static_cast<int>(i)));
  }
  return values;
}

}  // namespace baton::onnx
