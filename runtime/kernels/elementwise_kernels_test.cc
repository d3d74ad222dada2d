#include "baton/runtime/kernels/elementwise_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/internal/convert.h"
#include "baton/runtime/kernels/internal/testing.h"
#include "baton/runtime/kernels/internal/util.h"
#include "baton/runtime/kernels/operand.h"
#include "gtest/gtest.h"

namespace baton::kernels {
namespace {

using internal::Fails;
using internal::Flat;
using internal::ForEachIndex;
using internal::Make;
using internal::MakeFloat;
using internal::Matches;
using internal::Random;
using internal::Unwrap;
using internal::Values;

const DType kFloat32 = DType::Float(32);
const DType kInt32 = DType::Int(32);
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

using UnaryKernel = std::function<absl::StatusOr<Tensor>(const Tensor&)>;
using BinaryKernel =
    std::function<absl::StatusOr<Tensor>(const Tensor&, const Tensor&)>;

TEST(UnaryTest, FloatFunctions) {
  struct Case {
    const char* name;
    UnaryKernel kernel;
    double (*function)(double);
    double low;
    double high;
  };
  const Case cases[] = {
      {"sqrt", Sqrt, std::sqrt, 0, 1e6},
      {"rsqrt", Rsqrt, [](double x) { return 1 / std::sqrt(x); }, 1e-6, 1e6},
      {"exp", Exp, std::exp, -80, 80},
      {"log", Log, std::log, 1e-6, 1e6},
      {"log2", Log2, std::log2, 1e-6, 1e6},
      {"log10", Log10, std::log10, 1e-6, 1e6},
      {"sin", Sin, std::sin, -100, 100},
      {"cos", Cos, std::cos, -100, 100},
      {"tan", Tan, std::tan, -1.5, 1.5},
      {"asin", Asin, std::asin, -1, 1},
      {"acos", Acos, std::acos, -1, 1},
      {"atan", Atan, std::atan, -100, 100},
      {"sinh", Sinh, std::sinh, -80, 80},
      {"cosh", Cosh, std::cosh, -80, 80},
      {"tanh", Tanh, std::tanh, -20, 20},
      {"asinh", Asinh, std::asinh, -1e4, 1e4},
      {"acosh", Acosh, std::acosh, 1, 1e4},
      {"atanh", Atanh, std::atanh, -0.99, 0.99},
      {"sigmoid", Sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); },
       -100, 100},
      {"erf", Erf, std::erf, -4, 4},
      {"exp", FastExp, std::exp, -80, 80},
      {"tanh", FastTanh, std::tanh, -20, 20},
      {"erf", FastErf, std::erf, -4, 4},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    std::vector<double> points;
    for (int i = 0; i <= 210; ++i) {
      points.push_back(c.low + (c.high - c.low) * i / 210);
    }
    for (const DType dtype :
         {kFloat32, DType::Float(64), DType::Float(16), DType::BFloat(16)}) {
      const Tensor x = Make(dtype, {7, 30}, {points.begin(), points.end() - 1});
      std::vector<double> expected;
      for (const double v : Values(x)) {
        double y = c.function(v);
        if (dtype == DType::Float(16) && std::abs(y) > 65519) {
          y = y > 0 ? kInf : -kInf;
        }
        expected.push_back(y);
      }
      const bool half = dtype.bits() == 16;
      EXPECT_TRUE(Matches(c.kernel(x), dtype, {7, 30}, expected,
                          half ? 1e-2 : 1e-5, half ? 1e-4 : 1e-7));
    }
    for (const DType dtype : {kInt32, DType::Bool(), DType::UInt(8)}) {
      EXPECT_TRUE(Fails(c.kernel(Random(dtype, {3})).status(), c.name,
                        dtype.ToString()));
    }
    EXPECT_TRUE(
        Matches(c.kernel(Make(kFloat32, {0, 2}, {})), kFloat32, {0, 2}, {}));
  }
}

TEST(UnaryTest, HalfFloatsAreRoundedFloats) {
  for (const DType dtype : {DType::Float(16), DType::BFloat(16)}) {
    // Some are converted one by one, others in blocks.
    for (const int64_t n : {1, 7, 8, 9, 1023, 1024, 1029, 2500}) {
      const Tensor x = Random(dtype, {n}, 3);
      const Tensor wide = Make(kFloat32, {n}, Values(x));
      for (const UnaryKernel& kernel :
           std::initializer_list<UnaryKernel>{Exp, Sin, Asinh, Sign, Round}) {
        const Tensor expected = Make(dtype, {n}, Values(Unwrap(kernel(wide))));
        EXPECT_TRUE(Matches(kernel(x), dtype, {n}, Values(expected), 0.0, 0.0));
      }
    }
  }
  const DType half = DType::Float(16);
  const Tensor special =
      Make(half, {9},
           {0x1p-24, -0x1.8p-23, 65504, -65504, kInf, -kInf, kNan, 0x1p-14, 0});
  EXPECT_TRUE(Matches(Round(special), half, {9},
                      {0, 0, 65504, -65504, kInf, -kInf, kNan, 0, 0}, 0, 0));
  EXPECT_TRUE(Matches(Exp(special), half, {9},
                      {1, 1, kInf, 0, kInf, 0, kNan, 1, 1}, 0, 0));
}

