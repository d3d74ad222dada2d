#include "baton/relay/transform/higher_order_gradient.h"

#include <cstddef>
#include <deque>
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
#include "baton/ir/attrs.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"
#include "baton/ir/node.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/ir/origin.h"
#include "baton/ir/type.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/param_devices.h"
#include "baton/relay/ir/type_substitution.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/device/on_device.h"
#include "baton/relay/op/gradients.h"
#include "baton/relay/op/tensor.h"
#include "baton/relay/transform/let_insertion.h"
#include "baton/relay/transform/let_list.h"
#include "baton/relay/transform/strip_compiler_attrs.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {
namespace {

// Types nested more deeply than this are refused.
constexpr int kMaxTypeDepth = 100;

Type Unit() { return TupleType(std::vector<Type>()); }

// ref(fn () -> ()), the type of the closure that propagates backwards.
Type BackpropType() { return RefType(FuncType({}, Unit())); }

// A reference to a closure that does nothing.
Expr EmptyBackprop() {
  return RefCreate(Function({}, Tuple(std::vector<Expr>()), Unit()));
}

Expr Pair(Expr first, Expr second) {
  return Tuple({std::move(first), std::move(second)});
}

// Makes functions that are one operator, or for another compiler, plain ones:
// what they become writes to references, which is more than an operator does,
// and nothing that another compiler made stands for it.
class OpaqueFunctionOpener final : public ExprMutator {
 protected:
  Expr VisitFunction(const FunctionNode* /*original*/,
                     Function function) override {
    DictAttrs attrs = StripCompilerAttrs(function->attrs());
    if (attrs == function->attrs()) return function;
    return Function(
        {function->params().begin(), function->params().end()},
        function->body(), function->result_type(),
        {function->type_params().begin(), function->type_params().end()},
        std::move(attrs), function->type(), function->span());
  }
};

// Types with a pair (t, ref(t)) for each tensor t, and one more argument for
// each function.
class DualTypes {
 public:
  // Null for a type that is nested too deeply.
  Type Of(const Type& type, int depth = 0) {
    if (!type.defined() || depth > kMaxTypeDepth) return {};
    if (const Type* known = known_.Find(type.get())) return *known;
    Type dual = Make(type, depth);
    if (dual.defined()) known_[type.get()] = dual;
    return dual;
  }

 private:
  Type Make(const Type& type, int depth) {
    if (type.Is<TensorTypeNode>()) return TupleType({type, RefType(type)});
    Type result = MapTypeParts(
        type, [this, depth](const Type& part) { return Of(part, depth + 1); });
    const auto* function =
        result.defined() ? result.As<FuncTypeNode>() : nullptr;
    if (function == nullptr) return result;
    std::vector<Type> args(function->args().begin(), function->args().end());
    args.push_back(BackpropType());
    return FuncType(
        std::move(args), function->result(),
        {function->type_params().begin(), function->type_params().end()});
  }

  NodeMap<Type> known_;  // what is mapped is held by the program
};

// The state that the rewriting of all functions shares.
struct Shared {
  VarNames names;
  DualTypes types;
  NodeMap<Var> vars;
  // Functions of the module that are called, and what they become.
  FlatHashMap<std::string, GlobalVar> globals;
  std::deque<std::string> pending;
};

// Rewrites a function: each expression becomes one that has the dual type.
class DualRewriter final : public ExprMutator {
 public:
  explicit DualRewriter(Shared& shared) : shared_(shared) {}

 protected:
  Expr Before(const ExprNode* node) override {
    if (node->kind() == ExprKind::kFunction) {
      backprops_.push_back(Var("bp", BackpropType()));
    }
    return {};
  }

  Expr VisitVar(const Var& var) override {
    const auto [dual, is_new] = shared_.vars.TryEmplace(var.get());
    if (is_new) {
      *dual = Var(var->name(), Dual(var->annotation()), var->span());
    }
    return *dual;
  }

  Expr VisitGlobalVar(const GlobalVar& var) override {
    const auto [it, is_new] = shared_.globals.emplace(
        var->name(), GlobalVar(absl::StrCat(var->name(), "_grad")));
    if (is_new) shared_.pending.push_back(var->name());
    return it->second;
  }

