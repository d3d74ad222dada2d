#include "baton/relay/ir/well_formed.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "baton/base/hash_table.h"
#include "baton/base/near_names.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"
#include "baton/ir/node.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/ir/span.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {
namespace {

// A time for each depth, and the deepest depth with a late enough time.
class TimeByDepth {
 public:
  void Set(size_t depth, int64_t time) {
    if (depth >= capacity_) Grow(depth + 1);
    size_t i = capacity_ + depth;
    tree_[i] = time;
    for (i /= 2; i > 0; i /= 2) {
      tree_[i] = std::max(tree_[2 * i], tree_[2 * i + 1]);
    }
  }
  // The largest depth below `end` with a time of at least `since`; -1 if none.
  int64_t Deepest(size_t end, int64_t since) const {
    if (end > capacity_) end = capacity_;
    // Climb from `end`; what lies left of the path is below it.
    size_t i = capacity_ + end;
    if (end == capacity_) {
      if (capacity_ == 0 || tree_[1] < since) return -1;
      i = 1;
    } else {
      while (i > 1 && (i % 2 == 0 || tree_[i - 1] < since)) i /= 2;
      if (i <= 1) return -1;
      --i;
    }
    while (i < capacity_) {
      i = 2 * i + 1;
      if (tree_[i] < since) --i;
    }
    return static_cast<int64_t>(i - capacity_);
  }

 private:
  void Grow(size_t depths) {
    size_t capacity = std::max<size_t>(capacity_, 16);
    while (capacity < depths) capacity *= 2;
    std::vector<int64_t> tree(2 * capacity, -1);
    std::copy(tree_.begin() + static_cast<std::ptrdiff_t>(capacity_),
              tree_.end(),
              tree.begin() + static_cast<std::ptrdiff_t>(capacity));
    for (size_t i = capacity - 1; i > 0; --i) {
      tree[i] = std::max(tree[2 * i], tree[2 * i + 1]);
    }
    capacity_ = capacity;
    tree_ = std::move(tree);
  }

  size_t capacity_ = 0;
  std::vector<int64_t> tree_;  // maxima; the leaves are the second half
};

// Walks one expression, each node once, with the scopes that are open.
//
// The checker walks a shared node at its first use only. Every other use is
// valid if the innermost scope of the variables that are free in the node is
// open there, too; then the outer scopes are open as well. The checker finds
// that scope when it leaves the node: the deepest open scope that was used
// since it entered the node.
class Checker {
 public:
  // `module` is null where any global function may be used.
  Checker(const IRModule* module, std::string where, Diagnostics& diagnostics)
      : module_(module), where_(std::move(where)), diagnostics_(diagnostics) {}

  void Check(const Expr& root) {
    Arrive(root);
    while (!frames_.empty()) Step();
    for (const VarNode* var : free_) {
      if (vars_.Contains(var)) {
        Error(var->span(), "variable %", var->name(),
              " is used before it is bound");
      } else if (module_ != nullptr) {
        Error(var->span(), "variable %", var->name(), " is not bound");
      }
    }
  }

 private:
  struct Frame {
    const ExprNode* node;
    int64_t start;
    size_t depth;  // of the scope that contains the node
    uint32_t child;
  };
  struct Binding {
    int scope = -1;  // -1 while its own value is computed
    bool reported = false;
  };
  struct Scope {
    size_t depth;
    bool open;
  };

  template <typename... Args>
  void Error(const Span& span, const Args&... args) {
    diagnostics_.Error(span, absl::StrCat(where_, args...));
  }

  void OpenScope() {
    open_.push_back(static_cast<int>(scopes_.size()));
    scopes_.push_back({open_.size() - 1, true});
  }
  void CloseScope() {
    uses_.Set(open_.size() - 1, -1);
    scopes_[open_.back()].open = false;
    open_.pop_back();
  }

  void Bind(const Var& var, const ExprNode* binder, bool in_scope) {
    if (!var.defined()) {
      Error(binder->span(), NodeKindName(binder->kind()), " binds no variable");
      return;
    }
    const int scope = in_scope ? open_.back() : -1;
    const auto [binding, is_new] = vars_.TryEmplace(var.get());
    if (is_new) {
      binding->scope = scope;
      return;
    }
    if (!binding->reported) {
      binding->reported = true;
      Error(var->span(), "variable %", var->name(), " is bound more than once");
    }
    binding->scope = scope;
  }

