#include "baton/relay/transform/eliminate_common_subexpr.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/base/stable_hash.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/pass_log.h"
#include "baton/ir/remark_docs.h"
#include "baton/ir/rewrite_gate.h"
#include "baton/relay/analysis/graph_queries.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/op_flags.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {
namespace {

BATON_STATISTIC(kMerged, "EliminateCommonSubexpr", "merged",
                "Nodes that equal another one.");

// Adds to `hash` a value that distinguishes `child` from the other children
// that no merged node has made equal to it. False if no other node has such a
// child.
bool HashChild(const ExprNode* child, StableHash& hash) {
  if (child->kind() == ExprKind::kConstant) {
    const auto* constant = static_cast<const ConstantNode*>(child);
    if (constant->is_scalar()) {
      hash.Add(constant->value().Hash());
      return true;
    }
  }
  hash.Add(reinterpret_cast<uintptr_t>(child));
  return !child->unique();
}

// Hashes an argument of a call; tuples of equal fields are equal.
bool HashArg(const ExprNode* arg, StableHash& hash) {
  const auto* tuple = arg->kind() == ExprKind::kTuple
                          ? static_cast<const TupleNode*>(arg)
                          : nullptr;
  if (tuple == nullptr) return HashChild(arg, hash);
  const StableHash before = hash;
  for (const Expr& field : tuple->fields()) {
    if (HashChild(field.get(), hash)) continue;
    hash = before;
    return HashChild(arg, hash);
  }
  return true;
}

// True if two nodes may be equal before any are merged; if not, none ever are.
// Most programs have no such pair, and this check needs no IndexedGraph. If it
// returns false, sets `*any_stateful`, unless it is null, to true if there is a
// call of a stateful operator.
bool MayHaveEqualNodes(const Expr& root, bool* any_stateful) {
  FlatHashSet<uint64_t> seen;
  return AnyInnerNode(root, [&seen, any_stateful](const ExprNode* node) {
    StableHash hash(static_cast<uint64_t>(node->kind().index()));
    if (node->kind() == ExprKind::kTupleGetItem) {
      const auto* item = static_cast<const TupleGetItemNode*>(node);
      if (!HashChild(item->tuple().get(), hash)) return false;
      hash.Add(item->index());
    } else if (node->kind() == ExprKind::kCall) {
      const auto* call = static_cast<const CallNode*>(node);
      if (any_stateful != nullptr) *any_stateful |= IsStateful(call->op());
      if (call->op_node() == nullptr || call->num_args() == 0) return false;
      for (const Expr& arg : call->args()) {
        if (!HashArg(arg.get(), hash)) return false;
      }
      hash.Add(call->op_node()->index());
    } else {
      return false;
    }
    return !seen.insert(hash.value()).second;
  });
}

// Each node has a number; equal nodes get the same one, the index of the first
// of them. A call can only equal another if all its arguments have, or come to
// have, further users: most nodes are never looked up.
class Eliminator {
 public:
  Eliminator(const IndexedGraph& graph,
             const EliminateCommonSubexprOptions& options)
      : graph_(graph),
        options_(options),
        rewriter_(graph_),
        numbers_(graph_.size()),
        unshared_(graph_.size()),
        gained_users_(graph_.size()) {}

  Expr Run() {
    for (int i = 0; i < graph_.size(); ++i) {
      numbers_[i] = i;
      switch (ExprKindOf(graph_.node(i))) {
        case ExprKind::kConstant:
          if (graph_.As<ConstantNode>(i)->is_scalar()) NumberScalar(i);
          break;
        case ExprKind::kTuple:
          if (any_merged_) rewriter_.Rebuild(i);
          CountUnshared(i);
          if (unshared_[i] == 0) NumberTuple(i);
          break;
        case ExprKind::kCall:
        case ExprKind::kTupleGetItem:
          if (any_merged_) rewriter_.Rebuild(i);
          CountUnshared(i);
          if (MayRepeat(i)) Merge(i, NumberExpr(i));
          break;
        default:
          if (any_merged_) rewriter_.Rebuild(i);
          break;
      }
    }
    return rewriter_.Result();
  }

 private:
  static constexpr int kNone = -1;
  // Up to this many calls of one operator with the same arguments are compared
  // by their attributes, further ones by the hashes of these.
  static constexpr int kMaxChain = 8;

  // The number that equal nodes share, as arguments of a call or as fields of a
  // tuple. There, tuples are distinguished by identity.
  int Number(int child) const { return numbers_[child]; }
  int FieldNumber(int child) const {
    return graph_.node(child)->kind() == ExprKind::kTuple ? child
                                                          : numbers_[child];
  }