TEST(UnaryTest, SignedFunctions) {
  const std::vector<double> in = {-3, -1, 0, 2, 100, -128};
  for (const DType dtype :
       {DType::Int(8), DType::Int(16), kInt32, DType::Int(64), kFloat32,
        DType::Float(64), DType::Float(16), DType::BFloat(16)}) {
    const bool wraps = dtype == DType::Int(8);
    const double m = wraps ? -128 : 128;
    const Tensor x = Make(dtype, {6}, in);
    EXPECT_TRUE(Matches(Negative(x), dtype, {6}, {3, 1, 0, -2, -100, m}));
    EXPECT_TRUE(Matches(Abs(x), dtype, {6}, {3, 1, 0, 2, 100, m}));
    EXPECT_TRUE(Matches(Sign(x), dtype, {6}, {-1, -1, 0, 1, 1, -1}));
    EXPECT_TRUE(Matches(Relu(x), dtype, {6}, {0, 0, 0, 2, 100, 0}));
    EXPECT_TRUE(Matches(Clip(x, -2, 50.5), dtype, {6},
                        {-2, -1, 0, 2, dtype.is_float() ? 50.5 : 50, -2}));
  }
  const Tensor u = Make(DType::UInt(8), {3}, {0, 1, 200});
  EXPECT_TRUE(Matches(Negative(u), DType::UInt(8), {3}, {0, 255, 56}));
  EXPECT_TRUE(Matches(Abs(u), DType::UInt(8), {3}, {0, 1, 200}));
  EXPECT_TRUE(Matches(Sign(u), DType::UInt(8), {3}, {0, 1, 1}));
  EXPECT_TRUE(Matches(Relu(u), DType::UInt(8), {3}, {0, 1, 200}));
  EXPECT_TRUE(Matches(Clip(u, -5, 1e30), DType::UInt(8), {3}, {0, 1, 200}));
  for (const UnaryKernel& kernel :
       std::initializer_list<UnaryKernel>{Negative, Abs, Sign, Relu}) {
    EXPECT_FALSE(kernel(Random(DType::Bool(), {3})).ok());
    EXPECT_TRUE(Matches(kernel(MakeFloat({1}, {kNan})), kFloat32, {1}, {kNan}));
  }
  const Tensor lowest = Make(DType::Int(64), {1}, {-0x1p63});
  EXPECT_TRUE(Matches(Abs(lowest), DType::Int(64), {1}, {-0x1p63}));
  EXPECT_TRUE(Matches(Negative(lowest), DType::Int(64), {1}, {-0x1p63}));
}

TEST(UnaryTest, Rounding) {
  const Tensor x = MakeFloat({8}, {-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.2, kNan});
  EXPECT_TRUE(Matches(Round(x), kFloat32, {8}, {-2, -2, 0, 0, 2, 2, 0, kNan}));
  EXPECT_TRUE(Matches(Ceil(x), kFloat32, {8}, {-2, -1, 0, 1, 2, 3, 1, kNan}));
  EXPECT_TRUE(Matches(Floor(x), kFloat32, {8}, {-3, -2, -1, 0, 1, 2, 0, kNan}));
  EXPECT_TRUE(Matches(Trunc(x), kFloat32, {8}, {-2, -1, 0, 0, 1, 2, 0, kNan}));
  const Tensor whole = Make(kInt32, {2}, {-3, 5});
  for (const UnaryKernel& kernel :
       std::initializer_list<UnaryKernel>{Round, Ceil, Floor, Trunc}) {
    EXPECT_TRUE(Unwrap(kernel(whole)).SharesBufferWith(whole));
  }
}

TEST(UnaryTest, Questions) {
  const DType b = DType::Bool();
  for (const DType dtype : {kFloat32, DType::Float(64), DType::Float(16)}) {
    const Tensor x = Make(dtype, {4}, {1, kInf, -kInf, kNan});
    EXPECT_TRUE(Matches(IsNan(x), b, {4}, {0, 0, 0, 1}));
    EXPECT_TRUE(Matches(IsInf(x), b, {4}, {0, 1, 1, 0}));
    EXPECT_TRUE(Matches(IsFinite(x), b, {4}, {1, 0, 0, 0}));
  }
  const Tensor whole = Make(kInt32, {2}, {0, 5});
  EXPECT_TRUE(Matches(IsNan(whole), b, {2}, {0, 0}));
  EXPECT_TRUE(Matches(IsInf(whole), b, {2}, {0, 0}));
  EXPECT_TRUE(Matches(IsFinite(whole), b, {2}, {1, 1}));
}

TEST(UnaryTest, Bits) {
  EXPECT_TRUE(Matches(LogicalNot(Make(DType::Bool(), {2}, {0, 1})),
                      DType::Bool(), {2}, {1, 0}));
  EXPECT_TRUE(Fails(LogicalNot(MakeFloat({1}, {0})).status(), "logical_not"));
  EXPECT_TRUE(Matches(BitwiseNot(Make(DType::Bool(), {2}, {0, 1})),
                      DType::Bool(), {2}, {1, 0}));
  EXPECT_TRUE(Matches(BitwiseNot(Make(DType::Int(8), {2}, {0, 5})),
                      DType::Int(8), {2}, {-1, -6}));
  EXPECT_TRUE(Matches(BitwiseNot(Make(DType::UInt(16), {2}, {0, 5})),
                      DType::UInt(16), {2}, {65535, 65530}));
  EXPECT_TRUE(Fails(BitwiseNot(MakeFloat({1}, {0})).status(), "bitwise_not"));
}

