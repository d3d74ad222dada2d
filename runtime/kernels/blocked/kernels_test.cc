#include "baton/runtime/kernels/blocked/kernels.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "baton/runtime/kernels/blocked/internal/conv_plan.h"
#include "baton/runtime/kernels/blocked/kernels_test_util.h"
#include "baton/runtime/kernels/blocked/sums.h"
#include "baton/testing/test_settings.h"
#include "gtest/gtest.h"

namespace baton::kernels::blocked {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

// True if multiplication and addition are fused by the kernels under test.
bool Fuses() {
#ifdef __x86_64__
  return KernelsToTest()[0].kernels != KernelsOf(Width::kPlain128);
#else
  return true;
#endif
}

float MultiplyAdd(float a, float b, float c) {
  if (Fuses()) return std::fma(a, b, c);
  const volatile float product = a * b;
  return product + c;
}

// Memory at an address that is a multiple of 64, which the sanitizers watch.
class Buffer {
 public:
  explicit Buffer(int64_t floats, float value = kNan)
      : size_(static_cast<size_t>(floats)),
        data_(static_cast<float*>(
            std::aligned_alloc(64, (size_ * 4 + 127) / 64 * 64))) {
    std::fill_n(data_.get(), size_, value);
  }
  explicit Buffer(const std::vector<float>& values)
      : Buffer(static_cast<int64_t>(values.size())) {
    std::copy(values.begin(), values.end(), data_.get());
  }
  float* data() { return data_.get(); }
  const float* data() const { return data_.get(); }
  float operator[](int64_t i) const { return data_.get()[i]; }

 private:
  struct Free {
    void operator()(float* p) const { std::free(p); }
  };
  size_t size_;
  std::unique_ptr<float, Free> data_;
};

// Numbers that depend on the seed alone.
class Numbers {
 public:
  explicit Numbers(uint32_t seed) : random_(seed) {}

  int64_t Of(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_() %
                                      static_cast<uint64_t>(high - low + 1));
  }
  bool OneIn(int64_t n) { return Of(1, n) == 1; }
  float Float() {
    return static_cast<float>(static_cast<int32_t>(random_())) * 0x1p-31f;
  }
  std::vector<float> Floats(int64_t n) {
    std::vector<float> values(static_cast<size_t>(n));
    for (float& v : values) v = Float();
    return values;
  }
  // Some of which are zeros, tiny, or no numbers.
  std::vector<float> SpecialFloats(int64_t n) {
    constexpr float kSpecial[] = {0.0f,       -0.0f,    kNan,
                                  kInf,       -kInf,    0x1p-149f,
                                  -0x1p-140f, 0x1p-80f, -0x1p-75f};
    std::vector<float> values = Floats(n);
    for (float& v : values) {
      if (OneIn(10)) v = kSpecial[Of(0, 8)];
      if (OneIn(3)) v *= 0x1p-70f;
    }
    return values;
  }

 private:
  std::mt19937 random_;
};

bool SameBytes(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}

// The sum of the terms (position, a, b), by the definition of sums.h.
class Sum {
 public:
  void Add(int64_t position, float a, float b) {
    Advance(position / kPositionsOfChunk);
    chain_ = MultiplyAdd(a, b, chain_);
  }
  float Total(int64_t positions) {
    const int64_t chunks =
        (positions + kPositionsOfChunk - 1) / kPositionsOfChunk;
    Advance(std::max<int64_t>(chunks, 1));
    if (chunks <= kChunksOfGroup) return group_;
    return static_cast<float>(total_ + static_cast<double>(group_));
  }

 private:
  void Advance(int64_t chunk) {
    for (; chunk_ < chunk; ++chunk_) {
      if (chunk_ > 0 && chunk_ % kChunksOfGroup == 0) {
        total_ += static_cast<double>(group_);
        group_ = 0;
      }
      group_ += chain_;
      chain_ = 0;
    }
  }

  int64_t chunk_ = 0;
  float chain_ = 0;
  float group_ = 0;
  double total_ = 0;
};

