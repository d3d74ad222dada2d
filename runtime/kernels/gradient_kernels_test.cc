#include "baton/runtime/kernels/gradient_kernels.h"

#include <cstdint>
#include <vector>

#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/conv_kernels.h"
#include "baton/runtime/kernels/internal/testing.h"
#include "baton/runtime/kernels/layout_kernels.h"
#include "baton/runtime/kernels/pool_kernels.h"
#include "gtest/gtest.h"

namespace baton::kernels {
namespace {

using ::baton::kernels::internal::Fails;
using ::baton::kernels::internal::Make;
using ::baton::kernels::internal::Random;
using ::baton::kernels::internal::Unwrap;

constexpr DType kDouble = DType::Float(64);

double Dot(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.shape(), b.shape());
  double sum = 0;
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    sum += a.AtAsDouble(i) * b.AtAsDouble(i);
  }
  return sum;
}

Tensor Moved(const Tensor& x, int64_t i, double step) {
  std::vector<double> values = internal::Values(x);
  values[i] += step;
  return Make(kDouble, x.shape(), values);
}

// Element by element: `gradient` is that of Dot(weights, f(x)).
template <typename Fn>
void ExpectGradient(const Tensor& gradient, const Tensor& weights,
                    const Tensor& x, const Fn& f) {
  ASSERT_EQ(gradient.shape(), x.shape());
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    const double slope = (Dot(weights, f(Moved(x, i, 1e-5))) -
                          Dot(weights, f(Moved(x, i, -1e-5)))) /
                         2e-5;
    EXPECT_NEAR(gradient.AtAsDouble(i), slope, 1e-6) << i;
  }
}

TEST(GradientsTest, OfPools) {
  const Tensor x = Random(kDouble, {2, 2, 5, 6});
  for (const bool ceil : {false, true}) {
    Pool2dParams params;
    params.pool_size = {3, 2};
    params.strides = {2, 1};
    params.padding = {1, 0, 0, 1};
    params.ceil_mode = ceil;
    params.count_include_pad = ceil;
    const auto max = [&](const Tensor& data) {
      return Unwrap(MaxPool2d(data, params));
    };
    const auto avg = [&](const Tensor& data) {
      return Unwrap(AvgPool2d(data, params));
    };
    const Tensor weights = Random(kDouble, max(x).shape(), 2);
    ExpectGradient(Unwrap(MaxPool2dGrad(weights, x, params)), weights, x, max);
    ExpectGradient(Unwrap(AvgPool2dGrad(weights, x, params)), weights, x, avg);
    params.dilation = {1, 2};
    const Tensor dilated = Random(kDouble, avg(x).shape(), 3);
    ExpectGradient(Unwrap(AvgPool2dGrad(dilated, x, params)), dilated, x, avg);
    EXPECT_TRUE(Fails(MaxPool2dGrad(x, x, params).status(), "max_pool2d_grad",
                      "has not the shape of the result"));
  }
}

TEST(GradientsTest, WindowsMuchLargerThanTheImageAreNotWalked) {
  const Tensor x = Random(kDouble, {1, 1, 2, 2});
  constexpr int64_t kHuge = (int64_t{1} << 31) - 1;
  Pool2dParams params;
  params.pool_size = {kHuge, kHuge};
  params.padding = {kHuge / 2, kHuge / 2, kHuge / 2, kHuge / 2};
  const Tensor weights = Random(kDouble, {1, 1, 2, 2}, 2);
  const double sum = Dot(weights, Make(kDouble, {1, 1, 2, 2}, {1, 1, 1, 1}));
  const Tensor average = Unwrap(AvgPool2dGrad(weights, x, params));
  for (int64_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(average.AtAsDouble(i), sum / 4, 1e-12);
  }
  EXPECT_TRUE(MaxPool2dGrad(weights, x, params).ok());
}

TEST(GradientsTest, PoolsKeepTheirLayout) {
  const Tensor x = Random(kDouble, {1, 3, 4, 4});
  Pool2dParams params;
  params.pool_size = {2, 2};
  params.strides = {2, 2};
  const Tensor weights = Random(kDouble, {1, 3, 2, 2}, 2);
  const Tensor expected = Unwrap(MaxPool2dGrad(weights, x, params));
  params.layout = "NHWC";
  const auto nhwc = [](const Tensor& t) {
    return Unwrap(LayoutTransform(t, "NCHW", "NHWC"));
  };
  EXPECT_EQ(Unwrap(MaxPool2dGrad(nhwc(weights), nhwc(x), params)),
            nhwc(expected));
}

TEST(GradientsTest, OfKernels) {
  for (const int64_t groups : {1, 2, 4}) {
    Conv2dParams params;
    params.strides = {2, 1};
    params.dilation = {1, 2};
    params.padding = {1, 2, 0, 1};
    params.groups = groups;
    const Tensor x = Random(kDouble, {2, 4, 5, 6});
    const Tensor kernel = Random(kDouble, {4, 4 / groups, 3, 2}, 2);
    const auto conv = [&](const Tensor& weight) {
      return Unwrap(Conv2d(x, weight, params));
    };
    const Tensor weights = Random(kDouble, conv(kernel).shape(), 3);
    const Tensor gradient =
        Unwrap(Conv2dBackwardWeight(weights, x, {3, 2}, params));
    ExpectGradient(gradient, weights, kernel, conv);
    params.kernel_layout = "HWIO";
    EXPECT_EQ(Unwrap(Conv2dBackwardWeight(weights, x, {3, 2}, params)),
              Unwrap(LayoutTransform(gradient, "OIHW", "HWIO")));
    EXPECT_TRUE(Fails(Conv2dBackwardWeight(x, x, {3, 2}, params).status(),
                      "conv2d_backward_weight", "do not fit"));
  }
}

}  // namespace
}  // namespace baton::kernels
