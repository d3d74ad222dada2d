// Prints patterns for messages.

#ifndef BATON_RELAY_PATTERN_PATTERN_TEXT_H_
#define BATON_RELAY_PATTERN_PATTERN_TEXT_H_

#include <cstddef>
#include <string>

#include "baton/relay/pattern/dataflow_pattern.h"

namespace baton::relay {

// See DataflowPattern::ToString. A text longer than about `max_size` bytes is
// cut off and ends with ` ...`.
std::string PatternText(const DataflowPattern& pattern, size_t max_size = 500);

// The text of a condition: `dtype float32`, `axis = 1`, `one use`.
std::string ConditionText(const PatternCondition& condition);

// The description of a single node: `a call of add`, `anything`, `a tuple of 2
// fields`.
std::string NodeText(const DataflowPattern::Node& node);

}  // namespace baton::relay

#endif  // BATON_RELAY_PATTERN_PATTERN_TEXT_H_
