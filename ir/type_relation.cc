#include "baton/ir/type_relation.h"

#include "absl/status/status.h"

namespace baton {

const TensorTypeNode* TypeRelationContext::Tensor(int i) {
  const Type& type = args_[i];
  if (!type.defined()) return nullptr;
  const auto* tensor = type.As<TensorTypeNode>();
  if (tensor == nullptr && !type.Is<IncompleteTypeNode>() && status_.ok()) {
    status_ =
        Error("argument ", i, " must be a tensor, found ", type.ToString());
  }
  return tensor;
}

const TupleTypeNode* TypeRelationContext::TupleOf(int i) {
  const Type& type = args_[i];
  if (!type.defined()) return nullptr;
  const auto* tuple = type.As<TupleTypeNode>();
  if (tuple == nullptr && !type.Is<IncompleteTypeNode>() && status_.ok()) {
    status_ =
        Error("argument ", i, " must be a tuple, found ", type.ToString());
  }
  return tuple;
}

absl::Status TypeRelationContext::AssignArg(int i, const Type& type) {
  if (args_[i] == type) return absl::OkStatus();
  absl::Status status = unifier_->Unify(args_[i], type);
  if (status.ok()) return status;
  return Error("argument ", i, " should be ", type.ToString(), ", found ",
               args_[i].ToString());
}

}  // namespace baton
