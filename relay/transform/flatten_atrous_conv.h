// FlattenAtrousConv: replaces a convolution of every n-th element, written as a
// convolution of blocks, by a dilated convolution.
//
//   nn.batch_to_space_nd(nn.conv2d(nn.space_to_batch_nd(x), w))
//       =>  nn.conv2d(x, w, dilation=block_shape)
//
// Also for qnn.conv2d. The data is in NHWC, both block shapes are equal, and
// the convolution has strides and dilations of 1. The padding of the result is
// the padding of the blocks less the crops. The three calls stay unchanged if
// they crop more than they pad, if they pad with a value that the convolution
// does not pad with, or if another operator is between them.
//
// TVM takes the padding under which the result has the extent of the data,
// whatever the padding and the crops; if the program has that padding, both
// give the same result.

#ifndef BATON_RELAY_TRANSFORM_FLATTEN_ATROUS_CONV_H_
#define BATON_RELAY_TRANSFORM_FLATTEN_ATROUS_CONV_H_

#include "baton/transform/pass.h"

namespace baton::relay {

// A function pass of level 0, which requires InferType.
Pass FlattenAtrousConv();

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_FLATTEN_ATROUS_CONV_H_
