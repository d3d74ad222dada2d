// Arithmetic on dimensions. Numbers give numbers, an unknown operand gives an
// unknown result, and symbolic operands give symbolic expressions.

#ifndef BATON_RELAY_OP_DIM_MATH_H_
#define BATON_RELAY_OP_DIM_MATH_H_

#include <string>

#include "absl/types/span.h"
#include "baton/ir/type.h"

namespace baton::relay {

namespace dim_internal {
Dim AddSlow(const Dim& a, const Dim& b);
Dim SubtractSlow(const Dim& a, const Dim& b);
Dim MultiplySlow(const Dim& a, const Dim& b);

// True if both numbers can be added and multiplied without overflow.
inline bool BothSmall(const Dim& a, const Dim& b) {
  const auto small = [](const Dim& dim) {
    return dim.is_const() && dim.value() >= -0x40000000 &&
           dim.value() <= 0x40000000;
  };
  return small(a) && small(b);
}
}  // namespace dim_internal

// An overflow gives an unknown dimension.
inline Dim operator+(const Dim& a, const Dim& b) {
  return dim_internal::BothSmall(a, b) ? Dim(a.value() + b.value())
                                       : dim_internal::AddSlow(a, b);
}
inline Dim operator-(const Dim& a, const Dim& b) {
  return dim_internal::BothSmall(a, b) ? Dim(a.value() - b.value())
                                       : dim_internal::SubtractSlow(a, b);
}
inline Dim operator*(const Dim& a, const Dim& b) {
  return dim_internal::BothSmall(a, b) ? Dim(a.value() * b.value())
                                       : dim_internal::MultiplySlow(a, b);
}
// Rounded down; unknown if `b` is 0.
Dim FloorDiv(const Dim& a, const Dim& b);
// Rounded up; unknown if `b` is 0.
Dim CeilDiv(const Dim& a, const Dim& b);
Dim Product(absl::Span<const Dim> dims);
// The product of `numerator` divided by the product of `denominator`, rounded
// down. Common factors, including symbolic ones, are cancelled.
Dim Quotient(absl::Span<const Dim> numerator,
             absl::Span<const Dim> denominator);

// True if both are the same number, or if their difference simplifies to 0. An
// unknown dimension equals no other.
bool ProvablyEqual(const Dim& a, const Dim& b);
// True if both are numbers and differ.
inline bool ProvablyDiffer(const Dim& a, const Dim& b) {
  return a.is_const() && b.is_const() && a != b;
}

// `(1, ?, 224)`, for messages.
std::string ShapeToString(absl::Span<const Dim> shape);

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_DIM_MATH_H_
