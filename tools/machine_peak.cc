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

// Chains that do not wait for one another, enough for two units of latency 4.
constexpr int kChains = 10;
constexpr int kSteps = 20000;

// The body of a function that returns a number which depends on all chains. A
// macro, because clang compiles a template for the processor of its definition.
// Each chain is a variable: compilers leave arrays in memory.
#define BATON_STEP(chain, reg) \
  chain = chain * by + by;     \
  asm volatile("" : reg(chain))
#define BATON_MULTIPLY(bytes, reg)                                  \
  Floats<bytes> by;                                                 \
  for (size_t i = 0; i < (bytes) / sizeof(float); ++i) {            \
    by[i] = factor;                                                 \
  }                                                                 \
  Floats<bytes> a = by, b = by, c = by, d = by, e = by;             \
  Floats<bytes> f = by, g = by, h = by, i = by, j = by;             \
  for (int step = 0; step < kSteps; ++step) {                       \
    BATON_STEP(a, reg);                                             \
    BATON_STEP(b, reg);                                             \
    BATON_STEP(c, reg);                                             \
    BATON_STEP(d, reg);                                             \
    BATON_STEP(e, reg);                                             \
    BATON_STEP(f, reg);                                             \
    BATON_STEP(g, reg);                                             \
    BATON_STEP(h, reg);                                             \
    BATON_STEP(i, reg);                                             \
    BATON_STEP(j, reg);                                             \
  }                                                                 \
  return ((a[0] + b[0]) + (c[0] + d[0])) + ((e[0] + f[0]) + g[0]) + \
         ((h[0] + i[0]) + j[0])

float Multiply128(float factor) { BATON_MULTIPLY(16, "+x"); }
#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] float MultiplyFused128(float factor) {
  BATON_MULTIPLY(16, "+x");
}
[[gnu::target("avx2,fma")]] float Multiply256(float factor) {
  BATON_MULTIPLY(32, "+x");
}
[[gnu::target("avx512f,avx2,fma")]] float Multiply512(float factor) {
  BATON_MULTIPLY(64, "+v");
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
  const std::vector<uint64_t> memory(size_t{4} << 20, 1);
  uint64_t total = 0;
  for (int i = 0; i < 3; ++i) {
    const Clock::time_point start = Clock::now();
    uint64_t sums[8] = {};
    for (size_t k = 0; k < memory.size(); k += 8) {
      for (size_t j = 0; j < 8; ++j) sums[j] += memory[k + j];
    }
    for (const uint64_t sum : sums) total += sum;
    peak.bytes_per_second =
        std::max(peak.bytes_per_second,
                 static_cast<double>(memory.size() * 8) / SecondsSince(start));
  }
  [[maybe_unused]] volatile uint64_t sink = total;
  return peak;
}

}  // namespace baton
