#include "baton/ir/structural_equal.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/testing/small_stack.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

struct ToyAttrs {
  int64_t axis = -1;
  std::vector<Dim> shape;
  static constexpr char kTypeKey[] = "relay.attrs.ToyEqualAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("axis", &ToyAttrs::axis, "Axis.");
    v("shape", &ToyAttrs::shape, "Shape.");
  }
};

BATON_REGISTER_OP("toy.add").Arguments({{"a", ""}, {"b", ""}});
BATON_REGISTER_OP("toy.neg").Arguments({{"a", ""}});
BATON_REGISTER_OP("toy.soft").Arguments({{"a", ""}}).TakesAttrs<ToyAttrs>();

Expr Add(Expr a, Expr b) {
  return Call(Op::Find("toy.add"), {std::move(a), std::move(b)});
}
Expr Neg(Expr a) { return Call(Op::Find("toy.neg"), {std::move(a)}); }
Expr Soft(Expr a, ToyAttrs attrs) {
  return Call(Op::Find("toy.soft"), {std::move(a)}, Attrs::Make(attrs));
}
Expr Scalar(float value) { return Constant(Tensor::Scalar(value)); }

// Compares both ways and holds the hash to the answer.
bool Equal(const Expr& a, const Expr& b, bool map_free_vars = false) {
  const StructuralEqualOptions options = {.map_free_vars = map_free_vars};
  const bool equal = StructuralEqual(a, b, options);
  EXPECT_EQ(StructuralEqual(b, a, options), equal);
  EXPECT_EQ(FirstDifference(a, b, options).has_value(), !equal);
  if (equal) {
    EXPECT_EQ(StructuralHash(a), StructuralHash(b));
  }
  return equal;
}

TEST(StructuralEqualTest, BoundVariablesMatchByPosition) {
  const auto make = [](const char* first, const char* second, bool swap) {
    Var x(first), y(second);
    return Function({x, y}, swap ? Add(y, x) : Add(x, y));
  };
  EXPECT_TRUE(Equal(make("x", "y", false), make("a", "b", false)));
  EXPECT_FALSE(Equal(make("x", "y", false), make("x", "y", true)));
  EXPECT_NE(StructuralHash(make("x", "y", false)),
            StructuralHash(make("x", "y", true)));
}

TEST(StructuralEqualTest, SharedVariablesCanBeExchanged) {
  Var x("x"), y("y");
  EXPECT_FALSE(Equal(Function({x, y}, Add(x, y)), Function({y, x}, Add(x, y))));
}

TEST(StructuralEqualTest, FreeVariables) {
  Var x("x"), y("x");
  EXPECT_TRUE(Equal(Neg(x), Neg(x)));
  EXPECT_FALSE(Equal(Neg(x), Neg(y)));
  EXPECT_TRUE(Equal(Neg(x), Neg(y), true));
  EXPECT_FALSE(Equal(Add(x, x), Add(x, y), true));
  EXPECT_FALSE(Equal(Add(x, y), Add(x, x), true));
  EXPECT_FALSE(Equal(Var("a", {1}), Var("a", {2}), true));
}

TEST(StructuralEqualTest, SharingMatters) {
  Var x("x");
  Expr shared = Neg(x);
  EXPECT_TRUE(Equal(Add(shared, shared), Add(shared, shared)));
  EXPECT_FALSE(Equal(Add(shared, shared), Add(Neg(x), Neg(x))));
  EXPECT_NE(StructuralHash(Add(shared, shared)),
            StructuralHash(Add(Neg(x), Neg(x))));
}

TEST(StructuralEqualTest, SharingOfConstantsAndProjectionsDoesNot) {
  Var x("x");
  Expr one = Scalar(1);
  EXPECT_TRUE(Equal(Add(one, one), Add(Scalar(1), Scalar(1))));
  Expr pair = Tuple({x, x});
  Expr first = TupleGetItem(pair, 0);
  EXPECT_TRUE(Equal(Add(first, first),
                    Add(TupleGetItem(pair, 0), TupleGetItem(pair, 0))));
  Expr empty = Tuple({});
  EXPECT_TRUE(Equal(Add(empty, empty), Add(Tuple({}), Tuple({}))));
}

TEST(StructuralEqualTest, ConstantsCompareByValue) {
  EXPECT_TRUE(Equal(Scalar(1), Scalar(1)));
  EXPECT_FALSE(Equal(Scalar(1), Scalar(2)));
  EXPECT_FALSE(Equal(Scalar(1), Constant(Tensor::Scalar(1.0))));
  EXPECT_FALSE(Equal(Scalar(0.0f), Scalar(-0.0f)));
}

