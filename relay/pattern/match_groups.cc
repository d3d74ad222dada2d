#include "baton/relay/pattern/match_groups.h"

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/ir/node.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/pattern/dataflow_pattern.h"
#include "baton/relay/pattern/matcher.h"

namespace baton::relay {
namespace {

using Kind = DataflowPattern::Kind;

// True if parts of this kind have a structure of their own, with parts below.
bool HasForm(Kind kind) {
  switch (kind) {
    case Kind::kCall:
    case Kind::kTuple:
    case Kind::kTupleGetItem:
    case Kind::kFunction:
    case Kind::kLet:
    case Kind::kIf:
      return true;
    default:
      return false;
  }
}

// The users of the nodes of a graph and, for each node, the nearest node
// through which all of its uses pass.
class Users {
 public:
  explicit Users(const IndexedGraph& graph)
      : first_(static_cast<size_t>(graph.size()) + 1),
        post_dominator_(static_cast<size_t>(graph.size()), -1) {
    for (int i = 0; i < graph.size(); ++i) {
      for (const int child : graph.children(i)) ++first_[child + 1];
    }
    for (size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
    users_.resize(static_cast<size_t>(first_.back()));
    std::vector<int> next(first_.begin(), first_.end());
    for (int i = 0; i < graph.size(); ++i) {
      for (const int child : graph.children(i)) users_[next[child]++] = i;
    }
    // Users come after what they use: from the root down, the post-dominators
    // of the users are known.
    for (int i = graph.root() - 1; i >= 0; --i) {
      int common = -1;
      for (const int user : Of(i)) {
        common = common < 0 ? user : Common(common, user);
      }
      post_dominator_[i] = common;
    }
  }

  absl::Span<const int> Of(int i) const {
    return absl::MakeConstSpan(users_).subspan(first_[i],
                                               first_[i + 1] - first_[i]);
  }
  // True if every path from node `i` to the result passes through `root`.
  bool LeadTo(int i, int root) const {
    while (i >= 0 && i < root) i = post_dominator_[i];
    return i == root;
  }

 private:
  int Common(int a, int b) const {
    while (a != b) {
      int& lower = a < b ? a : b;
      lower = post_dominator_[lower];
      if (lower < 0) return -1;
    }
    return a;
  }

  std::vector<int> first_;
  std::vector<int> users_;
  std::vector<int> post_dominator_;
};

class GroupFinder {
 public:
  GroupFinder(const Matcher& matcher, const IndexedGraph& graph)
      : matcher_(matcher),
        graph_(graph),
        taken_(static_cast<size_t>(graph.size())),
        closed_(static_cast<size_t>(graph.size())) {}

  std::vector<MatchGroup> Run() {
    if (matcher_.needs_uses()) uses_.emplace(graph_);
    OrderParts();
    for (int i = graph_.root(); i >= 0; --i) {
      if (taken_[i]) continue;
      if (const auto* function = graph_.As<FunctionNode>(i);
          function != nullptr &&
          function->attrs().Find(kPartitionedFromPattern) != nullptr) {
        Close(i);
      }
      if (closed_[i] || !MayMatch(graph_.node(i))) continue;
      const PatternMatch* match = machine_.Run(
          matcher_, graph_.node(i), uses_.has_value() ? &*uses_ : nullptr);
      if (match != nullptr) AddGroup(i, *match);
    }
    return std::move(groups_);
  }

 private:
  // False if the kinds of `node` and of its arguments exclude a match.
  bool MayMatch(const ExprNode* node) {
    if (!matcher_.roots().Has(node)) return false;
    if (node->kind() != ExprKind::kCall) return true;
    const auto* call = static_cast<const CallNode*>(node);
    const auto [hint, is_new] = hints_.try_emplace(call->op_node());
    if (is_new) hint->second = matcher_.HintFor(call->op_node());
    return hint->second.Holds(*call);
  }

  // Leaves function `i` and all in it alone.
  void Close(int i) {
    std::vector<int> work = {i};
    while (!work.empty()) {
      const int k = work.back();
      work.pop_back();
      if (closed_[k]) continue;
      closed_[k] = true;
      const absl::Span<const int> children = graph_.children(k);
      work.insert(work.end(), children.begin(), children.end());
    }
  }

  // The parts of the pattern, those below a part before it.
  void OrderParts() {
    struct Frame {
      int part;
      bool leave;
    };
    std::vector<bool> seen(static_cast<size_t>(matcher_.size()));
    std::vector<Frame> work = {{0, false}};
    while (!work.empty()) {
      const auto [part, leave] = work.back();
      work.pop_back();
      const DataflowPattern::Node* node = matcher_.part(part);
      if (leave) {
        parts_.push_back(part);
        continue;
      }
      if (seen[part] || node == nullptr) continue;
      seen[part] = true;
      work.push_back({part, true});
      // Parameters come before the body.
      const absl::Span<const DataflowPattern> children = node->children();
      const bool body_last = node->kind() == Kind::kFunction;
      if (body_last) work.push_back({matcher_.IndexOf(children[0]), false});
      for (size_t k = children.size(); k-- > (body_last ? 1 : 0);) {
        work.push_back({matcher_.IndexOf(children[k]), false});
      }
    }
  }

