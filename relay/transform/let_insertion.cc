#include "baton/relay/transform/let_insertion.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/ir/attrs.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/origin.h"
#include "baton/relay/analysis/scope_graph.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/device/device.h"
#include "baton/relay/op/device/on_device.h"

namespace baton::relay {
namespace {

constexpr char kVirtualDevice[] = "virtual_device";

// The attributes of `expr` if it is an on_device; else null.
const OnDeviceAttrs* OnDeviceAttrsOf(const ExprNode* expr) {
  if (expr->kind() != ExprKind::kCall) return nullptr;
  const auto* call = static_cast<const CallNode*>(expr);
  if (call->op() != OnDeviceOp() || call->num_args() != 1) return nullptr;
  return call->attrs_as<OnDeviceAttrs>();
}

bool IsFixedOnDevice(const ExprNode* expr) {
  const OnDeviceAttrs* attrs = OnDeviceAttrsOf(expr);
  return attrs != nullptr && attrs->constrain_body && attrs->constrain_result;
}

// `expr` or the argument of the on_device that it is, if that is a let.
const LetNode* AsLet(const Expr& expr) {
  return OnDeviceAttrsOf(expr.get()) != nullptr
             ? expr.As<CallNode>()->arg(0).As<LetNode>()
             : expr.As<LetNode>();
}

class LetInserter {
 public:
  // `module` has the global functions that `function` refers to; null if they
  // are not known.
  LetInserter(const Function& function, LetInsertion what,
              const IRModule* module)
      : what_(what), module_(module), graph_(function) {}

  absl::StatusOr<Function> Run();
  bool any_lifted() const { return graph_.any_lifted(); }

 private:
  static constexpr int kNone = -1;

  // Bindings of a scope, linked from last to first. A let that has been
  // flattened gives its bindings to the scope around it.
  struct Binding {
    Var var;
    Expr value;
    Let original;  // the let that binds `var` already, or null
    int previous;
    const ExprNode* node;  // what the value stands for
  };
  struct Bindings {
    int first = kNone;
    int last = kNone;
  };
  struct Visit {
    int index;
    bool leave;
    int let;  // index of the let whose variable the result is to be bound to
  };

  const LetNode* LetAt(int index) const {
    return index == kNone ? nullptr
                          : static_cast<const LetNode*>(graph_.node(index));
  }
  void Push(int index, bool leave, int let = kNone) {
    visits_.push_back({index, leave, let});
  }

  void Enter(int i, int let);
  void PushChildren(int i);
  void Leave(int i, int let);
  Expr LeaveLet(int i, const LetNode* let);
  // Node `i` with what its children have become.
  Expr Rebuild(int i);
  // The replacement of node `i`, whose rebuilt form is `now`: `now`, or a
  // variable bound to it.
  Expr Bind(int i, Expr now, const LetNode* let);
  // True if the variable of `let` may replace `name`, to which it is bound,
  // elsewhere. False for a polymorphic function if it is declared as a plain
  // one.
  bool StandsFor(const LetNode* let, const ExprNode* name) const;
  bool IsToBeBound(int i) const {
    return what_ == LetInsertion::kEverything || graph_.lifted(i);
  }
  Var Append(int scope, Var var, Expr value, Let original,
             const ExprNode* node);
  // Binds `value`, which stands for node `i`.
  Var AppendFor(int scope, int i, Expr value, const LetNode* let) {
    return Append(scope, let != nullptr ? let->var() : Var("x"),
                  std::move(value), Let(let), graph_.node(i));
  }
  void MoveBindings(int from, int to);
  // `body` inside of the bindings of `scope`.
  Expr Close(int scope, Expr body);
  // `expr` on the device of the expressions around it, if they have one.
  Expr OnDevice(Expr expr, const LetNode* let);

