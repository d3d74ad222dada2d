#include "baton/onnx/tail_recursion.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/tensor/shape.h"

namespace baton::onnx {
namespace {

using relay::CallNode;
using relay::IsCallTo;
using relay::LetNode;
using relay::VarNode;

// Lets and what comes after them.
struct Block {
  std::vector<const LetNode*> lets;
  Expr end;
};

// `end` is no variable of the lets.
Block BlockOf(const Expr& expr) {
  Block result;
  FlatHashMap<const ExprNode*, Expr> values;
  Expr rest = expr;
  while (const auto* let = rest.As<LetNode>()) {
    result.lets.push_back(let);
    values[let->var().get()] = let->value();
    rest = let->body();
  }
  // A let sees those before it only, so that this ends.
  for (auto found = values.find(rest.get()); found != values.end();
       found = values.find(rest.get())) {
    rest = found->second;
  }
  result.end = rest;
  return result;
}

const CallNode* CallOfSelf(const Block& block,
                           absl::FunctionRef<bool(const Expr&)> is_self) {
  const auto* call = block.end.As<CallNode>();
  return call != nullptr && is_self(call->op()) ? call : nullptr;
}

bool IsScalarOf(const Expr& expr, DType dtype) {
  const TensorTypeNode* type = expr->tensor_type();
  return type != nullptr && type->rank() == 0 && type->dtype() == dtype;
}

// True if `expr` is `param` + 1.
bool IsIncremented(const LetValues& values, const Expr& expr,
                   const Expr& param) {
  const Expr& sum = values.Find(expr);
  if (!IsCallTo(sum, BATON_OP("add"))) return false;
  const auto* call = sum.As<CallNode>();
  for (int i = 0; i < 2; ++i) {
    if (values.Find(call->arg(i)) == param &&
        relay::ConstantScalar(values.Find(call->arg(1 - i))) == 1.0) {
      return true;
    }
  }
  return false;
}

// The element that is added to a stack; null if `param` is not a stack.
Expr AddedElement(const LetValues& values, const Expr& next, const Expr& param,
                  const Expr& initial) {
  const TensorTypeNode* first = initial->tensor_type();
  const Expr& sum = values.Find(next);
  if (first == nullptr || first->rank() == 0 || !first->dim(0).is_const(0) ||
      !IsCallTo(sum, BATON_OP("concatenate"))) {
    return {};
  }
  const auto* call = sum.As<CallNode>();
  const auto* fields = values.Find(call->arg(0)).As<relay::TupleNode>();
  const auto* attrs = call->attrs_as<relay::ConcatenateAttrs>();
  if (fields == nullptr || fields->fields().size() != 2 ||
      (attrs != nullptr && attrs->axis != 0) ||
      values.Find(fields->fields()[0]) != param) {
    return {};
  }
  const Expr& element = fields->fields()[1];
  return element->tensor_type()->dim(0).is_const(1) ? element : Expr();
}

}  // namespace

absl::StatusOr<TailRecursion> FindTailRecursion(
    const relay::Function& function,
    absl::FunctionRef<bool(const Expr&)> is_self) {
  const Block outer = BlockOf(function->body());
  const auto* branch = outer.end.As<relay::IfNode>();
  if (branch == nullptr) {
    return absl::UnimplementedError(
        "its body is no choice between another round and a result");
  }
  Block round = BlockOf(branch->true_branch());
  const CallNode* call = CallOfSelf(round, is_self);
  TailRecursion result;
  result.goes_on_if = call != nullptr;
  if (call == nullptr) {
    round = BlockOf(branch->false_branch());
    call = CallOfSelf(round, is_self);
  }
  int uses = 0;
  relay::PostOrderVisit(function->body(), [&](const ExprNode* node) {
    relay::ForEachChild(node, [&](const Expr& child) {
      const bool binds = node->kind() == relay::ExprKind::kLet &&
                         static_cast<const LetNode*>(node)->var() == child;
      if (!binds && is_self(child)) ++uses;
    });
  });
  if (call == nullptr || uses != 1) {
    return absl::UnimplementedError(
        "it calls itself elsewhere than at the end of one branch");
  }
  if (call->num_args() != static_cast<int>(function->params().size())) {
    return absl::UnimplementedError("it has another number of parameters");
  }
  result.before = outer.lets;
  result.condition = branch->cond();
  result.round = std::move(round.lets);
  result.next.assign(call->args().begin(), call->args().end());
  result.result =
      result.goes_on_if ? branch->false_branch() : branch->true_branch();
  return result;
}

LetValues::LetValues(const TailRecursion& function) {
  for (const auto* lets : {&function.before, &function.round}) {
    for (const LetNode* let : *lets) {
      values_.emplace(let->var().get(), let->value());
    }
  }
}

const Expr& LetValues::Find(const Expr& expr) const {
  const Expr* result = &expr;
  while (const auto* var = result->As<VarNode>()) {
    const auto found = values_.find(var);
    if (found == values_.end()) break;
    result = &found->second;
  }
  return *result;
}

FlatHashSet<const VarNode*> LetValues::Uses(
    absl::Span<const Expr> exprs) const {
  FlatHashSet<const VarNode*> result;
  std::vector<Expr> work(exprs.begin(), exprs.end());
  while (!work.empty()) {
    const Expr next = std::move(work.back());
    work.pop_back();
    relay::PostOrderVisit(next, [&](const ExprNode* node) {
      if (node->kind() != relay::ExprKind::kVar) return;
      const auto* var = static_cast<const VarNode*>(node);
      if (!result.insert(var).second) return;
      const auto found = values_.find(var);
      if (found != values_.end()) work.push_back(found->second);
    });
  }
  return result;
}

LoopForm LoopFormOf(const relay::Function& function,
                    const TailRecursion& recursion, const LetValues& values,
                    absl::Span<const Expr> initial) {
  const size_t count = function->params().size();
  const auto param = [&function](size_t i) -> Expr {
    return function->params()[i];
  };
  LoopForm result;
  result.params.assign(count, LoopParam::kCarried);
  result.elements.resize(count);
  FlatHashSet<const VarNode*> changing;
  for (size_t i = 0; i < count; ++i) {
    if (values.Find(recursion.next[i]) == param(i)) {
      result.params[i] = LoopParam::kInvariant;
    } else {
      changing.insert(function->params()[i].get());
    }
  }
  const auto is_counter = [&](const Expr& expr) {
    for (size_t i = 0; i < count; ++i) {
      if (values.Find(expr) == param(i)) {
        return IsScalarOf(param(i), DType::Int(64)) &&
               relay::ConstantScalar(initial[i]) == 0.0 &&
               IsIncremented(values, recursion.next[i], param(i));
      }
    }
    return false;
  };
  const auto is_limit = [&](const Expr& expr) {
    if (!IsCallTo(expr, BATON_OP("less"))) return false;
    const auto* less = expr.As<CallNode>();
    if (!is_counter(less->arg(0)) ||
        !IsScalarOf(less->arg(1), DType::Int(64))) {
      return false;
    }
    const auto uses = values.Uses({less->arg(1)});
    return std::none_of(
        changing.begin(), changing.end(),
        [&uses](const VarNode* var) { return uses.contains(var); });
  };

  // The limit and the rest of the condition.
  result.condition = recursion.condition;
  const Expr& condition = values.Find(recursion.condition);
  if (recursion.goes_on_if && is_limit(condition)) {
    result.limit = condition.As<CallNode>()->arg(1);
    result.condition = Expr();
  } else if (recursion.goes_on_if &&
             IsCallTo(condition, BATON_OP("logical_and"))) {
    const auto* both = condition.As<CallNode>();
    for (int i = 0; i < 2 && !result.limit.defined(); ++i) {
      const Expr& part = values.Find(both->arg(i));
      if (!is_limit(part) || !IsScalarOf(both->arg(1 - i), DType::Bool())) {
        continue;
      }
      result.limit = part.As<CallNode>()->arg(1);
      result.condition = both->arg(1 - i);
    }
  }

  // A stack is used by nothing but its own next value and the result.
  for (size_t i = 0; i < count; ++i) {
    if (result.params[i] != LoopParam::kCarried) continue;
    result.elements[i] =
        AddedElement(values, recursion.next[i], param(i), initial[i]);
    if (result.elements[i].defined()) result.params[i] = LoopParam::kStacked;
  }
  bool has_changed = true;
  while (has_changed) {
    has_changed = false;
    std::vector<Expr> used;
    if (result.condition.defined()) used.push_back(result.condition);
    for (size_t i = 0; i < count; ++i) {
      if (result.params[i] == LoopParam::kCarried) {
        used.push_back(recursion.next[i]);
      } else if (result.params[i] == LoopParam::kStacked) {
        used.push_back(result.elements[i]);
      }
    }
    const auto uses = values.Uses(used);
    for (size_t i = 0; i < count; ++i) {
      if (result.params[i] == LoopParam::kStacked &&
          uses.contains(function->params()[i].get())) {
        result.params[i] = LoopParam::kCarried;
        has_changed = true;
      }
    }
  }

  const auto in_result = values.Uses({recursion.result});
  for (size_t i = 0; i < count; ++i) {
    if (result.params[i] != LoopParam::kCarried ||
        in_result.contains(function->params()[i].get())) {
      continue;
    }
    if (is_counter(param(i))) {
      result.params[i] = LoopParam::kCounter;
    } else if (recursion.goes_on_if && result.condition.defined() &&
               values.Find(result.condition) == param(i)) {
      result.params[i] = LoopParam::kCondition;
    }
  }
  return result;
}

}  // namespace baton::onnx
