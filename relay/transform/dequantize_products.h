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
// So are maximum pools and reshapes of what is dequantized with one scale, bit
// for bit, and a qnn.quantize undoes a qnn.dequantize with its own scale and
// zero point.

#ifndef BATON_RELAY_TRANSFORM_DEQUANTIZE_PRODUCTS_H_
#define BATON_RELAY_TRANSFORM_DEQUANTIZE_PRODUCTS_H_

#include "baton/transform/pass.h"

namespace baton::relay {

// A function pass of level 0, which requires InferType.
Pass DequantizeProducts();

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_DEQUANTIZE_PRODUCTS_H_
