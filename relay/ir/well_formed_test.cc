#include "baton/relay/ir/well_formed.h"

#include <string>
#include <utility>

#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/testing/small_stack.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

BATON_REGISTER_OP("toy.add").Arguments({{"a", ""}, {"b", ""}});
BATON_REGISTER_OP("toy.neg").Arguments({{"a", ""}});

Expr Add(Expr a, Expr b) {
  return Call(Op::Find("toy.add"), {std::move(a), std::move(b)});
}
Expr Neg(Expr a) { return Call(Op::Find("toy.neg"), {std::move(a)}); }
Expr One() { return Constant(Tensor::Scalar(1.0f)); }

std::string Problems(const Expr& expr) {
  return std::string(CheckWellFormed(expr).message());
}
std::string Problems(const Function& main, bool) {
  IRModule module;
  module.Set("main", main);
  return std::string(CheckWellFormed(module).message());
}

TEST(WellFormedTest, Accepts) {
  Var x("x"), y("y"), f("f"), n("n");
  Expr shared = Neg(x);
  EXPECT_EQ(Problems(Add(x, x)), "");
  EXPECT_EQ(Problems(Function({x}, Add(shared, shared))), "");
  EXPECT_EQ(Problems(Let(y, One(), Add(y, y))), "");
  EXPECT_EQ(Problems(Let(f, Function({n}, Call(f, {n})), Call(f, {One()}))),
            "");
  Expr branch = If(x, shared, Add(shared, x));
  EXPECT_EQ(Problems(Function({x}, Add(branch, shared))), "");
}

TEST(WellFormedTest, VariablesAreBoundOnce) {
  Var x("x");
  EXPECT_EQ(Problems(Function({x, x}, x)),
            "error: variable %x is bound more than once");
  EXPECT_EQ(Problems(Let(x, One(), Let(x, One(), x))),
            "error: variable %x is bound more than once");
  EXPECT_EQ(Problems(Tuple({Function({x}, x), Function({x}, x)})),
            "error: variable %x is bound more than once");
  // One function used twice binds its parameter once.
  Function f({x}, x);
  EXPECT_EQ(Problems(Tuple({f, f})), "");
}

TEST(WellFormedTest, VariablesAreUsedInScope) {
  Var x("x"), y("y");
  EXPECT_EQ(Problems(Tuple({Let(x, One(), x), x})),
            "error: variable %x is used outside of its scope");
  EXPECT_EQ(Problems(Tuple({x, Let(x, One(), x)})),
            "error: variable %x is used before it is bound");
  EXPECT_EQ(Problems(Let(x, Neg(x), x)),
            "error: variable %x is used in its own value");
  EXPECT_EQ(Problems(Function({x}, y)), "");
  EXPECT_EQ(Problems(Function({x}, y), true),
            "error: in @main: variable %y is not bound");
}

TEST(WellFormedTest, SharedNodesStayInTheScopeOfTheirVariables) {
  Var x("x"), y("y"), z("z");
  Expr inner = Neg(y);
  const std::string escapes =
      "error: a call of toy.neg uses a bound variable and is itself used "
      "outside of the scope of that variable";
  EXPECT_EQ(Problems(Tuple({Let(y, One(), inner), inner})), escapes);
  EXPECT_EQ(Problems(Tuple({Function({y}, inner), Neg(inner)})), escapes);
  EXPECT_EQ(Problems(Let(y, One(), Tuple({Let(x, inner, x), inner}))), "");
  // The function as a whole needs what its body needs from outside.
  Function f({z}, Add(Add(y, z), z));
  EXPECT_EQ(Problems(Tuple({Let(y, One(), Let(x, f, x)), f})),
            "error: Function uses a bound variable and is itself used outside "
            "of the scope of that variable");
  EXPECT_EQ(Problems(Let(y, One(), Tuple({Let(x, f, x), f}))), "");
  // A node that needs an escaping node escapes with it, and is named once.
  Expr outer = Add(f, One());
  EXPECT_EQ(Problems(Tuple({Let(y, One(), outer), outer, outer})),
            "error: a call of toy.add uses a bound variable and is itself used "
            "outside of the scope of that variable");
}

TEST(WellFormedTest, GlobalsExist) {
  Function f({}, Tuple({GlobalVar("man"), GlobalVar("main")}));
  EXPECT_EQ(Problems(f), "");
  EXPECT_EQ(Problems(f, true),
            "error: in @main: the module has no function @man; did you mean "
            "\"main\"?");
}

TEST(WellFormedTest, Projections) {
  Var x("x", {2});
  EXPECT_EQ(Problems(TupleGetItem(Tuple({x, x}), 1)), "");
  EXPECT_EQ(Problems(TupleGetItem(Tuple({x, x}), 2)),
            "error: field 2 is not in a tuple of size 2");
  EXPECT_EQ(Problems(TupleGetItem(x, -1)), "error: field -1 is not in a tuple");
}

TEST(WellFormedTest, AllProblemsAreCollected) {
  Var x("x"), y("y");
  EXPECT_EQ(Problems(Function({x, x}, Tuple({y, GlobalVar("f")})), true),
            "error: in @main: variable %x is bound more than once\n"
            "error: in @main: the module has no function @f\n"
            "error: in @main: variable %y is not bound");
  EXPECT_EQ(Problems(Neg(Expr())), "error: Call has a missing operand");
}

TEST(WellFormedTest, DepthDoesNotMatter) {
  auto body = [] {
    constexpr int kDepth = 100000;
    Var x("x");
    Expr e = x;
    for (int i = 0; i < kDepth; ++i) {
      Var y("y");
      e = i % 2 == 0 ? Expr(Let(y, Neg(x), Add(e, y)))
                     : Expr(Function({y}, Add(e, y)));
      if (i % 3 == 0) e = Tuple({e, e});
    }
    EXPECT_EQ(Problems(Function({x}, e), true), "");
    EXPECT_NE(Problems(Tuple({Function({x}, e), e})), "");
  };
  testing::RunWithStack(testing::kSmallStackBytes, body);
}

}  // namespace
}  // namespace baton::relay
