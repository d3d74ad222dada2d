// The product is computed in tiles of a few rows by a few vectors, whose sums
// stay in registers while one element of each row of `a` after another is
// multiplied with vectors of `b`. Blocks of `b` are packed, so that a tile
// reads them front to back; they fit into the second-level cache, a panel of
// one into the first-level cache. `a` is read where it is.
//
// Each element is summed in the order of blocked/sums.h: its value depends
// neither on the tile that it is in nor on the width of vectors, but on whether
// the processor has fused multiplication and addition. The compiler fuses those
// that stand in one expression, if it optimizes: this source always is.

#ifndef __OPTIMIZE__
#error "without optimization no multiplication and addition are fused"
#endif

#include "baton/runtime/kernels/internal/gemm.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "baton/runtime/kernels/internal/vectorize.h"

namespace baton::kernels::internal {
namespace {

// A sum of kChunk + kChunksOfGroup roundings of 2^-24 each is within 1e-5.
constexpr int64_t kChunk = blocked::kPositionsOfChunk;
constexpr int64_t kChunksOfGroup = blocked::kChunksOfGroup;

// Bytes of a packed block.
constexpr int64_t kBlockBytes = int64_t{256} << 10;

// --- Tiles -----------------------------------------------------------------

// Terms of a chunk that are evenly spaced in the operands.
struct Run {
  int64_t a;  // Where the first is in a row of a.
  int64_t b;  // Its row of b.
  int64_t count;
};

// The runs of a chunk.
struct Chunk {
  std::array<Run, blocked::kTapsOfChunk> runs;
  size_t size = 0;
};

// c = a * b or c += a * b for a tile of c. Element (i, p) of a run is
// a[run.a + i * a_row + p * a_column]; its row p of b starts at
// b + (run.b + p) * b_row, row i of c at c + i * c_row.
template <typename T>
struct Tile {
  const Chunk* chunk;
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
  for (size_t r = 0; r < tile.chunk->size; ++r) {
    const Run& run = tile.chunk->runs[r];
    const T* a = tile.a + run.a;
    const T* b = tile.b + run.b * b_row;
    for (int64_t p = 0; p < run.count; ++p) {
      Vector right[kVectors];
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        right[v] = *reinterpret_cast<const Vector*>(b + v * kLanes);
      }
#pragma GCC unroll 8
      for (int i = 0; i < kRows; ++i) {
        const T left = a[i * a_row];
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) {
          // Compilers fuse what stands in one expression of variables. Between
          // elements of arrays, sanitizers put their checks.
          const Vector factor = right[v];
          const Vector sum = sums[i][v];
          sums[i][v] = sum + left * factor;
        }
      }
      a += a_column;
      b += b_row;
    }
  }
  T* c = tile.c;
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      Vector* to = reinterpret_cast<Vector*>(c + v * kLanes);
      // Adding +0 makes +0 of -0.
      *to = (tile.add ? *to : Vector{}) + sums[i][v];
    }
    c += tile.c_row;
  }
}

// The way in which this processor multiplies: vectors of `bytes`; tiles of at
// most `rows` rows and `vectors` vectors. tiles[r][v - 1] makes those of 2^r
// rows and v vectors.
template <typename T>
struct Machine {
  int bytes;
  int rows;
  int vectors;
  bool fuses;
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
    .fuses = false,
    .tiles = {{{Tile128<T, 1, 1>, Tile128<T, 1, 2>},
               {Tile128<T, 2, 1>, Tile128<T, 2, 2>},
               {Tile128<T, 4, 1>, Tile128<T, 4, 2>}}}};

#ifdef __x86_64__

template <typename T, int kRows, int kVectors>
[[gnu::target("avx2,fma")]] void FusedTile128(const Tile<T>& tile) {
  MultiplyTile<T, 16, kRows, kVectors>(tile);
}

// For tests that hold widths against each other (vector_limit.h).
template <typename T>
constexpr Machine<T> kFusedMachine128 = {
    .bytes = 16,
    .rows = 4,
    .vectors = 2,
    .fuses = true,
    .tiles = {{{FusedTile128<T, 1, 1>, FusedTile128<T, 1, 2>},
               {FusedTile128<T, 2, 1>, FusedTile128<T, 2, 2>},
               {FusedTile128<T, 4, 1>, FusedTile128<T, 4, 2>}}}};

