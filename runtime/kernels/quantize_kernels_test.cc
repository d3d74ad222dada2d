#include "baton/runtime/kernels/quantize_kernels.h"

#include <cmath>
#include <vector>

#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/internal/testing.h"
#include "gtest/gtest.h"

namespace baton::kernels {
namespace {

using ::baton::kernels::internal::Fails;
using ::baton::kernels::internal::Make;
using ::baton::kernels::internal::MakeFloat;
using ::baton::kernels::internal::Matches;

constexpr DType kInt8 = DType::Int(8);
constexpr DType kInt32 = DType::Int(32);

Quantization Scalar(double scale, double zero_point) {
  return {Tensor::ScalarOf(DType::Float(32), scale),
          Tensor::ScalarOf(kInt32, zero_point)};
}

TEST(QuantizeTest, RoundsAndLimits) {
  EXPECT_TRUE(
      Matches(Quantize(MakeFloat({6}, {0, 0.25, 0.75, -0.25, 100, -100}),
                       Scalar(0.5, 1), kInt8),
              kInt8, {6}, {1, 1, 3, 1, 127, -128}));
  EXPECT_TRUE(
      Matches(Quantize(MakeFloat({2}, {-3, 300}), Scalar(1, 0), DType::UInt(8)),
              DType::UInt(8), {2}, {0, 255}));
  EXPECT_TRUE(
      Fails(Quantize(Make(kInt8, {1}, {1}), Scalar(1, 0), kInt8).status(),
            "quantize"));
}

TEST(QuantizeTest, ByChannel) {
  Quantization q;
  q.scale = MakeFloat({2}, {1, 2});
  q.zero_point = Make(kInt32, {2}, {0, 10});
  q.axis = 0;
  const Tensor x = MakeFloat({2, 2}, {4, 6, 4, 6});
  EXPECT_TRUE(Matches(Quantize(x, q, kInt8), kInt8, {2, 2}, {4, 6, 12, 13}));
  EXPECT_TRUE(Matches(
      Dequantize(Make(kInt8, {2, 2}, {4, 6, 12, 13}), q, DType::Float(32)),
      DType::Float(32), {2, 2}, {4, 6, 4, 6}));
  q.axis = 5;
  EXPECT_TRUE(Fails(Quantize(x, q, kInt8).status(), "quantize"));
  q.axis = 0;
  EXPECT_TRUE(Fails(Quantize(MakeFloat({3}, {1, 2, 3}), q, kInt8).status(),
                    "quantize", "3 channels"));
}

TEST(QuantizeTest, DequantizesFromAnyZeroPoint) {
  for (const double zero :
       {-0x1p31, -0x1p30, -7.0, 0.0, 5.0, 0x1p30 - 1, 0x1p30, 0x1p31 - 1}) {
    for (const DType dtype : {kInt8, DType::UInt(8), DType::UInt(16), kInt32}) {
      std::vector<double> values, expected;
      for (int i = 0; i < 40; ++i) {
        values.push_back(i * 3);
        expected.push_back((i * 3 - zero) * 0.5);
      }
      EXPECT_TRUE(Matches(Dequantize(Make(dtype, {40}, values),
                                     Scalar(0.5, zero), DType::Float(32)),
                          DType::Float(32), {40}, expected, 1e-7, 0));
    }
  }
}

TEST(RequantizeTest, ScalesInFixedPoint) {
  const Tensor x = Make(kInt8, {4}, {1, 2, 3, -3});
  RequantizeParams params;
  params.dtype = kInt8;
  EXPECT_TRUE(Matches(Requantize(x, Scalar(2, 1), Scalar(1, 1), params), kInt8,
                      {4}, {1, 3, 5, -7}));
  // Ties go up, or away from zero.
  EXPECT_TRUE(Matches(Requantize(x, Scalar(0.5, 0), Scalar(1, 0), params),
                      kInt8, {4}, {1, 1, 2, -1}));
  params.rounding = RequantizeParams::Rounding::kToNearest;
  EXPECT_TRUE(Matches(Requantize(x, Scalar(0.5, 0), Scalar(1, 0), params),
                      kInt8, {4}, {1, 1, 2, -2}));
  params.float_bits = 32;
  EXPECT_TRUE(Matches(Requantize(x, Scalar(0.5, 0), Scalar(1, 0), params),
                      kInt8, {4}, {1, 1, 2, -2}));
  EXPECT_TRUE(Fails(Requantize(x, Scalar(1, 0), Scalar(0, 0), params).status(),
                    "requantize"));
}

TEST(QuantizeTest, SaturatesAtTheEndsOf32Bits) {
  const double nan = std::nan("");
  const double inf = HUGE_VAL;
  const Tensor x = MakeFloat({6}, {3e9, -3e9, inf, -inf, nan, 1});
  constexpr double kMax = 2147483647;
  EXPECT_TRUE(Matches(Quantize(x, Scalar(1, 0), kInt32), kInt32, {6},
                      {kMax, -kMax - 1, kMax, -kMax - 1, 0, 1}));
  EXPECT_TRUE(Matches(Quantize(x, Scalar(1, 3), kInt8), kInt8, {6},
                      {127, -128, 127, -128, 0, 4}));
  EXPECT_TRUE(Matches(Quantize(x, Scalar(1, 0), DType::UInt(32)),
                      DType::UInt(32), {6}, {3e9, 0, 4294967295, 0, 0, 1}));
}

TEST(RequantizeTest, SaturatesAtTheEndsOf32Bits) {
  constexpr double kMax = 2147483647;
  const Tensor x = Make(kInt32, {4}, {kMax, -kMax - 1, 1 << 30, -5});
  RequantizeParams params;
  params.dtype = kInt32;
  for (const int float_bits : {0, 64}) {
    params.float_bits = float_bits;
    EXPECT_TRUE(Matches(Requantize(x, Scalar(4, 1), Scalar(1, 7), params),
                        kInt32, {4}, {kMax, -kMax - 1, kMax, -17}));
    EXPECT_TRUE(Matches(Requantize(x, Scalar(1e6, 0), Scalar(1e-3, 0), params),
                        kInt32, {4}, {kMax, -kMax - 1, kMax, -kMax - 1}));
  }
}

TEST(ShiftSoftmaxTest, SharesOf128) {
  EXPECT_TRUE(Matches(
      ShiftSoftmax(Make(kInt32, {2, 4}, {8, 18, -32, -2, 3, 3, 3, 3}), 0.1, 1),
      kInt32, {2, 4}, {32, 82, 0, 12, 31, 31, 31, 31}));
  EXPECT_TRUE(Matches(ShiftSoftmax(Make(kInt32, {2, 2}, {0, 5, 0, 5}), 0.1, 0),
                      kInt32, {2, 2}, {63, 63, 63, 63}));
  EXPECT_TRUE(Fails(ShiftSoftmax(Make(kInt32, {1}, {0}), 1.5, 0).status(),
                    "softmax", "the scale 1.5"));
  EXPECT_TRUE(Fails(ShiftSoftmax(Make(kInt32, {1}, {0}), 0.5, 1).status(),
                    "softmax", "axis"));
}

TEST(SimulatedQuantizeTest, StaysInFloatingPoint) {
  const Tensor x = MakeFloat({2, 2}, {0.25, 1000, -0.25, -1000});
  EXPECT_TRUE(Matches(SimulatedQuantize(x, Scalar(0.5, 1), kInt8),
                      DType::Float(32), {2, 2}, {1, 127, 1, -128}));
  Quantization by_channel = {MakeFloat({2}, {0.5, 10}),
                             Make(kInt32, {2}, {1, 2}), 1};
  EXPECT_TRUE(Matches(SimulatedQuantize(x, by_channel, DType::UInt(8)),
                      DType::Float(32), {2, 2}, {1, 102, 1, 0}));
  EXPECT_TRUE(Matches(SimulatedDequantize(x, by_channel), DType::Float(32),
                      {2, 2}, {-0.375, 9980, -0.625, -10020}));
  by_channel.axis = 2;
  EXPECT_TRUE(Fails(SimulatedDequantize(x, by_channel).status(),
                    "simulated_dequantize", "axis"));
}

}  // namespace
}  // namespace baton::kernels
