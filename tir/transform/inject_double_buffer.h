// InjectDoubleBuffer: double-buffers an allocation in a loop: an iteration
// fills one half of the memory for the next iteration and uses the other half.
//
//   for i in range(16):                  ... fills the first half of a
//       T.attr(a, "double_buffer_scope", 1)   for i in range(15):
//       ... fills a                          ... fills a half of a for i + 1
//       ... uses a                           ... uses the other half
//                                        ... uses a

#ifndef BATON_TIR_TRANSFORM_INJECT_DOUBLE_BUFFER_H_
#define BATON_TIR_TRANSFORM_INJECT_DOUBLE_BUFFER_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// For flat allocations with the attribute `double_buffer_scope` in a loop. The
// loop must begin at 0. The setting `tir.InjectDoubleBuffer` (split_loop) says
// how far the loop is unrolled.
Pass InjectDoubleBuffer();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_INJECT_DOUBLE_BUFFER_H_