  Expr VisitConstant(const Constant& constant) override {
    LetList lets(shared_.names);
    const Var value = lets.Push(constant);
    return lets.Close(Pair(value, RefCreate(ZerosLike(value))));
  }

  Expr VisitFunction(const FunctionNode* original, Function function) override {
    std::vector<Var> params(function->params().begin(),
                            function->params().end());
    params.push_back(backprops_.back());
    backprops_.pop_back();
    DictAttrs attrs = AttrsWithNumParams(*function, params.size());
    return Function(
        std::move(params), function->body(), Dual(original->result_type()),
        {function->type_params().begin(), function->type_params().end()},
        std::move(attrs), {}, function->span());
  }

  Expr VisitIf(const IfNode* /*original*/, If node) override {
    return If(TupleGetItem(node->cond(), 0), node->true_branch(),
              node->false_branch(), {}, node->span());
  }

  Expr VisitCall(const CallNode* original, Call call) override {
    // A value on a device is there with its gradient, whatever its type.
    const CallNode* on_device = AsOnDevice(Expr(original));
    if (on_device != nullptr && IsFixedOnDevice(on_device)) {
      return Call(call->op(), call->args(), call->attrs(), {}, {},
                  call->span());
    }
    if (original->op_node() != nullptr) return OpCall(*original, call);
    if (original->op().Is<ConstructorNode>()) {
      std::vector<Type> type_args;
      for (const Type& type : original->type_args()) {
        type_args.push_back(Dual(type));
      }
      return Call(call->op(), call->args(), {}, std::move(type_args), {},
                  call->span());
    }
    std::vector<Expr> args(call->args().begin(), call->args().end());
    args.push_back(backprops_.back());
    return Call(call->op(), args, {}, {}, {}, call->span());
  }

 private:
  // The dual of `type`, which may be null.
  Type Dual(const Type& type) {
    if (!type.defined()) return {};
    Type dual = shared_.types.Of(type);
    if (!dual.defined()) {
      Fail(absl::UnimplementedError(
          "gradients of types nested so deeply are not known"));
    }
    return dual;
  }

  // `call`, of an operator, with duals as arguments.
  Expr OpCall(const CallNode& original, const Call& call) {
    LetList lets(shared_.names);
    std::vector<Var> duals;
    for (const Expr& arg : call->args()) duals.push_back(lets.Push(arg));
    std::vector<Expr> args;
    for (size_t i = 0; i < duals.size(); ++i) {
      args.push_back(Lift(
          original.arg(static_cast<int>(i))->type(), duals[i], lets,
          [](const Expr& dual) { return TupleGetItem(dual, 0); },
          /*keep_type=*/true));
    }
    const Call forward(
        original.op(), args, original.attrs(),
        {original.type_args().begin(), original.type_args().end()},
        original.type(), original.span());
    const Var value = lets.Push(forward, original.type());
    const Var result = lets.Push(Lift(
        original.type(), value, lets,
        [](const Expr& tensor) {
          return Pair(tensor, RefCreate(ZerosLike(tensor)));
        },
        /*keep_type=*/false));
    const Var& backprop = backprops_.back();
    const Var before = lets.Push(RefRead(backprop));

    LetList back(shared_.names);
    const Expr gradient = Lift(
        original.type(), result, back,
        [](const Expr& dual) { return RefRead(TupleGetItem(dual, 1)); },
        /*keep_type=*/false);
    if (!gradient.defined()) return {};
    const absl::StatusOr<std::vector<Expr>> gradients =
        (*Gradients().Get(original.op()))(forward, gradient);
    if (!gradients.ok()) return FailAt(original, gradients.status().message());
    if (gradients->size() != duals.size()) {
      return FailAt(original, "has a gradient for other arguments");
    }
    for (size_t i = 0; i < duals.size(); ++i) {
      Accumulate(original.arg(static_cast<int>(i))->type(), duals[i],
                 (*gradients)[i], back);
    }
    const absl::StatusOr<Expr> closure =
        InNormalForm(back.Close(Call(before, absl::Span<const Expr>())));
    if (!closure.ok()) return Fail(closure.status());
    lets.Push(RefWrite(backprop, *closure));
    return lets.Close(result);
  }

