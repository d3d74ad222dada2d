// LoopPartition: splits loops so that conditions are constant in their parts.
//
//   for i in range(n):                    for i in range(4):
//       if T.likely(i < 4):                   A[i] = 0
//           A[i] = 0                      for i in range(n - 4):
//       B[i] = 0                              ...

#ifndef BATON_TIR_TRANSFORM_LOOP_PARTITION_H_
#define BATON_TIR_TRANSFORM_LOOP_PARTITION_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// Splits loops and blocks of threads with a condition that is marked as likely
// on their variable, and those with the attribute `pragma_loop_partition_hint`,
// as the setting `tir.LoopPartition` says. The marks are removed.
Pass LoopPartition();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_LOOP_PARTITION_H_
