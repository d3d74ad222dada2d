#include "baton/relay/transform/compiler_functions.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/ir/attrs.h"
#include "baton/ir/module.h"
#include "baton/ir/origin.h"
#include "baton/ir/structural_equal.h"
#include "baton/relay/analysis/graph_queries.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/text_attr.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/transform/copy_with.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {
namespace {

// `expr` as a function for the compiler `filter`, or for any if that is empty;
// else null.
const FunctionNode* AsCompilerFunction(const Expr& expr,
                                       absl::string_view filter) {
  const auto* function = expr.As<FunctionNode>();
  if (function == nullptr) return nullptr;
  const std::string* compiler = TextAttr(*function, attr::kCompiler);
  return compiler != nullptr && (filter.empty() || *compiler == filter)
             ? function
             : nullptr;
}

// `module` with each of Relay's functions that passes may change as `mutator`
// makes it.
absl::StatusOr<IRModule> MutateFunctions(IRModule module,
                                         ExprMutator& mutator) {
  for (const auto& [var, function] : module.functions<Function>()) {
    if (!RelayFunctions().SkipReason(function).empty()) continue;
    BATON_ASSIGN_OR_RETURN(Function mutated, mutator.MutateFunction(function));
    if (mutated != function) module.Set(var, std::move(mutated));
  }
  return module;
}

class Outliner final : public ExprMutator {
 public:
  Outliner(const IRModule& module, absl::string_view filter)
      : module_(module), filter_(filter) {}

  // In the order in which their calls were met.
  const std::vector<Function>& outlined() const { return outlined_; }

 protected:
  // A function that a let binds is called where its variable is.
  Expr AfterLetValue(const LetNode* /*let*/, const Expr& value) override {
    return AsCompilerFunction(value, filter_) == nullptr ? Expr() : value;
  }
  Expr VisitLet(const LetNode* /*original*/, Let let) override {
    if (AsCompilerFunction(let->value(), filter_) == nullptr) return let;
    return let->body();
  }
  Expr VisitCall(const CallNode* /*original*/, Call call) override {
    const FunctionNode* function = AsCompilerFunction(call->op(), filter_);
    if (function == nullptr) return call;
    absl::StatusOr<GlobalVar> var = Outline(Function(function));
    if (!var.ok()) return Fail(var.status());
    return Call(*std::move(var), call->args(), call->attrs(),
                {call->type_args().begin(), call->type_args().end()},
                call->type(), call->span());
  }

 private:
  absl::StatusOr<GlobalVar> Outline(const Function& function) {
    const std::string* name = TextAttr(*function, attr::kGlobalSymbol);
    if (name == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a function for compiler ", *TextAttr(*function, attr::kCompiler),
          " has no attribute global_symbol"));
    }
    const auto [it, is_new] = vars_.try_emplace(*name, GlobalVar(*name));
    const BaseFunc known =
        is_new ? module_.Find(*name) : BaseFunc(functions_.at(*name));
    if (known.defined()) {
      if (known != function && !StructuralEqual(known, function)) {
        return absl::AlreadyExistsError(
            absl::StrCat("two functions have the global symbol ", *name));
      }
      if (is_new) functions_.emplace(*name, function);
      return it->second;
    }
    if (const std::vector<Var> free = FreeVars(function); !free.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the function with global symbol ", *name, " uses the variable %",
          free[0]->name(), ", which is bound outside of it"));
    }
    functions_.emplace(*name, function);
    outlined_.push_back(function);
    return it->second;
  }

  const IRModule& module_;
  const absl::string_view filter_;
  FlatHashMap<std::string, GlobalVar> vars_;
  FlatHashMap<std::string, Function> functions_;
  std::vector<Function> outlined_;
};

// True if a function of the module contains a function for a compiler.
bool HasFunctionsToOutline(const IRModule& module, absl::string_view filter) {
  for (const auto& [var, function] : module.functions<Function>()) {
    if (AnyInnerNode(function->body(), [filter](const ExprNode* node) {
          return node->kind() == ExprKind::kFunction &&
                 AsCompilerFunction(Expr(node), filter) != nullptr;
        })) {
      return true;
    }
  }
  return false;
}

absl::StatusOr<IRModule> OutlineFunctions(const IRModule& module,
                                          absl::string_view filter) {
  if (!HasFunctionsToOutline(module, filter)) return module;
  Outliner outliner(module, filter);
  BATON_ASSIGN_OR_RETURN(IRModule result, MutateFunctions(module, outliner));
  for (const Function& function : outliner.outlined()) {
    result.Set(*TextAttr(*function, attr::kGlobalSymbol), function);
  }
  return result;
}

IRModule MarkExtern(IRModule module, absl::string_view filter) {
  const DictAttrs external({{attr::kExtern, 1}});
  for (const auto& [var, function] : module.functions<Function>()) {
    if (AsCompilerFunction(function, filter) == nullptr) continue;
    const Function marked(
        {function->params().begin(), function->params().end()},
        function->body(), function->result_type(),
        {function->type_params().begin(), function->type_params().end()},
        external, function->type(), function->span());
    LogOrigins(marked, function.get());
    module.Set(var, marked);
  }
  return module;
}

