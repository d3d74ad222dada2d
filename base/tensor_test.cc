#include "baton/base/tensor.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/fill.h"
#include "baton/base/tensor_difference.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::testing::ElementsAreArray;

TEST(TensorTest, CopiesShareTheBuffer) {
  const Tensor a = *Tensor::FromValues<float>({2, 2}, {1, 2, 3, 4});
  const Tensor b = a;  // NOLINT(performance-unnecessary-copy-initialization)
  EXPECT_TRUE(a.SharesBufferWith(b));
  EXPECT_EQ(b.span<float>()[3], 4);
  const Tensor flat = *a.Reshaped({4});
  EXPECT_TRUE(flat.SharesBufferWith(a));
  EXPECT_EQ(flat.rank(), 1);
  EXPECT_FALSE(a.Reshaped({3}).ok());
}

TEST(TensorTest, ComparesBits) {
  const Tensor a = *Tensor::FromValues<float>({2}, {0.0f, 1.0f});
  const Tensor b = *Tensor::FromValues<float>({2}, {0.0f, 1.0f});
  const Tensor c = *Tensor::FromValues<float>({2}, {-0.0f, 1.0f});
  const Tensor d = *Tensor::FromValues<float>({1, 2}, {0.0f, 1.0f});
  EXPECT_EQ(a, b);
  EXPECT_EQ(a.Hash(), b.Hash());
  EXPECT_NE(a, c);
  EXPECT_NE(a, d);
}

TEST(TensorDifferenceTest, ComparesBitsButNaNs) {
  const float nan = std::nanf("");
  const Tensor a = *Tensor::FromValues<float>({3}, {1, nan, 0.0f});
  EXPECT_EQ(FirstDifferentElement(
                a, *Tensor::FromValues<float>({3}, {1, -nan, 0.0f})),
            std::nullopt);
  EXPECT_EQ(FirstDifferentElement(
                a, *Tensor::FromValues<float>({3}, {1, nan, -0.0f})),
            2);
  EXPECT_EQ(
      FirstDifferentElement(a, *Tensor::FromValues<float>({3}, {1, 1, -0.0f})),
      1);
  // The mantissas of halves and doubles, too.
  const auto halves = [](uint16_t last) {
    return *Tensor::FromValues<Float16>(
        {2}, {Float16::FromBits(0xfc00), Float16::FromBits(last)});
  };
  EXPECT_TRUE(HaveSameElements(halves(0x7e00), halves(0xfc01)));
  EXPECT_FALSE(HaveSameElements(halves(0x7e00), halves(0x7c00)));
  const auto brains = [](uint16_t bits) {
    return Tensor::Scalar(BFloat16::FromBits(bits));
  };
  EXPECT_TRUE(HaveSameElements(brains(0x7fc0), brains(0xff81)));
  EXPECT_FALSE(HaveSameElements(brains(0x7f80), brains(0xff80)));
  EXPECT_TRUE(HaveSameElements(Tensor::Scalar(std::nan("1")),
                               Tensor::Scalar(-std::nan("2"))));
  EXPECT_FALSE(HaveSameElements(Tensor::Scalar(std::nan("")),
                                Tensor::Scalar(-HUGE_VAL)));
  // As doubles these are equal.
  const Tensor large = Tensor::Scalar((int64_t{1} << 53) + 1);
  EXPECT_EQ(FirstDifferentElement(large, Tensor::Scalar(int64_t{1} << 53)), 0);
  EXPECT_TRUE(HaveSameElements(a, a));
  EXPECT_FALSE(HaveSameElements(a, *a.Reshaped({1, 3})));
  EXPECT_FALSE(HaveSameElements(Tensor::Scalar(0.0f), Tensor::Scalar(0)));
}

