// Partitions a program: moves each match of a pattern into a separate function.

#ifndef BATON_RELAY_PATTERN_PARTITION_H_
#define BATON_RELAY_PATTERN_PARTITION_H_

#include <functional>

#include "baton/base/attr_value.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/pattern/dataflow_pattern.h"
#include "baton/relay/pattern/matcher.h"

namespace baton::relay {

// Replaces each match of `pattern` (see FindMatchGroups) by a call of a new
// function. The function has a parameter for each input of the match, the match
// as its body, the attributes `attrs`, and the attribute
// PartitionedFromPattern, which lists its operators: `nn.conv2d_nn.relu_`. If
// `check` is not null, only matches for whose root in `expr` it is true are
// replaced. Returns `expr` itself if there are none.
Expr Partition(const DataflowPattern& pattern, const Expr& expr,
               const AttrMap& attrs = {},
               const std::function<bool(const Expr& root)>& check = nullptr);

// As Partition, with a condition on the whole match: if `accepts` is false, the
// match is not replaced.
Expr PartitionMatches(
    const DataflowPattern& pattern, const Expr& expr, const AttrMap& attrs,
    const std::function<bool(const PatternMatch& match)>& accepts);

}  // namespace baton::relay

#endif  // BATON_RELAY_PATTERN_PARTITION_H_
