// RewriteRule: a pattern, and the replacement of its matches.
//
//   RewriteRule DivideBySqrt() {
//     const DataflowPattern x = Wildcard("x"), y = Wildcard("y");
//     return {.name = "divide_by_sqrt",
//             .doc = "x / sqrt(y) is x * rsqrt(y).",
//             .pattern = IsOp("divide")(x, IsOp("sqrt")(y)),
//             .replace = [=](const PatternMatch& m) -> Expr {
//               return Multiply(m[x], Rsqrt(m[y]));
//             }};
//   }
//
// Rules are values. rewriter.h applies sets of rules.

#ifndef BATON_RELAY_PATTERN_REWRITE_RULE_H_
#define BATON_RELAY_PATTERN_REWRITE_RULE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/pattern/dataflow_pattern.h"
#include "baton/relay/pattern/matcher.h"

namespace baton::relay {

// The promised accuracy of the replacement.
struct RulePromise {
  // Bit-exact. If false, the results agree within the tolerance.
  bool exact = true;
  double rtol = 0;
  double atol = 0;
  // Values in arguments or intermediate results for which the rule promises
  // nothing.
  bool excludes_nan = false;
  bool excludes_infinity = false;
  // The rule promises accuracy if the elements that the wildcard `name` matches
  // are in [low, high].
  struct Range {
    std::string name;
    double low;
    double high;
  };
  std::vector<Range> ranges;
};

namespace internal {
struct RuleAst;
}  // namespace internal

// A rule; see the top of this file.
struct RewriteRule {
  // Letters, digits, `_` and `.`; unique within its set.
  std::string name;
  // The passes that apply the rule (RuleRegistry::RulesOf). It belongs to the
  // first; if empty, to none, and the pass Rewrite applies it.
  std::vector<std::string> passes;
  std::string doc;  // one line
  DataflowPattern pattern;
  // Returns the replacement of the match, or null to keep the match
  // (PatternMatch::Decline records why). Null if the rule is only the place of
  // a rule in C++ in a list (`rule @name of P;`). The replacement consists of
  // new nodes, without types, and of nodes of the match. The nodes of the match
  // have types if the program has types. Rules have already been applied to all
  // nodes below the match. An error ends the rewriting. Several threads may
  // call this function.
  std::function<absl::StatusOr<Expr>(const PatternMatch& match)> replace;
  // Applied in one sweep, outermost matches first, to matches that share no
  // nodes, and never to the result of the rule. For rules that would match
  // their own results.
  bool once = false;
  // Applied only if the inner nodes of the match have no uses outside of it.
  // Inner nodes are those between its root and the nodes that wildcards,
  // variables and constants match.
  bool exclusive = false;
  RulePromise promise;
  // The place in the text, such as `acme.rules:3:6`; empty for rules in C++.
  std::string place;
  // The syntax tree of the text; null for rules in C++.
  std::shared_ptr<const internal::RuleAst> ast;
};

}  // namespace baton::relay

#endif  // BATON_RELAY_PATTERN_REWRITE_RULE_H_
