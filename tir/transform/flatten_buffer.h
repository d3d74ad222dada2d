// FlattenBuffer: accesses buffers by one index, or by one for each group of
// axes.
//
//   B[i, j] = A[i, j]     B_1 = T.Buffer((256,), data=B.data)
//                         A_1 = T.Buffer((256,), data=A.data)
//                         B_1[i * 16 + j] = A_1[i * 16 + j]

#ifndef BATON_TIR_TRANSFORM_FLATTEN_BUFFER_H_
#define BATON_TIR_TRANSFORM_FLATTEN_BUFFER_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// Buffers of parameters keep their shape in the signature. Declarations of
// buffers are removed. Elements of type bool are int8 in memory. Blocks must
// not match buffers (LowerMatchBuffer).
Pass FlattenBuffer();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_FLATTEN_BUFFER_H_
