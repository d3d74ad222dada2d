// The laws of rewrite rules, tested on programs made from their patterns.
//
//   - The rule applies to a program made from its pattern.
//   - Both sides have the same type wherever it applies, and what it makes is
//     well-formed.
//   - They compute the same, within what the rule promises: on inputs with NaN,
//     infinities, zeros of both signs and large numbers unless it excludes
//     them, with empty tensors, broadcasting, and all element types that
//     operators and conditions allow.
//   - Applied until it does not match it ends: alone, and with the other rules.
//
// Also lists pairs of rules that match one node with results that depend on
// their order; that need not be an error.

#ifndef BATON_TOOLS_CHECK_RULES_H_
#define BATON_TOOLS_CHECK_RULES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "baton/relay/pattern/rewrite_rule.h"

namespace baton {

struct CheckRulesOptions {
  int programs = 40;    // for each rule, that it applies to
  int attempts = 4000;  // to make them
  uint64_t seed = 0;
};

struct RuleReport {
  std::string rule;
  int programs = 0;  // that the rule was applied to
  int evaluated = 0;
  std::vector<std::string> broken;    // laws, with the program that shows it
  std::vector<std::string> overlaps;  // with rules further down the list
};

// A report for each rule, in order.
std::vector<RuleReport> CheckRules(const std::vector<relay::RewriteRule>& rules,
                                   const CheckRulesOptions& options = {});

}  // namespace baton

#endif  // BATON_TOOLS_CHECK_RULES_H_
