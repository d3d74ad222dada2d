// TransformMmaBufferLayout: gives each thread its part of the matrices of
// matrix instructions.
//
//   C = T.alloc_buffer((32, 16), scope="m16n8k8.matrixC")
//       =>  C = T.alloc_buffer((2, 2, 2, 2), scope="local")

#ifndef BATON_TIR_TRANSFORM_TRANSFORM_MMA_BUFFER_LAYOUT_H_
#define BATON_TIR_TRANSFORM_TRANSFORM_MMA_BUFFER_LAYOUT_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// Changes the buffers of the scopes `m16n8k8.matrixA`, `m16n8k8.matrixB` and
// `m16n8k8.matrixC`. Changes the indices of accesses to `matrixC` only, because
// only instructions access the others.
Pass TransformMmaBufferLayout();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_TRANSFORM_MMA_BUFFER_LAYOUT_H_