TEST(UnaryTest, LeakyReluAndPrelu) {
  const Tensor x = MakeFloat({2, 2}, {-2, 3, -4, kNan});
  EXPECT_TRUE(
      Matches(LeakyRelu(x, 0.1), kFloat32, {2, 2}, {-0.2, 3, -0.4, kNan}));
  EXPECT_TRUE(Fails(LeakyRelu(Make(kInt32, {1}, {1}), 0.1).status(),
                    "leaky_relu", "int32"));
  const Tensor alpha = MakeFloat({2}, {0.5, 0.25});
  EXPECT_TRUE(Matches(Prelu(x, alpha, 0), kFloat32, {2, 2}, {-1, 3, -1, kNan}));
  EXPECT_TRUE(
      Matches(Prelu(x, alpha, -1), kFloat32, {2, 2}, {-1, 3, -2, kNan}));
  EXPECT_TRUE(Matches(Prelu(x, MakeFloat({1}, {0.5}), 1), kFloat32, {2, 2},
                      {-1, 3, -2, kNan}));
  EXPECT_TRUE(
      Fails(Prelu(x, MakeFloat({3}, {1, 2, 3}), 1).status(), "prelu", "fit"));
  EXPECT_TRUE(Fails(Prelu(x, alpha, 2).status(), "prelu", "axis 2"));
  EXPECT_TRUE(Fails(Prelu(x, MakeFloat({}, {1}), 0).status(), "prelu", "rank"));
}

// The shape that two shapes broadcast to, and fn of all pairs.
void CheckBroadcast(const std::vector<int64_t>& sa,
                    const std::vector<int64_t>& sb,
                    const std::vector<int64_t>& shape) {
  for (const DType dtype : {kFloat32, kInt32, DType::UInt(8)}) {
    const Tensor a = Random(dtype, sa, 1), b = Random(dtype, sb, 2);
    const std::vector<double> x = Values(a), y = Values(b);
    std::vector<double> sub, less, max;
    ForEachIndex(shape, [&](const std::vector<int64_t>& index) {
      const auto at = [&](const std::vector<int64_t>& s) {
        std::vector<int64_t> i(index.end() - static_cast<int64_t>(s.size()),
                               index.end());
        for (size_t d = 0; d < s.size(); ++d) i[d] = s[d] == 1 ? 0 : i[d];
        return static_cast<size_t>(Flat(s, i));
      };
      const double u = x[at(sa)], v = y[at(sb)];
      sub.push_back(dtype == DType::UInt(8)
                        ? static_cast<uint8_t>(static_cast<int64_t>(u - v))
                        : u - v);
      less.push_back(u < v ? 1 : 0);
      max.push_back(u > v ? u : v);
    });
    EXPECT_TRUE(Matches(Subtract(a, b), dtype, shape, sub));
    EXPECT_TRUE(Matches(Less(a, b), DType::Bool(), shape, less));
    EXPECT_TRUE(Matches(Maximum(a, b), dtype, shape, max));
  }
}

// A tensor with the same elements and a buffer of its own.
Tensor Copy(const Tensor& x) {
  MutableTensor copy = *MutableTensor::Uninitialized(x.dtype(), x.shape());
  std::memcpy(copy.data(), x.data(), static_cast<size_t>(x.byte_size()));
  return std::move(copy).Freeze();
}

TEST(InPlaceTest, UnaryFunctions) {
  using Kernel = absl::StatusOr<Tensor> (*)(Operand);
  const auto clip = [](Operand x) { return Clip(x, -0.5, 0.25); };
  for (const Kernel kernel : {Negative, Abs, Sign, Relu, Kernel(clip)}) {
    for (const DType dtype : {kFloat32, DType::Float(64), kInt32}) {
      const Tensor x = Random(dtype, {1000});
      const Tensor expected = Unwrap(kernel(x));
      Tensor spare = Copy(x);
      const Tensor result = Unwrap(kernel(std::move(spare)));
      EXPECT_EQ(result, expected);
      EXPECT_TRUE(result.SharesBufferWith(spare));  // NOLINT: it keeps it
    }
  }
}

TEST(InPlaceTest, BinaryFunctions) {
  using Kernel = absl::StatusOr<Tensor> (*)(Operand, Operand);
  for (const Kernel kernel :
       {Add, Subtract, Multiply, Divide, Maximum, Minimum}) {
    for (const DType dtype : {kFloat32, DType::Float(64), DType::Float(16),
                              DType::BFloat(16), kInt32, DType::UInt(8)}) {
      const Tensor x = Random(dtype, {30, 40});
      const Tensor y = Random(dtype, {30, 40}, 2);
      const Tensor row = Random(dtype, {40});
      const Tensor column = Random(dtype, {30, 1});
      if (kernel == Divide && !dtype.is_float()) continue;
      // Half floats are converted.
      const bool in_place = !dtype.is_half();
      for (const Tensor& other : {y, row, column}) {
        Tensor left = Copy(x);
        const Tensor first = Unwrap(kernel(std::move(left), other));
        EXPECT_EQ(first, Unwrap(kernel(x, other)));
        EXPECT_EQ(first.SharesBufferWith(left), in_place);  // NOLINT
        Tensor right = Copy(x);
        const Tensor second = Unwrap(kernel(other, std::move(right)));
        EXPECT_EQ(second, Unwrap(kernel(other, x)));
        EXPECT_EQ(second.SharesBufferWith(right), in_place);  // NOLINT
      }
      // A broadcast operand is too small for the result, and shared ones must
      // not be written.
      Tensor small = Copy(row);
      EXPECT_EQ(Unwrap(kernel(std::move(small), x)), Unwrap(kernel(row, x)));
      Tensor shared = Copy(x);
      const Tensor user = shared;
      EXPECT_EQ(Unwrap(kernel(std::move(shared), y)), Unwrap(kernel(x, y)));
      EXPECT_EQ(user, x);
      // A tensor and itself.
      Tensor both = Copy(x);
      const Tensor itself = both;
      EXPECT_EQ(Unwrap(kernel(std::move(both), itself)), Unwrap(kernel(x, x)));
    }
  }
}

