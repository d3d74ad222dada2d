// Blocked kernels give the bytes of the evaluator's.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/blocked/blocked_conv.h"
#include "baton/runtime/kernels/blocked/blocked_pool.h"
#include "baton/runtime/kernels/blocked/channels.h"
#include "baton/runtime/kernels/blocked/epilogue.h"
#include "baton/runtime/kernels/blocked/kernels.h"
#include "baton/runtime/kernels/blocked/kernels_test_util.h"
#include "baton/runtime/kernels/blocked/map.h"
#include "baton/runtime/kernels/blocked/matmul.h"
#include "baton/runtime/kernels/conv_kernels.h"
#include "baton/runtime/kernels/layout_kernels.h"
#include "baton/runtime/kernels/linear.h"
#include "baton/runtime/kernels/normalize_kernels.h"
#include "baton/runtime/kernels/pool_kernels.h"
#include "gtest/gtest.h"

namespace baton::kernels::blocked {
namespace {

class Numbers {
 public:
  explicit Numbers(uint32_t seed) : random_(seed) {}

  int64_t Of(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_() %
                                      static_cast<uint64_t>(high - low + 1));
  }
  bool OneIn(int64_t n) { return Of(1, n) == 1; }
  // If `special`, with zeros, tiny numbers, infinities and NaNs.
  Tensor Floats(absl::Span<const int64_t> shape, bool special) {
    constexpr float kInf = std::numeric_limits<float>::infinity();
    const float others[] = {0,     -0.0f,     std::nanf(""), kInf,
                            -kInf, 0x1p-149f, -0x1p-80f};
    MutableTensor tensor = *MutableTensor::Create(
        DType::Float(32), TensorShape(shape.begin(), shape.end()));
    for (float& x : tensor.span<float>()) {
      x = static_cast<float>(static_cast<int32_t>(random_())) * 0x1p-31f;
      if (special && OneIn(12)) x = others[Of(0, 6)];
      if (special && OneIn(3)) x *= 0x1p-70f;
    }
    return std::move(tensor).Freeze();
  }

 private:
  std::mt19937 random_;
};

// Memory that is aligned to 64 bytes.
class Buffer {
 public:
  explicit Buffer(int64_t floats)
      : data_(static_cast<float*>(std::aligned_alloc(
            64, (static_cast<size_t>(floats) * 4 + 127) / 64 * 64))) {
    std::fill_n(data_.get(), floats, std::nanf(""));
  }
  float* data() { return data_.get(); }

