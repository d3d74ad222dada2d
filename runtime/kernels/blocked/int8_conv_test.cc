#include "baton/runtime/kernels/blocked/int8_conv.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "baton/runtime/kernels/blocked/blocked_conv.h"
#include "baton/runtime/kernels/blocked/int8_isa.h"
#include "baton/runtime/kernels/blocked/int8_isa_test_util.h"
#include "gtest/gtest.h"

namespace baton::kernels::blocked {
namespace {

// The sums, one term at a time.
std::vector<int32_t> Naive(const Int8ConvParams& p, const uint8_t* x,
                           const int8_t* weights, const int32_t* bias) {
  std::vector<int32_t> y;
  for (int64_t n = 0; n < p.batch; ++n) {
    for (int64_t o = 0; o < p.groups * p.out_channels; ++o) {
      const int64_t g = o / p.out_channels;
      for (int64_t h = 0; h < p.h.out; ++h) {
        for (int64_t w = 0; w < p.w.out; ++w) {
          uint32_t sum = bias == nullptr ? 0 : static_cast<uint32_t>(bias[o]);
          const int8_t* weight =
              weights + o * p.in_channels * p.h.kernel * p.w.kernel;
          for (int64_t c = 0; c < p.in_channels; ++c) {
            for (int64_t i = 0; i < p.h.kernel; ++i) {
              for (int64_t j = 0; j < p.w.kernel; ++j, ++weight) {
                const int64_t row =
                    h * p.h.stride - p.h.pad_before + i * p.h.dilation;
                const int64_t column =
                    w * p.w.stride - p.w.pad_before + j * p.w.dilation;
                const bool is_inside =
                    row >= 0 && row < p.h.in && column >= 0 && column < p.w.in;
                const uint8_t byte =
                    is_inside
                        ? x[(((n * p.groups + g) * p.in_channels + c) * p.h.in +
                             row) *
                                p.w.in +
                            column]
                        : p.padding;
                const int32_t value =
                    p.signed_data ? static_cast<int8_t>(byte) : int32_t{byte};
                const int32_t factor = p.unsigned_weights
                                           ? static_cast<uint8_t>(*weight)
                                           : int32_t{*weight};
                sum += static_cast<uint32_t>(value * factor);
              }
            }
          }
          y.push_back(static_cast<int32_t>(sum));
        }
      }
    }
  }
  return y;
}

// The bytes that a sum becomes.
uint8_t Requantized(int32_t sum, const Int8Requantization& r, size_t channel) {
  float v = static_cast<float>(sum);
  if (r.factor != nullptr) v *= r.factor[channel];
  if (r.addend != nullptr) v += r.addend[channel];
  if (r.divisor != nullptr) v /= r.divisor[channel];
  if (r.round) v = std::nearbyint(v);
  if (r.shift != nullptr) v += r.shift[channel];
  v = v < r.low ? r.low : v;
  v = v > r.high ? r.high : v;
  return std::isnan(v) ? uint8_t{0}
                       : static_cast<uint8_t>(static_cast<int32_t>(v));
}

// The map of slabs of 32 channels that has the bytes of a planar one.
std::vector<uint8_t> ToSlabs(const std::vector<uint8_t>& planar, int64_t batch,
                             int64_t channels, int64_t plane) {
  const int64_t slabs = (channels + kByteSlab - 1) / kByteSlab;
  std::vector<uint8_t> result(
      static_cast<size_t>(batch * slabs * plane * kByteSlab), 0x5a);
  for (int64_t n = 0; n < batch; ++n) {
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t i = 0; i < plane; ++i) {
        result[static_cast<size_t>(((n * slabs + c / kByteSlab) * plane + i) *
                                       kByteSlab +
                                   c % kByteSlab)] =
            planar[static_cast<size_t>((n * channels + c) * plane + i)];
      }
    }
  }
  return result;
}

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<void, Free>;
Memory Allocate(size_t bytes) {
  return Memory(std::aligned_alloc(64, (bytes / 64 + 1) * 64));
}

using Int8ConvTest = Int8IsaTest;