TEST(TensorTest, ScalarsOfEveryType) {
  EXPECT_EQ(Tensor::Scalar(2.5f).AtAsDouble(0), 2.5);
  EXPECT_EQ(Tensor::Scalar(true).dtype(), DType::Bool());
  EXPECT_EQ(Tensor::ScalarOf(DType::Int(8), -3).AtAsInt64(0), -3);
  EXPECT_EQ(Tensor::ScalarOf(DType::Float(16), 0.5).AtAsDouble(0), 0.5);
  EXPECT_EQ(Tensor::ScalarOf(DType::BFloat(16), 2).AtAsDouble(0), 2);
  EXPECT_EQ(Tensor::ScalarOf(DType::Int(64), -2.75).AtAsInt64(0), -2);
  EXPECT_EQ(Tensor::ScalarOf(DType::Int(32), std::nan("")).AtAsInt64(0), 0);
  EXPECT_EQ(Tensor::ScalarOf(DType::Bool(), 0.5).AtAsInt64(0), 1);
}

template <typename T>
void ExpectSaturates() {
  const DType dtype = DType::Of<T>();
  constexpr T kLow = std::numeric_limits<T>::min();
  constexpr T kHigh = std::numeric_limits<T>::max();
  for (const double beyond : {1e300, 0x1p64, HUGE_VAL}) {
    EXPECT_EQ(Tensor::ScalarOf(dtype, beyond), Tensor::Scalar(kHigh));
    EXPECT_EQ(Tensor::ScalarOf(dtype, -beyond), Tensor::Scalar(kLow));
  }
  EXPECT_EQ(Tensor::ScalarOf(dtype, static_cast<double>(kHigh)),
            Tensor::Scalar(kHigh));
  EXPECT_EQ(Tensor::ScalarOf(dtype, static_cast<double>(kLow)),
            Tensor::Scalar(kLow));
}

TEST(TensorTest, ScalarsBeyondATypeAreItsEnds) {
  ExpectSaturates<int8_t>();
  ExpectSaturates<int16_t>();
  ExpectSaturates<int32_t>();
  ExpectSaturates<int64_t>();
  ExpectSaturates<uint8_t>();
  ExpectSaturates<uint16_t>();
  ExpectSaturates<uint32_t>();
  ExpectSaturates<uint64_t>();
  // The largest doubles below the ends are as they are.
  EXPECT_EQ(
      Tensor::ScalarOf(DType::Int(64), 0x1p63 - 1024),
      Tensor::Scalar<int64_t>((int64_t{1} << 62) - 1024 + (int64_t{1} << 62)));
  EXPECT_EQ(Tensor::ScalarOf(DType::UInt(64), 9.3e18),
            Tensor::Scalar<uint64_t>(9300000000000000000u));
}

TEST(TensorTest, BuffersAreAligned) {
  for (int64_t n : {1, 3, 17, 1000}) {
    const Tensor t = *Tensor::Zeros(DType::Int(8), {n});
    EXPECT_EQ(reinterpret_cast<uintptr_t>(t.data()) % 64, 0u);
    EXPECT_EQ(t.AtAsInt64(n - 1), 0);
  }
}

TEST(TensorTest, AbsurdShapesAreRefused) {
  EXPECT_FALSE(Tensor::Zeros(DType::Float(32), {-1}).ok());
  EXPECT_FALSE(Tensor::Zeros(DType::Float(32), {int64_t{1} << 62}).ok());
  EXPECT_FALSE(
      Tensor::Zeros(DType::Int(8), {int64_t{1} << 32, int64_t{1} << 32}).ok());
  EXPECT_FALSE(
      Tensor::Zeros(DType::Int(8), {0, int64_t{1} << 40, int64_t{1} << 40})
          .ok());
  EXPECT_FALSE(Tensor::Zeros(DType::Int(4), {2}).ok());
  EXPECT_FALSE(Tensor::Zeros(DType::Int(8), {(int64_t{1} << 62) + 5}).ok());
  EXPECT_EQ(Tensor::Zeros(DType::Float(32), {0, 5})->num_elements(), 0);
}

