#include "baton/runtime/kernels/pool_kernels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/internal/testing.h"
#include "baton/runtime/kernels/layout_kernels.h"
#include "gtest/gtest.h"

namespace baton::kernels {
namespace {

using internal::Fails;
using internal::Flat;
using internal::ForEachIndex;
using internal::Make;
using internal::MakeFloat;
using internal::Matches;
using internal::Random;
using internal::Unwrap;
using internal::Values;

const DType kFloat32 = DType::Float(32);
const DType kInt32 = DType::Int(32);

struct Reference {
  std::vector<int64_t> shape;
  std::vector<double> max;
  std::vector<double> average;
};

// The definition, for data in NC + spatial layout.
template <size_t N>
Reference Naive(const Tensor& x, const PoolParams<N>& p) {
  const std::vector<double> v = Values(x);
  Reference r;
  r.shape = {x.shape()[0], x.shape()[1]};
  for (size_t i = 0; i < N; ++i) {
    const int64_t room = x.shape()[2 + i] + p.padding[i] + p.padding[N + i] -
                         p.dilation[i] * (p.pool_size[i] - 1) - 1;
    r.shape.push_back((p.ceil_mode ? (room + p.strides[i] - 1) / p.strides[i]
                                   : room / p.strides[i]) +
                      1);
  }
  const std::vector<int64_t> taps(p.pool_size.begin(), p.pool_size.end());
  ForEachIndex(r.shape, [&](const std::vector<int64_t>& o) {
    double max = -std::numeric_limits<float>::max(), sum = 0;
    int64_t inside = 0, all = 0;
    ForEachIndex(taps, [&](const std::vector<int64_t>& k) {
      ++all;
      std::vector<int64_t> from = {o[0], o[1]};
      for (size_t i = 0; i < N; ++i) {
        from.push_back(o[2 + i] * p.strides[i] - p.padding[i] +
                       k[i] * p.dilation[i]);
        if (from.back() < 0 || from.back() >= x.shape()[2 + i]) return;
      }
      const double value = v[static_cast<size_t>(Flat(x.shape(), from))];
      ++inside;
      max = std::max(max, value);
      sum += value;
    });
    r.max.push_back(max);
    const int64_t count =
        p.count_include_pad ? all : std::max<int64_t>(1, inside);
    r.average.push_back(sum / static_cast<double>(count));
  });
  return r;
}

TEST(Pool2dTest, MatchesDefinitionInAllLayouts) {
  struct Case {
    std::array<int64_t, 2> size;
    std::array<int64_t, 2> strides = {1, 1};
    std::array<int64_t, 4> padding = {0, 0, 0, 0};
    std::array<int64_t, 2> dilation = {1, 1};
  };
  const Case cases[] = {
      {{1, 1}},
      {{2, 3}},
      {{3, 3}, {2, 2}, {1, 1, 1, 1}},
      {{3, 2}, {2, 3}, {0, 1, 2, 0}},
      {{2, 2}, {1, 2}, {0, 0, 0, 0}, {3, 2}},
      {{2, 2}, {3, 3}, {4, 3, 3, 4}, {1, 2}},
      {{9, 8}},
  };
  for (const std::vector<int64_t>& shape :
       std::vector<std::vector<int64_t>>{{2, 4, 9, 8}, {0, 4, 9, 8}}) {
    const Tensor x = Random(kFloat32, shape, 1);
    for (const Case& c : cases) {
      for (const bool ceil_mode : {false, true}) {
        for (const bool count_include_pad : {false, true}) {
          Pool2dParams params;
          params.pool_size = c.size;
          params.strides = c.strides;
          params.padding = c.padding;
          params.dilation = c.dilation;
          params.ceil_mode = ceil_mode;
          params.count_include_pad = count_include_pad;
          const Reference r = Naive(x, params);
          for (const std::string layout :
               {"", "NCHW", "NHWC", "NCHW4c", "NCHW2c", "HWNC"}) {
            SCOPED_TRACE(::testing::Message()
                         << layout << " " << c.size[0] << "x" << c.size[1]);
            params.layout = layout;
            const std::string in = layout.empty() ? "NCHW" : layout;
            const Tensor data = Unwrap(LayoutTransform(x, "NCHW", in));
            EXPECT_TRUE(Matches(
                LayoutTransform(Unwrap(MaxPool2d(data, params)), in, "NCHW"),
                kFloat32, r.shape, r.max, 0, 0));
            EXPECT_TRUE(Matches(
                LayoutTransform(Unwrap(AvgPool2d(data, params)), in, "NCHW"),
                kFloat32, r.shape, r.average));
          }
        }
      }
    }
  }
}

TEST(Pool2dTest, OtherDTypes) {
  Pool2dParams params;
  params.pool_size = {2, 2};
  params.padding = {1, 0, 0, 1};
  for (const DType dtype :
       {DType::Float(64), DType::Float(16), DType::BFloat(16), DType::Int(8),
        kInt32, DType::Int(64)}) {
    const Tensor x = Random(dtype, {1, 2, 4, 4}, 1);
    const Reference r = Naive(x, params);
    std::vector<double> average = r.average;
    if (!dtype.is_float()) {
      for (double& v : average) v = std::trunc(v);
    }
    const double tolerance = dtype.bits() == 16 ? 1e-2 : 1e-12;
    EXPECT_TRUE(
        Matches(MaxPool2d(x, params), dtype, r.shape, r.max, tolerance));
    EXPECT_TRUE(Matches(AvgPool2d(x, params), dtype, r.shape, average,
                        tolerance, 1e-4));
  }
  const Tensor u = Make(DType::UInt(8), {1, 1, 1, 2}, {255, 254});
  params.padding = {};
  params.pool_size = {1, 2};
  EXPECT_TRUE(
      Matches(AvgPool2d(u, params), DType::UInt(8), {1, 1, 1, 1}, {254}));
}

// The lowest number of the type, in types that are computed with as float32,
// too: there it would become an infinity.
TEST(Pool2dTest, MaximumOfPaddingOnly) {
  Pool2dParams params;
  params.pool_size = {1, 1};
  params.padding = {0, 1, 0, 0};
  for (const auto& [dtype, lowest] :
       std::vector<std::pair<DType, double>>{{DType::Float(16), -65504},
                                             {DType::BFloat(16), -0x1.fep127},
                                             {kFloat32, -0x1.fffffep127},
                                             {DType::Int(8), -128}}) {
    EXPECT_TRUE(Matches(MaxPool2d(Make(dtype, {1, 1, 1, 1}, {3}), params),
                        dtype, {1, 1, 1, 2}, {lowest, 3}));
  }
}

TEST(Pool2dTest, NanWins) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Pool2dParams params;
  params.pool_size = {1, 3};
  for (const std::vector<double>& row : std::vector<std::vector<double>>{
           {nan, 1, 2}, {1, nan, 2}, {1, 2, nan}}) {
    EXPECT_TRUE(Matches(MaxPool2d(MakeFloat({1, 1, 1, 3}, row), params),
                        kFloat32, {1, 1, 1, 1}, {nan}));
  }
}

TEST(PoolTest, OneAndThreeDimensions) {
  Pool1dParams one;
  one.pool_size = {3};
  one.strides = {2};
  one.padding = {1, 0};
  const Tensor line = Random(kFloat32, {2, 3, 8}, 1);
  const Reference r1 = Naive(line, one);
  EXPECT_TRUE(Matches(MaxPool1d(line, one), kFloat32, r1.shape, r1.max));
  EXPECT_TRUE(Matches(AvgPool1d(line, one), kFloat32, r1.shape, r1.average));
  Pool3dParams three;
  three.pool_size = {2, 3, 2};
  three.strides = {1, 2, 1};
  three.padding = {1, 0, 0, 0, 1, 1};
  three.dilation = {2, 1, 1};
  const Tensor cube = Random(kFloat32, {2, 3, 4, 5, 6}, 1);
  const Reference r3 = Naive(cube, three);
  EXPECT_TRUE(Matches(MaxPool3d(cube, three), kFloat32, r3.shape, r3.max));
  EXPECT_TRUE(Matches(AvgPool3d(cube, three), kFloat32, r3.shape, r3.average));
  three.layout = "NDHWC";
  EXPECT_TRUE(
      Matches(LayoutTransform(
                  Unwrap(MaxPool3d(
                      Unwrap(LayoutTransform(cube, "NCDHW", "NDHWC")), three)),
                  "NDHWC", "NCDHW"),
              kFloat32, r3.shape, r3.max));
}

TEST(PoolTest, Global) {
  const Tensor x = Random(kFloat32, {2, 4, 7, 5}, 1);
  Pool2dParams params;
  params.pool_size = {7, 5};
  const Reference r = Naive(x, params);
  for (const std::string layout : {"NCHW", "NHWC", "NCHW4c"}) {
    const Tensor data = Unwrap(LayoutTransform(x, "NCHW", layout));
    EXPECT_TRUE(Matches(
        LayoutTransform(Unwrap(GlobalMaxPool2d(data, layout)), layout, "NCHW"),
        kFloat32, {2, 4, 1, 1}, r.max));
    EXPECT_TRUE(Matches(
        LayoutTransform(Unwrap(GlobalAvgPool2d(data, layout)), layout, "NCHW"),
        kFloat32, {2, 4, 1, 1}, r.average));
  }
  EXPECT_FALSE(GlobalAvgPool2d(Make(kFloat32, {1, 2, 0, 3}, {})).ok());
}

TEST(PoolTest, Adaptive) {
  const Tensor x = Random(kFloat32, {2, 4, 7, 5}, 1);
  for (const std::vector<int64_t>& size :
       std::vector<std::vector<int64_t>>{{1, 1}, {3, 2}, {7, 5}, {9, 4}}) {
    std::vector<double> max, average;
    ForEachIndex({2, 4, size[0], size[1]}, [&](const std::vector<int64_t>& o) {
      double m = -1e9, sum = 0;
      int64_t count = 0;
      for (int64_t h = o[2] * 7 / size[0];
           h < ((o[2] + 1) * 7 + size[0] - 1) / size[0]; ++h) {
        for (int64_t w = o[3] * 5 / size[1];
             w < ((o[3] + 1) * 5 + size[1] - 1) / size[1]; ++w) {
          const double v = x.AtAsDouble(Flat({2, 4, 7, 5}, {o[0], o[1], h, w}));
          m = std::max(m, v);
          sum += v;
          ++count;
        }
      }
      max.push_back(m);
      average.push_back(sum / static_cast<double>(count));
    });
    for (const std::string layout : {"NCHW", "NHWC", "NCHW2c"}) {
      const Tensor data = Unwrap(LayoutTransform(x, "NCHW", layout));
      EXPECT_TRUE(
          Matches(LayoutTransform(Unwrap(AdaptiveMaxPool(data, size, layout)),
                                  layout, "NCHW"),
                  kFloat32, {2, 4, size[0], size[1]}, max));
      EXPECT_TRUE(
          Matches(LayoutTransform(Unwrap(AdaptiveAvgPool(data, size, layout)),
                                  layout, "NCHW"),
                  kFloat32, {2, 4, size[0], size[1]}, average));
    }
  }
  EXPECT_TRUE(
      Matches(AdaptiveMaxPool(x, {}), kFloat32, {2, 4, 7, 5}, Values(x)));
  EXPECT_TRUE(Fails(AdaptiveMaxPool(x, {1, 2, 3}).status(), "adaptive_max_pool",
                    "output size"));
  EXPECT_TRUE(
      Fails(AdaptiveAvgPool(x, {-1, 2}).status(), "adaptive_avg_pool", "-1"));
}

TEST(PoolTest, WindowsMuchLargerThanTheImageAreNotWalked) {
  const Tensor x = MakeFloat({1, 1, 2, 2}, {1, 2, 3, 4});
  constexpr int64_t kHuge = (int64_t{1} << 31) - 1;
  Pool2dParams params;
  params.pool_size = {kHuge, kHuge};
  params.padding = {kHuge / 2, kHuge / 2, kHuge / 2 + 30, kHuge / 2 + 30};
  const Tensor largest = Unwrap(MaxPool2d(x, params));
  EXPECT_EQ(Values(largest), std::vector<double>(32 * 32, 4));
  EXPECT_EQ(Values(Unwrap(AvgPool2d(x, params))),
            std::vector<double>(32 * 32, 2.5));
  // Steps and dilation leave all but the corners out.
  params.pool_size = {3, 3};
  params.strides = {kHuge - 1, kHuge - 1};
  params.dilation = {kHuge - 1, kHuge - 1};
  params.padding = {kHuge - 1, kHuge - 1, kHuge - 1, kHuge - 1};
  EXPECT_TRUE(Matches(MaxPool2d(x, params), kFloat32, {1, 1, 1, 1}, {1}));
  // Most windows lie in the padding.
  params = {};
  params.pool_size = {1, 1};
  params.padding = {1 << 20, 0, 1 << 20, 0};
  params.strides = {1 << 20, 1};
  EXPECT_TRUE(Matches(AvgPool2d(MakeFloat({1, 1, 1, 2}, {5, 6}), params),
                      kFloat32, {1, 1, 3, 2}, {0, 0, 5, 6, 0, 0}));
}

TEST(PoolTest, Errors) {
  const Tensor x = Random(kFloat32, {1, 2, 5, 5});
  const auto fails = [&x](const char* text, const auto& change) {
    Pool2dParams params;
    change(params);
    return Fails(MaxPool2d(x, params).status(), "max_pool2d", text);
  };
  EXPECT_TRUE(fails("stride 0", [](auto& p) { p.strides[0] = 0; }));
  EXPECT_TRUE(fails("dilation", [](auto& p) { p.dilation[1] = -2; }));
  EXPECT_TRUE(fails("padding", [](auto& p) { p.padding[2] = -1; }));
  EXPECT_TRUE(fails("extent", [](auto& p) { p.pool_size[0] = 0; }));
  EXPECT_TRUE(fails("pool size", [](auto& p) { p.pool_size[0] = INT64_MAX; }));
  EXPECT_TRUE(fails("does not fit", [](auto& p) { p.pool_size[0] = 6; }));
  EXPECT_TRUE(fails("layout", [](auto& p) { p.layout = "NCW"; }));
  EXPECT_TRUE(fails("layout", [](auto& p) { p.layout = "NHCW"; }));
  EXPECT_TRUE(fails("layout", [](auto& p) { p.layout = "NCWH"; }));
  EXPECT_TRUE(fails("layout", [](auto& p) { p.layout = "NCHW4c"; }));
  EXPECT_TRUE(Fails(MaxPool2d(Random(DType::Bool(), {1, 1, 2, 2}), {}).status(),
                    "max_pool2d", "bool"));
  EXPECT_TRUE(Fails(MaxPool2d(Random(kFloat32, {2, 5, 5}), {}).status(),
                    "max_pool2d", "layout"));
}

}  // namespace
}  // namespace baton::kernels
