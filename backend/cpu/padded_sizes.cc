#include "baton/backend/cpu/padded_sizes.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/backend/cpu/known_sizes.h"
#include "baton/backend/cpu/padded_loops.h"
#include "baton/backend/cpu/padded_rules.h"
#include "baton/backend/cpu/value_ranges.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/transform/defuse_ops.h"
#include "baton/relay/transform/to_graph_normal_form.h"

namespace baton::cpu {
namespace {

using relay::CallNode;
using relay::Function;
using relay::FunctionNode;
using relay::TupleGetItemNode;
using relay::TupleNode;

// No rule pads within functions.
void RefuseInFunction(const CallNode* call, Diagnostics& problems) {
  const bool is_operator = call->op_node() != nullptr;
  problems.Error(
      call->span(),
      absl::StrCat("values decide how large the result of ",
                   is_operator ? call->op_node()->name() : "a function",
                   " is, ", call->type().ToString(),
                   ": it has no bound in a function that is called"));
}

// The calls in `function` whose results have sizes that values decide, and the
// names of the functions that it calls, which are added to `callees`.
std::vector<const CallNode*> UnsizedCalls(const Expr& function,
                                          std::vector<std::string>& callees) {
  std::vector<const CallNode*> calls;
  relay::PostOrderVisit(function, [&](const ExprNode* node) {
    if (const auto* var = Expr(node).As<GlobalVarNode>()) {
      callees.push_back(var->name());
    } else if (const auto* call = Expr(node).As<CallNode>();
               call != nullptr && !HasKnownSizes(call->type())) {
      calls.push_back(call);
    }
  });
  return calls;
}

class Padder {
 public:
  Padder(const IRModule& module, const Function& main, Diagnostics& problems)
      : module_(module),
        main_(main),
        problems_(problems),
        graph_(main->body(), [](const ExprNode* node) {
          return !FunctionNode::ClassOf(node->kind());
        }) {}

  absl::StatusOr<PaddedModule> Run() {
    values_.resize(static_cast<size_t>(graph_.size()));
    for (int i = 0; i < graph_.size(); ++i) {
      if (const FunctionNode* const loop = UnsizedLoop(i)) loops_.insert(loop);
    }
    for (int i = 0; i < graph_.size(); ++i) {
      BATON_ASSIGN_OR_RETURN(values_[static_cast<size_t>(i)], ValueOf(i));
    }
    PaddedModule result = {module_, {}};
    if (problems_.has_errors()) return result;
    const Padded& root = values_.back();
    std::vector<Expr> results;
    std::vector<Expr> shapes;
    const auto add = [&](const Padded& x) -> absl::Status {
      if (!x.is_padded()) {
        results.push_back(x.value);
        return absl::OkStatus();
      }
      if (!x.fields.empty())
        return absl::UnimplementedError("a tuple in a tuple");
      result.sized_by_values.push_back(static_cast<int>(results.size()));
      BATON_ASSIGN_OR_RETURN(Expr dense, DenseElements(x));
      results.push_back(std::move(dense));
      shapes.push_back(ExtentsOf(x, DType::Int(64)));
      return absl::OkStatus();
    };
    if (!root.is_padded()) {
      result.module.Set("main", MainWith(root.value));
    } else {
      for (const Padded& x : root.fields.empty()
                                 ? absl::MakeConstSpan(&root, 1)
                                 : absl::MakeConstSpan(root.fields)) {
        const absl::Status added = add(x);
        if (!added.ok()) {
          problems_.Error(main_->body()->span(), std::string(added.message()));
          return result;
        }
      }
      results.insert(results.end(), shapes.begin(), shapes.end());
      result.module.Set("main", MainWith(relay::Tuple(std::move(results))));
    }
    BATON_ASSIGN_OR_RETURN(result.module, relay::InferTypes(result.module));
    return result;
  }

 private:
  Function MainWith(Expr body) const {
    return Function({main_->params().begin(), main_->params().end()},
                    std::move(body), {}, {}, main_->attrs());
  }

  const Padded& At(int i) const { return values_[static_cast<size_t>(i)]; }

  Padded Refuse(const ExprNode* node, std::string message) {
    problems_.Error(node->span(), std::move(message));
    return {.is_refused = true};
  }