TEST(TensorTest, FromBufferKeepsTheOwnerAndChecksTheSize) {
  auto owner = std::make_shared<std::vector<int32_t>>(4, 7);
  const absl::string_view bytes(reinterpret_cast<const char*>(owner->data()),
                                16);
  absl::StatusOr<Tensor> t =
      Tensor::FromBuffer(DType::Int(32), {2, 2}, bytes, owner);
  ASSERT_TRUE(t.ok());
  owner.reset();
  EXPECT_EQ(t->AtAsInt64(3), 7);
  EXPECT_FALSE(Tensor::FromBuffer(DType::Int(32), {2, 3}, bytes, nullptr).ok());
  EXPECT_FALSE(
      Tensor::FromBuffer(DType::Int(32), {3}, bytes.substr(1, 12), nullptr)
          .ok());
}

TEST(TensorTest, UnalignedBuffersAreCopiedOnceTheirElementsAreRead) {
  const std::vector<float> values = {1, -2, 3};
  auto owner = std::make_shared<std::string>(1, ' ');
  owner->append(reinterpret_cast<const char*>(values.data()), 12);
  const absl::string_view bytes = absl::string_view(*owner).substr(1);
  const std::weak_ptr<std::string> is_kept = owner;
  {
    const Tensor tensor =
        *Tensor::FromUnaligned(DType::Float(32), {3}, bytes, owner,
                               /*is_mapped=*/false);
    owner.reset();
    // These need no elements.
    EXPECT_EQ(tensor, *Tensor::FromValues<float>({3}, values));
    EXPECT_EQ(tensor.Hash(), Tensor::FromValues<float>({3}, values)->Hash());
    EXPECT_EQ(tensor.bytes().data(), bytes.data());
    Tensor row = *tensor.Reshaped({1, 3});
    EXPECT_TRUE(row.SharesBufferWith(tensor));
    EXPECT_FALSE(MutableTensor::Reuse(row).has_value());
    EXPECT_EQ(FirstElement(tensor, {}).AtAsDouble(0), 1);

    // Threads that read the elements at the same time get one copy.
    std::vector<const void*> data(4);
    std::vector<std::thread> threads;
    for (const void*& each : data) {
      threads.emplace_back([&each, tensor] { each = tensor.data(); });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(std::count(data.begin(), data.end(), row.data()), 4);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(row.data()) % 64, 0);
    EXPECT_THAT(row.span<float>(), ElementsAreArray(values));
    EXPECT_EQ(row.AtAsInt64(1), -2);
    EXPECT_FALSE(is_kept.expired());
  }
  EXPECT_TRUE(is_kept.expired());
}

TEST(TensorTest, ReuseOfAnUnalignedBufferWritesToTheCopy) {
  const std::vector<float> values = {1, 2, 3};
  auto owner = std::make_shared<std::string>(1, ' ');
  owner->append(reinterpret_cast<const char*>(values.data()), 12);
  const std::string before = *owner;
  const std::weak_ptr<std::string> is_kept = owner;
  const absl::string_view bytes = absl::string_view(*owner).substr(1);
  Tensor tensor = *Tensor::FromUnaligned(DType::Float(32), {3}, bytes,
                                         std::move(owner), /*is_mapped=*/false);
  const std::shared_ptr<const std::string> file = is_kept.lock();
  const void* const data = tensor.data();
  std::optional<MutableTensor> reused = MutableTensor::Reuse(tensor);
  ASSERT_TRUE(reused.has_value());
  EXPECT_EQ(reused->data(), data);
  reused->span<float>()[1] = 7;
  EXPECT_THAT(tensor.span<float>(), ElementsAreArray({1.0f, 7.0f, 3.0f}));
  EXPECT_EQ(tensor.bytes().data(), data);
  // The buffer is as it was, and nothing keeps it.
  EXPECT_EQ(*file, before);
  EXPECT_EQ(file.use_count(), 1);
}

TEST(TensorTest, FromUnalignedChecksTheSizeAndUsesAlignedBuffers) {
  const std::vector<int64_t> values = {1, 2};
  const absl::string_view bytes(reinterpret_cast<const char*>(values.data()),
                                16);
  const Tensor tensor = *Tensor::FromUnaligned(DType::Int(64), {2}, bytes,
                                               nullptr, /*is_mapped=*/false);
  EXPECT_EQ(tensor.data(), values.data());
  EXPECT_FALSE(Tensor::FromUnaligned(DType::Int(64), {3}, bytes, nullptr,
                                     /*is_mapped=*/false)
                   .ok());
}

