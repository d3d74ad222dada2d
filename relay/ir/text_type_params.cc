#include "baton/relay/ir/text_type_params.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/ir/node.h"
#include "baton/ir/node_class.h"
#include "baton/ir/type.h"

namespace baton::relay {
namespace {

// Calls `visit` with `type` and all its parts until `visit` returns true.
// Returns true if it did.
bool AnyPart(const Type& type, absl::FunctionRef<bool(const Node*)> visit) {
  if (!type.defined()) return false;
  std::vector<const Node*> work = {type.get()};
  while (!work.empty()) {
    const Node* const part = work.back();
    work.pop_back();
    if (visit(part)) return true;
    ForEachReference(part, [&](const Node* next) { work.push_back(next); });
  }
  return false;
}

}  // namespace

void TypeParamNames::AddDataTypesIn(const Type& type) {
  AnyPart(type, [this](const Node* part) {
    if (part->kind() == GlobalTypeVarNode::kKind) {
      AddDataType(static_cast<const GlobalTypeVarNode*>(part)->name());
    }
    return false;
  });
}

bool TypeParamNames::HasTypeParams(const Type& type) {
  if (!type.defined() || type.Is<TensorTypeNode>()) return false;
  return AnyPart(type, [](const Node* part) {
    return part->kind() == FuncTypeNode::kKind &&
           !static_cast<const FuncTypeNode*>(part)->type_params().empty();
  });
}

const std::string& TypeParamNames::Declare(const TypeVar& param) {
  Name& name = names_[param.get()];
  if (!name.var.defined()) name.var = param;
  if (name.scopes++ == 0) {
    while (users_[name.var->name()] > 0) {
      name.var =
          TypeVar(absl::StrCat(param->name(), ++last_number_[param->name()]),
                  param->var_kind());
    }
    ++users_[name.var->name()];
  }
  return name.var->name();
}

void TypeParamNames::EndScope(absl::Span<const TypeVar> params) {
  for (const TypeVar& param : params) {
    Name& name = names_[param.get()];
    if (--name.scopes == 0) --users_[name.var->name()];
  }
}

std::vector<Type> TypeParamNames::AllNamed(absl::Span<const Type> types,
                                           int depth) {
  std::vector<Type> result;
  for (const Type& type : types) result.push_back(Named(type, depth));
  return result;
}

Type TypeParamNames::Named(const Type& type, int depth) {
  if (!type.defined() || depth > kMaxTypeDepth) return type;
  if (type.Is<TypeVarNode>()) {
    const auto it = names_.find(type.get());
    return it == names_.end() ? type : it->second.var;
  }
  if (const auto* tuple = type.As<TupleTypeNode>()) {
    return TupleType(AllNamed(tuple->fields(), depth + 1));
  }
  if (const auto* function = type.As<FuncTypeNode>()) {
    const absl::Span<const TypeVar> params = function->type_params();
    std::vector<TypeVar> named;
    for (const TypeVar& param : params) {
      Declare(param);
      named.push_back(names_[param.get()].var);
    }
    FuncType result(AllNamed(function->args(), depth + 1),
                    Named(function->result(), depth + 1), std::move(named));
    EndScope(params);
    return result;
  }
  if (const auto* call = type.As<TypeCallNode>()) {
    return TypeCall(Named(call->func(), depth + 1),
                    AllNamed(call->args(), depth + 1));
  }
  if (const auto* ref = type.As<RefTypeNode>()) {
    return RefType(Named(ref->value(), depth + 1));
  }
  return type;
}

}  // namespace baton::relay
