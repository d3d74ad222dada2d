// Describes floats of 4 and 8 bits, whose tensors are stored as float32.
//
//   const NarrowFloat* format =
//       NarrowFloatOf(static_cast<int64_t>(ElementType::kFloat8E4M3Fn));
//   format->ValueOf(0x38);  // 1.0f

#ifndef BATON_ONNX_NARROW_FLOAT_H_
#define BATON_ONNX_NARROW_FLOAT_H_

#include <cstdint>

namespace baton::onnx {

struct NarrowFloat {
  int bits;           // of an element: 4 or 8
  int mantissa_bits;  // without the leading one
  int bias;           // of the exponent
  double max;         // the largest finite value
  bool is_signed = true;
  bool has_infinity = false;
  // True if the pattern of minus zero is the only NaN.
  bool is_nan_minus_zero = false;
  // True if the largest pattern of each sign is a NaN.
  bool is_nan_last = false;

  // The exponent of the smallest normal value.
  int min_exponent() const { return is_signed ? 1 - bias : -bias; }
  // The value of the element with these bits.
  float ValueOf(int bits) const;
};

// The format of the element type with that number; null if it is not a float of
// 4 or 8 bits.
const NarrowFloat* NarrowFloatOf(int64_t element_type);

}  // namespace baton::onnx

#endif  // BATON_ONNX_NARROW_FLOAT_H_
