// Quantized tensors: integers q that represent (q - zero_point) * scale.
//
// Scales (float32) and zero points (int32) have one element, or one for each
// index along `axis`.

#ifndef BATON_RUNTIME_KERNELS_QUANTIZE_KERNELS_H_
#define BATON_RUNTIME_KERNELS_QUANTIZE_KERNELS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"

namespace baton::kernels {

struct Quantization {
  Tensor scale;
  Tensor zero_point;
  int64_t axis = -1;
};

// round(x / scale) + zero_point, ties to even, clamped to the range of `dtype`
// (integers of 8 to 32 bits). `x` is float32.
absl::StatusOr<Tensor> Quantize(const Tensor& x, const Quantization& q,
                                DType dtype);

// The numbers that the integers represent, as float16 or float32.
absl::StatusOr<Tensor> Dequantize(const Tensor& x, const Quantization& q,
                                  DType dtype);

struct RequantizeParams {
  // The rounding of ties: up, or away from zero.
  enum class Rounding { kUpward, kToNearest };
  Rounding rounding = Rounding::kUpward;
  // 32 or 64: computes the ratio of the scales as a float of that width. 0: as
  // a fixed-point number of 31 bits.
  int float_bits = 0;
  DType dtype = DType::Int(8);
};
// Converts from one quantization to another, which has one scale; clamps to the
// range of the new dtype.
absl::StatusOr<Tensor> Requantize(const Tensor& x, const Quantization& from,
                                  const Quantization& to,
                                  const RequantizeParams& params);

// round(x / scale) + zero_point clamped to the range of `dtype`, as numbers of
// the floating-point type of `x`. Scales and zero points repeat along the axis.
// A scale of 0 and NaN give the limits as in IEEE arithmetic.
absl::StatusOr<Tensor> SimulatedQuantize(const Tensor& x, const Quantization& q,
                                         DType dtype);
// (x - zero_point) * scale, with the same conventions.
absl::StatusOr<Tensor> SimulatedDequantize(const Tensor& x,
                                           const Quantization& q);

// The softmax along `axis` of integers in steps of `scale`, in (0, 1]. The
// result is int32 in steps of 1 / 128. Integer arithmetic in 32 bits, which
// wraps: I-BERT's algorithm with shifts for exponentials (algorithm 1 of
// arXiv:2207.01405).
absl::StatusOr<Tensor> ShiftSoftmax(const Tensor& x, double scale,
                                    int64_t axis);

}  // namespace baton::kernels

#endif  // BATON_RUNTIME_KERNELS_QUANTIZE_KERNELS_H_
