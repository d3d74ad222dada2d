#include "baton/relay/transform/inline_globals.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/base/limits.h"
#include "baton/base/status_macros.h"
#include "baton/ir/attrs.h"
#include "baton/ir/module.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/analysis/purity.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/transform/copy_with.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {
namespace {

// True if the function is to be inlined where possible.
bool IsMarked(const Function& function) {
  return function->attrs().IsTrue(attr::kInline) &&
         function->type_params().empty();
}

// True if another compiler compiles the function.
bool IsExternal(const Function& function) {
  return function->attrs().Find(attr::kCompiler) != nullptr ||
         function->attrs().IsTrue(attr::kExtern);
}

class Inliner {
 public:
  explicit Inliner(const IRModule& module) : module_(module) {
    for (const auto& [var, function] : module.functions<Function>()) {
      indices_[var->name()] = static_cast<int>(functions_.size());
      names_.push_back(var->name());
      functions_.push_back(function);
      graphs_.emplace_back(function);
    }
    for (const IndexedGraph& graph : graphs_) {
      callees_.push_back(FindCallees(graph));
    }
  }

  absl::StatusOr<IRModule> Run() {
    const int size = static_cast<int>(functions_.size());
    inlined_.resize(size);
    used_.resize(size);
    for (const IndexedGraph& graph : graphs_) sizes_.push_back(graph.size());
    for (const int f : CalleesFirst()) {
      BATON_RETURN_IF_ERROR(Rewrite(f));
      inlined_[f] = IsMarked(functions_[f]) &&
                    absl::c_all_of(callees_[f], [&](int callee) {
                      return callee != kUnknown && inlined_[callee];
                    });
    }
    IRModule result = module_.WithFunctions(functions_);
    for (int f = 0; f < size; ++f) {
      if (inlined_[f] && used_[f]) result.Remove(names_[f]);
    }
    return result;
  }

 private:
  // A function that the module lacks, or that is not Relay's.
  static constexpr int kUnknown = -1;
  // The number of nodes at which counting stops.
  static constexpr int64_t kMostNodes = int64_t{1} << 40;

  int IndexOf(const GlobalVarNode* var) const {
    const auto it = indices_.find(var->name());
    return it == indices_.end() ? kUnknown : it->second;
  }

  std::vector<int> FindCallees(const IndexedGraph& graph) const {
    std::vector<int> result;
    for (int i = 0; i < graph.size(); ++i) {
      if (const auto* var = graph.As<GlobalVarNode>(i)) {
        result.push_back(IndexOf(var));
      }
    }
    return result;
  }

  // All functions, each after those that it calls, cycles aside.
  std::vector<int> CalleesFirst() const {
    std::vector<int> result;
    std::vector<bool> seen(functions_.size());
    struct Visit {
      int function;
      size_t next;
    };
    std::vector<Visit> stack;
    for (size_t root = 0; root < functions_.size(); ++root) {
      if (!seen[root]) stack.push_back({static_cast<int>(root), 0});
      seen[root] = true;
      while (!stack.empty()) {
        Visit& visit = stack.back();
        const std::vector<int>& callees = callees_[visit.function];
        if (visit.next == callees.size()) {
          result.push_back(visit.function);
          stack.pop_back();
          continue;
        }
        const int callee = callees[visit.next++];
        if (callee == kUnknown || seen[callee]) continue;
        seen[callee] = true;
        stack.push_back({callee, 0});
      }
    }
    return result;
  }

  // The function to inline that node `i` names; kUnknown if it names none.
  int ToInline(const IndexedGraph& graph, int i) const {
    const auto* var = graph.As<GlobalVarNode>(i);
    const int callee = var == nullptr ? kUnknown : IndexOf(var);
    return callee != kUnknown && inlined_[callee] ? callee : kUnknown;
  }