// An epilogue with arrays that live as long as it.
struct Finishing {
  Finishing(Numbers& numbers, int64_t channels, int64_t residuals)
      : bias(numbers.Floats(BlocksOf(channels) * kBlock)),
        scale(numbers.Floats(BlocksOf(channels) * kBlock)),
        shift(numbers.Floats(BlocksOf(channels) * kBlock)),
        residual(numbers.Floats(residuals)) {
    if (numbers.OneIn(2)) epilogue.bias = bias.data();
    if (numbers.OneIn(4)) epilogue.scale = scale.data();
    if (numbers.OneIn(4)) epilogue.shift = shift.data();
    if (numbers.OneIn(3)) epilogue.residual = residual.data();
    if (numbers.OneIn(2)) epilogue.low = numbers.OneIn(2) ? 0.0f : -0.1f;
    if (numbers.OneIn(4)) epilogue.high = 0.2f;
  }

  float Of(float sum, int64_t channel, int64_t at) const {
    if (epilogue.bias != nullptr) sum = sum + epilogue.bias[channel];
    if (epilogue.scale != nullptr) {
      const volatile float scaled = sum * epilogue.scale[channel];
      sum = scaled;
    }
    if (epilogue.shift != nullptr) sum = sum + epilogue.shift[channel];
    if (epilogue.residual != nullptr) sum = sum + epilogue.residual[at];
    if (sum < epilogue.low) sum = epilogue.low;
    if (sum > epilogue.high) sum = epilogue.high;
    return sum;
  }

  Buffer bias;
  Buffer scale;
  Buffer shift;
  Buffer residual;
  Epilogue epilogue;
};

// Calls run(begin, end) for ranges that make up [0, items), in any order.
template <typename Run>
void InRanges(Numbers& numbers, int64_t items, const Run& run) {
  std::vector<int64_t> cuts = {0, items};
  for (int64_t i = numbers.Of(0, 3); i > 0; --i) {
    cuts.push_back(numbers.Of(0, items));
  }
  std::sort(cuts.begin(), cuts.end());
  for (size_t i = cuts.size() - 1; i > 0; --i) run(cuts[i - 1], cuts[i]);
}

int64_t BlockedIndex(int64_t channels, int64_t positions, int64_t image,
                     int64_t channel, int64_t position) {
  return ((image * BlocksOf(channels) + channel / kBlock) * positions +
          position) *
             kBlock +
         channel % kBlock;
}

// Elements beyond the last channel are NaN.
Buffer ToBlocked(const std::vector<float>& planar, int64_t batch,
                 int64_t channels, int64_t positions) {
  Buffer blocked(batch * BlocksOf(channels) * kBlock * positions);
  size_t i = 0;
  for (int64_t n = 0; n < batch; ++n) {
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t p = 0; p < positions; ++p) {
        blocked.data()[BlockedIndex(channels, positions, n, c, p)] =
            planar[i++];
      }
    }
  }
  return blocked;
}

std::string Describe(const Axis& axis) {
  return std::to_string(axis.in) + " by " + std::to_string(axis.kernel) +
         " stride " + std::to_string(axis.stride) + " dilation " +
         std::to_string(axis.dilation) + " pad " +
         std::to_string(axis.pad_before) + " out " + std::to_string(axis.out);
}

// --- Convolutions ----------------------------------------------------------

