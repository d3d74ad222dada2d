#include "baton/tools/compare.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "baton/base/tensor.h"
#include "baton/instrument/tensor_error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

Tensor Floats(const std::vector<float>& values) {
  return *Tensor::FromValues<float>({1, static_cast<int64_t>(values.size())},
                                    values);
}

TEST(CompareTest, TheWorstElementIsNamed) {
  const Tensor got = Floats({1, 2.5f, 100.05f});
  const Tensor want = Floats({1, 2, 100});
  const Difference difference = Compare(got, want, {});
  EXPECT_FALSE(difference.is_within);
  EXPECT_EQ(difference.num_outside, 1);
  EXPECT_EQ(difference.worst, 1);
  EXPECT_EQ(Describe("y", difference, got, want),
            "y: 1 of 3 elements differ; the worst is [0, 1]: 2.5, not 2;"
            " largest errors: absolute 0.5, relative 0.25, 2.09715e+06 ULP");
}

TEST(CompareTest, UlpsAreCounted) {
  const float next = std::nextafter(1.0f, 2.0f);
  const Difference difference = Compare(Floats({next}), Floats({1}), {});
  EXPECT_TRUE(difference.is_within);
  EXPECT_EQ(difference.error.ulp, 1);
  EXPECT_EQ(Compare(Floats({-0.0f}), Floats({0}), {}).error.ulp, 0);
}

TEST(CompareTest, WhatIsNotFiniteMustBeTheSame) {
  EXPECT_TRUE(
      Compare(Floats({kNan, kInf}), Floats({kNan, kInf}), {}).is_within);
  EXPECT_FALSE(Compare(Floats({kNan}), Floats({1}), {}).is_within);
  EXPECT_FALSE(Compare(Floats({1}), Floats({kInf}), {}).is_within);
  EXPECT_FALSE(Compare(Floats({kInf}), Floats({-kInf}), {}).is_within);
}

TEST(CompareTest, LargeIntegersAreComparedExactly) {
  const int64_t large = int64_t{1} << 53;
  const Tensor want = Tensor::Scalar<int64_t>(large);
  const Difference difference =
      Compare(Tensor::Scalar<int64_t>(large + 1), want, {});
  EXPECT_FALSE(difference.is_within);
  EXPECT_EQ(difference.error.absolute, 1);
  EXPECT_EQ(ErrorOf(want, Tensor::Scalar<int64_t>(large + 1)).absolute, 1);
}

TEST(CompareTest, TypesMustBeTheSame) {
  const Tensor got = Floats({1});
  const Tensor want = Tensor::Scalar<int32_t>(1);
  const Difference difference = Compare(got, want, {});
  EXPECT_TRUE(difference.has_other_type);
  EXPECT_FALSE(difference.is_within);
  EXPECT_EQ(Describe("y", difference, got, want),
            "y: is float32[1, 1], not int32[]");
}

}  // namespace
}  // namespace baton
