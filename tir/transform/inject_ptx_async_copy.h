// InjectPTXAsyncCopy: copies from global to shared memory by instructions that do
// not wait.
//
//   T.attr(0, "async_scope", 1)
//   B[i] = A[j]                    T.ptx_cp_async("float32", B.data, i * 1,
//                                                 A.data, j, 4)

#ifndef BATON_TIR_TRANSFORM_INJECT_PTX_ASYNC_COPY_H_
#define BATON_TIR_TRANSFORM_INJECT_PTX_ASYNC_COPY_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// In statements with the attribute `async_scope`: copies of 4, 8 or 16 bytes,
// also of vectors of consecutive elements, and also under a condition with zero
// where it is false. Other stores stay.
Pass InjectPTXAsyncCopy();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_INJECT_PTX_ASYNC_COPY_H_
