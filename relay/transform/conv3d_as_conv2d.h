// Conv3dAsConv2d: computes convolutions over three spatial axes as convolutions
// over two, for which there are kernels.
//
//   nn.conv3d(x, w)  ->  nn.conv2d(unfolded x, reshaped w), reshaped
//
// Each position along the depth of the result becomes an image of a batch. The
// channels of that image are the slices of the data that the position reads:
// for each block of 16 channels, the block of each slice. The kernel's depth
// becomes channels of the weight in the same order. If there are few channels,
// each row of the result becomes an image, whose rows are those that it reads;
// the kernel's depth and height become its height. In either case the sum of an
// element has the same products in the same order
// (runtime/kernels/blocked/sums.h): the results are equal bit for bit.
//
// Shapes are constant, data and weight are float32 or half floats in the
// layouts NCDHW and OIDHW, or NDHWC and DHWIO. Groups have a multiple of 16
// channels. The weight is a constant, and the weight of the result another one:
// run FoldConstant before. If the depth is padded, it has no infinities and
// NaNs, which times the zeros of the padding would be NaN.

#ifndef BATON_RELAY_TRANSFORM_CONV3D_AS_CONV2D_H_
#define BATON_RELAY_TRANSFORM_CONV3D_AS_CONV2D_H_

#include "baton/transform/pass.h"

namespace baton::relay {

// A function pass of level 0, which requires InferType.
Pass Conv3dAsConv2d();

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_CONV3D_AS_CONV2D_H_
