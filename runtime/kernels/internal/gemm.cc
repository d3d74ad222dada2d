#include "baton/runtime/kernels/internal/gemm.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "Eigen/Core"

namespace baton::kernels::internal {
namespace {

// The longest run of products that is summed in float32 alone. A sum of
// kChunk + kGroup / kChunk roundings of 2^-24 each is within 1e-5.
constexpr int64_t kChunk = 128;
constexpr int64_t kGroup = 4096;

template <typename T, int kOrder>
using EigenMatrix =
    Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, kOrder>,
               Eigen::Unaligned, Eigen::OuterStride<>>;

template <typename T>
ConstMatrix<T> Columns(ConstMatrix<T> m, int64_t first) {
  m.data += m.transposed ? first * m.stride : first;
  return m;
}

template <typename T>
ConstMatrix<T> Rows(ConstMatrix<T> m, int64_t first) {
  m.data += m.transposed ? first : first * m.stride;
  return m;
}

// c += a * b.
template <typename T>
void AddProduct(int64_t m, int64_t n, int64_t k, ConstMatrix<T> a,
                ConstMatrix<T> b, T* c, int64_t c_stride) {
  Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>,
             Eigen::Unaligned, Eigen::OuterStride<>>
      out(c, m, n, Eigen::OuterStride<>(c_stride));
  const auto with_b = [&](const auto& left) {
    if (b.transposed) {
      out.noalias() += left * EigenMatrix<T, Eigen::ColMajor>(
                                  b.data, k, n, Eigen::OuterStride<>(b.stride));
    } else {
      out.noalias() += left * EigenMatrix<T, Eigen::RowMajor>(
                                  b.data, k, n, Eigen::OuterStride<>(b.stride));
    }
  };
  if (a.transposed) {
    with_b(EigenMatrix<T, Eigen::ColMajor>(a.data, m, k,
                                           Eigen::OuterStride<>(a.stride)));
  } else {
    with_b(EigenMatrix<T, Eigen::RowMajor>(a.data, m, k,
                                           Eigen::OuterStride<>(a.stride)));
  }
}

template <typename T>
void SetZero(int64_t m, int64_t n, T* c, int64_t c_stride) {
  for (int64_t i = 0; i < m; ++i) {
    std::fill(c + i * c_stride, c + i * c_stride + n, T(0));
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
  for (; i < k; ++i)
    total += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return total;
}

void FloatGemm(int64_t m, int64_t n, int64_t k, ConstMatrix<float> a,
               ConstMatrix<float> b, float* c, int64_t c_stride) {
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
  const auto add_group = [&](int64_t k0, int64_t k1, float* to,
                             int64_t to_stride) {
    for (int64_t i = k0; i < k1; i += kChunk) {
      AddProduct(m, n, std::min(kChunk, k1 - i), Columns(a, i), Rows(b, i), to,
                 to_stride);
    }
  };
  SetZero(m, n, c, c_stride);
  if (k <= kGroup) {
    add_group(0, k, c, c_stride);
    return;
  }
  const size_t elements = static_cast<size_t>(m * n);
  std::vector<double> sum(elements, 0);
  std::vector<float> group(elements);
  for (int64_t k0 = 0; k0 < k; k0 += kGroup) {
    std::fill(group.begin(), group.end(), 0.0f);
    add_group(k0, std::min(k, k0 + kGroup), group.data(), n);
    for (size_t i = 0; i < elements; ++i) {
      sum[i] += static_cast<double>(group[i]);
    }
  }
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      c[i * c_stride + j] =
          static_cast<float>(sum[static_cast<size_t>(i * n + j)]);
    }
  }
}

// Plain loops: integers are rare, and the compiler vectorizes these.
template <typename T>
void IntegerGemm(int64_t m, int64_t n, int64_t k, ConstMatrix<T> a,
                 ConstMatrix<T> b, T* c, int64_t c_stride) {
  const auto a_at = [&a](int64_t i, int64_t j) {
    return a.transposed ? a.data[j * a.stride + i] : a.data[i * a.stride + j];
  };
  for (int64_t i = 0; i < m; ++i) {
    T* row = c + i * c_stride;
    if (b.transposed) {
      for (int64_t j = 0; j < n; ++j) {
        const T* column = b.data + j * b.stride;
        T sum = 0;
        if (a.transposed) {
          for (int64_t p = 0; p < k; ++p) sum += a_at(i, p) * column[p];
        } else {
          const T* left = a.data + i * a.stride;
          for (int64_t p = 0; p < k; ++p) sum += left[p] * column[p];
        }
        row[j] = sum;
      }
    } else {
      for (int64_t p = 0; p < k; ++p) {
        const T left = a_at(i, p);
        const T* right = b.data + p * b.stride;
        for (int64_t j = 0; j < n; ++j) row[j] += left * right[j];
      }
    }
  }
}

}  // namespace

template <typename T>
void Gemm(int64_t m, int64_t n, int64_t k, ConstMatrix<T> a, ConstMatrix<T> b,
          T* c, int64_t c_stride) {
  if (m == 0 || n == 0) return;
  if constexpr (std::is_same_v<T, float>) {
    FloatGemm(m, n, k, a, b, c, c_stride);
  } else {
    SetZero(m, n, c, c_stride);
    if (k == 0) return;
    if constexpr (std::is_same_v<T, double>) {
      AddProduct(m, n, k, a, b, c, c_stride);
    } else {
      IntegerGemm(m, n, k, a, b, c, c_stride);
    }
  }
}

template void Gemm(int64_t, int64_t, int64_t, ConstMatrix<float>,
                   ConstMatrix<float>, float*, int64_t);
template void Gemm(int64_t, int64_t, int64_t, ConstMatrix<double>,
                   ConstMatrix<double>, double*, int64_t);
template void Gemm(int64_t, int64_t, int64_t, ConstMatrix<uint32_t>,
                   ConstMatrix<uint32_t>, uint32_t*, int64_t);
template void Gemm(int64_t, int64_t, int64_t, ConstMatrix<uint64_t>,
                   ConstMatrix<uint64_t>, uint64_t*, int64_t);

}  // namespace baton::kernels::internal