void TestConv(const ConvParams& p, Numbers& numbers, bool special) {
  const int64_t ins = p.groups * p.in_channels;
  const int64_t outs = p.groups * p.out_channels;
  const int64_t in = p.h.in * p.w.in;
  const int64_t out = p.h.out * p.w.out;
  const int64_t taps = p.h.kernel * p.w.kernel;
  const auto floats = [&](int64_t n) {
    return special ? numbers.SpecialFloats(n) : numbers.Floats(n);
  };
  const std::vector<float> x = floats(p.batch * ins * in);
  std::vector<float> weights = floats(outs * p.in_channels * taps);
  if (special && numbers.OneIn(2)) {
    for (float& w : weights) {
      if (!std::isfinite(w)) w = 0;
    }
  }
  const int64_t results = p.batch * BlocksOf(outs) * kBlock * out;
  Finishing finishing(numbers, outs, results);
  std::vector<float> expected(static_cast<size_t>(p.batch * outs * out));
  for (int64_t i = 0; i < p.batch * outs * out; ++i) {
    const int64_t n = i / out / outs;
    const int64_t o = i / out % outs;
    const int64_t position = i % out;
    Sum sum;
    for (int64_t c0 = 0; c0 < p.in_channels; c0 += kBlock) {
      for (int64_t t = 0; t < taps; ++t) {
        const int64_t ih = position / p.w.out * p.h.stride - p.h.pad_before +
                           t / p.w.kernel * p.h.dilation;
        const int64_t iw = position % p.w.out * p.w.stride - p.w.pad_before +
                           t % p.w.kernel * p.w.dilation;
        if (ih < 0 || ih >= p.h.in || iw < 0 || iw >= p.w.in) continue;
        for (int64_t c = c0; c < std::min(c0 + kBlock, p.in_channels); ++c) {
          const int64_t from = n * ins + o / p.out_channels * p.in_channels + c;
          sum.Add(
              (c0 * taps + t * kBlock) + c - c0,
              x[static_cast<size_t>(from * in + ih * p.w.in + iw)],
              weights[static_cast<size_t>((o * p.in_channels + c) * taps + t)]);
        }
      }
    }
    expected[static_cast<size_t>(i)] =
        finishing.Of(sum.Total(BlocksOf(p.in_channels) * kBlock * taps), o,
                     BlockedIndex(outs, out, n, o, position));
  }

  const Buffer map =
      p.planar_input ? Buffer(x) : ToBlocked(x, p.batch, ins, in);
  Buffer packed(PackedConvSize(p));
  ConvParams params = p;
  params.finite_weights = PackConvWeights(p, weights.data(), packed.data());
  EXPECT_EQ(params.finite_weights,
            std::all_of(weights.begin(), weights.end(),
                        [](float w) { return std::isfinite(w); }));
  for (const TestedKernels& tested : KernelsToTest()) {
    Buffer y(results);
    Buffer workspace(static_cast<int64_t>(ConvWorkspaceSize(p) / 4));
    bool resumes = false;
    InRanges(numbers, ConvItems(p), [&](int64_t begin, int64_t end) {
      tested.kernels->conv(params, map.data(), packed.data(),
                           finishing.epilogue, y.data(), workspace.data(),
                           resumes, begin, end);
      resumes = numbers.OneIn(2);
    });
    for (int64_t i = 0; i < p.batch * outs * out; ++i) {
      const float actual =
          y[BlockedIndex(outs, out, i / out / outs, i / out % outs, i % out)];
      ASSERT_TRUE(SameBytes(actual, expected[static_cast<size_t>(i)]))
          << actual << " is not " << expected[static_cast<size_t>(i)] << " at "
          << i << " with width " << tested.name;
    }
  }
}

// `count` in the nightly form of tests, two fifths in the long form, an eighth
// in the short form.
int NumCases(int count) {
  return testing::NightlyLongOrShort(count, (2 * count + 4) / 5,
                                     (count + 7) / 8);
}

