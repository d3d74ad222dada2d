// Loops compiled for several widths of vectors.
//
// A loop is a lambda without arguments, in plain C++, without branches and
// without calls that are not inlined, so that compilers turn it into vectors.
// RunLoop compiles it three times: for all processors (vectors of 128 bits on
// x86), for AVX2 and for AVX-512. The widest that the processor has runs.
//
// All three give the same bytes, those of a NaN aside: the targets that use
// this header are compiled without contraction of a * b + c
// (-ffp-contract=off), so that only std::fma is fused, and no loop adds floats
// in an order that depends on the width. Without FMA, std::fma is a function of
// the C library: as exact, and slow.
//
// The macro BATON_VECTOR_WIDTHS limits the number of clones. It is 3 unless it
// is defined. With 1 all loops are compiled for all processors only: that takes
// a third of the time and gives the same bytes. runtime/kernels/BUILD defines
// it as 1 unless the compilation mode is opt, so in sanitizers, too, and
// `--define=baton_vector_widths=1` or `3` overrides the mode. Tests that
// compare widths define it as 3. All sources of one program agree on it, or
// share no inline function of this header.
//
// A clone takes the compiler 10 to 50 ms. So a loop that waits for memory has
// no clone for AVX-512 (RunLoop<kMemoryBound>), loops over whole runs (see
// kRun) need no code for the rest, and types whose elements become the same
// bytes share a loop.

#ifndef BATON_RUNTIME_KERNELS_INTERNAL_VECTORIZE_H_
#define BATON_RUNTIME_KERNELS_INTERNAL_VECTORIZE_H_

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "absl/base/attributes.h"

#ifndef BATON_VECTOR_WIDTHS
#define BATON_VECTOR_WIDTHS 3
#endif

// 1 if there are clones for AVX2 and AVX-512.
#if defined(__x86_64__) && BATON_VECTOR_WIDTHS > 1
#define BATON_HAS_WIDE_LOOPS 1
#else
#define BATON_HAS_WIDE_LOOPS 0
#endif

// Written after the parameters of a lambda that is a loop, or that a loop
// calls for each element.
#define BATON_LOOP ABSL_ATTRIBUTE_ALWAYS_INLINE

// Precedes a loop that computes each element from the elements at the same
// index alone, where input and output may be one array. The compiler then omits
// the check for overlapping arrays. Clang keeps the check and a loop for each
// case.
#ifdef __clang__
#define BATON_SAME_INDEX
#else
#define BATON_SAME_INDEX _Pragma("GCC ivdep")
#endif

namespace baton::kernels::internal {

// The sets of instructions that loops are compiled for.
enum class Vectors { k128, k256, k512 };

// The widest vectors that a test lets loops use (vector_limit.h).
inline std::atomic<Vectors> vector_limit = Vectors::k512;

// The widest clone that the processor can run, and a test lets loops use.
inline Vectors WidestVectors() {
#if BATON_HAS_WIDE_LOOPS
  const Vectors limit = vector_limit.load(std::memory_order_relaxed);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    return limit;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return std::min(limit, Vectors::k256);
  }
#endif
  return Vectors::k128;
}

// The widest clone of a loop that waits for memory, or for a divider or a call
// that AVX-512 does not speed up.
constexpr Vectors kMemoryBound = Vectors::k256;

#if BATON_HAS_WIDE_LOOPS

template <typename Loop>
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma"),
  gnu::noinline]] void
RunLoop512(Loop loop) {
  loop();
}

template <typename Loop>
[[gnu::target("avx2,fma"), gnu::noinline]] void RunLoop256(Loop loop) {
  loop();
}

#endif  // BATON_HAS_WIDE_LOOPS

// Not inlined, so that all callers of a loop share it.
template <typename Loop>
ABSL_ATTRIBUTE_NOINLINE void RunLoop128(Loop loop) {
  loop();
}

// Runs `loop` with the vectors `vectors`, which the processor must have, but
// with none wider than kWidest, the widest that `loop` is compiled for. `loop`
// captures by value and is passed by value: the compiler must assume that a
// store of bytes changes any variable that a loop reads through a reference.
template <Vectors kWidest = Vectors::k512, typename Loop>
void RunLoop(Loop loop, Vectors vectors = WidestVectors()) {
#if BATON_HAS_WIDE_LOOPS
  if constexpr (kWidest == Vectors::k512) {
    if (vectors == Vectors::k512) return RunLoop512(loop);
  }
  if constexpr (kWidest != Vectors::k128) {
    if (vectors != Vectors::k128) return RunLoop256(loop);
  }
#endif
  RunLoop128(loop);
}

// --- Whole runs ------------------------------------------------------------
//
// A loop over a multiple of kRun elements has no elements left over when its
// vectors are full, so that the compiler writes no code for these: half of the
// code of a loop of unknown length, or more.

