#include "baton/relay/transform/combine_parallel.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/ir/rewrite_gate.h"
#include "baton/ir/type.h"
#include "baton/relay/analysis/graph_queries.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/op/fusion_pattern.h"
#include "baton/relay/op/op_flags.h"
#include "baton/relay/op/tensor/indexing.h"

namespace baton::relay {
namespace {

constexpr int kNone = -1;

// Element-wise or broadcasting, and without an effect.
bool MayFollow(const CallNode& call) {
  const FusionPattern* pattern = FusionPatterns().Get(call.op());
  return pattern != nullptr && *pattern <= FusionPattern::kBroadcast &&
         !IsStateful(call.op());
}

bool IsOfTensors(const CallNode& call) {
  return call.tensor_type() != nullptr &&
         absl::c_all_of(call.args(), [](const Expr& arg) {
           return arg->tensor_type() != nullptr;
         });
}

// The constraints on the place of each expression.
class Places {
 public:
  explicit Places(const IndexedGraph& graph)
      : fixed_(graph.size()), scopes_(graph.size()) {
    const std::vector<int> binders = Binders(graph);
    for (int i = 0; i < graph.size(); ++i) {
      fixed_[i] = IsFixed(graph, i);
      scopes_[i] = binders[i];
      for (const int child : graph.children(i)) {
        fixed_[i] = fixed_[i] || fixed_[child];
        scopes_[i] = std::min(scopes_[i], scopes_[child]);
      }
    }
  }

  // True if the expression binds variables or may have an effect.
  bool fixed(int i) const { return fixed_[i]; }
  // The innermost function, let or match that binds a variable that it uses;
  // the largest number if there is none. Of two that enclose one expression,
  // the inner one has the smaller index. Of no meaning where it is fixed.
  int scope(int i) const { return scopes_[i]; }

 private:
  // The binder of each variable.
  static std::vector<int> Binders(const IndexedGraph& graph) {
    std::vector<int> result(graph.size(), std::numeric_limits<int>::max());
    FlatHashMap<const VarNode*, int> in_patterns;
    for (int i = 0; i < graph.size(); ++i) {
      if (const auto* function = graph.As<FunctionNode>(i)) {
        for (size_t k = 0; k < function->params().size(); ++k) {
          result[graph.children(i)[k]] = i;
        }
      } else if (graph.As<LetNode>(i) != nullptr) {
        result[graph.children(i)[0]] = i;
      } else if (const auto* match = graph.As<MatchNode>(i)) {
        for (const Clause& clause : match->clauses()) {
          ForEachVar(clause.lhs.get(),
                     [&](const Var& var) { in_patterns[var.get()] = i; });
        }
      }
    }
    if (in_patterns.empty()) return result;
    for (int i = 0; i < graph.size(); ++i) {
      const auto it = in_patterns.find(graph.As<VarNode>(i));
      if (it != in_patterns.end()) result[i] = it->second;
    }
    return result;
  }

  static bool IsFixed(const IndexedGraph& graph, int i) {
    switch (ExprKindOf(graph.node(i))) {
      case ExprKind::kFunction:
      case ExprKind::kLet:
      case ExprKind::kMatch:
      case ExprKind::kRefCreate:
      case ExprKind::kRefRead:
      case ExprKind::kRefWrite:
        return true;
      case ExprKind::kCall: {
        const auto* call = graph.As<CallNode>(i);
        return call->op_node() == nullptr || IsStateful(call->op());
      }
      default:
        return false;
    }
  }

  std::vector<bool> fixed_;
  std::vector<int> scopes_;
};

class CallCombiner {
 public:
  CallCombiner(const IndexedGraph& graph, const ParallelCombiner& combiner,
               int64_t min_num_branches)
      : graph_(graph),
        combiner_(combiner),
        min_num_branches_(std::max<int64_t>(min_num_branches, 2)),
        rewriter_(graph) {}

  Expr Run() {
    FindGroups();
    if (groups_.empty()) return rewriter_.Result();
    std::optional<std::vector<int>> order = DependencyOrder();
    if (!order.has_value()) order = DependencyOrder();
    for (const int i : *order) {
      if (i >= graph_.size()) {
        Rewrite(groups_[i - graph_.size()]);
      } else if (group_of_[i] == kNone) {
        rewriter_.Rebuild(i);
      }
    }
    return rewriter_.Result();
  }

