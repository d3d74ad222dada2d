#include "baton/relay/op/qnn/centered_bytes.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"

namespace baton::relay::qnn {
namespace {

// Some bytes, and as many numbers of 16 bits, which hold differences of bytes.
using Row [[gnu::vector_size(16)]] = signed char;
using WideRow [[gnu::vector_size(32)]] = int16_t;
constexpr size_t kSide = sizeof(Row);

// Writes `count` elements less their zero points: `zeros` has one for all, or
// one for each. `to` may be `from`. The result has a bit set if an element does
// not fit.
template <bool kOneZero, typename T>
int32_t CenterRun(const T* from, const int16_t* zeros, size_t count,
                  int8_t* to) {
  using Elements [[gnu::vector_size(16)]] = T;
  WideRow beyond = {};
  size_t i = 0;
  for (; i + kSide <= count; i += kSide) {
    Elements elements;
    std::memcpy(&elements, from + i, sizeof(elements));
    WideRow zero = {};
    if constexpr (kOneZero) {
      zero += zeros[0];
    } else {
      std::memcpy(&zero, zeros + i, sizeof(zero));
    }
    const WideRow value = __builtin_convertvector(elements, WideRow) - zero;
    const Row bytes = __builtin_convertvector(value, Row);
    beyond |= value ^ __builtin_convertvector(bytes, WideRow);
    std::memcpy(to + i, &bytes, sizeof(bytes));
  }
  int32_t any = 0;
  for (size_t k = 0; k < kSide; ++k) any |= beyond[k];
  for (; i < count; ++i) {
    const int32_t value = int32_t{from[i]} - zeros[kOneZero ? 0 : i];
    const auto byte = static_cast<int8_t>(value);
    any |= value ^ int32_t { byte };
    to[i] = byte;
  }
  return any;
}

// As CenterRun with one zero point, of the size that ZerosOf() gives, but
// compares only the least and the largest element with it.
template <typename T>
int32_t CenterByOne(const T* from, int16_t zero, size_t count, int8_t* to) {
  using Elements [[gnu::vector_size(16)]] = uint8_t;
  // Makes numbers from 0 to 255 of elements.
  constexpr uint8_t kFlip = std::is_same_v<T, int8_t> ? 128 : 0;
  constexpr size_t kPiece = size_t{64} << 10;
  const Elements less = Elements{} + static_cast<uint8_t>(zero);
  for (size_t at = 0; at < count; at += kPiece) {
    const size_t end = std::min(count, at + kPiece);
    Elements least = Elements{} + uint8_t{255};
    Elements most = {};
    size_t i = at;
    for (; i + kSide <= end; i += kSide) {
      Elements elements;
      std::memcpy(&elements, from + i, sizeof(elements));
      const Elements bytes = elements - less;
      std::memcpy(to + i, &bytes, sizeof(bytes));
      elements ^= kFlip;
      least = least < elements ? least : elements;
      most = most > elements ? most : elements;
    }
    int32_t beyond = CenterRun<true>(from + i, &zero, end - i, to + i);
    if (i > at) {
      for (size_t k = 0; k < kSide; ++k) {
        const int32_t low = int32_t{least[k]} - kFlip - zero;
        const int32_t high = int32_t{most[k]} - kFlip - zero;
        if (low < -128 || high > 127) beyond = 1;
      }
    }
    if (beyond != 0) return beyond;
  }
  return 0;
}

// `zeros` has an element for each index of the middle one of three axes. Stops
// where an element does not fit.
template <typename T>
int32_t Center(const T* from, size_t outer, absl::Span<const int16_t> zeros,
               size_t inner, int8_t* to) {
  const size_t channels = zeros.size();
  int32_t beyond = 0;
  for (size_t o = 0; o < outer && beyond == 0; ++o) {
    const size_t begin = o * channels * inner;
    if (inner == 1) {
      beyond |=
          CenterRun<false>(from + begin, zeros.data(), channels, to + begin);
      continue;
    }
    for (size_t c = 0; c < channels && beyond == 0; ++c) {
      const size_t run = begin + c * inner;
      beyond = CenterByOne(from + run, zeros[c], inner, to + run);
    }
  }
  return beyond;
}

// Transposes a square of bytes.
void TransposeSquare(std::array<Row, kSide>& rows) {
  // Each round interleaves the first half of the square with the second one,
  // so that one bit of the column's number becomes one of the row's number.
  for (size_t done = 1; done < kSide; done *= 2) {
    const std::array<Row, kSide> old = rows;
    for (size_t i = 0; i < kSide / 2; ++i) {
      const Row a = old[i];
      const Row b = old[i + kSide / 2];
      rows[2 * i] = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4,
                                            20, 5, 21, 6, 22, 7, 23);
      rows[2 * i + 1] = __builtin_shufflevector(
          a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    }
  }
}

// Writes the transpose of a matrix of bytes.
void Transpose(const char* from, size_t rows, size_t columns, char* to) {
  // Some rows at a time stay in the nearest cache.
  constexpr size_t kTile = 64;
  const size_t whole_columns = columns / kSide * kSide;
  for (size_t begin = 0; begin < rows; begin += kTile) {
    const size_t end = std::min(begin + kTile, rows);
    const size_t whole_rows = begin + (end - begin) / kSide * kSide;
    for (size_t c = 0; c < whole_columns; c += kSide) {
      for (size_t r = begin; r < whole_rows; r += kSide) {
        std::array<Row, kSide> square;
        for (size_t i = 0; i < kSide; ++i) {
          std::memcpy(&square[i], from + (r + i) * columns + c, kSide);
        }
        TransposeSquare(square);
        for (size_t i = 0; i < kSide; ++i) {
          std::memcpy(to + (c + i) * rows + r, &square[i], kSide);
        }
      }
    }
    for (size_t r = begin; r < end; ++r) {
      const size_t first = r < whole_rows ? whole_columns : 0;
      for (size_t c = first; c < columns; ++c) {
        to[c * rows + r] = from[r * columns + c];
      }
    }
  }
}

// `zeros` has an element for each column of `from`.
template <typename T>
int32_t CenterTransposed(const T* from, size_t rows,
                         absl::Span<const int16_t> zeros, int8_t* to) {
  Transpose(reinterpret_cast<const char*>(from), rows, zeros.size(),
            reinterpret_cast<char*>(to));
  int32_t beyond = 0;
  for (size_t c = 0; c < zeros.size(); ++c) {
    if (std::is_same_v<T, int8_t> && zeros[c] == 0) continue;
    int8_t* const run = to + c * rows;
    beyond |=
        CenterRun<true>(reinterpret_cast<const T*>(run), &zeros[c], rows, run);
  }
  return beyond;
}

// The zero points as `count` numbers of 16 bits; empty if one is so large that
// no byte less it fits.
std::vector<int16_t> ZerosOf(absl::Span<const int64_t> zero_points,
                             int64_t count) {
  constexpr int64_t kMost = 512;
  std::vector<int16_t> zeros;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t zero =
        zero_points[zero_points.size() == 1 ? 0 : static_cast<size_t>(i)];
    if (zero < -kMost || zero > kMost) return {};
    zeros.push_back(static_cast<int16_t>(zero));
  }
  return zeros;
}

// Calls `center` with the elements of `bytes` and those of the result.
template <typename F>
absl::StatusOr<std::optional<Tensor>> Centered(const Tensor& bytes,
                                               absl::Span<const int64_t> shape,
                                               F center) {
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Uninitialized(DType::Int(8), shape));
  int8_t* const to = result.span<int8_t>().data();
  const int32_t beyond = bytes.dtype() == DType::Int(8)
                             ? center(bytes.span<int8_t>().data(), to)
                             : center(bytes.span<uint8_t>().data(), to);
  if (beyond != 0) return std::nullopt;
  return std::move(result).Freeze();
}

}  // namespace

