#include "baton/backend/cpu/known_sizes.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/ir/type.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/op_flags.h"

namespace baton::cpu {
bool HasKnownSizes(const Type& type) {
  std::vector<const TypeNode*> work = {type.get()};
  while (!work.empty()) {
    const TypeNode* const one = work.back();
    work.pop_back();
    if (one == nullptr) return false;
    if (const auto* tensor = Type(one).As<TensorTypeNode>()) {
      if (!tensor->is_static()) return false;
    } else if (const auto* tuple = Type(one).As<TupleTypeNode>()) {
      for (const Type& field : tuple->fields()) work.push_back(field.get());
    } else {
      return false;
    }
  }
  return true;
}

namespace {

using relay::ExprKind;
using relay::Function;
using relay::FunctionNode;
using relay::Var;

class Splitter {
 public:
  Splitter(const IRModule& module, const Function& main)
      : module_(module),
        main_(main),
        graph_(main->body(), [](const ExprNode* node) {
          return !FunctionNode::ClassOf(node->kind());
        }) {}

  absl::StatusOr<SplitModule> Run() {
    for (int i = 0; i < graph_.size(); ++i) {
      if (graph_.As<FunctionNode>(i) != nullptr &&
          !relay::FreeVars(Expr(graph_.node(i))).empty()) {
        return absl::NotFoundError("a function uses variables around it");
      }
      if (graph_.As<relay::MatchNode>(i) != nullptr) {
        return absl::NotFoundError("a match has variables of its own");
      }
    }
    FindKnown();
    const size_t size = static_cast<size_t>(graph_.size());
    planned_.resize(size);
    rest_.resize(size);
    for (int i = 0; i < graph_.size(); ++i) {
      const size_t k = static_cast<size_t>(i);
      if (known_[k]) {
        // The variable of a let comes before its value, which stands for both.
        if (is_bound_[k]) continue;
        planned_[k] = Rebuilt(i, /*is_planned=*/true);
        for (const int var : bound_[k]) {
          planned_[static_cast<size_t>(var)] = planned_[k];
        }
      } else if (graph_.As<relay::LetNode>(i) != nullptr &&
                 known_[static_cast<size_t>(graph_.let_value(i))]) {
        rest_[k] = Rest(graph_.let_body(i));
      } else {
        rest_[k] = Rebuilt(i, /*is_planned=*/false);
      }
    }
    const int root = graph_.root();
    if (results_.empty() || known_[static_cast<size_t>(root)]) {
      return absl::NotFoundError("no part of the model has a plan");
    }
    const std::vector<Var> params(main_->params().begin(),
                                  main_->params().end());
    std::vector<Var> all = vars_;
    all.insert(all.end(), params.begin(), params.end());
    SplitModule result = {module_, module_};
    result.planned.Set("main", Function(params, relay::Tuple(results_), {}, {},
                                        main_->attrs()));
    result.rest.Set("main",
                    Function(std::move(all), rest_[static_cast<size_t>(root)],
                             main_->result_type()));
    BATON_ASSIGN_OR_RETURN(result.planned, relay::InferTypes(result.planned));
    BATON_ASSIGN_OR_RETURN(result.rest, relay::InferTypes(result.rest));
    return result;
  }

 private:
  // Node `i` with its children in one of the two parts.
  Expr Rebuilt(int i, bool is_planned) {
    if (graph_.As<FunctionNode>(i) != nullptr) return Expr(graph_.node(i));
    std::vector<Expr> children;
    for (const int child : graph_.children(i)) {
      children.push_back(is_planned ? planned_[static_cast<size_t>(child)]
                                    : Rest(child));
    }
    return relay::WithChildren(graph_.node(i), children);
  }

  // Node `i` in the rest, where it may be a result of the plan.
  Expr Rest(int i) {
    Expr& rest = rest_[static_cast<size_t>(i)];
    if (rest.defined()) return rest;
    const Expr& planned = planned_[static_cast<size_t>(i)];
    if (planned.As<relay::VarNode>() != nullptr ||
        planned.As<relay::ConstantNode>() != nullptr ||
        planned.As<OpNode>() != nullptr ||
        planned.As<GlobalVarNode>() != nullptr ||
        planned.As<FunctionNode>() != nullptr) {
      return rest = planned;
    }
    if (graph_.As<relay::TupleNode>(i) != nullptr) {
      std::vector<Expr> fields;
      for (const int field : graph_.children(i)) fields.push_back(Rest(field));
      return rest = relay::Tuple(std::move(fields));
    }
    return rest = Result(planned, graph_.node(i)->type());
  }

  // The parameters of the rest that have the plan's `value`, one for each
  // tensor.
  Expr Result(const Expr& value, const Type& type) {
    if (const auto* tuple = type.As<TupleTypeNode>()) {
      std::vector<Expr> fields;
      for (const Type& field : tuple->fields()) {
        fields.push_back(
            Result(relay::TupleGetItem(value, static_cast<int>(fields.size())),
                   field));
      }
      return relay::Tuple(std::move(fields));
    }
    const auto [found, is_new] = result_of_.emplace(value.get(), vars_.size());
    if (is_new) {
      vars_.push_back(Var(absl::StrCat("planned_", vars_.size()), type));
      results_.push_back(value);
    }
    return vars_[found->second];
  }