 private:
  // Calls, each an argument of the next; those that are combined come first.
  using Branch = std::vector<int>;
  struct Group {
    std::vector<Branch> branches;
    // The number of calls of each branch that are combined.
    int depth = 0;
    // The innermost scope that all branches need.
    int scope = 0;
  };

  const CallNode& call(int i) const { return *graph_.As<CallNode>(i); }

  bool IsBranch(const CallNode& call) const {
    return call.op() == combiner_.op() && call.num_args() > 0 &&
           IsOfTensors(call) && combiner_.IsSupported(call);
  }

  void FindGroups() {
    // The calls that use a node. Of a call that is to be combined, only the
    // first argument counts.
    num_users_.resize(graph_.size());
    users_.resize(graph_.size(), kNone);
    std::vector<int> roots;  // data of branches, in order
    FlatHashMap<int, std::vector<int>> branches_of;
    for (int i = 0; i < graph_.size(); ++i) {
      const auto* node = graph_.As<CallNode>(i);
      if (node == nullptr) continue;
      const bool is_branch = IsBranch(*node);
      for (const int arg : graph_.args(i)) {
        ++num_users_[arg];
        users_[arg] = i;
        if (is_branch) break;
      }
      if (!is_branch) continue;
      const int root = graph_.args(i)[0];
      std::vector<int>& branches = branches_of[root];
      if (branches.empty()) roots.push_back(root);
      branches.push_back(i);
    }
    for (const int root : roots) {
      const std::vector<int>& branches = branches_of[root];
      if (static_cast<int64_t>(branches.size()) >= min_num_branches_) {
        GroupBranches(root, branches);
      }
    }
    group_of_.resize(graph_.size(), kNone);
    for (size_t g = 0; g < groups_.size(); ++g) {
      for (const Branch& branch : groups_[g].branches) {
        group_of_[branch[groups_[g].depth - 1]] = static_cast<int>(g);
      }
    }
  }

  void GroupBranches(int root, absl::Span<const int> calls) {
    if (!places_.has_value()) places_.emplace(graph_);
    // The scope of all branches: that of the data, or the whole program.
    int shared_scope = graph_.root();
    if (!places_->fixed(root)) {
      shared_scope = std::min(shared_scope, places_->scope(root));
    }
    std::vector<Group> groups;
    FlatHashMap<uint64_t, std::vector<size_t>> by_key;
    for (const int i : calls) {
      int scope = shared_scope;
      bool movable = true;
      for (const int arg : graph_.args(i).subspan(1)) {
        movable = movable && !places_->fixed(arg);
        scope = std::min(scope, places_->scope(arg));
      }
      if (!movable) continue;
      std::vector<size_t>& candidates = by_key[combiner_.Key(call(i))];
      const auto group = absl::c_find_if(candidates, [&](size_t candidate) {
        const Group& other = groups[candidate];
        return other.scope == scope &&
               combiner_.CanBeCombined(call(i), call(other.branches[0][0]));
      });
      if (group != candidates.end()) {
        groups[*group].branches.push_back({i});
      } else {
        candidates.push_back(groups.size());
        groups.push_back({.branches = {{i}}, .scope = scope});
      }
    }
    for (Group& group : groups) {
      if (static_cast<int64_t>(group.branches.size()) < min_num_branches_) {
        continue;
      }
      FindDepth(group);
      if (group.depth > 0 && MayRewrite()) groups_.push_back(std::move(group));
    }
  }

  // Adds to each branch the call that follows it; false if one has none.
  bool Extend(Group& group) const {
    for (Branch& branch : group.branches) {
      if (num_users_[branch.back()] != 1) return false;
      const int user = users_[branch.back()];
      if (!MayFollow(call(user)) || !IsOfTensors(call(user))) return false;
      branch.push_back(user);
    }
    return true;
  }

  // Finds how many calls of each branch can be combined; 0 if not even the
  // first.
  void FindDepth(Group& group) const {
    const auto placeholder = [&](int arg) -> Expr {
      return Var("", graph_.node(arg)->type());
    };
    const ParallelCalls first = CallsAt(group, 0, placeholder);
    Type type = CombinedType(combiner_.Combine(first), first, first);
    while (type.defined()) {
      ++group.depth;
      if (!Extend(group) || !CanFollow(group, group.depth)) return;
      const ParallelCalls calls = CallsAt(group, group.depth, placeholder);
      type = CombinedType(
          combiner_.CombineFollowing(Var("", type), *first.calls[0], calls),
          first, calls);
    }
  }

