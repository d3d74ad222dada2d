#include "baton/backend/cpu/graph.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/span.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"

namespace baton::cpu {
namespace {

// Functions inside of functions, and their calls.
constexpr int kMaxDepth = 200;
constexpr size_t kMaxNodes = 10'000'000;

// The value of an expression: a tensor, a tuple, or a function.
struct ExprValue {
  enum class Kind { kTensor, kTuple, kFunction } kind = Kind::kTuple;
  int tensor = -1;
  std::vector<ExprValue> fields;
  const FunctionNode* function = nullptr;
  const struct Scope* scope = nullptr;  // of the function's free variables
};

// The variables and values of one call of a function.
struct Scope {
  const Scope* parent = nullptr;
  FlatHashMap<const ExprNode*, ExprValue> values;
  FlatHashMap<const VarNode*, const ExprNode*> lets;
};

class GraphBuilder {
 public:
  explicit GraphBuilder(const IRModule& module) : module_(module) {}

  absl::StatusOr<Graph> Build(absl::string_view name) {
    BATON_ASSIGN_OR_RETURN(const Function function,
                           module_.Lookup<Function>(name));
    Scope* const scope = NewScope(nullptr);
    for (const Var& param : function->params()) {
      if (!param->type().defined() || !param->type().Is<TensorTypeNode>()) {
        return Refuse(param.get(), absl::StrCat("parameter %", param->name(),
                                                " is not a tensor"));
      }
      BATON_ASSIGN_OR_RETURN(ExprValue value,
                             NewResult(param.get(), param->type()));
      graph_.tensors[static_cast<size_t>(value.tensor)].input =
          static_cast<int>(graph_.inputs.size());
      graph_.inputs.push_back(value.tensor);
      graph_.input_names.push_back(std::string(param->name()));
      scope->values.insert_or_assign(param.get(), std::move(value));
    }
    BATON_ASSIGN_OR_RETURN(const ExprValue result,
                           Evaluate(function->body().get(), scope));
    BATON_ASSIGN_OR_RETURN(graph_.result,
                           ToGraphValue(function->body().get(), result));
    Flatten(graph_.result, graph_.outputs);
    DropUnused();
    return std::move(graph_);
  }

 private:
  Scope* NewScope(const Scope* parent) {
    scopes_.push_back(std::make_unique<Scope>());
    scopes_.back()->parent = parent;
    return scopes_.back().get();
  }

  // Names the nearest place that is known.
  static absl::Status Refuse(const ExprNode* node, std::string message) {
    Diagnostics diagnostics;
    diagnostics.Error(node->span(), std::move(message));
    return absl::UnimplementedError(diagnostics.ToStatus().message());
  }

  static void Flatten(const GraphValue& root, std::vector<int>& tensors) {
    std::vector<const GraphValue*> work = {&root};
    while (!work.empty()) {
      const GraphValue* const value = work.back();
      work.pop_back();
      if (value->is_tensor()) {
        tensors.push_back(value->tensor);
        continue;
      }
      for (size_t i = value->fields.size(); i-- > 0;) {
        work.push_back(&value->fields[i]);
      }
    }
  }

  static absl::StatusOr<GraphValue> ToGraphValue(const ExprNode* node,
                                                 const ExprValue& value,
                                                 int depth = 0) {
    GraphValue result;
    if (value.kind == ExprValue::Kind::kTensor) {
      result.tensor = value.tensor;
      return result;
    }
    if (value.kind == ExprValue::Kind::kFunction) {
      return Refuse(node, "a function that is not called has no plan");
    }
    if (depth > kMaxDepth) return Refuse(node, "tuples are too deep");
    for (const ExprValue& field : value.fields) {
      BATON_ASSIGN_OR_RETURN(GraphValue converted,
                             ToGraphValue(node, field, depth + 1));
      result.fields.push_back(std::move(converted));
    }
    return result;
  }

  // A new tensor, or a tuple of new ones.
  absl::StatusOr<ExprValue> NewResult(const ExprNode* node, const Type& type,
                                      int depth = 0) {
    ExprValue value;
    if (const auto* tensor = type.As<TensorTypeNode>()) {
      const auto shape = ConstDims(tensor->shape());
      if (!shape.has_value()) {
        return Refuse(node,
                      absl::StrCat("a plan needs shapes that are numbers, not ",
                                   type.ToString()));
      }
      // Memory is planned for it.
      BATON_RETURN_IF_ERROR(NumElements(tensor->dtype(), *shape).status());
      value.kind = ExprValue::Kind::kTensor;
      value.tensor = static_cast<int>(graph_.tensors.size());
      graph_.tensors.push_back({tensor->dtype(), *shape, std::nullopt, -1});
      return value;
    }
    const auto* tuple = type.As<TupleTypeNode>();
    if (tuple == nullptr || depth > kMaxDepth) {
      return Refuse(
          node, absl::StrCat("a plan has no values of type ", type.ToString()));
    }
    for (const Type& field : tuple->fields()) {
      BATON_ASSIGN_OR_RETURN(ExprValue converted,
                             NewResult(node, field, depth + 1));
      value.fields.push_back(std::move(converted));
    }
    return value;
  }

