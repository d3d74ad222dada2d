// Reads attributes of calls for patterns and rules.

#ifndef BATON_RELAY_PATTERN_ATTR_VALUES_H_
#define BATON_RELAY_PATTERN_ATTR_VALUES_H_

#include <optional>

#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

// The attributes of a call; the defaults of its operator if it has none.
AttrMap AttrsOf(const CallNode& call);
// The attribute `name` of a call; nullopt if there is none.
std::optional<AttrValue> AttrOf(const CallNode& call, absl::string_view name);

// The number in a bool, an integer or a float.
std::optional<double> NumberOf(const AttrValue& value);

// Compares as patterns and conditions do: numbers by value, element types by
// name.
bool SameValue(const AttrValue& a, const AttrValue& b);

}  // namespace baton::relay

#endif  // BATON_RELAY_PATTERN_ATTR_VALUES_H_