void TestConvs(uint32_t seed, int count, bool special,
               void (*choose)(Numbers&, ConvParams&)) {
  Numbers numbers(seed);
  count = NumCases(count);
  for (int i = 0; i < count; ++i) {
    ConvParams p;
    p.batch = numbers.Of(1, 2);
    for (Axis* axis : {&p.h, &p.w}) {
      axis->in = numbers.Of(1, 17);
      axis->kernel = numbers.Of(1, 4);
      axis->stride = numbers.Of(1, 3);
      axis->dilation = numbers.Of(1, 2);
      axis->pad_before = numbers.Of(0, numbers.OneIn(4) ? 5 : 2);
    }
    choose(numbers, p);
    bool possible = true;
    for (Axis* axis : {&p.h, &p.w}) {
      const int64_t pad_after =
          axis->pad_before > 0 ? numbers.Of(0, axis->pad_before + 1) : 0;
      const int64_t room = axis->in + axis->pad_before + pad_after -
                           (axis->kernel - 1) * axis->dilation - 1;
      possible = possible && room >= 0;
      axis->out = room / axis->stride + 1;
    }
    if (!possible) continue;
    if (numbers.OneIn(2)) p.least_bands = numbers.Of(1, p.h.out * p.w.out);
    SCOPED_TRACE(::testing::Message()
                 << p.least_bands << " bands, batch " << p.batch << " groups "
                 << p.groups << " of " << p.in_channels << " to "
                 << p.out_channels << ", " << Describe(p.h) << ", "
                 << Describe(p.w) << ", planar " << p.planar_input << ", case "
                 << i);
    TestConv(p, numbers, special);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

// A map of `size` by `size` and a kernel of `kernel` by `kernel`.
ConvParams SquareConv(int64_t in_channels, int64_t out_channels, int64_t size,
                      int64_t kernel) {
  ConvParams p;
  p.in_channels = in_channels;
  p.out_channels = out_channels;
  for (Axis* axis : {&p.h, &p.w}) {
    *axis = {
        .in = size, .kernel = kernel, .pad_before = kernel / 2, .out = size};
  }
  return p;
}

TEST(ConvBandsTest, ThreadsHaveEqualShares) {
  // A convolution of DenseNet, whose output channels are one slab.
  ConvParams p = SquareConv(128, 32, 14, 3);
  EXPECT_EQ(ConvItems(p), 1);
  EXPECT_EQ(ConvBandsFor(1, p), 1);
  p.least_bands = ConvBandsFor(2, p);
  EXPECT_EQ(ConvItems(p), 2);
  p.least_bands = ConvBandsFor(7, p);
  EXPECT_EQ(ConvItems(p), 7);
  // Five slabs.
  p = SquareConv(480, 160, 14, 1);
  EXPECT_EQ(ConvItems(p), 5);
  p.least_bands = ConvBandsFor(2, p);
  EXPECT_EQ(ConvItems(p), 10);
  // Shares are equal already, or as good as equal.
  EXPECT_EQ(ConvBandsFor(2, SquareConv(256, 256, 14, 3)), 1);
  EXPECT_EQ(ConvBandsFor(2, SquareConv(64, 64, 224, 3)), 1);
  // A band would not be worth a thread's while.
  EXPECT_EQ(ConvBandsFor(2, SquareConv(16, 16, 7, 1)), 1);
  // More items than can be counted one by one.
  p = SquareConv(16, 16, 14, 3);
  p.batch = int64_t{1} << 45;
  EXPECT_EQ(ConvBandsFor(16, p), 1);
}

int64_t NearBlocks(Numbers& numbers, int64_t most) {
  return std::max<int64_t>(1,
                           16 * numbers.Of(0, most / 16) + numbers.Of(-1, 1));
}

// Tiles do not cross rows.
TEST(ConvPlanTest, JoinsRows) {
  ConvParams p = SquareConv(64, 64, 1, 1);
  p.h = {.in = 512, .kernel = 5, .out = 508};
  internal::ConvPlan plan = internal::MakeConvPlan(p);
  EXPECT_EQ(plan.row_bands * plan.rows, 1);
  EXPECT_GE(plan.column_bands * plan.columns, 508);
  p.h = {.in = 512, .kernel = 5, .stride = 2, .pad_before = 2, .out = 256};
  plan = internal::MakeConvPlan(p);
  EXPECT_EQ(plan.row_bands * plan.rows, 1);
  EXPECT_GE(plan.column_bands * plan.columns, 256);
  p.w.in = p.w.out = 3;
  plan = internal::MakeConvPlan(p);
  EXPECT_EQ(plan.row_bands * plan.rows, 256);
  p.h = {.in = 512, .kernel = 5, .out = 508};
  plan = internal::MakeConvPlan(p);
  EXPECT_EQ(plan.row_bands * plan.rows, 1);
  EXPECT_GE(plan.column_bands * plan.columns, 3 * 508);
}

TEST(ConvPlanTest, DepthwiseMapsOfOneColumnOrRowHaveItemsForThreads) {
  const Axis one = {.in = 1, .out = 1};
  const Axis many = {.in = 20000, .kernel = 9, .pad_before = 4, .out = 20000};
  ConvParams p = {.groups = 16, .in_channels = 1, .out_channels = 1};
  p.h = many;
  p.w = one;
  EXPECT_GE(ConvItems(p), 128);
  p.h = one;
  p.w = many;
  EXPECT_GE(ConvItems(p), 128);
}

TEST(ConvTest, General) {
  const auto choose = [](Numbers& numbers, ConvParams& p) {
    p.in_channels = NearBlocks(numbers, 48);
    p.out_channels = NearBlocks(numbers, 80);
  };
  TestConvs(1, 60, false, choose);
  TestConvs(2, 60, true, choose);
}

TEST(ConvTest, Pointwise) {
  const auto choose = [](Numbers& numbers, ConvParams& p) {
    p.in_channels = NearBlocks(numbers, 300);
    p.out_channels = NearBlocks(numbers, 80);
    for (Axis* axis : {&p.h, &p.w}) {
      axis->kernel = 1;
      axis->pad_before = numbers.OneIn(4) ? 1 : 0;
      axis->stride = numbers.OneIn(3) ? 2 : 1;
    }
  };
  TestConvs(3, 60, false, choose);
  TestConvs(4, 60, true, choose);
}

// Taps that read padding are left out.
TEST(ConvTest, TapsFarApart) {
  const auto choose = [](Numbers& numbers, ConvParams& p) {
    p.in_channels = NearBlocks(numbers, 48);
    p.out_channels = NearBlocks(numbers, 80);
    if (numbers.OneIn(4)) {
      p.groups = 2;
      p.in_channels = 16;
    }
    for (Axis* axis : {&p.h, &p.w}) {
      axis->in = numbers.Of(1, 40);
      axis->kernel = numbers.Of(1, 4);
      axis->dilation = numbers.OneIn(5) ? 1 : numbers.Of(5, 24);
      const int64_t reach = (axis->kernel - 1) * axis->dilation;
      axis->pad_before =
          numbers.OneIn(3) ? reach / 2 : numbers.Of(0, reach + 1);
    }
    p.w.stride = numbers.OneIn(6) ? 2 : 1;
  };
  TestConvs(21, 40, false, choose);
  TestConvs(22, 40, true, choose);
}

// Maps of one column, and kernels of one column over others.
TEST(ConvTest, OneColumn) {
  const auto choose = [](Numbers& numbers, ConvParams& p) {
    p.in_channels = NearBlocks(numbers, 48);
    p.out_channels = NearBlocks(numbers, 80);
    switch (numbers.Of(0, 5)) {
      case 0:
        p.groups = 2;
        break;
      case 1:
        p.groups = 1 + NearBlocks(numbers, 48);
        p.in_channels = p.out_channels = 1;
        break;
      case 2:
        p.planar_input = true;
        p.in_channels = numbers.Of(1, 4);
        break;
      default:
        break;
    }
    // Bands of depthwise convolutions are long.
    p.h.in = numbers.Of(1, p.in_channels == 1 ? 400 : 60);
    p.h.dilation = numbers.OneIn(4) ? numbers.Of(6, 9) : p.h.dilation;
    if (numbers.OneIn(2)) p.h.pad_before = 0;
    const int64_t in = numbers.OneIn(2) ? 1 : p.w.in;
    p.w = {.in = in, .stride = in == 1 ? p.w.stride : 1, .out = in};
  };
  TestConvs(23, 160, false, choose);
  TestConvs(24, 160, true, choose);
}

TEST(ConvTest, FirstLayer) {
  const auto choose = [](Numbers& numbers, ConvParams& p) {
    p.planar_input = true;
    p.in_channels = numbers.OneIn(4) ? numbers.Of(15, 33) : numbers.Of(1, 4);
    p.out_channels = NearBlocks(numbers, 48);
    p.groups = numbers.OneIn(5) ? 2 : 1;
    p.h.in = numbers.Of(1, 40);
    p.w.in = numbers.Of(1, 40);
    p.w.kernel = numbers.Of(1, 7);
  };
  TestConvs(5, 60, false, choose);
  TestConvs(6, 60, true, choose);
}

TEST(ConvTest, Depthwise) {
  const auto choose = [](Numbers& numbers, ConvParams& p) {
    p.groups = 1 + NearBlocks(numbers, 48);
    p.w.in = numbers.Of(1, 40);
    p.h.kernel = numbers.Of(1, 5);
    p.w.kernel = numbers.Of(1, 5);
    if (numbers.OneIn(6)) {
      p.h = Axis();
      p.w.in = numbers.Of(100, 400);
    }
  };
  TestConvs(7, 100, false, choose);
  TestConvs(8, 100, true, choose);
}

TEST(ConvTest, Grouped) {
  const auto choose = [](Numbers& numbers, ConvParams& p) {
    p.groups = numbers.Of(2, 5);
    p.in_channels = numbers.OneIn(3) ? 16 : numbers.Of(1, 35);
    p.out_channels = numbers.OneIn(3) ? 32 : numbers.Of(1, 35);
  };
  TestConvs(9, 60, false, choose);
  TestConvs(10, 60, true, choose);
}

// Short-time Fourier transforms: a kernel of hundreds of taps over one channel,
// whose chunks have few terms.
TEST(ConvTest, LongKernels) {
  const auto choose = [](Numbers& numbers, ConvParams& p) {
    p.planar_input = true;
    p.in_channels = numbers.Of(1, 3);
    p.out_channels = NearBlocks(numbers, 64);
    p.groups = numbers.OneIn(5) ? 2 : 1;
    p.h = numbers.OneIn(3) ? p.h : Axis();
    p.w.kernel = numbers.Of(100, 400);
    p.w.stride = numbers.Of(1, 200);
    p.w.in = numbers.Of(400, 2000);
    if (numbers.OneIn(2)) p.w.pad_before = 0;
  };
  TestConvs(16, 20, false, choose);
  TestConvs(17, 10, true, choose);
}

// More than 36 chunks.
TEST(ConvTest, SumsInDouble) {
  const auto choose = [](Numbers& numbers, ConvParams& p) {
    p.batch = 1;
    p.groups = numbers.OneIn(3) ? 2 : 1;
    p.in_channels = numbers.Of(511, 1100);
    p.out_channels = NearBlocks(numbers, 32);
    for (Axis* axis : {&p.h, &p.w}) {
      axis->kernel = 3;
      axis->in = numbers.Of(5, 8);
    }
  };
  TestConvs(11, 10, false, choose);
  TestConvs(12, 4, true, choose);
}

TEST(ConvTest, LargeMaps) {
  const auto choose = [](Numbers& numbers, ConvParams& p) {
    p.in_channels = numbers.Of(1, 40);
    p.out_channels = numbers.Of(1, 5);
    p.h.in = numbers.OneIn(2) ? 1 : numbers.Of(30, 60);
    p.w.in = numbers.Of(30, 500);
    if (p.h.in == 1) p.w.in *= 4;
    if (numbers.OneIn(2)) {
      p.h.kernel = p.w.kernel = p.h.stride = p.w.stride = 1;
      p.h.pad_before = p.w.pad_before = 0;
    }
  };
  TestConvs(13, 12, false, choose);
}

TEST(ConvTest, WithoutInputChannels) {
  Numbers numbers(14);
  ConvParams p;
  p.in_channels = 0;
  p.out_channels = 5;
  TestConv(p, numbers, false);
}

TEST(ConvTest, StridesBetweenImagesAndResidualInPlace) {
  Numbers numbers(15);
  ConvParams p;
  p.batch = 2;
  p.in_channels = 16;
  p.out_channels = 32;
  p.h.in = p.h.out = p.w.in = p.w.out = 5;
  const std::vector<float> x = numbers.Floats(2 * 16 * 25);
  const std::vector<float> weights = numbers.Floats(32 * 16);
  Buffer packed(PackedConvSize(p));
  p.finite_weights = PackConvWeights(p, weights.data(), packed.data());
  Epilogue epilogue;
  const std::vector<float> old = numbers.Floats(2 * 32 * 25);
  epilogue.residual = old.data();
  const Kernels* kernels = KernelsToTest()[0].kernels;
  Buffer workspace(static_cast<int64_t>(ConvWorkspaceSize(p) / 4));
  Buffer y(2 * 32 * 25);
  kernels->conv(p, x.data(), packed.data(), epilogue, y.data(),
                workspace.data(), false, 0, ConvItems(p));
  // The second image a bit further on.
  p.x_batch_stride = 16 * 25 + 32;
  p.y_batch_stride = 32 * 25 + 48;
  p.residual_batch_stride = 32 * 25 + 48;
  Buffer far_x(p.x_batch_stride + 16 * 25);
  Buffer far_y(p.y_batch_stride + 32 * 25);
  for (int64_t n = 0; n < 2; ++n) {
    std::copy_n(x.data() + n * 16 * 25, 16 * 25,
                far_x.data() + n * p.x_batch_stride);
    std::copy_n(old.data() + n * 32 * 25, 32 * 25,
                far_y.data() + n * p.y_batch_stride);
  }
  epilogue.residual = far_y.data();
  kernels->conv(p, far_x.data(), packed.data(), epilogue, far_y.data(),
                workspace.data(), false, 0, ConvItems(p));
  for (int64_t i = 0; i < 2 * 32 * 25; ++i) {
    ASSERT_EQ(y[i], far_y[i / 800 * p.y_batch_stride + i % 800]);
  }
}

// --- Matrix products -------------------------------------------------------

// Rows of numbers with others between them, `stride` numbers from one to the
// next.
std::vector<float> Apart(const std::vector<float>& rows, int64_t columns,
                         int64_t stride) {
  std::vector<float> result;
  for (size_t i = 0; i < rows.size(); ++i) {
    result.push_back(rows[i]);
    if ((i + 1) % static_cast<size_t>(columns) == 0) {
      result.resize(result.size() + static_cast<size_t>(stride - columns), 9);
    }
  }
  return result;
}

void TestMatmul(MatmulParams p, Numbers& numbers, bool special) {
  SCOPED_TRACE(::testing::Message() << p.m << " by " << p.k << " by " << p.n);
  const auto floats = [&](int64_t n) {
    return special ? numbers.SpecialFloats(n) : numbers.Floats(n);
  };
  const std::vector<float> x = floats(p.m * p.k);
  const std::vector<float> b = floats(p.k * p.n);
  std::vector<float> transposed(b.size());
  for (int64_t i = 0; i < p.k * p.n; ++i) {
    transposed[static_cast<size_t>(i % p.n * p.k + i / p.n)] =
        b[static_cast<size_t>(i)];
  }
  Finishing finishing(numbers, p.n, p.m * p.n);
  std::vector<float> expected(static_cast<size_t>(p.m * p.n));
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t j = 0; j < p.n; ++j) {
      Sum sum;
      for (int64_t k = 0; k < p.k; ++k) {
        sum.Add(k, x[static_cast<size_t>(i * p.k + k)],
                b[static_cast<size_t>(k * p.n + j)]);
      }
      expected[static_cast<size_t>(i * p.n + j)] =
          finishing.Of(sum.Total(p.k), j, i * p.n + j);
    }
  }
  const bool transposes = numbers.OneIn(2);
  std::vector<float> left = x;
  std::vector<float> right = transposes ? transposed : b;
  int64_t y_stride = p.n;
  if (numbers.OneIn(2)) {
    p.x_stride = p.k + numbers.Of(0, 9);
    left = Apart(x, p.k, p.x_stride);
    const int64_t columns = transposes ? p.k : p.n;
    p.b_stride = columns + numbers.Of(0, 9);
    right = Apart(right, columns, p.b_stride);
    y_stride = p.y_stride = p.n + numbers.Of(0, 9);
  }
  const Buffer a(left);
  Buffer packed(PackedMatmulSize(p));
  PackMatmul(p, right.data(), transposes, packed.data());
  for (const TestedKernels& tested : KernelsToTest()) {
    Buffer y(p.m * y_stride);
    Buffer workspace(static_cast<int64_t>(MatmulWorkspaceSize(p) / 4));
    bool resumes = false;
    InRanges(numbers, MatmulItems(p), [&](int64_t begin, int64_t end) {
      tested.kernels->matmul(p, a.data(), packed.data(), finishing.epilogue,
                             y.data(), workspace.data(), resumes, begin, end);
      resumes = numbers.OneIn(2);
    });
    for (int64_t i = 0; i < p.m * p.n; ++i) {
      const float got = y[i / p.n * y_stride + i % p.n];
      ASSERT_TRUE(SameBytes(got, expected[static_cast<size_t>(i)]))
          << got << " is not " << expected[static_cast<size_t>(i)] << " at "
          << i << " with width " << tested.name;
    }
  }
}

