// Builds rules from their syntax trees.

#ifndef BATON_RELAY_PATTERN_RULE_BUILDER_H_
#define BATON_RELAY_PATTERN_RULE_BUILDER_H_

#include <memory>

#include "baton/relay/pattern/rewrite_rule.h"
#include "baton/relay/pattern/rule_ast.h"

namespace baton::relay::internal {

// Builds the rule of a checked text.
RewriteRule BuildRule(std::shared_ptr<const RuleAst> ast);

}  // namespace baton::relay::internal

#endif  // BATON_RELAY_PATTERN_RULE_BUILDER_H_