TEST_P(Int8ConvTest, GivesTheSums) {
  const Int8Isa isa = GetParam();
  for (int round = 0; round < 200; ++round) {
    Int8ConvParams p;
    p.batch = Draw(1, 2);
    p.groups = Draw(0, 3) == 0 ? 2 : 1;
    p.in_channels = p.groups > 1 ? 4 * Draw(1, 4) : Draw(1, 70);
    p.out_channels = p.groups > 1 ? 16 * Draw(1, 3) : Draw(1, 70);
    const bool is_depthwise = Draw(0, 3) == 0;
    if (is_depthwise) {
      p.groups = Draw(2, 70);
      p.in_channels = p.out_channels = 1;
    }
    p.signed_data = Draw(0, 2) == 1;
    p.unsigned_weights = Draw(0, 2) == 1;
    const bool can_have_slabs = p.groups == 1 || is_depthwise;
    p.slabs_input = can_have_slabs && Draw(0, 1) == 1;
    p.slabs_output = can_have_slabs && Draw(0, 1) == 1;
    p.padding = static_cast<uint8_t>(Random());
    p.least_bands = Draw(1, 6);
    const bool is_pointwise = Draw(0, 3) == 0;
    for (Axis* axis : {&p.h, &p.w}) {
      axis->kernel = is_pointwise ? 1 : Draw(1, 3);
      axis->stride = is_pointwise ? 1 : Draw(1, 2);
      axis->dilation = Draw(1, 2);
      axis->pad_before = is_pointwise ? 0 : Draw(0, 2);
      const int64_t pad_after = is_pointwise ? 0 : Draw(0, 2);
      const int64_t reach = (axis->kernel - 1) * axis->dilation + 1;
      axis->in = Draw(reach, 20);
      axis->out =
          (axis->in + axis->pad_before + pad_after - reach) / axis->stride + 1;
    }
    const int64_t in_plane = p.h.in * p.w.in;
    std::vector<uint8_t> x(
        static_cast<size_t>(p.batch * p.groups * p.in_channels * in_plane));
    // Extremes are frequent; or each channel has a largest value.
    const bool has_limits = Draw(0, 2) == 0;
    uint32_t limit = 255;
    for (size_t i = 0; i < x.size(); ++i) {
      if (has_limits && i % static_cast<size_t>(in_plane) == 0) {
        limit = static_cast<uint32_t>(Draw(1, 255));
      }
      x[i] = static_cast<uint8_t>(Random() % 3 == 0 ? limit * (Random() % 2)
                                                    : Random() % (limit + 1));
    }
    std::vector<int8_t> weights(static_cast<size_t>(
        p.groups * p.out_channels * p.in_channels * p.h.kernel * p.w.kernel));
    // Most products with small weights fit into 16 bits in pairs, at worst just
    // so.
    const bool has_small_weights = Draw(0, 1) == 0;
    for (int8_t& v : weights) {
      v = static_cast<int8_t>(Random() % 3 == 0 ? 127 + Random() % 2
                                                : Random());
      if (has_small_weights && Draw(0, 200) > 0) {
        v = static_cast<int8_t>(p.unsigned_weights ? v & 127 : v / 2);
      }
    }
    std::vector<int32_t> bias(static_cast<size_t>(p.groups * p.out_channels));
    for (int32_t& v : bias) v = static_cast<int32_t>(Random());
    const bool has_bias = Draw(0, 1) == 1;
    const std::vector<int32_t> want =
        Naive(p, x.data(), weights.data(), has_bias ? bias.data() : nullptr);
    const Memory packed = Allocate(static_cast<size_t>(PackedInt8ConvSize(p)));
    PackInt8ConvWeights(p, weights.data(), packed.get());
    const Memory workspace = Allocate(Int8ConvWorkspaceSize(p));
    const std::vector<uint8_t> data =
        p.slabs_input ? ToSlabs(x, p.batch, p.groups * p.in_channels, in_plane)
                      : x;
    // In two parts, of which the second one often resumes the first one.
    const int64_t items = Int8ConvItems(p);
    const int64_t middle = Draw(0, items);
    const bool resumes = Draw(0, 3) > 0;
    const std::pair<int64_t, int64_t> parts[] = {{middle, items}, {0, middle}};
    const int32_t* const added = has_bias ? bias.data() : nullptr;
    std::vector<int32_t> got(want.size(), -1);
    for (const auto& [begin, end] : parts) {
      Int8Conv(p, isa, data.data(), packed.get(), added, got.data(),
               workspace.get(), resumes && end == middle && end < items, begin,
               end);
    }
    ASSERT_EQ(got, want) << "round " << round;

    // Bytes.
    const auto channel_values = [&](std::vector<float> choices) {
      std::vector<float> values(bias.size());
      for (float& v : values) v = choices[Random() % choices.size()];
      return values;
    };
    const float nan = std::numeric_limits<float>::quiet_NaN();
    // As networks have them, with ties; or extremes among them.
    const bool is_tame = Draw(0, 1) == 1;
    const auto some = [&](std::vector<float> tame, std::vector<float> others) {
      if (!is_tame) tame.insert(tame.end(), others.begin(), others.end());
      return channel_values(tame);
    };
    const std::vector<float> factor =
        some({1e-3f, 0x1p-6f, 3e-5f}, {0.5f, -0.25f, 1e30f, nan, 0.0f});
    const std::vector<float> addend =
        some({0.0f, -0.7f, 0.5f, 345.0f}, {1e35f});
    const std::vector<float> divisor =
        some({0.3f, 2.0f, 77.0f}, {0.0f, 1e-30f});
    const std::vector<float> shift =
        some({0.0f, 128.0f, -16384.0f}, {-3.5f, 16385.0f, -65536.0f});
    Int8Requantization r;
    if (Draw(0, 3) > 0) r.factor = factor.data();
    if (Draw(0, 2) == 0) r.addend = addend.data();
    if (Draw(0, 1) == 1) r.divisor = divisor.data();
    r.round = Draw(0, 3) > 0;
    if (Draw(0, 1) == 1) r.shift = shift.data();
    r.low = Draw(0, 1) == 1 ? 0.0f : -128.0f;
    r.high = r.low + 255.0f;
    const int64_t plane = p.h.out * p.w.out;
    std::vector<uint8_t> want_bytes;
    for (size_t i = 0; i < want.size(); ++i) {
      want_bytes.push_back(Requantized(
          want[i], r, i / static_cast<size_t>(plane) % bias.size()));
    }
    std::vector<uint8_t> got_bytes(want.size() + 64 * want.size());
    for (const auto& [begin, end] : parts) {
      Int8ConvToBytes(p, isa, data.data(), packed.get(), added, r,
                      got_bytes.data(), workspace.get(),
                      resumes && end == middle && end < items, begin, end);
    }
    if (p.slabs_output) {
      const int64_t channels = p.groups * p.out_channels;
      const int64_t slabs = (channels + kByteSlab - 1) / kByteSlab;
      const uint8_t beyond =
          Requantized(0, r, static_cast<size_t>(channels - 1));
      std::vector<uint8_t> planar(want.size());
      for (int64_t n = 0; n < p.batch; ++n) {
        for (int64_t c = 0; c < slabs * kByteSlab; ++c) {
          for (int64_t i = 0; i < plane; ++i) {
            const uint8_t byte = got_bytes[static_cast<size_t>(
                ((n * slabs + c / kByteSlab) * plane + i) * kByteSlab +
                c % kByteSlab)];
            if (c < channels) {
              planar[static_cast<size_t>((n * channels + c) * plane + i)] =
                  byte;
            } else {
              ASSERT_EQ(int{byte}, int{beyond}) << "round " << round;
            }
          }
        }
      }
      got_bytes = planar;
    }
    got_bytes.resize(want.size());
    ASSERT_EQ(got_bytes, want_bytes) << "round " << round;
  }
}