TEST(InPlaceTest, BiasAdd) {
  const Tensor x = Random(kFloat32, {2, 3, 4, 5});
  const Tensor bias = Random(kFloat32, {3});
  Tensor spare = Copy(x);
  const Tensor result = Unwrap(BiasAdd(std::move(spare), bias, 1));
  EXPECT_EQ(result, Unwrap(BiasAdd(x, bias, 1)));
  EXPECT_TRUE(result.SharesBufferWith(spare));  // NOLINT: it keeps it
}

TEST(BinaryTest, Broadcasting) {
  CheckBroadcast({}, {}, {});
  CheckBroadcast({5}, {}, {5});
  CheckBroadcast({}, {2, 3}, {2, 3});
  CheckBroadcast({2, 3, 4}, {2, 3, 4}, {2, 3, 4});
  CheckBroadcast({2, 3, 4}, {4}, {2, 3, 4});
  CheckBroadcast({3, 1}, {2, 3, 4}, {2, 3, 4});
  CheckBroadcast({2, 1, 4}, {3, 1}, {2, 3, 4});
  CheckBroadcast({1, 3, 1, 5}, {2, 1, 4, 1}, {2, 3, 4, 5});
  CheckBroadcast({2, 3, 4, 5}, {3, 1, 1}, {2, 3, 4, 5});
  CheckBroadcast({1, 1}, {1}, {1, 1});
  CheckBroadcast({0, 3}, {1, 3}, {0, 3});
  CheckBroadcast({2, 1}, {0}, {2, 0});
}

// A tensor of numbers from 1 to 97.
Tensor Small(DType dtype, const TensorShape& shape, int64_t step) {
  MutableTensor x = *MutableTensor::Create(kInt32, shape);
  int32_t value = 0;
  for (int32_t& element : x.span<int32_t>()) {
    element = 1 + value % 97;
    value += static_cast<int32_t>(step);
  }
  return Unwrap(internal::Convert("test", std::move(x).Freeze(), dtype));
}

// Loops compute whole blocks: results must not depend on how long runs are, on
// how operands broadcast, nor on whether a run is computed in place.
TEST(BinaryTest, RunsOfAllLengths) {
  for (const int64_t n : {1, 3, 31, 32, 33, 63, 64, 65, 100, 1023, 1025}) {
    const TensorShape whole = {5, n};
    for (const TensorShape& shape :
         {whole, TensorShape{n}, TensorShape{5, 1}, TensorShape{}}) {
      for (const DType dtype : {DType::Int(8), DType::UInt(16), kInt32,
                                DType::UInt(64), kFloat32}) {
        const Tensor a = Small(dtype, whole, 7);
        const Tensor b = Small(dtype, shape, 5);
        const Tensor sum = Unwrap(Add(a, b));
        const Tensor less = Unwrap(Less(a, b));
        const Tensor more = Unwrap(Less(b, a));
        const Tensor quotient = Unwrap(FloorDivide(a, b));
        const Tensor remainder = Unwrap(Mod(a, b));
        Tensor spare = Copy(a);
        EXPECT_EQ(Unwrap(Add(std::move(spare), b)), sum);
        for (int64_t i = 0; i < a.num_elements(); ++i) {
          const int64_t j = shape.empty()       ? 0
                            : shape.size() == 1 ? i % n
                            : shape[1] == n     ? i
                                                : i / n;
          const int64_t x = a.AtAsInt64(i), y = b.AtAsInt64(j);
          const bool fits = dtype != DType::Int(8) || x + y < 128;
          ASSERT_TRUE(!fits || sum.AtAsInt64(i) == x + y) << n << " " << i;
          ASSERT_EQ(less.AtAsInt64(i), x < y ? 1 : 0) << n << " " << i;
          ASSERT_EQ(more.AtAsInt64(i), y < x ? 1 : 0) << n << " " << i;
          ASSERT_EQ(quotient.AtAsInt64(i), x / y) << n << " " << i;
          ASSERT_EQ(remainder.AtAsInt64(i), x % y) << n << " " << i;
        }
      }
    }
  }
}

TEST(BinaryTest, AColumnAsLongAsARowIsNoRow) {
  // More elements than are put together at a time.
  const Tensor a = Small(kFloat32, {40, 10, 10}, 7);
  const Tensor b = Small(kFloat32, {10, 1}, 5);
  const Tensor sum = Unwrap(Add(a, b));
  const Tensor product = Unwrap(Multiply(b, a));
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    const double x = a.AtAsDouble(i), y = b.AtAsDouble(i / 10 % 10);
    ASSERT_EQ(sum.AtAsDouble(i), x + y) << i;
    ASSERT_EQ(product.AtAsDouble(i), x * y) << i;
  }
}

