#include "baton/relay/ir/type_sizes.h"

#include <cstdint>
#include <vector>

#include "baton/base/dtype.h"
#include "baton/ir/type.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

TEST(TypeSizesTest, CountsTrees) {
  const Type scalar = TensorType::Scalar(DType::Float(32));
  TypeSizes sizes;
  EXPECT_EQ(sizes.Of(Type()), 0);
  EXPECT_EQ(sizes.Of(scalar), 1);
  const Type pair = TupleType({scalar, scalar});
  EXPECT_EQ(sizes.Of(pair), 3);
  EXPECT_EQ(sizes.Of(RefType(pair)), 4);
  EXPECT_EQ(sizes.Of(FuncType({pair, scalar}, pair, {})), 8);
  EXPECT_EQ(sizes.Of(TupleType(std::vector<Type>())), 1);
}

TEST(TypeSizesTest, SharedPartsCountEachTime) {
  Type tower = TensorType::Scalar(DType::Float(32));
  TypeSizes sizes;
  for (int i = 1; i < 200; ++i) {
    tower = TupleType({tower, tower});
    const int64_t size = sizes.Of(tower);
    EXPECT_EQ(size, i < 40 ? (int64_t{2} << i) - 1 : TypeSizes::kMost) << i;
  }
  // The parts of this type were never asked for.
  EXPECT_EQ(TypeSizes().Of(tower), TypeSizes::kMost);
}

}  // namespace
}  // namespace baton::relay