  Expr FailAt(const CallNode& call, absl::string_view message) {
    Diagnostics diagnostics;
    diagnostics.Error(call.span(), std::string(message));
    return Fail(diagnostics.ToStatus());
  }

  // A variable for the results of `map` on the tensors of `value`, which
  // corresponds to `type`. With `keep_type`, the result is of this type again.
  template <typename Map>
  Expr Lift(const Type& type, const Expr& value, LetList& lets, const Map& map,
            bool keep_type, int depth = 0) {
    const Type known = keep_type ? type : Type();
    if (type.Is<TensorTypeNode>()) return lets.Push(map(value), known);
    const auto* tuple = type.As<TupleTypeNode>();
    if (tuple == nullptr || depth > kMaxTypeDepth) {
      return Fail(absl::UnimplementedError(
          "operators whose arguments or results are neither tensors nor tuples "
          "of them have no gradient"));
    }
    std::vector<Expr> fields;
    for (size_t i = 0; i < tuple->fields().size(); ++i) {
      const Var field = lets.Push(TupleGetItem(value, static_cast<int>(i)));
      fields.push_back(
          Lift(tuple->fields()[i], field, lets, map, keep_type, depth + 1));
      if (!fields.back().defined()) return {};
    }
    return lets.Push(Tuple(std::move(fields)), known);
  }

  // Adds `gradient` to that of `dual`. Gradients of bools stay zeros.
  void Accumulate(const Type& type, const Expr& dual, const Expr& gradient,
                  LetList& lets) {
    if (const auto* tensor = type.As<TensorTypeNode>()) {
      if (tensor->dtype().is_bool()) return;
      lets.Push(RefWrite(TupleGetItem(dual, 1),
                         Add(RefRead(TupleGetItem(dual, 1)), gradient)));
      return;
    }
    const auto* tuple = type.As<TupleTypeNode>();
    for (size_t i = 0; i < tuple->fields().size(); ++i) {
      // The reference, as it is compiled, takes the field of the gradient
      // first.
      const int index = static_cast<int>(i);
      const Var of_gradient = lets.Push(TupleGetItem(gradient, index));
      const Var of_dual = lets.Push(TupleGetItem(dual, index));
      Accumulate(tuple->fields()[i], of_dual, of_gradient, lets);
    }
  }

  // A closure of the body `body`, in A-normal form, bound to a variable.
  absl::StatusOr<Expr> InNormalForm(const Expr& body) {
    NodeSet bound;
    std::vector<Var> used;
    PostOrderVisit(body, [&](const ExprNode* node) {
      if (const auto* let = Expr(node).As<LetNode>()) {
        bound.Insert(let->var().get());
      } else if (const auto* function = Expr(node).As<FunctionNode>()) {
        for (const Var& param : function->params()) bound.Insert(param.get());
      } else if (node->kind() == ExprKind::kVar) {
        used.push_back(Var(static_cast<const VarNode*>(node)));
      }
    });
    std::vector<Var> captured;
    for (const Var& var : used) {
      if (!bound.Contains(var.get())) captured.push_back(var);
    }
    // As parameters, since lets are inserted into closed functions.
    BATON_ASSIGN_OR_RETURN(const Function normal,
                           InsertLets(Function(std::move(captured), body),
                                      LetInsertion::kEverything));
    LetList lets(shared_.names);
    return lets.Close(lets.Push(Function({}, normal->body(), Unit())));
  }

