// The product is computed in tiles of a few rows by a few vectors, whose sums
// stay in registers while one element of each row of `a` after another is
// multiplied with vectors of `b`. Blocks of `b` are packed, so that a tile
// reads them front to back; they fit into the second-level cache, a panel of
// one into the first-level cache. `a` is read where it is.
//
// Each element is summed in an order that depends on the shapes of the operands
// alone: its value depends neither on the tile that it is in nor on the width
// of vectors, but on whether the processor has fused multiplication and
// addition.

#include "baton/runtime/kernels/internal/gemm.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace baton::kernels::internal {
namespace {

// The longest run of products that is summed in float32 alone. A sum of
// kChunk + kGroup / kChunk roundings of 2^-24 each is within 1e-5.
constexpr int64_t kChunk = 128;
constexpr int64_t kGroup = 36 * kChunk;

// Bytes of a packed block.
constexpr int64_t kBlockBytes = int64_t{256} << 10;

// --- Tiles -----------------------------------------------------------------

// c = a * b or c += a * b for a tile of c. Element (i, p) of a is
// a[i * a_row + p * a_column]; row p of b starts at b + p * b_row, row i of c
// at c + i * c_row.
template <typename T>
struct Tile {
  int64_t k;
  const T* a;
  int64_t a_row;
  int64_t a_column;
  const T* b;
  int64_t b_row;
  T* c;
  int64_t c_row;
  bool add;
};

template <typename T>
using TileFn = void (*)(const Tile<T>& tile);

// A tile of kRows rows and kVectors vectors of kBytes. Inlined into functions
// that may use such vectors.
template <typename T, int kBytes, int kRows, int kVectors>
[[gnu::always_inline]] inline void MultiplyTile(const Tile<T>& tile) {
  typedef T Vector
      __attribute__((vector_size(kBytes), aligned(alignof(T)), may_alias));
  constexpr int kLanes = kBytes / static_cast<int>(sizeof(T));
  Vector sums[kRows][kVectors];
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sums[i][v] = Vector{};
  }
  const int64_t a_row = tile.a_row;
  const int64_t a_column = tile.a_column;
  const int64_t b_row = tile.b_row;
  const T* a = tile.a;
  const T* b = tile.b;
  for (int64_t p = 0; p < tile.k; ++p) {
    Vector right[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      right[v] = *reinterpret_cast<const Vector*>(b + v * kLanes);
    }
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      const T left = a[i * a_row];
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sums[i][v] += left * right[v];
    }
    a += a_column;
    b += b_row;
  }
  T* c = tile.c;
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      Vector* to = reinterpret_cast<Vector*>(c + v * kLanes);
      *to = tile.add ? *to + sums[i][v] : sums[i][v];
    }
    c += tile.c_row;
  }
}

// How the processor that runs this multiplies: vectors of `bytes`; tiles of at
// most `rows` rows and `vectors` vectors. tiles[r][v - 1] makes those of 2^r
// rows and v vectors.
template <typename T>
struct Machine {
  int bytes;
  int rows;
  int vectors;
  std::array<std::array<TileFn<T>, 3>, 4> tiles;

  int64_t lanes() const { return bytes / static_cast<int64_t>(sizeof(T)); }
  int64_t width() const { return vectors * lanes(); }
};

template <typename T, int kRows, int kVectors>
void Tile128(const Tile<T>& tile) {
  MultiplyTile<T, 16, kRows, kVectors>(tile);
}

template <typename T>
constexpr Machine<T> kMachine128 = {
    .bytes = 16,
    .rows = 4,
    .vectors = 2,
    .tiles = {{{Tile128<T, 1, 1>, Tile128<T, 1, 2>},
               {Tile128<T, 2, 1>, Tile128<T, 2, 2>},
               {Tile128<T, 4, 1>, Tile128<T, 4, 2>}}}};

#ifdef __x86_64__

template <typename T, int kRows, int kVectors>
[[gnu::target("avx2,fma")]] void Tile256(const Tile<T>& tile) {
  MultiplyTile<T, 32, kRows, kVectors>(tile);
}

template <typename T>
constexpr Machine<T> kMachine256 = {
    .bytes = 32,
    .rows = 4,
    .vectors = 3,
    .tiles = {{{Tile256<T, 1, 1>, Tile256<T, 1, 2>, Tile256<T, 1, 3>},
               {Tile256<T, 2, 1>, Tile256<T, 2, 2>, Tile256<T, 2, 3>},
               {Tile256<T, 4, 1>, Tile256<T, 4, 2>, Tile256<T, 4, 3>}}}};

template <typename T, int kRows, int kVectors>
[[gnu::target("avx512f,avx512dq,fma")]] void Tile512(const Tile<T>& tile) {
  MultiplyTile<T, 64, kRows, kVectors>(tile);
}