constexpr int64_t kRun = 64;

// `n`, a multiple of kRun, as an expression from which compilers see that it is
// one. Their loops end at i != WholeRuns(n).
BATON_LOOP inline int64_t WholeRuns(int64_t n) { return n & -kRun; }

// Calls whole(from, n, to), which computes to[i] from from[i] for all i < n,
// for multiples of kRun. The last elements are computed in a run that repeats
// the last one. `to` may be `from`.
template <typename From, typename To, typename Whole>
void InWholeRuns(const From* from, int64_t n, To* to, const Whole& whole) {
  const int64_t rest = n % kRun;
  const int64_t most = n - rest;
  if (most > 0) whole(from, most, to);
  if (rest == 0) return;
  From last[kRun];
  To results[kRun];
  std::copy_n(from + most, rest, last);
  std::fill(last + rest, last + kRun, last[rest - 1]);
  whole(static_cast<const From*>(last), kRun, static_cast<To*>(results));
  std::copy_n(results, rest, to + most);
}

// Writes fn(from[i]) to to[i] for all i < n. `to` may be `from`.
template <Vectors kWidest = Vectors::k512, typename From, typename To,
          typename Fn>
void MapRun(const From* from, int64_t n, To* to, const Fn& fn,
            Vectors vectors = WidestVectors()) {
  InWholeRuns(from, n, to, [&fn, vectors](const From* x, int64_t m, To* y) {
    RunLoop<kWidest>(
        [=]() BATON_LOOP {
          const int64_t whole = WholeRuns(m);
          BATON_SAME_INDEX
          for (int64_t i = 0; i != whole; ++i) y[i] = fn(x[i]);
        },
        vectors);
  });
}

// Interleaving. If a loop also computes a Flag of fewer bytes for each element,
// the compiler computes as many elements at a time as a vector has flags: four
// vectors of float with a Flag of one byte, each step for all four, so that no
// step waits for the one before it. Loops of many steps take up to a third less
// time. Short loops take more, since there are too few registers: measure.

// As MapRun, interleaved: for functions of many steps.
template <Vectors kWidest = Vectors::k512, typename From, typename To,
          typename Fn>
void MapInterleaved(const From* from, int64_t n, To* to, const Fn& fn,
                    Vectors vectors = WidestVectors()) {
  InWholeRuns(from, n, to, [&fn, vectors](const From* x, int64_t m, To* y) {
    RunLoop<kWidest>(
        [=]() BATON_LOOP {
          const int64_t whole = WholeRuns(m);
          uint8_t flags = 0;
          BATON_SAME_INDEX
          for (int64_t i = 0; i != whole; ++i) {
            y[i] = fn(x[i]);
            flags |= static_cast<uint8_t>(i);
          }
          // Nothing needs them, which the compiler must not find out.
          asm volatile("" : : "r"(flags));
        },
        vectors);
  });
}

// Writes fast(i, in_domain) to to[i] for all i < n, which is a multiple of
// kRun, block by block. Where `fast` sets `in_domain` to false for an element
// of a block, slow(begin, end) writes all of the block. `to` must not alias the
// inputs of `fast`. A Flag of fewer bytes than int32_t interleaves.
template <typename Flag = int32_t, Vectors kWidest = Vectors::k512, typename T,
          typename Fast, typename Slow>
void RunFastPath(int64_t n, T* to, const Fast& fast, const Slow& slow) {
  constexpr int64_t kBlock = 1024;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t end = std::min(n, begin + kBlock);
    Flag outside = 0;
    RunLoop<kWidest>([=, &outside]() BATON_LOOP {
      Flag any = 0;
      const int64_t whole = WholeRuns(end - begin);
      for (int64_t i = 0; i != whole; ++i) {
        bool in_domain;
        to[begin + i] = fast(begin + i, in_domain);
        any |= static_cast<Flag>(in_domain ? 0 : 1);
      }
      outside = any;
    });
    if (outside != 0) slow(begin, end);
  }
}

// As RunFastPath, but only the elements for which `fast` is not in its domain
// are computed again, by exact(i), which need not become a vector.
template <typename Flag = int32_t, Vectors kWidest = Vectors::k512, typename T,
          typename Fast, typename Exact>
void RunFastElements(int64_t n, T* to, const Fast& fast, const Exact& exact) {
  RunFastPath<Flag, kWidest>(n, to, fast, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      bool in_domain;
      fast(i, in_domain);
      if (!in_domain) to[i] = exact(i);
    }
  });
}

}  // namespace baton::kernels::internal

#endif  // BATON_RUNTIME_KERNELS_INTERNAL_VECTORIZE_H_
