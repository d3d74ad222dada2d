// FlattenAtrousConv: a convolution of every n-th element, written as a
// convolution of blocks, becomes a dilated convolution.
//
//   nn.batch_to_space_nd(nn.conv2d(nn.space_to_batch_nd(x), w))
//       nn.conv2d(x, w, dilation=block_shape)
//
// Also for qnn.conv2d. The data is in NHWC, both blocks have one shape, and the
// convolution has strides and dilations of 1. The padding of the result is what
// the blocks pad and do not crop. The three stay where they crop more than they
// pad, where they pad with something that the convolution does not pad with,
// or where something lies between them.
//
// The reference takes the padding under which the result has the extent of the
// data, whatever is padded and cropped; where that is what the program says,
// both give the same.

#ifndef BATON_RELAY_TRANSFORM_FLATTEN_ATROUS_CONV_H_
#define BATON_RELAY_TRANSFORM_FLATTEN_ATROUS_CONV_H_

#include "baton/transform/pass.h"

namespace baton::relay {

// A function pass of level 0, which requires InferType.
Pass FlattenAtrousConv();

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_FLATTEN_ATROUS_CONV_H_