TEST(BinaryTest, FloatArithmetic) {
  for (const DType dtype :
       {kFloat32, DType::Float(64), DType::Float(16), DType::BFloat(16)}) {
    const Tensor a = Make(dtype, {6}, {7, -7, 7, -7, 1, 0});
    const Tensor b = Make(dtype, {6}, {2, 2, -2, -2, 0, 0});
    EXPECT_TRUE(Matches(Add(a, b), dtype, {6}, {9, -5, 5, -9, 1, 0}));
    EXPECT_TRUE(Matches(Multiply(a, b), dtype, {6}, {14, -14, -14, 14, 0, 0}));
    EXPECT_TRUE(
        Matches(Divide(a, b), dtype, {6}, {3.5, -3.5, -3.5, 3.5, kInf, kNan}));
    EXPECT_TRUE(
        Matches(FloorDivide(a, b), dtype, {6}, {3, -4, -4, 3, kInf, kNan}));
    EXPECT_TRUE(Matches(Mod(a, b), dtype, {6}, {1, -1, 1, -1, kNan, kNan}));
    EXPECT_TRUE(
        Matches(FloorMod(a, b), dtype, {6}, {1, 1, -1, -1, kNan, kNan}));
    EXPECT_TRUE(Matches(Power(a, b), dtype, {6},
                        {49, 49, 1 / 49.0, 1 / 49.0, 1, 1}, 1e-2));
  }
  const Tensor a = MakeFloat({3}, {kNan, 1, 2});
  const Tensor b = MakeFloat({3}, {1, kNan, 3});
  EXPECT_TRUE(Matches(Maximum(a, b), kFloat32, {3}, {kNan, kNan, 3}));
  EXPECT_TRUE(Matches(Minimum(a, b), kFloat32, {3}, {kNan, kNan, 2}));
  EXPECT_TRUE(Matches(Equal(a, a), DType::Bool(), {3}, {0, 1, 1}));
  EXPECT_TRUE(Matches(NotEqual(a, a), DType::Bool(), {3}, {1, 0, 0}));
}

TEST(BinaryTest, SignedIntegerArithmetic) {
  for (const int bits : {8, 16, 32, 64}) {
    const DType dtype = DType::Int(bits);
    const double low = -std::ldexp(1.0, bits - 1);
    const Tensor a = Make(dtype, {6}, {7, -7, 7, -7, low, low});
    const Tensor b = Make(dtype, {6}, {2, 2, -2, -2, -1, 2});
    EXPECT_TRUE(
        Matches(Divide(a, b), dtype, {6}, {3, -3, -3, 3, low, low / 2}));
    EXPECT_TRUE(
        Matches(FloorDivide(a, b), dtype, {6}, {3, -4, -4, 3, low, low / 2}));
    EXPECT_TRUE(Matches(Mod(a, b), dtype, {6}, {1, -1, 1, -1, 0, 0}));
    EXPECT_TRUE(Matches(FloorMod(a, b), dtype, {6}, {1, 1, -1, -1, 0, 0}));
    EXPECT_TRUE(
        Matches(Multiply(a, b), dtype, {6}, {14, -14, -14, 14, low, 0}));
    EXPECT_TRUE(Matches(Add(Make(dtype, {}, {low}), Make(dtype, {}, {low})),
                        dtype, {}, {0}));
    EXPECT_TRUE(Matches(Power(Make(dtype, {4}, {2, -3, 0, 2}),
                              Make(dtype, {4}, {5, 3, 0, 100})),
                        dtype, {4}, {32, -27, 1, 0}));
    EXPECT_TRUE(
        Matches(RightShift(Make(dtype, {2}, {-8, 9}), Make(dtype, {}, {2})),
                dtype, {2}, {-2, 2}));
    EXPECT_TRUE(Matches(
        LeftShift(Make(dtype, {3}, {1, -1, low}), Make(dtype, {3}, {3, 4, 1})),
        dtype, {3}, {8, -16, 0}));
    const Tensor zero = Make(dtype, {2}, {1, 0});
    EXPECT_TRUE(Fails(Divide(zero, zero).status(), "divide", "by zero"));
    EXPECT_TRUE(
        Fails(FloorDivide(zero, zero).status(), "floor_divide", "by zero"));
    EXPECT_TRUE(Fails(Mod(zero, zero).status(), "mod", "by zero"));
    EXPECT_TRUE(Fails(FloorMod(zero, zero).status(), "floor_mod", "by zero"));
    EXPECT_TRUE(Fails(Power(zero, Make(dtype, {}, {-1})).status(), "power"));
    for (const double amount : {-1.0, static_cast<double>(bits)}) {
      EXPECT_TRUE(Fails(LeftShift(zero, Make(dtype, {}, {amount})).status(),
                        "left_shift"));
      EXPECT_TRUE(Fails(RightShift(zero, Make(dtype, {}, {amount})).status(),
                        "right_shift"));
    }
  }
  // Nothing is divided here.
  EXPECT_TRUE(Matches(Divide(Make(kInt32, {0}, {}), Make(kInt32, {1}, {0})),
                      kInt32, {0}, {}));
}

TEST(BinaryTest, UnsignedIntegerArithmetic) {
  for (const int bits : {8, 16, 32, 64}) {
    const DType dtype = DType::UInt(bits);
    const Tensor a = Make(dtype, {3}, {200, 7, 0});
    const Tensor b = Make(dtype, {3}, {3, 9, 4});
    EXPECT_TRUE(Matches(Divide(a, b), dtype, {3}, {66, 0, 0}));
    EXPECT_TRUE(Matches(FloorDivide(a, b), dtype, {3}, {66, 0, 0}));
    EXPECT_TRUE(Matches(FloorMod(a, b), dtype, {3}, {2, 7, 0}));
    EXPECT_TRUE(
        Matches(RightShift(a, Make(dtype, {}, {3})), dtype, {3}, {25, 0, 0}));
    EXPECT_TRUE(Matches(Greater(a, b), DType::Bool(), {3}, {1, 0, 0}));
    EXPECT_TRUE(Fails(Divide(a, Make(dtype, {}, {0})).status(), "divide"));
  }
  const DType u16 = DType::UInt(16);
  EXPECT_TRUE(Matches(Multiply(Make(u16, {}, {65535}), Make(u16, {}, {65535})),
                      u16, {}, {1}));
}