  Shared& shared_;
  // For the functions being visited: the parameter that refers to the closure.
  std::vector<Var> backprops_;
};

// True if an expression other than a name is used more than once.
bool HasSharing(const Function& function) {
  const IndexedGraph graph(function);
  for (int i = 0; i < graph.size(); ++i) {
    if (graph.num_uses(i) < 2) continue;
    switch (ExprKindOf(graph.node(i))) {
      case ExprKind::kVar:
      case ExprKind::kGlobalVar:
      case ExprKind::kOp:
      case ExprKind::kConstructor:
        break;
      default:
        return true;
    }
  }
  return false;
}

// The functions that `name` calls, itself included, in the order of calls.
absl::StatusOr<std::vector<std::string>> Reachable(const IRModule& module,
                                                   const std::string& name) {
  std::vector<std::string> names = {name};
  FlatHashSet<std::string> seen = {name};
  for (size_t i = 0; i < names.size(); ++i) {
    BATON_ASSIGN_OR_RETURN(const Function function,
                           module.Lookup<Function>(names[i]));
    PostOrderVisit(function, [&](const ExprNode* node) {
      if (const auto* var = Expr(node).As<GlobalVarNode>()) {
        if (seen.insert(var->name()).second) names.push_back(var->name());
      }
    });
  }
  return names;
}

// Reports what of `function` has no gradient.
void CheckDifferentiable(const Function& function, Diagnostics& diagnostics) {
  PostOrderVisit(function, [&](const ExprNode* node) {
    const auto* call = Expr(node).As<CallNode>();
    const OpNode* op = call == nullptr ? nullptr : call->op_node();
    if (op != nullptr && Gradients().Get(*op) == nullptr) {
      diagnostics.Error(call->span(),
                        absl::StrCat(op->name(), " has no gradient"));
    }
    ForEachChild(node, [&](const Expr& child) {
      if (call != nullptr && &child == &call->op()) return;
      if (child.Is<OpNode>() || child.Is<ConstructorNode>()) {
        diagnostics.Error(node->span(),
                          absl::StrCat(NodeKindName(child->kind()),
                                       "s that are not called have no "
                                       "gradient"));
      }
    });
  });
}

// Binds what sets the gradient of the result `dual`, of the dual of `type`, or
// that of its first field, to ones.
absl::Status SetFirstToOnes(Expr dual, Type type, LetList& lets) {
  while (const auto* tuple = type.As<TupleTypeNode>()) {
    if (tuple->fields().empty()) break;
    dual = lets.Push(TupleGetItem(dual, 0));
    type = Type(tuple->fields()[0]);
  }
  if (!type.Is<TensorTypeNode>()) {
    return absl::InvalidArgumentError(
        "the result must be a tensor, or a tuple whose first field is one");
  }
  lets.Push(RefWrite(TupleGetItem(dual, 1), OnesLike(TupleGetItem(dual, 0))));
  return absl::OkStatus();
}

// The tensors of `dual`.
absl::StatusOr<Expr> ValueOf(const Expr& dual, const Type& type, LetList& lets,
                             int depth = 0) {
  if (type.Is<TensorTypeNode>()) return Expr(TupleGetItem(dual, 0));
  const auto* tuple = type.As<TupleTypeNode>();
  if (tuple == nullptr || depth > kMaxTypeDepth) {
    return absl::InvalidArgumentError(
        "the result is neither a tensor nor a tuple of tensors");
  }
  std::vector<Expr> fields;
  for (size_t i = 0; i < tuple->fields().size(); ++i) {
    const Var field = lets.Push(TupleGetItem(dual, static_cast<int>(i)));
    BATON_ASSIGN_OR_RETURN(Expr value,
                           ValueOf(field, tuple->fields()[i], lets, depth + 1));
    fields.push_back(std::move(value));
  }
  return Expr(Tuple(std::move(fields)));
}

// `function` around `rewritten`, which is its dual.
absl::StatusOr<Function> WithGradients(const Function& function,
                                       const Expr& rewritten, VarNames& names) {
  LetList lets(names);
  const Var backprop =
      lets.Push(Var(names.Next(), BackpropType()), EmptyBackprop());
  std::vector<Expr> args;
  std::vector<Type> types;
  for (const Var& param : function->params()) {
    args.push_back(lets.Push(Pair(param, RefCreate(ZerosLike(param)))));
    types.push_back(param->type());
  }
  std::vector<Expr> gradients;
  for (const Expr& arg : args) {
    gradients.push_back(RefRead(TupleGetItem(arg, 1)));
  }
  args.push_back(backprop);
  const Var result = lets.Push(Call(rewritten, args));
  const Type& type = function->body()->type();
  BATON_RETURN_IF_ERROR(SetFirstToOnes(result, type, lets));
  lets.Push(Call(RefRead(backprop), absl::Span<const Expr>()));
  BATON_ASSIGN_OR_RETURN(Expr value, ValueOf(result, type, lets));
  const Function gradient(
      {function->params().begin(), function->params().end()},
      lets.Close(Pair(std::move(value), Tuple(std::move(gradients)))),
      TupleType({type, TupleType(std::move(types))}), {}, function->attrs(), {},
      function->span());
  LogOrigins(gradient, function.get());
  return gradient;
}

absl::Status CheckParameters(const Function& function) {
  Diagnostics diagnostics;
  if (!function->type_params().empty()) {
    diagnostics.Error(function->span(),
                      "a polymorphic function has no gradient");
  }
  for (const Var& param : function->params()) {
    if (param->tensor_type() != nullptr) continue;
    diagnostics.Error(param->span(),
                      absl::StrCat("%", param->name(),
                                   " is not a tensor: there is no gradient by "
                                   "it"));
  }
  return diagnostics.ToStatus();
}

}  // namespace