template <typename T>
constexpr Machine<T> kMachine512 = {
    .bytes = 64,
    .rows = 8,
    .vectors = 3,
    .tiles = {{{Tile512<T, 1, 1>, Tile512<T, 1, 2>, Tile512<T, 1, 3>},
               {Tile512<T, 2, 1>, Tile512<T, 2, 2>, Tile512<T, 2, 3>},
               {Tile512<T, 4, 1>, Tile512<T, 4, 2>, Tile512<T, 4, 3>},
               {Tile512<T, 8, 1>, Tile512<T, 8, 2>, Tile512<T, 8, 3>}}}};

#endif  // __x86_64__

template <typename T>
const Machine<T>& ThisMachine() {
#ifdef __x86_64__
  static const Machine<T>& machine = []() -> const Machine<T>& {
    if (__builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512dq")) {
      return kMachine512<T>;
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
      return kMachine256<T>;
    }
    return kMachine128<T>;
  }();
  return machine;
#else
  return kMachine128<T>;
#endif
}

// --- Blocks ----------------------------------------------------------------

// Row i of an operand starts at data + i * row.
template <typename T>
struct Left {
  const T* data;
  int64_t row;
  int64_t column;
};

// c = a * b or c += a * b, where b is a panel of `columns` columns that lies in
// memory in whole vectors, k rows of them, b_row apart.
template <typename T>
void MultiplyPanel(const Machine<T>& machine, int64_t m, int64_t columns,
                   int64_t k, Left<T> a, const T* b, int64_t b_row, T* c,
                   int64_t c_stride, bool add) {
  const int64_t lanes = machine.lanes();
  const int64_t vectors = (columns + lanes - 1) / lanes;
  const bool is_whole = vectors * lanes == columns;
  // Tiles that reach beyond the last column go here first. Three vectors of 64
  // bytes in eight rows is the largest tile.
  constexpr size_t kMaxTile = 8 * 3 * 64 / sizeof(T);
  T edge[kMaxTile];
  size_t log_rows = 3;
  for (int64_t i = 0; i < m;) {
    int64_t rows = int64_t{1} << log_rows;
    while (rows > std::min<int64_t>(machine.rows, m - i)) {
      rows /= 2;
      --log_rows;
    }
    const TileFn<T> multiply =
        machine.tiles[log_rows][static_cast<size_t>(vectors - 1)];
    Tile<T> tile = {k,     a.data + i * a.row, a.row,    a.column, b,
                    b_row, c + i * c_stride,   c_stride, add};
    if (is_whole) {
      multiply(tile);
    } else {
      tile.c = edge;
      tile.c_row = vectors * lanes;
      tile.add = false;
      multiply(tile);
      for (int64_t r = 0; r < rows; ++r) {
        T* to = c + (i + r) * c_stride;
        const T* from = edge + r * tile.c_row;
        if (add) {
          for (int64_t j = 0; j < columns; ++j) to[j] += from[j];
        } else {
          std::copy_n(from, columns, to);
        }
      }
    }
    i += rows;
  }
}

// The right operand: a matrix, or blocks that a function packs.
template <typename T>
struct Right {
  PackFn<T> pack;
  // Not null: rows in memory, which may be read in place.
  const T* rows = nullptr;
  int64_t stride = 0;
};

// c = a * b for the terms [k0, k1) of each sum.
template <typename T>
void MultiplyTerms(int64_t m, int64_t n, int64_t k0, int64_t k1, Left<T> a,
                   const Right<T>& b, T* c, int64_t c_stride) {
  const Machine<T>& machine = ThisMachine<T>();
  const int64_t width = machine.width();
  // Packing costs more than it saves where each element is used but a few
  // times.
  const bool in_place = b.rows != nullptr && m <= 2 * machine.rows;
  const int64_t panels =
      std::max<int64_t>(1, kBlockBytes / (kChunk * width * int64_t{sizeof(T)}));
  const int64_t step =
      std::min(panels * width, (n + width - 1) / width * width);
  // In place, only the last panel is packed, if it is not full.
  const int64_t packed_columns = in_place ? width : step;
  std::vector<T> packed(
      static_cast<size_t>(packed_columns * std::min(kChunk, k1 - k0)));
  for (int64_t j0 = 0; j0 < n; j0 += step) {
    const int64_t j1 = std::min(n, j0 + step);
    for (int64_t p0 = k0; p0 < k1; p0 += kChunk) {
      const int64_t depth = std::min(kChunk, k1 - p0);
      // The columns before `first` are read in place.
      const int64_t first = in_place ? j0 + (j1 - j0) / width * width : j0;
      if (first < j1) {
        b.pack({p0, depth, first, j1 - first, width, packed.data()});
      }
      const Left<T> left = {a.data + p0 * a.column, a.row, a.column};
      for (int64_t j = j0; j < j1; j += width) {
        const bool is_packed = j >= first;
        MultiplyPanel(machine, m, std::min(width, j1 - j), depth, left,
                      is_packed ? packed.data() + (j - first) * depth
                                : b.rows + p0 * b.stride + j,
                      is_packed ? width : b.stride, c + j, c_stride,
                      /*add=*/p0 > k0);
      }
    }
  }
}

