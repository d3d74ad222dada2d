// Reads string attributes of functions.

#ifndef BATON_RELAY_IR_TEXT_ATTR_H_
#define BATON_RELAY_IR_TEXT_ATTR_H_

#include <string>

#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

// The string attribute `name` of `function`, which owns the string; null if
// there is none or it is not a string.
inline const std::string* TextAttr(const FunctionNode& function,
                                   absl::string_view name) {
  const AttrValue* value = function.attrs().Find(name);
  return value == nullptr ? nullptr : value->As<std::string>();
}

}  // namespace baton::relay

#endif  // BATON_RELAY_IR_TEXT_ATTR_H_
