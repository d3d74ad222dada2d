#include "baton/runtime/kernels/bitserial.h"

#include <cstdint>
#include <vector>

#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/internal/testing.h"
#include "gtest/gtest.h"

namespace baton::kernels {
namespace {

using ::baton::kernels::internal::Fails;
using ::baton::kernels::internal::Flat;
using ::baton::kernels::internal::ForEachIndex;
using ::baton::kernels::internal::Iota;
using ::baton::kernels::internal::Make;
using ::baton::kernels::internal::Matches;
using ::baton::kernels::internal::Random;
using ::baton::kernels::internal::Unwrap;

constexpr DType kInt32 = DType::Int(32);
constexpr DType kUInt8 = DType::UInt(8);
constexpr DType kUInt16 = DType::UInt(16);

TEST(BitPackTest, TheFirstElementIsTheHighestBit) {
  const Tensor x = Make(kInt32, {1, 8}, {1, 0, 0, 0, 0, 2, 3, 4});
  EXPECT_TRUE(Matches(BitPack(x, {.bits = 2, .dtype = kUInt8}), kUInt8,
                      {1, 2, 1}, {0b10000010, 0b00000110}));
  EXPECT_TRUE(Matches(BitPack(x, {.bits = 3, .bit_axis = 0, .dtype = kUInt8}),
                      kUInt8, {3, 1, 1}, {0b10000010, 0b00000110, 1}));
  EXPECT_TRUE(Matches(BitPack(x, {.bits = 2, .bit_axis = 2, .dtype = kUInt8}),
                      kUInt8, {1, 1, 2}, {0b10000010, 0b00000110}));
  // Along the first axis, in words of 16 bits.
  std::vector<double> columns(32);
  columns[0] = 1;   // row 0, column 0
  columns[31] = 3;  // row 15, column 1
  EXPECT_TRUE(Matches(
      BitPack(Make(kUInt8, {16, 2}, columns),
              {.bits = 2, .pack_axis = 0, .bit_axis = 2, .dtype = kUInt16}),
      kUInt16, {1, 2, 2}, {0x8000, 0, 1, 1}));
}

TEST(BitPackTest, Errors) {
  const Tensor x = Iota(kInt32, {2, 8});
  const auto fails = [&](BitPackParams params, const char* text) {
    return Fails(BitPack(x, params).status(), "bitpack", text);
  };
  EXPECT_TRUE(fails({.bits = 9, .dtype = kUInt8}, "9 bits"));
  EXPECT_TRUE(fails({.bits = 0, .dtype = kUInt8}, "0 bits"));
  EXPECT_TRUE(fails({.bit_axis = -1, .dtype = kUInt8}, "bit_axis=-1"));
  EXPECT_TRUE(fails({.pack_axis = 2, .dtype = kUInt8}, "pack_axis=2"));
  EXPECT_TRUE(fails({.dtype = kUInt16}, "do not fill words of 16"));
  EXPECT_TRUE(fails({.dtype = kInt32}, "int32"));
  EXPECT_TRUE(Fails(
      BitPack(Random(DType::Float(32), {2, 8}), {.dtype = kUInt8}).status(),
      "bitpack", "float32"));
  // No element, but very many rows.
  EXPECT_TRUE(Matches(
      BitPack(Make(kInt32, {int64_t{1} << 40, 0}, {}), {.dtype = kUInt8}),
      kUInt8, {int64_t{1} << 40, 1, 0}, {}));
}

// Returns the value that the low bits of a weight stand for.
double WeightValue(double weight, int64_t bits, bool is_signed) {
  const int64_t ones = (int64_t{1} << bits) - 1;
  const int64_t low = static_cast<int64_t>(weight) & ones;
  return static_cast<double>(is_signed ? 2 * low - ones : low);
}

TEST(BitserialDenseTest, IsTheProductOfTheLowBits) {
  const Tensor data = Random(kUInt8, {3, 16});
  const Tensor weight = Random(kUInt8, {2, 16}, 2);
  for (const bool is_signed : {false, true}) {
    const BitserialParams params = {3, 2, kUInt8, kInt32, is_signed};
    std::vector<double> expected;
    for (int64_t i = 0; i < 3; ++i) {
      for (int64_t j = 0; j < 2; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < 16; ++k) {
          sum += static_cast<double>(data.AtAsInt64(i * 16 + k) & 7) *
                 WeightValue(weight.AtAsDouble(j * 16 + k), 2, is_signed);
        }
        expected.push_back(sum);
      }
    }
    EXPECT_TRUE(Matches(BitserialDense(data, weight, params), kInt32, {3, 2},
                        expected));
    const Tensor packed = Unwrap(BitPack(weight, {.bits = 2, .dtype = kUInt8}));
    EXPECT_TRUE(Matches(BitserialDense(data, packed, params), kInt32, {3, 2},
                        expected));
  }
  EXPECT_TRUE(
      Fails(BitserialDense(data, Iota(kUInt8, {2, 8}), {1, 1, kUInt8, kInt32})
                .status(),
            "bitserial_dense", "differ in width"));
  EXPECT_TRUE(Fails(
      BitserialDense(data, Iota(kUInt16, {2, 1, 2}), {1, 1, kUInt8, kInt32})
          .status(),
      "bitserial_dense", "words of uint8"));
}

TEST(BitserialConv2dTest, IsAConvolutionOfTheLowBits) {
  const Tensor data = Random(kUInt8, {2, 8, 4, 3});
  const Tensor weight = Random(kUInt8, {2, 8, 2, 3}, 2);
  for (const bool is_signed : {false, true}) {
    BitserialConvParams params;
    params.data_bits = 2;
    params.weight_bits = 3;
    params.pack_dtype = kUInt8;
    params.out_dtype = DType::Int(16);
    params.signed_weights = is_signed;
    params.strides = {2, 1};
    params.padding = {1, 1, 0, 0};
    const std::vector<int64_t> shape = {2, 2, 2, 2};
    std::vector<double> expected;
    ForEachIndex(shape, [&](const std::vector<int64_t>& at) {
      double sum = 0;
      ForEachIndex({8, 2, 3}, [&](const std::vector<int64_t>& tap) {
        const int64_t y = at[2] * 2 - 1 + tap[1];
        const int64_t x = at[3] - 1 + tap[2];
        if (y < 0 || y >= 4 || x < 0 || x >= 3) return;
        sum +=
            static_cast<double>(
                data.AtAsInt64(Flat(data.shape(), {at[0], tap[0], y, x})) & 3) *
            WeightValue(weight.AtAsDouble(Flat(
                            weight.shape(), {at[1], tap[0], tap[1], tap[2]})),
                        3, is_signed);
      });
      expected.push_back(sum);
    });
    EXPECT_TRUE(Matches(BitserialConv2d(data, weight, params), DType::Int(16),
                        shape, expected));
    const Tensor packed =
        Unwrap(BitPack(weight, {.bits = 3, .bit_axis = 4, .dtype = kUInt8}));
    EXPECT_TRUE(Matches(BitserialConv2d(data, packed, params), DType::Int(16),
                        shape, expected));
  }
  BitserialConvParams params;
  params.pack_dtype = kUInt8;
  params.out_dtype = kInt32;
  params.strides[0] = 0;
  EXPECT_TRUE(Fails(BitserialConv2d(data, weight, params).status(),
                    "bitserial_conv2d", "stride 0"));
}

}  // namespace
}  // namespace baton::kernels
