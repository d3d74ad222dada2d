#include "baton/runtime/kernels/einsum.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/internal/testing.h"
#include "gtest/gtest.h"

namespace baton::kernels {
namespace {

using ::baton::kernels::internal::Fails;
using ::baton::kernels::internal::Iota;
using ::baton::kernels::internal::MakeFloat;
using ::baton::kernels::internal::Matches;

constexpr DType kFloat = DType::Float(32);

TEST(EinsumTest, MultipliesAndSums) {
  const Tensor a = Iota(kFloat, {2, 3});
  const Tensor b = Iota(kFloat, {3, 2});
  EXPECT_TRUE(
      Matches(Einsum({a, b}, "ij,jk->ik"), kFloat, {2, 2}, {10, 13, 28, 40}));
  EXPECT_TRUE(
      Matches(Einsum({a, b}, "ij,jk"), kFloat, {2, 2}, {10, 13, 28, 40}));
  EXPECT_TRUE(
      Matches(Einsum({a}, "ij->ji"), kFloat, {3, 2}, {0, 3, 1, 4, 2, 5}));
  EXPECT_TRUE(Matches(Einsum({a}, "ij->"), kFloat, {}, {15}));
  EXPECT_TRUE(
      Matches(Einsum({Iota(kFloat, {3, 3})}, "ii->i"), kFloat, {3}, {0, 4, 8}));
  EXPECT_TRUE(Matches(Einsum({Iota(kFloat, {3, 3})}, "ii"), kFloat, {}, {12}));
  // Sums over what only one operand has.
  EXPECT_TRUE(Matches(Einsum({a, b}, "ij,kl->"), kFloat, {}, {225}));
  EXPECT_TRUE(
      Matches(Einsum({a, a, a}, "ij,ij,ij->j"), kFloat, {3}, {27, 65, 133}));
}

TEST(EinsumTest, EllipsesBroadcast) {
  const Tensor a = Iota(DType::Int(32), {2, 1, 3});
  const Tensor b = Iota(DType::Int(32), {2, 3});
  EXPECT_TRUE(Matches(Einsum({a, b}, "...i,...i->..."), DType::Int(32), {2, 2},
                      {5, 14, 14, 50}));
  EXPECT_TRUE(Matches(Einsum({a, b}, "...i,...i"), DType::Int(32), {2, 2},
                      {5, 14, 14, 50}));
}

TEST(EinsumTest, Refuses) {
  const Tensor a = Iota(kFloat, {2, 3});
  EXPECT_TRUE(Fails(Einsum({a, a}, "ij,jk").status(), "einsum",
                    "both 3 and 2 elements"));
  EXPECT_TRUE(Fails(Einsum({a}, "ijk").status(), "einsum", "does not fit"));
  EXPECT_TRUE(Fails(Einsum({a}, "ij->k").status(), "einsum", "no operand"));
  EXPECT_TRUE(Fails(Einsum({a}, "ij->ii").status(), "einsum", "one twice"));
  EXPECT_TRUE(Fails(Einsum({a}, "i1").status(), "einsum", "malformed"));
  EXPECT_TRUE(Fails(Einsum({}, "").status(), "einsum", "0 operands"));
}

// Results whose terms are not adjacent are computed as those whose terms are.
TEST(EinsumTest, TheOrderOfAxesDoesNotMatter) {
  const Tensor a = internal::Random(kFloat, {70, 5, 90}, 1);
  const Tensor b = internal::Random(kFloat, {70, 90}, 2);
  const auto same = [](const Tensor& x, const Tensor& y) { return x == y; };
  const auto evaluate = [](std::vector<Tensor> operands,
                           absl::string_view equation) {
    return internal::Unwrap(Einsum(operands, equation));
  };
  const Tensor a_last = evaluate({a}, "ijk->jki");
  const Tensor b_last = evaluate({b}, "ik->ki");
  EXPECT_TRUE(same(evaluate({a}, "ijk->jk"), evaluate({a_last}, "jki->jk")));
  EXPECT_TRUE(same(evaluate({a, b}, "ijk,ik->jk"),
                   evaluate({a_last, b_last}, "jki,ki->jk")));
  const Tensor u = internal::Random(kFloat, {3}, 3);
  const Tensor v = internal::Random(kFloat, {130}, 4);
  const std::vector<double> x = internal::Values(u), y = internal::Values(v);
  std::vector<double> products;
  for (const double p : x) {
    for (const double q : y) products.push_back(p * q);
  }
  EXPECT_TRUE(Matches(Einsum({u, v}, "i,j->ij"), kFloat, {3, 130}, products));
}

// The sum of `terms` in the order that a line of them is added in.
template <typename T>
T SumInOrder(const std::vector<T>& terms) {
  constexpr size_t kLanes = 16;
  T lanes[kLanes] = {};
  const size_t whole = terms.size() / kLanes * kLanes;
  for (size_t k = 0; k < terms.size(); ++k) {
    lanes[k < whole ? k % kLanes : 0] += terms[k];
  }
  for (size_t half = kLanes / 2; half > 0; half /= 2) {
    for (size_t j = 0; j < half; ++j) lanes[j] += lanes[j + half];
  }
  return lanes[0];
}

template <typename T>
void ExpectSumsInOrder(int64_t rows, int64_t terms) {
  SCOPED_TRACE(::testing::Message()
               << DType::Of<T>().ToString() << " " << rows << " " << terms);
  const Tensor x = internal::Random(DType::Of<T>(), {rows, terms}, 1);
  const Tensor y = internal::Random(DType::Of<T>(), {rows, terms}, 2);
  const Tensor v = internal::Random(DType::Of<T>(), {terms}, 3);
  std::vector<T> sums, products, by_vector;
  T total{};
  for (int64_t r = 0; r < rows; ++r) {
    std::vector<T> one, two, three;
    for (int64_t k = 0; k < terms; ++k) {
      const T at = x.span<T>()[r * terms + k];
      one.push_back(at);
      two.push_back(at * y.span<T>()[r * terms + k]);
      three.push_back(at * v.span<T>()[k]);
    }
    sums.push_back(SumInOrder(one));
    products.push_back(SumInOrder(two));
    by_vector.push_back(SumInOrder(three));
    total += products.back();
  }
  const auto is = [](const std::vector<Tensor>& operands,
                     absl::string_view equation, std::vector<int64_t> shape,
                     const std::vector<T>& values) {
    return internal::Unwrap(Einsum(operands, equation)) ==
           *Tensor::FromValues<T>(shape, values);
  };
  EXPECT_TRUE(is({x}, "ij->i", {rows}, sums));
  EXPECT_TRUE(is({x, y}, "ij,ij->i", {rows}, products));
  EXPECT_TRUE(is({x, v}, "ij,j->i", {rows}, by_vector));
  EXPECT_TRUE(is({x, y}, "ij,ij->", {}, {total}));
}

// Many lines are added at a time, each in the order of its own.
TEST(EinsumTest, SumsOfLinesKeepTheirOrder) {
  for (const int64_t rows : {1, 2, 63, 64, 65, 130}) {
    for (const int64_t terms : {1, 2, 15, 16, 17, 40, 100}) {
      ExpectSumsInOrder<float>(rows, terms);
      ExpectSumsInOrder<double>(rows, terms);
      ExpectSumsInOrder<uint32_t>(rows, terms);
    }
  }
}

// Extents of 1 of one operand meet others only in a third.
TEST(EinsumTest, OperandsThatDoNotChangeAlongARow) {
  const Tensor a = Iota(kFloat, {1, 3});
  const Tensor b = Iota(kFloat, {5, 2});
  EXPECT_TRUE(Matches(Einsum({a, a, b}, "...i,...j,...k->..."), kFloat, {5},
                      {9, 45, 81, 117, 153}));
}

TEST(EinsumTest, ProductsKeepTheSignOfZero) {
  const Tensor x = MakeFloat({2}, {-0.0, 1});
  const Tensor y = MakeFloat({2}, {1, -0.0});
  const Tensor product = internal::Unwrap(Einsum({x, y}, "i,i->i"));
  EXPECT_TRUE(product == MakeFloat({2}, {-0.0, -0.0}));
}

TEST(EinsumTest, IntegersWrap) {
  for (const DType dtype : {DType::Int(8), DType::UInt(8), DType::Int(16),
                            DType::UInt(32), DType::Int(64)}) {
    const Tensor x = internal::Random(dtype, {90, 70}, 1);
    const Tensor y = internal::Random(dtype, {70}, 2);
    MutableTensor expected = *MutableTensor::Create(DType::Int(64), {90});
    for (int64_t i = 0; i < 90 * 70; ++i) {
      expected.span<int64_t>()[i / 70] += x.AtAsInt64(i) * y.AtAsInt64(i % 70);
    }
    const Tensor sums = internal::Unwrap(Einsum({x, y}, "ij,j->i"));
    ASSERT_EQ(sums.dtype(), dtype);
    for (int64_t i = 0; i < 90; ++i) {
      const int shift = 64 - dtype.bits();
      EXPECT_EQ(static_cast<uint64_t>(sums.AtAsInt64(i)) << shift,
                static_cast<uint64_t>(expected.span<int64_t>()[i]) << shift);
    }
  }
  const Tensor none = *Tensor::Zeros(DType::Int(8), {2, 0});
  EXPECT_TRUE(Matches(Einsum({none}, "ij->i"), DType::Int(8), {2}, {0, 0}));
}

}  // namespace
}  // namespace baton::kernels
