#include "baton/relay/transform/first_order_gradient.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/status_macros.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"
#include "baton/ir/node.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/ir/origin.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/gradients.h"
#include "baton/relay/op/tensor.h"
#include "baton/relay/transform/let_list.h"
#include "baton/relay/transform/strip_compiler_attrs.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {
namespace {

// Types nested more deeply, or of more tensors, are refused.
constexpr int kMaxTypeDepth = 100;
constexpr int kMaxTensors = 10'000;

// True if `type` is a tensor or a tuple of such types. Subtracts their number
// from `room`, which becomes negative if it is too small.
bool IsData(const Type& type, int depth, int& room) {
  if (--room < 0) return false;
  if (type.Is<TensorTypeNode>()) return true;
  const auto* tuple = type.As<TupleTypeNode>();
  if (tuple == nullptr || depth > kMaxTypeDepth) return false;
  for (const Type& field : tuple->fields()) {
    if (!IsData(field, depth + 1, room)) return false;
  }
  return true;
}

// Says what of `function` cannot be differentiated.
absl::Status CheckDifferentiable(const Function& function) {
  Diagnostics diagnostics;
  NodeMap<int> num_calls;  // of function literals
  NodeSet data_types;
  const auto check_data = [&](const ExprNode* node) {
    if (data_types.Contains(node->type().get())) return;
    int room = kMaxTensors;
    if (IsData(node->type(), /*depth=*/0, room)) {
      data_types.Insert(node->type().get());
      return;
    }
    diagnostics.Error(
        node->span(),
        "a first-order gradient allows tensors and tuples of tensors only");
  };
  PostOrderVisit(function, [&](const ExprNode* node) {
    switch (ExprKindOf(node)) {
      case ExprKind::kOp:
        return;
      case ExprKind::kVar:
      case ExprKind::kConstant:
      case ExprKind::kTuple:
      case ExprKind::kTupleGetItem:
        check_data(node);
        return;
      case ExprKind::kFunction: {
        const auto* literal = static_cast<const FunctionNode*>(node);
        if (!literal->type_params().empty()) {
          diagnostics.Error(
              node->span(),
              "first-order gradients of polymorphic functions are not known");
        }
        return;
      }
      case ExprKind::kCall: {
        const auto* call = static_cast<const CallNode*>(node);
        check_data(node);
        const OpNode* op = call->op_node();
        if (op != nullptr && Gradients().Get(*op) == nullptr) {
          diagnostics.Error(node->span(),
                            absl::StrCat(op->name(), " has no gradient"));
        } else if (op == nullptr && !call->op().Is<FunctionNode>()) {
          diagnostics.Error(
              node->span(),
              absl::StrCat("a call of ", NodeKindName(call->op()->kind()),
                           " has no first-order gradient"));
        }
        if (call->op().Is<FunctionNode>() &&
            ++num_calls[call->op().get()] == 2) {
          diagnostics.Error(
              node->span(),
              "a function that is called more than once has no first-order "
              "gradient");
        }
        return;
      }
      default:
        diagnostics.Error(node->span(),
                          absl::StrCat("a ", NodeKindName(node->kind()),
                                       " has no first-order gradient"));
    }
  });
  return diagnostics.ToStatus();
}

// Tensors of `type`, made by `make` of a shape and an element type.
absl::StatusOr<Expr> Filled(const Type& type,
                            Expr (*make)(std::vector<int64_t>, DType)) {
  if (const auto* tuple = type.As<TupleTypeNode>()) {
    std::vector<Expr> fields;
    for (const Type& field : tuple->fields()) {
      BATON_ASSIGN_OR_RETURN(Expr filled, Filled(field, make));
      fields.push_back(std::move(filled));
    }
    return Expr(Tuple(std::move(fields)));
  }
  const auto& tensor = *type.As<TensorTypeNode>();
  std::vector<int64_t> shape;
  for (const Dim& dim : tensor.shape()) {
    if (!dim.is_const()) {
      return absl::UnimplementedError(absl::StrCat(
          "first-order gradients of tuples need known shapes, not ",
          type.ToString()));
    }
    shape.push_back(dim.value());
  }
  return make(std::move(shape), tensor.dtype());
}

class Differentiator {
 public:
  explicit Differentiator(const Function& function) : function_(function) {}

