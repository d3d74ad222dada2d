#include "baton/relay/transform/copy_with.h"

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/base/hash_table.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/type_substitution.h"
#include "baton/relay/ir/visit.h"

namespace baton::relay {
namespace {

class Copier final : public ExprMutator {
 public:
  Copier(FlatHashMap<const VarNode*, Expr> values, const TypeVarMap& types)
      : values_(std::move(values)), types_(types) {}

 protected:
  Expr VisitVar(const Var& var) override {
    Expr& value = values_[var.get()];
    if (!value.defined()) {
      const Type annotation = SubstituteTypeVars(var->annotation(), types_);
      value = annotation == var->annotation()
                  ? CopyVar(var.get())
                  : Var(var->name(), annotation, var->span());
    }
    return value;
  }

  Expr VisitFunction(const FunctionNode* /*original*/,
                     Function function) override {
    const Type result = SubstituteTypeVars(function->result_type(), types_);
    bool changed = result != function->result_type();
    std::vector<TypeVar> type_params;
    for (const TypeVar& param : function->type_params()) {
      const auto it = types_.find(param.get());
      const bool is_renamed =
          it != types_.end() && it->second.Is<TypeVarNode>();
      type_params.push_back(is_renamed ? TypeVar(it->second.As<TypeVarNode>())
                                       : param);
      changed |= is_renamed;
    }
    if (!changed) return function;
    return Function({function->params().begin(), function->params().end()},
                    function->body(), result, std::move(type_params),
                    function->attrs(), {}, function->span());
  }

  Expr VisitCall(const CallNode* /*original*/, Call call) override {
    std::vector<Type> type_args;
    bool changed = false;
    for (const Type& type : call->type_args()) {
      type_args.push_back(SubstituteTypeVars(type, types_));
      changed |= type_args.back() != type;
    }
    if (!changed) return call;
    return Call(call->op(), call->args(), call->attrs(), std::move(type_args),
                {}, call->span());
  }

 private:
  FlatHashMap<const VarNode*, Expr> values_;
  const TypeVarMap& types_;
};

}  // namespace

Var CopyVar(const VarNode* var) {
  return Var(
      new VarNode(var->name(), var->annotation(), var->type(), var->span()));
}

absl::StatusOr<Expr> CopyWith(const Expr& expr,
                              FlatHashMap<const VarNode*, Expr> values,
                              const TypeVarMap& types) {
  return Copier(std::move(values), types).Mutate(expr);
}

}  // namespace baton::relay
