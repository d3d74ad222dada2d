#include "baton/runtime/kernels/random_kernels.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/internal/testing.h"
#include "gtest/gtest.h"

namespace baton::kernels {
namespace {

using ::baton::kernels::internal::Fails;
using ::baton::kernels::internal::MakeFloat;

Tensor Key(const std::vector<uint64_t>& words) {
  return internal::Unwrap(Tensor::FromValues<uint64_t>({10}, words));
}

constexpr uint64_t kHigh = uint64_t{1} << 63;

TEST(RandomTest, Bits) {
  const Tensor key = Key({1, 2, 3, 4, 0, 0, 0, 5, kHigh, 0});
  const absl::StatusOr<RandomResult> result = ThreefryGenerate(key, {2, 3});
  ASSERT_TRUE(result.ok()) << result.status();
  const std::vector<uint64_t> expected = {
      0x504ef2751c76d4ab, 0xebe867543bfdd5a8, 0x6819cb193cde0f15,
      0x9dbba3850ea8c2c5, 0xdc98b77980700226, 0xde7046a204dc8938};
  EXPECT_EQ(result->values, *Tensor::FromValues<uint64_t>({2, 3}, expected));
  EXPECT_EQ(result->key, Key({1, 2, 3, 4, 0, 0, 0, 13, kHigh, 0}));
}

TEST(RandomTest, KeysAreSplit) {
  const absl::StatusOr<SplitKeys> keys =
      ThreefrySplit(Key({0, 0, 0, 0, 0, 0, 0, 0, kHigh, 0}));
  ASSERT_TRUE(keys.ok()) << keys.status();
  EXPECT_EQ(keys->left, Key({0, 0, 0, 0, 0, 0, 0, 0, kHigh / 2, 0}));
  EXPECT_EQ(keys->right, Key({0, 0, 0, 0, kHigh, 0, 0, 0, kHigh / 2, 0}));
  // A path that is full makes a new key.
  Tensor right = keys->right;
  for (int i = 0; i < 129; ++i) {
    right = ThreefrySplit(right)->right;
  }
  EXPECT_NE(right.span<uint64_t>()[0], 0);
  // So does a counter that is.
  const absl::StatusOr<RandomResult> next =
      ThreefryGenerate(Key({1, 0, 0, 0, 0, 0, 0, ~uint64_t{0}, 0, 0}), {4});
  ASSERT_TRUE(next.ok());
  EXPECT_NE(next->key.span<uint64_t>()[0], 1);
  EXPECT_EQ(next->key.span<uint64_t>()[7], 4);
  EXPECT_TRUE(Fails(ThreefrySplit(MakeFloat({1}, {0})).status(),
                    "threefry_split", "a key is uint64[10]"));
}

TEST(RandomTest, Distributions) {
  const Tensor key = Key({7, 0, 0, 0, 0, 0, 0, 0, kHigh, 0});
  for (const DType dtype : {DType::Float(32), DType::Float(64)}) {
    const Tensor uniform = RandomUniform(key, -1, 3, {20000}, dtype)->values;
    const Tensor normal = RandomNormal(key, 5, 2, {20000}, dtype)->values;
    ASSERT_EQ(uniform.dtype(), dtype);
    double sum = 0, normal_sum = 0, squares = 0;
    for (int64_t i = 0; i < 20000; ++i) {
      const double u = uniform.AtAsDouble(i);
      ASSERT_TRUE(u >= -1 && u < 3) << u;
      sum += u;
      normal_sum += normal.AtAsDouble(i);
      squares += std::pow(normal.AtAsDouble(i) - 5, 2);
    }
    EXPECT_NEAR(sum / 20000, 1, 0.05);
    EXPECT_NEAR(normal_sum / 20000, 5, 0.05);
    EXPECT_NEAR(std::sqrt(squares / 20000), 2, 0.05);
  }
  const Tensor samples =
      RandomMultinomial(key, MakeFloat({2, 3}, {1, 0, 3, -1, 2, 0}), 10000)
          ->values;
  ASSERT_EQ(samples.dtype(), DType::Int(32));
  int64_t zeros = 0;
  for (int64_t i = 0; i < 10000; ++i) {
    ASSERT_NE(samples.AtAsInt64(i), 1);
    zeros += samples.AtAsInt64(i) == 0;
    ASSERT_EQ(samples.AtAsInt64(10000 + i), 1);
  }
  EXPECT_NEAR(static_cast<double>(zeros) / 10000, 0.25, 0.02);
}

}  // namespace
}  // namespace baton::kernels