template <typename T>
void Multiply(int64_t m, int64_t n, int64_t k, ConstMatrix<T> a,
              const Right<T>& b, T* c, int64_t c_stride) {
  if (m == 0 || n == 0) return;
  if (k == 0) {
    for (int64_t i = 0; i < m; ++i) std::fill_n(c + i * c_stride, n, T(0));
    return;
  }
  const Left<T> left = {a.data, a.transposed ? 1 : a.stride,
                        a.transposed ? a.stride : 1};
  if (!std::is_same_v<T, float> || k <= kGroup) {
    MultiplyTerms(m, n, 0, k, left, b, c, c_stride);
    return;
  }
  const size_t elements = static_cast<size_t>(m * n);
  std::vector<double> sums(elements, 0);
  std::vector<T> group(elements);
  for (int64_t k0 = 0; k0 < k; k0 += kGroup) {
    MultiplyTerms(m, n, k0, std::min(k, k0 + kGroup), left, b, group.data(), n);
    for (size_t i = 0; i < elements; ++i) {
      sums[i] += static_cast<double>(group[i]);
    }
  }
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      c[i * c_stride + j] =
          static_cast<T>(sums[static_cast<size_t>(i * n + j)]);
    }
  }
}

// Writes a block of b.
template <typename T>
void Pack(ConstMatrix<T> b, const PackedBlock<T>& block) {
  if (!b.transposed) {
    for (int64_t p = 0; p < block.rows; ++p) {
      PackedRow<T> row(block, p);
      row.Copy(b.data + (block.first_row + p) * b.stride + block.first_column,
               block.columns);
      row.Finish();
    }
    return;
  }
  for (int64_t j0 = 0; j0 < block.columns; j0 += block.width) {
    T* panel = block.data + j0 * block.rows;
    const int64_t columns = std::min(block.width, block.columns - j0);
    if (columns < block.width) {
      std::fill_n(panel, block.rows * block.width, T(0));
    }
    for (int64_t j = 0; j < columns; ++j) {
      const T* from =
          b.data + (block.first_column + j0 + j) * b.stride + block.first_row;
      for (int64_t p = 0; p < block.rows; ++p) {
        panel[p * block.width + j] = from[p];
      }
    }
  }
}

// The sum of a[i] * b[i], float32 sums of at most kChunk products each.
double Dot(const float* a, const float* b, int64_t k) {
  constexpr int64_t kLanes = 16;
  double total = 0;
  int64_t i = 0;
  while (i + kLanes <= k) {
    const int64_t end =
        i + std::min(kChunk * kLanes, (k - i) / kLanes * kLanes);
    float lanes[kLanes] = {};
    for (; i < end; i += kLanes) {
      for (int64_t j = 0; j < kLanes; ++j) lanes[j] += a[i + j] * b[i + j];
    }
    for (float lane : lanes) total += static_cast<double>(lane);
  }
  for (; i < k; ++i) {
    total += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  }
  return total;
}

}  // namespace

template <typename T>
void Gemm(int64_t m, int64_t n, int64_t k, ConstMatrix<T> a, ConstMatrix<T> b,
          T* c, int64_t c_stride) {
  if constexpr (std::is_same_v<T, float>) {
    // Few rows against a transposed matrix: each element of b is used so rarely
    // that packing it would cost more than the product.
    if (m <= 2 && !a.transposed && b.transposed) {
      for (int64_t j = 0; j < n; ++j) {
        for (int64_t i = 0; i < m; ++i) {
          c[i * c_stride + j] = static_cast<float>(
              Dot(a.data + i * a.stride, b.data + j * b.stride, k));
        }
      }
      return;
    }
  }
  const auto pack = [&b](const PackedBlock<T>& block) { Pack(b, block); };
  Multiply<T>(m, n, k, a, {pack, b.transposed ? nullptr : b.data, b.stride}, c,
              c_stride);
}

template <typename T>
void Gemm(int64_t m, int64_t n, int64_t k, ConstMatrix<T> a, PackFn<T> b, T* c,
          int64_t c_stride) {
  Multiply<T>(m, n, k, a, {b}, c, c_stride);
}

#define BATON_GEMM(T)                                                          \
  template void Gemm(int64_t, int64_t, int64_t, ConstMatrix<T>,                \
                     ConstMatrix<T>, T*, int64_t);                             \
  template void Gemm(int64_t, int64_t, int64_t, ConstMatrix<T>, PackFn<T>, T*, \
                     int64_t)
BATON_GEMM(float);
BATON_GEMM(double);
BATON_GEMM(uint32_t);
BATON_GEMM(uint64_t);
#undef BATON_GEMM

}  // namespace baton::kernels::internal