template <typename T, int kRows, int kVectors>
[[gnu::target("avx2,fma")]] void Tile256(const Tile<T>& tile) {
  MultiplyTile<T, 32, kRows, kVectors>(tile);
}

template <typename T>
constexpr Machine<T> kMachine256 = {
    .bytes = 32,
    .rows = 4,
    .vectors = 3,
    .fuses = true,
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
    .fuses = true,
    .tiles = {{{Tile512<T, 1, 1>, Tile512<T, 1, 2>, Tile512<T, 1, 3>},
               {Tile512<T, 2, 1>, Tile512<T, 2, 2>, Tile512<T, 2, 3>},
               {Tile512<T, 4, 1>, Tile512<T, 4, 2>, Tile512<T, 4, 3>},
               {Tile512<T, 8, 1>, Tile512<T, 8, 2>, Tile512<T, 8, 3>}}}};

#endif  // __x86_64__

template <typename T>
const Machine<T>& ThisMachine() {
#ifdef __x86_64__
  static const Vectors processor = [] {
    if (__builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512dq")) {
      return Vectors::k512;
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
      return Vectors::k256;
    }
    return Vectors::k128;
  }();
  if (processor == Vectors::k128) return kMachine128<T>;
  switch (std::min(processor, vector_limit.load(std::memory_order_relaxed))) {
    case Vectors::k512:
      return kMachine512<T>;
    case Vectors::k256:
      return kMachine256<T>;
    default:
      return kFusedMachine128<T>;
  }
#else
  return kMachine128<T>;
#endif
}

// --- Blocks ----------------------------------------------------------------

// Element (i, p) of a run is data[run.a + i * row + p * column].
template <typename T>
struct Left {
  const T* data;
  int64_t row;
  int64_t index;   // From one term in memory to the next.
  int64_t column;  // From one term of a run to the next.
};

// c = a * b or c += a * b for the terms of a chunk, where b is a panel of
// `columns` columns that lies in memory in whole vectors, rows b_row apart.
template <typename T>
void MultiplyPanel(const Machine<T>& machine, int64_t m, int64_t columns,
                   const Chunk& chunk, Left<T> a, const T* b, int64_t b_row,
                   T* c, int64_t c_stride, bool add) {
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
    Tile<T> tile = {&chunk, a.data + i * a.row, a.row,    a.column, b,
                    b_row,  c + i * c_stride,   c_stride, add};
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
  // If not null, rows in memory, which may be read in place.
  const T* rows = nullptr;
  int64_t stride = 0;
};

// The chunk that is made of the terms [first, last). If `packed`, its rows of b
// are numbered from 0 on, else as in memory.
Chunk ChunkOf(const Terms& terms, int64_t first, int64_t last, bool packed) {
  Chunk chunk;
  for (int64_t i = first; i < last;) {
    const Terms::Term term = terms.At(i);
    const int64_t count =
        terms.are_ordered()
            ? last - i
            : std::min<int64_t>(16, terms.channels - term.channel);
    const int64_t index = terms.IndexOf(term);
    chunk.runs[chunk.size++] = {index, packed ? i - first : index, count};
    i += count;
  }
  return chunk;
}

