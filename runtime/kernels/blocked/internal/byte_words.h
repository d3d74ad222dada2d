// Words of bytes that come from four rows.

#ifndef BATON_RUNTIME_KERNELS_BLOCKED_INTERNAL_BYTE_WORDS_H_
#define BATON_RUNTIME_KERNELS_BLOCKED_INTERNAL_BYTE_WORDS_H_

#include <cstdint>
#include <cstring>

namespace baton::kernels::blocked::internal {

// Reads 16 bytes of each of four rows, which are `row` bytes apart, and writes
// 16 words of four bytes: byte t of each row in turn.
inline void WriteWordsOfRows(const void* rows, int64_t row, void* words) {
  using Bytes [[gnu::vector_size(16)]] = int8_t;
  using Pairs [[gnu::vector_size(16)]] = int16_t;
  Bytes bytes[4];
  for (int64_t i = 0; i < 4; ++i) {
    std::memcpy(&bytes[i], static_cast<const char*>(rows) + i * row,
                sizeof(Bytes));
  }
  Pairs result[4];
  const auto put = [&result](int at, Bytes first, Bytes second) {
    const auto a = reinterpret_cast<Pairs>(first);
    const auto b = reinterpret_cast<Pairs>(second);
    result[at] = __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
    result[at + 1] = __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
  };
  const auto low = [](Bytes a, Bytes b) {
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5,
                                   21, 6, 22, 7, 23);
  };
  const auto high = [](Bytes a, Bytes b) {
    return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28,
                                   13, 29, 14, 30, 15, 31);
  };
  put(0, low(bytes[0], bytes[1]), low(bytes[2], bytes[3]));
  put(2, high(bytes[0], bytes[1]), high(bytes[2], bytes[3]));
  std::memcpy(words, result, sizeof(result));
}

}  // namespace baton::kernels::blocked::internal

#endif  // BATON_RUNTIME_KERNELS_BLOCKED_INTERNAL_BYTE_WORDS_H_