  absl::StatusOr<Padded> ValueOf(int i) {
    const ExprNode* const node = graph_.node(i);
    bool is_changed = false;
    bool is_padded = false;
    for (const int child : graph_.children(i)) {
      const Padded& value = At(child);
      if (value.is_refused) return Padded{.is_refused = true};
      is_padded |= value.is_padded();
      is_changed |= value.value.get() != graph_.node(child);
    }
    const bool has_known_size = (graph_.As<CallNode>(i) == nullptr &&
                                 graph_.As<relay::IfNode>(i) == nullptr) ||
                                HasKnownSizes(node->type());
    if (const auto* function = graph_.As<FunctionNode>(i);
        function != nullptr && !loops_.contains(function)) {
      std::vector<std::string> callees;
      for (const CallNode* call : UnsizedCalls(Expr(node), callees)) {
        RefuseInFunction(call, problems_);
      }
    }
    if (!is_changed && has_known_size) return Padded{Expr(node)};
    if (const auto* tuple = graph_.As<TupleNode>(i); tuple != nullptr) {
      if (is_padded) return TupleOf(i);
    } else if (const auto* item = graph_.As<TupleGetItemNode>(i)) {
      const Padded& of = At(graph_.children(i)[0]);
      if (!of.fields.empty()) {
        return of.fields[static_cast<size_t>(item->index())];
      }
    } else if (const auto* call = graph_.As<CallNode>(i);
               call != nullptr && call->op_node() != nullptr &&
               (is_padded || !has_known_size)) {
      if (is_changed && !is_padded) {
        // Constant sizes of the arguments may be all that it takes.
        const absl::StatusOr<Expr> rebuilt = Rebuilt(i);
        if (rebuilt.ok() && HasKnownSizes((*rebuilt)->type())) {
          return Padded{*rebuilt};
        }
      }
      return CallOf(i, *call);
    }
    if (UnsizedLoop(i) != nullptr) return LoopCallOf(i);
    if (is_padded || !has_known_size) {
      return Refuse(node,
                    "values decide the size of a value that a branch, a loop "
                    "or a function takes or returns: it has no bounds");
    }
    BATON_ASSIGN_OR_RETURN(Expr rebuilt, Rebuilt(i));
    return Padded{std::move(rebuilt)};
  }

  // The function of loop `i`, whose result has a size that values decide; null
  // if it is no such call.
  const FunctionNode* UnsizedLoop(int i) const {
    const auto* call = graph_.As<CallNode>(i);
    if (call == nullptr || HasKnownSizes(call->type())) return nullptr;
    return LoopOf(*call);
  }

  absl::StatusOr<Padded> LoopCallOf(int i) {
    const auto* call = graph_.As<CallNode>(i);
    std::vector<Padded> args;
    for (const int arg : graph_.args(i)) args.push_back(At(arg));
    absl::StatusOr<Padded> result = PadLoop(*call, args, ranges_, module_);
    if (!absl::IsUnimplemented(result.status())) return result;
    return Refuse(call,
                  absl::StrCat("values decide how large the results of a loop "
                               "are: they have no bound (",
                               result.status().message(), ")"));
  }

  // Node `i` with the values of its children, none of which is padded, typed.
  absl::StatusOr<Expr> Rebuilt(int i) const {
    std::vector<Expr> children;
    for (const int child : graph_.children(i)) {
      children.push_back(At(child).value);
    }
    return relay::InferTypeOf(relay::WithChildren(graph_.node(i), children),
                              &module_);
  }

  Padded TupleOf(int i) const {
    Padded result;
    for (const int field : graph_.children(i)) {
      result.fields.push_back(At(field));
    }
    return result;
  }

