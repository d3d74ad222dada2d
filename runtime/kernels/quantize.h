// Quantized tensors: integers q that stand for (q - zero_point) * scale.
//
// Scales (float32) and zero points (int32) have one element, or one for each
// index along `axis`.

#ifndef BATON_RUNTIME_KERNELS_QUANTIZE_H_
#define BATON_RUNTIME_KERNELS_QUANTIZE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"

namespace baton::kernels {

struct Quantization {
  Tensor scale;
  Tensor zero_point;
  int64_t axis = -1;
};

// round(x / scale) + zero_point, ties to even, limited to the range of `dtype`
// (integers of 8 to 32 bits). `x` is float32.
absl::StatusOr<Tensor> Quantize(const Tensor& x, const Quantization& q,
                                DType dtype);

// The numbers that the integers stand for, as float16 or float32.
absl::StatusOr<Tensor> Dequantize(const Tensor& x, const Quantization& q,
                                  DType dtype);

struct RequantizeParams {
  // How ties are rounded: up, or away from zero.
  enum class Rounding { kUpward, kToNearest };
  Rounding rounding = Rounding::kUpward;
  // 32 or 64: computes the ratio of the scales as a float of that width. 0: as
  // a fixed-point number of 31 bits.
  int float_bits = 0;
  DType dtype = DType::Int(8);
};
// From one quantization to another, which has one scale; limited to the range
// of the new dtype.
absl::StatusOr<Tensor> Requantize(const Tensor& x, const Quantization& from,
                                  const Quantization& to,
                                  const RequantizeParams& params);

}  // namespace baton::kernels

#endif  // BATON_RUNTIME_KERNELS_QUANTIZE_H_