TEST(BinaryTest, Comparisons) {
  const DType b = DType::Bool();
  for (const DType dtype :
       {kFloat32, DType::Float(64), DType::Float(16), DType::BFloat(16),
        DType::Int(8), DType::UInt(8), kInt32, DType::Int(64)}) {
    const Tensor x = Make(dtype, {3}, {1, 2, 3});
    const Tensor y = Make(dtype, {}, {2});
    EXPECT_TRUE(Matches(Equal(x, y), b, {3}, {0, 1, 0}));
    EXPECT_TRUE(Matches(NotEqual(x, y), b, {3}, {1, 0, 1}));
    EXPECT_TRUE(Matches(Less(x, y), b, {3}, {1, 0, 0}));
    EXPECT_TRUE(Matches(LessEqual(x, y), b, {3}, {1, 1, 0}));
    EXPECT_TRUE(Matches(Greater(x, y), b, {3}, {0, 0, 1}));
    EXPECT_TRUE(Matches(GreaterEqual(x, y), b, {3}, {0, 1, 1}));
  }
}

TEST(BinaryTest, Bool) {
  const DType b = DType::Bool();
  const Tensor x = Make(b, {4}, {0, 0, 1, 1});
  const Tensor y = Make(b, {4}, {0, 1, 0, 1});
  for (const BinaryKernel& kernel :
       std::initializer_list<BinaryKernel>{LogicalAnd, BitwiseAnd, Minimum}) {
    EXPECT_TRUE(Matches(kernel(x, y), b, {4}, {0, 0, 0, 1}));
  }
  for (const BinaryKernel& kernel :
       std::initializer_list<BinaryKernel>{LogicalOr, BitwiseOr, Maximum}) {
    EXPECT_TRUE(Matches(kernel(x, y), b, {4}, {0, 1, 1, 1}));
  }
  for (const BinaryKernel& kernel :
       std::initializer_list<BinaryKernel>{LogicalXor, BitwiseXor, NotEqual}) {
    EXPECT_TRUE(Matches(kernel(x, y), b, {4}, {0, 1, 1, 0}));
  }
  EXPECT_TRUE(Matches(Equal(x, y), b, {4}, {1, 0, 0, 1}));
  for (const BinaryKernel& kernel : std::initializer_list<BinaryKernel>{
           Add, Subtract, Multiply, Divide, Power, LeftShift, RightShift}) {
    EXPECT_FALSE(kernel(x, y).ok());
  }
}

TEST(BinaryTest, Bits) {
  const Tensor x = Make(DType::Int(8), {2}, {12, -1});
  const Tensor y = Make(DType::Int(8), {2}, {10, 5});
  EXPECT_TRUE(Matches(BitwiseAnd(x, y), DType::Int(8), {2}, {8, 5}));
  EXPECT_TRUE(Matches(BitwiseOr(x, y), DType::Int(8), {2}, {14, -1}));
  EXPECT_TRUE(Matches(BitwiseXor(x, y), DType::Int(8), {2}, {6, -6}));
  const Tensor f = MakeFloat({1}, {1});
  for (const BinaryKernel& kernel :
       std::initializer_list<BinaryKernel>{BitwiseAnd, BitwiseOr, BitwiseXor,
                                           LogicalAnd, LeftShift, RightShift}) {
    EXPECT_FALSE(kernel(f, f).ok());
  }
  EXPECT_FALSE(LogicalAnd(x, y).ok());
}