// Quotients and shifts are added in 16 bits where that gives the right bytes.
TEST_P(Int8ConvTest, AddsLargeShifts) {
  const Int8Isa isa = GetParam();
  const std::pair<float, float> bounds[] = {{0, 255}, {-128, 127}, {3, 100}};
  for (const bool is_depthwise : {false, true}) {
    for (const int32_t magnitude : {0, 128, 16384, 16385, 32512, 32513, 32640,
                                    32641, 32700, 32767, 32768, 65536}) {
      for (const int32_t shift : {magnitude, -magnitude}) {
        // Results near to the bounds of bytes, and quotients near to those of
        // 16 bits and beyond them.
        std::vector<int32_t> quotients;
        for (const int32_t y :
             {-300, -129, -128, -127, -1, 0, 1, 126, 127, 128, 254, 255, 300}) {
          quotients.push_back(y - shift);
        }
        for (const int32_t q :
             {16383, 16384, 16640, 32512, 32640, 32767, 32768, 32769, 33023,
              40000, 49152, 65535, 65536, 70000, 1000000, 100000000}) {
          quotients.push_back(q);
          quotients.push_back(-q);
        }
        const auto channels = static_cast<int64_t>(quotients.size());
        Int8ConvParams p;
        p.groups = is_depthwise ? channels : 1;
        p.out_channels = is_depthwise ? 1 : channels;
        p.w.in = p.w.out = 3;
        // Sums are of the bias alone.
        const std::vector<uint8_t> x(
            static_cast<size_t>(p.groups * p.in_channels * p.w.in), 77);
        const std::vector<int8_t> weights(quotients.size(), 0);
        std::vector<int32_t> bias;
        for (const int32_t q : quotients) bias.push_back(4 * q);
        const Memory packed =
            Allocate(static_cast<size_t>(PackedInt8ConvSize(p)));
        PackInt8ConvWeights(p, weights.data(), packed.get());
        const Memory workspace = Allocate(Int8ConvWorkspaceSize(p));
        const std::vector<float> divisors(quotients.size(), 4.0f);
        const std::vector<float> shifts(quotients.size(),
                                        static_cast<float>(shift));
        Int8Requantization r;
        r.divisor = divisors.data();
        r.round = true;
        r.shift = shifts.data();
        for (const auto& [low, high] : bounds) {
          r.low = low;
          r.high = high;
          std::vector<uint8_t> want;
          for (size_t c = 0; c < quotients.size(); ++c) {
            want.insert(want.end(), 3, Requantized(bias[c], r, c));
          }
          std::vector<uint8_t> got(want.size());
          Int8ConvToBytes(p, isa, x.data(), packed.get(), bias.data(), r,
                          got.data(), workspace.get(), false, 0,
                          Int8ConvItems(p));
          EXPECT_EQ(got, want) << "shift " << shift << ", bounds " << low << " "
                               << high << ", depthwise " << is_depthwise;
        }
      }
    }
  }
}

