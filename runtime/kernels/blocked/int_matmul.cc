#include "baton/runtime/kernels/blocked/int_matmul.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "baton/runtime/kernels/blocked/int8_isa.h"
#include "baton/runtime/kernels/blocked/internal/byte_words.inc"
#include "baton/runtime/kernels/blocked/internal/int_matmul.inc"

namespace baton::kernels::blocked {

using integers::matmul::BandsOf;
using integers::matmul::BoundsOf;
using integers::matmul::kSlab;
using integers::matmul::SlabSize;
using integers::matmul::SlabsOf;
using integers::matmul::UsesAmx;
using integers::matmul::WordsOf;

Int8Isa BestIntMatmulIsa(const IntMatmulParams& params) {
  // Requests the permission where it is needed.
  return UsesAmx(params, Int8Isa::kAmx) && IsSupported(Int8Isa::kAmx)
             ? Int8Isa::kAmx
             : BestInt8Isa();
}

int64_t PackedIntMatmulSize(const IntMatmulParams& params) {
  const int64_t bounds =
      params.has_byte_weights ? SlabsOf(params) * BoundsOf(params) * 2 : 0;
  return SlabsOf(params) * (SlabSize(params) + kSlab) * 4 + bounds;
}

namespace {

// Packs some columns of a slab, of which element (i, o) is
// weights[i * row + o * column], and adds up the elements of each. A word has
// kWidth elements. Writes the words of these columns only.
template <int kWidth, typename T>
void PackSlab(const T* weights, int64_t k, int64_t columns, int64_t row,
              int64_t column, uint32_t* words, uint32_t* sums) {
  constexpr int kBits = 32 / kWidth;
  constexpr uint32_t kMask = (uint32_t{1} << kBits) - 1;
  // Some words of each column at a time: the tile stays in the nearest cache,
  // whichever dimension of the weights is the inner one.
  constexpr int64_t kTile = 16;
  const int64_t whole = k / kWidth;
  for (int64_t first = 0; first < whole; first += kTile) {
    const int64_t end = std::min(whole, first + kTile);
    for (int64_t o = 0; o < columns; ++o) {
      const T* from = weights + first * kWidth * row + o * column;
      uint32_t sum = 0;
      for (int64_t i = first; i < end; ++i) {
        uint32_t word = 0;
        for (int j = 0; j < kWidth; ++j, from += row) {
          const auto element = static_cast<uint32_t>(*from);
          sum += element;
          word |= (element & kMask) << (j * kBits);
        }
        words[i * kSlab + o] = word;
      }
      sums[o] += sum;
    }
  }
  if (whole * kWidth == k) return;
  for (int64_t o = 0; o < columns; ++o) {
    uint32_t word = 0;
    for (int64_t i = whole * kWidth; i < k; ++i) {
      const auto element = static_cast<uint32_t>(weights[i * row + o * column]);
      sums[o] += element;
      word |= (element & kMask) << (i % kWidth * kBits);
    }
    words[whole * kSlab + o] = word;
  }
}

// As PackSlab, for all columns of a slab and weights whose columns are
// adjacent: the inner loops have vectors of columns. `words` are 0.
template <int kWidth, typename T>
void PackWholeSlab(const T* weights, int64_t k, int64_t row, uint32_t* words,
                   uint32_t* sums) {
  constexpr int kBits = 32 / kWidth;
  constexpr uint32_t kMask = (uint32_t{1} << kBits) - 1;
  for (int64_t i = 0; i < k; ++i) {
    const T* const from = weights + i * row;
    uint32_t* const to = words + i / kWidth * kSlab;
    const int shift = static_cast<int>(i % kWidth) * kBits;
    for (int64_t o = 0; o < kSlab; ++o) {
      const auto element = static_cast<uint32_t>(from[o]);
      sums[o] += element;
      to[o] |= (element & kMask) << shift;
    }
  }
}

using Int8x16 [[gnu::vector_size(16)]] = int8_t;
using Uint8x16 [[gnu::vector_size(16)]] = uint8_t;
using Int16x16 [[gnu::vector_size(32)]] = int16_t;
using Int32x16 [[gnu::vector_size(64)]] = int32_t;
using Uint32x16 [[gnu::vector_size(64)]] = uint32_t;

// Packs the first `slabs` slabs of bytes, of which all columns are there, four
// bytes to a word, on processors whose words begin with their low bytes. Adds
// the sums of columns to `sums`.
template <typename T>
void PackWholeByteSlabs(const IntMatmulParams& params, const T* weights,
                        int64_t slabs, uint32_t* words, uint32_t* sums) {
  static_assert(sizeof(T) == 1);
  using Bytes = std::conditional_t<std::is_signed_v<T>, Int8x16, Uint8x16>;
  constexpr int64_t kColumns = 16;
  // The words of some columns that are packed before those of the next columns,
  // which are in the same lines of the cache. Sums of so many bytes fit into 16
  // bits.
  constexpr int64_t kWords = 8;
  const int64_t row = params.n;
  const int64_t whole = params.k / 4;
  for (int64_t first = 0; first < whole; first += kWords) {
    const int64_t end = std::min(whole, first + kWords);
    for (int64_t c = 0; c < slabs * kSlab; c += kColumns) {
      uint32_t* const to = words + c / kSlab * SlabSize(params) + c % kSlab;
      Int16x16 sum = {};
      for (int64_t i = first; i < end; ++i) {
        const T* const from = weights + i * 4 * row + c;
        for (int64_t j = 0; j < 4; ++j) {
          Bytes bytes;
          std::memcpy(&bytes, from + j * row, sizeof(bytes));
          sum += __builtin_convertvector(bytes, Int16x16);
        }
        integers::WriteWordsOfRows(from, row, to + i * kSlab);
      }
      Uint32x16 total;
      std::memcpy(&total, sums + c, sizeof(total));
      total +=
          reinterpret_cast<Uint32x16>(__builtin_convertvector(sum, Int32x16));
      std::memcpy(sums + c, &total, sizeof(total));
    }
  }
  if (whole * 4 == params.k) return;
  for (int64_t s = 0; s < slabs; ++s) {
    PackSlab<4>(weights + whole * 4 * row + s * kSlab, params.k - whole * 4,
                kSlab, row, /*column=*/1,
                words + s * SlabSize(params) + whole * kSlab, sums + s * kSlab);
  }
}

// As PackSlab, for bytes, four to a word, and a slab whose rows are adjacent: a
// word is four adjacent bytes.
template <typename T>
void PackTransposedBytes(const T* weights, int64_t k, int64_t columns,
                         uint32_t* words, uint32_t* sums) {
  static_assert(sizeof(T) == 1);
  // The words of a column that are packed before those of the next one.
  constexpr int64_t kTile = 16;
  const int64_t whole = k / (4 * kTile) * kTile;
  for (int64_t first = 0; first < whole; first += kTile) {
    for (int64_t o = 0; o < columns; ++o) {
      const T* const from = weights + o * k + first * 4;
      uint32_t word[kTile];
      std::memcpy(word, from, sizeof(word));
      for (int64_t i = 0; i < kTile; ++i) {
        words[(first + i) * kSlab + o] = word[i];
      }
      uint32_t sum = 0;
      for (int64_t i = 0; i < 4 * kTile; ++i) {
        sum += static_cast<uint32_t>(from[i]);
      }
      sums[o] += sum;
    }
  }
  if (whole * 4 < k) {
    PackSlab<4>(weights + whole * 4, k - whole * 4, columns, /*row=*/1,
                /*column=*/k, words + whole * kSlab, sums);
  }
}

// True if words of bytes are copies of the bytes.
template <int kWidth, typename T>
constexpr bool kCopiesBytes =
    sizeof(T) == 1 && kWidth == 4 && std::endian::native == std::endian::little;

// Packs all columns of a slab and zeros for those that are not there. `sums`
// are 0.
template <int kWidth, typename T>
void PackColumns(const IntMatmulParams& params, const T* weights,
                 bool transposed, int64_t columns, uint32_t* words,
                 uint32_t* sums) {
  std::memset(words, 0, static_cast<size_t>(SlabSize(params)) * 4);
  if constexpr (kCopiesBytes<kWidth, T>) {
    if (transposed) {
      PackTransposedBytes(weights, params.k, columns, words, sums);
      return;
    }
  }
  if (!transposed && columns == kSlab) {
    PackWholeSlab<kWidth>(weights, params.k, params.n, words, sums);
    return;
  }
  PackSlab<kWidth>(weights, params.k, columns, transposed ? 1 : params.n,
                   transposed ? params.k : 1, words, sums);
}

// Writes the bounds of a slab.
void WriteBounds(const IntMatmulParams& params, const uint32_t* slab,
                 uint16_t* bounds) {
  const int64_t words = WordsOf(params);
  // Their number is even: the last one may belong to no word.
  bounds[BoundsOf(params) - 1] = 0;
  for (int64_t i = 0; i < words; i += 2) {
    integers::SumsOfSigns<kSlab> sums;
    integers::AddWeights(slab + i * kSlab, sums);
    bounds[i] = integers::BoundOf(sums);
    if (i + 1 == words) break;
    integers::SumsOfSigns<kSlab> of_second;
    integers::AddWeights(slab + (i + 1) * kSlab, of_second);
    bounds[i + 1] = integers::BoundOf(of_second);
    for (int64_t v = 0; v < kSlab / 4; ++v) {
      sums.above[v] += of_second.above[v];
      sums.below[v] += of_second.below[v];
    }
    bounds[words + i / 2] = integers::BoundOf(sums);
  }
}

}  // namespace

template <typename T>
void PackIntMatmul(const IntMatmulParams& params, const T* weights,
                   bool transposed, void* packed) {
  auto* const words = static_cast<uint32_t*>(packed);
  uint32_t* const sums = words + SlabsOf(params) * SlabSize(params);
  std::memset(sums, 0, static_cast<size_t>(SlabsOf(params) * kSlab) * 4);
  int64_t first = 0;
  if constexpr (kCopiesBytes<4, T>) {
    if (params.has_byte_weights && !transposed) {
      const int64_t slabs = params.n / kSlab;
      PackWholeByteSlabs(params, weights, slabs, words, sums);
      first = slabs * kSlab;
    }
  }
  for (int64_t o = first; o < params.n; o += kSlab) {
    const int64_t columns = std::min(kSlab, params.n - o);
    uint32_t* const slab = words + o / kSlab * SlabSize(params);
    (params.has_byte_weights
         ? PackColumns<4, T>
         : PackColumns<2, T>)(params, weights + o * (transposed ? params.k : 1),
                              transposed, columns, slab, sums + o);
  }
  if (!params.has_byte_weights) return;
  auto* const bounds =
      reinterpret_cast<uint16_t*>(sums + SlabsOf(params) * kSlab);
  for (int64_t s = 0; s < SlabsOf(params); ++s) {
    WriteBounds(params, words + s * SlabSize(params),
                bounds + s * BoundsOf(params));
  }
}

template void PackIntMatmul(const IntMatmulParams& params,
                            const int8_t* weights, bool transposed,
                            void* packed);
template void PackIntMatmul(const IntMatmulParams& params,
                            const uint8_t* weights, bool transposed,
                            void* packed);
template void PackIntMatmul(const IntMatmulParams& params,
                            const int32_t* weights, bool transposed,
                            void* packed);

int64_t IntMatmulItems(const IntMatmulParams& params) {
  return BandsOf(params) * SlabsOf(params);
}

size_t IntMatmulWorkspaceSize(const IntMatmulParams& params) {
  return static_cast<size_t>(integers::matmul::WorkspaceBytes(params));
}

}  // namespace baton::kernels::blocked