  void AddGroup(int root, const PatternMatch& match) {
    // The nodes that each part matched, in order.
    std::vector<std::vector<const ExprNode*>> by_part(
        static_cast<size_t>(matcher_.size()));
    for (const PatternMatch::Bound& bound : match.bound()) {
      by_part[bound.part].push_back(bound.node);
    }
    // Parents and paths of regions, and what is in functions that were matched,
    // belong to the group whatever else matches them.
    NodeSet inside;
    for (const int part : parts_) {
      const DataflowPattern::Node* node = matcher_.part(part);
      if (node->kind() == Kind::kRegion) {
        for (int k = 0; k < 2; ++k) {
          for (const ExprNode* n :
               by_part[matcher_.IndexOf(node->children()[k])]) {
            inside.Insert(n);
          }
        }
      } else if (node->kind() == Kind::kFunction) {
        for (const ExprNode* n : by_part[part]) {
          PostOrderVisit(static_cast<const FunctionNode*>(n)->body(),
                         [&](const ExprNode* in) { inside.Insert(in); });
        }
      }
    }

    MatchGroup group;
    NodeSet inputs;
    const auto add_input = [&](const ExprNode* node, bool is_constant) {
      if (inside.Contains(node) || node->kind() == ExprKind::kOp ||
          node->kind() == ExprKind::kFunction ||
          (is_constant && node->kind() == ExprKind::kConstant) ||
          !inputs.Insert(node)) {
        return;
      }
      group.inputs.emplace_back(node);
    };
    for (const int part : parts_) {
      const DataflowPattern::Node& node = *matcher_.part(part);
      for (const ExprNode* matched : by_part[part]) {
        if (node.kind() == Kind::kTuple && node.any_operands()) {
          for (const Expr& field :
               static_cast<const TupleNode*>(matched)->fields()) {
            add_input(field.get(), false);
          }
        } else if (node.kind() == Kind::kCall && node.any_operands()) {
          for (const Expr& arg :
               static_cast<const CallNode*>(matched)->args()) {
            add_input(arg.get(), false);
          }
        } else if (node.children().empty() && node.kind() != Kind::kSelf &&
                   node.kind() != Kind::kTuple) {
          add_input(matched, node.kind() == Kind::kConstant ||
                                 (node.kind() == Kind::kExpr &&
                                  node.expr().Is<ConstantNode>()));
        }
      }
    }
    if (inputs.Contains(graph_.node(root))) return;

    // All that computes the root of the inputs.
    PostOrderVisit(
        Expr(graph_.node(root)),
        [&](const ExprNode* node) { return !inputs.Contains(node); },
        [&](const ExprNode* node) {
          if (!inputs.Contains(node)) group.nodes.push_back(node);
        });
    NodeMap<int> members;  // how often they are used in the group
    for (const ExprNode* node : group.nodes) members.TryEmplace(node);
    for (const ExprNode* node : group.nodes) {
      ForEachChild(node, [&](const Expr& child) {
        if (int* uses = members.Find(child.get())) ++*uses;
      });
    }
    for (const ExprNode* node : group.nodes) {
      if (IsEverywhere(node)) continue;
      const int i = IndexOf(node);
      if (taken_[i]) return;
      if (i == root || graph_.num_uses(i) == *members.Find(node)) continue;
      for (const int user : users().Of(i)) {
        if (!members.Contains(graph_.node(user)) &&
            !users().LeadTo(user, root)) {
          return;
        }
      }
    }
    for (const ExprNode* node : group.nodes) taken_[IndexOf(node)] = true;
    group.match = match;
    groups_.push_back(std::move(group));
  }

  // Nodes that belong to no single place.
  static bool IsEverywhere(const ExprNode* node) {
    return node->kind() == ExprKind::kOp ||
           node->kind() == ExprKind::kFunction ||
           node->kind() == ExprKind::kConstant;
  }

  const Users& users() {
    if (!users_.has_value()) users_.emplace(graph_);
    return *users_;
  }

  int IndexOf(const ExprNode* node) {
    if (index_.empty()) {
      index_.Reserve(static_cast<size_t>(graph_.size()));
      for (int i = 0; i < graph_.size(); ++i) index_[graph_.node(i)] = i;
    }
    return *index_.Find(node);
  }

  const Matcher& matcher_;
  const IndexedGraph& graph_;
  std::vector<bool> taken_;
  std::vector<bool> closed_;
  std::vector<int> parts_;
  std::optional<UseCounts> uses_;
  std::optional<Users> users_;
  NodeMap<int> index_;
  // By the operator that is called; null for calls of anything else.
  FlatHashMap<const OpNode*, Matcher::Hint> hints_;
  MatchMachine machine_;
  std::vector<MatchGroup> groups_;
};

}  // namespace

std::vector<const ExprNode*> InteriorNodes(const PatternMatch& match) {
  std::vector<const ExprNode*> nodes;
  NodeSet seen;
  for (const PatternMatch::Bound& bound : match.bound()) {
    if (HasForm(match.matcher().part(bound.part)->kind()) &&
        seen.Insert(bound.node)) {
      nodes.push_back(bound.node);
    }
  }
  return nodes;
}

std::vector<MatchGroup> FindMatchGroups(const Matcher& matcher,
                                        const IndexedGraph& graph) {
  return GroupFinder(matcher, graph).Run();
}

}  // namespace baton::relay