absl::StatusOr<std::optional<Tensor>> CenteredBytes(
    const Tensor& bytes, absl::Span<const int64_t> zero_points, int axis) {
  if (bytes.dtype() == DType::Int(8) &&
      absl::c_all_of(zero_points, [](int64_t zero) { return zero == 0; })) {
    return bytes;
  }
  size_t outer = 1;
  int64_t channels = 1;
  if (zero_points.size() != 1) {
    channels = bytes.shape()[static_cast<size_t>(axis)];
    for (int i = 0; i < axis; ++i) {
      outer *= static_cast<size_t>(bytes.shape()[static_cast<size_t>(i)]);
    }
  }
  const std::vector<int16_t> zeros = ZerosOf(zero_points, channels);
  if (zeros.empty()) return std::nullopt;
  const size_t inner =
      static_cast<size_t>(bytes.num_elements()) / (outer * zeros.size());
  return Centered(bytes, bytes.shape(), [&](const auto* from, int8_t* to) {
    return Center(from, outer, zeros, inner, to);
  });
}

absl::StatusOr<std::optional<Tensor>> TransposedCenteredBytes(
    const Tensor& bytes, absl::Span<const int64_t> zero_points) {
  const auto rows = static_cast<size_t>(bytes.shape()[0]);
  const std::vector<int16_t> zeros = ZerosOf(zero_points, bytes.shape()[1]);
  if (zeros.empty()) return std::nullopt;
  return Centered(bytes, {bytes.shape()[1], bytes.shape()[0]},
                  [&](const auto* from, int8_t* to) {
                    return CenterTransposed(from, rows, zeros, to);
                  });
}

}  // namespace baton::relay::qnn
