#include "baton/relay/transform/let_insertion.h"

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/tensor.h"
#include "baton/testing/status_matchers.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

constexpr int kDepth = 100000;

// Whether the body of `function` is `num_lets` lets, none of which binds a let,
// and a variable or call.
bool IsFlat(const Function& function, int num_lets) {
  const Expr* expr = &function->body();
  int count = 0;
  while (const auto* let = expr->As<LetNode>()) {
    if (let->value().Is<LetNode>()) return false;
    ++count;
    expr = &let->body();
  }
  EXPECT_EQ(count, num_lets);
  return !expr->Is<LetNode>();
}

// let %a = (let %b = (let %c = ...; exp(%c)); exp(%b)); exp(%a)
TEST(LetInsertionTest, LetsThatBindLetsTakeLinearTime) {
  const Var x("x", {2});
  Expr e = x;
  for (int i = 0; i < kDepth; ++i) {
    const Var var("v");
    e = Let(var, std::move(e), Exp(var));
  }
  const Function function({x}, std::move(e));
  BATON_ASSERT_OK_AND_ASSIGN(const Function blocks,
                             InsertLets(function, LetInsertion::kLifted));
  EXPECT_TRUE(IsFlat(blocks, kDepth));
  BATON_ASSERT_OK_AND_ASSIGN(const Function all,
                             InsertLets(function, LetInsertion::kEverything));
  EXPECT_TRUE(IsFlat(all, 2 * kDepth + 1));
}

// let %a = (let %b = exp(%x); let %c = exp(%b); ...); exp(%a), and a chain of
// those.
TEST(LetInsertionTest, LetsThatBindChainsOfLetsTakeLinearTime) {
  const Var x("x", {2});
  Expr e = x;
  for (int i = 0; i < kDepth; ++i) {
    const Var a("a");
    const Var b("b");
    e = Let(a, Let(b, std::move(e), Exp(b)), Let(Var("c"), Exp(a), Exp(a)));
  }
  const Function function({x}, std::move(e));
  BATON_ASSERT_OK_AND_ASSIGN(const Function blocks,
                             InsertLets(function, LetInsertion::kLifted));
  EXPECT_TRUE(IsFlat(blocks, 3 * kDepth));
}

}  // namespace
}  // namespace baton::relay