  void Use(const VarNode* var) {
    Binding* const found = vars_.Find(var);
    if (found == nullptr) {
      if (seen_free_.Insert(var)) free_.push_back(var);
      return;
    }
    Binding& binding = *found;
    if (binding.scope >= 0 && scopes_[binding.scope].open) {
      uses_.Set(scopes_[binding.scope].depth, time_);
    } else if (!binding.reported) {
      binding.reported = true;
      Error(var->span(), "variable %", var->name(),
            binding.scope < 0 ? " is used in its own value"
                              : " is used outside of its scope");
    }
  }

  void Arrive(const Expr& expr) {
    const ExprNode* node = expr.get();
    ++time_;
    if (node == nullptr) {
      const ExprNode* user = frames_.empty() ? nullptr : frames_.back().node;
      Error(user == nullptr ? Span() : user->span(),
            user == nullptr ? "expression" : NodeKindName(user->kind()),
            " has a missing operand");
      return;
    }
    switch (ExprKindOf(node)) {
      case ExprKind::kOp:
      case ExprKind::kConstant:
      case ExprKind::kConstructor:
        return;
      case ExprKind::kVar:
        Use(static_cast<const VarNode*>(node));
        return;
      case ExprKind::kGlobalVar:
        UseGlobal(static_cast<const GlobalVarNode*>(node));
        return;
      case ExprKind::kCall:
      case ExprKind::kTuple:
      case ExprKind::kTupleGetItem:
      case ExprKind::kFunction:
      case ExprKind::kLet:
      case ExprKind::kIf:
      case ExprKind::kRefCreate:
      case ExprKind::kRefRead:
      case ExprKind::kRefWrite:
      case ExprKind::kMatch:
        Open(node);
        return;
    }
    Error(node->span(), "a ", NodeKindName(node->kind()),
          " is not an expression of Relay");
  }

  // Has the children of `node` come next, if they have not been before.
  void Open(const ExprNode* node) {
    if (!node->unique()) {
      if (const int* scope = needs_.Find(node); scope != nullptr) {
        UseShared(node, *scope);
        return;
      }
    }
    frames_.push_back({node, time_, open_.size(), 0});
  }

  void UseGlobal(const GlobalVarNode* var) {
    if (module_ == nullptr || module_->Find(var->name()).defined()) return;
    if (!unknown_globals_.insert(var->name()).second) return;
    std::vector<std::string> known;
    // Suggestions are made only for errors that are kept.
    if (diagnostics_.num_errors() < Diagnostics::kMaxErrors) {
      for (const auto& definition : module_->functions()) {
        known.push_back(definition.var->name());
      }
    }
    Error(var->span(), "the module has no function @", var->name(),
          DidYouMean(var->name(), known));
  }

  void UseShared(const ExprNode* node, int scope) {
    if (scope < 0) return;
    if (scopes_[scope].open) {
      uses_.Set(scopes_[scope].depth, time_);
    } else if (escaped_.Insert(node)) {
      Error(node->span(), Describe(node),
            " uses a bound variable and is itself used outside of the scope "
            "of that variable");
    }
  }

  static std::string Describe(const ExprNode* node) {
    if (node->kind() == ExprKind::kCall) {
      const OpNode* op = static_cast<const CallNode*>(node)->op_node();
      if (op != nullptr) return absl::StrCat("a call of ", op->name());
    }
    return std::string(NodeKindName(node->kind()));
  }

  void CheckProjection(const TupleGetItemNode* item) {
    int64_t size = -1;
    if (const auto* tuple = item->tuple().As<TupleNode>()) {
      size = static_cast<int64_t>(tuple->fields().size());
    } else if (item->tuple().defined() &&
               item->tuple()->tuple_type() != nullptr) {
      size = static_cast<int64_t>(item->tuple()->tuple_type()->fields().size());
    }
    if (item->index() < 0 || (size >= 0 && item->index() >= size)) {
      Error(item->span(), "field ", item->index(), " is not in a tuple",
            size < 0 ? "" : absl::StrCat(" of size ", size));
    }
  }

