#include "baton/runtime/kernels/blocked/int_matmul.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "baton/runtime/kernels/blocked/int8_isa.h"
#include "baton/runtime/kernels/blocked/int8_isa_test_util.h"
#include "gtest/gtest.h"

namespace baton::kernels::blocked {
namespace {

using IntMatmulTest = Int8IsaTest;

TEST_P(IntMatmulTest, GivesTheSums) {
  const Int8Isa isa = GetParam();
  using Type = IntMatmulParams::Type;
  for (int round = 0; round < 120; ++round) {
    IntMatmulParams p;
    p.m = Draw(0, 3) == 0 ? 1 : Draw(1, 130);
    p.n = Draw(1, 70);
    // Some with bands of few rows.
    p.k = Draw(0, 9) == 0 ? Draw(1500, 6000) : Draw(1, 200);
    p.type = static_cast<Type>(Draw(0, 2));
    p.has_byte_weights = Draw(0, 1) == 1;
    const bool is_wide = p.type == Type::kInt32 && Draw(0, 3) == 0;
    // Data that differ less than they are large.
    const bool is_close = p.type == Type::kUint8 && Draw(0, 1) == 0;
    std::vector<int32_t> x(static_cast<size_t>(p.m * p.k));
    for (int32_t& v : x) {
      const auto bits = static_cast<uint32_t>(Random());
      const bool is_extreme = Random() % 4 == 0;
      if (p.type == Type::kUint8) {
        v = is_extreme ? 255 : static_cast<uint8_t>(bits);
        if (is_close) v = 90 + v / 3;
      } else if (p.type == Type::kInt8) {
        v = is_extreme ? -128 : static_cast<int8_t>(bits);
      } else if (p.has_byte_weights) {
        v = (is_extreme ? 255 : static_cast<uint8_t>(bits)) - 100000;
      } else {
        v = is_extreme ? -32768 : static_cast<int16_t>(bits);
      }
    }
    if (is_wide) {
      for (int i = 0; i < 3; ++i) {
        x[Random() % x.size()] = static_cast<int32_t>(Random());
      }
    }
    std::vector<uint8_t> data;
    for (const int32_t v : x) {
      uint8_t bytes[4];
      std::memcpy(bytes, &v, sizeof(v));
      data.insert(data.end(), bytes, bytes + (p.type == Type::kInt32 ? 4 : 1));
    }
    // Bytes may be unsigned if they fit into int8.
    const bool is_unsigned = p.has_byte_weights && Draw(0, 2) == 0;
    // Most products with small weights fit into 16 bits in pairs, at worst just
    // so, or four of them do.
    const bool is_small = p.has_byte_weights && Draw(0, 1) == 0;
    const int32_t divisor = Draw(0, 1) == 0 ? 2 : 4;
    std::vector<int32_t> weights(static_cast<size_t>(p.k * p.n));
    for (int32_t& w : weights) {
      w = static_cast<int16_t>(Random() % 4 == 0 ? 0x8000u : Random());
      if (p.has_byte_weights) w = w >> 8;
      if (is_small && Draw(0, 400) > 0) w /= divisor;
      if (is_unsigned) w &= 127;
    }
    const bool transposed = Draw(0, 1) == 1;
    std::vector<int32_t> want;
    for (int64_t i = 0; i < p.m; ++i) {
      for (int64_t j = 0; j < p.n; ++j) {
        uint32_t sum = 0;
        for (int64_t k = 0; k < p.k; ++k) {
          const int32_t w = weights[static_cast<size_t>(
              transposed ? j * p.k + k : k * p.n + j)];
          sum += static_cast<uint32_t>(x[static_cast<size_t>(i * p.k + k)]) *
                 static_cast<uint32_t>(w);
        }
        want.push_back(static_cast<int32_t>(sum));
      }
    }
    const bool packs_bytes = p.has_byte_weights && Draw(0, 1) == 0;
    const auto packed_over = [&](int32_t before) {
      std::vector<int32_t> packed(
          static_cast<size_t>(PackedIntMatmulSize(p) / 4), before);
      if (is_unsigned) {
        const std::vector<uint8_t> bytes(weights.begin(), weights.end());
        PackIntMatmul(p, bytes.data(), transposed, packed.data());
      } else if (packs_bytes) {
        const std::vector<int8_t> bytes(weights.begin(), weights.end());
        PackIntMatmul(p, bytes.data(), transposed, packed.data());
      } else {
        PackIntMatmul(p, weights.data(), transposed, packed.data());
      }
      return packed;
    };
    const std::vector<int32_t> packed = packed_over(-1);
    ASSERT_EQ(packed, packed_over(0)) << "not all is written";
    std::vector<int32_t> workspace(IntMatmulWorkspaceSize(p) / 4);
    std::vector<int32_t> got(want.size(), -1);
    // In two parts, of which the second one often resumes the first one.
    const int64_t items = IntMatmulItems(p);
    const int64_t middle = Draw(0, items);
    const bool resumes = Draw(0, 3) > 0;
    for (const auto& [begin, end] :
         {std::pair<int64_t, int64_t>{middle, items}, {0, middle}}) {
      IntMatmul(p, isa, data.data(), packed.data(), got.data(),
                workspace.data(), resumes && end == middle && end < items,
                begin, end);
    }
    ASSERT_EQ(got, want) << "round " << round;
    // As floats.
    std::vector<float> scale(static_cast<size_t>(Draw(0, 1) == 0 ? 1 : p.n));
    for (float& v : scale) {
      v = Draw(0, 9) == 0 ? -0.0f : static_cast<float>(Draw(-999, 999)) / 77777;
    }
    std::vector<float> bias(static_cast<size_t>(p.n));
    for (float& v : bias) v = static_cast<float>(Draw(-999, 999)) / 7;
    std::vector<int32_t> offset(static_cast<size_t>(p.n));
    for (int32_t& v : offset) v = static_cast<int32_t>(Random());
    const bool has_bias = Draw(0, 1) == 0;
    const bool has_offset = Draw(0, 1) == 0;
    // Rows of integers that do not fit take another way, which has no zero.
    const auto zero = static_cast<int32_t>(Random() % 256);
    const bool has_zero = p.type == Type::kUint8 && Draw(0, 1) == 0;
    const IntMatmulScales scales = {
        has_zero ? &zero : nullptr, has_offset ? offset.data() : nullptr,
        scale.data(), scale.size() > 1, has_bias ? bias.data() : nullptr};
    std::vector<float> floats(want.size(), -1);
    IntMatmulToFloats(p, isa, data.data(), packed.data(), scales, floats.data(),
                      workspace.data(), false, 0, middle);
    IntMatmulToFloats(p, isa, data.data(), packed.data(), scales, floats.data(),
                      workspace.data(), middle > 0, middle, items);
    std::vector<uint32_t> column_sums(bias.size());
    for (size_t i = 0; i < weights.size(); ++i) {
      column_sums[transposed ? i / static_cast<size_t>(p.k)
                             : i % static_cast<size_t>(p.n)] +=
          static_cast<uint32_t>(weights[i]);
    }
    for (size_t i = 0; i < want.size(); ++i) {
      const size_t column = i % bias.size();
      const uint32_t sum =
          static_cast<uint32_t>(want[i]) -
          (has_zero ? static_cast<uint32_t>(zero) * column_sums[column] : 0) +
          (has_offset ? static_cast<uint32_t>(offset[column]) : 0);
      // Volatile: the sum is not one step with the product.
      const volatile float product =
          static_cast<float>(static_cast<int32_t>(sum)) *
          scale[scale.size() == 1 ? 0 : column];
      const float v = has_bias ? product + bias[column] : product;
      ASSERT_EQ(std::bit_cast<uint32_t>(floats[i]), std::bit_cast<uint32_t>(v))
          << "round " << round;
    }
  }
}

// Sums of two and of four products of bytes that are about as large as 16 bits
// can be.
TEST_P(IntMatmulTest, AddsProductsThatJustFit) {
  for (const int64_t m : {1, 30}) {
    const IntMatmulParams p = {.m = m,
                               .n = 40,
                               .k = 20,
                               .type = IntMatmulParams::Type::kUint8,
                               .has_byte_weights = true};
    std::vector<int32_t> workspace(IntMatmulWorkspaceSize(p) / 4);
    std::vector<int32_t> packed(
        static_cast<size_t>(PackedIntMatmulSize(p) / 4));
    std::vector<int32_t> got(static_cast<size_t>(p.m * p.n));
    for (int x = 120; x <= 135; ++x) {
      for (const int w : {59, 60, 61, 63, 64, 65, 67, 68, 120, 126, 127, 128}) {
        for (const int sign : {1, -1}) {
          if (sign * w > 127) continue;
          // The least elements of all rows but the last one are 0.
          std::vector<uint8_t> data(static_cast<size_t>(p.m * p.k),
                                    static_cast<uint8_t>(x));
          for (size_t i = 0; i + static_cast<size_t>(p.k) < data.size();
               i += static_cast<size_t>(p.k)) {
            data[i + static_cast<size_t>(x % 20)] = 0;
          }
          const std::vector<int8_t> weights(static_cast<size_t>(p.k * p.n),
                                            static_cast<int8_t>(sign * w));
          PackIntMatmul(p, weights.data(), /*transposed=*/false, packed.data());
          IntMatmul(p, GetParam(), data.data(), packed.data(), got.data(),
                    workspace.data(), /*resumes=*/false, 0, IntMatmulItems(p));
          for (int64_t i = 0; i < p.m * p.n; ++i) {
            const int terms = i / p.n + 1 < p.m ? 19 : 20;
            ASSERT_EQ(got[static_cast<size_t>(i)], terms * x * sign * w)
                << x << " " << sign * w << " " << i;
          }
        }
      }
    }
  }
}

// Products that fill no matrix tile need no permission to have such.
TEST(BestIntMatmulIsa, IsAmxForWholeMatrixTiles) {
  const IntMatmulParams bytes = {.m = 128,
                                 .n = 384,
                                 .k = 384,
                                 .type = IntMatmulParams::Type::kUint8,
                                 .has_byte_weights = true};
  const bool has_amx = IsSupported(Int8Isa::kAmx);
  EXPECT_EQ(BestIntMatmulIsa(bytes) == Int8Isa::kAmx, has_amx);
  IntMatmulParams p = bytes;
  p.has_byte_weights = false;
  EXPECT_EQ(BestIntMatmulIsa(p), BestInt8Isa());
  p = bytes;
  p.m = 1;
  EXPECT_EQ(BestIntMatmulIsa(p), BestInt8Isa());
  p = bytes;
  p.k = 60;
  EXPECT_EQ(BestIntMatmulIsa(p), BestInt8Isa());
}

INSTANTIATE_TEST_SUITE_P(Isas, IntMatmulTest, Int8Isas());

}  // namespace
}  // namespace baton::kernels::blocked
