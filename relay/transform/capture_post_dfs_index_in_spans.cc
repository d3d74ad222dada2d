#include "baton/relay/transform/capture_post_dfs_index_in_spans.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "baton/base/source.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/ir/origin.h"
#include "baton/ir/span.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {
namespace {

// The expressions of a function in the order of their numbers, and the tree of
// their post-dominators.
class NumberedGraph {
 public:
  explicit NumberedGraph(const Function& function) {
    Number(function);
    FindUsers();
    FindDominators();
  }

  int size() const { return static_cast<int>(nodes_.size()); }
  const ExprNode* node(int i) const { return nodes_[i]; }
  int IndexOf(const ExprNode* node) const { return *index_.Find(node); }
  int dominator(int i) const { return tree_[i].parent; }

 private:
  static constexpr int kNone = -1;

  // A call of a recursive function, by its name, in its own definition makes no
  // use of the definition.
  struct Visit {
    const ExprNode* node;
    // The variable of the let whose value this is a part of, if any.
    const ExprNode* defined;
    bool leave;
  };

  void Number(const Function& function) {
    std::vector<Visit> stack = {{function.get(), nullptr, false}};
    NodeSet seen;
    while (!stack.empty()) {
      const Visit visit = stack.back();
      stack.pop_back();
      if (visit.leave) {
        index_[visit.node] = size();
        nodes_.push_back(visit.node);
        continue;
      }
      if (visit.node == visit.defined || !seen.Insert(visit.node)) continue;
      stack.push_back({visit.node, nullptr, true});
      if (visit.node->kind() == LetNode::kKind) {
        const auto* let = static_cast<const LetNode*>(visit.node);
        const ExprNode* const var = let->var().get();
        stack.push_back({let->body().get(), visit.defined, false});
        stack.push_back({var, visit.defined, false});
        stack.push_back({let->value().get(), var, false});
        continue;
      }
      if (const auto* call = AsCall(visit.node);
          call != nullptr && call->op().get() == visit.defined) {
        recursive_.Insert(call);
      }
      const size_t first = stack.size();
      ForEachChild(visit.node, [&](const Expr& child) {
        stack.push_back({child.get(), visit.defined, false});
      });
      std::reverse(stack.begin() + static_cast<std::ptrdiff_t>(first),
                   stack.end());
    }
  }

  static const CallNode* AsCall(const ExprNode* node) {
    return node->kind() == CallNode::kKind ? static_cast<const CallNode*>(node)
                                           : nullptr;
  }

  // A value flows into the variable that a let binds it to, and from there to
  // where the variable is used; what is bound is no use.
  void FindUsers() {
    std::vector<std::pair<int, int>> edges;  // from, to
    const auto add = [&](const Expr& from, const ExprNode* to) {
      const int* used = index_.Find(from.get());
      const int user = IndexOf(to);
      if (used != nullptr && *used < user) edges.push_back({*used, user});
    };
    for (const ExprNode* node : nodes_) {
      switch (ExprKindOf(node)) {
        case ExprKind::kFunction:
          add(static_cast<const FunctionNode*>(node)->body(), node);
          break;
        case ExprKind::kLet: {
          const auto* let = static_cast<const LetNode*>(node);
          add(let->value(), let->var().get());
          add(let->body(), node);
          break;
        }
        case ExprKind::kCall: {
          const auto* call = static_cast<const CallNode*>(node);
          if (!recursive_.Contains(call)) add(call->op(), node);
          for (const Expr& arg : call->args()) add(arg, node);
          break;
        }
        case ExprKind::kMatch: {
          // The matched value flows into the variables of the patterns.
          const auto* match = static_cast<const MatchNode*>(node);
          for (const Clause& clause : match->clauses()) {
            ForEachBinder(clause.lhs, [&](const Var& var) {
              add(match->data(), var.get());
            });
            add(clause.rhs, node);
          }
          break;
        }
        default:
          ForEachChild(node, [&](const Expr& child) { add(child, node); });
      }
    }
    // Sorted by what is used, each with its users in order.
    first_user_.assign(nodes_.size() + 1, 0);
    for (const auto& [from, to] : edges) ++first_user_[from + 1];
    for (size_t i = 1; i < first_user_.size(); ++i) {
      first_user_[i] += first_user_[i - 1];
    }
    users_.resize(edges.size());
    std::vector<int> next(first_user_.begin(), first_user_.end() - 1);
    for (const auto& [from, to] : edges) users_[next[from]++] = to;
  }

  // A node of the tree of dominators. `jump` is an ancestor, so chosen that
  // a way to the root by jumps and single steps has logarithmic length
  // (Myers, "An applicative random-access stack", 1983).
  struct TreeNode {
    int parent = kNone;
    int depth = 0;
    int jump = kNone;
  };

  // The nearest node that is above both or one of them.
  int Above(int a, int b) const {
    if (a == kNone || b == kNone) return kNone;
    if (tree_[a].depth < tree_[b].depth) std::swap(a, b);
    while (tree_[a].depth > tree_[b].depth) {
      const int jump = tree_[a].jump;
      a = jump != kNone && tree_[jump].depth >= tree_[b].depth
              ? jump
              : tree_[a].parent;
    }
    while (a != b) {
      if (tree_[a].parent == kNone || tree_[b].parent == kNone) return kNone;
      const bool far = tree_[a].jump != tree_[b].jump;
      a = far ? tree_[a].jump : tree_[a].parent;
      b = far ? tree_[b].jump : tree_[b].parent;
    }
    return a;
  }