  absl::StatusOr<Function> Run() {
    LetList forward(names_);
    forward_ = &forward;
    for (const Var& param : function_->params()) {
      BATON_RETURN_IF_ERROR(Bind(param.get(), param));
    }
    BATON_RETURN_IF_ERROR(Forward(function_->body()));
    LetList backward(names_);
    backward_ = &backward;
    BATON_RETURN_IF_ERROR(Backward());
    std::vector<Expr> gradients;
    for (const Var& param : function_->params()) {
      gradients.push_back(ValueOf(param).gradient);
    }
    const Expr result = ValueOf(function_->body()).forward;
    Expr body = forward.Close(
        Tuple({result, backward.Close(Tuple(std::move(gradients)))}));
    const Function gradient(
        {function_->params().begin(), function_->params().end()},
        std::move(body), ResultType(), {},
        StripCompilerAttrs(function_->attrs()), {}, function_->span());
    LogOrigins(gradient, function_.get());
    return gradient;
  }

 private:
  // A tensor or tuple that the function computes.
  struct Value {
    Expr forward;   // a variable
    Expr gradient;  // the sum so far
    Type type;
  };
  // A step of making a value, to be undone.
  struct Action {
    const ExprNode* node;  // which becomes `forward`
    int result;            // index of a value
    Expr forward;          // how it is made of variables
    std::vector<int> operands;
  };
  struct Visit {
    const ExprNode* node;
    enum { kEnter, kBody, kLeave } step;
  };

  Value& ValueOf(const Expr& expr) { return values_[*index_.Find(expr.get())]; }

  // Binds `forward`, which `node` has become, and zeros for its gradient.
  absl::Status Bind(const ExprNode* node, const Expr& forward) {
    LogOrigins(forward, node);
    const Type& type = node->type();
    const Var var = forward_->Push(forward, type);
    Expr zeros;
    if (type.Is<TensorTypeNode>()) {
      zeros = ZerosLike(var);
    } else {
      BATON_ASSIGN_OR_RETURN(zeros, Filled(type, Zeros));
    }
    const Var gradient = forward_->Push(std::move(zeros));
    index_[node] = static_cast<int>(values_.size());
    values_.push_back({var, gradient, type});
    return absl::OkStatus();
  }

  // Binds `forward` as Bind does, and notes of what it is made.
  absl::Status BindAction(const ExprNode* node, const Expr& forward,
                          absl::Span<const Expr> operands) {
    BATON_RETURN_IF_ERROR(Bind(node, forward));
    Action action = {node, index_[node], forward, {}};
    for (const Expr& operand : operands) {
      action.operands.push_back(*index_.Find(operand.get()));
    }
    actions_.push_back(std::move(action));
    return absl::OkStatus();
  }

  // The replacements of the operands.
  std::vector<Expr> Operands(absl::Span<const Expr> operands) {
    std::vector<Expr> result;
    for (const Expr& operand : operands) {
      result.push_back(ValueOf(operand).forward);
    }
    return result;
  }

