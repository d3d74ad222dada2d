#include "baton/relay/analysis/scope_graph.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/relay/op/tensor.h"
#include "baton/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Expr Parse(absl::string_view text) {
  const auto expr = ParseExpr(text);
  EXPECT_THAT(expr, testing::IsOk());
  return expr.ok() ? *expr : Expr();
}

// Calls and their scopes: `exp:1`, with a star if lifted.
std::vector<std::string> Calls(const Expr& expr) {
  const ScopeGraph graph(expr);
  std::vector<std::string> result;
  for (int i = 0; i < graph.size(); ++i) {
    const auto* call = graph.As<CallNode>(i);
    if (call == nullptr || call->op_node() == nullptr) continue;
    result.push_back(absl::StrCat(call->op_node()->name(), ":", graph.scope(i),
                                  graph.lifted(i) ? "*" : ""));
  }
  return result;
}

TEST(ScopeGraphTest, OneScope) {
  const Expr expr = Parse("fn (%x: float32) { %0 = exp(%x); add(%0, %0) }");
  const ScopeGraph graph(expr);
  EXPECT_EQ(graph.num_scopes(), 2);
  EXPECT_EQ(graph.scope(graph.size() - 1), 0);
  EXPECT_EQ(graph.opened_scope(graph.size() - 1, 0), 1);
  EXPECT_FALSE(graph.any_lifted());
  EXPECT_FALSE(graph.any_let());
  EXPECT_EQ(graph.free_var(), nullptr);
  EXPECT_THAT(Calls(expr), ElementsAre("exp:1", "add:1"));
}

TEST(ScopeGraphTest, Branches) {
  EXPECT_THAT(Calls(Parse(R"(
      fn (%x: float32) {
        if (less(%x, 1f)) { %0 = exp(%x); %0 } else { log(%0) }
      })")),
              ElementsAre("less:1", "exp:1*", "log:3"));
  // The condition comes before the branches.
  EXPECT_THAT(Calls(Parse(R"(
      fn (%x: float32) {
        %0 = exp(%x);
        if (less(%0, 1f)) { %0 } else { log(%0) }
      })")),
              ElementsAre("exp:1", "less:1", "log:3"));
}

TEST(ScopeGraphTest, LetsAndFunctions) {
  EXPECT_THAT(Calls(Parse(R"(
      fn (%x: float32) {
        let %a = exp(%x);
        let %f = fn (%y: float32) { add(%y, log(%a)) };
        %f(sqrt(%x))
      })")),
              ElementsAre("exp:2", "log:4", "add:4", "sqrt:3"));
}

TEST(ScopeGraphTest, PrimitiveFunctionsAreClosed) {
  EXPECT_THAT(Calls(Parse(R"(
      fn (%x: float32) {
        %0 = fn (%y: float32, Primitive=1) { exp(%y) };
        %0(log(%x))
      })")),
              ElementsAre("log:1"));
}

TEST(ScopeGraphTest, FreeVariables) {
  const Var x("x", {2});
  EXPECT_EQ(ScopeGraph(Exp(x)).free_var(), x.get());
  EXPECT_EQ(ScopeGraph(Function({x}, Exp(x))).free_var(), nullptr);
}

// The common scope of the deepest scopes is found without a walk from one to
// the other.
TEST(ScopeGraphTest, DeepScopesShareOneExpression) {
  constexpr int kDepth = 100000;
  const Var x("x", {2});
  const Var c("c", {}, DType::Bool());
  const Expr shared = Exp(x);
  Expr left = shared;
  Expr right = Log(shared);
  for (int i = 0; i < kDepth; ++i) {
    left = If(c, left, Add(x, shared));
    right = If(c, Add(x, shared), right);
  }
  const Expr function = Function({x, c}, Subtract(left, right));
  const ScopeGraph graph(function);
  EXPECT_EQ(graph.num_scopes(), 2 + 4 * kDepth);
  for (int i = 0; i < graph.size(); ++i) {
    if (graph.node(i) != shared.get()) continue;
    EXPECT_EQ(graph.scope(i), 1);
    EXPECT_TRUE(graph.lifted(i));
  }
}

}  // namespace
}  // namespace baton::relay
