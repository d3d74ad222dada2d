#include "baton/runtime/kernels/internal/strided_copy.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"

namespace baton::kernels::internal {
namespace {

struct Dim {
  int64_t size;
  int64_t src;  // Strides, in bytes.
  int64_t dst;
};
using Dims = absl::InlinedVector<Dim, 8>;

// Sorts by insertion: that keeps the order of equals and allocates nothing.
template <typename Before>
void SortDims(Dims& dims, const Before& is_before) {
  for (size_t i = 1; i < dims.size(); ++i) {
    for (size_t j = i; j > 0 && is_before(dims[j], dims[j - 1]); --j) {
      std::swap(dims[j], dims[j - 1]);
    }
  }
}

struct Wide {
  uint64_t low;
  uint64_t high;
};

// Calls fn(src, dst) at every point of `dims`, the last one fastest.
template <typename Fn>
void ForEachPoint(absl::Span<const Dim> dims, const char* src, char* dst,
                  const Fn& fn) {
  absl::InlinedVector<int64_t, 8> index(dims.size(), 0);
  while (true) {
    fn(src, dst);
    size_t d = dims.size();
    while (true) {
      if (d == 0) return;
      --d;
      src += dims[d].src;
      dst += dims[d].dst;
      if (++index[d] < dims[d].size) break;
      src -= dims[d].src * dims[d].size;
      dst -= dims[d].dst * dims[d].size;
      index[d] = 0;
    }
  }
}

// Transposes one block: kBlock rows of src become columns of dst.
template <typename T>
struct Block {
  static constexpr int kRows = 1;
  static void Transpose(const char* src, int64_t, char* dst, int64_t) {
    std::memcpy(dst, src, sizeof(T));
  }
};

#if defined(__SSE2__)
inline __m128i Load(const char* p) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}
inline void Store(char* p, __m128i v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), v);
}

template <>
struct Block<uint64_t> {
  static constexpr int kRows = 2;
  static void Transpose(const char* src, int64_t ss, char* dst, int64_t ds) {
    const __m128i a = Load(src);
    const __m128i b = Load(src + ss);
    Store(dst, _mm_unpacklo_epi64(a, b));
    Store(dst + ds, _mm_unpackhi_epi64(a, b));
  }
};

template <>
struct Block<uint32_t> {
  static constexpr int kRows = 4;
  static void Transpose(const char* src, int64_t ss, char* dst, int64_t ds) {
    const __m128i a = Load(src);
    const __m128i b = Load(src + ss);
    const __m128i c = Load(src + 2 * ss);
    const __m128i d = Load(src + 3 * ss);
    const __m128i ab0 = _mm_unpacklo_epi32(a, b);
    const __m128i ab1 = _mm_unpackhi_epi32(a, b);
    const __m128i cd0 = _mm_unpacklo_epi32(c, d);
    const __m128i cd1 = _mm_unpackhi_epi32(c, d);
    Store(dst, _mm_unpacklo_epi64(ab0, cd0));
    Store(dst + ds, _mm_unpackhi_epi64(ab0, cd0));
    Store(dst + 2 * ds, _mm_unpacklo_epi64(ab1, cd1));
    Store(dst + 3 * ds, _mm_unpackhi_epi64(ab1, cd1));
  }
};

template <>
struct Block<uint16_t> {
  static constexpr int kRows = 8;
  static void Transpose(const char* src, int64_t ss, char* dst, int64_t ds) {
    __m128i r[8], s[8];
    for (int i = 0; i < 8; ++i) r[i] = Load(src + i * ss);
    for (int i = 0; i < 4; ++i) {
      s[2 * i] = _mm_unpacklo_epi16(r[2 * i], r[2 * i + 1]);
      s[2 * i + 1] = _mm_unpackhi_epi16(r[2 * i], r[2 * i + 1]);
    }
    for (int i = 0; i < 2; ++i) {
      r[4 * i] = _mm_unpacklo_epi32(s[4 * i], s[4 * i + 2]);
      r[4 * i + 1] = _mm_unpackhi_epi32(s[4 * i], s[4 * i + 2]);
      r[4 * i + 2] = _mm_unpacklo_epi32(s[4 * i + 1], s[4 * i + 3]);
      r[4 * i + 3] = _mm_unpackhi_epi32(s[4 * i + 1], s[4 * i + 3]);
    }
    for (int i = 0; i < 4; ++i) {
      Store(dst + 2 * i * ds, _mm_unpacklo_epi64(r[i], r[i + 4]));
      Store(dst + (2 * i + 1) * ds, _mm_unpackhi_epi64(r[i], r[i + 4]));
    }
  }
};

