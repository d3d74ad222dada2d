#include "baton/runtime/kernels/blocked/byte_slabs.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "baton/runtime/kernels/blocked/blocked_conv.h"
#include "baton/runtime/kernels/blocked/int8_conv.h"
#include "baton/runtime/kernels/blocked/int8_isa.h"
#include "baton/runtime/kernels/blocked/int8_isa_test_util.h"
#include "gtest/gtest.h"

namespace baton::kernels::blocked {
namespace {

using ByteSlabsTest = Int8IsaTest;

int64_t SlabsOf(int64_t channels) {
  return (channels + kByteSlab - 1) / kByteSlab;
}

// The place of an element in a map of slabs.
size_t InSlabs(const ByteMap& map, int64_t image, int64_t channel,
               int64_t position) {
  return static_cast<size_t>(
      ((image * SlabsOf(map.channels) + channel / kByteSlab) * map.plane +
       position) *
          kByteSlab +
      channel % kByteSlab);
}

TEST_P(ByteSlabsTest, MovesMapsToSlabsAndBack) {
  for (int round = 0; round < 40; ++round) {
    const ByteMap map = {Draw(1, 2), Draw(1, 70), Draw(1, 50)};
    const auto size = static_cast<size_t>(map.batch * map.channels * map.plane);
    std::vector<uint8_t> planar(size);
    for (uint8_t& v : planar) v = static_cast<uint8_t>(Random());
    std::vector<uint8_t> slabs(static_cast<size_t>(
        map.batch * SlabsOf(map.channels) * map.plane * kByteSlab));
    const int64_t items = SlabItems(map);
    const int64_t middle = Draw(0, items);
    ToSlabs(map, planar.data(), slabs.data(), middle, items);
    ToSlabs(map, planar.data(), slabs.data(), 0, middle);
    for (int64_t n = 0; n < map.batch; ++n) {
      for (int64_t c = 0; c < map.channels; ++c) {
        for (int64_t i = 0; i < map.plane; ++i) {
          ASSERT_EQ(slabs[InSlabs(map, n, c, i)],
                    planar[static_cast<size_t>(
                        (n * map.channels + c) * map.plane + i)]);
        }
      }
    }
    std::vector<uint8_t> back(size);
    FromSlabs(map, slabs.data(), back.data(), middle, items);
    FromSlabs(map, slabs.data(), back.data(), 0, middle);
    ASSERT_EQ(back, planar);
  }
}

TEST_P(ByteSlabsTest, JoinsChannels) {
  for (int round = 0; round < 60; ++round) {
    const int64_t plane = Draw(1, 20);
    std::vector<int64_t> channels;
    std::vector<std::vector<uint8_t>> parts;
    std::vector<uint8_t> want;
    ByteMap map = {1, 0, plane};
    for (int64_t p = Draw(1, 5); p > 0; --p) {
      channels.push_back(Draw(0, 1) == 0 ? Draw(1, 70) : 8 * Draw(1, 9));
      const ByteMap part = {1, channels.back(), plane};
      map.channels += channels.back();
      std::vector<uint8_t> planar(static_cast<size_t>(channels.back() * plane));
      for (uint8_t& v : planar) v = static_cast<uint8_t>(Random());
      want.insert(want.end(), planar.begin(), planar.end());
      parts.emplace_back(
          static_cast<size_t>(SlabItems(part) * plane * kByteSlab));
      ToSlabs(part, planar.data(), parts.back().data(), 0, SlabItems(part));
    }
    std::vector<const void*> addresses;
    for (const auto& part : parts) addresses.push_back(part.data());
    const SlabJoinParams params = {plane, map.channels,
                                   static_cast<int64_t>(channels.size()),
                                   channels.data()};
    const int64_t items = SlabItems(map);
    std::vector<uint8_t> slabs(static_cast<size_t>(items * plane * kByteSlab),
                               77);
    const int64_t middle = Draw(0, items);
    JoinSlabs(params, addresses.data(), slabs.data(), middle, items);
    JoinSlabs(params, addresses.data(), slabs.data(), 0, middle);
    std::vector<uint8_t> want_slabs(slabs.size());
    ToSlabs(map, want.data(), want_slabs.data(), 0, items);
    ASSERT_EQ(slabs, want_slabs) << "round " << round;
  }
}

TEST_P(ByteSlabsTest, GivesTheMaximaOfWindows) {
  for (int round = 0; round < 60; ++round) {
    SlabPoolParams p;
    p.slabs = Draw(1, 3);
    p.is_signed = Draw(0, 1) == 1;
    for (Axis* axis : {&p.h, &p.w}) {
      axis->kernel = Draw(1, 3);
      axis->stride = Draw(1, 2);
      axis->dilation = Draw(1, 2);
      axis->pad_before = Draw(0, axis->kernel - 1);
      const int64_t pad_after = Draw(0, axis->kernel - 1);
      const int64_t reach = (axis->kernel - 1) * axis->dilation + 1;
      axis->in = Draw(reach, 12);
      axis->out =
          (axis->in + axis->pad_before + pad_after - reach) / axis->stride + 1;
    }
    std::vector<uint8_t> x(
        static_cast<size_t>(p.slabs * p.h.in * p.w.in * kByteSlab));
    for (uint8_t& v : x) v = static_cast<uint8_t>(Random());
    std::vector<uint8_t> y(
        static_cast<size_t>(p.slabs * p.h.out * p.w.out * kByteSlab));
    SlabMaxPool(p, x.data(), y.data(), 0, SlabPoolItems(p));
    size_t at = 0;
    for (int64_t s = 0; s < p.slabs; ++s) {
      for (int64_t h = 0; h < p.h.out; ++h) {
        for (int64_t w = 0; w < p.w.out; ++w) {
          for (int64_t c = 0; c < kByteSlab; ++c) {
            int most = -1000;
            for (int64_t i = 0; i < p.h.kernel; ++i) {
              for (int64_t j = 0; j < p.w.kernel; ++j) {
                const int64_t row =
                    h * p.h.stride - p.h.pad_before + i * p.h.dilation;
                const int64_t column =
                    w * p.w.stride - p.w.pad_before + j * p.w.dilation;
                if (row < 0 || row >= p.h.in || column < 0 ||
                    column >= p.w.in) {
                  continue;
                }
                const uint8_t byte = x[static_cast<size_t>(
                    ((s * p.h.in + row) * p.w.in + column) * kByteSlab + c)];
                most = std::max(
                    most, p.is_signed ? static_cast<int8_t>(byte) : int{byte});
              }
            }
            // Windows of padding alone are none of the kernel's.
            if (most > -1000) {
              ASSERT_EQ(y[at], static_cast<uint8_t>(most)) << "round " << round;
            }
            ++at;
          }
        }
      }
    }
  }
}

// Floats as the operators compute them.
uint8_t SumOf(const ByteSumParams& p, uint8_t x, uint8_t y) {
  const auto real = [](const ByteSumParams::Operand& from, uint8_t byte) {
    const int32_t value =
        from.is_signed ? static_cast<int8_t>(byte) : int32_t{byte};
    return static_cast<float>(value - from.zero) * from.scale;
  };
  float v = real(p.x, x) + real(p.y, y);
  v = std::min(std::max(v, p.least), p.most);
  v = std::nearbyint(v / p.divisor) + p.shift;
  return static_cast<uint8_t>(
      static_cast<int32_t>(std::min(std::max(v, p.low), p.high)));
}

TEST_P(ByteSlabsTest, GivesTheSumsOfBytes) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float scales[] = {0.02f, 0.5f, 0.0371f, 1.0f, 0x1p-20f, 300.0f};
  for (int round = 0; round < 60; ++round) {
    ByteSumParams p;
    p.size = round % 2 == 0 ? Draw(1, 300) : 65536;
    for (ByteSumParams::Operand* operand : {&p.x, &p.y}) {
      operand->is_signed = Draw(0, 1) == 1;
      operand->zero = static_cast<int32_t>(Draw(-128, 255));
      operand->scale = scales[Draw(0, 5)];
    }
    p.divisor = scales[Draw(0, 3)];
    p.least = Draw(0, 1) == 1 ? 0 : -kInfinity;
    p.most = Draw(0, 2) == 0 ? 6 : kInfinity;
    p.low = Draw(0, 1) == 1 ? 0 : -128;
    p.high = p.low + 255;
    p.shift = static_cast<float>(Draw(-128, 128));
    ASSERT_TRUE(IsByteSum(p));
    std::vector<uint8_t> x(static_cast<size_t>(p.size));
    std::vector<uint8_t> y(x.size());
    // All pairs, if there is room for them.
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<uint8_t>(x.size() == 65536 ? i / 256 : Random());
      y[i] = static_cast<uint8_t>(x.size() == 65536 ? i % 256 : Random());
    }
    std::vector<uint8_t> got(x.size());
    const int64_t items = ByteSumItems(p);
    const int64_t middle = Draw(0, items);
    SumOfBytes(p, GetParam(), x.data(), y.data(), got.data(), middle, items);
    SumOfBytes(p, GetParam(), x.data(), y.data(), got.data(), 0, middle);
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(got[i], SumOf(p, x[i], y[i]))
          << "round " << round << " at " << i;
    }
  }
}

TEST(ByteSumTest, RefusesNumbersThatOverflow) {
  ByteSumParams p;
  p.high = 255;
  p.most = 1;
  EXPECT_TRUE(IsByteSum(p));
  p.x.scale = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(IsByteSum(p));
  p.x.scale = 1e12f;
  p.divisor = 1e-12f;
  EXPECT_FALSE(IsByteSum(p));
  p = {};
  p.low = 3;
  EXPECT_FALSE(IsByteSum(p));
}

INSTANTIATE_TEST_SUITE_P(Isas, ByteSlabsTest, Int8Isas());

}  // namespace
}  // namespace baton::kernels::blocked