TEST(StructuralEqualTest, Attributes) {
  Var x("x");
  EXPECT_TRUE(Equal(Soft(x, {.axis = 1}), Soft(x, {.axis = 1})));
  EXPECT_FALSE(Equal(Soft(x, {.axis = 1}), Soft(x, {.axis = 2})));
  // Left out is the same as default.
  Expr plain = Call(Op::Find("toy.soft"), {x});
  EXPECT_TRUE(Equal(plain, Soft(x, {})));
  EXPECT_FALSE(Equal(plain, Soft(x, {.axis = 1})));
  EXPECT_EQ(*FirstDifference(Soft(x, {.axis = 1}), Soft(x, {.axis = 2})),
            "attrs.axis: 1 is not 2");
}

TEST(StructuralEqualTest, FunctionAttributesAreADictionary) {
  Var x("x");
  const auto make = [&x](AttrMap entries) {
    return Function({x}, x, {}, {}, DictAttrs(std::move(entries)));
  };
  EXPECT_TRUE(
      Equal(make({{"a", 1}, {"b", "c"}}), make({{"b", "c"}, {"a", 1}})));
  EXPECT_FALSE(Equal(make({{"a", 1}}), make({})));
  EXPECT_FALSE(Equal(make({{"a", 1}}), make({{"a", 2}})));
  EXPECT_EQ(*FirstDifference(make({{"a", 1}}), make({})),
            "attrs.a: 1 is not set");
}

TEST(StructuralEqualTest, InferredTypesAreIgnoredDeclaredOnesAreNot) {
  Type type = TensorType({2}, DType::Float(32));
  Var x("x");
  Expr plain = Neg(x);
  Expr typed = Call(Op::Find("toy.neg"), std::vector<Expr>{x}, {}, {}, type);
  EXPECT_TRUE(Equal(plain, typed));
  EXPECT_FALSE(Equal(Function({x}, x), Function({x}, x, type)));
}

TEST(StructuralEqualTest, Lets) {
  const auto make = [](bool swap) {
    Var a("a"), b("b");
    return Let(a, Scalar(1), Let(b, Neg(a), swap ? Add(b, a) : Add(a, b)));
  };
  EXPECT_TRUE(Equal(make(false), make(false)));
  EXPECT_FALSE(Equal(make(false), make(true)));
}

TEST(StructuralEqualTest, Types) {
  TypeVar a("A"), b("B");
  Type f = FuncType({a, b}, a, {a, b});
  Type g = FuncType({b, a}, b, {b, a});
  Type h = FuncType({a, b}, b, {a, b});
  EXPECT_TRUE(StructuralEqual(f, g));
  EXPECT_EQ(StructuralHash(f), StructuralHash(g));
  EXPECT_FALSE(StructuralEqual(f, h));
  EXPECT_FALSE(StructuralEqual(Type(a), Type(b)));
  EXPECT_TRUE(StructuralEqual(Type(a), Type(b), {.map_free_vars = true}));
  EXPECT_FALSE(StructuralEqual(f, Type(TupleType({f}))));
  EXPECT_FALSE(
      StructuralEqual(Type(TupleType({f})), Type(TupleType({TupleType({f})}))));
  EXPECT_TRUE(StructuralEqual(Type(), Type()));
  EXPECT_FALSE(StructuralEqual(Type(), f));
}

// As a let of a generic function has it: the type of the variable is that of
// the function, type parameter and all; read from text, these are two.
TEST(StructuralEqualTest, EachTypeBindsItsParametersAnew) {
  const auto make = [](TypeVar of_type, TypeVar of_function, TypeVar used) {
    Var x("x", of_function);
    const Function identity({x}, x, used, {of_function});
    Var f("f", FuncType({of_type}, of_type, {of_type}));
    return Let(f, identity, f);
  };
  const TypeVar a("A"), b("A"), c("A"), d("A");
  EXPECT_TRUE(Equal(make(a, a, a), make(b, c, c)));
  EXPECT_TRUE(Equal(make(a, b, b), make(c, d, d)));
  // The result's type is another parameter than the function's.
  EXPECT_FALSE(Equal(make(a, b, b), make(c, d, c)));
  EXPECT_FALSE(Equal(make(a, a, a), make(c, d, c)));

  const auto pair = [](TypeVar first, TypeVar second, TypeVar inner) {
    const Type apply = FuncType({inner}, inner, {inner});
    return FuncType({first, second, apply}, second, {first, second});
  };
  const TypeVar e("E");
  EXPECT_TRUE(StructuralEqual(pair(a, b, c), pair(b, a, e)));
  EXPECT_FALSE(StructuralEqual(pair(a, b, c), FuncType({a, b, c}, b, {a, b})));
}