  // True if another node may have a child that equals node `child`, given the
  // nodes up to this one.
  bool IsShared(int child) const {
    if (graph_.kind(child) == ExprKind::kOp) return true;
    if (graph_.num_uses(child) > 1 || gained_users_[child]) return true;
    const auto* constant = graph_.As<ConstantNode>(child);
    return constant != nullptr && constant->is_scalar();
  }

  void CountUnshared(int i) {
    const bool is_call = graph_.node(i)->kind() == ExprKind::kCall;
    for (const int child : graph_.children(i)) {
      const bool shared =
          IsShared(child) ||
          (is_call && graph_.node(child)->kind() == ExprKind::kTuple &&
           unshared_[child] == 0);
      if (!shared) ++unshared_[i];
    }
  }

  // True if node `i`, a call or a projection, may equal another one.
  bool MayRepeat(int i) const {
    if (unshared_[i] > 0) return false;
    if (const auto* call = graph_.As<CallNode>(i)) {
      if (call->op_node() == nullptr || call->num_args() == 0) return false;
      if (!IsStateful(call->op())) return true;
      if (WantsRemarks(RemarkKind::kMissed)) {
        LogRemark({.kind = RemarkKind::kMissed,
                   .node = Expr(call),
                   .reason = "calls of a stateful operator are not merged"});
      }
      return false;
    }
    return graph_.kind(graph_.children(i)[0]) != ExprKind::kOp;
  }

  // The first node in the chain of `hash` that `equals` accepts; otherwise `i`,
  // which is added to it.
  template <typename Equals>
  int FindOrAdd(uint64_t hash, int i, Equals equals) {
    const auto [it, is_new] = chains_.try_emplace(hash, i);
    if (is_new) return i;
    int last = it->second;
    for (int other = last; other != kNone; other = Next(other)) {
      if (equals(other)) return other;
      last = other;
    }
    SetNext(last, i);
    return i;
  }
  int Next(int i) const { return next_.empty() ? kNone : next_[i]; }
  void SetNext(int i, int next) {
    if (next_.empty()) next_.resize(graph_.size(), kNone);
    next_[i] = next;
  }

  void NumberScalar(int i) {
    const Tensor& value = graph_.As<ConstantNode>(i)->value();
    numbers_[i] = FindOrAdd(value.Hash(), i, [&](int other) {
      const auto* constant = graph_.As<ConstantNode>(other);
      return constant != nullptr && constant->value() == value;
    });
  }

  void NumberTuple(int i) {
    const absl::Span<const int> fields = graph_.children(i);
    const auto number = [&](int tuple, size_t k) {
      return FieldNumber(graph_.children(tuple)[k]);
    };
    StableHash hash(static_cast<uint64_t>(ExprKind::kTuple));
    for (size_t k = 0; k < fields.size(); ++k) hash.Add(number(i, k));
    numbers_[i] = FindOrAdd(hash.value(), i, [&](int other) {
      if (graph_.As<TupleNode>(other) == nullptr ||
          graph_.children(other).size() != fields.size()) {
        return false;
      }
      for (size_t k = 0; k < fields.size(); ++k) {
        if (number(other, k) != number(i, k)) return false;
      }
      return true;
    });
  }

  int ArgNumber(int call, int k) const { return Number(graph_.args(call)[k]); }

  // The first node that equals node `i`, a call or a field of a tuple.
  int NumberExpr(int i) {
    if (options_.fskip && options_.fskip(rewriter_.Get(i))) {
      if (WantsRemarks(RemarkKind::kMissed)) {
        LogRemark({.kind = RemarkKind::kMissed,
                   .node = Expr(graph_.node(i)),
                   .reason = "the option fskip leaves it out"});
      }
      return i;
    }
    const auto* call = graph_.As<CallNode>(i);
    return call == nullptr ? NumberItem(i) : NumberCall(i, *call);
  }

  int NumberItem(int i) {
    const int tuple = FieldNumber(graph_.children(i)[0]);
    const int index = graph_.As<TupleGetItemNode>(i)->index();
    StableHash hash(static_cast<uint64_t>(ExprKind::kTupleGetItem));
    hash.Add(tuple);
    hash.Add(index);
    return FindOrAdd(hash.value(), i, [&](int other) {
      const auto* item = graph_.As<TupleGetItemNode>(other);
      return item != nullptr && item->index() == index &&
             FieldNumber(graph_.children(other)[0]) == tuple;
    });
  }

