#include "baton/runtime/kernels/linear.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/internal/testing.h"
#include "gtest/gtest.h"

namespace baton::kernels {
namespace {

using internal::Fails;
using internal::Make;
using internal::Matches;
using internal::Random;
using internal::Values;
using internal::Within;

const DType kFloat32 = DType::Float(32);

struct Reference {
  std::vector<double> values;
  std::vector<double> magnitudes;

  std::vector<double> Bounds(double relative) const {
    std::vector<double> bounds;
    for (const double m : magnitudes) bounds.push_back(m * relative);
    return bounds;
  }
};

// Products of a batch; `a` and `b` have one matrix for all or one for each.
Reference Naive(const Tensor& a, const Tensor& b, int64_t batch, int64_t m,
                int64_t n, int64_t k, bool ta, bool tb) {
  const std::vector<double> x = Values(a), y = Values(b);
  const int64_t a_step = a.num_elements() == m * k ? 0 : m * k;
  const int64_t b_step = b.num_elements() == k * n ? 0 : k * n;
  Reference r;
  for (int64_t p = 0; p < batch; ++p) {
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0, magnitude = 0;
        for (int64_t l = 0; l < k; ++l) {
          const int64_t u = p * a_step + (ta ? l * m + i : i * k + l);
          const int64_t v = p * b_step + (tb ? j * k + l : l * n + j);
          const double term =
              x[static_cast<size_t>(u)] * y[static_cast<size_t>(v)];
          sum += term;
          magnitude += std::abs(term);
        }
        r.values.push_back(sum);
        r.magnitudes.push_back(magnitude);
      }
    }
  }
  return r;
}

TEST(DenseTest, MatchesDefinition) {
  for (const int64_t m : {1, 2, 3, 20}) {
    for (const int64_t n : {1, 7, 33}) {
      for (const int64_t k : {0, 1, 15, 513}) {
        const Tensor x = Random(kFloat32, {m, k}, 1);
        const Tensor w = Random(kFloat32, {n, k}, 2);
        const Reference r = Naive(x, w, 1, m, n, k, false, true);
        EXPECT_TRUE(
            Within(Dense(x, w), kFloat32, {m, n}, r.values, r.Bounds(1e-5)));
      }
    }
  }
}

TEST(DenseTest, OtherRanksAndDTypes) {
  const Tensor w = Random(kFloat32, {5, 4}, 2);
  const Tensor cube = Random(kFloat32, {2, 3, 4}, 1);
  const Reference r = Naive(cube, w, 1, 6, 5, 4, false, true);
  EXPECT_TRUE(
      Within(Dense(cube, w), kFloat32, {2, 3, 5}, r.values, r.Bounds(1e-5)));
  const Tensor line = Random(kFloat32, {4}, 1);
  const Reference r1 = Naive(line, w, 1, 1, 5, 4, false, true);
  EXPECT_TRUE(
      Within(Dense(line, w), kFloat32, {5}, r1.values, r1.Bounds(1e-5)));
  EXPECT_TRUE(
      Matches(Dense(Make(kFloat32, {0, 4}, {}), w), kFloat32, {0, 5}, {}));
  // Quantized.
  const Tensor u8 = Random(DType::UInt(8), {3, 40}, 1);
  const Tensor i8 = Random(DType::Int(8), {5, 40}, 2);
  const Reference q = Naive(u8, i8, 1, 3, 5, 40, false, true);
  EXPECT_TRUE(Matches(Dense(u8, i8, DType::Int(32)), DType::Int(32), {3, 5},
                      q.values, 0, 0));
  // Half floats, and their unrounded sums.
  const Tensor h = Random(DType::Float(16), {3, 40}, 1);
  const Tensor g = Random(DType::Float(16), {5, 40}, 2);
  const Reference f = Naive(h, g, 1, 3, 5, 40, false, true);
  EXPECT_TRUE(
      Within(Dense(h, g), DType::Float(16), {3, 5}, f.values, f.Bounds(1e-3)));
  EXPECT_TRUE(Within(Dense(h, g, kFloat32), kFloat32, {3, 5}, f.values,
                     f.Bounds(1e-5)));
}