// c = a * b for the chunks [c0, c1) of each sum.
template <typename T>
void MultiplyChunks(int64_t m, int64_t n, const Terms& terms, int64_t c0,
                    int64_t c1, const Left<T>& a, const Right<T>& b, T* c,
                    int64_t c_stride) {
  const Machine<T>& machine = ThisMachine<T>();
  const int64_t width = machine.width();
  const blocked::Sums sums = terms.sums();
  // Packing costs more than it saves where each element is used but a few
  // times. Rows that are read in place follow each other.
  const bool in_place = b.rows != nullptr && m <= 2 * machine.rows &&
                        (terms.taps == 1 || terms.taps_first);
  const int64_t panels =
      std::max<int64_t>(1, kBlockBytes / (kChunk * width * int64_t{sizeof(T)}));
  const int64_t step =
      std::min(panels * width, (n + width - 1) / width * width);
  // In place, only the last panel is packed, if it is not full.
  const int64_t packed_columns = in_place ? width : step;
  std::vector<T> packed(static_cast<size_t>(
      packed_columns *
      std::min(kChunk, sums.TermsBefore(c1) - sums.TermsBefore(c0))));
  for (int64_t j0 = 0; j0 < n; j0 += step) {
    const int64_t j1 = std::min(n, j0 + step);
    for (int64_t i = c0; i < c1; ++i) {
      const int64_t p0 = sums.TermsBefore(i);
      const int64_t p1 = sums.TermsBefore(i + 1);
      // The columns before `first` are read in place.
      const int64_t first = in_place ? j0 + (j1 - j0) / width * width : j0;
      if (first < j1) {
        b.pack({p0, p1 - p0, first, j1 - first, width, packed.data()});
      }
      Chunk of_packed = ChunkOf(terms, p0, p1, /*packed=*/true);
      Chunk of_rows = ChunkOf(terms, p0, p1, /*packed=*/false);
      for (Chunk* chunk : {&of_packed, &of_rows}) {
        for (size_t r = 0; r < chunk->size; ++r) {
          chunk->runs[r].a *= a.index;
        }
      }
      for (int64_t j = j0; j < j1; j += width) {
        const bool is_packed = j >= first;
        MultiplyPanel(
            machine, m, std::min(width, j1 - j),
            is_packed ? of_packed : of_rows, a,
            is_packed ? packed.data() + (j - first) * (p1 - p0) : b.rows + j,
            is_packed ? width : b.stride, c + j, c_stride,
            /*add=*/i > c0);
      }
    }
  }
}