FlatHashMap<const VarNode*, Expr> Binding(const FunctionNode& function,
                                          const Call& call) {
  FlatHashMap<const VarNode*, Expr> values;
  for (size_t k = 0; k < function.params().size(); ++k) {
    values[function.params()[k].get()] = call->arg(static_cast<int>(k));
  }
  return values;
}

// Inlines the calls of composite functions where they stand.
class CompositeInliner final : public ExprMutator {
 protected:
  Expr VisitCall(const CallNode* /*original*/, Call call) override {
    const auto* function = call->op().As<FunctionNode>();
    if (function == nullptr ||
        TextAttr(*function, attr::kComposite) == nullptr ||
        function->params().size() != call->args().size()) {
      return call;
    }
    absl::StatusOr<Expr> body =
        CopyWith(function->body(), Binding(*function, call));
    return body.ok() ? *std::move(body) : Fail(body.status());
  }
};

class Inliner final : public ExprMutator {
 public:
  static absl::StatusOr<FlatHashMap<std::string, Function>> Select(
      const IRModule& module, const std::vector<std::string>& names) {
    FlatHashMap<std::string, Function> result;
    for (const std::string& name : names) {
      BATON_ASSIGN_OR_RETURN(const Function function,
                             module.Lookup<Function>(name));
      if (AsCompilerFunction(function, "") == nullptr) {
        return absl::InvalidArgumentError(absl::StrCat(
            "@", name, " is not for an external compiler: it has no attribute ",
            attr::kCompiler));
      }
      BATON_ASSIGN_OR_RETURN(const Expr body,
                             CompositeInliner().Mutate(function));
      result.emplace(name, Function(body.As<FunctionNode>()));
    }
    return result;
  }
  explicit Inliner(const FlatHashMap<std::string, Function>& functions)
      : functions_(functions) {}

 protected:
  Expr VisitCall(const CallNode* /*original*/, Call call) override {
    const auto* var = call->op().As<GlobalVarNode>();
    if (var == nullptr) return call;
    const auto it = functions_.find(var->name());
    if (it == functions_.end()) return call;
    if (it->second->params().size() != call->args().size()) {
      return Fail(absl::InvalidArgumentError(
          absl::StrCat("a call of @", var->name(), " has ", call->num_args(),
                       " arguments; it takes ", it->second->params().size())));
    }
    absl::StatusOr<Expr> body =
        CopyWith(it->second->body(), Binding(*it->second, call));
    return body.ok() ? *std::move(body) : Fail(body.status());
  }

 private:
  const FlatHashMap<std::string, Function>& functions_;
};

absl::StatusOr<IRModule> InlineFunctions(
    const IRModule& module, const std::vector<std::string>& names) {
  if (names.empty()) return module;
  BATON_ASSIGN_OR_RETURN(const auto functions, Inliner::Select(module, names));
  Inliner inliner(functions);
  BATON_ASSIGN_OR_RETURN(IRModule result, MutateFunctions(module, inliner));
  for (const std::string& name : names) result.Remove(name);
  for (const auto& [var, function] : result.functions<Function>()) {
    std::string used;
    PostOrderVisit(function, [&](const ExprNode* node) {
      if (node->kind() != ExprKind::kGlobalVar) return;
      const std::string& name = static_cast<const GlobalVarNode*>(node)->name();
      if (functions.contains(name)) used = name;
    });
    if (!used.empty()) {
      return absl::FailedPreconditionError(
          absl::StrCat("@", used, " cannot be inlined in @", var->name(),
                       ", which is not changed or uses it otherwise than by a "
                       "call"));
    }
  }
  return InferTypes(result);
}

}  // namespace

Pass OutlineCompilerFunctionsWithExistingGlobalSymbols(
    CompilerFilterOptions options) {
  return CreateModulePass(
      [options](const IRModule& module, const PassContext& /*context*/) {
        return OutlineFunctions(module, options.compiler_filter);
      },
      {.name = "OutlineCompilerFunctionsWithExistingGlobalSymbols",
       .doc = "Makes global functions of literals for external compilers.",
       .idempotent = true,
       .waivers = {{"runs", "Global symbols must be unique."}}},
      options);
}
BATON_REGISTER_PASS(OutlineCompilerFunctionsWithExistingGlobalSymbols);

Pass MarkCompilerFunctionsAsExtern(CompilerFilterOptions options) {
  return CreateModulePass(
      [options](const IRModule& module,
                const PassContext& /*context*/) -> absl::StatusOr<IRModule> {
        return MarkExtern(module, options.compiler_filter);
      },
      {.name = "MarkCompilerFunctionsAsExtern",
       .doc = "Marks functions that external compilers have dealt with.",
       .invalidates = {"a_normal_form"},
       .idempotent = true},
      options);
}
BATON_REGISTER_PASS(MarkCompilerFunctionsAsExtern);

Pass InlineCompilerFunctionsBoundTo(InlineCompilerFunctionsOptions options) {
  return CreateModulePass(
      [options](const IRModule& module, const PassContext& /*context*/) {
        return InlineFunctions(module, options.global_vars);
      },
      {.name = "InlineCompilerFunctionsBoundTo",
       .doc = "Inlines functions for external compilers.",
       .invalidates = {"a_normal_form", "basic_block_normal_form"}},
      options);
}
BATON_REGISTER_PASS(InlineCompilerFunctionsBoundTo);

}  // namespace baton::relay
