// Finds all matches of a pattern in a program, in the order of TVM's rewriting
// and partitioning: outermost first, and without overlap.

#ifndef BATON_RELAY_PATTERN_MATCH_GROUPS_H_
#define BATON_RELAY_PATTERN_MATCH_GROUPS_H_

#include <vector>

#include "baton/ir/attrs.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/pattern/dataflow_pattern.h"
#include "baton/relay/pattern/matcher.h"

namespace baton::relay {

// Attribute of functions that Partition() makes: the names of the operators in
// the match.
inline constexpr char kPartitionedFromPattern[] = "PartitionedFromPattern";

// The nodes inside of a match: nodes matched by a part that has parts itself
// (calls, tuples, projections, ...). Each node once, the root first.
std::vector<const ExprNode*> InteriorNodes(const PatternMatch& match);

// A match, and the nodes to move into a function.
struct MatchGroup {
  PatternMatch match;
  // `nodes` compute the root: the interior of the match and the nodes that
  // belong to it, such as operators and constants in the pattern, in
  // post-order. `inputs` are the operands of the group, in the order of the
  // pattern, each once.
  std::vector<const ExprNode*> nodes;
  std::vector<Expr> inputs;
};

// The groups whose inner nodes have no uses outside of the group. Groups do not
// overlap: of overlapping matches, the one whose root is nearest to the root of
// the program, in the walk down, gets the nodes. Skips functions that
// partitioning made.
std::vector<MatchGroup> FindMatchGroups(const Matcher& matcher,
                                        const IndexedGraph& graph);

}  // namespace baton::relay

#endif  // BATON_RELAY_PATTERN_MATCH_GROUPS_H_