  // The value of `node` if it is known in `scope` or in those around it.
  static const ExprValue* Find(const ExprNode* node, const Scope* scope) {
    // A let's variable is its value.
    for (const Scope* s = scope; s != nullptr; s = s->parent) {
      const ExprNode* at = node;
      while (at->kind() == ExprKind::kVar) {
        const auto let = s->lets.find(static_cast<const VarNode*>(at));
        if (let == s->lets.end()) break;
        at = let->second;
      }
      const auto found = s->values.find(at);
      if (found != s->values.end()) return &found->second;
      node = at;
    }
    return nullptr;
  }

  absl::StatusOr<ExprValue> ValueOf(const ExprNode* node, const Scope* scope) {
    if (const ExprValue* value = Find(node, scope)) return *value;
    if (node->kind() == ExprKind::kVar) {
      return absl::InvalidArgumentError(
          absl::StrCat("variable %", static_cast<const VarNode*>(node)->name(),
                       " has no value"));
    }
    return absl::InternalError("an expression has no value");
  }

  absl::StatusOr<ExprValue> Evaluate(const ExprNode* root, Scope* scope) {
    if (const ExprValue* value = Find(root, scope)) return *value;
    if (++depth_ > kMaxDepth) {
      return Refuse(root, "a plan has no recursion");
    }
    absl::Status status;
    PostOrderVisit(
        Handle(root),
        [&](const ExprNode* node) {
          if (node->kind() == ExprKind::kLet) {
            const auto* let = static_cast<const LetNode*>(node);
            scope->lets.insert_or_assign(let->var().get(), let->value().get());
          }
          return status.ok() && node->kind() != ExprKind::kFunction &&
                 node->kind() != ExprKind::kIf &&
                 scope->values.find(node) == scope->values.end();
        },
        [&](const ExprNode* node) {
          if (!status.ok() || node->kind() == ExprKind::kVar ||
              scope->values.find(node) != scope->values.end()) {
            return;
          }
          status = Visit(node, scope);
        });
    --depth_;
    BATON_RETURN_IF_ERROR(status);
    return ValueOf(root, scope);
  }

  static Expr Handle(const ExprNode* node) { return Expr(node); }

  absl::Status Visit(const ExprNode* node, Scope* scope) {
    ExprValue value;
    switch (ExprKindOf(node)) {
      case ExprKind::kVar:
      case ExprKind::kOp:
        return absl::OkStatus();
      case ExprKind::kConstant: {
        const Tensor& tensor = static_cast<const ConstantNode*>(node)->value();
        value.kind = ExprValue::Kind::kTensor;
        value.tensor = static_cast<int>(graph_.tensors.size());
        graph_.tensors.push_back(
            {tensor.dtype(),
             TensorShape(tensor.shape().begin(), tensor.shape().end()), tensor,
             -1});
        break;
      }
      case ExprKind::kGlobalVar: {
        BATON_ASSIGN_OR_RETURN(
            const Function function,
            module_.Lookup<Function>(
                static_cast<const GlobalVarNode*>(node)->name()));
        value.kind = ExprValue::Kind::kFunction;
        value.function = function.get();
        break;
      }
      case ExprKind::kFunction:
        value.kind = ExprValue::Kind::kFunction;
        value.function = static_cast<const FunctionNode*>(node);
        value.scope = scope;
        break;
      case ExprKind::kTuple: {
        for (const Expr& field :
             static_cast<const TupleNode*>(node)->fields()) {
          BATON_ASSIGN_OR_RETURN(ExprValue part, ValueOf(field.get(), scope));
          value.fields.push_back(std::move(part));
        }
        break;
      }
      case ExprKind::kTupleGetItem: {
        const auto* get = static_cast<const TupleGetItemNode*>(node);
        BATON_ASSIGN_OR_RETURN(const ExprValue tuple,
                               ValueOf(get->tuple().get(), scope));
        if (tuple.kind != ExprValue::Kind::kTuple || get->index() < 0 ||
            static_cast<size_t>(get->index()) >= tuple.fields.size()) {
          return absl::InternalError("a field that a tuple lacks");
        }
        value = tuple.fields[static_cast<size_t>(get->index())];
        break;
      }
      case ExprKind::kLet: {
        BATON_ASSIGN_OR_RETURN(
            value,
            ValueOf(static_cast<const LetNode*>(node)->body().get(), scope));
        break;
      }
      case ExprKind::kIf: {
        const auto* branch = static_cast<const IfNode*>(node);
        BATON_ASSIGN_OR_RETURN(const ExprValue cond,
                               Evaluate(branch->cond().get(), scope));
        if (cond.kind != ExprValue::Kind::kTensor ||
            !graph_.tensors[static_cast<size_t>(cond.tensor)]
                 .constant.has_value()) {
          return Refuse(node,
                        "a plan has no branch whose condition is not constant");
        }
        const Tensor& tensor =
            *graph_.tensors[static_cast<size_t>(cond.tensor)].constant;
        BATON_ASSIGN_OR_RETURN(
            value, Evaluate((tensor.AtAsInt64(0) != 0 ? branch->true_branch()
                                                      : branch->false_branch())
                                .get(),
                            scope));
        break;
      }
      case ExprKind::kCall: {
        BATON_ASSIGN_OR_RETURN(
            value, VisitCall(static_cast<const CallNode*>(node), scope));
        break;
      }
      case ExprKind::kConstructor:
      case ExprKind::kMatch:
        return Refuse(node, "a plan has no values of data types");
      case ExprKind::kRefCreate:
      case ExprKind::kRefRead:
      case ExprKind::kRefWrite:
        return Refuse(node, "a plan has no references");
    }
    scope->values.insert_or_assign(node, std::move(value));
    return absl::OkStatus();
  }