template <typename T>
void Multiply(int64_t m, int64_t n, const Terms& terms, ConstMatrix<T> a,
              const Right<T>& b, T* c, int64_t c_stride) {
  if (m == 0 || n == 0) return;
  if (terms.count() == 0) {
    for (int64_t i = 0; i < m; ++i) std::fill_n(c + i * c_stride, n, T(0));
    return;
  }
  const int64_t index = a.transposed ? a.stride : 1;
  const Left<T> left = {a.data, a.transposed ? 1 : a.stride, index,
                        terms.taps_first ? index : index * terms.taps};
  const blocked::Sums order = terms.sums();
  const int64_t chunks = order.chunks();
  if (!std::is_same_v<T, float> || !order.in_double()) {
    MultiplyChunks(m, n, terms, 0, chunks, left, b, c, c_stride);
    return;
  }
  const size_t elements = static_cast<size_t>(m * n);
  std::vector<double> sums(elements, 0);
  std::vector<T> group(elements);
  for (int64_t c0 = 0; c0 < chunks; c0 += kChunksOfGroup) {
    MultiplyChunks(m, n, terms, c0, std::min(chunks, c0 + kChunksOfGroup), left,
                   b, group.data(), n);
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
void Pack(ConstMatrix<T> b, const Terms& terms, const PackedBlock<T>& block) {
  if (!b.transposed) {
    for (int64_t p = 0; p < block.rows; ++p) {
      const int64_t from = terms.IndexOf(terms.At(block.first_row + p));
      PackedRow<T> row(block, p);
      row.Copy(b.data + from * b.stride + block.first_column, block.columns);
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
      const T* from = b.data + (block.first_column + j0 + j) * b.stride;
      if (terms.taps == 1) {
        from += block.first_row;
        for (int64_t p = 0; p < block.rows; ++p) {
          panel[p * block.width + j] = from[p];
        }
        continue;
      }
      for (int64_t p = 0; p < block.rows; ++p) {
        panel[p * block.width + j] =
            from[terms.IndexOf(terms.At(block.first_row + p))];
      }
    }
  }
}

// --- Loops of other shapes -------------------------------------------------

// Each is compiled for processors that fuse, and for others.

// Asks for what loops over vectors get from the compiler: where it makes vectors
// of a loop over a sum, it fuses nothing.
template <bool kFuses>
[[gnu::always_inline]] inline float MultiplyAdd(float a, float b, float c) {
  if constexpr (kFuses) return __builtin_fmaf(a, b, c);
  return a * b + c;
}

// Adds the products of a[p] and b[i * b_step + p], p < count, to sum i of
// kSums.
template <int kSums, bool kFuses>
[[gnu::always_inline]] inline void AddToDots(const float* a, int64_t a_step,
                                             const float* b, int64_t b_step,
                                             int64_t count, float* sums) {
  float chains[kSums];
#pragma GCC unroll 8
  for (int i = 0; i < kSums; ++i) chains[i] = 0;
  for (int64_t p = 0; p < count; ++p) {
#pragma GCC unroll 8
    for (int i = 0; i < kSums; ++i) {
      chains[i] =
          MultiplyAdd<kFuses>(a[i * a_step + p], b[i * b_step + p], chains[i]);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kSums; ++i) sums[i] += chains[i];
}

// The number of products of vectors that are summed at a time.
constexpr int64_t kDots = 16;

template <bool kFuses>
[[gnu::always_inline]] inline void AddProductsTo(int64_t n, const float* a,
                                                 int64_t a_step, const float* b,
                                                 int64_t b_step, float* sums,
                                                 int64_t sums_step) {
  if (sums_step == 1 && a_step == 1 && b_step == 1) {
    for (int64_t i = 0; i < n; ++i) {
      sums[i] = MultiplyAdd<kFuses>(a[i], b[i], sums[i]);
    }
  } else {
    for (int64_t i = 0; i < n; ++i) {
      float& sum = sums[i * sums_step];
      sum = MultiplyAdd<kFuses>(a[i * a_step], b[i * b_step], sum);
    }
  }
}

// Element (i, j) of an operand is at i * its row + j * its step.
template <bool kFuses>
[[gnu::always_inline]] inline void AddMultiplesTo(int64_t rows, int64_t n,
                                                  float factor, const float* x,
                                                  int64_t x_row, int64_t x_step,
                                                  float* sums,
                                                  int64_t sums_row) {
  for (; rows > 0; --rows, x += x_row, sums += sums_row) {
    if (x_step == 1) {
      for (int64_t i = 0; i < n; ++i) {
        sums[i] = MultiplyAdd<kFuses>(factor, x[i], sums[i]);
      }
    } else if (x_step == 2) {
      for (int64_t i = 0; i < n; ++i) {
        sums[i] = MultiplyAdd<kFuses>(factor, x[2 * i], sums[i]);
      }
    } else {
      for (int64_t i = 0; i < n; ++i) {
        sums[i] = MultiplyAdd<kFuses>(factor, x[x_step * i], sums[i]);
      }
    }
  }
}

#ifdef __x86_64__

template <int kSums>
[[gnu::target("avx2,fma")]] void AddToDotsFused(const float* a, int64_t a_step,
                                                const float* b, int64_t b_step,
                                                int64_t count, float* sums) {
  AddToDots<kSums, true>(a, a_step, b, b_step, count, sums);
}

// Adds the products of `a` and 16 rows of b to sums. Four columns of eight rows
// at a time are transposed, so that lanes are rows.
[[gnu::target("avx2,fma")]] void AddTo16Dots(const float* a, const float* b,
                                             int64_t b_step, int64_t count,
                                             float* sums) {
  typedef float Four __attribute__((vector_size(16), aligned(4), may_alias));
  typedef float Eight __attribute__((vector_size(32), aligned(4), may_alias));
  Eight chains[2] = {};
  int64_t p = 0;
  for (; p + 4 <= count; p += 4) {
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
      const float* from = b + 8 * half * b_step + p;
      Eight rows[4];
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i, from += b_step) {
        rows[i] = __builtin_shufflevector(
            *reinterpret_cast<const Four*>(from),
            *reinterpret_cast<const Four*>(from + 4 * b_step), 0, 1, 2, 3, 4, 5,
            6, 7);
      }
      const Eight low01 =
          __builtin_shufflevector(rows[0], rows[1], 0, 8, 1, 9, 4, 12, 5, 13);
      const Eight high01 =
          __builtin_shufflevector(rows[0], rows[1], 2, 10, 3, 11, 6, 14, 7, 15);
      const Eight low23 =
          __builtin_shufflevector(rows[2], rows[3], 0, 8, 1, 9, 4, 12, 5, 13);
      const Eight high23 =
          __builtin_shufflevector(rows[2], rows[3], 2, 10, 3, 11, 6, 14, 7, 15);
      Eight chain = chains[half];
      chain += a[p] *
               __builtin_shufflevector(low01, low23, 0, 1, 8, 9, 4, 5, 12, 13);
      chain += a[p + 1] * __builtin_shufflevector(low01, low23, 2, 3, 10, 11, 6,
                                                  7, 14, 15);
      chain += a[p + 2] * __builtin_shufflevector(high01, high23, 0, 1, 8, 9, 4,
                                                  5, 12, 13);
      chain += a[p + 3] * __builtin_shufflevector(high01, high23, 2, 3, 10, 11,
                                                  6, 7, 14, 15);
      chains[half] = chain;
    }
  }
  float last[16];
  for (int i = 0; i < 16; ++i) last[i] = chains[i / 8][i % 8];
  for (; p < count; ++p) {
    for (int i = 0; i < 16; ++i) {
      last[i] = MultiplyAdd<true>(a[p], b[i * b_step + p], last[i]);
    }
  }
  for (int i = 0; i < 16; ++i) sums[i] += last[i];
}

[[gnu::target("avx2,fma")]] void AddMultiplesFused(int64_t rows, int64_t n,
                                                   float factor, const float* x,
                                                   int64_t x_row,
                                                   int64_t x_step, float* sums,
                                                   int64_t sums_row) {
  AddMultiplesTo<true>(rows, n, factor, x, x_row, x_step, sums, sums_row);
}

[[gnu::target("avx2,fma")]] void AddProductsFused(int64_t n, const float* a,
                                                  int64_t a_step,
                                                  const float* b,
                                                  int64_t b_step, float* sums,
                                                  int64_t sums_step) {
  AddProductsTo<true>(n, a, a_step, b, b_step, sums, sums_step);
}

bool Fuses() { return ThisMachine<float>().fuses; }

#endif  // __x86_64__

// Adds the products of a chunk to n sums, at most kDots.
void AddChunkToDots(const float* a, int64_t a_step, const float* b,
                    int64_t b_step, int64_t count, int64_t n, float* sums) {
  int64_t i = 0;
#ifdef __x86_64__
  if (Fuses()) {
    if (a_step == 0 && n == 16) return AddTo16Dots(a, b, b_step, count, sums);
    for (; i + 8 <= n; i += 8) {
      AddToDotsFused<8>(a + i * a_step, a_step, b + i * b_step, b_step, count,
                        sums + i);
    }
    for (; i < n; ++i) {
      AddToDotsFused<1>(a + i * a_step, 0, b + i * b_step, 0, count, sums + i);
    }
    return;
  }
#endif
  for (; i < n; ++i) {
    AddToDots<1, false>(a + i * a_step, 0, b + i * b_step, 0, count, sums + i);
  }
}

}  // namespace