// As a recursive function has it that binds itself to a variable.
TEST(StructuralEqualTest, AfterATypeItsParametersAreThoseAroundIt) {
  const auto make = [](TypeVar outer, TypeVar inner, TypeVar after) {
    return FuncType({FuncType({inner}, inner, {inner}), after}, after, {outer});
  };
  const TypeVar a("A"), b("A"), c("A");
  EXPECT_TRUE(StructuralEqual(make(a, a, a), make(b, c, b)));
  EXPECT_TRUE(StructuralEqual(make(b, c, b), make(a, a, a)));
  EXPECT_EQ(StructuralHash(make(a, a, a)), StructuralHash(make(b, c, b)));
  EXPECT_FALSE(StructuralEqual(make(a, a, a), make(b, c, c)));
  EXPECT_FALSE(StructuralEqual(make(b, c, c), make(a, a, a)));
}

TEST(StructuralEqualTest, SymbolicDimensionsAreBoundByParameters) {
  const auto make = [](int factor) {
    Dim n(new DimExprNode(DimExprNode::Op::kSizeVar, "n", DType::Int(32), {},
                          {}));
    Dim m(
        new DimExprNode(DimExprNode::Op::kMul, "", DType::Int(32), n, factor));
    Var x("x", {n});
    return Function({x}, Soft(x, {.shape = {m}}), TensorType({m}, DType()));
  };
  EXPECT_TRUE(Equal(make(2), make(2)));
  EXPECT_FALSE(Equal(make(2), make(3)));
}

TEST(StructuralEqualTest, Modules) {
  Var x("x"), y("y");
  Function f({x}, Neg(x)), g({y}, Neg(y)), h({x}, Neg(Neg(x)));
  IRModule a, b;
  a.Set("f", f);
  a.Set("h", h);
  b.Set("h", h);
  b.Set("f", g);
  EXPECT_TRUE(StructuralEqual(a, b));
  EXPECT_EQ(StructuralHash(a), StructuralHash(b));
  b.Set("f", h);
  EXPECT_FALSE(StructuralEqual(a, b));
  EXPECT_NE(StructuralHash(a), StructuralHash(b));
  EXPECT_EQ(*FirstDifference(a, b),
            "@f.body.args[0]: %x is not a call of toy.neg");
  b.Remove("f");
  EXPECT_EQ(*FirstDifference(a, b), "@f: only in the first module");
  EXPECT_EQ(*FirstDifference(b, a), "@f: only in the second module");
}

TEST(StructuralEqualTest, DifferencesInDeepProgramsStayShort) {
  Var x("x");
  Expr a = Scalar(1), b = Scalar(2);
  for (int i = 0; i < 1000; ++i) {
    a = Neg(a);
    b = Neg(b);
  }
  EXPECT_EQ(*FirstDifference(a, b),
            "args[0].args[0].args[0].args[0].args[0].args[0].args[0].args[0]."
            "args[0].args[0].args[0].args[0].<976 steps>.args[0].args[0]."
            "args[0].args[0].args[0].args[0].args[0].args[0].args[0].args[0]."
            "args[0].args[0]: constant float32[] 1 is not constant float32[] "
            "2");
}

TEST(StructuralHashTest, IsRememberedAndStable) {
  const auto make = [] {
    Var x("x", {1, 8});
    return Function({x}, Add(x, Scalar(2)));
  };
  Function f = make();
  const uint64_t hash = StructuralHash(f);
  EXPECT_EQ(StructuralHash(f), hash);
  EXPECT_EQ(StructuralHash(make()), hash);
  EXPECT_NE(hash, 0u);
  // The hash of a function inside another does not depend on whether it was
  // hashed before.
  EXPECT_EQ(StructuralHash(Call(f, {Scalar(1)})),
            StructuralHash(Call(make(), {Scalar(1)})));
}

TEST(StructuralEqualTest, DepthDoesNotMatter) {
  const auto make = [] {
    Var x("x");
    Expr e = x;
    for (int i = 0; i < 50000; ++i) e = Add(Neg(e), x);
    for (int i = 0; i < 50000; ++i) e = Let(Var("y"), e, x);
    for (int i = 0; i < 50000; ++i) e = Let(Var("y"), x, e);
    Type t = TupleType({});
    for (int i = 0; i < 50000; ++i) t = TupleType({t});
    return Function({x}, e, t);
  };
  auto body = [&make] {
    Function a = make(), b = make();
    EXPECT_TRUE(StructuralEqual(a, b));
    EXPECT_EQ(StructuralHash(a), StructuralHash(b));
    EXPECT_FALSE(FirstDifference(a, b).has_value());
  };
  testing::RunWithStack(testing::kSmallStackBytes, body);
}

}  // namespace
}  // namespace baton::relay