  int NumberCall(int i, const CallNode& call) {
    StableHash hash(static_cast<uint64_t>(ExprKind::kCall));
    hash.Add(call.op_node()->index());
    for (int k = 0; k < call.num_args(); ++k) hash.Add(ArgNumber(i, k));
    const auto equals = [&](int other) {
      const auto* candidate = graph_.As<CallNode>(other);
      if (candidate == nullptr || candidate->op() != call.op() ||
          candidate->num_args() != call.num_args()) {
        return false;
      }
      for (int k = 0; k < call.num_args(); ++k) {
        if (ArgNumber(other, k) != ArgNumber(i, k)) return false;
      }
      return candidate->attrs() == call.attrs() ||
             AttrsEqual(candidate->attrs(), call.attrs());
    };
    int length = 0;
    int last = kNone;
    const auto [it, is_new] = chains_.try_emplace(hash.value(), i);
    if (is_new) return i;
    for (int other = it->second; other != kNone; other = Next(other)) {
      if (equals(other)) return other;
      last = other;
      ++length;
    }
    if (length < kMaxChain || !call.attrs().defined()) {
      SetNext(last, i);
      return i;
    }
    hash.Add(call.attrs()->fields().Hash(call.attrs()->object()));
    return FindOrAdd(hash.value(), i, equals);
  }

  // Puts node `to` in the place of node `i`.
  void Merge(int i, int to) {
    if (i == to || !MayRewrite()) return;
    any_merged_ = true;
    kMerged.Add(1);
    if (WantsRemarks(RemarkKind::kPassed)) {
      LogRemark({.kind = RemarkKind::kPassed,
                 .node = Expr(graph_.node(i)),
                 .reason = "an equal node takes its place",
                 .nodes = {{"equal", Expr(graph_.node(to))}}});
    }
    numbers_[i] = to;
    gained_users_[i] = true;  // those of `to`
    rewriter_.Replace(i, rewriter_.Get(to));
    if (gained_users_[to]) return;
    gained_users_[to] = true;
    if (graph_.num_uses(to) > 1) return;
    // The one user that it had so far was not worth looking up.
    int user = UserOf(to);
    if (user > i || --unshared_[user] > 0) return;
    if (graph_.node(user)->kind() == ExprKind::kTuple) {
      NumberTuple(user);
      if (graph_.num_uses(user) > 1) return;
      user = UserOf(user);
      if (user > i || graph_.node(user)->kind() != ExprKind::kCall ||
          --unshared_[user] > 0) {
        return;
      }
    }
    const NodeKind kind = graph_.node(user)->kind();
    if ((kind == ExprKind::kCall || kind == ExprKind::kTupleGetItem) &&
        MayRepeat(user)) {
      NumberExpr(user);
    }
  }

  // The last user of node `i`.
  int UserOf(int i) {
    if (users_.empty()) {
      users_.resize(graph_.size(), kNone);
      for (int user = 0; user < graph_.size(); ++user) {
        for (const int child : graph_.children(user)) {
          users_[child] = user;
        }
      }
    }
    return users_[i];
  }

  const IndexedGraph& graph_;
  const EliminateCommonSubexprOptions& options_;
  GraphRewriter rewriter_;
  std::vector<int> numbers_;
  // For calls, tuples and projections: the number of children that are not
  // shared.
  std::vector<int> unshared_;
  // For nodes that equal another one: users of one become users of the other.
  std::vector<bool> gained_users_;
  bool any_merged_ = false;
  // The first of the nodes with a hash, and for each node the next one.
  FlatHashMap<uint64_t, int> chains_;
  std::vector<int> next_;
  std::vector<int> users_;
};

Expr MergeEqualNodes(const Expr& expr,
                     const EliminateCommonSubexprOptions& options) {
  // With remarks, every node that is left alone must be looked at.
  const bool logs_remarks = WantsRemarks(RemarkKind::kMissed);
  bool any_stateful = false;
  if (!MayHaveEqualNodes(expr, logs_remarks ? &any_stateful : nullptr) &&
      !(logs_remarks && (any_stateful || static_cast<bool>(options.fskip)))) {
    return expr;
  }
  return Eliminator(IndexedGraph(expr), options).Run();
}

}  // namespace

Pass EliminateCommonSubexpr(EliminateCommonSubexprOptions options) {
  return CreateFunctionPass(
      [options](Function function, const IRModule& /*module*/,
                const PassContext& /*context*/) -> absl::StatusOr<Function> {
        return Function(MergeEqualNodes(function, options).As<FunctionNode>());
      },
      {.name = "EliminateCommonSubexpr",
       .opt_level = 3,
       .required = {"InferType"},
       .doc = "Merges calls of one operator on the same arguments.",
       .invalidates = {"a_normal_form", "basic_block_normal_form"},
       .idempotent = true},
      options);
}
BATON_REGISTER_PASS(EliminateCommonSubexpr);
BATON_REGISTER_REMARKS("EliminateCommonSubexpr",
                       {.passed = "an equal node took the place of another",
                        .missed = "why equal calls were not merged"});

}  // namespace baton::relay
