// Rewrite rules: a pattern, and what replaces its matches.
//
//   RewriteRule DivideBySqrt() {
//     const DataflowPattern x = Wildcard("x"), y = Wildcard("y");
//     return {.name = "divide_by_sqrt",
//             .doc = "x / sqrt(y) is x * rsqrt(y).",
//             .pattern = IsOp("divide")(x, IsOp("sqrt")(y)),
//             .replace = [=](const Match& m) -> Expr {
//               return Multiply(m[x], Rsqrt(m[y]));
//             }};
//   }
//
// Rules are values. rewriter.h applies sets of them.

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

// How the two sides of a rule compare.
struct RulePromise {
  // Bit-exact. If false, results are within the tolerance.
  bool exact = true;
  double rtol = 0;
  double atol = 0;
  // Values for which the rule does not hold, if they occur in an argument or in
  // an intermediate result.
  bool excludes_nan = false;
  bool excludes_infinity = false;
  // The rule holds for elements in [low, high] of what the wildcard of that
  // name matches.
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

struct RewriteRule {
  // Letters, digits, `_` and `.`; unique within its set.
  std::string name;
  std::string doc;  // one line
  DataflowPattern pattern;
  // What replaces the match; null keeps the match (Match::Decline says why). It
  // is made of new nodes, which have no types, and of nodes of the match. The
  // nodes of the match have types if the program has, and stand as they are at
  // that time: rules have been applied to all that is below the match. An error
  // ends the rewriting. Called by several threads.
  std::function<absl::StatusOr<Expr>(const Match& match)> replace;
  // Applied in one sweep, outermost matches first, to matches that share no
  // nodes, and never to the result of the rule. For rules that would match
  // their own results.
  bool once = false;
  // Applied only if the nodes inside of the match, between its root and the
  // nodes that wildcards, variables and constants match, have no uses outside
  // of it.
  bool exclusive = false;
  RulePromise promise;
  // Where it was read from text, as in `acme.rules:3:6`; empty for others.
  std::string place;
  // The syntax tree of that text; null for others.
  std::shared_ptr<const internal::RuleAst> ast;
};

}  // namespace baton::relay

#endif  // BATON_RELAY_PATTERN_REWRITE_RULE_H_
