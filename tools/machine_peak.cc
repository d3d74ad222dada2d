#include "baton/tools/machine_peak.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace baton {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

template <int kBytes>
using Floats [[gnu::vector_size(kBytes)]] = float;

// Chains that do not wait for one another, enough for two units of latency 4
// and few enough for 16 registers.
constexpr int kChains = 12;
constexpr int kSteps = 20000;

// Calls `each` with the name of each chain. The chains are variables of their
// own, since compilers keep an array in memory.
#define BATON_FOR_CHAINS(each)                                            \
  each(c0) each(c1) each(c2) each(c3) each(c4) each(c5) each(c6) each(c7) \
      each(c8) each(c9) each(c10) each(c11)

// The body of a function that returns a number which depends on all chains. A
// macro, because clang compiles a template for the processor of its definition.
#define BATON_MULTIPLY(bytes, reg)            \
  using Vector = Floats<bytes>;               \
  const Vector by = Vector{} + factor;        \
  BATON_FOR_CHAINS(BATON_DECLARE)             \
  for (int step = 0; step < kSteps; ++step) { \
    BATON_FOR_CHAINS(BATON_STEP_##reg)        \
  }                                           \
  Vector sum = {};                            \
  BATON_FOR_CHAINS(BATON_SUM)                 \
  return sum[0]
#define BATON_DECLARE(chain) Vector chain = by;
#define BATON_STEP_x(chain) \
  chain = chain * by + by;  \
  asm volatile("" : "+x"(chain));
#define BATON_STEP_v(chain) \
  chain = chain * by + by;  \
  asm volatile("" : "+v"(chain));
#define BATON_SUM(chain) sum += chain;

float Multiply128(float factor) { BATON_MULTIPLY(16, x); }
#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] float MultiplyFused128(float factor) {
  BATON_MULTIPLY(16, x);
}
[[gnu::target("avx2,fma")]] float Multiply256(float factor) {
  BATON_MULTIPLY(32, x);
}
[[gnu::target("avx512f,avx2,fma")]] float Multiply512(float factor) {
  BATON_MULTIPLY(64, v);
}
#endif

// The bytes of the processor's widest vectors that multiply and add.
int WidestVectors() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return 64;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return 32;
  }
#endif
  return 16;
}

}  // namespace

double MeasurePeakFlops(int vector_bytes) {
  const int widest = WidestVectors();
  if (vector_bytes == 0) vector_bytes = widest;
  float (*multiply)(float) = Multiply128;
#if defined(__x86_64__)
  if (vector_bytes == 64) {
    multiply = Multiply512;
  } else if (vector_bytes == 32) {
    multiply = Multiply256;
  } else if (widest > 16) {
    multiply = MultiplyFused128;
  }
#endif
  const double operations = 2.0 * kChains * kSteps * vector_bytes / 4;
  volatile float sink = 0.5f;
  double best = 0;
  for (const Clock::time_point begin = Clock::now();
       SecondsSince(begin) < 0.02;) {
    const Clock::time_point start = Clock::now();
    sink = multiply(sink > 1 ? 0.5f : 0.25f);
    best = std::max(best, operations / SecondsSince(start));
  }
  return best;
}

MachinePeak MeasurePeak() {
  MachinePeak peak = {.flops_per_second = MeasurePeakFlops()};
  // The best piece counts: a program that runs beside this one seldom disturbs
  // all of them. Each piece was last read a whole round ago.
  constexpr size_t kWords = size_t{8} << 20;
  constexpr size_t kPieceWords = size_t{128} << 10;
  const std::vector<uint64_t> memory(kWords, 1);
  uint64_t total = 0;
  for (int i = 0; i < 3; ++i) {
    for (size_t at = 0; at < kWords; at += kPieceWords) {
      const Clock::time_point start = Clock::now();
      uint64_t sums[8] = {};
      for (size_t k = at; k < at + kPieceWords; k += 8) {
        for (size_t j = 0; j < 8; ++j) sums[j] += memory[k + j];
      }
      const double seconds = SecondsSince(start);
      for (const uint64_t sum : sums) total += sum;
      peak.bytes_per_second =
          std::max(peak.bytes_per_second,
                   static_cast<double>(kPieceWords * 8) / seconds);
    }
  }
  [[maybe_unused]] volatile uint64_t sink = total;
  return peak;
}

}  // namespace baton