TEST(TensorTest, PartsShareTheBuffer) {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const Tensor whole = *Tensor::FromValues<float>({3, 2}, values);
  const Tensor part = *whole.Part(2, {2, 1, 2});
  EXPECT_EQ(part, *Tensor::FromValues<float>({2, 1, 2}, {3, 4, 5, 6}));
  EXPECT_EQ(part.data(), whole.span<float>().data() + 2);
  EXPECT_FALSE(whole.Part(3, {2, 2}).ok());
  EXPECT_FALSE(whole.Part(-1, {2}).ok());
  EXPECT_EQ(whole.Part(6, {0})->num_elements(), 0);

  std::string bytes(1, ' ');
  bytes.append(reinterpret_cast<const char*>(values.data()), 24);
  const Tensor unaligned = *Tensor::FromUnaligned(
      DType::Float(32), {6}, absl::string_view(bytes).substr(1),
      std::make_shared<int>(0), /*is_mapped=*/false);
  const Tensor end = *unaligned.Part(4, {2});
  EXPECT_EQ(end.bytes().data(), bytes.data() + 17);
  EXPECT_THAT(end.span<float>(), ElementsAreArray({5.0f, 6.0f}));
}

TEST(MutableTensorTest, ReusesABufferThatNoOtherTensorUses) {
  const std::vector<float> values = {1, 2, 3};
  Tensor sole = *Tensor::FromValues<float>({3}, values);
  {
    std::optional<MutableTensor> reused = MutableTensor::Reuse(sole);
    ASSERT_TRUE(reused.has_value());
    EXPECT_EQ(reused->data(), sole.data());
    EXPECT_EQ(reused->dtype(), DType::Float(32));
    EXPECT_EQ(reused->num_elements(), 3);
    reused->span<float>()[1] = 7;
    const Tensor result = std::move(*reused).Freeze();
    EXPECT_EQ(result.AtAsDouble(1), 7);
    // The result shares the buffer now.
    EXPECT_FALSE(MutableTensor::Reuse(sole).has_value());
  }
  EXPECT_TRUE(MutableTensor::Reuse(sole).has_value());
  {
    const Tensor view = *sole.Reshaped({1, 3});
    EXPECT_FALSE(MutableTensor::Reuse(sole).has_value());
  }
  // Buffers that no MutableTensor made may be read-only.
  const auto owner = std::make_shared<std::vector<float>>(values);
  Tensor given = *Tensor::FromBuffer(
      DType::Float(32), {3},
      absl::string_view(reinterpret_cast<const char*>(owner->data()), 12),
      std::make_shared<int>(0));
  EXPECT_FALSE(MutableTensor::Reuse(given).has_value());
  Tensor scalar = Tensor::Scalar(1.0f);
  EXPECT_FALSE(MutableTensor::Reuse(scalar).has_value());
}

// The thread sanitizer reports a write that does not follow the read.
TEST(MutableTensorTest, ReuseFollowsWhatOtherThreadsRead) {
  Tensor tensor = *Tensor::FromValues<float>({2}, {1, 2});
  float read = 0;
  std::thread reader([copy = tensor, &read]() mutable {
    read = copy.span<float>()[1];
    copy = Tensor::Scalar(0.0f);
  });
  std::optional<MutableTensor> reused;
  while (!reused.has_value()) {
    std::this_thread::yield();
    reused = MutableTensor::Reuse(tensor);
  }
  reused->span<float>()[1] = 3;
  reader.join();
  EXPECT_EQ(read, 2);
}

TEST(TensorTest, RealNumbersAsTheNearestInteger) {
  const auto integer = [](double value) {
    return Tensor::ScalarOf(DType::Float(64), value).AtAsInt64(0);
  };
  EXPECT_EQ(integer(-2.5), -2);
  EXPECT_EQ(integer(1e300), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(integer(-9.3e18), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(integer(std::numeric_limits<double>::quiet_NaN()), 0);
}

}  // namespace
}  // namespace baton