  // The type of the combined call; null if it has none, or if the results of
  // `calls` are no parts of it.
  Type CombinedType(const Expr& combined, const ParallelCalls& first,
                    const ParallelCalls& calls) const {
    const absl::StatusOr<Expr> typed = InferTypeOf(combined);
    if (!typed.ok()) return {};
    const TensorTypeNode* type = (*typed)->tensor_type();
    if (type == nullptr || !combiner_.IsCombined(*type, first, calls)) {
      return {};
    }
    return (*typed)->type();
  }

  // The argument of the call at `depth` that is the call before it.
  int Parent(const Branch& branch, size_t depth) const {
    const absl::Span<const int> args = graph_.args(branch[depth]);
    return static_cast<int>(absl::c_find(args, branch[depth - 1]) -
                            args.begin());
  }

  // True if the calls at `depth` differ only in other arguments, and these can
  // be combined.
  bool CanFollow(const Group& group, size_t depth) const {
    const int parent = Parent(group.branches[0], depth);
    const CallNode& first = call(group.branches[0][0]);
    const CallNode& a = call(group.branches[0][depth]);
    for (const Branch& branch : group.branches) {
      const CallNode& b = call(branch[depth]);
      if (b.op() != a.op() || b.num_args() != a.num_args() ||
          !AttrsEqual(b.attrs(), a.attrs()) ||
          Parent(branch, depth) != parent) {
        return false;
      }
      for (int k = 0; k < a.num_args(); ++k) {
        if (k == parent) continue;
        const int arg = graph_.args(branch[depth])[k];
        if (places_->fixed(arg) || places_->scope(arg) < group.scope ||
            !combiner_.CanArgsBeCombined(first, a, b, parent, k)) {
          return false;
        }
      }
    }
    return true;
  }

  ParallelCalls CallsAt(const Group& group, size_t depth,
                        absl::FunctionRef<Expr(int)> arg_of) const {
    ParallelCalls result;
    if (depth > 0) result.parent = Parent(group.branches[0], depth);
    for (const Branch& branch : group.branches) {
      result.calls.push_back(&call(branch[depth]));
      result.args.emplace_back();
      for (const int arg : graph_.args(branch[depth])) {
        result.args.back().push_back(arg_of(arg));
      }
    }
    return result;
  }

  // Calls `use` with what node `i`, or group `i` - size(), is made of when
  // groups are combined.
  void ForEachOperand(int i, absl::FunctionRef<void(int)> use) const {
    if (i >= graph_.size()) {
      const Group& group = groups_[i - graph_.size()];
      for (int depth = 0; depth < group.depth; ++depth) {
        for (const Branch& branch : group.branches) {
          for (const int arg : graph_.args(branch[depth])) {
            if (depth == 0 || arg != branch[depth - 1]) use(arg);
          }
        }
      }
    } else if (group_of_[i] != kNone) {
      use(graph_.size() + group_of_[i]);
    } else {
      for (const int child : graph_.children(i)) use(child);
    }
  }

  // Nodes and groups that the root is made of, operands first. Groups that
  // depend on themselves are dropped; there is no order if one was. (The
  // strongly connected components, by Tarjan's algorithm.)
  std::optional<std::vector<int>> DependencyOrder() {
    const int size = graph_.size() + static_cast<int>(groups_.size());
    std::vector<int> result;
    std::vector<int> numbers(size, kNone);
    std::vector<int> lowest(size);
    std::vector<bool> open(size);
    std::vector<int> component;  // the nodes that are open
    struct Visit {
      int node;
      size_t next = 0;
      absl::InlinedVector<int, 4> operands = {};
    };
    std::vector<Visit> stack;
    int count = 0;
    bool any_dropped = false;
    const auto enter = [&](int i) {
      numbers[i] = lowest[i] = count++;
      open[i] = true;
      component.push_back(i);
      stack.push_back({i});
      ForEachOperand(
          i, [&](int operand) { stack.back().operands.push_back(operand); });
    };
    enter(graph_.root());
    while (!stack.empty()) {
      Visit& visit = stack.back();
      const int i = visit.node;
      if (visit.next < visit.operands.size()) {
        const int operand = visit.operands[visit.next++];
        if (numbers[operand] == kNone) {
          enter(operand);
        } else if (open[operand]) {
          lowest[i] = std::min(lowest[i], numbers[operand]);
        }
        continue;
      }
      stack.pop_back();
      if (!stack.empty()) {
        int& lowest_of_user = lowest[stack.back().node];
        lowest_of_user = std::min(lowest_of_user, lowest[i]);
      }
      result.push_back(i);
      if (lowest[i] != numbers[i]) continue;
      const bool is_cycle = component.back() != i;
      int member;
      do {
        member = component.back();
        component.pop_back();
        open[member] = false;
        if (is_cycle && member >= graph_.size()) {
          Drop(member - graph_.size());
          any_dropped = true;
        }
      } while (member != i);
    }
    if (any_dropped) return std::nullopt;
    return result;
  }