template <>
struct Block<uint8_t> {
  static constexpr int kRows = 16;
  // Four rounds of a perfect shuffle of the sixteen rows.
  static void Transpose(const char* src, int64_t ss, char* dst, int64_t ds) {
    __m128i a[16], b[16];
    for (int i = 0; i < 16; ++i) a[i] = Load(src + i * ss);
    for (int round = 0; round < 2; ++round) {
      for (int i = 0; i < 8; ++i) {
        b[2 * i] = _mm_unpacklo_epi8(a[i], a[i + 8]);
        b[2 * i + 1] = _mm_unpackhi_epi8(a[i], a[i + 8]);
      }
      for (int i = 0; i < 8; ++i) {
        a[2 * i] = _mm_unpacklo_epi8(b[i], b[i + 8]);
        a[2 * i + 1] = _mm_unpackhi_epi8(b[i], b[i + 8]);
      }
    }
    for (int i = 0; i < 16; ++i) Store(dst + i * ds, a[i]);
  }
};
#endif  // defined(__SSE2__)

// The side of a tile: a cache line of elements.
template <typename T>
constexpr int64_t kTile = 64 / static_cast<int64_t>(sizeof(T));

// Transposes a whole tile by way of a buffer, so that each line of src is read
// and each line of dst is written at once: lines of one tile often share a set
// of the cache and evict each other.
template <typename T>
void TransposeTile(const char* src, int64_t ss, char* dst, int64_t ds) {
  constexpr int64_t kB = Block<T>::kRows;
  constexpr int64_t kT = static_cast<int64_t>(sizeof(T));
  alignas(64) char buffer[64 * kTile<T>];
  for (int64_t c = 0; c < kTile<T>; c += kB) {
    for (int64_t r = 0; r < kTile<T>; r += kB) {
      Block<T>::Transpose(src + c * ss + r * kT, ss, buffer + r * 64 + c * kT,
                          64);
    }
  }
  for (int64_t r = 0; r < kTile<T>; ++r) {
    std::memcpy(dst + r * ds, buffer + r * 64, 64);
  }
}

// dst[r * ds + c] = src[c * ss + r] for r < rows, c < cols; strides in bytes.
template <typename T>
void Transpose2d(const char* src, int64_t ss, char* dst, int64_t ds,
                 int64_t rows, int64_t cols) {
  constexpr int64_t kB = Block<T>::kRows;
  constexpr int64_t kT = static_cast<int64_t>(sizeof(T));
  if (cols == kTile<T>) {
    for (; rows >= kTile<T>; rows -= kTile<T>) {
      TransposeTile<T>(src, ss, dst, ds);
      src += 64;
      dst += kTile<T> * ds;
    }
  }
  const int64_t block_rows = kB == 1 ? 0 : rows / kB * kB;
  const int64_t block_cols = kB == 1 ? 0 : cols / kB * kB;
  for (int64_t r = 0; r < block_rows; r += kB) {
    for (int64_t c = 0; c < block_cols; c += kB) {
      Block<T>::Transpose(src + c * ss + r * kT, ss, dst + r * ds + c * kT, ds);
    }
  }
  const auto scalar = [&](int64_t r0, int64_t r1, int64_t c0, int64_t c1) {
    if (c1 - c0 < r1 - r0) {
      for (int64_t c = c0; c < c1; ++c) {
        for (int64_t r = r0; r < r1; ++r) {
          std::memcpy(dst + r * ds + c * kT, src + c * ss + r * kT, sizeof(T));
        }
      }
    } else {
      for (int64_t r = r0; r < r1; ++r) {
        for (int64_t c = c0; c < c1; ++c) {
          std::memcpy(dst + r * ds + c * kT, src + c * ss + r * kT, sizeof(T));
        }
      }
    }
  };
  if (block_cols > 0 && block_rows > 0) {
    scalar(0, block_rows, block_cols, cols);
    scalar(block_rows, rows, 0, cols);
  } else {
    scalar(0, rows, 0, cols);
  }
}

