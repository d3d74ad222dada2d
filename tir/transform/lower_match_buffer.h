// LowerMatchBuffer: replaces buffers that match a region by the region.
//
//   A0 = T.match_buffer(A[4:8, 0:16], (4, 16))
//   A0[i, j] = T.float32(0)                       A[4 + i, j] = T.float32(0)

#ifndef BATON_TIR_TRANSFORM_LOWER_MATCH_BUFFER_H_
#define BATON_TIR_TRANSFORM_LOWER_MATCH_BUFFER_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// Variables of the shape, strides and offset of such a buffer get the values
// that the region has; values that are not variables must be provably those.
Pass LowerMatchBuffer();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_LOWER_MATCH_BUFFER_H_
