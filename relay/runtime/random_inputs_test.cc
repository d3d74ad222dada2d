#include "baton/relay/runtime/random_inputs.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/runtime/value.h"
#include "baton/testing/status_matchers.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using testing::StatusIs;

Function FunctionOf(const std::vector<Type>& types) {
  std::vector<Var> params;
  for (const Type& type : types) params.push_back(Var("x", type));
  return Function(params, Tuple(std::vector<Expr>()));
}

struct Extremes {
  double least;
  double most;
};

Extremes ExtremesOf(const Tensor& tensor) {
  Extremes result = {INFINITY, -INFINITY};
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    result.least = std::fmin(result.least, tensor.AtAsDouble(i));
    result.most = std::fmax(result.most, tensor.AtAsDouble(i));
  }
  return result;
}

TEST(RandomTensorTest, Ranges) {
  BATON_ASSERT_OK_AND_ASSIGN(const Tensor floats,
                             RandomTensor(DType::Float(32), {1000}, 0));
  EXPECT_GE(ExtremesOf(floats).least, -1);
  EXPECT_LT(ExtremesOf(floats).least, -0.98);
  EXPECT_LT(ExtremesOf(floats).most, 1);
  EXPECT_GT(ExtremesOf(floats).most, 0.98);
  BATON_ASSERT_OK_AND_ASSIGN(const Tensor ints,
                             RandomTensor(DType::Int(8), {1000}, 0));
  EXPECT_EQ(ExtremesOf(ints).least, -8);
  EXPECT_EQ(ExtremesOf(ints).most, 7);
  BATON_ASSERT_OK_AND_ASSIGN(const Tensor uints,
                             RandomTensor(DType::UInt(8), {1000}, 0));
  EXPECT_EQ(ExtremesOf(uints).least, 0);
  EXPECT_EQ(ExtremesOf(uints).most, 15);
}

TEST(RandomTensorTest, TheSameForTheSameSeed) {
  BATON_ASSERT_OK_AND_ASSIGN(const Tensor a,
                             RandomTensor(DType::Float(32), {2, 3}, 7));
  BATON_ASSERT_OK_AND_ASSIGN(const Tensor b,
                             RandomTensor(DType::Float(32), {2, 3}, 7));
  BATON_ASSERT_OK_AND_ASSIGN(const Tensor c,
                             RandomTensor(DType::Float(32), {2, 3}, 8));
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
  // On every machine: NumPy's RandomState(7).uniform(-1, 1) begins so.
  EXPECT_FLOAT_EQ(a.span<float>()[0], -0.84738342f);
  EXPECT_FLOAT_EQ(a.span<float>()[1], 0.55983758f);
}

TEST(RandomInputsTest, TuplesNest) {
  const Type tensor = TensorType({2}, DType::Float(32));
  BATON_ASSERT_OK_AND_ASSIGN(
      const std::vector<Value> values,
      RandomInputs(
          FunctionOf(
              {tensor, TupleType({TupleType(std::vector<Type>()),
                                  TupleType({tensor, TupleType({tensor})})})}),
          0));
  ASSERT_EQ(values.size(), 2u);
  EXPECT_TRUE(values[0].is_tensor());
  ASSERT_EQ(values[1].fields().size(), 2u);
  EXPECT_EQ(values[1].fields()[0].fields().size(), 0u);
  ASSERT_EQ(values[1].fields()[1].fields().size(), 2u);
  EXPECT_TRUE(values[1].fields()[1].fields()[0].is_tensor());
  EXPECT_TRUE(values[1].fields()[1].fields()[1].fields()[0].is_tensor());
}

TEST(RandomInputsTest, MildRange) {
  BATON_ASSERT_OK_AND_ASSIGN(
      const std::vector<Value> values,
      RandomInputs(FunctionOf({TensorType({1000}, DType::Float(32)),
                               TensorType({10, 3, 100}, DType::Float(32)),
                               TensorType({1000, 1}, DType::Float(32))}),
                   0, RandomRange::kMild));
  EXPECT_GE(ExtremesOf(values[0].tensor()).least, 0.5);
  EXPECT_LT(ExtremesOf(values[0].tensor()).most, 1.5);
  EXPECT_NEAR(ExtremesOf(values[1].tensor()).least, -0.1, 1e-3);
  EXPECT_NEAR(ExtremesOf(values[1].tensor()).most, 0.1, 1e-3);
  EXPECT_NEAR(ExtremesOf(values[2].tensor()).least, -1, 1e-2);
}

TEST(RandomInputsTest, TypesWithoutValues) {
  EXPECT_THAT(
      RandomInputs(FunctionOf({TensorType({Dim::Any()}, DType::Float(32))}), 0),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "parameter %x: no random value can be made for the type "
               "Tensor[(?), float32]; --input_shapes gives the shape of an "
               "input"));
  EXPECT_THAT(RandomInputs(FunctionOf({Type()}), 0),
              StatusIs(absl::StatusCode::kInvalidArgument, "(unknown)"));
}

}  // namespace
}  // namespace baton::relay
