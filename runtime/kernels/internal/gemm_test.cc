#include "baton/runtime/kernels/internal/gemm.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

#include "baton/runtime/kernels/blocked/sums.h"
#include "baton/runtime/kernels/vector_limit.h"
#include "gtest/gtest.h"

namespace baton::kernels::internal {
namespace {

// Multiplies matrices inside larger ones, so that strides matter.
template <typename T>
void Check(int64_t m, int64_t n, int64_t k, bool ta, bool tb,
           bool constant = false) {
  SCOPED_TRACE(::testing::Message() << m << " x " << n << " x " << k << " "
                                    << ta << tb << " of " << sizeof(T));
  const int64_t a_stride = (ta ? m : k) + 3;
  const int64_t b_stride = (tb ? k : n) + 2;
  const int64_t c_stride = n + 5;
  std::vector<T> a(static_cast<size_t>((ta ? k : m) * a_stride));
  std::vector<T> b(static_cast<size_t>((tb ? n : k) * b_stride));
  std::vector<T> c(static_cast<size_t>(m * c_stride), T(7));
  std::mt19937 engine(static_cast<uint32_t>(m * 31 + n * 7 + k));
  for (std::vector<T>* x : {&a, &b}) {
    for (T& value : *x) {
      if constexpr (std::is_integral_v<T>) {
        value = static_cast<T>(engine()) * static_cast<T>(2654435761u);
      } else {
        value = constant ? static_cast<T>(0.1)
                         : static_cast<T>(engine() / 2147483647.5 - 1);
      }
    }
  }
  Gemm<T>(m, n, {k}, {a.data(), a_stride, ta}, {b.data(), b_stride, tb},
          c.data(), c_stride);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < c_stride; ++j) {
      const T actual = c[static_cast<size_t>(i * c_stride + j)];
      if (j >= n) {
        ASSERT_EQ(actual, T(7)) << "written beyond the matrix";
        continue;
      }
      using Sum = std::conditional_t<std::is_integral_v<T>, T, long double>;
      Sum sum = 0;
      long double magnitude = 0;
      for (int64_t p = 0; p < k; ++p) {
        const T x =
            a[static_cast<size_t>(ta ? p * a_stride + i : i * a_stride + p)];
        const T y =
            b[static_cast<size_t>(tb ? j * b_stride + p : p * b_stride + j)];
        sum += static_cast<Sum>(x) * static_cast<Sum>(y);
        if constexpr (std::is_floating_point_v<T>) {
          magnitude += std::abs(static_cast<long double>(x) *
                                static_cast<long double>(y));
        }
      }
      if constexpr (std::is_integral_v<T>) {
        ASSERT_EQ(actual, sum) << i << ", " << j;
      } else {
        ASSERT_LE(std::abs(static_cast<long double>(actual) - sum),
                  magnitude * (sizeof(T) == 4 ? 1e-5L : 1e-13L))
            << i << ", " << j;
      }
    }
  }
}

TEST(GemmTest, AllKinds) {
  for (const int64_t m : {1, 2, 3, 17}) {
    for (const int64_t n : {1, 5, 33}) {
      for (const int64_t k : {0, 1, 16, 130, 300}) {
        for (const bool ta : {false, true}) {
          for (const bool tb : {false, true}) {
            Check<float>(m, n, k, ta, tb);
            Check<double>(m, n, k, ta, tb);
            Check<uint32_t>(m, n, k, ta, tb);
            Check<uint64_t>(m, n, k, ta, tb);
          }
        }
      }
    }
  }
  Check<float>(0, 3, 4, false, false);
  Check<float>(3, 0, 4, false, false);
}

// More than a block, in place and packed, with a panel that is not full.
TEST(GemmTest, SeveralBlocks) {
  for (const int64_t m : {3, 40}) {
    for (const int64_t n : {100, 1111}) {
      for (const bool tb : {false, true}) {
        Check<float>(m, n, 260, false, tb);
        Check<double>(m, n, 260, false, tb);
        Check<uint32_t>(m, n, 260, true, tb);
        Check<uint64_t>(m, n, 260, false, tb);
      }
    }
  }
}

// True if this processor multiplies and adds with one rounding.
bool Fuses() {
#ifdef __x86_64__
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

// Every sum has the bits that blocked/sums.h describes, for any width.
void CheckBits(int64_t m, int64_t n, int64_t k, bool tb) {
  SCOPED_TRACE(::testing::Message() << m << " x " << n << " x " << k << tb);
  std::vector<float> a(static_cast<size_t>(m * k));
  std::vector<float> b(static_cast<size_t>(k * n));
  std::vector<float> c(static_cast<size_t>(m * n));
  std::mt19937 engine(static_cast<uint32_t>(m * 31 + n * 7 + k));
  for (std::vector<float>* x : {&a, &b}) {
    for (float& value : *x) {
      value = static_cast<float>(engine() / 2147483647.5 - 1);
    }
  }
  Gemm<float>(m, n, {k}, {a.data(), k}, {b.data(), tb ? k : n, tb}, c.data(),
              n);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (int64_t chunk = 0; chunk < k; chunk += blocked::kPositionsOfChunk) {
        float chain = 0;
        for (int64_t p = chunk;
             p < std::min(k, chunk + blocked::kPositionsOfChunk); ++p) {
          chain = std::fma(a[static_cast<size_t>(i * k + p)],
                           b[static_cast<size_t>(tb ? j * k + p : p * n + j)],
                           chain);
        }
        sum += chain;
      }
      ASSERT_EQ(c[static_cast<size_t>(i * n + j)], sum) << i << ", " << j;
    }
  }
}

TEST(GemmTest, SumsAreChainsOfFusedProducts) {
  if (!Fuses()) GTEST_SKIP() << "the processor does not fuse";
  for (const int bits : {128, 256, 512}) {
    const ScopedVectorLimit limit(bits);  // products have all widths
    SCOPED_TRACE(::testing::Message() << bits << " bits");
    for (const int64_t m : {1, 2, 5, 17}) {
      for (const int64_t n : {1, 5, 16, 33, 100}) {
        for (const bool tb : {false, true}) {
          CheckBits(m, n, 7, tb);
          CheckBits(m, n, 300, tb);
        }
      }
    }
  }
}

// Adding up one value many times rounds to the same side again and again.
TEST(GemmTest, LongSumsOfFloatsStayAccurate) {
  for (const int64_t k : {4608, 5000, 100000}) {
    for (const int64_t m : {1, 4}) {
      for (const bool tb : {false, true}) {
        Check<float>(m, 5, k, false, tb, /*constant=*/true);
        Check<float>(m, 1, k, false, tb, /*constant=*/true);
        Check<float>(m, 5, k, true, tb, /*constant=*/true);
      }
    }
  }
}

}  // namespace
}  // namespace baton::kernels::internal
