#include "baton/runtime/kernels/morphology.h"

#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/internal/testing.h"
#include "gtest/gtest.h"

namespace baton::kernels {
namespace {

using ::baton::kernels::internal::Fails;
using ::baton::kernels::internal::MakeFloat;
using ::baton::kernels::internal::Matches;

TEST(Dilation2dTest, TakesTheLargestSum) {
  const Tensor x = MakeFloat({1, 1, 2, 3}, {-1, -2, -3, -4, -5, -6});
  const Tensor kernel = MakeFloat({1, 2, 2}, {0, 1, 5, 0});
  Conv2dParams params;
  EXPECT_TRUE(Matches(Dilation2d(x, kernel, params), DType::Float(32),
                      {1, 1, 1, 2}, {1, 0}));
  // Padding is 0.
  params.padding = {0, 0, 1, 0};
  EXPECT_TRUE(Matches(Dilation2d(x, kernel, params), DType::Float(32),
                      {1, 1, 2, 2}, {1, 0, 5, 5}));
  EXPECT_TRUE(
      Fails(Dilation2d(x, x, params).status(), "dilation2d", "do not fit"));
}

}  // namespace
}  // namespace baton::kernels
