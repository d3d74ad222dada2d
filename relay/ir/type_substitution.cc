#include "baton/relay/ir/type_substitution.h"

#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "baton/ir/type.h"

namespace baton {
namespace {

constexpr int kMaxTypeDepth = 1000;

class TypeSubstituter {
 public:
  explicit TypeSubstituter(const TypeVarMap& values) : values_(values) {}

  Type Substitute(const Type& type, int depth) const {
    if (!type.defined() || depth > kMaxTypeDepth) return type;
    switch (TypeKindOf(type)) {
      case TypeKind::kTypeVar: {
        const auto it = values_.find(type.get());
        return it == values_.end() ? type : it->second;
      }
      case TypeKind::kTupleType: {
        std::vector<Type> fields;
        const bool changed =
            SubstituteAll(type.As<TupleTypeNode>()->fields(), depth, &fields);
        return changed ? Type(TupleType(std::move(fields))) : type;
      }
      case TypeKind::kFuncType: {
        const auto* function = type.As<FuncTypeNode>();
        std::vector<Type> args;
        bool changed = SubstituteAll(function->args(), depth, &args);
        Type result = Substitute(function->result(), depth + 1);
        changed = changed || result.get() != function->result().get();
        if (!changed) return type;
        return FuncType(
            std::move(args), std::move(result),
            {function->type_params().begin(), function->type_params().end()});
      }
      case TypeKind::kTypeCall: {
        const auto* call = type.As<TypeCallNode>();
        std::vector<Type> args;
        const bool changed = SubstituteAll(call->args(), depth, &args);
        return changed ? Type(TypeCall(call->func(), std::move(args))) : type;
      }
      case TypeKind::kRefType: {
        const Type& old = type.As<RefTypeNode>()->value();
        Type value = Substitute(old, depth + 1);
        return value.get() == old.get() ? type
                                        : Type(RefType(std::move(value)));
      }
      default:
        return type;
    }
  }

 private:
  // Substitutes in all `types`; returns true if one of them changes.
  bool SubstituteAll(absl::Span<const Type> types, int depth,
                     std::vector<Type>* result) const {
    bool changed = false;
    for (const Type& type : types) {
      result->push_back(Substitute(type, depth + 1));
      changed = changed || result->back().get() != type.get();
    }
    return changed;
  }

  const TypeVarMap& values_;
};

}  // namespace

Type SubstituteTypeVars(const Type& type, const TypeVarMap& values) {
  return values.empty() ? type : TypeSubstituter(values).Substitute(type, 0);
}

TypeVarMap FreshTypeVars(absl::Span<const TypeVar> type_params) {
  TypeVarMap result;
  for (const TypeVar& param : type_params) {
    result[param.get()] = TypeVar(param->name(), param->var_kind());
  }
  return result;
}

}  // namespace baton
