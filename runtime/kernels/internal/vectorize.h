// Loops compiled for several widths of vectors.
//
// A loop is a lambda without arguments. It is written in plain C++ without
// branches and calls that are not inlined, so that compilers turn it into
// vectors, and compiled three times: for all processors, for AVX2 and for
// AVX-512. The widest that the processor has runs.
//
// All three give the same bytes, those of a NaN aside: the targets that use
// this header are compiled without contraction of a * b + c
// (-ffp-contract=off), so that what is fused is what says std::fma, and no loop
// adds floats in an order that depends on the width. Without FMA, std::fma is a
// function of the C library: as exact, and slow.

#ifndef BATON_RUNTIME_KERNELS_INTERNAL_VECTORIZE_H_
#define BATON_RUNTIME_KERNELS_INTERNAL_VECTORIZE_H_

#include <cstdint>

#include "absl/base/attributes.h"

// Written after the parameters of a lambda that is a loop, or that a loop
// calls for each element.
#define BATON_LOOP ABSL_ATTRIBUTE_ALWAYS_INLINE

// Before a loop that stores elements computed from those at the same index
// alone, which may be the same ones: so the compiler need not find out whether
// they overlap. Clang does find out, and has a loop for each case.
#ifdef __clang__
#define BATON_SAME_INDEX
#else
#define BATON_SAME_INDEX _Pragma("GCC ivdep")
#endif

namespace baton::kernels::internal {

// The sets of instructions that loops are compiled for.
enum class Vectors { k128, k256, k512 };

inline Vectors WidestVectors() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    return Vectors::k512;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return Vectors::k256;
  }
#endif
  return Vectors::k128;
}

#ifdef __x86_64__

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

#endif  // __x86_64__

// Runs `loop` with the vectors `vectors`, which the processor must have. It
// captures by value, and is passed so: what it reads through a reference, bytes
// that it stores might change.
template <typename Loop>
void RunLoop(Loop loop, Vectors vectors = WidestVectors()) {
#ifdef __x86_64__
  if (vectors == Vectors::k512) return RunLoop512(loop);
  if (vectors == Vectors::k256) return RunLoop256(loop);
#endif
  loop();
}

// Writes fn(from[i]) to to[i] for all i < n. `to` may be `from`.
template <typename From, typename To, typename Fn>
void MapRun(const From* from, int64_t n, To* to, const Fn& fn,
            Vectors vectors = WidestVectors()) {
  RunLoop(
      [=]() BATON_LOOP {
        BATON_SAME_INDEX
        for (int64_t i = 0; i < n; ++i) to[i] = fn(from[i]);
      },
      vectors);
}

// Interleaving. Where a loop over elements also has a smaller Flag for each,
// the compiler computes as many elements at a time as there are flags in a
// vector: four vectors of float with a Flag of one byte, step by step, so that
// a vector does not wait for its own last step. Loops of many steps take up to
// a third less time, and short ones more, for want of registers: measure.

// As MapRun, interleaved: for functions of many steps.
template <typename From, typename To, typename Fn>
void MapInterleaved(const From* from, int64_t n, To* to, const Fn& fn,
                    Vectors vectors = WidestVectors()) {
  RunLoop(
      [=]() BATON_LOOP {
        uint8_t flags = 0;
        BATON_SAME_INDEX
        for (int64_t i = 0; i < n; ++i) {
          to[i] = fn(from[i]);
          flags |= static_cast<uint8_t>(i);
        }
        // Nothing needs them, which the compiler must not find out.
        asm volatile("" : : "r"(flags));
      },
      vectors);
}

// Writes plain(i, served) to to[i] for all i of a block, and calls
// others(begin, end), which writes all of it, if it did not serve for one of
// them. What plain reads is not what is written. A Flag of fewer bytes than
// int32_t interleaves.
template <typename Flag = int32_t, typename T, typename Plain, typename Others>
void RunPlain(int64_t n, T* to, const Plain& plain, const Others& others) {
  constexpr int64_t kBlock = 1024;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t end = n - begin < kBlock ? n : begin + kBlock;
    Flag exceptions = 0;
    RunLoop([=, &exceptions]() BATON_LOOP {
      Flag any = 0;
      for (int64_t i = begin; i < end; ++i) {
        bool served;
        to[i] = plain(i, served);
        any |= static_cast<Flag>(served ? 0 : 1);
      }
      exceptions = any;
    });
    if (exceptions != 0) others(begin, end);
  }
}

// Writes fn(i, served) to to[i] for all i < n, and exact(i), which need not
// become a vector, where fn says that it did not serve.
template <typename T, typename Fn, typename Exact>
void RunWithExceptions(int64_t n, T* to, const Fn& fn, const Exact& exact) {
  RunLoop([=]() BATON_LOOP {
    constexpr int64_t kBlock = 1024;
    for (int64_t begin = 0; begin < n; begin += kBlock) {
      const int64_t end = n - begin < kBlock ? n : begin + kBlock;
      int32_t exceptions = 0;
      for (int64_t i = begin; i < end; ++i) {
        bool served;
        to[i] = fn(i, served);
        exceptions |= served ? 0 : 1;
      }
      for (int64_t i = begin; exceptions != 0 && i < end; ++i) {
        bool served;
        fn(i, served);
        if (!served) to[i] = exact(i);
      }
    }
  });
}

}  // namespace baton::kernels::internal

#endif  // BATON_RUNTIME_KERNELS_INTERNAL_VECTORIZE_H_
