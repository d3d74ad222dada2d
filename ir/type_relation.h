// TypeRelationContext: the argument of type relations. See TypeRelationFn in
// op.h.
//
//   absl::StatusOr<Type> ReluRel(TypeRelationContext& context) {
//     return context.arg(0);  // null if unknown: called again later
//   }

#ifndef BATON_IR_TYPE_RELATION_H_
#define BATON_IR_TYPE_RELATION_H_

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/ir/attrs.h"
#include "baton/ir/expr.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"

namespace baton {

// A call of an operator whose type is inferred: the operator, the operands with
// the types that are known so far, and the attributes.
class TypeRelationContext {
 public:
  const OpNode& op() const { return *op_; }
  int num_args() const { return static_cast<int>(args_.size()); }
  // The operands, as they were before inference. A relation may examine
  // constants; the types of the operands are in args().
  absl::Span<const Expr> operands() const { return operands_; }
  const Expr& operand(int i) const { return operands_[i]; }
  // The types of the operands, with known inference variables replaced; null
  // for a wholly unknown type.
  absl::Span<const Type> args() const { return args_; }
  const Type& arg(int i) const { return args_[i]; }
  // The attributes; T's defaults if the call has none.
  template <typename T>
  const T& attrs() const {
    return AttrsOrDefaults<T>(*attrs_);
  }

  // Argument `i` as a tensor type; null if it is not yet known. If the argument
  // has another kind of type, status() becomes an error, and inference ignores
  // the result of the relation.
  const TensorTypeNode* Tensor(int i);
  // Argument `i` as a tuple type, otherwise as Tensor().
  const TupleTypeNode* TupleOf(int i);

  // Unifies the type of argument `i` with `type`: binds inference variables. An
  // error if the argument's known type is different.
  absl::Status AssignArg(int i, const Type& type);

  // An InvalidArgument error whose text starts with the operator's name.
  template <typename... Args>
  absl::Status Error(const Args&... args) const {
    return absl::InvalidArgumentError(absl::StrCat(op().name(), ": ", args...));
  }

  // Implementation: for inference engines. All arguments must outlive the
  // context.
  class Unifier {
   public:
    virtual ~Unifier() = default;
    virtual absl::Status Unify(const Type& a, const Type& b) = 0;
  };
  TypeRelationContext(const OpNode& op, absl::Span<const Expr> operands,
                      const Attrs& attrs, absl::Span<const Type> args,
                      Unifier* unifier)
      : op_(&op),
        operands_(operands),
        attrs_(&attrs),
        args_(args),
        unifier_(unifier) {}
  const absl::Status& status() const { return status_; }

 private:
  const OpNode* op_;
  absl::Span<const Expr> operands_;
  const Attrs* attrs_;
  absl::Span<const Type> args_;
  Unifier* unifier_;
  absl::Status status_;
};

}  // namespace baton

#endif  // BATON_IR_TYPE_RELATION_H_
