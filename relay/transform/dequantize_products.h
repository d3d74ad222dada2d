// DequantizeProducts: dequantizes the results of convolutions and products
// rather than their operands.
//
//   nn.conv2d(dequantize(x), dequantize(w)) -> dequantize(qnn.conv2d(x, w))
//
// Sums are of integers, hence exact; the result is scaled once, as that of
// ONNX's QLinearConv. Operands are bytes with scales that are constants, and
// weights are constants: with an element for each channel of the result, or
// one. Weights become int8 with zero points of 0, where they fit.
//
// Maximum pools and reshapes of values that are dequantized with one scale are
// also computed before the dequantization, bit for bit. A qnn.quantize of a
// qnn.dequantize with equal scale and zero point becomes the quantized value.
// Operands of a concatenation are quantized instead of its result.

#ifndef BATON_RELAY_TRANSFORM_DEQUANTIZE_PRODUCTS_H_
#define BATON_RELAY_TRANSFORM_DEQUANTIZE_PRODUCTS_H_

#include "baton/transform/pass.h"

namespace baton::relay {

// A function pass of level 0, which requires InferType.
Pass DequantizeProducts();

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_DEQUANTIZE_PRODUCTS_H_
