// Checks the laws of rewrite rules on programs made from their patterns.
//
//   - The rule applies to a program made from its pattern.
//   - The match and its replacement have the same type, and the replacement is
//     well-formed.
//   - They compute the same values, within the promise of the rule: on inputs
//     with NaN, infinities, zeros of both signs and large numbers unless the
//     rule excludes them, with empty tensors, broadcasting, and all element
//     types that operators and conditions allow.
//   - Applying the rule until it does not match terminates: alone, and with the
//     other rules.
//
// Also lists pairs of rules that match one node with results that depend on
// their order; that need not be an error.

#ifndef BATON_RELAY_PATTERN_CHECK_RULES_H_
#define BATON_RELAY_PATTERN_CHECK_RULES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "baton/relay/pattern/rewrite_rule.h"

namespace baton::relay {

struct CheckRulesOptions {
  int programs = 40;    // programs for each rule to which it applies
  int attempts = 4000;  // attempts to make them
  uint64_t seed = 0;
};

// The result of checking one rule.
struct RuleReport {
  std::string rule;
  int programs = 0;  // programs to which the rule was applied
  int evaluated = 0;
  std::vector<std::string> broken;    // broken laws, with a program that shows
                                      // each
  std::vector<std::string> overlaps;  // with later rules of the list
};

// A report for each rule, in order.
std::vector<RuleReport> CheckRules(const std::vector<RewriteRule>& rules,
                                   const CheckRulesOptions& options = {});

}  // namespace baton::relay

#endif  // BATON_RELAY_PATTERN_CHECK_RULES_H_
