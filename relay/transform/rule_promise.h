// The classes of rewrite rules, which are those of passes
// (transform/value_promise.h), and what a set of rules may promise.

#ifndef BATON_RELAY_TRANSFORM_RULE_PROMISE_H_
#define BATON_RELAY_TRANSFORM_RULE_PROMISE_H_

#include <string>

#include "absl/types/span.h"
#include "baton/relay/pattern/rewrite_rule.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/value_promise.h"

namespace baton::relay {

// Bit-exact by default. A rule that holds for a range only computes something
// else outside of it.
ValuePromise ValuePromiseOf(const RulePromise& promise);

// The class, and its numbers: `reassociating, within 1e-06 of each element`.
std::string ValuePromiseText(const RulePromise& promise);

// `info`, but promising no more than the weakest of `rules` does.
PassInfo HeldToRules(PassInfo info, absl::Span<const RewriteRule> rules);

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_RULE_PROMISE_H_
