#include "baton/relay/analysis/shape_values.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/op/dim_math.h"
#include "baton/relay/op/tensor/create.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/op/tensor/indexing.h"
#include "baton/relay/op/tensor/reduce.h"
#include "baton/relay/op/tensor/shape.h"
#include "baton/testing/small_stack.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using testing::RunWithStack;
using testing::SmallStackBytesOfThisBuild;

Dim Variable(const char* name) {
  return Dim(new DimExprNode(DimExprNode::Op::kSizeVar, name, DType::Int(32),
                             Dim(), Dim()));
}

Expr Int(int64_t value) { return Const(Tensor::Scalar<int64_t>(value)); }

Expr Ints(const std::vector<int64_t>& values) {
  return Const(*Tensor::FromValues<int64_t>(
      {static_cast<int64_t>(values.size())}, absl::MakeConstSpan(values)));
}

class ShapeValuesTest : public ::testing::Test {
 protected:
  // The elements with commas between them.
  static std::string ElementsOf(const Expr& expr) {
    const absl::StatusOr<Expr> typed = InferTypeOf(expr);
    if (!typed.ok()) return std::string(typed.status().message());
    ShapeValues values;
    const Dims* elements = values.Find(*typed);
    if (elements == nullptr) return "nothing";
    return absl::StrJoin(*elements, ", ", [](std::string* out, const Dim& dim) {
      absl::StrAppend(out, dim.ToString());
    });
  }

  const Dim n_ = Variable("n");
  const Dim m_ = Variable("m");
  const Var x_{"x", TensorType({n_, 3, m_}, DType::Float(32))};
  const Var y_{"y", TensorType({n_, Dim::Any()}, DType::Float(32))};
  const Var i_{"i", TensorType({2}, DType::Int(64))};
  const Expr shape_ = ShapeOf(x_, DType::Int(64));
};

TEST_F(ShapeValuesTest, Shapes) {
  EXPECT_EQ(ElementsOf(shape_), "n, 3, m");
  EXPECT_EQ(ElementsOf(ShapeOf(y_, DType::Int(64))), "n, ?");
  EXPECT_EQ(ElementsOf(NdarraySize(x_, DType::Int(64))),
            (n_ * Dim(3) * m_).ToString());
  EXPECT_EQ(ElementsOf(Ints({4, -1})), "4, -1");
  EXPECT_EQ(ElementsOf(i_), "nothing");
}

TEST_F(ShapeValuesTest, Parts) {
  EXPECT_EQ(ElementsOf(Take(shape_, Int(2), {.axis = 0})), "m");
  EXPECT_EQ(ElementsOf(Take(shape_, Ints({1, 0}), {.axis = 0})), "3, n");
  EXPECT_EQ(ElementsOf(Take(shape_, i_, {.axis = 0})), "nothing");
  EXPECT_EQ(ElementsOf(StridedSlice(shape_, {1}, {9})), "3, m");
  EXPECT_EQ(ElementsOf(StridedSlice(shape_, {-1}, {3})), "m");
  EXPECT_EQ(ElementsOf(StridedSlice(shape_, {0}, {3},
                                    {.strides = std::vector<int64_t>{2}})),
            "n, m");
  EXPECT_EQ(ElementsOf(TupleGetItem(SplitAt(shape_, {1}), 1)), "3, m");
  EXPECT_EQ(ElementsOf(TupleGetItem(Split(shape_, 3), 2)), "m");
  EXPECT_EQ(
      ElementsOf(Concatenate({Ints({-1}), StridedSlice(shape_, {1}, {3})}, 0)),
      "-1, 3, m");
  EXPECT_EQ(ElementsOf(ExpandDims(Take(shape_, Int(0), {.axis = 0}), 0)), "n");
}

TEST_F(ShapeValuesTest, Arithmetic) {
  const Expr n = Take(shape_, Int(0), {.axis = 0});
  EXPECT_EQ(ElementsOf(Add(shape_, Int(1))), "(n + 1), 4, (m + 1)");
  EXPECT_EQ(ElementsOf(Subtract(Add(n, Int(2)), Int(2))), "n");
  EXPECT_EQ(ElementsOf(Multiply(n, Int(2))), "(n * 2)");
  EXPECT_EQ(ElementsOf(FloorDivide(Multiply(n, Int(6)), Int(3))), "(n * 2)");
  EXPECT_EQ(ElementsOf(Prod(shape_)), (n_ * Dim(3) * m_).ToString());
  EXPECT_EQ(ElementsOf(Sum(Ints({1, 2}))), "3");
  EXPECT_EQ(ElementsOf(Cast(n, DType::Int(32))), "n");
}

// The quotient of a negative number is rounded in two ways.
TEST_F(ShapeValuesTest, QuotientsOfWhatMayBeNegative) {
  const Expr n = Take(shape_, Int(0), {.axis = 0});
  EXPECT_EQ(ElementsOf(FloorDivide(Subtract(n, Int(1)), Int(2))), "?");
  EXPECT_EQ(ElementsOf(FloorDivide(Int(-7), Int(2))), "?");
  EXPECT_EQ(ElementsOf(FloorDivide(n, Int(2))), "(n // 2)");
}

TEST_F(ShapeValuesTest, Conditions) {
  const Expr minus = Ints({-1, -1, -1});
  EXPECT_EQ(ElementsOf(Equal(shape_, minus)), "0, 0, 0");
  EXPECT_EQ(ElementsOf(NotEqual(shape_, shape_)), "0, 0, 0");
  EXPECT_EQ(ElementsOf(Equal(shape_, Int(3))), "?, 1, ?");
  EXPECT_EQ(ElementsOf(Less(shape_, Int(0))), "0, 0, 0");
  EXPECT_EQ(ElementsOf(Where(Equal(shape_, Int(-1)), minus, shape_)),
            "n, 3, m");
  EXPECT_EQ(ElementsOf(Where(Equal(shape_, Int(3)), minus, shape_)),
            "?, -1, ?");
  EXPECT_EQ(ElementsOf(Maximum(shape_, shape_)), "n, 3, m");
  EXPECT_EQ(ElementsOf(Minimum(shape_, Int(2))), "?, 2, ?");
}

TEST_F(ShapeValuesTest, NumbersThatDoNotFitAreUnknown) {
  EXPECT_EQ(ElementsOf(Cast(Ints({300, 3}), DType::Int(8))), "?, 3");
  EXPECT_EQ(ElementsOf(Cast(shape_, DType::Int(16))), "?, 3, ?");
  EXPECT_EQ(ElementsOf(Cast(Ints({2, 1}), DType::Bool())), "?, 1");
  EXPECT_EQ(ElementsOf(Cast(shape_, DType::UInt(64))), "nothing");
  EXPECT_EQ(ElementsOf(Ints({INT64_MIN, INT64_MAX})), "?, ?");
}

TEST_F(ShapeValuesTest, LongVectorsAreUnknown) {
  EXPECT_EQ(ElementsOf(Zeros({64}, DType::Int(64))).substr(0, 4), "0, 0");
  EXPECT_EQ(ElementsOf(Zeros({65}, DType::Int(64))), "nothing");
}

// It does not descend by recursion.
TEST_F(ShapeValuesTest, LongChains) {
  RunWithStack(SmallStackBytesOfThisBuild(), [this] {
    Expr sum = Take(shape_, Int(0), {.axis = 0});
    const Expr one = Int(1);
    for (int i = 0; i < 100'000; ++i) sum = Add(std::move(sum), one);
    EXPECT_EQ(ElementsOf(sum), "(n + 100000)");
  });
}

}  // namespace
}  // namespace baton::relay
