// InjectPTXAsyncCopy: copies from global to shared memory by asynchronous
// instructions (`cp.async`).
//
//   T.attr(0, "async_scope", 1)
//   B[i] = A[j]                    T.ptx_cp_async("float32", B.data, i * 1,
//                                                 A.data, j, 4)

#ifndef BATON_TIR_TRANSFORM_INJECT_PTX_ASYNC_COPY_H_
#define BATON_TIR_TRANSFORM_INJECT_PTX_ASYNC_COPY_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// Replaces, in statements with the attribute `async_scope`, copies of 4, 8 or
// 16 bytes: of an element, of a vector of consecutive elements, and of a
// conditional load whose other value is zero. Other stores stay.
Pass InjectPTXAsyncCopy();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_INJECT_PTX_ASYNC_COPY_H_
