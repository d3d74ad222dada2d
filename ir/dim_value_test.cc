// Tests Dims as values of attributes and options.

#include <cstdint>

#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/ir/type.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

Dim Read(const AttrValue& value) {
  Dim result(-1);
  EXPECT_TRUE(AttrTraits<Dim>::FromValue(value, &result).ok());
  return result;
}

TEST(DimValueTest, NumbersAreIntegers) {
  EXPECT_EQ(AttrValue(Dim(7)), AttrValue(7));
  EXPECT_EQ(AttrValue(Dim(7)).As<Dim>(), nullptr);
  EXPECT_EQ(AttrValue(Dim(7)).ToString(), "7");
  EXPECT_EQ(Read(5), Dim(5));
}

TEST(DimValueTest, Unknown) {
  const AttrValue any = Dim::Any();
  ASSERT_NE(any.As<Dim>(), nullptr);
  EXPECT_TRUE(any.As<Dim>()->is_any());
  EXPECT_EQ(any.ToString(), "\"?\"");
  EXPECT_EQ(any, AttrValue(Dim::Any()));
  EXPECT_EQ(Read(any), Dim::Any());
  EXPECT_EQ(Read("?"), Dim::Any());
}

TEST(DimValueTest, SymbolicOnesAreEqualByIdentity) {
  const Dim n(
      new DimExprNode(DimExprNode::Op::kVar, "n", DType::Int(64), {}, {}));
  const Dim m(
      new DimExprNode(DimExprNode::Op::kVar, "n", DType::Int(64), {}, {}));
  const AttrValue value = n;
  EXPECT_EQ(*value.As<Dim>(), n);
  EXPECT_EQ(Read(value), n);
  EXPECT_EQ(value, AttrValue(n));
  EXPECT_NE(value, AttrValue(m));
  EXPECT_NE(value, AttrValue(Dim::Any()));
  EXPECT_EQ(value.Hash(), AttrValue(m).Hash());
  EXPECT_EQ(value.ToString(), "\"n\"");
}

TEST(DimValueTest, Refusals) {
  Dim dim;
  // None is no dimension, not one that is unknown.
  EXPECT_EQ(AttrTraits<Dim>::FromValue({}, &dim).message(),
            "expected a dimension, found none");
  Dims dims;
  EXPECT_EQ(AttrTraits<Dims>::FromValue({}, &dims).message(),
            "expected a dimension, found none");
  EXPECT_EQ(AttrTraits<Dims>::FromValue(AttrList{1, {}}, &dims).message(),
            "expected a dimension, found none");
  EXPECT_EQ(AttrTraits<Dim>::FromValue(INT64_MAX, &dim).message(),
            "the dimension 9223372036854775807 is out of range");
  EXPECT_EQ(AttrTraits<Dim>::FromValue("x", &dim).message(),
            "expected a dimension, found x");
  EXPECT_EQ(AttrTraits<Dims>::Name(), "[dim]");
}

}  // namespace
}  // namespace baton