  // Finds what is planned: it has known sizes inside and out.
  void FindKnown() {
    const size_t size = static_cast<size_t>(graph_.size());
    known_.assign(size, false);
    is_bound_.assign(size, false);
    bound_.resize(size);
    FlatHashMap<const ExprNode*, int> number;
    for (int i = 0; i < graph_.size(); ++i) number.emplace(graph_.node(i), i);
    for (const Var& param : main_->params()) {
      const auto found = number.find(param.get());
      if (found != number.end()) {
        known_[static_cast<size_t>(found->second)] =
            HasKnownSizes(param->annotation());
      }
    }
    for (int i = 0; i < graph_.size(); ++i) {
      if (graph_.As<relay::LetNode>(i) == nullptr) continue;
      bound_[static_cast<size_t>(graph_.let_value(i))].push_back(
          graph_.children(i)[0]);
    }
    // Nodes that every run computes. A call in a branch may fail, and must not
    // be computed where another branch is chosen.
    std::vector<bool> always(size, false);
    always[static_cast<size_t>(graph_.root())] = true;
    for (int i = graph_.root(); i >= 0; --i) {
      if (!always[static_cast<size_t>(i)]) continue;
      const ExprKind kind = relay::ExprKindOf(graph_.node(i));
      const bool branches = kind == ExprKind::kIf;
      const absl::Span<const int> children = graph_.children(i);
      for (const int child : branches ? children.first(1) : children) {
        always[static_cast<size_t>(child)] = true;
      }
    }
    for (int i = 0; i < graph_.size(); ++i) {
      const size_t k = static_cast<size_t>(i);
      if (!known_[k]) known_[k] = always[k] && IsKnown(i);
      if (!known_[k]) continue;
      for (const int var : bound_[k]) {
        known_[static_cast<size_t>(var)] = true;
        is_bound_[static_cast<size_t>(var)] = true;
      }
    }
  }

  bool IsKnown(int i) {
    const ExprNode* const node = graph_.node(i);
    switch (relay::ExprKindOf(node)) {
      case ExprKind::kConstant:
        return true;
      case ExprKind::kOp:
        return !relay::IsStateful(Expr(node));
      case ExprKind::kGlobalVar:
        return IsKnownGlobal(*graph_.As<GlobalVarNode>(i));
      case ExprKind::kFunction:
        return IsKnownFunction(Expr(node));
      case ExprKind::kCall:
      case ExprKind::kTupleGetItem:
        if (!HasKnownSizes(node->type())) return false;
        break;
      case ExprKind::kTuple:
        break;
      default:
        return false;
    }
    for (const int child : graph_.children(i)) {
      if (!known_[static_cast<size_t>(child)]) return false;
    }
    return true;
  }

  // A function that calls itself is not known, nor is a call that is nested
  // deeper than calls of a plan.
  bool IsKnownGlobal(const GlobalVarNode& var) {
    if (depth_ == kMostDepth) return false;
    const auto [found, is_new] = is_known_global_.emplace(var.name(), false);
    if (!is_new) return found->second;
    const Function function = module_.Find<Function>(var.name());
    ++depth_;
    const bool result = function.defined() && IsKnownFunction(function);
    --depth_;
    is_known_global_[var.name()] = result;
    return result;
  }

  bool IsKnownFunction(const Expr& function) {
    if (!relay::FreeVars(function).empty()) return false;
    bool result = true;
    relay::PostOrderVisit(function, [&](const ExprNode* node) {
      switch (relay::ExprKindOf(node)) {
        case ExprKind::kCall:
        case ExprKind::kTupleGetItem:
          result = result && HasKnownSizes(node->type());
          break;
        case ExprKind::kOp:
          result = result && !relay::IsStateful(Expr(node));
          break;
        case ExprKind::kGlobalVar:
          result =
              result && IsKnownGlobal(*static_cast<const GlobalVarNode*>(node));
          break;
        case ExprKind::kVar:
        case ExprKind::kConstant:
        case ExprKind::kTuple:
        case ExprKind::kLet:
        case ExprKind::kFunction:
          break;
        default:
          result = false;
      }
    });
    return result;
  }

  static constexpr int kMostDepth = 200;

  const IRModule& module_;
  const Function& main_;
  int depth_ = 0;  // of calls of global functions
  relay::IndexedGraph graph_;
  // By nodes of the graph.
  std::vector<bool> known_;
  std::vector<bool> is_bound_;           // variables of lets that are known
  std::vector<std::vector<int>> bound_;  // to variables, by their value
  std::vector<Expr> planned_;
  std::vector<Expr> rest_;  // of a known node once the rest uses it
  // The results of the plan, and the parameters that they are in the rest.
  std::vector<Expr> results_;
  std::vector<Var> vars_;
  FlatHashMap<const ExprNode*, size_t> result_of_;
  FlatHashMap<std::string, bool> is_known_global_;
};

}  // namespace

absl::StatusOr<SplitModule> SplitByKnownSizes(const IRModule& module) {
  BATON_ASSIGN_OR_RETURN(const Function main, module.Lookup<Function>("main"));
  return Splitter(module, main).Run();
}

}  // namespace baton::cpu