TEST(BinaryTest, Errors) {
  const Tensor x = MakeFloat({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_TRUE(Fails(Add(x, MakeFloat({2}, {1, 2})).status(), "add",
                    "(2, 3) and (2) do not broadcast"));
  EXPECT_TRUE(
      Fails(Add(x, Make(kInt32, {}, {1})).status(), "add", "dtypes differ"));
  EXPECT_TRUE(Fails(Equal(x, Make(kInt32, {}, {1})).status(), "equal",
                    "dtypes differ"));
  EXPECT_TRUE(Fails(Divide(x, Make(kInt32, {}, {1})).status(), "divide",
                    "dtypes differ"));
}

TEST(BinaryTest, BiasAdd) {
  const Tensor x = MakeFloat({1, 2, 2}, {1, 2, 3, 4});
  const Tensor bias = MakeFloat({2}, {10, 20});
  EXPECT_TRUE(
      Matches(BiasAdd(x, bias, 1), kFloat32, {1, 2, 2}, {11, 12, 23, 24}));
  EXPECT_TRUE(
      Matches(BiasAdd(x, bias, -1), kFloat32, {1, 2, 2}, {11, 22, 13, 24}));
  EXPECT_TRUE(Fails(BiasAdd(x, bias, 0).status(), "bias_add", "axis 0"));
  EXPECT_TRUE(Fails(BiasAdd(x, bias, 3).status(), "bias_add", "axis 3"));
  EXPECT_TRUE(Fails(BiasAdd(x, x, 1).status(), "bias_add", "rank 1"));
}

// Arguments that the fast ways do not serve.
TEST(UnaryTest, AnglesFarFromZero) {
  std::vector<double> x = {0.5, 1e5, -1e6, 3e8, -1e20, 3e38};
  x.resize(2000, 1.25);
  std::vector<double> sin, cos, tan;
  for (const double v : x) {
    const double given = static_cast<double>(static_cast<float>(v));
    sin.push_back(std::sin(given));
    cos.push_back(std::cos(given));
    tan.push_back(std::tan(given));
  }
  const Tensor t = MakeFloat({2000}, x);
  EXPECT_TRUE(Matches(Sin(t), kFloat32, {2000}, sin, 3e-7));
  EXPECT_TRUE(Matches(Cos(t), kFloat32, {2000}, cos, 3e-7));
  EXPECT_TRUE(Matches(Tan(t), kFloat32, {2000}, tan, 3e-7));
  EXPECT_TRUE(
      Matches(Sin(MakeFloat({2}, {kInf, -kInf})), kFloat32, {2}, {kNan, kNan}));
}

template <typename T>
void CheckPowersOfIntegers(DType dtype) {
  // More than are computed at a time; small exponents first.
  const int64_t n = 2500;
  std::vector<T> x, y, expected;
  for (int64_t i = 0; i < n; ++i) {
    x.push_back(static_cast<T>(i * 7919 - 40000));
    y.push_back(static_cast<T>(i < 1100 ? i % 5 : i % 120));
    uint64_t power = 1;
    for (T k = 0; k < y.back(); ++k) power *= static_cast<uint64_t>(x.back());
    expected.push_back(static_cast<T>(power));
  }
  const Tensor left = Unwrap(Tensor::FromValues<T>({n}, x));
  const Tensor power =
      Unwrap(Power(left, Unwrap(Tensor::FromValues<T>({n}, y))));
  ASSERT_EQ(power.dtype(), dtype);
  EXPECT_TRUE(
      std::equal(expected.begin(), expected.end(), power.span<T>().begin()));
  const Tensor cube =
      Unwrap(Power(left, Unwrap(Tensor::FromValues<T>({1}, {T(3)}))));
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t base = static_cast<uint64_t>(x[static_cast<size_t>(i)]);
    EXPECT_EQ(cube.span<T>()[static_cast<size_t>(i)],
              static_cast<T>(base * base * base));
  }
}

TEST(PowerTest, Integers) {
  CheckPowersOfIntegers<int8_t>(DType::Int(8));
  CheckPowersOfIntegers<uint16_t>(DType::UInt(16));
  CheckPowersOfIntegers<int32_t>(kInt32);
  CheckPowersOfIntegers<int64_t>(DType::Int(64));
}

template <typename T>
void CheckPowersOfSpecialCases(DType dtype) {
  const std::vector<double> values = {0,    -0.0, 1,     -1,    2,     -2,
                                      0.5,  -0.5, kInf,  -kInf, 3,     -3,
                                      kNan, 1e30, -1e30, 1e-40, 1e-310};
  std::vector<double> x, y, expected;
  for (const double a : values) {
    for (const double b : values) {
      x.push_back(static_cast<double>(static_cast<T>(a)));
      y.push_back(static_cast<double>(static_cast<T>(b)));
      expected.push_back(
          static_cast<double>(std::pow(static_cast<T>(a), static_cast<T>(b))));
    }
  }
  const int64_t n = static_cast<int64_t>(x.size());
  const absl::StatusOr<Tensor> power =
      Power(Make(dtype, {n}, x), Make(dtype, {n}, y));
  EXPECT_TRUE(Matches(power, dtype, {n}, expected, 1e-7, 0));
  const absl::Span<const T> actual = power->span<T>();
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(std::isnan(expected[i]) ||
                std::signbit(expected[i]) == std::signbit(actual[i]))
        << x[i] << " " << y[i];
  }
}

TEST(PowerTest, SpecialCases) {
  CheckPowersOfSpecialCases<float>(kFloat32);
  CheckPowersOfSpecialCases<double>(DType::Float(64));
}

TEST(UnaryTest, AnglesOfAllSizes) {
  std::vector<double> points = {0, -0.0, kInf, kNan};
  for (const double x : {1e-300, 0.5, 1e4, 98303.9, 98304.1, 1e6, 0x1.fp29,
                         0x1p30, 0x1.1p30, 1e12, 1e17, 1e300}) {
    points.push_back(x);
    points.push_back(-x);
  }
  const int64_t n = static_cast<int64_t>(points.size());
  for (const DType dtype : {kFloat32, DType::Float(64)}) {
    const Tensor x = Make(dtype, {n}, points);
    std::vector<double> sin, cos, tan;
    for (const double v : Values(x)) {
      sin.push_back(std::sin(v));
      cos.push_back(std::cos(v));
      tan.push_back(std::tan(v));
    }
    const double relative = dtype == kFloat32 ? 3e-7 : 6e-16;
    EXPECT_TRUE(Matches(Sin(x), dtype, {n}, sin, relative, 0));
    EXPECT_TRUE(Matches(Cos(x), dtype, {n}, cos, relative, 0));
    EXPECT_TRUE(Matches(Tan(x), dtype, {n}, tan, relative, 0));
  }
}

