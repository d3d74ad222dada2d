#include "baton/relay/pattern/partition.h"

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "baton/base/attr_value.h"
#include "baton/ir/attrs.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/ir/origin.h"
#include "baton/ir/rewrite_gate.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/pattern/dataflow_pattern.h"
#include "baton/relay/pattern/match_groups.h"
#include "baton/relay/pattern/matcher.h"

namespace baton::relay {
namespace {

// The part of the function's name that a node in it contributes.
std::string NamePart(const ExprNode* node) {
  switch (ExprKindOf(node)) {
    case ExprKind::kCall: {
      const OpNode* op = static_cast<const CallNode*>(node)->op_node();
      return op == nullptr ? "Call_" : absl::StrCat(op->name(), "_");
    }
    case ExprKind::kTuple:
      return "Tuple_";
    case ExprKind::kTupleGetItem:
      return absl::StrCat("TupleGetItem",
                          static_cast<const TupleGetItemNode*>(node)->index(),
                          "_");
    case ExprKind::kFunction:
      return "Function";
    case ExprKind::kLet:
      return "Let_";
    case ExprKind::kIf:
      return "If_";
    case ExprKind::kMatch:
      return "Match_";
    default:
      return "";
  }
}

// The function that `group` becomes, number `number` of the program.
Function FunctionOf(const MatchGroup& group, size_t number,
                    const AttrMap& attrs) {
  std::vector<Var> params;
  NodeMap<Expr> now;
  for (size_t i = 0; i < group.inputs.size(); ++i) {
    params.emplace_back(absl::StrCat("FunctionVar_", number, "_", i));
    now[group.inputs[i].get()] = params.back();
    LogOrigins(params.back(), group.inputs[i].get());
  }
  std::string name;
  Expr body;
  std::vector<Expr> children;
  for (const ExprNode* node : group.nodes) {
    name += NamePart(node);
    children.clear();
    ForEachChild(node, [&](const Expr& child) {
      const Expr* became = now.Find(child.get());
      children.push_back(became == nullptr ? child : *became);
    });
    body = WithChildren(node, children);
    LogOrigins(body, node);
    now[node] = body;
  }
  AttrMap all = {{kPartitionedFromPattern, AttrValue(std::move(name))}};
  all.insert(all.end(), attrs.begin(), attrs.end());
  return Function(std::move(params), std::move(body), Type(), {},
                  DictAttrs(std::move(all)));
}

}  // namespace

Expr Partition(const DataflowPattern& pattern, const Expr& expr,
               const AttrMap& attrs,
               const std::function<bool(const Expr& root)>& check) {
  if (check == nullptr) return PartitionMatches(pattern, expr, attrs, nullptr);
  return PartitionMatches(
      pattern, expr, attrs,
      [&check](const PatternMatch& match) { return check(match.root()); });
}

Expr PartitionMatches(
    const DataflowPattern& pattern, const Expr& expr, const AttrMap& attrs,
    const std::function<bool(const PatternMatch& match)>& accepts) {
  const IndexedGraph graph(expr);
  const Matcher matcher(pattern);
  const std::vector<MatchGroup> groups = FindMatchGroups(matcher, graph);
  NodeMap<int> by_root;  // 1 + the number of the group
  for (size_t i = 0; i < groups.size(); ++i) {
    const PatternMatch& match = groups[i].match;
    if ((accepts == nullptr || accepts(match)) && MayRewrite()) {
      by_root[match.root().get()] = static_cast<int>(i) + 1;
    }
  }
  if (by_root.empty()) return expr;
  NodeMap<int> index;
  for (int i = 0; i < graph.size(); ++i) index[graph.node(i)] = i;
  GraphRewriter rewriter(graph);
  for (int i = 0; i < graph.size(); ++i) {
    rewriter.Rebuild(i);
    const int* group = by_root.Find(graph.node(i));
    if (group == nullptr) continue;
    const size_t number = static_cast<size_t>(*group) - 1;
    std::vector<Expr> args;
    for (const Expr& input : groups[number].inputs) {
      args.push_back(rewriter.Get(*index.Find(input.get())));
    }
    rewriter.Replace(i, Call(FunctionOf(groups[number], number, attrs), args));
  }
  return rewriter.Result();
}

}  // namespace baton::relay
