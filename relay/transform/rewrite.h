// Rewrite: applies rules (relay/pattern/rewrite_rule.h) until none matches.

#ifndef BATON_RELAY_TRANSFORM_REWRITE_H_
#define BATON_RELAY_TRANSFORM_REWRITE_H_

#include <string>
#include <vector>

#include "baton/base/attr_value.h"
#include "baton/relay/pattern/rewriter.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_info.h"

namespace baton::relay {

struct RewriteRulesOptions {
  std::vector<std::string> rules;
  AttrMap limits;

  template <typename V>
  static void VisitFields(V& v) {
    v("rules", &RewriteRulesOptions::rules,
      "Names of rules; if empty, all that are linked in or given and belong to "
      "no pass.");
    v("limits", &RewriteRulesOptions::limits,
      "The largest number of applications of a rule in the module: "
      "`{hard_swish:3}`.");
  }
};

// A function pass of level 0, which requires InferType; a module pass if there
// are limits.
Pass Rewrite(RewriteRulesOptions options = {});

// A function pass that applies the given rules. It promises the accuracy in
// `info`, but at most that of the weakest rule
// (relay/transform/rule_promise.h).
//
// `options` are the options by which the rules were chosen.
Pass RulePass(RuleSet rules, PassInfo info, PassOptions options = {});

// The options of OwnRulesPass().
struct OwnRules {
  RuleOrder order = RuleOrder::kInnermostFirst;
  // The names of rules that are left out.
  std::vector<std::string> without = {};
};

// A function pass that applies the rules that belong to it:
// RuleRegistry::RulesOf(info.name), read when the pass first runs. `info` must
// promise no more than the weakest rule that is linked in with the pass. Rules
// that are added later may weaken the promise.
Pass OwnRulesPass(PassInfo info, OwnRules rules = {}, PassOptions options = {});

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_REWRITE_H_
