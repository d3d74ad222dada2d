// Partitioning: what a pattern matches becomes a function.

#ifndef BATON_RELAY_PATTERN_PARTITION_H_
#define BATON_RELAY_PATTERN_PARTITION_H_

#include <functional>

#include "baton/base/attr_value.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/pattern/dataflow_pattern.h"

namespace baton::relay {

// Puts a call of a function in the place of each match of `pattern` (those of
// FindMatchGroups). The function has a parameter for each input of the match,
// the match as its body, `attrs`, and the attribute PartitionedFromPattern:
// what is in it, as in `nn.conv2d_nn.relu_`. `check`, if there is one, says
// whether the match at a node (as it was in `expr`) is taken. The same pointer
// if there is none.
Expr Partition(const DataflowPattern& pattern, const Expr& expr,
               const AttrMap& attrs = {},
               const std::function<bool(const Expr& root)>& check = nullptr);

}  // namespace baton::relay

#endif  // BATON_RELAY_PATTERN_PARTITION_H_