  absl::Status Forward(const Expr& body) {
    std::vector<Visit> stack = {{body.get(), Visit::kEnter}};
    const auto enter = [&](absl::Span<const Expr> operands) {
      for (size_t i = operands.size(); i > 0; --i) {
        stack.push_back({operands[i - 1].get(), Visit::kEnter});
      }
    };
    while (!stack.empty()) {
      const Visit visit = stack.back();
      stack.pop_back();
      if (visit.step == Visit::kEnter && index_.Find(visit.node) != nullptr) {
        continue;
      }
      const Expr node(visit.node);
      if (const auto* call = node.As<CallNode>()) {
        const auto* callee = call->op().As<FunctionNode>();
        if (visit.step == Visit::kEnter) {
          stack.push_back(
              {visit.node, callee != nullptr ? Visit::kBody : Visit::kLeave});
          enter(call->args());
        } else if (visit.step == Visit::kBody) {
          for (int i = 0; i < call->num_args(); ++i) {
            const int arg = *index_.Find(call->arg(i).get());
            index_[callee->params()[static_cast<size_t>(i)].get()] = arg;
          }
          stack.push_back({visit.node, Visit::kLeave});
          enter({&callee->body(), 1});
        } else if (callee != nullptr) {
          const int result = *index_.Find(callee->body().get());
          index_[visit.node] = result;
        } else {
          BATON_RETURN_IF_ERROR(BindAction(
              visit.node,
              Call(call->op(), Operands(call->args()), call->attrs(),
                   {call->type_args().begin(), call->type_args().end()},
                   call->type(), call->span()),
              call->args()));
        }
      } else if (const auto* tuple = node.As<TupleNode>()) {
        if (visit.step == Visit::kEnter) {
          stack.push_back({visit.node, Visit::kLeave});
          enter(tuple->fields());
        } else {
          BATON_RETURN_IF_ERROR(BindAction(
              visit.node,
              Tuple(Operands(tuple->fields()), tuple->type(), tuple->span()),
              tuple->fields()));
        }
      } else if (const auto* item = node.As<TupleGetItemNode>()) {
        if (visit.step == Visit::kEnter) {
          stack.push_back({visit.node, Visit::kLeave});
          enter({&item->tuple(), 1});
        } else {
          BATON_RETURN_IF_ERROR(BindAction(
              visit.node,
              TupleGetItem(ValueOf(item->tuple()).forward, item->index(),
                           item->type(), item->span()),
              {&item->tuple(), 1}));
        }
      } else if (node.Is<ConstantNode>()) {
        BATON_RETURN_IF_ERROR(Bind(visit.node, node));
      } else {
        Diagnostics diagnostics;
        diagnostics.Error(visit.node->span(),
                          absl::StrCat("a ", NodeKindName(visit.node->kind()),
                                       " has no first-order gradient"));
        return diagnostics.ToStatus();
      }
    }
    return absl::OkStatus();
  }

  // From last to first, each action adds to the gradients of its operands.
  absl::Status Backward() {
    Value& result = ValueOf(function_->body());
    if (result.type.Is<TensorTypeNode>()) {
      result.gradient = OnesLike(result.forward);
    } else {
      BATON_ASSIGN_OR_RETURN(result.gradient, Filled(result.type, Ones));
    }
    Diagnostics diagnostics;
    for (size_t k = actions_.size(); k > 0; --k) {
      const Action& action = actions_[k - 1];
      differentiated_ = action.node;
      const Expr& gradient = values_[action.result].gradient;
      if (const auto* call = action.forward.As<CallNode>()) {
        const absl::StatusOr<std::vector<Expr>> gradients =
            (*Gradients().Get(call->op()))(Call(call), gradient);
        if (!gradients.ok()) {
          diagnostics.Error(call->span(),
                            std::string(gradients.status().message()));
          continue;
        }
        if (gradients->size() != action.operands.size()) {
          return absl::InternalError(
              absl::StrCat("the gradient of ", call->op_node()->name(), " is ",
                           gradients->size(), " gradients for ",
                           action.operands.size(), " arguments"));
        }
        for (size_t i = 0; i < gradients->size(); ++i) {
          AddTo(action.operands[i], (*gradients)[i]);
        }
      } else if (action.forward.Is<TupleNode>()) {
        for (size_t i = 0; i < action.operands.size(); ++i) {
          AddTo(action.operands[i],
                TupleGetItem(values_[action.result].gradient,
                             static_cast<int>(i)));
        }
      } else {
        AddToField(action.operands[0],
                   action.forward.As<TupleGetItemNode>()->index(), gradient);
      }
    }
    return diagnostics.ToStatus();
  }

