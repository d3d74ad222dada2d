// TypeRelationContext: the argument of type relations. See TypeRelationFn in
// op.h.
//
//   absl::StatusOr<Type> ReluRel(TypeRelationContext& context) {
//     return context.arg(0);  // null if unknown: called again later
//   }

#ifndef BATON_RELAY_IR_TYPE_RELATION_H_
#define BATON_RELAY_IR_TYPE_RELATION_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"

namespace baton {

class TypeRelationContext {
 public:
  const OpNode& op() const { return *call_->op_node(); }
  // The call with its argument expressions. A relation may examine constant
  // arguments; their types are in args().
  const CallNode& call() const { return *call_; }
  int num_args() const { return static_cast<int>(args_.size()); }
  // The types of the arguments, with known inference variables replaced; null
  // for a wholly unknown type.
  absl::Span<const Type> args() const { return args_; }
  const Type& arg(int i) const { return args_[i]; }
  // The attributes; T's defaults if the call has none.
  template <typename T>
  const T& attrs() const {
    return AttrsOrDefaults<T>(call_->attrs());
  }

  // Argument `i` as a tensor type; null if it is not yet known. If the argument
  // has another kind of type, status() becomes an error, and inference ignores
  // the result of the relation.
  const TensorTypeNode* Tensor(int i);
  // As Tensor, for tuple types.
  const TupleTypeNode* TupleOf(int i);

  // Unifies the type of argument `i` with `type`: binds inference variables. An
  // error if the argument's known type is different.
  absl::Status AssignArg(int i, const Type& type);

  // An InvalidArgument error whose text starts with the operator's name.
  template <typename... Args>
  absl::Status Error(const Args&... args) const {
    return absl::InvalidArgumentError(absl::StrCat(op().name(), ": ", args...));
  }

  // Implementation: for the inference engine.
  class Unifier {
   public:
    virtual ~Unifier() = default;
    virtual absl::Status Unify(const Type& a, const Type& b) = 0;
  };
  TypeRelationContext(const CallNode* call, absl::Span<const Type> args,
                      Unifier* unifier)
      : call_(call), args_(args), unifier_(unifier) {}
  const absl::Status& status() const { return status_; }

 private:
  const CallNode* call_;
  absl::Span<const Type> args_;
  Unifier* unifier_;
  absl::Status status_;
};

}  // namespace baton

#endif  // BATON_RELAY_IR_TYPE_RELATION_H_
