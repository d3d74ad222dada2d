#include "baton/relay/pattern/node_types.h"

#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/span.h"
#include "baton/ir/type.h"
#include "baton/ir/type_relation.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/visit.h"

namespace baton::relay {
namespace {

// All types are known: there is nothing to fill in.
class KnownTypes final : public TypeRelationContext::Unifier {
 public:
  absl::Status Unify(const Type& a, const Type& b) override {
    if (TypeEqual(a, b)) return absl::OkStatus();
    return absl::InvalidArgumentError("the types differ");
  }
};

// The type of `call` as its operator says; null if it takes inference to tell,
// or to say what is wrong.
Type TypeOfCall(const CallNode& call) {
  const OpNode* op = call.op_node();
  if (op == nullptr || op->type_relation() == nullptr ||
      (op->arity() >= 0 && op->arity() != call.num_args())) {
    return {};
  }
  absl::InlinedVector<Type, 6> args;
  for (const Expr& arg : call.args()) {
    if (!arg->type().defined()) return {};
    args.push_back(arg->type());
  }
  KnownTypes unifier;
  TypeRelationContext context(*op, call.args(), call.attrs(), args, &unifier);
  absl::StatusOr<Type> type = op->type_relation()(context);
  if (!context.status().ok() || !type.ok() || !type->defined() ||
      !(*type)->complete()) {
    return {};
  }
  // Negative dimensions are errors, which inference words.
  if (const auto* tensor = type->As<TensorTypeNode>()) {
    for (const Dim& dim : tensor->shape()) {
      if (dim.is_const() && dim.value() < 0) return {};
    }
  } else if (!type->Is<TupleTypeNode>()) {
    return {};
  }
  return *std::move(type);
}

}  // namespace

absl::StatusOr<Expr> WithInferredType(const Expr& expr, const Span& span,
                                      const IRModule* module) {
  if (expr->type().defined()) return expr;
  switch (ExprKindOf(expr)) {
    case ExprKind::kCall: {
      const auto& call = *static_cast<const CallNode*>(expr.get());
      Type type = TypeOfCall(call);
      if (!type.defined()) break;
      return Call(call.op(), call.args(), call.attrs(),
                  {call.type_args().begin(), call.type_args().end()},
                  std::move(type), call.span().defined() ? call.span() : span);
    }
    case ExprKind::kConstant:
      return WithType(
          expr, static_cast<const ConstantNode*>(expr.get())->ValueType());
    case ExprKind::kTuple: {
      std::vector<Type> types;
      for (const Expr& field :
           static_cast<const TupleNode*>(expr.get())->fields()) {
        if (!field->type().defined()) {
          return InferTypeOf(expr, module);
        }
        types.push_back(field->type());
      }
      return WithType(expr, TupleType(std::move(types)));
    }
    case ExprKind::kTupleGetItem: {
      const auto* item = static_cast<const TupleGetItemNode*>(expr.get());
      const TupleTypeNode* type = item->tuple()->tuple_type();
      if (type == nullptr || item->index() < 0 ||
          item->index() >= static_cast<int>(type->fields().size())) {
        break;
      }
      return WithType(expr, type->fields()[item->index()]);
    }
    default:
      break;
  }
  return InferTypeOf(expr, module);
}

}  // namespace baton::relay
