#include "baton/runtime/kernels/signal.h"

#include "absl/status/statusor.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/internal/testing.h"
#include "gtest/gtest.h"

namespace baton::kernels {
namespace {

using ::baton::kernels::internal::Fails;
using ::baton::kernels::internal::MakeFloat;
using ::baton::kernels::internal::Matches;
using ::baton::kernels::internal::Random;
using ::baton::kernels::internal::Values;

constexpr DType kFloat = DType::Float(32);

TEST(DftTest, TransformsThereAndBack) {
  const Tensor re = MakeFloat({1, 4}, {1, 2, 3, 4});
  const Tensor im = MakeFloat({1, 4}, {0, 0, 0, 0});
  const auto result = Dft(re, im, false);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(Matches(absl::StatusOr<Tensor>(result->first), kFloat, {1, 4},
                      {10, -2, -2, -2}, 1e-5, 1e-6));
  EXPECT_TRUE(Matches(absl::StatusOr<Tensor>(result->second), kFloat, {1, 4},
                      {0, 2, 0, -2}, 1e-5, 1e-6));
  const Tensor x = Random(DType::Float(64), {2, 7});
  const Tensor y = Random(DType::Float(64), {2, 7}, 2);
  const auto there = Dft(x, y, false);
  ASSERT_TRUE(there.ok());
  const auto back = Dft(there->first, there->second, true);
  ASSERT_TRUE(back.ok());
  EXPECT_TRUE(Matches(absl::StatusOr<Tensor>(back->first), x.dtype(), {2, 7},
                      Values(x), 1e-9, 1e-9));
  EXPECT_TRUE(Matches(absl::StatusOr<Tensor>(back->second), x.dtype(), {2, 7},
                      Values(y), 1e-9, 1e-9));
  EXPECT_TRUE(Fails(Dft(x, re, false).status(), "dft", "do not fit"));
}

TEST(StftTest, TransformsWindows) {
  const Tensor x = MakeFloat({1, 6}, {1, 2, 3, 4, 0, 1});
  const Tensor window = MakeFloat({4}, {1, 1, 1, 0.5});
  StftParams params{4, 2, 4, false, true};
  // The transforms of (1, 2, 3, 2) and (3, 4, 0, 0.5).
  EXPECT_TRUE(Matches(Stft(x, window, params), kFloat, {1, 3, 2, 2},
                      {8, 0, 7.5, 0, -2, 0, 3, -3.5, 0, 0, -1.5, 0}, 1e-5,
                      1e-6));
  params.normalized = true;
  params.onesided = false;
  const auto all = Stft(x, window, params);
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->shape()[1], 4);
  EXPECT_NEAR(all->span<float>()[0], 4, 1e-6);
  params.win_length = 5;
  EXPECT_TRUE(Fails(Stft(x, window, params).status(), "stft", "win_length=5"));
}

}  // namespace
}  // namespace baton::kernels