absl::StatusOr<IRModule> HigherOrderGradientInModule(
    const IRModule& given, const HigherOrderGradientOptions& options) {
  BATON_ASSIGN_OR_RETURN(IRModule module, InferTypes(given));
  BATON_ASSIGN_OR_RETURN(const std::vector<std::string> reachable,
                         Reachable(module, options.function));
  Diagnostics diagnostics;
  for (const std::string& name : reachable) {
    CheckDifferentiable(module.Find<Function>(name), diagnostics);
  }
  BATON_RETURN_IF_ERROR(diagnostics.ToStatus());
  BATON_RETURN_IF_ERROR(
      CheckParameters(module.Find<Function>(options.function)));

  // A shared expression would be differentiated several times.
  IRModule bound = module;
  OpaqueFunctionOpener opener;
  for (const std::string& name : reachable) {
    BATON_ASSIGN_OR_RETURN(Function function,
                           opener.MutateFunction(module.Find<Function>(name)));
    if (HasSharing(function)) {
      BATON_ASSIGN_OR_RETURN(function,
                             InsertLets(function, LetInsertion::kEverything));
    }
    bound.Set(module.FindGlobalVar(name), function);
  }
  BATON_ASSIGN_OR_RETURN(bound, InferTypes(bound));

  Shared shared;
  const Function function = bound.Find<Function>(options.function);
  BATON_ASSIGN_OR_RETURN(const Function dual,
                         DualRewriter(shared).MutateFunction(function));
  BATON_ASSIGN_OR_RETURN(const Function gradient,
                         WithGradients(function, dual, shared.names));
  while (!shared.pending.empty()) {
    const std::string name = std::move(shared.pending.front());
    shared.pending.pop_front();
    const GlobalVar var = shared.globals.at(name);
    if (module.Find(var->name()).defined()) {
      return absl::FailedPreconditionError(
          absl::StrCat("@", var->name(), " is there already: the gradient of @",
                       name, " would have its name"));
    }
    shared.vars.Clear();  // a function may be rewritten twice
    BATON_ASSIGN_OR_RETURN(
        const Function callee,
        DualRewriter(shared).MutateFunction(bound.Find<Function>(name)));
    module.Set(var, callee);
  }
  module.Set(module.FindGlobalVar(options.function), gradient);
  return InferTypes(module);
}

Pass HigherOrderGradient(HigherOrderGradientOptions options) {
  return CreateModulePass(
      [options](const IRModule& module,
                const PassContext& /*context*/) -> absl::StatusOr<IRModule> {
        if (!module.Find<Function>(options.function).defined()) return module;
        return HigherOrderGradientInModule(module, options);
      },
      {.name = "HigherOrderGradient",
       .doc =
           "Makes a function return the gradients of its parameters, too, by "
           "references and closures.",
       .invalidates = {"a_normal_form", "basic_block_normal_form"},
       .waivers = {{"runs", "Not every program can be differentiated."},
                   {"values",
                    "The result is a pair of what it was and gradients."}}},
      options);
}
BATON_REGISTER_PASS(HigherOrderGradient);

}  // namespace baton::relay