// Copies where src is contiguous along `rows`, one of `outer`, and dst along
// `inner`.
template <typename T>
void SwapFastest(absl::Span<const Dim> outer, const Dim& rows, const Dim& inner,
                 const char* src, char* dst) {
  constexpr int64_t kT = static_cast<int64_t>(sizeof(T));
  // Tiles write whole cache lines of dst, blocks of rows bound how many pages
  // of dst are in use at a time. Where other loops complete the lines that a
  // tile begins, a block is as small as one line of src, so that they stay in
  // the cache until then.
  constexpr int64_t kRowsAtATime = 128;
  const bool partial_lines =
      inner.size < kTile<T> &&
      std::any_of(outer.begin(), outer.end(),
                  [&rows](const Dim& d) { return d.dst < rows.dst; });
  const int64_t block = partial_lines ? kTile<T> : kRowsAtATime;
  Dims loops;
  for (const Dim& d : outer) {
    if (&d != &rows) loops.push_back(d);
  }
  // The two loops over parts, known by their strides; sizes follow below.
  const int64_t tile_step = kT * kTile<T>;
  const int64_t block_step = kT * block;
  loops.push_back({0, inner.src * kTile<T>, tile_step});
  loops.push_back({0, block_step, rows.dst * block});
  // In the order of dst; in that of src if it is src's runs that do not fill a
  // line.
  const bool by_src = rows.size < kTile<T>;
  SortDims(loops, [by_src](const Dim& a, const Dim& b) {
    return by_src ? std::abs(a.src) > std::abs(b.src) : a.dst > b.dst;
  });
  size_t tile_loop = 0;
  while (loops[tile_loop].size != 0 || loops[tile_loop].dst != tile_step) {
    ++tile_loop;
  }
  size_t block_loop = 0;
  while (loops[block_loop].size != 0 || block_loop == tile_loop) ++block_loop;
  // Whole tiles and blocks first, then what is left of either.
  const auto run = [&](int64_t first_tile, int64_t tiles, int64_t cols,
                       int64_t first_block, int64_t blocks, int64_t height) {
    if (tiles == 0 || blocks == 0 || cols == 0 || height == 0) return;
    loops[tile_loop].size = tiles;
    loops[block_loop].size = blocks;
    ForEachPoint(loops,
                 src + first_tile * loops[tile_loop].src +
                     first_block * loops[block_loop].src,
                 dst + first_tile * loops[tile_loop].dst +
                     first_block * loops[block_loop].dst,
                 [&](const char* s, char* d) {
                   Transpose2d<T>(s, inner.src, d, rows.dst, height, cols);
                 });
  };
  const int64_t tiles = inner.size / kTile<T>;
  const int64_t blocks = rows.size / block;
  const int64_t cols_left = inner.size % kTile<T>;
  const int64_t rows_left = rows.size % block;
  run(0, tiles, kTile<T>, 0, blocks, block);
  run(tiles, 1, cols_left, 0, blocks, block);
  run(0, tiles, kTile<T>, blocks, 1, rows_left);
  run(tiles, 1, cols_left, blocks, 1, rows_left);
}