void Dots(const float* x, int64_t x_step, const float* y, int64_t y_step,
          int64_t k, float* out, int64_t n) {
  for (int64_t i0 = 0; i0 < n; i0 += kDots) {
    const int64_t count = std::min(kDots, n - i0);
    double totals[kDots] = {};
    for (int64_t p0 = 0; p0 < k; p0 += kChunksOfGroup * kChunk) {
      const int64_t p1 = std::min(k, p0 + kChunksOfGroup * kChunk);
      float sums[kDots] = {};
      for (int64_t p = p0; p < p1; p += kChunk) {
        AddChunkToDots(x + i0 * x_step + p, x_step, y + i0 * y_step + p, y_step,
                       std::min(kChunk, p1 - p), count, sums);
      }
      for (int64_t i = 0; i < count; ++i) {
        totals[i] += static_cast<double>(sums[i]);
      }
    }
    // The double of a float is rounded to that float.
    for (int64_t i = 0; i < count; ++i) {
      out[i0 + i] = static_cast<float>(totals[i]);
    }
  }
}

void AddMultiples(int64_t rows, int64_t n, float factor, const float* x,
                  int64_t x_row, int64_t x_step, float* sums,
                  int64_t sums_row) {
#ifdef __x86_64__
  if (Fuses()) {
    return AddMultiplesFused(rows, n, factor, x, x_row, x_step, sums, sums_row);
  }
#endif
  AddMultiplesTo<false>(rows, n, factor, x, x_row, x_step, sums, sums_row);
}

