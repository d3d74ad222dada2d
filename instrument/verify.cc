#include "baton/instrument/verify.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/ir/node.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/ir/well_formed.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_instrument.h"

namespace baton {
namespace {

class TypeStripper final : public ExprMutator {
 protected:
  Expr VisitVar(const Var& var) override { return WithType(var, {}); }
  Expr VisitGlobalVar(const GlobalVar& var) override {
    return WithType(var, {});
  }
  Expr VisitConstant(const Constant& constant) override {
    return WithType(constant, {});
  }
  Expr VisitCall(const CallNode* /*original*/, Call call) override {
    return WithType(call, {});
  }
  Expr VisitTuple(const TupleNode* /*original*/, Tuple tuple) override {
    return WithType(tuple, {});
  }
  Expr VisitTupleGetItem(const TupleGetItemNode* /*original*/,
                         TupleGetItem item) override {
    return WithType(item, {});
  }
  Expr VisitFunction(const FunctionNode* /*original*/,
                     Function function) override {
    return WithType(function, {});
  }
  Expr VisitLet(const LetNode* /*original*/, Let let) override {
    return WithType(let, {});
  }
  Expr VisitIf(const IfNode* /*original*/, If node) override {
    return WithType(node, {});
  }
  Expr VisitRefCreate(const RefCreateNode* /*original*/,
                      RefCreate node) override {
    return WithType(node, {});
  }
  Expr VisitRefRead(const RefReadNode* /*original*/, RefRead node) override {
    return WithType(node, {});
  }
  Expr VisitRefWrite(const RefWriteNode* /*original*/, RefWrite node) override {
    return WithType(node, {});
  }
};

// `%x`, `a call of nn.dense`, `a Tuple`.
std::string Describe(const ExprNode* node) {
  const Expr expr(node);
  if (const auto* var = expr.As<VarNode>()) {
    return absl::StrCat("%", var->name());
  }
  if (const auto* call = expr.As<CallNode>()) {
    if (const OpNode* op = call->op_node()) {
      return absl::StrCat("a call of ", op->name());
    }
  }
  return absl::StrCat("a ", NodeKindName(node->kind()));
}

// Compares the types of two graphs that are the same but for types.
absl::Status CompareTypes(const Expr& recorded, const Expr& inferred,
                          absl::string_view function) {
  FlatHashSet<const ExprNode*> seen;
  std::vector<std::pair<const ExprNode*, const ExprNode*>> stack = {
      {recorded.get(), inferred.get()}};
  std::vector<const ExprNode*> children;
  while (!stack.empty()) {
    const auto [a, b] = stack.back();
    stack.pop_back();
    if (!seen.insert(a).second) continue;
    if (a->kind() != b->kind()) {
      return absl::InternalError("type inference changed the program");
    }
    if (a->type().defined() && !TypeEqual(a->type(), b->type())) {
      return absl::InvalidArgumentError(absl::StrCat(
          "function @", function, ": ", Describe(a),
          " is recorded to have type ", a->type().ToString(), ", but has type ",
          b->type().defined() ? b->type().ToString() : "unknown"));
    }
    children.clear();
    ForEachChild(a,
                 [&](const Expr& child) { children.push_back(child.get()); });
    size_t i = 0;
    ForEachChild(b, [&](const Expr& child) {
      if (i < children.size()) stack.emplace_back(children[i++], child.get());
    });
  }
  return absl::OkStatus();
}

// Whether `function` uses one of the global functions `names`.
bool UsesAny(const BaseFunc& function,
             const FlatHashSet<absl::string_view>& names) {
  if (!function.Is<FunctionNode>()) return false;
  bool uses = false;
  PostOrderVisit(
      function, [&uses](const ExprNode*) { return !uses; },
      [&](const ExprNode* node) {
        if (node->kind() == ExprKind::kGlobalVar) {
          uses |=
              names.contains(static_cast<const GlobalVarNode*>(node)->name());
        }
      });
  return uses;
}

// Which functions of a module to check.
struct Pending {
  std::vector<bool> functions;
  int count;
};

Pending All(const IRModule& module) {
  return {std::vector<bool>(module.size(), true), module.size()};
}

// What to check of `module` once `good` has been: what differs, or depends on
// something that does.
Pending WhatDiffers(const IRModule& module, const IRModule& good) {
  const auto definitions = module.functions();
  const auto known = good.functions();
  if (!std::equal(module.types().begin(), module.types().end(),
                  good.types().begin(), good.types().end())) {
    return All(module);
  }
  Pending pending{std::vector<bool>(definitions.size()), 0};
  size_t num_kept = 0;
  FlatHashSet<absl::string_view> retyped;
  for (size_t i = 0; i < definitions.size(); ++i) {
    const auto& [var, function] = definitions[i];
    const BaseFunc old = i < known.size() && known[i].var->name() == var->name()
                             ? known[i].function
                             : good.Find(var->name());
    if (old.defined()) ++num_kept;
    if (old == function) continue;
    pending.functions[i] = true;
    ++pending.count;
    if (!old.defined() || old->type() == function->type()) continue;
    if (!old->type().defined() || !function->type().defined() ||
        !TypeEqual(old->type(), function->type())) {
      retyped.insert(var->name());
    }
  }
  if (num_kept < known.size()) return All(module);
  if (retyped.empty()) return pending;
  for (size_t i = 0; i < definitions.size(); ++i) {
    if (!pending.functions[i] && UsesAny(definitions[i].function, retyped)) {
      pending.functions[i] = true;
      ++pending.count;
    }
  }
  return pending;
}

}  // namespace

absl::Status CheckTypes(const IRModule& module) {
  return CheckTypes(module, [](int) { return true; });
}

absl::Status CheckTypes(const IRModule& module,
                        absl::FunctionRef<bool(int)> which) {
  TypeStripper stripper;
  std::vector<BaseFunc> functions;
  functions.reserve(module.size());
  for (int i = 0; i < module.size(); ++i) {
    functions.push_back(module.functions()[i].function);
    const auto* node = functions.back().As<FunctionNode>();
    if (node == nullptr || !which(i)) continue;
    BATON_ASSIGN_OR_RETURN(functions.back(),
                           stripper.MutateFunction(Function(node)));
  }
  BATON_ASSIGN_OR_RETURN(const IRModule inferred,
                         InferTypes(module.WithFunctions(functions)));
  for (int i = 0; i < module.size(); ++i) {
    if (!which(i)) continue;
    const auto& [var, function] = module.functions()[i];
    BATON_RETURN_IF_ERROR(
        CompareTypes(function, inferred.functions()[i].function, var->name()));
  }
  return absl::OkStatus();
}

absl::Status VerifyInstrument::Check(const IRModule& module, int depth) {
  Pending pending = All(module);
  for (auto good = good_.rbegin(); good != good_.rend(); ++good) {
    if (pending.count == 0) break;
    Pending fewer = module.SameAs(*good)
                        ? Pending{std::vector<bool>(module.size()), 0}
                        : WhatDiffers(module, *good);
    if (fewer.count < pending.count) pending = std::move(fewer);
  }
  if (pending.count > 0) {
    num_checked_ += pending.count;
    const auto is_pending = [&](int i) -> bool { return pending.functions[i]; };
    BATON_RETURN_IF_ERROR(CheckWellFormed(module, is_pending));
    if (options_.types) {
      // Types of functions without any depend on each other.
      const bool typed = absl::c_all_of(
          module.functions(), [](const IRModule::Definition& definition) {
            return definition.function->type().defined();
          });
      BATON_RETURN_IF_ERROR(typed ? CheckTypes(module, is_pending)
                                  : CheckTypes(module));
    }
  }
  good_.resize(depth + 1);
  good_[depth] = module;
  return absl::OkStatus();
}

absl::Status VerifyInstrument::ExitPassContext() {
  good_.clear();
  return absl::OkStatus();
}

absl::Status VerifyInstrument::RunBeforePass(const IRModule& module,
                                             const PassExecution& pass) {
  if (pass.depth() > 0) return absl::OkStatus();
  const absl::Status status = Check(module, 0);
  if (status.ok()) return status;
  return absl::Status(
      status.code(), absl::StrCat("the module was wrong before any pass ran:\n",
                                  status.message()));
}

absl::Status VerifyInstrument::RunAfterPass(const IRModule& module,
                                            const PassExecution& pass) {
  // What a sequence returns was checked when its last pass returned it.
  if (pass.info().granularity == PassGranularity::kSequence) {
    return absl::OkStatus();
  }
  const absl::Status status = Check(module, pass.depth());
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat("pass ", pass.name(), " broke the module:\n",
                                   status.message()));
}

}  // namespace baton
