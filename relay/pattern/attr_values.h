// The attributes of calls, as patterns and rules see them.

#ifndef BATON_RELAY_PATTERN_ATTR_VALUES_H_
#define BATON_RELAY_PATTERN_ATTR_VALUES_H_

#include <optional>

#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

// The attributes of a call, the defaults of its operator if it has none.
AttrMap AttrsOf(const CallNode& call);
// One of them; nullopt if there is none of that name.
std::optional<AttrValue> AttrOf(const CallNode& call, absl::string_view name);

// A bool, an integer or a float.
std::optional<double> NumberOf(const AttrValue& value);

// As patterns and conditions compare: numbers as numbers, element types by
// their names.
bool SameValue(const AttrValue& a, const AttrValue& b);

}  // namespace baton::relay

#endif  // BATON_RELAY_PATTERN_ATTR_VALUES_H_
