#include "baton/relay/transform/eta_expand.h"

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/ir/attrs.h"
#include "baton/ir/module.h"
#include "baton/ir/type.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/type_substitution.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {
namespace {

constexpr char kParam[] = "eta_expand_param";

class Expander {
 public:
  Expander(const IRModule& module, const EtaExpandOptions& options)
      : module_(module), options_(options) {}

  Function Expand(const Function& function) {
    const IndexedGraph graph(function);
    expanded_.clear();
    GraphRewriter rewriter(graph);
    for (int i = 0; i < graph.size(); ++i) {
      if (const auto* var = graph.As<GlobalVarNode>(i)) {
        if (options_.expand_global_var) rewriter.Replace(i, Expanded(var));
      } else if (const auto* constructor = graph.As<ConstructorNode>(i)) {
        if (options_.expand_constructor) {
          rewriter.Replace(i, Expanded(constructor));
        }
      } else if (const auto* call = graph.As<CallNode>(i);
                 call != nullptr && call->op().Is<ConstructorNode>()) {
        RebuildArgs(graph, i, *call, rewriter);
      } else {
        rewriter.Rebuild(i);
      }
    }
    return Function(rewriter.Result().As<FunctionNode>());
  }

 private:
  // Gives the call what its arguments have become, and leaves what it calls.
  static void RebuildArgs(const IndexedGraph& graph, int i,
                          const CallNode& call, GraphRewriter& rewriter) {
    for (const int arg : graph.args(i)) {
      if (!rewriter.changed(arg)) continue;
      rewriter.Replace(
          i, Call(call.op(), rewriter.Args(i), call.attrs(),
                  {call.type_args().begin(), call.type_args().end()}));
      return;
    }
  }

  // Null if there is no such function.
  Expr Expanded(const GlobalVarNode* var) {
    Expr& result = expanded_[var];
    if (result.defined()) return result;
    const Function function = module_.Find<Function>(var->name());
    if (!function.defined()) return {};
    std::vector<Type> inputs;
    for (const Var& param : function->params()) {
      inputs.push_back(param->annotation());
    }
    result = Abstract(GlobalVar(var), inputs, function->result_type(),
                      function->type_params(), function->attrs());
    return result;
  }

  Expr Expanded(const ConstructorNode* constructor) {
    Expr& result = expanded_[constructor];
    if (result.defined()) return result;
    const absl::Span<const TypeVar> type_params = constructor->type_params();
    result = Abstract(Constructor(constructor), constructor->inputs(),
                      TypeCall(constructor->belongs_to(),
                               {type_params.begin(), type_params.end()}),
                      type_params, {});
    return result;
  }

  // A function of `inputs` that calls `callee`. Its type parameters are new.
  static Function Abstract(Expr callee, absl::Span<const Type> inputs,
                           const Type& result_type,
                           absl::Span<const TypeVar> old_type_params,
                           DictAttrs attrs) {
    const TypeVarMap type_vars = FreshTypeVars(old_type_params);
    std::vector<TypeVar> type_params;
    for (const TypeVar& old : old_type_params) {
      type_params.push_back(
          TypeVar(type_vars.find(old.get())->second.As<TypeVarNode>()));
    }
    std::vector<Var> params;
    std::vector<Expr> args;
    for (const Type& input : inputs) {
      params.push_back(Var(kParam, SubstituteTypeVars(input, type_vars)));
      args.push_back(params.back());
    }
    return Function(std::move(params), Call(std::move(callee), args),
                    SubstituteTypeVars(result_type, type_vars),
                    std::move(type_params), std::move(attrs));
  }

  const IRModule& module_;
  const EtaExpandOptions options_;
  // The replacements of the nodes of the function: one literal for each.
  FlatHashMap<const ExprNode*, Expr> expanded_;
};

absl::StatusOr<IRModule> ExpandModule(const IRModule& module,
                                      const EtaExpandOptions& options) {
  if (!options.expand_constructor && !options.expand_global_var) return module;
  Expander expander(module, options);
  std::vector<Function> functions;
  for (const auto& [var, function] : module.functions<Function>()) {
    functions.push_back(expander.Expand(function));
  }
  return module.WithFunctions(functions);
}

}  // namespace

Pass EtaExpand(EtaExpandOptions options) {
  return CreateModulePass(
      [options](const IRModule& module, const PassContext& /*context*/) {
        return ExpandModule(module, options);
      },
      {.name = "EtaExpand",
       .opt_level = 1,
       .doc = "Makes function literals of global functions and constructors.",
       .invalidates = {"a_normal_form", "basic_block_normal_form"},
       .examples = {"expand_constructor=true", "expand_global_var=true"}},
      options);
}
BATON_REGISTER_PASS(EtaExpand);

}  // namespace baton::relay
