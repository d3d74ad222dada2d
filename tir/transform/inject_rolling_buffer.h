// InjectRollingBuffer: keeps in a small buffer only the elements that later
// iterations of a loop use again.
//
//   for i in range(2):                    T.realize(B[0:6], "")
//       T.realize(B[i * 4:i * 4 + 6])     for i in range(2):
//       T.attr(B, "rolling_buffer_scope")     for j in range(6):
//       for j in range(6):                        if T.likely(i < 1 or j >= 2):
//           B[j + i * 4] = ...                        B[(j + i * 4) % 6] = ...

#ifndef BATON_TIR_TRANSFORM_INJECT_ROLLING_BUFFER_H_
#define BATON_TIR_TRANSFORM_INJECT_ROLLING_BUFFER_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// Changes buffers whose realization has the attribute `rolling_buffer_scope`
// inside. The buffer is then realized around the outermost loop that moves its
// region, and no iteration computes elements that an earlier one computed.
Pass InjectRollingBuffer();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_INJECT_ROLLING_BUFFER_H_