  absl::StatusOr<Padded> CallOf(int i, const CallNode& call) {
    PaddedCall padded = {call, ranges_, {}};
    for (const int arg : graph_.args(i)) padded.args.push_back(At(arg));
    // Rules are for tensors, but for those that join the tensors of a tuple.
    const bool joins =
        call.op() == BATON_OP("concatenate") || call.op() == BATON_OP("stack");
    const bool has_tuples =
        std::any_of(padded.args.begin(), padded.args.end(),
                    [](const Padded& arg) { return !arg.fields.empty(); });
    const PaddedRule* const rule =
        has_tuples == joins ? PaddedRuleOf(call.op()) : nullptr;
    absl::StatusOr<Padded> result =
        rule == nullptr ? absl::StatusOr<Padded>(absl::UnimplementedError(""))
                        : (*rule)(padded);
    if (result.ok() && FitsType(*result, call.type())) return result;
    if (result.ok()) {
      result = absl::UnimplementedError("its result has other extents");
    }
    const bool is_source = HasKnownArguments(call);
    return Refuse(
        &call,
        absl::StrCat(is_source ? "values decide how large the result of "
                               : "an operand has a size that values decide: ",
                     call.op_node()->name(),
                     is_source ? absl::StrCat(" is, ", call.type().ToString(),
                                              ": it has no bound")
                               : " cannot compute with padding behind it",
                     result.status().message().empty()
                         ? ""
                         : absl::StrCat(" (", result.status().message(), ")")));
  }

  static bool HasKnownArguments(const CallNode& call) {
    return std::all_of(
        call.args().begin(), call.args().end(),
        [](const Expr& arg) { return HasKnownSizes(arg->type()); });
  }

  // True if the extents that `type` knows are those of `x`, without padding.
  static bool FitsType(const Padded& x, const Type& type) {
    if (!x.fields.empty()) {
      const auto* tuple = type.As<TupleTypeNode>();
      if (tuple == nullptr || tuple->fields().size() != x.fields.size()) {
        return false;
      }
      for (size_t i = 0; i < x.fields.size(); ++i) {
        if (!FitsType(x.fields[i], tuple->fields()[i])) return false;
      }
      return true;
    }
    const auto* tensor = type.As<TensorTypeNode>();
    if (tensor == nullptr || tensor->rank() != x.rank() ||
        (!x.extents.empty() &&
         x.extents.size() != static_cast<size_t>(x.rank()))) {
      return false;
    }
    for (int i = 0; i < tensor->rank(); ++i) {
      if (tensor->dim(i).is_const() &&
          (x.extent(i).defined() || x.bound(i) != tensor->dim(i).value())) {
        return false;
      }
    }
    return tensor->dtype() == x.value->tensor_type()->dtype();
  }

  const IRModule& module_;
  const Function& main_;
  Diagnostics& problems_;
  relay::IndexedGraph graph_;
  ValueRanges ranges_;
  std::vector<Padded> values_;              // by nodes of the graph
  FlatHashSet<const FunctionNode*> loops_;  // of unsized loops
};

}  // namespace

absl::StatusOr<PaddedModule> PadToBounds(const IRModule& module,
                                         Diagnostics& problems) {
  BATON_ASSIGN_OR_RETURN(Function main, module.Lookup<Function>("main"));
  const bool has_known_inputs = std::all_of(
      main->params().begin(), main->params().end(),
      [](const relay::Var& param) { return HasKnownSizes(param->type()); });
  if (!has_known_inputs) return PaddedModule{module, {}};
  std::vector<std::string> callees;
  const bool is_padded = !UnsizedCalls(main, callees).empty();
  FlatHashSet<std::string> seen = {"main"};
  for (size_t i = 0; i < callees.size(); ++i) {
    const auto function = module.Find<Function>(callees[i]);
    if (!function.defined() || !seen.insert(callees[i]).second) continue;
    for (const CallNode* call : UnsizedCalls(function, callees)) {
      RefuseInFunction(call, problems);
    }
  }
  if (!is_padded) return PaddedModule{module, {}};
  // There are no rules for calls of fused functions and for variables.
  BATON_ASSIGN_OR_RETURN(IRModule plain, relay::DefuseOps()(module));
  BATON_ASSIGN_OR_RETURN(main, plain.Lookup<Function>("main"));
  BATON_ASSIGN_OR_RETURN(const Expr graph,
                         relay::ToGraphNormalFormInExpr(main));
  plain.Set("main", Function(graph.As<FunctionNode>()));
  BATON_ASSIGN_OR_RETURN(plain, relay::InferTypes(plain));
  BATON_ASSIGN_OR_RETURN(main, plain.Lookup<Function>("main"));
  return Padder(plain, main, problems).Run();
}

}  // namespace baton::cpu
