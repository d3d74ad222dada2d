#include "baton/runtime/kernels/blocked/int8_conv.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "baton/runtime/kernels/blocked/conv.h"
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
                if (row < 0 || row >= p.h.in || column < 0 ||
                    column >= p.w.in) {
                  continue;
                }
                const uint8_t byte =
                    x[(((n * p.groups + g) * p.in_channels + c) * p.h.in +
                       row) *
                          p.w.in +
                      column];
                const int32_t value =
                    p.signed_data ? static_cast<int8_t>(byte) : int32_t{byte};
                sum += static_cast<uint32_t>(value * *weight);
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

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<void, Free>;
Memory Allocate(size_t bytes) {
  return Memory(std::aligned_alloc(64, (bytes / 64 + 1) * 64));
}

class Int8ConvTest : public ::testing::TestWithParam<Int8Isa> {};

TEST_P(Int8ConvTest, GivesTheSums) {
  const Int8Isa isa = GetParam();
  if (!IsSupported(isa)) {
    GTEST_SKIP() << "the processor lacks the instructions of set "
                 << static_cast<int>(isa);
  }
  std::mt19937 random(7);
  const auto draw = [&random](int64_t least, int64_t most) {
    return least + static_cast<int64_t>(
                       random() % static_cast<uint32_t>(most - least + 1));
  };
  for (int round = 0; round < 150; ++round) {
    Int8ConvParams p;
    p.batch = draw(1, 2);
    p.groups = draw(0, 3) == 0 ? 2 : 1;
    p.in_channels = p.groups > 1 ? 4 * draw(1, 4) : draw(1, 20);
    p.out_channels = p.groups > 1 ? 16 * draw(1, 3) : draw(1, 70);
    p.signed_data = draw(0, 1) == 1;
    for (Axis* axis : {&p.h, &p.w}) {
      axis->kernel = draw(1, 3);
      axis->stride = draw(1, 2);
      axis->dilation = draw(1, 2);
      axis->pad_before = draw(0, 2);
      const int64_t pad_after = draw(0, 2);
      const int64_t reach = (axis->kernel - 1) * axis->dilation + 1;
      axis->in = draw(reach, 30);
      axis->out =
          (axis->in + axis->pad_before + pad_after - reach) / axis->stride + 1;
    }
    std::vector<uint8_t> x(static_cast<size_t>(
        p.batch * p.groups * p.in_channels * p.h.in * p.w.in));
    // Extremes are frequent.
    for (uint8_t& v : x) {
      v = static_cast<uint8_t>(random() % 3 == 0 ? 255 * (random() % 2)
                                                 : random());
    }
    std::vector<int8_t> weights(static_cast<size_t>(
        p.groups * p.out_channels * p.in_channels * p.h.kernel * p.w.kernel));
    for (int8_t& v : weights) {
      v = static_cast<int8_t>(random() % 3 == 0 ? 127 + random() % 2
                                                : random());
    }
    std::vector<int32_t> bias(static_cast<size_t>(p.groups * p.out_channels));
    for (int32_t& v : bias) v = static_cast<int32_t>(random());
    const bool has_bias = draw(0, 1) == 1;
    const std::vector<int32_t> want =
        Naive(p, x.data(), weights.data(), has_bias ? bias.data() : nullptr);
    const Memory packed = Allocate(static_cast<size_t>(PackedInt8ConvSize(p)));
    PackInt8ConvWeights(p, weights.data(), packed.get());
    const Memory workspace = Allocate(Int8ConvWorkspaceSize(p));
    std::vector<int32_t> got(want.size(), -1);
    // In two parts.
    const int64_t items = Int8ConvItems(p);
    const int64_t middle = draw(0, items);
    for (const auto& [begin, end] :
         {std::pair<int64_t, int64_t>{middle, items}, {0, middle}}) {
      Int8Conv(p, isa, x.data(), packed.get(), has_bias ? bias.data() : nullptr,
               got.data(), workspace.get(), begin, end);
    }
    ASSERT_EQ(got, want) << "round " << round;
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, Int8ConvTest,
                         ::testing::Values(Int8Isa::kPlain, Int8Isa::kAvx2,
                                           Int8Isa::kVnni));

}  // namespace
}  // namespace baton::kernels::blocked
