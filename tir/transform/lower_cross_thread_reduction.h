// LowerCrossThreadReduction: reduces over loops that are bound to threads by
// `tvm_thread_allreduce`.
//
//   for k in T.thread_binding(32, ..):     for k in T.thread_binding(32, ..):
//       with T.block("B"):                     with T.block("B_cross_thread"):
//           ...                                    T.attr(reducer, ...)
//           with T.init():                         T.tvm_thread_allreduce(
//               B[vi] = T.float32(0)                   1, A[vi, vk], True,
//           B[vi] = B[vi] + A[vi, vk]                  cross_thread_B[0], k)
//                                              with T.block("B_write_back"):
//                                                  T.where(k == 0)
//                                                  B[vi] = cross_thread_B[0]

#ifndef BATON_TIR_TRANSFORM_LOWER_CROSS_THREAD_REDUCTION_H_
#define BATON_TIR_TRANSFORM_LOWER_CROSS_THREAD_REDUCTION_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// If some loops of a reduction are not bound to threads, or the block has a
// predicate, each thread first reduces for itself. All loops of the reduction
// must lie directly around its block, and threads among them be `threadIdx`. A
// later block that reads the result and writes to memory that is not local runs
// in the first of these threads only.
Pass LowerCrossThreadReduction();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_LOWER_CROSS_THREAD_REDUCTION_H_
