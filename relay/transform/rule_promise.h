// Converts the promises of rewrite rules to promises of passes
// (transform/value_promise.h).

#ifndef BATON_RELAY_TRANSFORM_RULE_PROMISE_H_
#define BATON_RELAY_TRANSFORM_RULE_PROMISE_H_

#include <string>

#include "absl/types/span.h"
#include "baton/relay/pattern/rewrite_rule.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/value_promise.h"

namespace baton::relay {

// The promise of a pass that applies a rule with the promise `promise`. A rule
// with a range of arguments is not bit-exact, since it gives other results
// outside of the range.
ValuePromise ValuePromiseOf(const RulePromise& promise);

// The promise with its numbers: `reassociating, within 1e-06 of each element`.
std::string ValuePromiseText(const RulePromise& promise);

// Returns `info` with its promise weakened to that of the weakest of `rules`.
PassInfo WeakenedByRules(PassInfo info, absl::Span<const RewriteRule> rules);

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_RULE_PROMISE_H_
