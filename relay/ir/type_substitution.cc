#include "baton/relay/ir/type_substitution.h"

#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "baton/ir/type.h"

namespace baton::relay {
namespace {

constexpr int kMaxTypeDepth = 1000;

class TypeSubstituter {
 public:
  explicit TypeSubstituter(const TypeVarMap& values) : values_(values) {}

  Type Substitute(const Type& type, int depth) const {
    if (!type.defined() || depth > kMaxTypeDepth) return type;
    if (type.Is<TypeVarNode>()) {
      const auto it = values_.find(type.get());
      return it == values_.end() ? type : it->second;
    }
    return MapTypeParts(type, [this, depth](const Type& part) {
      return Substitute(part, depth + 1);
    });
  }

 private:
  const TypeVarMap& values_;
};

}  // namespace

void ForEachTypePart(const Type& type,
                     absl::FunctionRef<void(const Type&)> fn) {
  if (const auto* tuple = type.As<TupleTypeNode>()) {
    for (const Type& field : tuple->fields()) fn(field);
  } else if (const auto* function = type.As<FuncTypeNode>()) {
    for (const Type& arg : function->args()) fn(arg);
    fn(function->result());
  } else if (const auto* call = type.As<TypeCallNode>()) {
    fn(call->func());
    for (const Type& arg : call->args()) fn(arg);
  } else if (const auto* ref = type.As<RefTypeNode>()) {
    fn(ref->value());
  }
}

Type MapTypeParts(const Type& type, absl::FunctionRef<Type(const Type&)> fn) {
  std::vector<Type> parts;
  bool changed = false;
  bool is_null = false;
  ForEachTypePart(type, [&](const Type& part) {
    parts.push_back(fn(part));
    changed = changed || parts.back() != part;
    is_null = is_null || (part.defined() && !parts.back().defined());
  });
  if (is_null) return {};
  if (!changed) return type;
  if (type.Is<TupleTypeNode>()) return TupleType(std::move(parts));
  if (const auto* function = type.As<FuncTypeNode>()) {
    Type result = std::move(parts.back());
    parts.pop_back();
    return FuncType(
        std::move(parts), std::move(result),
        {function->type_params().begin(), function->type_params().end()});
  }
  if (type.Is<RefTypeNode>()) return RefType(std::move(parts[0]));
  Type func = std::move(parts[0]);
  parts.erase(parts.begin());
  return TypeCall(std::move(func), std::move(parts));
}

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

}  // namespace baton::relay