// `dims` is sorted by descending dst stride, merged, and not empty.
template <typename T>
void Copy(absl::Span<const Dim> dims, const char* src, char* dst) {
  constexpr int64_t kT = static_cast<int64_t>(sizeof(T));
  const Dim inner = dims.back();
  const absl::Span<const Dim> outer = dims.subspan(0, dims.size() - 1);
  if (inner.dst == kT && inner.src == kT) {
    const size_t run = static_cast<size_t>(inner.size) * sizeof(T);
    ForEachPoint(outer, src, dst,
                 [run](const char* s, char* d) { std::memcpy(d, s, run); });
    return;
  }
  const auto unit = std::find_if(outer.begin(), outer.end(),
                                 [](const Dim& d) { return d.src == kT; });
  // Runs of src that are shorter than this are no rows of blocks.
  constexpr int64_t kShortest = 5;
  if (inner.dst == kT && inner.src != 0 && unit != outer.end() &&
      unit->size >= kShortest) {
    return SwapFastest<T>(outer, *unit, inner, src, dst);
  }
  if (inner.dst == kT && inner.src == -kT) {
    // Backwards. Constant steps become vectors.
    ForEachPoint(outer, src, dst, [&inner](const char* s, char* d) {
      int64_t i = 0;
      if constexpr (sizeof(T) == 1) {
        for (; i + 8 <= inner.size; i += 8) {
          uint64_t bytes;
          std::memcpy(&bytes, s - i - 7, sizeof(bytes));
          bytes = __builtin_bswap64(bytes);
          std::memcpy(d + i, &bytes, sizeof(bytes));
        }
      }
      for (; i < inner.size; ++i) {
        std::memcpy(d + i * kT, s - i * kT, sizeof(T));
      }
    });
    return;
  }
  if (inner.dst == kT && inner.src == 0) {
    ForEachPoint(outer, src, dst, [&inner](const char* s, char* d) {
      T value;
      std::memcpy(&value, s, sizeof(T));
      for (int64_t i = 0; i < inner.size; ++i) {
        std::memcpy(d + i * kT, &value, sizeof(T));
      }
    });
    return;
  }
  if (sizeof(T) < 8 && inner.dst == kT && inner.src == 2 * kT) {
    // Every other element: vectors again, of at least four.
    ForEachPoint(outer, src, dst, [&inner](const char* s, char* d) {
      for (int64_t i = 0; i < inner.size; ++i) {
        std::memcpy(d + i * kT, s + 2 * i * kT, sizeof(T));
      }
    });
    return;
  }
  ForEachPoint(outer, src, dst, [&inner](const char* s, char* d) {
    int64_t i = 0;
    for (constexpr int kAtATime = 4; i + kAtATime <= inner.size;
         i += kAtATime) {
      T values[kAtATime];
      for (T& value : values) {
        std::memcpy(&value, s, sizeof(T));
        s += inner.src;
      }
      for (const T& value : values) {
        std::memcpy(d, &value, sizeof(T));
        d += inner.dst;
      }
    }
    for (; i < inner.size; ++i) {
      std::memcpy(d, s, sizeof(T));
      s += inner.src;
      d += inner.dst;
    }
  });
}

}  // namespace

void StridedCopy(int element_size, absl::Span<const int64_t> shape,
                 const void* src, absl::Span<const int64_t> src_strides,
                 void* dst, absl::Span<const int64_t> dst_strides) {
  Dims dims;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0) return;
    if (shape[i] == 1) continue;
    dims.push_back({shape[i], src_strides[i] * element_size,
                    dst_strides[i] * element_size});
  }
  SortDims(dims, [](const Dim& a, const Dim& b) { return a.dst > b.dst; });
  Dims merged;
  for (const Dim& d : dims) {
    if (!merged.empty() && merged.back().src == d.src * d.size &&
        merged.back().dst == d.dst * d.size) {
      merged.back() = {merged.back().size * d.size, d.src, d.dst};
    } else {
      merged.push_back(d);
    }
  }
  const char* from = static_cast<const char*>(src);
  char* to = static_cast<char*>(dst);
  if (merged.empty()) {
    std::memcpy(to, from, static_cast<size_t>(element_size));
    return;
  }
  // A short run that both sides hold contiguously is one wider element.
  if (merged.size() > 1 && merged.back().src == element_size &&
      merged.back().dst == element_size) {
    const int64_t run = merged.back().size * element_size;
    if (run == 2 || run == 4 || run == 8 || run == 16) {
      merged.pop_back();
      element_size = static_cast<int>(run);
    }
  }
  switch (element_size) {
    case 1:
      return Copy<uint8_t>(merged, from, to);
    case 2:
      return Copy<uint16_t>(merged, from, to);
    case 4:
      return Copy<uint32_t>(merged, from, to);
    case 8:
      return Copy<uint64_t>(merged, from, to);
    default:
      return Copy<Wide>(merged, from, to);
  }
}

}  // namespace baton::kernels::internal