TEST(MatmulItemsTest, ThreadsHaveEqualSharesOfFewRows) {
  MatmulParams p = {.m = 1, .n = 128, .k = 64};
  EXPECT_EQ(MatmulItems(p), 1);
  p.least_bands = 2;
  EXPECT_EQ(MatmulItems(p), 2);
  p.n = 257;
  EXPECT_EQ(MatmulItems(p), 4);
  p.n = 16;
  EXPECT_EQ(MatmulItems(p), 1);
  p.n = 0;
  EXPECT_EQ(MatmulItems(p), 0);
}

TEST(MatmulTest, MatchesDefinition) {
  Numbers numbers(21);
  for (int i = 0; i < NumCases(80); ++i) {
    MatmulParams p;
    p.m = numbers.OneIn(3) ? numbers.Of(1, 4) : numbers.Of(1, 60);
    p.n = numbers.OneIn(3) ? NearBlocks(numbers, 300) : numbers.Of(1, 40);
    p.k = numbers.OneIn(8) ? 0 : NearBlocks(numbers, 400);
    p.least_bands = numbers.Of(1, 4);
    TestMatmul(p, numbers, i % 2 == 1);
    if (HasFatalFailure()) return;
  }
  for (const int64_t m : {1, 2, 5, 400}) {
    TestMatmul({.m = m, .n = 17, .k = 4700}, numbers, false);
    if (HasFatalFailure()) return;
  }
}