  absl::Status Rewrite(int f) {
    const auto is_inlined = [&](int callee) {
      return callee != kUnknown && inlined_[callee];
    };
    if (absl::c_none_of(callees_[f], is_inlined)) return absl::OkStatus();
    const IndexedGraph& graph = graphs_[f];
    std::vector<int> calls(graph.size());  // of node i
    for (int i = 0; i < graph.size(); ++i) {
      if (graph.As<CallNode>(i) != nullptr) ++calls[graph.callee(i)];
    }
    GraphRewriter rewriter(graph);
    int64_t size = graph.size();
    for (int i = 0; i < graph.size(); ++i) {
      if (const int callee = ToInline(graph, i); callee != kUnknown) {
        used_[callee] = true;
        if (graph.num_uses(i) == calls[i]) continue;
        size = std::min(kMostNodes, size + sizes_[callee]);
        BATON_ASSIGN_OR_RETURN(Expr literal, Literal(callee));
        rewriter.Replace(i, std::move(literal));
        continue;
      }
      const auto* call = graph.As<CallNode>(i);
      const int callee =
          call == nullptr ? kUnknown : ToInline(graph, graph.callee(i));
      if (callee == kUnknown) {
        rewriter.Rebuild(i);
        continue;
      }
      size = std::min(kMostNodes, size + sizes_[callee]);
      BATON_ASSIGN_OR_RETURN(Expr result,
                             InlineCall(f, i, *call, callee, rewriter.Args(i)));
      rewriter.Replace(i, std::move(result));
    }
    functions_[f] = Function(rewriter.Result().As<FunctionNode>());
    sizes_[f] = std::min(kMostNodes, size);
    return absl::OkStatus();
  }

  // Function `f` as an expression. Its variables are new but for the first.
  absl::StatusOr<Expr> Literal(int f) {
    if (copies_[f]++ == 0) return functions_[f];
    BATON_RETURN_IF_ERROR(CountCopy(f));
    return CopyWith(functions_[f], {});
  }

  // Calls of calls of calls double what is copied each time.
  absl::Status CountCopy(int f) {
    copied_nodes_ = std::min(kMostNodes, copied_nodes_ + sizes_[f]);
    return CheckCopiedNodes(copied_nodes_);
  }

  // The replacement of `call` of function `callee`, node `i` of function `f`.
  absl::StatusOr<Expr> InlineCall(int f, int i, const CallNode& call,
                                  int callee, absl::Span<const Expr> args) {
    const Function& function = functions_[callee];
    if (IsExternal(function) || function->params().size() != args.size()) {
      BATON_ASSIGN_OR_RETURN(const Expr literal, Literal(callee));
      return Call(literal, args, call.attrs(),
                  {call.type_args().begin(), call.type_args().end()},
                  call.type(), call.span());
    }
    FlatHashMap<const VarNode*, Expr> values;
    std::vector<std::pair<Var, Expr>> lets;
    for (size_t k = 0; k < args.size(); ++k) {
      const VarNode* param = function->params()[k].get();
      if (MayHaveEffect(f, graphs_[f].args(i)[k])) {
        lets.push_back({CopyVar(param), args[k]});
        values[param] = lets.back().first;
      } else {
        values[param] = args[k];
      }
    }
    Expr result;
    if (copies_[callee]++ == 0) {
      result = Substitute(function->body(), values);
    } else {
      BATON_RETURN_IF_ERROR(CountCopy(callee));
      BATON_ASSIGN_OR_RETURN(result, CopyWith(function->body(), values));
    }
    for (auto it = lets.rbegin(); it != lets.rend(); ++it) {
      result = Let(it->first, it->second, std::move(result));
    }
    return result;
  }

  bool MayHaveEffect(int f, int i) {
    if (!purity_.has_value()) purity_.emplace(module_, graphs_);
    return purity_->MayHaveEffect(f, i);
  }

  const IRModule& module_;
  // Relay's functions of the module. `graphs_` are those of the functions as
  // they were, `functions_` what they have become.
  FlatHashMap<std::string, int> indices_;
  std::vector<std::string> names_;
  std::vector<Function> functions_;
  std::vector<IndexedGraph> graphs_;
  std::vector<std::vector<int>> callees_;
  std::vector<bool> inlined_;
  std::vector<bool> used_;
  std::vector<int64_t> sizes_;  // of `functions_`, in nodes
  int64_t copied_nodes_ = 0;
  FlatHashMap<int, int> copies_;
  std::optional<Purity> purity_;
};

}  // namespace

absl::StatusOr<IRModule> InlineGlobalsInModule(const IRModule& module) {
  const auto is_marked = [](const auto& definition) {
    return IsMarked(definition.function);
  };
  if (absl::c_none_of(module.functions<Function>(), is_marked)) return module;
  return Inliner(module).Run();
}

Pass InlineGlobals() {
  return CreateModulePass(
      [](const IRModule& module, const PassContext& /*context*/) {
        return InlineGlobalsInModule(module);
      },
      {.name = "InlineGlobals",
       .opt_level = 1,
       .doc = "Replaces calls of functions marked Inline by their bodies.",
       .invalidates = {"a_normal_form", "basic_block_normal_form"},
       .idempotent = true});
}
BATON_REGISTER_PASS(InlineGlobals);

}  // namespace baton::relay
