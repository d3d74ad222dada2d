// GoogleTest matchers for patterns (relay/pattern/dataflow_pattern.h).
//
//   EXPECT_THAT(body, MatchesPattern(IsOp("nn.relu")(Wildcard())));
//   EXPECT_THAT(function, ContainsPattern(IsOp("acme.hard_swish")(x), 2));
//   EXPECT_THAT(function, ContainsPattern(IsOp("clip").CallOfAny(), 0));
//
// If a pattern does not match, the message describes the longest partial match.

#ifndef BATON_TESTING_PATTERN_MATCHERS_H_
#define BATON_TESTING_PATTERN_MATCHERS_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "baton/ir/expr.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/pattern/dataflow_pattern.h"
#include "baton/relay/pattern/matcher.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::testing {

// Matches an expression, as a whole program, that the pattern matches at its
// root.
MATCHER_P(MatchesPattern, pattern,
          absl::StrCat(negation ? "does not match " : "matches ",
                       pattern.ToString())) {
  const Expr& expr = arg;
  if (!expr.defined()) {
    *result_listener << "it is null";
    return false;
  }
  const std::string why = relay::Matcher(pattern).Explain(expr);
  *result_listener << why;
  return why.empty();
}

// Matches an expression in which the pattern matches at `count` nodes.
MATCHER_P2(ContainsPattern, pattern, count,
           absl::StrCat(negation ? "does not contain " : "contains ", count,
                        count == 1 ? " match of " : " matches of ",
                        pattern.ToString())) {
  const Expr& expr = arg;
  const relay::IndexedGraph graph(expr);
  const relay::UseCounts uses(graph);
  const relay::Matcher matcher(pattern);
  int found = 0;
  for (int i = 0; i < graph.size(); ++i) {
    if (matcher.At(Expr(graph.node(i)), &uses).has_value()) ++found;
  }
  *result_listener << "it contains " << found;
  return found == count;
}

}  // namespace baton::testing

#endif  // BATON_TESTING_PATTERN_MATCHERS_H_