// --- Maps ------------------------------------------------------------------

TEST(MapTest, LayoutsAndEpilogues) {
  Numbers numbers(31);
  for (int i = 0; i < 40; ++i) {
    MapParams p;
    p.batch = numbers.Of(1, 3);
    p.channels = NearBlocks(numbers, 64);
    p.positions = numbers.Of(1, 50);
    const int64_t total = p.batch * p.channels * p.positions;
    const std::vector<float> x = numbers.SpecialFloats(total);
    const Buffer planar(x);
    const Buffer blocked = ToBlocked(x, p.batch, p.channels, p.positions);
    const int64_t size = p.batch * BlocksOf(p.channels) * kBlock * p.positions;
    Finishing finishing(numbers, p.channels, size);
    for (const TestedKernels& tested : KernelsToTest()) {
      const Kernels* const kernels = tested.kernels;
      Buffer to_blocked(size);
      Buffer to_planar(total);
      Buffer applied(size);
      InRanges(numbers, MapItems(p), [&](int64_t begin, int64_t end) {
        kernels->to_blocked(p, planar.data(), to_blocked.data(), begin, end);
        kernels->to_planar(p, blocked.data(), to_planar.data(), begin, end);
        kernels->apply(p, blocked.data(), finishing.epilogue, applied.data(),
                       begin, end);
      });
      for (int64_t j = 0; j < total; ++j) {
        const int64_t channel = j / p.positions % p.channels;
        const int64_t at =
            BlockedIndex(p.channels, p.positions, j / p.positions / p.channels,
                         channel, j % p.positions);
        ASSERT_TRUE(SameBytes(to_blocked[at], planar[j]));
        ASSERT_TRUE(SameBytes(to_planar[j], planar[j]));
        ASSERT_TRUE(
            SameBytes(applied[at], finishing.Of(planar[j], channel, at)));
      }
    }
  }
}

// --- Choice ----------------------------------------------------------------

TEST(KernelsTest, TheBestIsSupported) {
  EXPECT_TRUE(IsSupported(Width::kPlain128));
  EXPECT_TRUE(IsSupported(BestWidth()));
  EXPECT_NE(KernelsOf(BestWidth()), nullptr);
}

}  // namespace
}  // namespace baton::kernels::blocked