  const LetInsertion what_;
  const IRModule* const module_;
  const ScopeGraph graph_;
  std::vector<Expr> results_;  // null where there is none yet
  std::vector<Binding> bindings_;
  std::vector<Bindings> scopes_;
  absl::InlinedVector<Visit, 64> visits_;
  std::vector<Expr> scratch_;
  // Attributes of the enclosing on_device for each enclosing function or
  // on_device, null for a function without device.
  std::vector<Attrs> devices_;
};

absl::StatusOr<Function> LetInserter::Run() {
  if (graph_.free_var() != nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the variable %", graph_.free_var()->name(), " is not bound"));
  }
  const int root = graph_.root();
  const Function function(static_cast<const FunctionNode*>(graph_.node(root)));
  if (what_ == LetInsertion::kLifted && !graph_.any_lifted() &&
      !graph_.any_let()) {
    return function;
  }
  if (function->IsPrimitive()) return function;
  results_.resize(graph_.size());
  for (int i = 0; i < graph_.size(); ++i) {
    // Operators stay what they are, and are in no scope.
    if (graph_.node(i)->kind() == ExprKind::kOp) {
      results_[i] = Expr(graph_.node(i));
    }
  }
  scopes_.resize(graph_.num_scopes());
  if (what_ == LetInsertion::kEverything) bindings_.reserve(graph_.size());
  Push(root, /*leave=*/false);
  while (!visits_.empty()) {
    const Visit visit = visits_.back();
    visits_.pop_back();
    if (visit.leave) {
      Leave(visit.index, visit.let);
    } else {
      Enter(visit.index, visit.let);
    }
  }
  return Function(results_[root].As<FunctionNode>());
}

void LetInserter::Enter(int i, int let) {
  const ExprNode* node = graph_.node(i);
  if (results_[i].defined()) {
    if (let != kNone) AppendFor(graph_.scope(i), i, results_[i], LetAt(let));
    return;
  }
  switch (ExprKindOf(node)) {
    case ExprKind::kVar:
    case ExprKind::kGlobalVar:
    case ExprKind::kConstructor:
      // From here on the variable of the let stands for the one it is bound to.
      results_[i] = Expr(node);
      if (let != kNone) {
        Var alias = AppendFor(graph_.scope(i), i, Expr(node), LetAt(let));
        if (StandsFor(LetAt(let), node)) results_[i] = std::move(alias);
      }
      return;
    case ExprKind::kConstant:
      results_[i] = Bind(i, Expr(node), LetAt(let));
      return;
    case ExprKind::kFunction: {
      const auto* function = static_cast<const FunctionNode*>(node);
      if (function->IsPrimitive()) {
        results_[i] = Bind(i, Expr(node), LetAt(let));
        return;
      }
      const AttrValue* device = function->attrs().Find(kVirtualDevice);
      devices_.push_back(device == nullptr ? Attrs()
                                           : Attrs::Make(OnDeviceAttrs{
                                                 .virtual_device = *device,
                                                 .constrain_result = true,
                                                 .constrain_body = true}));
      break;
    }
    case ExprKind::kCall:
      if (IsFixedOnDevice(node)) {
        devices_.push_back(static_cast<const CallNode*>(node)->attrs());
        Push(i, /*leave=*/true);
        Push(graph_.children(i)[1], /*leave=*/false, let);
        return;
      }
      break;
    case ExprKind::kTuple:
    case ExprKind::kTupleGetItem:
    case ExprKind::kLet:
    case ExprKind::kIf:
    case ExprKind::kRefCreate:
    case ExprKind::kRefRead:
    case ExprKind::kRefWrite:
    case ExprKind::kMatch:
    case ExprKind::kOp:
      break;
  }
  Push(i, /*leave=*/true, let);
  PushChildren(i);
}

// The order in which operands are visited is the reference's (as compiled): it
// decides on the order of bindings. The last one pushed is visited first.
void LetInserter::PushChildren(int i) {
  const absl::Span<const int> children = graph_.children(i);
  switch (ExprKindOf(graph_.node(i))) {
    case ExprKind::kCall:
      Push(children[0], /*leave=*/false);
      for (size_t k = children.size() - 1; k > 0; --k) {
        Push(children[k], /*leave=*/false);
      }
      break;
    case ExprKind::kFunction:
      Push(children.back(), /*leave=*/false);
      break;
    case ExprKind::kLet: {
      Push(children[2], /*leave=*/false);
      const ExprNode* value = graph_.node(children[1]);
      if (value->kind() == ExprKind::kOp) {
        AppendFor(graph_.opened_scope(i, 0), children[1], Expr(value),
                  static_cast<const LetNode*>(graph_.node(i)));
      } else {
        Push(children[1], /*leave=*/false, /*let=*/i);
      }
      break;
    }
    case ExprKind::kMatch: {
      const auto* match = static_cast<const MatchNode*>(graph_.node(i));
      size_t k = children.size();
      for (size_t c = match->clauses().size(); c > 0; --c) {
        Push(children[k - 1], /*leave=*/false);
        k -= 1 + NumVars(match->clauses()[c - 1]);
      }
      Push(children[0], /*leave=*/false);
      break;
    }
    case ExprKind::kIf:
    case ExprKind::kRefWrite:
      for (const int child : children) Push(child, /*leave=*/false);
      break;
    case ExprKind::kVar:
    case ExprKind::kConstant:
    case ExprKind::kTuple:
    case ExprKind::kTupleGetItem:
    case ExprKind::kRefCreate:
    case ExprKind::kRefRead:
    case ExprKind::kConstructor:
    case ExprKind::kGlobalVar:
    case ExprKind::kOp:
      for (size_t k = children.size(); k > 0; --k) {
        Push(children[k - 1], /*leave=*/false);
      }
      break;
  }
}

void LetInserter::Leave(int i, int let) {
  const ExprNode* node = graph_.node(i);
  switch (ExprKindOf(node)) {
    case ExprKind::kLet:
      results_[i] = LeaveLet(i, LetAt(let));
      return;
    case ExprKind::kFunction:
      devices_.pop_back();
      if (i == graph_.root()) {
        results_[i] = Rebuild(i);
        return;
      }
      break;
    case ExprKind::kCall:
      if (IsFixedOnDevice(node)) {
        devices_.pop_back();
        // Its argument has been bound, if everything is; so it is no more than
        // a variable, and needs one of its own only where scopes share it.
        results_[i] = Rebuild(i);
        if (graph_.lifted(i)) {
          results_[i] = AppendFor(graph_.scope(i), i, results_[i], nullptr);
        }
        return;
      }
      break;
    case ExprKind::kVar:
    case ExprKind::kConstant:
    case ExprKind::kTuple:
    case ExprKind::kTupleGetItem:
    case ExprKind::kIf:
    case ExprKind::kRefCreate:
    case ExprKind::kRefRead:
    case ExprKind::kRefWrite:
    case ExprKind::kMatch:
    case ExprKind::kConstructor:
    case ExprKind::kGlobalVar:
    case ExprKind::kOp:
      break;
  }
  results_[i] = Bind(i, Rebuild(i), LetAt(let));
}

Expr LetInserter::LeaveLet(int i, const LetNode* let) {
  const int inner = graph_.opened_scope(i, 0);
  const int body_index = graph_.children(i)[2];
  Expr body = results_[body_index];
  if (let == nullptr && !IsToBeBound(i)) return Close(inner, std::move(body));
  // `let a = (let b = v; w); ...` becomes `let b = v; let a = w; ...`.
  const int scope = graph_.scope(i);
  MoveBindings(inner, scope);
  while (const LetNode* next = AsLet(body)) {
    const Let inner_let(next);
    Append(scope, inner_let->var(), inner_let->value(), inner_let, next);
    body = inner_let->body();
  }
  return AppendFor(scope, i, OnDevice(std::move(body), let), let);
}

Expr LetInserter::Rebuild(int i) {
  const ExprNode* node = graph_.node(i);
  const absl::Span<const int> children = graph_.children(i);
  scratch_.clear();
  for (const int child : children) scratch_.push_back(results_[child]);
  switch (ExprKindOf(node)) {
    case ExprKind::kFunction: {
      const auto* function = static_cast<const FunctionNode*>(node);
      size_t k = 0;
      for (const Var& param : function->params()) scratch_[k++] = param;
      scratch_[k] = Close(graph_.opened_scope(i, 0), std::move(scratch_[k]));
      if (scratch_[k] == function->body()) return Expr(node);
      break;
    }
    case ExprKind::kMatch: {
      const auto* match = static_cast<const MatchNode*>(node);
      size_t k = 1;
      int scope = graph_.opened_scope(i, 0);
      for (const Clause& clause : match->clauses()) {
        ForEachVar(clause.lhs.get(),
                   [&](const Var& var) { scratch_[k++] = var; });
        scratch_[k] = Close(scope++, std::move(scratch_[k]));
        ++k;
      }
      break;
    }
    case ExprKind::kIf:
      for (const int k : {1, 2}) {
        scratch_[k] =
            Close(graph_.opened_scope(i, k - 1), std::move(scratch_[k]));
      }
      break;
    case ExprKind::kVar:
    case ExprKind::kConstant:
    case ExprKind::kCall:
    case ExprKind::kTuple:
    case ExprKind::kTupleGetItem:
    case ExprKind::kLet:
    case ExprKind::kRefCreate:
    case ExprKind::kRefRead:
    case ExprKind::kRefWrite:
    case ExprKind::kConstructor:
    case ExprKind::kGlobalVar:
    case ExprKind::kOp:
      break;
  }
  Expr rebuilt = WithChildren(node, scratch_);
  if (what_ == LetInsertion::kEverything) rebuilt = WithType(rebuilt, Type());
  LogOrigins(rebuilt, node);
  return rebuilt;
}

Expr LetInserter::Bind(int i, Expr now, const LetNode* let) {
  if (let == nullptr && !IsToBeBound(i)) return now;
  return AppendFor(graph_.scope(i), i, OnDevice(std::move(now), let), let);
}

bool LetInserter::StandsFor(const LetNode* let, const ExprNode* name) const {
  const auto is_polymorphic = [](const Type& type) {
    const auto* function = type.As<FuncTypeNode>();
    return function != nullptr && !function->type_params().empty();
  };
  const Type& declared = let->var()->annotation();
  if (declared.As<FuncTypeNode>() == nullptr || is_polymorphic(declared)) {
    return true;
  }
  if (name->kind() == ExprKind::kGlobalVar) {
    const auto* global = static_cast<const GlobalVarNode*>(name);
    const Function function = module_ == nullptr
                                  ? Function()
                                  : module_->Find<Function>(global->name());
    return function.defined() && function->type_params().empty();
  }
  const bool is_annotated =
      name->kind() == ExprKind::kVar &&
      static_cast<const VarNode*>(name)->annotation().defined();
  return !is_polymorphic(is_annotated
                             ? static_cast<const VarNode*>(name)->annotation()
                             : name->type());
}

Var LetInserter::Append(int scope, Var var, Expr value, Let original,
                        const ExprNode* node) {
  Bindings& list = scopes_[scope];
  bindings_.push_back(
      {var, std::move(value), std::move(original), list.last, node});
  list.last = static_cast<int>(bindings_.size()) - 1;
  if (list.first == kNone) list.first = list.last;
  return var;
}

void LetInserter::MoveBindings(int from, int to) {
  Bindings& source = scopes_[from];
  if (source.first == kNone) return;
  Bindings& target = scopes_[to];
  bindings_[source.first].previous = target.last;
  if (target.first == kNone) target.first = source.first;
  target.last = source.last;
  source = {};
}

Expr LetInserter::Close(int scope, Expr body) {
  for (int b = scopes_[scope].last; b != kNone; b = bindings_[b].previous) {
    Binding& binding = bindings_[b];
    if (!binding.original.defined()) {
      if (WantsOrigins()) {
        LogOrigins(binding.var, binding.node);
        LogOrigins(binding.value, binding.node);
      }
      body = Let(std::move(binding.var), std::move(binding.value),
                 std::move(body));
      LogOrigins(body, binding.node);
      continue;
    }
    const Expr children[] = {std::move(binding.var), std::move(binding.value),
                             std::move(body)};
    body = WithChildren(binding.original.get(), children);
    LogOrigins(body, binding.original.get());
  }
  scopes_[scope] = {};
  return body;
}

Expr LetInserter::OnDevice(Expr expr, const LetNode* let) {
  if (devices_.empty() || !devices_.back().defined() || !TakesOnDevice(expr)) {
    return expr;
  }
  const Attrs& outer = devices_.back();
  if (let != nullptr) {
    const auto* value = let->value().As<CallNode>();
    if (value != nullptr && value->op() == OnDeviceOp() &&
        value->attrs() == outer && value->arg(0) == expr) {
      return let->value();
    }
  }
  if (const OnDeviceAttrs* inner = OnDeviceAttrsOf(expr.get())) {
    const auto* device = outer.As<OnDeviceAttrs>();
    // One on_device says it all, unless they name different devices.
    if (!inner->constrain_body ||
        inner->virtual_device == device->virtual_device) {
      return Call(
          OnDeviceOp(), {expr.As<CallNode>()->arg(0)},
          Attrs::Make(OnDeviceAttrs{.virtual_device = device->virtual_device,
                                    .constrain_result = true,
                                    .constrain_body = inner->constrain_body}));
    }
  }
  return Call(OnDeviceOp(), {std::move(expr)}, outer);
}

absl::StatusOr<Function> InsertLets(const Function& function, LetInsertion what,
                                    const IRModule* module) {
  LetInserter inserter(function, what, module);
  absl::StatusOr<Function> result = inserter.Run();
  bool again = what == LetInsertion::kLifted && inserter.any_lifted();
  while (again && result.ok()) {
    // A bound expression may be computed earlier than before, and so become the
    // first user of an expression.
    const Function before = *result;
    LetInserter next(before, what, module);
    if (!next.any_lifted()) break;
    result = next.Run();
    again = result.ok() && *result != before;
  }
  return result;
}

}  // namespace

absl::StatusOr<Function> InsertLets(const Function& function,
                                    LetInsertion what) {
  return InsertLets(function, what, nullptr);
}

absl::StatusOr<IRModule> InsertLets(const IRModule& module, LetInsertion what) {
  std::vector<Function> results;
  results.reserve(module.size());
  for (const auto& definition : module.functions<Function>()) {
    if (definition.function->attrs().Find(attr::kCompiler) != nullptr) {
      results.push_back(definition.function);
      continue;
    }
    absl::StatusOr<Function> result =
        InsertLets(definition.function, what, &module);
    if (!result.ok()) {
      return absl::Status(result.status().code(),
                          absl::StrCat("in function @", definition.var->name(),
                                       ": ", result.status().message()));
    }
    results.push_back(*std::move(result));
  }
  return module.WithFunctions(results);
}

}  // namespace baton::relay