  // Continues the node on top: binds, goes to its next child, or leaves it.
  void Step() {
    const size_t top = frames_.size() - 1;
    const ExprNode* node = frames_[top].node;
    const uint32_t child = frames_[top].child++;
    switch (ExprKindOf(node)) {
      case ExprKind::kCall: {
        const auto* call = static_cast<const CallNode*>(node);
        if (child == 0) return Arrive(call->op());
        if (child <= static_cast<uint32_t>(call->num_args())) {
          return Arrive(call->args()[child - 1]);
        }
        break;
      }
      case ExprKind::kTuple: {
        const auto fields = static_cast<const TupleNode*>(node)->fields();
        if (child < fields.size()) return Arrive(fields[child]);
        break;
      }
      case ExprKind::kTupleGetItem: {
        const auto* item = static_cast<const TupleGetItemNode*>(node);
        if (child == 0) {
          CheckProjection(item);
          return Arrive(item->tuple());
        }
        break;
      }
      case ExprKind::kFunction: {
        const auto* function = static_cast<const FunctionNode*>(node);
        if (child == 0) {
          OpenScope();
          for (const Var& param : function->params()) {
            Bind(param, function, true);
          }
          return Arrive(function->body());
        }
        CloseScope();
        break;
      }
      case ExprKind::kLet: {
        const auto* let = static_cast<const LetNode*>(node);
        const bool recursive = let->value().Is<FunctionNode>();
        if (child == 0) {
          if (recursive) OpenScope();
          Bind(let->var(), let, recursive);
          return Arrive(let->value());
        }
        if (child == 1) {
          if (!recursive) {
            OpenScope();
            if (let->var().defined()) {
              vars_[let->var().get()].scope = open_.back();
            }
          }
          return Arrive(let->body());
        }
        CloseScope();
        break;
      }
      case ExprKind::kIf: {
        const auto* branch = static_cast<const IfNode*>(node);
        if (child == 0) return Arrive(branch->cond());
        if (child == 1) return Arrive(branch->true_branch());
        if (child == 2) return Arrive(branch->false_branch());
        break;
      }
      case ExprKind::kRefCreate:
        if (child == 0) {
          return Arrive(static_cast<const RefCreateNode*>(node)->value());
        }
        break;
      case ExprKind::kRefRead:
        if (child == 0) {
          return Arrive(static_cast<const RefReadNode*>(node)->ref());
        }
        break;
      case ExprKind::kRefWrite: {
        const auto* write = static_cast<const RefWriteNode*>(node);
        if (child == 0) return Arrive(write->ref());
        if (child == 1) return Arrive(write->value());
        break;
      }
      case ExprKind::kMatch: {
        const auto* match = static_cast<const MatchNode*>(node);
        if (child == 0) return Arrive(match->data());
        if (child > 1) CloseScope();
        if (child <= match->clauses().size()) {
          const Clause& clause = match->clauses()[child - 1];
          OpenScope();
          ForEachVar(clause.lhs.get(),
                     [&](const Var& var) { Bind(var, match, true); });
          return Arrive(clause.rhs);
        }
        break;
      }
      case ExprKind::kVar:
      case ExprKind::kConstant:
      case ExprKind::kGlobalVar:
      case ExprKind::kOp:
      case ExprKind::kConstructor:
        break;  // never opened
    }
    if (!node->unique()) {
      const int64_t depth =
          uses_.Deepest(frames_[top].depth, frames_[top].start);
      needs_[node] = depth < 0 ? -1 : open_[static_cast<size_t>(depth)];
    }
    frames_.pop_back();
  }

  const IRModule* const module_;
  const std::string where_;
  Diagnostics& diagnostics_;
  std::vector<Frame> frames_;
  std::vector<Scope> scopes_;  // all, open or closed
  std::vector<int> open_;      // indices in scopes_, outermost first
  TimeByDepth uses_;           // when a variable of each open scope was used
  int64_t time_ = 0;
  NodeMap<Binding> vars_;
  NodeSet seen_free_;
  std::vector<const VarNode*> free_;
  NodeMap<int> needs_;  // of shared nodes
  NodeSet escaped_;
  FlatHashSet<std::string> unknown_globals_;
};

}  // namespace

void CheckFunctionWellFormed(const IRModule& module, const GlobalVar& var,
                             const Function& function,
                             Diagnostics& diagnostics) {
  Checker(&module, absl::StrCat("in @", var->name(), ": "), diagnostics)
      .Check(function);
}

absl::Status CheckWellFormed(const Expr& expr) {
  Diagnostics diagnostics;
  Checker(nullptr, "", diagnostics).Check(expr);
  return diagnostics.ToStatus();
}

}  // namespace baton::relay
