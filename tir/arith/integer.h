// Arithmetic on integers as functions of loops define it.

#ifndef BATON_TIR_ARITH_INTEGER_H_
#define BATON_TIR_ARITH_INTEGER_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>

#include "baton/base/dtype.h"
#include "baton/tir/ir/expr.h"

namespace baton::tir {

// True if sums and products of `dtype` wrap around: integers other than those
// of loops and indices, whose sums are assumed to be in range.
constexpr bool IsModular(DType dtype) {
  return dtype.is_integral() && (dtype.is_uint() || dtype.bits() < 32);
}

// Arithmetic modulo 2^64.
constexpr int64_t WrappedAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) +
                              static_cast<uint64_t>(b));
}
constexpr int64_t WrappedSub(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) -
                              static_cast<uint64_t>(b));
}
constexpr int64_t WrappedMul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) *
                              static_cast<uint64_t>(b));
}

// Quotients and remainders; `b` must not be 0.
constexpr int64_t TruncDiv(int64_t a, int64_t b) {
  return b == -1 ? WrappedSub(0, a) : a / b;
}
constexpr int64_t TruncMod(int64_t a, int64_t b) { return b == -1 ? 0 : a % b; }
constexpr int64_t FloorDiv(int64_t a, int64_t b) {
  const int64_t quotient = TruncDiv(a, b);
  return TruncMod(a, b) != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}
constexpr int64_t FloorMod(int64_t a, int64_t b) {
  const int64_t rest = TruncMod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

// The greatest common divisor; that of 0 and b is b. Not negative.
constexpr int64_t Gcd(int64_t a, int64_t b) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  if (a == kLeast || b == kLeast) return 1;
  return std::gcd(a, b);
}

// The greatest common divisor of two numbers that are not negative, and
// factors x and y with a * x + b * y equal to it.
constexpr int64_t ExtendedGcd(int64_t a, int64_t b, int64_t& x, int64_t& y) {
  int64_t s = 0;
  int64_t old_s = 1;
  int64_t r = b;
  int64_t old_r = a >= 0 ? a : -a;
  while (r != 0) {
    const int64_t q = old_r / r;
    const int64_t next_r = old_r - q * r;
    old_r = r;
    r = next_r;
    const int64_t next_s = old_s - q * s;
    old_s = s;
    s = next_s;
  }
  x = a >= 0 ? old_s : -old_s;
  y = b != 0 ? static_cast<int64_t>((old_r - static_cast<__int128>(x) * a) / b)
             : 1;
  return old_r;
}

// Computes `op` modulo 2^64; false for a division by zero.
constexpr bool EvaluateBinary(BinaryOp op, int64_t a, int64_t b,
                              int64_t& value) {
  switch (op) {
    case BinaryOp::kAdd:
      value = WrappedAdd(a, b);
      return true;
    case BinaryOp::kSub:
      value = WrappedSub(a, b);
      return true;
    case BinaryOp::kMul:
      value = WrappedMul(a, b);
      return true;
    case BinaryOp::kDiv:
      if (b == 0) return false;
      value = TruncDiv(a, b);
      return true;
    case BinaryOp::kMod:
      if (b == 0) return false;
      value = TruncMod(a, b);
      return true;
    case BinaryOp::kFloorDiv:
      if (b == 0) return false;
      value = FloorDiv(a, b);
      return true;
    case BinaryOp::kFloorMod:
      if (b == 0) return false;
      value = FloorMod(a, b);
      return true;
    case BinaryOp::kMin:
      value = std::min(a, b);
      return true;
    case BinaryOp::kMax:
      value = std::max(a, b);
      return true;
    case BinaryOp::kEQ:
      value = a == b ? 1 : 0;
      return true;
    case BinaryOp::kNE:
      value = a != b ? 1 : 0;
      return true;
    case BinaryOp::kLT:
      value = a < b ? 1 : 0;
      return true;
    case BinaryOp::kLE:
      value = a <= b ? 1 : 0;
      return true;
    case BinaryOp::kGT:
      value = a > b ? 1 : 0;
      return true;
    case BinaryOp::kGE:
      value = a >= b ? 1 : 0;
      return true;
    case BinaryOp::kAnd:
      value = a != 0 && b != 0 ? 1 : 0;
      return true;
    case BinaryOp::kOr:
      value = a != 0 || b != 0 ? 1 : 0;
      return true;
  }
  return false;
}

}  // namespace baton::tir

#endif  // BATON_TIR_ARITH_INTEGER_H_
