#include "baton/runtime/kernels/conv_kernels.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/correlation.h"
#include "baton/runtime/kernels/deformable_conv.h"
#include "baton/runtime/kernels/internal/testing.h"
#include "baton/runtime/kernels/layout_kernels.h"
#include "baton/runtime/kernels/transformed_weight.h"
#include "gtest/gtest.h"

namespace baton::kernels {
namespace {

using internal::Fails;
using internal::Flat;
using internal::ForEachIndex;
using internal::Make;
using internal::Matches;
using internal::Random;
using internal::Unwrap;
using internal::Values;
using internal::Within;

const DType kFloat32 = DType::Float(32);

// A result in NC + spatial layout, and the sums of its terms' magnitudes.
struct Reference {
  std::vector<int64_t> shape;
  std::vector<double> values;
  std::vector<double> magnitudes;

  std::vector<double> Bounds(double relative) const {
    std::vector<double> bounds;
    for (const double m : magnitudes) bounds.push_back(m * relative + 1e-12);
    return bounds;
  }
};

template <size_t N>
Reference Start(std::vector<int64_t> shape) {
  Reference r;
  int64_t total = 1;
  for (const int64_t d : shape) total *= d;
  r.shape = std::move(shape);
  r.values.resize(static_cast<size_t>(total));
  r.magnitudes.resize(static_cast<size_t>(total));
  return r;
}

// The definition, in double, for NC + spatial data and OI + spatial kernels.
template <size_t N>
Reference NaiveConv(const Tensor& data, const Tensor& kernel,
                    const ConvParams<N>& p) {
  const std::vector<double> x = Values(data), w = Values(kernel);
  const auto in = data.shape(), taps = kernel.shape();
  std::vector<int64_t> shape = {in[0], taps[0]};
  for (size_t i = 0; i < N; ++i) {
    shape.push_back((in[2 + i] + p.padding[i] + p.padding[N + i] -
                     p.dilation[i] * (taps[2 + i] - 1) - 1) /
                        p.strides[i] +
                    1);
  }
  Reference r = Start<N>(shape);
  const int64_t outs = taps[0] / p.groups;
  std::vector<int64_t> reduced(taps.begin() + 1, taps.end());
  ForEachIndex(shape, [&](const std::vector<int64_t>& o) {
    const size_t to = static_cast<size_t>(Flat(shape, o));
    ForEachIndex(reduced, [&](const std::vector<int64_t>& k) {
      std::vector<int64_t> from = {o[0], o[1] / outs * taps[1] + k[0]};
      std::vector<int64_t> tap = {o[1], k[0]};
      for (size_t i = 0; i < N; ++i) {
        from.push_back(o[2 + i] * p.strides[i] - p.padding[i] +
                       k[1 + i] * p.dilation[i]);
        tap.push_back(k[1 + i]);
        if (from.back() < 0 || from.back() >= in[2 + i]) return;
      }
      const double term = x[static_cast<size_t>(Flat(in, from))] *
                          w[static_cast<size_t>(Flat(taps, tap))];
      r.values[to] += term;
      r.magnitudes[to] += std::abs(term);
    });
  });
  return r;
}

// The definition of the transpose, for IO + spatial kernels.
template <size_t N>
Reference NaiveTranspose(const Tensor& data, const Tensor& kernel,
                         const ConvTransposeParams<N>& p) {
  const std::vector<double> x = Values(data), w = Values(kernel);
  const auto in = data.shape(), taps = kernel.shape();
  std::vector<int64_t> shape = {in[0], taps[1] * p.groups};
  for (size_t i = 0; i < N; ++i) {
    shape.push_back((in[2 + i] - 1) * p.strides[i] - p.padding[i] -
                    p.padding[N + i] + p.dilation[i] * (taps[2 + i] - 1) + 1 +
                    p.output_padding[i]);
  }
  Reference r = Start<N>(shape);
  const int64_t ins = in[1] / p.groups;
  ForEachIndex({in.begin(), in.end()}, [&](const std::vector<int64_t>& at) {
    ForEachIndex(
        {taps.begin() + 1, taps.end()}, [&](const std::vector<int64_t>& k) {
          std::vector<int64_t> o = {at[0], at[1] / ins * taps[1] + k[0]};
          std::vector<int64_t> tap = {at[1], k[0]};
          for (size_t i = 0; i < N; ++i) {
            o.push_back(at[2 + i] * p.strides[i] - p.padding[i] +
                        k[1 + i] * p.dilation[i]);
            tap.push_back(k[1 + i]);
            if (o.back() < 0 || o.back() >= shape[2 + i]) return;
          }
          const size_t to = static_cast<size_t>(Flat(shape, o));
          const double term = x[static_cast<size_t>(Flat(in, at))] *
                              w[static_cast<size_t>(Flat(taps, tap))];
          r.values[to] += term;
          r.magnitudes[to] += std::abs(term);
        });
  });
  return r;
}

struct Case {
  std::vector<int64_t> data;    // NCHW
  std::vector<int64_t> kernel;  // OIHW
  std::array<int64_t, 2> strides = {1, 1};
  std::array<int64_t, 4> padding = {0, 0, 0, 0};
  std::array<int64_t, 2> dilation = {1, 1};
  int64_t groups = 1;
};

const Case kCases[] = {
    {{1, 1, 1, 1}, {1, 1, 1, 1}},
    {{2, 3, 7, 5}, {4, 3, 3, 3}},
    {{1, 3, 9, 11}, {5, 3, 3, 2}, {2, 3}},
    {{1, 4, 8, 8}, {8, 4, 3, 3}, {1, 1}, {1, 1, 1, 1}},
    {{2, 4, 8, 9}, {8, 4, 3, 3}, {2, 2}, {0, 1, 2, 3}},
    {{1, 2, 11, 10}, {3, 2, 3, 3}, {1, 2}, {2, 0, 1, 4}, {2, 3}},
    {{1, 8, 6, 6}, {4, 8, 1, 1}},
    {{3, 8, 6, 5}, {4, 8, 1, 1}, {2, 2}},
    {{1, 8, 6, 5}, {4, 8, 1, 1}, {1, 1}, {1, 0, 0, 2}},
    {{2, 8, 6, 7}, {12, 4, 3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 2},
    {{1, 6, 6, 7}, {9, 2, 2, 3}, {2, 1}, {1, 0, 0, 1}, {1, 2}, 3},
    {{2, 4, 7, 9}, {4, 1, 3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 4},
    {{1, 4, 7, 9}, {4, 1, 3, 3}, {2, 2}, {0, 2, 1, 0}, {2, 1}, 4},
    {{1, 4, 5, 6}, {12, 1, 3, 2}, {1, 2}, {1, 1, 0, 2}, {1, 1}, 4},
    // Windows that read only padding, at all sides.
    {{1, 2, 3, 3}, {2, 2, 2, 2}, {1, 1}, {5, 4, 3, 6}},
    {{1, 4, 3, 3}, {4, 1, 2, 2}, {2, 3}, {5, 4, 3, 6}, {1, 1}, 4},
    // More positions than are unfolded at a time.
    {{1, 70, 40, 40}, {3, 70, 5, 5}, {1, 1}, {2, 2, 2, 2}},
    // A depth beyond what is summed in float32 at once.
    {{1, 520, 4, 4}, {3, 520, 3, 3}},
    // A depthwise kernel of many taps.
    {{1, 2, 15, 15}, {2, 1, 13, 13}, {1, 1}, {3, 3, 3, 3}, {1, 1}, 2},
    // Empty batches and channels.
    {{0, 3, 5, 5}, {4, 3, 3, 3}},
    {{1, 3, 5, 5}, {0, 3, 3, 3}},
    {{1, 0, 5, 5}, {2, 0, 3, 3}},
};

Conv2dParams ParamsOf(const Case& c) {
  Conv2dParams params;
  params.strides = c.strides;
  params.padding = c.padding;
  params.dilation = c.dilation;
  params.groups = c.groups;
  return params;
}

TEST(Conv2dTest, MatchesDefinitionInAllLayouts) {
  struct Layouts {
    std::string data;
    std::string kernel;
    std::string out;
  };
  const Layouts layouts[] = {
      {"", "", ""},
      {"NCHW", "HWIO", "NHWC"},
      {"NHWC", "HWIO", ""},
      {"NHWC", "OHWI", "NCHW"},
      {"NHWC", "HWOI", "NHWC"},
      {"HWCN", "OIHW", "HWCN"},
      {"NCHW4c", "OIHW4i4o", "NCHW4c"},
      {"NCHW2c", "OIHW2o", "NCHW4c"},
  };
  for (const Case& c : kCases) {
    const Tensor data = Random(kFloat32, c.data, 3);
    const Tensor kernel = Random(kFloat32, c.kernel, 4);
    Conv2dParams params = ParamsOf(c);
    const Reference expected = NaiveConv(data, kernel, params);
    for (const Layouts& l : layouts) {
      // Blocks that do not divide the channels change what is convolved.
      if (l.kernel == "OIHW4i4o" &&
          (c.data[1] % 4 != 0 || c.kernel[0] % 4 != 0 ||
           c.kernel[1] % 4 != 0)) {
        continue;
      }
      if (l.kernel == "OIHW2o" &&
          (c.data[1] % 2 != 0 || c.kernel[0] % 4 != 0)) {
        continue;
      }
      SCOPED_TRACE(::testing::Message()
                   << data.TypeToString() << " * " << kernel.TypeToString()
                   << " in " << l.data << ", " << l.kernel << ", " << l.out);
      params.data_layout = l.data;
      params.kernel_layout = l.kernel;
      params.out_layout = l.out;
      const std::string plain = "NCHW";
      const std::string in = l.data.empty() ? plain : l.data;
      const std::string out = l.out.empty() ? in : l.out;
      const Tensor x = Unwrap(LayoutTransform(data, plain, in));
      const Tensor w = Unwrap(LayoutTransform(
          kernel, "OIHW", l.kernel.empty() ? "OIHW" : l.kernel));
      const Tensor y = Unwrap(Conv2d(x, w, params));
      EXPECT_TRUE(Within(LayoutTransform(y, out, plain), kFloat32,
                         expected.shape, expected.values,
                         expected.Bounds(1e-5)));
    }
  }
}

TEST(Conv2dTest, OtherDTypes) {
  const Case& c = kCases[4];
  Conv2dParams params = ParamsOf(c);
  {
    const Tensor data = Random(DType::Float(64), c.data, 3);
    const Tensor kernel = Random(DType::Float(64), c.kernel, 4);
    const Reference r = NaiveConv(data, kernel, params);
    EXPECT_TRUE(Within(Conv2d(data, kernel, params), DType::Float(64), r.shape,
                       r.values, r.Bounds(1e-13)));
  }
  for (const DType half : {DType::Float(16), DType::BFloat(16)}) {
    const Tensor data = Random(half, c.data, 3);
    const Tensor kernel = Random(half, c.kernel, 4);
    const Reference r = NaiveConv(data, kernel, params);
    EXPECT_TRUE(Within(Conv2d(data, kernel, params), half, r.shape, r.values,
                       r.Bounds(half == DType::Float(16) ? 1e-3 : 8e-3)));
    params.out_dtype = kFloat32;
    EXPECT_TRUE(Within(Conv2d(data, kernel, params), kFloat32, r.shape,
                       r.values, r.Bounds(1e-5)));
    params.out_dtype = DType();
  }
  // Quantized: unsigned data, signed kernel, wide result.
  const Tensor data = Random(DType::UInt(8), c.data, 3);
  const Tensor kernel = Random(DType::Int(8), c.kernel, 4);
  const Reference r = NaiveConv(data, kernel, params);
  params.out_dtype = DType::Int(32);
  EXPECT_TRUE(Matches(Conv2d(data, kernel, params), DType::Int(32), r.shape,
                      r.values, 0, 0));
  params.out_dtype = DType::Int(64);
  EXPECT_TRUE(Matches(Conv2d(data, kernel, params), DType::Int(64), r.shape,
                      r.values, 0, 0));
  // Without a result dtype, that of the data, wrapped.
  params.out_dtype = DType();
  std::vector<double> wrapped;
  for (const double v : r.values) {
    wrapped.push_back(static_cast<uint8_t>(static_cast<int64_t>(v)));
  }
  EXPECT_TRUE(Matches(Conv2d(data, kernel, params), DType::UInt(8), r.shape,
                      wrapped, 0, 0));
}

TEST(Conv2dTest, DepthwiseKernelWithChannelMultiplier) {
  const Tensor data = Random(kFloat32, {2, 4, 6, 5}, 3);
  const Tensor standard = Random(kFloat32, {12, 1, 3, 3}, 4);
  const Tensor multiplier = Unwrap(standard.Reshaped({4, 3, 3, 3}));
  Conv2dParams params;
  params.groups = 4;
  const Reference r = NaiveConv(data, standard, params);
  EXPECT_TRUE(Within(Conv2d(data, multiplier, params), kFloat32, r.shape,
                     r.values, r.Bounds(1e-5)));
  params.data_layout = "NHWC";
  params.kernel_layout = "HWOI";
  params.out_layout = "NCHW";
  EXPECT_TRUE(Within(
      Conv2d(Unwrap(LayoutTransform(data, "NCHW", "NHWC")),
             Unwrap(LayoutTransform(multiplier, "OIHW", "HWOI")), params),
      kFloat32, r.shape, r.values, r.Bounds(1e-5)));
}

TEST(Conv2dTest, Errors) {
  const Tensor data = Random(kFloat32, {1, 4, 5, 5});
  const Tensor kernel = Random(kFloat32, {4, 4, 3, 3});
  const auto fails = [&](const char* text, const auto& change) {
    Conv2dParams params;
    change(params);
    return Fails(Conv2d(data, kernel, params).status(), "conv2d", text);
  };
  EXPECT_TRUE(fails("stride 0", [](auto& p) { p.strides[1] = 0; }));
  EXPECT_TRUE(fails("stride -1", [](auto& p) { p.strides[0] = -1; }));
  EXPECT_TRUE(fails("stride", [](auto& p) { p.strides[0] = INT64_MAX; }));
  EXPECT_TRUE(fails("dilation 0", [](auto& p) { p.dilation[0] = 0; }));
  EXPECT_TRUE(fails("dilation", [](auto& p) { p.dilation[0] = INT64_MAX; }));
  EXPECT_TRUE(fails("padding -1", [](auto& p) { p.padding[3] = -1; }));
  EXPECT_TRUE(fails("padding", [](auto& p) { p.padding[3] = INT64_MAX; }));
  EXPECT_TRUE(fails("does not fit", [](auto& p) { p.dilation[0] = 3; }));
  EXPECT_TRUE(fails("groups", [](auto& p) { p.groups = 0; }));
  EXPECT_TRUE(fails("groups", [](auto& p) { p.groups = 3; }));
  EXPECT_TRUE(fails("kernel", [](auto& p) { p.groups = 2; }));
  EXPECT_TRUE(fails("data", [](auto& p) { p.data_layout = "NCW"; }));
  EXPECT_TRUE(fails("data", [](auto& p) { p.data_layout = "NCHW3c"; }));
  EXPECT_TRUE(fails("kernel", [](auto& p) { p.kernel_layout = "OI??"; }));
  EXPECT_TRUE(fails("result", [](auto& p) { p.out_layout = "NC"; }));
  EXPECT_TRUE(fails("handle", [](auto& p) {
    p.out_dtype = DType(DType::Code::kHandle, 64);
  }));
  EXPECT_TRUE(
      Fails(Conv2d(data, Random(DType::Int(8), {4, 4, 3, 3}), {}).status(),
            "conv2d", "int8"));
  EXPECT_TRUE(
      Fails(Conv2d(Random(DType::Bool(), {1, 4, 5, 5}), kernel, {}).status(),
            "conv2d", "bool"));
  EXPECT_TRUE(Fails(Conv2d(Random(kFloat32, {4, 5, 5}), kernel, {}).status(),
                    "conv2d", "data"));
  EXPECT_TRUE(Fails(Conv2d(data, Random(kFloat32, {4, 4, 3}), {}).status(),
                    "conv2d", "kernel"));
  EXPECT_TRUE(Fails(Conv2d(data, Random(kFloat32, {4, 4, 0, 3}), {}).status(),
                    "conv2d", "extent"));
  EXPECT_TRUE(Fails(Conv2d(data, Random(kFloat32, {4, 4, 6, 3}), {}).status(),
                    "conv2d", "does not fit"));
  // More memory than there is, refused without a crash.
  Conv2dParams huge;
  huge.padding.fill(int64_t{1} << 31);
  EXPECT_FALSE(Conv2d(data, kernel, huge).ok());
}

TEST(Conv1dTest, MatchesDefinition) {
  Conv1dParams params;
  params.strides = {2};
  params.padding = {1, 3};
  params.dilation = {2};
  params.groups = 2;
  const Tensor data = Random(kFloat32, {2, 4, 11}, 3);
  const Tensor kernel = Random(kFloat32, {6, 2, 3}, 4);
  const Reference r = NaiveConv(data, kernel, params);
  EXPECT_TRUE(Within(Conv1d(data, kernel, params), kFloat32, r.shape, r.values,
                     r.Bounds(1e-5)));
  params.data_layout = "NWC";
  params.kernel_layout = "WIO";
  params.out_layout = "NCW";
  EXPECT_TRUE(
      Within(Conv1d(Unwrap(LayoutTransform(data, "NCW", "NWC")),
                    Unwrap(LayoutTransform(kernel, "OIW", "WIO")), params),
             kFloat32, r.shape, r.values, r.Bounds(1e-5)));
}

TEST(Conv3dTest, MatchesDefinition) {
  for (const int64_t groups : {1, 2, 4}) {
    Conv3dParams params;
    params.strides = {1, 2, 1};
    params.padding = {1, 0, 2, 0, 1, 1};
    params.dilation = {2, 1, 1};
    params.groups = groups;
    const Tensor data = Random(kFloat32, {2, 4, 5, 6, 4}, 3);
    const Tensor kernel = Random(kFloat32, {8, 4 / groups, 2, 3, 2}, 4);
    const Reference r = NaiveConv(data, kernel, params);
    EXPECT_TRUE(Within(Conv3d(data, kernel, params), kFloat32, r.shape,
                       r.values, r.Bounds(1e-5)));
    params.data_layout = "NDHWC";
    params.kernel_layout = "DHWIO";
    params.out_layout = "NCDHW";
    EXPECT_TRUE(Within(
        Conv3d(Unwrap(LayoutTransform(data, "NCDHW", "NDHWC")),
               Unwrap(LayoutTransform(kernel, "OIDHW", "DHWIO")), params),
        kFloat32, r.shape, r.values, r.Bounds(1e-5)));
  }
}

TEST(Conv2dTransposeTest, MatchesDefinition) {
  struct TransposeCase {
    std::vector<int64_t> data;
    std::vector<int64_t> kernel;  // IOHW
    std::array<int64_t, 2> strides = {1, 1};
    std::array<int64_t, 4> padding = {0, 0, 0, 0};
    std::array<int64_t, 2> dilation = {1, 1};
    int64_t groups = 1;
    std::array<int64_t, 2> output_padding = {0, 0};
  };
  const TransposeCase cases[] = {
      {{1, 1, 1, 1}, {1, 1, 1, 1}},
      {{2, 3, 4, 5}, {3, 2, 3, 3}},
      {{1, 3, 4, 5}, {3, 2, 3, 3}, {2, 2}, {1, 1, 1, 1}, {1, 1}, 1, {1, 1}},
      {{1, 4, 4, 5}, {4, 3, 2, 3}, {3, 2}, {0, 1, 2, 0}, {1, 2}, 2, {2, 0}},
      {{1, 4, 5, 5}, {4, 1, 4, 4}, {2, 2}, {1, 1, 1, 1}, {1, 1}, 4},
      {{1, 2, 90, 90}, {2, 64, 3, 3}, {1, 1}, {1, 1, 1, 1}},
      {{0, 2, 3, 3}, {2, 2, 3, 3}},
      // All of the result is cut away.
      {{1, 2, 1, 3}, {2, 2, 2, 3}, {1, 1}, {1, 0, 1, 0}},
  };
  for (const TransposeCase& c : cases) {
    const Tensor data = Random(kFloat32, c.data, 3);
    const Tensor kernel = Random(kFloat32, c.kernel, 4);
    SCOPED_TRACE(::testing::Message()
                 << data.TypeToString() << " * " << kernel.TypeToString());
    Conv2dTransposeParams params;
    params.strides = c.strides;
    params.padding = c.padding;
    params.dilation = c.dilation;
    params.groups = c.groups;
    params.output_padding = c.output_padding;
    const Reference r = NaiveTranspose(data, kernel, params);
    EXPECT_TRUE(Within(Conv2dTranspose(data, kernel, params), kFloat32, r.shape,
                       r.values, r.Bounds(1e-5)));
    params.data_layout = "NHWC";
    params.kernel_layout = "HWIO";
    params.out_layout = "NCHW";
    EXPECT_TRUE(
        Within(Conv2dTranspose(Unwrap(LayoutTransform(data, "NCHW", "NHWC")),
                               Unwrap(LayoutTransform(kernel, "IOHW", "HWIO")),
                               params),
               kFloat32, r.shape, r.values, r.Bounds(1e-5)));
  }
}

TEST(ConvTransposeTest, OneAndThreeDimensions) {
  Conv1dTransposeParams one;
  one.strides = {2};
  one.output_padding = {1};
  const Tensor line = Random(kFloat32, {2, 3, 5}, 3);
  const Tensor line_kernel = Random(kFloat32, {3, 2, 4}, 4);
  const Reference r1 = NaiveTranspose(line, line_kernel, one);
  EXPECT_TRUE(Within(Conv1dTranspose(line, line_kernel, one), kFloat32,
                     r1.shape, r1.values, r1.Bounds(1e-5)));
  Conv3dTransposeParams three;
  three.strides = {2, 1, 2};
  three.padding = {1, 0, 1, 0, 1, 0};
  const Tensor cube = Random(kFloat32, {1, 2, 3, 4, 3}, 3);
  const Tensor cube_kernel = Random(kFloat32, {2, 3, 2, 3, 3}, 4);
  const Reference r3 = NaiveTranspose(cube, cube_kernel, three);
  EXPECT_TRUE(Within(Conv3dTranspose(cube, cube_kernel, three), kFloat32,
                     r3.shape, r3.values, r3.Bounds(1e-5)));
}

TEST(Conv2dTransposeTest, Errors) {
  const Tensor data = Random(kFloat32, {1, 4, 5, 5});
  const Tensor kernel = Random(kFloat32, {4, 2, 3, 3});
  const auto fails = [&](const char* text, const auto& change) {
    Conv2dTransposeParams params;
    change(params);
    return Fails(Conv2dTranspose(data, kernel, params).status(),
                 "conv2d_transpose", text);
  };
  EXPECT_TRUE(fails("stride 0", [](auto& p) { p.strides[1] = 0; }));
  EXPECT_TRUE(
      fails("output padding", [](auto& p) { p.output_padding[0] = 1; }));
  EXPECT_TRUE(
      fails("output padding", [](auto& p) { p.output_padding[0] = -1; }));
  EXPECT_TRUE(fails("impossible", [](auto& p) { p.padding[0] = 100; }));
  EXPECT_TRUE(fails("groups", [](auto& p) { p.groups = 3; }));
  EXPECT_TRUE(
      Fails(Conv2dTranspose(data, Random(kFloat32, {3, 2, 3, 3}), {}).status(),
            "conv2d_transpose", "kernel"));
  EXPECT_TRUE(
      Fails(Conv2dTranspose(data, Random(kFloat32, {4, 2, 0, 3}), {}).status(),
            "conv2d_transpose", "extent"));
}

TEST(DeformableConv2dTest, WithoutOffsetsIsAConvolution) {
  const Tensor data = Random(kFloat32, {2, 4, 6, 5});
  const Tensor kernel = Random(kFloat32, {4, 2, 3, 2}, 2);
  DeformableConv2dParams params;
  params.strides = {2, 1};
  params.padding = {1, 0, 2, 1};
  params.dilation = {1, 2};
  params.groups = 2;
  params.deformable_groups = 2;
  const Tensor expected = Unwrap(Conv2d(data, kernel, params));
  const Tensor offset = *Tensor::Zeros(
      kFloat32, {2, 24, expected.shape()[2], expected.shape()[3]});
  EXPECT_TRUE(Matches(DeformableConv2d(data, offset, kernel, params), kFloat32,
                      expected.shape(), internal::Values(expected), 1e-4,
                      1e-5));
  params.data_layout = "NHWC";
  params.kernel_layout = "HWIO";
  params.out_layout = "NCHW";
  EXPECT_TRUE(Matches(
      DeformableConv2d(Unwrap(LayoutTransform(data, "NCHW", "NHWC")),
                       Unwrap(LayoutTransform(offset, "NCHW", "NHWC")),
                       Unwrap(LayoutTransform(kernel, "OIHW", "HWIO")), params),
      kFloat32, expected.shape(), internal::Values(expected), 1e-4, 1e-5));
}

TEST(DeformableConv2dTest, OffsetsMoveTaps) {
  // 0 1 2
  // 3 4 5
  const Tensor data = internal::Iota(kFloat32, {1, 1, 2, 3});
  const Tensor kernel = internal::MakeFloat({1, 1, 1, 1}, {10});
  // Down: half a row; three quarters, of which a quarter lies inside; outside;
  // not at all.
  const Tensor offset =
      internal::MakeFloat({1, 2, 2, 3}, {0.5, 0, 0, 0.75, 1, NAN,  //
                                         0, 0.25, -3, 0, 0, 0});
  EXPECT_TRUE(Matches(DeformableConv2d(data, offset, kernel, {}), kFloat32,
                      {1, 1, 2, 3}, {15, 12.5, 0, 7.5, 0, 0}));
}

TEST(DeformableConv2dTest, Errors) {
  const Tensor data = Random(kFloat32, {1, 4, 3, 3});
  const Tensor kernel = Random(kFloat32, {2, 4, 1, 1});
  const Tensor offset = Random(kFloat32, {1, 2, 3, 3});
  DeformableConv2dParams params;
  const auto fails = [&](const char* text) {
    return Fails(DeformableConv2d(data, offset, kernel, params).status(),
                 "deformable_conv2d", text);
  };
  params.deformable_groups = 3;
  EXPECT_TRUE(fails("3 deformable groups"));
  params.deformable_groups = 2;
  EXPECT_TRUE(fails("offset"));
  params.deformable_groups = 1;
  params.strides[0] = 2;
  EXPECT_TRUE(fails("2 by 3"));
  params.groups = 2;
  EXPECT_TRUE(fails("2 groups"));
  // The result would have more positions than there are numbers.
  params = {};
  params.padding = {int64_t{1} << 30, int64_t{1} << 30, int64_t{1} << 30,
                    int64_t{1} << 30};
  const Tensor wide = internal::Make(kFloat32, {0, 4, 3, int64_t{1} << 40}, {});
  EXPECT_TRUE(Fails(DeformableConv2d(wide, offset, kernel, params).status(),
                    "deformable_conv2d", "offset"));
}

TEST(CorrelationTest, ComparesPatches) {
  const Tensor x = Random(kFloat32, {2, 3, 5, 6});
  const Tensor y = Random(kFloat32, {2, 3, 5, 6}, 2);
  CorrelationParams cases[4];
  cases[0] = {1, 1, 2, 1, {1, 1, 1, 1}, true};
  cases[1] = {3, 0, 1, 1, {1, 0, 1, 0}, true};
  cases[2] = {3, 2, 1, 2, {3, 2, 2, 3}, false};
  cases[3] = {1, 4, 3, 3, {4, 5, 4, 4}, false};
  for (const CorrelationParams& p : cases) {
    const int64_t height = 5 + p.padding[0] + p.padding[2];
    const int64_t width = 6 + p.padding[1] + p.padding[3];
    // Element (image, channel, row, column) of a padded map.
    const auto at = [&](const Tensor& map, int64_t n, int64_t c, int64_t i,
                        int64_t j) {
      EXPECT_TRUE(i >= 0 && i < height && j >= 0 && j < width);
      i -= p.padding[0];
      j -= p.padding[1];
      if (i < 0 || i >= 5 || j < 0 || j >= 6) return 0.0;
      return map.AtAsDouble(internal::Flat(map.shape(), {n, c, i, j}));
    };
    const int64_t border = p.max_displacement + (p.kernel_size - 1) / 2;
    const int64_t radius = p.max_displacement / p.stride2;
    const int64_t side = 2 * radius + 1;
    const std::vector<int64_t> shape = {
        2, side * side, (height - 2 * border + p.stride1 - 1) / p.stride1,
        (width - 2 * border + p.stride1 - 1) / p.stride1};
    std::vector<double> expected;
    internal::ForEachIndex(shape, [&](const std::vector<int64_t>& o) {
      const int64_t i = o[2] * p.stride1 + p.max_displacement;
      const int64_t j = o[3] * p.stride1 + p.max_displacement;
      const int64_t down = (o[1] / side - radius) * p.stride2;
      const int64_t right = (o[1] % side - radius) * p.stride2;
      double sum = 0;
      internal::ForEachIndex(
          {3, p.kernel_size, p.kernel_size},
          [&](const std::vector<int64_t>& k) {
            const double a = at(x, o[0], k[0], i + k[1], j + k[2]);
            const double b =
                at(y, o[0], k[0], i + k[1] + down, j + k[2] + right);
            sum += p.is_multiply ? a * b : std::abs(a - b);
          });
      expected.push_back(
          sum / static_cast<double>(3 * p.kernel_size * p.kernel_size));
    });
    EXPECT_TRUE(
        Matches(Correlation(x, y, p), kFloat32, shape, expected, 1e-4, 1e-5));
  }
}

TEST(CorrelationTest, NoPatchForVeryManyDisplacements) {
  const Tensor x = Random(kFloat32, {1, 1, 3, 3});
  const int64_t side = (int64_t{1} << 26) + 1;
  EXPECT_TRUE(Matches(Correlation(x, x, {.max_displacement = int64_t{1} << 25}),
                      kFloat32, {1, side * side, 0, 0}, {}));
}

TEST(CorrelationTest, Errors) {
  const Tensor x = Random(kFloat32, {1, 1, 3, 3});
  const auto fails = [&](const char* text, const auto& change) {
    CorrelationParams params;
    change(params);
    return Fails(Correlation(x, x, params).status(), "correlation", text);
  };
  EXPECT_TRUE(fails("kernel_size=2", [](auto& p) { p.kernel_size = 2; }));
  EXPECT_TRUE(fails("kernel_size=-1", [](auto& p) { p.kernel_size = -1; }));
  EXPECT_TRUE(fails("stride 0", [](auto& p) { p.stride2 = 0; }));
  EXPECT_TRUE(fails("padding -1", [](auto& p) { p.padding[0] = -1; }));
  EXPECT_TRUE(
      fails("max_displacement=-1", [](auto& p) { p.max_displacement = -1; }));
  EXPECT_TRUE(Fails(Correlation(x, Random(kFloat32, {1, 1, 3, 4}), {}).status(),
                    "correlation", "not of one type"));
}

// F(2, 3) of Lavin and Gray: rows (1, 0, 0), (1, 1, 1) / 2, (1, -1, 1) / 2 and
// (0, 0, 1), of which the middle ones are here in the order of the points -1
// and 1.
TEST(TransformedWeightTest, WinogradOfThreeTaps) {
  std::vector<double> weight(9, 0);
  weight[0] = 1;
  weight[4] = 2;
  weight[8] = 3;
  const std::vector<std::vector<double>> g = {
      {1, 0, 0}, {0.5, -0.5, 0.5}, {0.5, 0.5, 0.5}, {0, 0, 1}};
  std::vector<double> expected;
  for (size_t i = 0; i < 4; ++i) {
    for (size_t j = 0; j < 4; ++j) {
      double sum = 0;
      for (size_t k = 0; k < 3; ++k) sum += g[i][k] * g[j][k] * weight[4 * k];
      expected.push_back(sum);
    }
  }
  EXPECT_TRUE(
      Matches(WinogradWeight2d(internal::MakeFloat({1, 1, 3, 3}, weight), 2),
              kFloat32, {4, 4, 1, 1}, expected));
  // Two depths are too few to be transformed: each has the weights above.
  std::vector<double> twice = weight;
  twice.insert(twice.end(), weight.begin(), weight.end());
  std::vector<double> both;
  for (const double x : expected) both.insert(both.end(), 2, x);
  EXPECT_TRUE(
      Matches(WinogradWeight3d(internal::MakeFloat({1, 1, 2, 3, 3}, twice), 2),
              kFloat32, {4, 4, 2, 1, 1}, both));
}

// The transformation uses that products of values at all points are values of
// the product, so that correlations follow by interpolation. Here, that
// weights are the values of polynomials, scaled for each point.
TEST(TransformedWeightTest, WinogradOfAllSizes) {
  for (int64_t taps = 3; taps <= 7; ++taps) {
    // 1 + 2x + 3x^2 + ... in the first row.
    std::vector<double> weight(static_cast<size_t>(taps * taps), 0);
    for (int64_t k = 0; k < taps; ++k) {
      weight[static_cast<size_t>(k)] = static_cast<double>(k + 1);
    }
    for (int64_t tile = 2; tile <= 8; ++tile) {
      const int64_t side = tile + taps - 1;
      const Tensor result = Unwrap(WinogradWeight2d(
          internal::Make(DType::Float(64), {1, 1, taps, taps}, weight), tile));
      ASSERT_EQ(result.shape(),
                absl::MakeConstSpan({side, side, int64_t{1}, int64_t{1}}));
      const auto at = [&](int64_t i, int64_t j) {
        return result.AtAsDouble(i * side + j);
      };
      // The second point is -1, the third 1: their scales cancel out.
      double at_minus_1 = 0, at_1 = 0, sign = 1;
      for (int64_t k = 0; k < taps; ++k, sign = -sign) {
        at_minus_1 += sign * static_cast<double>(k + 1);
        at_1 += static_cast<double>(k + 1);
      }
      const Tensor ones = Unwrap(WinogradWeight2d(
          internal::Make(DType::Float(64), {1, 1, taps, taps},
                         [&] {
                           std::vector<double> one(weight.size(), 0);
                           one[0] = 1;
                           return one;
                         }()),
          tile));
      const auto scale = [&](int64_t j) { return ones.AtAsDouble(j); };
      EXPECT_NEAR(at(0, 1), scale(1) * at_minus_1, 1e-9);
      EXPECT_NEAR(at(0, 2), scale(2) * at_1, 1e-9);
      // At infinity, the last coefficient.
      EXPECT_NEAR(at(0, side - 1),
                  std::sqrt(scale(0)) * static_cast<double>(taps), 1e-9);
      EXPECT_NEAR(at(side - 1, 0), 0, 1e-9);
    }
  }
}

TEST(TransformedWeightTest, TilesAreUndone) {
  const Tensor weight = internal::Iota(kFloat32, {1, 2, 3, 3});
  const Tensor tiles = Unwrap(TiledWeight(weight, 2, 1));
  // Unit 2 is alone in its tile; two of eight columns are zeros.
  EXPECT_TRUE(Matches(tiles, kFloat32, {2, 8, 2, 1},
                      {0, 1, 3, 4, 6, 7, 9,  10, 12, 13, 15, 16, 0, 0, 0, 0,  //
                       2, 0, 5, 0, 8, 0, 11, 0,  14, 0,  17, 0,  0, 0, 0, 0}));
  EXPECT_EQ(Unwrap(UntiledWeight(tiles, {1, 2, 3, 3})), weight);
  EXPECT_TRUE(Fails(UntiledWeight(tiles, {1, 3, 3, 3}).status(), "conv2d_gemm",
                    "no tiles"));
  EXPECT_TRUE(Fails(TiledWeight(weight, 0, 1).status(), "gemm_weight_transform",
                    "0 by 1"));
}

TEST(TransformedWeightTest, Errors) {
  const Tensor weight = Random(kFloat32, {1, 1, 3, 3});
  EXPECT_TRUE(Fails(WinogradWeight2d(weight, 9).status(),
                    "winograd_weight_transform", "tile_size=9"));
  EXPECT_TRUE(Fails(WinogradWeight2d(weight, 1).status(),
                    "winograd_weight_transform", "tile_size=1"));
  EXPECT_TRUE(
      Fails(WinogradWeight2d(Random(kFloat32, {1, 1, 3, 5}), 2).status(),
            "winograd_weight_transform", "as many columns"));
  EXPECT_TRUE(
      Fails(WinogradWeight3d(Random(kFloat32, {1, 1, 4, 3, 3}), 2).status(),
            "winograd_weight_transform", "not one"));
}

}  // namespace
}  // namespace baton::kernels
