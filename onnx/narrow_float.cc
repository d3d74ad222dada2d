#include "baton/onnx/narrow_float.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include "baton/onnx/model.h"

namespace baton::onnx {

float NarrowFloat::ValueOf(int code) const {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const int sign = is_signed ? code >> (bits - 1) & 1 : 0;
  const int magnitude = code & ((1 << (is_signed ? bits - 1 : bits)) - 1);
  const int last = (1 << (is_signed ? bits - 1 : bits)) - 1;
  if (is_nan_minus_zero && sign == 1 && magnitude == 0) return kNan;
  if (is_nan_last && magnitude == last) return kNan;
  const int exponent = magnitude >> mantissa_bits;
  const int mantissa = magnitude & ((1 << mantissa_bits) - 1);
  double value = 0;
  if (has_infinity && exponent == last >> mantissa_bits) {
    if (mantissa != 0) return kNan;
    value = std::numeric_limits<double>::infinity();
  } else if (exponent == 0 && is_signed) {
    value = std::ldexp(mantissa, min_exponent() - mantissa_bits);
  } else {
    value = std::ldexp((1 << mantissa_bits) + mantissa,
                       exponent - bias - mantissa_bits);
  }
  return static_cast<float>(sign == 1 ? -value : value);
}

const NarrowFloat* NarrowFloatOf(int64_t element_type) {
  static constexpr NarrowFloat kE4M3Fn = {.bits = 8,
                                          .mantissa_bits = 3,
                                          .bias = 7,
                                          .max = 448,
                                          .is_nan_last = true};
  static constexpr NarrowFloat kE4M3Fnuz = {.bits = 8,
                                            .mantissa_bits = 3,
                                            .bias = 8,
                                            .max = 240,
                                            .is_nan_minus_zero = true};
  static constexpr NarrowFloat kE5M2 = {.bits = 8,
                                        .mantissa_bits = 2,
                                        .bias = 15,
                                        .max = 57344,
                                        .has_infinity = true};
  static constexpr NarrowFloat kE5M2Fnuz = {.bits = 8,
                                            .mantissa_bits = 2,
                                            .bias = 16,
                                            .max = 57344,
                                            .is_nan_minus_zero = true};
  static constexpr NarrowFloat kE2M1 = {
      .bits = 4, .mantissa_bits = 1, .bias = 1, .max = 6};
  static constexpr NarrowFloat kE8M0 = {.bits = 8,
                                        .mantissa_bits = 0,
                                        .bias = 127,
                                        .max = 0x1p127,
                                        .is_signed = false,
                                        .is_nan_last = true};
  switch (static_cast<ElementType>(element_type)) {
    case ElementType::kFloat8E4M3Fn:
      return &kE4M3Fn;
    case ElementType::kFloat8E4M3Fnuz:
      return &kE4M3Fnuz;
    case ElementType::kFloat8E5M2:
      return &kE5M2;
    case ElementType::kFloat8E5M2Fnuz:
      return &kE5M2Fnuz;
    case ElementType::kFloat4E2M1:
      return &kE2M1;
    case ElementType::kFloat8E8M0:
      return &kE8M0;
    default:
      return nullptr;
  }
}

}  // namespace baton::onnx
