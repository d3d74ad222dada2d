#include "baton/testing/workloads/numpy_random.h"

#include <cstdint>

namespace baton::testing {

NumpyRandom::NumpyRandom(uint32_t seed) {
  state_[0] = seed;
  for (uint32_t i = 1; i < kSize; ++i) {
    const uint32_t previous = state_[i - 1];
    state_[i] = 1812433253u * (previous ^ (previous >> 30)) + i;
  }
}

void NumpyRandom::Refill() {
  constexpr int kShift = 397;
  for (int i = 0; i < kSize; ++i) {
    const uint32_t word =
        (state_[i] & 0x80000000u) | (state_[(i + 1) % kSize] & 0x7fffffffu);
    state_[i] = state_[(i + kShift) % kSize] ^ (word >> 1) ^
                ((word & 1u) != 0 ? 0x9908b0dfu : 0u);
  }
  next_ = 0;
}

uint32_t NumpyRandom::NextUint32() {
  if (next_ == kSize) Refill();
  uint32_t word = state_[next_++];
  word ^= word >> 11;
  word ^= (word << 7) & 0x9d2c5680u;
  word ^= (word << 15) & 0xefc60000u;
  return word ^ (word >> 18);
}

double NumpyRandom::NextDouble() {
  const uint32_t high = NextUint32() >> 5;
  const uint32_t low = NextUint32() >> 6;
  return (high * 67108864.0 + low) / 9007199254740992.0;
}

}  // namespace baton::testing