  void AddTo(int operand, const Expr& gradient) {
    Value& value = values_[operand];
    value.gradient = Sum(value.type, value.gradient, gradient);
  }

  // Adds to one field of a tuple.
  void AddToField(int operand, int index, const Expr& gradient) {
    Value& value = values_[operand];
    const auto& type = *value.type.As<TupleTypeNode>();
    std::vector<Expr> fields;
    for (size_t i = 0; i < type.fields().size(); ++i) {
      const Expr field = TupleGetItem(value.gradient, static_cast<int>(i));
      fields.push_back(static_cast<int>(i) == index
                           ? Sum(type.fields()[i], field, gradient)
                           : field);
    }
    value.gradient = PushBackward(Tuple(std::move(fields)));
  }

  // A variable for `expr`, whose origin is the node that is differentiated.
  Var PushBackward(const Expr& expr) {
    LogOrigins(expr, differentiated_);
    return backward_->Push(expr);
  }

  // A variable for x + y, tensors or tuples of `type`. Bools are not added:
  // nothing depends on them smoothly, and `x` is zeros.
  Expr Sum(const Type& type, const Expr& x, const Expr& y) {
    const auto* tuple = type.As<TupleTypeNode>();
    if (tuple == nullptr) {
      return type.As<TensorTypeNode>()->dtype().is_bool()
                 ? x
                 : PushBackward(Add(x, y));
    }
    std::vector<Expr> fields;
    for (size_t i = 0; i < tuple->fields().size(); ++i) {
      // The reference, as it is compiled, takes the field of `y` first.
      const int index = static_cast<int>(i);
      const Expr of_y = PushBackward(TupleGetItem(y, index));
      const Expr of_x = PushBackward(TupleGetItem(x, index));
      fields.push_back(Sum(tuple->fields()[i], of_x, of_y));
    }
    return PushBackward(Tuple(std::move(fields)));
  }

  // (result, (parameter, ...)), as far as it is declared.
  Type ResultType() const {
    std::vector<Type> params;
    for (const Var& param : function_->params()) {
      if (!param->annotation().defined()) return {};
      params.push_back(param->annotation());
    }
    if (!function_->result_type().defined()) return {};
    return TupleType({function_->result_type(), TupleType(std::move(params))});
  }

  const Function& function_;
  VarNames names_;
  LetList* forward_ = nullptr;
  LetList* backward_ = nullptr;
  const ExprNode* differentiated_ = nullptr;
  std::vector<Value> values_;
  NodeMap<int> index_;           // of the value of an expression
  std::vector<Action> actions_;  // in order
};

}  // namespace

absl::StatusOr<Function> FirstOrderGradientInFunction(
    const Function& function) {
  BATON_RETURN_IF_ERROR(CheckDifferentiable(function));
  return Differentiator(function).Run();
}

Pass FirstOrderGradient() {
  return CreateModulePass(
      [](const IRModule& module,
         const PassContext& /*context*/) -> absl::StatusOr<IRModule> {
        BATON_ASSIGN_OR_RETURN(IRModule result, InferTypes(module));
        for (const auto& [var, function] : result.functions<Function>()) {
          BATON_ASSIGN_OR_RETURN(const Function gradient,
                                 FirstOrderGradientInFunction(function));
          result.Set(var, gradient);
        }
        return InferTypes(result);
      },
      {.name = "FirstOrderGradient",
       .doc = "Makes functions return the gradients of their parameters, too.",
       .invalidates = {"a_normal_form", "basic_block_normal_form"},
       .waivers = {
           {"runs", "Not every program can be differentiated."},
           {"values", "The result is a pair of what it was and gradients."}}});
}
BATON_REGISTER_PASS(FirstOrderGradient);

}  // namespace baton::relay
