// A test with a case for each instruction set of kernels of bytes.
//
//   using IntMatmulTest = Int8IsaTest;
//   TEST_P(IntMatmulTest, GivesTheSums) { ... Draw(1, 70) ... }
//   INSTANTIATE_TEST_SUITE_P(Isas, IntMatmulTest, Int8Isas());

#ifndef BATON_RUNTIME_KERNELS_BLOCKED_INT8_ISA_TEST_UTIL_H_
#define BATON_RUNTIME_KERNELS_BLOCKED_INT8_ISA_TEST_UTIL_H_

#include <cstdint>
#include <random>

#include "baton/runtime/kernels/blocked/int8_isa.h"
#include "gtest/gtest.h"

namespace baton::kernels::blocked {

// Skips the sets that the processor lacks.
class Int8IsaTest : public ::testing::TestWithParam<Int8Isa> {
 protected:
  void SetUp() override {
    if (!IsSupported(GetParam())) {
      GTEST_SKIP() << "the processor lacks the instructions of set "
                   << static_cast<int>(GetParam());
    }
  }

  uint32_t Random() { return static_cast<uint32_t>(random_()); }
  // A number from `least` to `most`.
  int64_t Draw(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(
                       Random() % static_cast<uint32_t>(most - least + 1));
  }

 private:
  std::mt19937 random_{7};
};

inline auto Int8Isas() {
  return ::testing::Values(Int8Isa::kPlain, Int8Isa::kAvx2, Int8Isa::kVnni,
                           Int8Isa::kAmx);
}

}  // namespace baton::kernels::blocked

#endif  // BATON_RUNTIME_KERNELS_BLOCKED_INT8_ISA_TEST_UTIL_H_