  absl::StatusOr<ExprValue> VisitCall(const CallNode* call, Scope* scope) {
    std::vector<ExprValue> args;
    for (const Expr& arg : call->args()) {
      BATON_ASSIGN_OR_RETURN(ExprValue value, ValueOf(arg.get(), scope));
      args.push_back(std::move(value));
    }
    if (call->op_node() == nullptr) {
      BATON_ASSIGN_OR_RETURN(const ExprValue callee,
                             ValueOf(call->op().get(), scope));
      if (callee.kind != ExprValue::Kind::kFunction) {
        return Refuse(call, "a plan has no such call");
      }
      return CallFunction(call, callee, std::move(args));
    }
    if (graph_.nodes.size() >= kMaxNodes) {
      return absl::ResourceExhaustedError(
          absl::StrCat("a plan of more than ", kMaxNodes, " steps"));
    }
    if (!call->type().defined()) {
      return absl::InvalidArgumentError(
          absl::StrCat("a call of ", call->op_node()->name(), " has no type"));
    }
    GraphNode node;
    node.call = Call(call);
    for (const ExprValue& arg : args) {
      BATON_ASSIGN_OR_RETURN(GraphValue value, ToGraphValue(call, arg));
      Flatten(value, node.inputs);
      node.args.push_back(std::move(value));
    }
    BATON_ASSIGN_OR_RETURN(const ExprValue result,
                           NewResult(call, call->type()));
    BATON_ASSIGN_OR_RETURN(node.result, ToGraphValue(call, result));
    Flatten(node.result, node.outputs);
    graph_.nodes.push_back(std::move(node));
    return result;
  }

  absl::StatusOr<ExprValue> CallFunction(const CallNode* call,
                                         const ExprValue& callee,
                                         std::vector<ExprValue> args) {
    const absl::Span<const Var> params = callee.function->params();
    if (params.size() != args.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("a function takes ", params.size(), " arguments, found ",
                       args.size()));
    }
    Scope* const scope = NewScope(callee.scope);
    for (size_t i = 0; i < args.size(); ++i) {
      scope->values.insert_or_assign(params[i].get(), std::move(args[i]));
    }
    absl::StatusOr<ExprValue> result =
        Evaluate(callee.function->body().get(), scope);
    // The nodes inside of fused functions often have no place.
    if (!result.ok() && call->span().defined() &&
        absl::IsUnimplemented(result.status()) &&
        !callee.function->body()->span().defined()) {
      return Refuse(call, std::string(result.status().message()));
    }
    return result;
  }

  // Drops nodes whose results nothing uses.
  void DropUnused() {
    std::vector<bool> used(graph_.tensors.size(), false);
    for (const int tensor : graph_.outputs) {
      used[static_cast<size_t>(tensor)] = true;
    }
    std::vector<GraphNode> kept;
    for (size_t i = graph_.nodes.size(); i-- > 0;) {
      GraphNode& node = graph_.nodes[i];
      if (std::none_of(node.outputs.begin(), node.outputs.end(),
                       [&](int t) { return used[static_cast<size_t>(t)]; })) {
        continue;
      }
      for (const int tensor : node.inputs) {
        used[static_cast<size_t>(tensor)] = true;
      }
      kept.push_back(std::move(node));
    }
    std::reverse(kept.begin(), kept.end());
    graph_.nodes = std::move(kept);
  }

  const IRModule& module_;
  Graph graph_;
  std::vector<std::unique_ptr<Scope>> scopes_;
  int depth_ = 0;
};

}  // namespace

int64_t GraphTensor::num_elements() const {
  int64_t count = 1;
  for (const int64_t d : shape) count *= d;
  return count;
}

absl::StatusOr<Graph> BuildGraph(const IRModule& module,
                                 absl::string_view name) {
  return GraphBuilder(module).Build(name);
}

}  // namespace baton::cpu