  void FindDominators() {
    tree_.resize(nodes_.size());
    for (int i = size() - 1; i >= 0; --i) {
      int parent = kNone;
      for (int k = first_user_[i]; k < first_user_[i + 1]; ++k) {
        parent = k == first_user_[i] ? users_[k] : Above(parent, users_[k]);
      }
      TreeNode& node = tree_[i];
      node.parent = parent;
      if (parent == kNone) continue;
      node.depth = tree_[parent].depth + 1;
      const int jump = tree_[parent].jump;
      const bool longer = jump != kNone && tree_[jump].jump != kNone &&
                          tree_[parent].depth - tree_[jump].depth ==
                              tree_[jump].depth - tree_[tree_[jump].jump].depth;
      node.jump = longer ? tree_[jump].jump : parent;
    }
  }

  std::vector<const ExprNode*> nodes_;
  NodeMap<int> index_;
  NodeSet recursive_;
  // The users of node i are users_[first_user_[i]] to [first_user_[i + 1]].
  std::vector<int> first_user_;
  std::vector<int> users_;
  std::vector<TreeNode> tree_;
};

// Copies nodes with other places.
class SpanSetter final : public ExprMutator {
 public:
  explicit SpanSetter(const NumberedGraph& graph) : graph_(graph) {
    std::string text;
    ends_.reserve(graph.size() + 1);
    ends_.push_back(0);
    for (int i = 0; i < graph.size(); ++i) {
      absl::StrAppend(&text, "index:", i, ":", graph.dominator(i), "\n");
      ends_.push_back(static_cast<int64_t>(text.size()));
    }
    source_ = std::make_shared<const Source>("index", std::move(text),
                                             /*first_line=*/0);
  }

 protected:
  Expr VisitVar(const Var& var) override {
    auto [made, is_new] = vars_.TryEmplace(var.get());
    if (is_new) {
      *made = Place(new VarNode(var->name(), var->annotation(), var->type(),
                                SpanOf(var.get())),
                    var.get());
    }
    return *made;
  }
  Expr VisitConstant(const Constant& constant) override {
    auto [made, is_new] = vars_.TryEmplace(constant.get());
    if (is_new) {
      *made = Place(new ConstantNode(constant->value(), constant->type(),
                                     SpanOf(constant.get())),
                    constant.get());
    }
    return *made;
  }
  Expr VisitCall(const CallNode* old, Call call) override {
    return Place(Call(call->op(), call->args(), call->attrs(),
                      {call->type_args().begin(), call->type_args().end()},
                      call->type(), SpanOf(old)),
                 old);
  }
  Expr VisitTuple(const TupleNode* old, Tuple tuple) override {
    return Place(Tuple({tuple->fields().begin(), tuple->fields().end()},
                       tuple->type(), SpanOf(old)),
                 old);
  }
  Expr VisitTupleGetItem(const TupleGetItemNode* old,
                         TupleGetItem item) override {
    return Place(
        TupleGetItem(item->tuple(), item->index(), item->type(), SpanOf(old)),
        old);
  }
  Expr VisitFunction(const FunctionNode* old, Function function) override {
    const FunctionNode* f = function.get();
    return Place(Function({f->params().begin(), f->params().end()}, f->body(),
                          f->result_type(),
                          {f->type_params().begin(), f->type_params().end()},
                          f->attrs(), f->type(), SpanOf(old)),
                 old);
  }
  Expr VisitLet(const LetNode* old, Let let) override {
    return Place(
        Let(let->var(), let->value(), let->body(), let->type(), SpanOf(old)),
        old);
  }
  Expr VisitIf(const IfNode* old, If node) override {
    return Place(If(node->cond(), node->true_branch(), node->false_branch(),
                    node->type(), SpanOf(old)),
                 old);
  }
  Expr VisitRefCreate(const RefCreateNode* old, RefCreate node) override {
    return Place(RefCreate(node->value(), node->type(), SpanOf(old)), old);
  }
  Expr VisitRefRead(const RefReadNode* old, RefRead node) override {
    return Place(RefRead(node->ref(), node->type(), SpanOf(old)), old);
  }
  Expr VisitRefWrite(const RefWriteNode* old, RefWrite node) override {
    return Place(
        RefWrite(node->ref(), node->value(), node->type(), SpanOf(old)), old);
  }
  Expr VisitMatch(const MatchNode* old, Match node) override {
    return Place(
        Match(node->data(), {node->clauses().begin(), node->clauses().end()},
              node->complete(), node->type(), SpanOf(old)),
        old);
  }

 private:
  Span SpanOf(const ExprNode* node) const {
    const int i = graph_.IndexOf(node);
    return Span(source_, ends_[i], ends_[i + 1] - 1);
  }
  static Expr Place(Expr made, const ExprNode* old) {
    LogOrigins(made, old);
    return made;
  }
  static Expr Place(const ExprNode* made, const ExprNode* old) {
    return Place(Expr(made), old);
  }

  const NumberedGraph& graph_;
  std::shared_ptr<const Source> source_;
  // ends_[i] is the begin of the line of node i; the last element is the end of
  // the text.
  std::vector<int64_t> ends_;
  // The replacements of variables and constants.
  NodeMap<Expr> vars_;
};

}  // namespace

Pass CapturePostDfsIndexInSpans() {
  return CreateFunctionPass(
      [](const Function& function, const IRModule& /*module*/,
         const PassContext& /*context*/) {
        const NumberedGraph graph(function);
        return SpanSetter(graph).MutateFunction(function);
      },
      {.name = "CapturePostDfsIndexInSpans",
       .doc = "Gives expressions their numbers, and those of what they flow "
              "into, as places.",
       .waivers = {{"no_op", "All nodes are new: they have other places."}}});
}
BATON_REGISTER_PASS(CapturePostDfsIndexInSpans);

}  // namespace baton::relay