 private:
  struct Free {
    void operator()(float* p) const { std::free(p); }
  };
  std::unique_ptr<float, Free> data_;
};

const float* Data(const Tensor& x) {
  return static_cast<const float*>(x.data());
}

::testing::AssertionResult SameBytes(const float* actual,
                                     const absl::StatusOr<Tensor>& expected) {
  if (!expected.ok()) {
    return ::testing::AssertionFailure() << expected.status();
  }
  for (int64_t i = 0; i < expected->num_elements(); ++i) {
    const float a = actual[i];
    const float b = Data(*expected)[i];
    const bool same = std::isnan(a) ? std::isnan(b)
                                    : std::bit_cast<uint32_t>(a) ==
                                          std::bit_cast<uint32_t>(b);
    if (!same) {
      return ::testing::AssertionFailure()
             << a << " is not " << b << " at " << i << " of "
             << expected->TypeToString();
    }
  }
  return ::testing::AssertionSuccess();
}

MapParams MapOf(absl::Span<const int64_t> nchw) {
  return {
      .batch = nchw[0], .channels = nchw[1], .positions = nchw[2] * nchw[3]};
}

Buffer ToBlocked(const Kernels& kernels, const Tensor& x) {
  const MapParams p = MapOf(x.shape());
  Buffer blocked(p.batch * BlocksOf(p.channels) * kBlock * p.positions);
  kernels.to_blocked(p, Data(x), blocked.data(), 0, MapItems(p));
  return blocked;
}

Buffer ToPlanar(const Kernels& kernels, Buffer& blocked, const MapParams& p) {
  Buffer planar(p.batch * p.channels * p.positions);
  kernels.to_planar(p, blocked.data(), planar.data(), 0, MapItems(p));
  return planar;
}

// Random windows that have outputs.
bool ChooseAxis(Numbers& numbers, int64_t kernel, Axis& axis,
                int64_t& pad_after) {
  axis.in = numbers.Of(1, 20);
  axis.kernel = kernel;
  axis.stride = numbers.Of(1, 3);
  axis.dilation = numbers.Of(1, 2);
  axis.pad_before = numbers.Of(0, numbers.OneIn(4) ? 6 : 1);
  pad_after = numbers.Of(0, axis.pad_before + 1);
  const int64_t room =
      axis.in + axis.pad_before + pad_after - (kernel - 1) * axis.dilation - 1;
  axis.out = room / axis.stride + 1;
  return room >= 0;
}

TEST(EvaluatorTest, ConvolutionsInAllLayouts) {
  Numbers numbers(1);
  for (int i = 0; i < 150; ++i) {
    ConvParams p;
    p.batch = numbers.Of(1, 2);
    switch (i % 4) {
      case 0:  // General.
        p.in_channels = numbers.Of(1, 40);
        p.out_channels = numbers.Of(1, 40);
        break;
      case 1:  // Depthwise.
        p.groups = numbers.Of(2, 40);
        break;
      case 2:  // Grouped.
        p.groups = numbers.Of(2, 4);
        p.in_channels = numbers.Of(1, 20);
        p.out_channels = numbers.Of(1, 20);
        break;
      case 3:
        p.in_channels = 16 * numbers.Of(1, 12) + numbers.Of(-1, 1);
        p.out_channels = 16 * numbers.Of(1, 3) + numbers.Of(-1, 1);
    }
    if (i % 50 == 49) p.in_channels = 600;
    int64_t below = 0;
    int64_t right = 0;
    const int64_t most = i % 50 == 49 ? 3 : i % 4 == 3 ? 2 : 5;
    if (!ChooseAxis(numbers, numbers.Of(1, most), p.h, below) ||
        !ChooseAxis(numbers, numbers.Of(1, most), p.w, right)) {
      continue;
    }
    const bool special = i % 3 == 2;
    const int64_t ins = p.groups * p.in_channels;
    const int64_t outs = p.groups * p.out_channels;
    const Tensor x = numbers.Floats({p.batch, ins, p.h.in, p.w.in}, special);
    const Tensor weights =
        numbers.Floats({outs, p.in_channels, p.h.kernel, p.w.kernel}, special);
    SCOPED_TRACE(::testing::Message()
                 << i << ": " << x.TypeToString() << " * "
                 << weights.TypeToString() << " in " << p.groups
                 << " groups, pad " << p.h.pad_before << ", "
                 << p.w.pad_before);
    Conv2dParams params;
    params.strides = {p.h.stride, p.w.stride};
    params.dilation = {p.h.dilation, p.w.dilation};
    params.padding = {p.h.pad_before, p.w.pad_before, below, right};
    params.groups = p.groups;
    const absl::StatusOr<Tensor> expected = Conv2d(x, weights, params);
    // The evaluator's own layouts.
    params.data_layout = "NHWC";
    params.kernel_layout = "HWIO";
    params.out_layout = "NCHW";
    const absl::StatusOr<Tensor> last =
        Conv2d(LayoutTransform(x, "NCHW", "NHWC").value(),
               LayoutTransform(weights, "OIHW", "HWIO").value(), params);
    ASSERT_TRUE(last.ok());
    ASSERT_TRUE(SameBytes(Data(*last), expected));
    for (const TestedKernels& tested : KernelsToTest()) {
      const Kernels& kernels = *tested.kernels;
      for (const bool planar : {false, true}) {
        p.planar_input = planar;
        Buffer packed(PackedConvSize(p));
        p.finite_weights = PackConvWeights(p, Data(weights), packed.data());
        Buffer map = ToBlocked(kernels, x);
        Buffer workspace(static_cast<int64_t>(ConvWorkspaceSize(p) / 4));
        Buffer y(p.batch * BlocksOf(outs) * kBlock * p.h.out * p.w.out);
        kernels.conv(p, planar ? Data(x) : map.data(), packed.data(), {},
                     y.data(), workspace.data(), false, 0, ConvItems(p));
        Buffer actual = ToPlanar(kernels, y, MapOf(expected->shape()));
        ASSERT_TRUE(SameBytes(actual.data(), expected))
            << "width " << tested.name << " planar " << planar;
      }
    }
  }
}

TEST(EvaluatorTest, MatrixProducts) {
  Numbers numbers(2);
  for (int i = 0; i < 60; ++i) {
    MatmulParams p;
    p.m = numbers.OneIn(2) ? numbers.Of(1, 3) : numbers.Of(1, 40);
    p.n = numbers.OneIn(4) ? 1 : numbers.Of(1, 100);
    p.k = i % 20 == 19 ? 4700 : numbers.Of(0, 300);
    const bool special = i % 3 == 2;
    const Tensor x = numbers.Floats({p.m, p.k}, special);
    const Tensor weight = numbers.Floats({p.n, p.k}, special);
    SCOPED_TRACE(::testing::Message()
                 << x.TypeToString() << " * " << weight.TypeToString());
    const absl::StatusOr<Tensor> expected = Dense(x, weight, DType());
    const Tensor transposed = Transpose(weight, {1, 0}).value();
    ASSERT_TRUE(expected.ok());
    ASSERT_TRUE(SameBytes(Data(*expected), Matmul(x, transposed, {})));
    // Each row with each column, as a batch of products of vectors.
    if (p.n == 1 && p.m > 1) {
      const Tensor rows = x.Reshaped({p.m, 1, p.k}).value();
      const Tensor column = weight.Reshaped({1, 1, p.k}).value();
      ASSERT_TRUE(SameBytes(
          Data(BatchMatmul(rows, column, {.transpose_b = true}).value()),
          expected));
    }
    for (const TestedKernels& tested : KernelsToTest()) {
      for (const bool is_transposed : {false, true}) {
        Buffer packed(PackedMatmulSize(p));
        PackMatmul(p, Data(is_transposed ? weight : transposed), is_transposed,
                   packed.data());
        Buffer workspace(static_cast<int64_t>(MatmulWorkspaceSize(p) / 4));
        Buffer y(p.m * p.n);
        tested.kernels->matmul(p, Data(x), packed.data(), {}, y.data(),
                               workspace.data(), false, 0, MatmulItems(p));
        ASSERT_TRUE(SameBytes(y.data(), expected));
      }
    }
  }
}

TEST(EvaluatorTest, Pools) {
  Numbers numbers(3);
  for (int i = 0; i < 100; ++i) {
    PoolParams p;
    p.batch = numbers.Of(1, 2);
    p.channels = numbers.Of(1, 40);
    p.count_include_pad = numbers.OneIn(2);
    int64_t below = 0;
    int64_t right = 0;
    if (!ChooseAxis(numbers, numbers.Of(1, 4), p.h, below) ||
        !ChooseAxis(numbers, numbers.Of(1, 4), p.w, right)) {
      continue;
    }
    const Tensor x =
        numbers.Floats({p.batch, p.channels, p.h.in, p.w.in}, i % 2 == 1);
    Pool2dParams params;
    params.pool_size = {p.h.kernel, p.w.kernel};
    params.strides = {p.h.stride, p.w.stride};
    params.dilation = {p.h.dilation, p.w.dilation};
    params.padding = {p.h.pad_before, p.w.pad_before, below, right};
    params.count_include_pad = p.count_include_pad;
    SCOPED_TRACE(::testing::Message() << i << ": " << x.TypeToString() << " by "
                                      << p.h.kernel << ", " << p.w.kernel);
    for (const TestedKernels& tested : KernelsToTest()) {
      const Kernels& kernels = *tested.kernels;
      Buffer map = ToBlocked(kernels, x);
      const auto pools = [&](auto kernel, int64_t items,
                             const absl::StatusOr<Tensor>& expected) {
        if (!expected.ok()) return SameBytes(nullptr, expected);
        const MapParams result = MapOf(expected->shape());
        Buffer y(result.batch * BlocksOf(result.channels) * kBlock *
                 result.positions);
        kernel(p, map.data(), y.data(), 0, items / 3);
        kernel(p, map.data(), y.data(), items / 3, items);
        return SameBytes(ToPlanar(kernels, y, result).data(), expected);
      };
      ASSERT_TRUE(pools(kernels.max_pool, PoolItems(p), MaxPool2d(x, params)));
      ASSERT_TRUE(pools(kernels.avg_pool, PoolItems(p), AvgPool2d(x, params)));
      ASSERT_TRUE(pools(kernels.global_max_pool, GlobalPoolItems(p),
                        GlobalMaxPool2d(x)));
      ASSERT_TRUE(pools(kernels.global_avg_pool, GlobalPoolItems(p),
                        GlobalAvgPool2d(x)));
    }
  }
}

TEST(EvaluatorTest, LocalResponseNormalization) {
  Numbers numbers(4);
  for (int i = 0; i < 60; ++i) {
    const TensorShape shape = {numbers.Of(1, 2), numbers.Of(1, 70),
                               numbers.Of(1, 9), numbers.Of(1, 40)};
    const Tensor x = numbers.Floats(shape, i % 2 == 1);
    LrnParams params;
    params.size = 1 + 2 * numbers.Of(0, numbers.OneIn(4) ? kMostReach : 3);
    params.bias = numbers.OneIn(2) ? 1 : 0.5;
    params.alpha = numbers.OneIn(2) ? 1e-4 : 3;
    const MapParams map = MapOf(shape);
    const BlockedLrnParams p = {
        .batch = map.batch,
        .channels = map.channels,
        .positions = map.positions,
        .reach = params.size / 2,
        .bias = params.bias,
        .alpha = params.alpha / static_cast<double>(params.size)};
    const absl::StatusOr<Tensor> expected = Lrn(x, params);
    SCOPED_TRACE(::testing::Message() << i << ": " << x.TypeToString());
    for (const TestedKernels& tested : KernelsToTest()) {
      const Kernels& kernels = *tested.kernels;
      Buffer from = ToBlocked(kernels, x);
      Buffer y(map.batch * BlocksOf(map.channels) * kBlock * map.positions);
      const int64_t items = LrnItems(p);
      kernels.lrn(p, from.data(), y.data(), 0, items / 3);
      kernels.lrn(p, from.data(), y.data(), items / 3, items);
      ASSERT_TRUE(SameBytes(ToPlanar(kernels, y, map).data(), expected));
    }
  }
}

TEST(BlockedTest, GathersChannels) {
  Numbers numbers(5);
  for (int i = 0; i < 60; ++i) {
    const int64_t batch = numbers.Of(1, 2);
    const int64_t h = numbers.Of(1, 5);
    const int64_t w = numbers.Of(1, 30);
    const int64_t channels[] = {numbers.Of(1, 50), numbers.Of(1, 50)};
    const Tensor xs[] = {numbers.Floats({batch, channels[0], h, w}, true),
                         numbers.Floats({batch, channels[1], h, w}, true)};
    // The channels of one input after those of another, a shuffle, or any.
    std::vector<ChannelSource> sources;
    for (int32_t k = 0; k < 2; ++k) {
      for (int32_t c = 0; c < channels[k]; ++c) sources.push_back({k, c});
    }
    if (i % 3 == 1)
      std::shuffle(sources.begin(), sources.end(), std::mt19937());
    if (i % 3 == 2)
      std::rotate(sources.begin(), sources.begin() + 1, sources.end());
    if (i % 4 == 3) sources.resize((sources.size() + 1) / 2);
    const int64_t count = static_cast<int64_t>(sources.size());
    const Tensor expected = [&] {
      MutableTensor y =
          *MutableTensor::Create(DType::Float(32), {batch, count, h, w});
      float* to = y.span<float>().data();
      for (int64_t n = 0; n < batch; ++n) {
        for (const ChannelSource& source : sources) {
          const float* const from =
              Data(xs[source.input]) +
              (n * channels[source.input] + source.channel) * h * w;
          to = std::copy_n(from, h * w, to);
        }
      }
      return std::move(y).Freeze();
    }();
    const int64_t strides[] = {BlocksOf(channels[0]) * kBlock * h * w,
                               BlocksOf(channels[1]) * kBlock * h * w};
    const GatherParams p = {.batch = batch,
                            .channels = count,
                            .positions = h * w,
                            .sources = sources.data(),
                            .x_batch_strides = strides};
    for (const TestedKernels& tested : KernelsToTest()) {
      const Kernels& kernels = *tested.kernels;
      Buffer a = ToBlocked(kernels, xs[0]);
      Buffer b = ToBlocked(kernels, xs[1]);
      const float* const inputs[] = {a.data(), b.data()};
      Buffer y(batch * BlocksOf(count) * kBlock * h * w);
      const int64_t items = GatherItems(p);
      kernels.gather(p, inputs, y.data(), 0, items / 2);
      kernels.gather(p, inputs, y.data(), items / 2, items);
      ASSERT_TRUE(SameBytes(
          ToPlanar(kernels, y, MapOf(expected.shape())).data(), expected))
          << i;
    }
  }
}

}  // namespace
}  // namespace baton::kernels::blocked