// Bands but the last one have the same number of rows, and none is empty.
void ExpectFullBands(Int8ConvParams p, int64_t threads) {
  p.least_bands = Int8ConvBandsFor(threads, p);
  SCOPED_TRACE(::testing::Message()
               << p.h.out << " rows, kernel " << p.h.kernel << ", stride "
               << p.h.stride << ", " << p.w.in << " columns, " << p.groups
               << " groups, " << threads << " threads");
  const int64_t planes = p.groups * p.out_channels;
  const std::vector<uint8_t> x(
      static_cast<size_t>(p.groups * p.in_channels * p.h.in * p.w.in));
  const std::vector<int8_t> weights(
      static_cast<size_t>(planes * p.in_channels * p.h.kernel * p.w.kernel));
  const std::vector<int32_t> bias(static_cast<size_t>(planes), 1);
  const Memory packed = Allocate(static_cast<size_t>(PackedInt8ConvSize(p)));
  PackInt8ConvWeights(p, weights.data(), packed.get());
  const Memory workspace = Allocate(Int8ConvWorkspaceSize(p));
  std::vector<int32_t> y(static_cast<size_t>(planes * p.h.out * p.w.out));
  const int64_t items = Int8ConvItems(p);
  std::vector<int64_t> sizes;
  int64_t computed = 0;
  for (int64_t item = 0; item < items; ++item) {
    Int8Conv(p, Int8Isa::kPlain, x.data(), packed.get(), bias.data(), y.data(),
             workspace.get(), false, item, item + 1);
    const int64_t now = std::accumulate(y.begin(), y.end(), int64_t{0});
    sizes.push_back(now - computed);
    computed = now;
  }
  EXPECT_EQ(computed, planes * p.h.out * p.w.out);
  for (size_t i = 0; i < sizes.size(); ++i) {
    EXPECT_GT(sizes[i], 0) << "item " << i;
    EXPECT_LE(sizes[i], sizes[0]) << "item " << i;
    if (i + 1 < sizes.size()) {
      EXPECT_EQ(sizes[i], sizes[0]) << "item " << i;
    }
  }
}

TEST(Int8ConvPlanTest, HasNoEmptyBands) {
  for (int64_t rows = 0; rows <= 30; ++rows) {
    for (const int64_t kernel : {1, 3, 5}) {
      for (const int64_t stride : {1, 2}) {
        // Rows of many columns, of which few fit into a band.
        for (const int64_t columns : {7, 6000}) {
          for (const int64_t groups : {1, 2}) {
            for (const int64_t threads : {1, 2, 3, 8}) {
              Int8ConvParams p;
              p.groups = groups;
              p.h.kernel = kernel;
              p.h.stride = stride;
              p.h.out = rows;
              p.h.in = std::max<int64_t>(0, rows - 1) * stride + kernel;
              p.w.in = columns;
              p.w.stride = columns > 1000 ? 1000 : 1;
              p.w.out = (columns - 1) / p.w.stride + 1;
              ExpectFullBands(p, threads);
              if (testing::Test::HasFailure()) return;
            }
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, Int8ConvTest, Int8Isas());

}  // namespace
}  // namespace baton::kernels::blocked
