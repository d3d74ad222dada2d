// Maps the numbers in the text of a module (`%12`) to the nodes.

#ifndef BATON_RELAY_IR_TEXT_NUMBERS_H_
#define BATON_RELAY_IR_TEXT_NUMBERS_H_

#include <vector>

#include "baton/ir/expr.h"
#include "baton/ir/module.h"

namespace baton::relay {

// Element N is the node of a Relay function that the text of `module`
// (AsText(), ir/module_text.h) defines as `%N`. Takes time linear in the text.
// The pointers are valid as long as the module.
std::vector<const ExprNode*> NumberedNodes(const IRModule& module);

}  // namespace baton::relay

#endif  // BATON_RELAY_IR_TEXT_NUMBERS_H_