// All pairs of bytes, and pairs of the other integers at the ends of the range.
// Numbers of 64 bits around those that fit into a double, in tensors that hold
// only such numbers and in others.
template <typename T>
void CheckDivisionOfWideIntegers() {
  for (const int most_bits : {50, 51, 52, 53, 64}) {
    std::vector<T> numbers;
    for (int bit = 0; bit < most_bits; ++bit) {
      for (const uint64_t near :
           {~uint64_t{1}, ~uint64_t{0}, uint64_t{0}, uint64_t{1}}) {
        const uint64_t v = (uint64_t{1} << bit) + near;
        numbers.push_back(static_cast<T>(v));
        if (std::is_signed_v<T>) numbers.push_back(static_cast<T>(0 - v));
      }
    }
    std::vector<T> a, b, quotients, floors, remainders, moduli;
    for (const T x : numbers) {
      for (const T y : numbers) {
        if (y == 0) continue;
        a.push_back(x);
        b.push_back(y);
        const bool wraps = std::is_signed_v<T> && y == static_cast<T>(-1);
        const T quotient = wraps ? static_cast<T>(0 - static_cast<uint64_t>(x))
                                 : static_cast<T>(x / y);
        const T remainder = wraps ? T(0) : static_cast<T>(x % y);
        const bool lower = remainder != 0 && (remainder < 0) != (y < 0);
        quotients.push_back(quotient);
        floors.push_back(static_cast<T>(quotient - (lower ? 1 : 0)));
        remainders.push_back(remainder);
        moduli.push_back(static_cast<T>(remainder + (lower ? y : T(0))));
      }
    }
    const int64_t n = static_cast<int64_t>(a.size());
    const Tensor x = Unwrap(Tensor::FromValues<T>({n}, a));
    const Tensor y = Unwrap(Tensor::FromValues<T>({n}, b));
    const auto is = [](const absl::StatusOr<Tensor>& result,
                       const std::vector<T>& expected) {
      return result.ok() && std::equal(expected.begin(), expected.end(),
                                       result->span<T>().begin());
    };
    EXPECT_TRUE(is(Divide(x, y), quotients)) << most_bits;
    EXPECT_TRUE(is(FloorDivide(x, y), floors)) << most_bits;
    EXPECT_TRUE(is(Mod(x, y), remainders)) << most_bits;
    EXPECT_TRUE(is(FloorMod(x, y), moduli)) << most_bits;
  }
}

TEST(BinaryTest, DivisionOfWideIntegers) {
  CheckDivisionOfWideIntegers<int64_t>();
  CheckDivisionOfWideIntegers<uint64_t>();
}

TEST(BinaryTest, DivisionOfAllBits) {
  const int32_t low = std::numeric_limits<int32_t>::min();
  const Tensor x = Unwrap(Tensor::FromValues<int32_t>(
      {4}, {low, low, low + 1, std::numeric_limits<int32_t>::max()}));
  const Tensor y = Unwrap(Tensor::FromValues<int32_t>({4}, {-1, 1, -1, low}));
  EXPECT_TRUE(Matches(Divide(x, y), kInt32, {4},
                      {-0x1p31, -0x1p31, 0x1p31 - 1, 0}, 0, 0));
  EXPECT_TRUE(Matches(FloorMod(x, y), kInt32, {4}, {0, 0, 0, -1}, 0, 0));
  const uint32_t high = std::numeric_limits<uint32_t>::max();
  const Tensor u = Unwrap(Tensor::FromValues<uint32_t>({3}, {high, high, 7}));
  const Tensor v =
      Unwrap(Tensor::FromValues<uint32_t>({3}, {1, high - 1, high}));
  EXPECT_TRUE(
      Matches(Divide(u, v), DType::UInt(32), {3}, {0x1p32 - 1, 1, 0}, 0, 0));
  EXPECT_TRUE(Matches(Mod(u, v), DType::UInt(32), {3}, {0, 1, 7}, 0, 0));
}

TEST(BinaryTest, QuotientsAndRemainders) {
  for (const DType dtype : {DType::Int(8), DType::UInt(8), DType::Int(16),
                            DType::UInt(16), DType::Int(32), DType::Int(64)}) {
    const bool is_signed = dtype.is_int();
    std::vector<int64_t> numbers;
    for (int64_t i = is_signed ? -128 : 0; i < (is_signed ? 128 : 256); ++i) {
      numbers.push_back(i);
    }
    if (dtype.bits() > 8) {
      const int64_t one = 1;
      const int bits = std::min(dtype.bits(), 52) - (is_signed ? 1 : 0);
      const int64_t most = (one << bits) - 1;
      for (int64_t i = 0; i < 100; ++i) {
        numbers.push_back(most - i * 3);
        numbers.push_back(is_signed ? i * 3 - most : most / 2 + i);
      }
    }
    std::vector<double> a, b, quotients, floors, remainders, moduli;
    for (const int64_t x : numbers) {
      for (const int64_t y : numbers) {
        if (y == 0 || (x == -128 && y == -1 && dtype.bits() == 8)) continue;
        a.push_back(static_cast<double>(x));
        b.push_back(static_cast<double>(y));
        const int64_t lower = x % y != 0 && (x < 0) != (y < 0) ? 1 : 0;
        quotients.push_back(static_cast<double>(x / y));
        floors.push_back(static_cast<double>(x / y - lower));
        remainders.push_back(static_cast<double>(x % y));
        moduli.push_back(static_cast<double>(x % y + lower * y));
      }
    }
    const std::vector<int64_t> shape = {static_cast<int64_t>(a.size())};
    const Tensor x = Make(dtype, shape, a);
    const Tensor y = Make(dtype, shape, b);
    EXPECT_TRUE(Matches(Divide(x, y), dtype, shape, quotients, 0, 0));
    EXPECT_TRUE(Matches(FloorDivide(x, y), dtype, shape, floors, 0, 0));
    EXPECT_TRUE(Matches(Mod(x, y), dtype, shape, remainders, 0, 0));
    EXPECT_TRUE(Matches(FloorMod(x, y), dtype, shape, moduli, 0, 0));
  }
}

}  // namespace
}  // namespace baton::kernels
