// Constants fold to what the interpreter computes.

#include "baton/tir/ir/fold.h"

#include <cstdint>
#include <limits>
#include <vector>

#include "baton/base/dtype.h"
#include "baton/tir/interpreter/scalar.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/script_printer.h"
#include "gtest/gtest.h"

namespace baton::tir {
namespace {

constexpr DType kIntegers[] = {
    DType::Bool(),   DType::Int(8),   DType::UInt(8),
    DType::Int(16),  DType::UInt(16), DType::Int(32),
    DType::UInt(32), DType::Int(64),  DType::UInt(64)};

// Small numbers, and those near the ends of the type and their halves.
std::vector<int64_t> NumbersOf(DType dtype) {
  if (dtype.is_bool()) return {0, 1};
  std::vector<int64_t> numbers;
  for (const int64_t n : {-5, -2, -1, 0, 1, 2, 3, 7}) numbers.push_back(n);
  const int64_t least = std::numeric_limits<int64_t>::min();
  for (const int shift : {0, 1}) {
    const int bits = 64 - dtype.bits() + shift;
    const auto low = static_cast<uint64_t>(least >> bits);
    const uint64_t high = ~uint64_t{0} >> bits;
    // Sums wrap around; the last number is -1.
    for (const uint64_t n : {uint64_t{0}, uint64_t{1}, ~uint64_t{0}}) {
      numbers.push_back(static_cast<int64_t>(low + n));
      numbers.push_back(static_cast<int64_t>(high + n));
    }
  }
  for (int64_t& n : numbers) n = WrapToDType(n, dtype);
  return numbers;
}

TEST(Fold, OperationsOnIntegersAreThoseOfTheInterpreter) {
  for (const DType dtype : kIntegers) {
    for (const int64_t a : NumbersOf(dtype)) {
      for (const int64_t b : NumbersOf(dtype)) {
        for (int op = 0; op <= static_cast<int>(BinaryOp::kOr); ++op) {
          const auto binary = static_cast<BinaryOp>(op);
          // Operands of these have truth values.
          if (binary >= BinaryOp::kAnd && !dtype.is_bool()) continue;
          const PrimExpr folded =
              TryFold(binary, IntImm(dtype, a), IntImm(dtype, b));
          const auto* imm =
              folded.defined() ? folded.As<IntImmNode>() : nullptr;
          if (imm == nullptr) continue;
          Scalar result;
          ASSERT_TRUE(ComputeBinary(binary, dtype, {.i = a}, {.i = b}, result));
          EXPECT_EQ(imm->value(), result.i)
              << AsScript(Binary(binary, IntImm(dtype, a), IntImm(dtype, b)));
        }
      }
    }
  }
}

TEST(Fold, ConversionsOfConstantsAreThoseOfTheInterpreter) {
  for (const DType from : kIntegers) {
    for (const int64_t a : NumbersOf(from)) {
      for (const DType to : kIntegers) {
        const PrimExpr folded = CastTo(to, IntImm(from, a));
        const auto* imm = folded.As<IntImmNode>();
        if (imm == nullptr) continue;
        EXPECT_EQ(imm->value(), ConvertScalar({.i = a}, from, to).i)
            << AsScript(Cast(to, IntImm(from, a)));
      }
      const PrimExpr folded = CastTo(DType::Float(64), IntImm(from, a));
      const auto* imm = folded.As<FloatImmNode>();
      ASSERT_NE(imm, nullptr);
      EXPECT_EQ(imm->value(), ConvertScalar({.i = a}, from, DType::Float(64)).f)
          << AsScript(Cast(DType::Float(64), IntImm(from, a)));
    }
  }
  constexpr double kFloats[] = {0,    0.5,  -0.5,  1,    -1,   3.7,   -3.7,
                                127,  128,  255,   256,  -129, 65536, 3e9,
                                -3e9, 5e18, -5e18, 1e19, 1e30, -1e30};
  for (const double a : kFloats) {
    for (const DType to : kIntegers) {
      const PrimExpr folded = CastTo(to, FloatImm(DType::Float(64), a));
      const auto* imm = folded.As<IntImmNode>();
      if (imm == nullptr) continue;
      EXPECT_EQ(imm->value(), ConvertScalar({.f = a}, DType::Float(64), to).i)
          << a << " as " << to.ToString();
    }
  }
}

}  // namespace
}  // namespace baton::tir
