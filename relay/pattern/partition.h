// Partitioning: moves each match of a pattern into a function of its own.

#ifndef BATON_RELAY_PATTERN_PARTITION_H_
#define BATON_RELAY_PATTERN_PARTITION_H_

#include <functional>

#include "baton/base/attr_value.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/pattern/dataflow_pattern.h"
#include "baton/relay/pattern/matcher.h"

namespace baton::relay {

// Replaces each match of `pattern` (those of FindMatchGroups) by a call of a
// function. The function has a parameter for each input of the match, the match
// as its body, `attrs`, and the attribute PartitionedFromPattern, which lists
// its operators: `nn.conv2d_nn.relu_`. If `check` is not null, only matches for
// whose root in `expr` it is true are replaced. The same pointer if there are
// none.
Expr Partition(const DataflowPattern& pattern, const Expr& expr,
               const AttrMap& attrs = {},
               const std::function<bool(const Expr& root)>& check = nullptr);

// The same, and `accepts` sees all of the match: where it is false, the program
// stays as it is.
Expr PartitionMatches(const DataflowPattern& pattern, const Expr& expr,
                      const AttrMap& attrs,
                      const std::function<bool(const Match& match)>& accepts);

}  // namespace baton::relay

#endif  // BATON_RELAY_PATTERN_PARTITION_H_
