// All places where a pattern stands, as the reference's rewriting and
// partitioning see them: outermost first, and without overlap.

#ifndef BATON_RELAY_PATTERN_MATCH_GROUPS_H_
#define BATON_RELAY_PATTERN_MATCH_GROUPS_H_

#include <vector>

#include "baton/ir/attrs.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/pattern/dataflow_pattern.h"
#include "baton/relay/pattern/matcher.h"

namespace baton::relay {

// The attribute of a function that was made of a match: the names of what is in
// it.
inline constexpr char kPartitionedFromPattern[] = "PartitionedFromPattern";

// The nodes inside of a match: those that a part with parts below it matched
// (calls, tuples, projections, ...). Each once, the root first.
std::vector<const ExprNode*> InteriorNodes(const Match& match);

struct MatchGroup {
  Match match;
  // What computes the root: the match's interior and what it takes along, in
  // post-order; and what it is computed of, in the order of the pattern, each
  // once. Constants that the pattern asks for belong to the group.
  std::vector<const ExprNode*> nodes;
  std::vector<Expr> inputs;
};

// The groups in which nobody else uses what is inside, except on the way to the
// root. They do not overlap; the one whose root is met first from the root of
// the program down has the nodes. Functions that were made by partitioning are
// not looked into.
std::vector<MatchGroup> FindMatchGroups(const Matcher& matcher,
                                        const IndexedGraph& graph);

}  // namespace baton::relay

#endif  // BATON_RELAY_PATTERN_MATCH_GROUPS_H_