TEST(MatmulTest, MatchesDefinition) {
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      for (const DType dtype : {kFloat32, DType::Float(64), DType::Int(32)}) {
        const MatmulParams params = {
            .transpose_a = ta, .transpose_b = tb, .out_dtype = DType()};
        const Tensor a = Random(dtype, {ta ? 9 : 6, ta ? 6 : 9}, 1);
        const Tensor b = Random(dtype, {tb ? 7 : 9, tb ? 9 : 7}, 2);
        const Reference r = Naive(a, b, 1, 6, 7, 9, ta, tb);
        EXPECT_TRUE(Within(Matmul(a, b, params), dtype, {6, 7}, r.values,
                           r.Bounds(1e-5)));
        // With leading dimensions.
        const Tensor c = Random(dtype, {2, ta ? 9 : 6, ta ? 6 : 9}, 1);
        const Reference s = Naive(c, b, 2, 6, 7, 9, ta, tb);
        EXPECT_TRUE(Within(Matmul(c, b, params), dtype, {2, 6, 7}, s.values,
                           s.Bounds(1e-5)));
      }
    }
  }
}

TEST(BatchMatmulTest, MatchesDefinition) {
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      for (const int64_t batch_a : {1, 3}) {
        for (const int64_t batch_b : {1, 3}) {
          const MatmulParams params = {
              .transpose_a = ta, .transpose_b = tb, .out_dtype = DType()};
          const Tensor a =
              Random(kFloat32, {batch_a, ta ? 9 : 6, ta ? 6 : 9}, 1);
          const Tensor b =
              Random(kFloat32, {batch_b, tb ? 7 : 9, tb ? 9 : 7}, 2);
          const int64_t batch = batch_a == 1 ? batch_b : batch_a;
          const Reference r = Naive(a, b, batch, 6, 7, 9, ta, tb);
          EXPECT_TRUE(Within(BatchMatmul(a, b, params), kFloat32, {batch, 6, 7},
                             r.values, r.Bounds(1e-5)));
        }
      }
    }
  }
  EXPECT_TRUE(Matches(BatchMatmul(Make(kFloat32, {0, 2, 3}, {}),
                                  Random(kFloat32, {1, 3, 4}), {}),
                      kFloat32, {0, 2, 4}, {}));
}

TEST(BatchMatmulTest, DotProductsMatchTheDefinition) {
  for (const int64_t k : {1, 15, 16, 37, 2048, 2049}) {
    for (const int64_t batch_b : {1, 5}) {
      const Tensor a = Random(kFloat32, {5, 1, k}, 1);
      const Tensor b = Random(kFloat32, {batch_b, k, 1}, 2);
      const Reference r = Naive(a, b, 5, 1, 1, k, false, false);
      EXPECT_TRUE(Within(
          BatchMatmul(
              a, b,
              {.transpose_a = false, .transpose_b = false, .out_dtype = {}}),
          kFloat32, {5, 1, 1}, r.values, r.Bounds(1e-5)));
    }
  }
}

TEST(LinearTest, Errors) {
  const Tensor a = Random(kFloat32, {2, 3});
  const Tensor b = Random(kFloat32, {4, 5});
  EXPECT_TRUE(Fails(Dense(a, b).status(), "dense", "do not fit"));
  EXPECT_TRUE(Fails(Dense(a, Random(kFloat32, {3})).status(), "dense", "rank"));
  EXPECT_TRUE(
      Fails(Dense(Random(kFloat32, {}), b).status(), "dense", "do not fit"));
  EXPECT_TRUE(
      Fails(Dense(a, Random(DType::Int(8), {4, 3})).status(), "dense", "int8"));
  EXPECT_TRUE(
      Fails(Dense(Random(DType::Bool(), {2, 3}), Random(DType::Bool(), {4, 3}))
                .status(),
            "dense", "bool"));
  EXPECT_TRUE(Fails(Matmul(a, b, {}).status(), "matmul", "do not fit"));
  EXPECT_TRUE(Fails(
      Matmul(Random(kFloat32, {3}), Random(kFloat32, {3, 2}),
             {.transpose_a = true, .transpose_b = false, .out_dtype = DType()})
          .status(),
      "matmul", "do not fit"));
  EXPECT_TRUE(Fails(BatchMatmul(a, b, {}).status(), "batch_matmul", "rank 3"));
  EXPECT_TRUE(Fails(
      BatchMatmul(Random(kFloat32, {2, 2, 3}), Random(kFloat32, {3, 3, 2}), {})
          .status(),
      "batch_matmul", "do not fit"));
}

}  // namespace
}  // namespace baton::kernels
