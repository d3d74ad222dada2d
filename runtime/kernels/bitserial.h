// Products of integers of few bits, computed on words of packed bits.
//
// A word packs one bit of each of several elements; the first element is in the
// highest bit.

#ifndef BATON_RUNTIME_KERNELS_BITSERIAL_H_
#define BATON_RUNTIME_KERNELS_BITSERIAL_H_

#include <array>
#include <cstdint>

#include "absl/status/statusor.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"

namespace baton::kernels {

struct BitPackParams {
  int64_t bits = 1;       // low bits of each element, at most 8
  int64_t pack_axis = 1;  // its extent is a multiple of the bits of a word
  int64_t bit_axis = 1;   // the axis of the result for the bits of an element
  DType dtype;            // of a word: uint8, uint16, uint32 or uint64
};
// Packs the low bits of integers into words: `pack_axis` shrinks by the bits of
// a word, and an axis of extent `bits` is inserted at `bit_axis`.
absl::StatusOr<Tensor> BitPack(const Tensor& x, const BitPackParams& params);

struct BitserialParams {
  int64_t data_bits = 1;
  int64_t weight_bits = 1;
  DType pack_dtype;  // of a word
  DType out_dtype;   // an integer type; sums wrap
  // True: the value of a weight is the sum of +2^b or -2^b over its bits.
  // False: of 2^b or 0.
  bool signed_weights = true;
};

// data * weight^T for data (rows, in) and weight (units, in), using only the
// low bits. A weight of rank 3 is already packed: (units, bits, words).
absl::StatusOr<Tensor> BitserialDense(const Tensor& data, const Tensor& weight,
                                      const BitserialParams& params);

struct BitserialConvParams : BitserialParams {
  std::array<int64_t, 2> strides = {1, 1};
  std::array<int64_t, 4> padding = {};  // top, left, bottom, right
};
// A convolution of `data` (NCHW) with `weight` (OIHW), or (O, words, H, W,
// bits) if it is already packed.
absl::StatusOr<Tensor> BitserialConv2d(const Tensor& data, const Tensor& weight,
                                       const BitserialConvParams& params);

}  // namespace baton::kernels

#endif  // BATON_RUNTIME_KERNELS_BITSERIAL_H_