void AddProducts(int64_t n, const float* a, int64_t a_step, const float* b,
                 int64_t b_step, float* sums, int64_t sums_step) {
#ifdef __x86_64__
  if (Fuses()) {
    return AddProductsFused(n, a, a_step, b, b_step, sums, sums_step);
  }
#endif
  AddProductsTo<false>(n, a, a_step, b, b_step, sums, sums_step);
}

OrderedSums::OrderedSums(int64_t n, const blocked::Sums& order)
    : in_double_(order.in_double()),
      chains_(static_cast<size_t>(n)),
      sums_(static_cast<size_t>(n)),
      doubles_(static_cast<size_t>(in_double_ ? n : 0)) {}

void OrderedSums::Start() {
  chunk_ = 0;
  std::fill(chains_.begin(), chains_.end(), 0.0f);
  std::fill(sums_.begin(), sums_.end(), 0.0f);
  std::fill(doubles_.begin(), doubles_.end(), 0.0);
}

void OrderedSums::EndChunk() {
  for (size_t i = 0; i < sums_.size(); ++i) {
    sums_[i] += chains_[i];
    chains_[i] = 0;
  }
}

float* OrderedSums::ChainsOf(int64_t unit) {
  const int64_t chunk = unit / blocked::kTapsOfChunk;
  if (chunk != chunk_) {
    EndChunk();
    if (in_double_ && chunk / kChunksOfGroup != chunk_ / kChunksOfGroup) {
      for (size_t i = 0; i < sums_.size(); ++i) {
        doubles_[i] += static_cast<double>(sums_[i]);
        sums_[i] = 0;
      }
    }
    chunk_ = chunk;
  }
  return chains_.data();
}

const float* OrderedSums::Finish() {
  EndChunk();
  if (in_double_) {
    for (size_t i = 0; i < sums_.size(); ++i) {
      sums_[i] =
          static_cast<float>(doubles_[i] + static_cast<double>(sums_[i]));
    }
  }
  return sums_.data();
}

template <typename T>
void Gemm(int64_t m, int64_t n, const Terms& terms, ConstMatrix<T> a,
          ConstMatrix<T> b, T* c, int64_t c_stride) {
  if constexpr (std::is_same_v<T, float>) {
    // Few rows against a transposed matrix: each element of b is used so rarely
    // that packing it would cost more than the product.
    if (m <= 2 && !a.transposed && b.transposed && terms.taps == 1) {
      for (int64_t j = 0; j < n; j += kDots) {
        for (int64_t i = 0; i < m; ++i) {
          Dots(a.data + i * a.stride, 0, b.data + j * b.stride, b.stride,
               terms.channels, c + i * c_stride + j, std::min(kDots, n - j));
        }
      }
      return;
    }
  }
  const auto pack = [&](const PackedBlock<T>& block) { Pack(b, terms, block); };
  Multiply<T>(m, n, terms, a, {pack, b.transposed ? nullptr : b.data, b.stride},
              c, c_stride);
}

template <typename T>
void Gemm(int64_t m, int64_t n, const Terms& terms, ConstMatrix<T> a,
          PackFn<T> b, T* c, int64_t c_stride) {
  Multiply<T>(m, n, terms, a, {b}, c, c_stride);
}

#define BATON_GEMM(T)                                                \
  template void Gemm(int64_t, int64_t, const Terms&, ConstMatrix<T>, \
                     ConstMatrix<T>, T*, int64_t);                   \
  template void Gemm(int64_t, int64_t, const Terms&, ConstMatrix<T>, \
                     PackFn<T>, T*, int64_t)
BATON_GEMM(float);
BATON_GEMM(double);
BATON_GEMM(uint32_t);
BATON_GEMM(uint64_t);
#undef BATON_GEMM

}  // namespace baton::kernels::internal
