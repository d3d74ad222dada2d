// Interleaves sixteen rows of floats, for packing weights.

#ifndef BATON_RUNTIME_KERNELS_BLOCKED_INTERNAL_INTERLEAVE_H_
#define BATON_RUNTIME_KERNELS_BLOCKED_INTERNAL_INTERLEAVE_H_

#include <cstdint>

namespace baton::kernels::blocked::internal {

// Writes element i of row r of `from`, whose rows are `stride` apart, to
// to[(i % inner * outer + i / inner) * 16 + r], for i < outer * inner. Returns
// true if all elements are finite.
inline bool InterleaveSixteen(const float* from, int64_t stride, int64_t outer,
                              int64_t inner, float* to) {
  using Four [[gnu::vector_size(16)]] = float;
  using FourBits [[gnu::vector_size(16)]] = int32_t;
  const int64_t count = outer * inner;
  FourBits infinite = {};
  const auto place = [&](int64_t i) {
    return to + (inner == 1 ? i : i % inner * outer + i / inner) * 16;
  };
  int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    float* const places[4] = {place(i), place(i + 1), place(i + 2),
                              place(i + 3)};
    for (int64_t r = 0; r < 16; r += 4) {
      Four rows[4];
      for (int64_t k = 0; k < 4; ++k) {
        __builtin_memcpy(&rows[k], from + (r + k) * stride + i, sizeof(Four));
        // An infinity or a NaN less itself is NaN.
        const Four zero = rows[k] - rows[k];
        infinite |= zero != 0;
      }
      const Four a = __builtin_shufflevector(rows[0], rows[1], 0, 4, 1, 5);
      const Four b = __builtin_shufflevector(rows[2], rows[3], 0, 4, 1, 5);
      const Four c = __builtin_shufflevector(rows[0], rows[1], 2, 6, 3, 7);
      const Four d = __builtin_shufflevector(rows[2], rows[3], 2, 6, 3, 7);
      const Four columns[4] = {__builtin_shufflevector(a, b, 0, 1, 4, 5),
                               __builtin_shufflevector(a, b, 2, 3, 6, 7),
                               __builtin_shufflevector(c, d, 0, 1, 4, 5),
                               __builtin_shufflevector(c, d, 2, 3, 6, 7)};
      for (int64_t k = 0; k < 4; ++k) {
        __builtin_memcpy(places[k] + r, &columns[k], sizeof(Four));
      }
    }
  }
  bool finite = true;
  for (; i < count; ++i) {
    float* const at = place(i);
    for (int64_t r = 0; r < 16; ++r) {
      const float value = from[r * stride + i];
      finite = finite && value - value == 0;
      at[r] = value;
    }
  }
  return finite && (infinite[0] | infinite[1] | infinite[2] | infinite[3]) == 0;
}

}  // namespace baton::kernels::blocked::internal

#endif  // BATON_RUNTIME_KERNELS_BLOCKED_INTERNAL_INTERLEAVE_H_
