// Products of integers of few bits, computed with words of single bits.
//
// A word packs one bit of as many elements as it has bits, the first element in
// the highest bit.

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
  int64_t pack_axis = 1;  // whose extent is a multiple of the bits of a word
  int64_t bit_axis = 1;   // of the result, where the bits of an element are
  DType dtype;            // of a word: uint8, uint16, uint32 or uint64
};
// The low bits of integers as words: `pack_axis` shrinks by the bits of a word,
// and an axis of `bits` is inserted at `bit_axis`.
absl::StatusOr<Tensor> BitPack(const Tensor& x, const BitPackParams& params);

struct BitserialParams {
  int64_t data_bits = 1;
  int64_t weight_bits = 1;
  DType pack_dtype;  // of a word
  DType out_dtype;   // an integer type; sums wrap
  // True: a weight is the sum of +2^b or -2^b for its bits. False: of 2^b or 0.
  bool signed_weights = true;
};

// data * weight^T for data (rows, in) and weight (units, in), of which the low
// bits count. A weight of rank 3 is packed already: (units, bits, words).
absl::StatusOr<Tensor> BitserialDense(const Tensor& data, const Tensor& weight,
                                      const BitserialParams& params);

struct BitserialConvParams : BitserialParams {
  std::array<int64_t, 2> strides = {1, 1};
  std::array<int64_t, 4> padding = {};  // top, left, bottom, right
};
// A convolution of `data` (NCHW) with `weight` (OIHW), or if it is packed
// already (O, words, H, W, bits).
absl::StatusOr<Tensor> BitserialConv2d(const Tensor& data, const Tensor& weight,
                                       const BitserialConvParams& params);

}  // namespace baton::kernels

#endif  // BATON_RUNTIME_KERNELS_BITSERIAL_H_