  void Drop(int g) {
    for (const Branch& branch : groups_[g].branches) {
      group_of_[branch[groups_[g].depth - 1]] = kNone;
    }
  }

  void Rewrite(const Group& group) {
    const auto now = [&](int arg) { return rewriter_.Get(arg); };
    const ParallelCalls first = CallsAt(group, 0, now);
    Expr combined = combiner_.Combine(first);
    for (int depth = 1; depth < group.depth; ++depth) {
      combined = combiner_.CombineFollowing(combined, *first.calls[0],
                                            CallsAt(group, depth, now));
    }
    std::vector<Expr> parts =
        combiner_.Parts(combined, first, CallsAt(group, group.depth - 1, now));
    for (size_t b = 0; b < group.branches.size(); ++b) {
      rewriter_.Replace(group.branches[b][group.depth - 1],
                        std::move(parts[b]));
    }
  }

  const IndexedGraph& graph_;
  const ParallelCombiner& combiner_;
  const int64_t min_num_branches_;
  GraphRewriter rewriter_;
  std::optional<Places> places_;
  std::vector<int> num_users_;
  std::vector<int> users_;  // one of them
  std::vector<Group> groups_;
  // For the last combined call of a branch: its group.
  std::vector<int> group_of_;
};

}  // namespace

Expr CombineParallelCalls(const Expr& expr, const ParallelCombiner& combiner,
                          int64_t min_num_branches) {
  if (!CallsOp(expr, combiner.op())) return expr;
  const IndexedGraph graph(expr);
  return CallCombiner(graph, combiner, min_num_branches).Run();
}

bool SameUpToAxis(const TensorTypeNode& a, const TensorTypeNode& b, int axis) {
  if (a.dtype() != b.dtype() || a.rank() != b.rank()) return false;
  for (int i = 0; i < a.rank(); ++i) {
    if (i != axis && a.dim(i) != b.dim(i)) return false;
  }
  return true;
}

bool CanBePutTogether(const TensorTypeNode& a, const TensorTypeNode& b,
                      int axis) {
  // Unknown extents may differ.
  return SameUpToAxis(a, b, axis) &&
         absl::c_none_of(a.shape(),
                         [](const Dim& dim) { return dim.is_any(); });
}

bool IsConcatenation(const TensorTypeNode& combined, const ParallelCalls& calls,
                     int axis, absl::Span<const int64_t> extents) {
  if (axis < 0 || axis >= combined.rank()) return false;
  int64_t sum = 0;
  for (size_t b = 0; b < calls.size(); ++b) {
    if (!SameUpToAxis(calls.type(b), combined, axis) ||
        calls.type(b).dim(axis) != Dim(extents[b])) {
      return false;
    }
    sum += extents[b];
  }
  return combined.dim(axis) == Dim(sum);
}

std::vector<Expr> SlicesAlong(const Expr& combined, int axis, int rank,
                              absl::Span<const int64_t> extents) {
  std::vector<Expr> result;
  int64_t first = 0;
  for (const int64_t extent : extents) {
    std::vector<int64_t> begin(rank, 0);
    std::vector<int64_t> size(rank, -1);
    begin[axis] = first;
    size[axis] = extent;
    first += extent;
    result.push_back(StridedSlice(
        combined, std::move(begin), std::move(size),
        {.strides = std::vector<int64_t>(rank, 1), .slice_mode = "size"}));
  }
  return result;
}

}  // namespace baton::relay
