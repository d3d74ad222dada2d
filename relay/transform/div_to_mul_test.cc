#include "baton/relay/transform/div_to_mul.h"

#include <limits>
#include <vector>

#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/transform/rewrite_test_util.h"
#include "baton/testing/status_matchers.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

Function DividedBy(const Expr& divisor, DType dtype) {
  const Var x = TensorVar("x", {2, 3}, dtype);
  return Function({x}, Divide(x, divisor));
}

Function MultipliedBy(const Expr& factor, DType dtype) {
  const Var x = TensorVar("x", {2, 3}, dtype);
  return Function({x}, Multiply(x, factor));
}

TEST(DivToMulTest, ScalarsOfEachFloatType) {
  for (const int bits : {16, 32, 64}) {
    const DType dtype = DType::Float(bits);
    ExpectRewrites(DivToMulInExpr, DividedBy(Const(8, dtype), dtype),
                   MultipliedBy(Const(0.125, dtype), dtype));
    ExpectRewrites(DivToMulInExpr, DividedBy(Const(3, dtype), dtype),
                   MultipliedBy(Const(1.0 / 3, dtype), dtype));
  }
}

TEST(DivToMulTest, EachElementOfATensor) {
  BATON_ASSERT_OK_AND_ASSIGN(
      const Tensor divisors,
      Tensor::FromValues<float>({3}, absl::Span<const float>({2, -4, 5})));
  BATON_ASSERT_OK_AND_ASSIGN(
      const Tensor factors,
      Tensor::FromValues<float>({3},
                                absl::Span<const float>({0.5, -0.25, 0.2f})));
  const DType dtype = DType::Float(32);
  ExpectRewrites(DivToMulInExpr, DividedBy(Const(divisors), dtype),
                 MultipliedBy(Const(factors), dtype));
}

TEST(DivToMulTest, NothingIsMultipliedByInfinity) {
  const DType dtype = DType::Float(32);
  for (const float divisor :
       {0.0f, -0.0f, 1e-39f, std::numeric_limits<float>::quiet_NaN()}) {
    ExpectUnchanged(DivToMulInExpr, DividedBy(Const(divisor), dtype));
  }
  BATON_ASSERT_OK_AND_ASSIGN(
      const Tensor divisors,
      Tensor::FromValues<float>({3}, absl::Span<const float>({2, 0, 1})));
  ExpectUnchanged(DivToMulInExpr, DividedBy(Const(divisors), dtype));
}

TEST(DivToMulTest, IntegersAndVariablesStay) {
  ExpectUnchanged(DivToMulInExpr, R"(
      def @main(%x: Tensor[(2), int32], %y: Tensor[(2), float32]) {
        (divide(%x, 2), divide(%y, %y), divide(2f, %y), floor_divide(%y, 2f))
      })");
}

}  // namespace
}  // namespace baton::relay
