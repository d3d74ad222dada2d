#include "baton/instrument/instruction_counter.h"

#include <cstdint>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

void Spin(int64_t n) {
  volatile int64_t sum = 0;
  for (int64_t i = 0; i < n; ++i) sum = sum + i;
}

TEST(InstructionCounterTest, CountsInProportion) {
  const absl::StatusOr<InstructionCounter> counter =
      InstructionCounter::Create();
  if (!counter.ok()) GTEST_SKIP() << counter.status();
  const auto count = [&](int64_t n) {
    return counter->Count([&] { Spin(n); });
  };
  const absl::StatusOr<int64_t> once = count(1'000'000);
  const absl::StatusOr<int64_t> thrice = count(3'000'000);
  if (!once.ok() || !thrice.ok()) GTEST_SKIP() << "others use the counter";
  EXPECT_GE(*once, 3'000'000);
  EXPECT_NEAR(static_cast<double>(*thrice) / static_cast<double>(*once), 3,
              0.1);
}

}  // namespace
}  // namespace baton
