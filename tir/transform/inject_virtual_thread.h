// InjectVirtualThread: runs virtual threads one after the other.
//
//   vthread = T.launch_thread("vthread", 2)    B[i] = A[i * 2]
//   B[i] = A[i * 2 + vthread]                  B[128 + i] = A[i * 2 + 1]
//
// where B is allocated inside.

#ifndef BATON_TIR_TRANSFORM_INJECT_VIRTUAL_THREAD_H_
#define BATON_TIR_TRANSFORM_INJECT_VIRTUAL_THREAD_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// Repeats the innermost statements that depend on the thread; by a loop if they
// have loops or if there are 16 threads or more. A buffer that is allocated
// inside gets a part for each thread if it depends on the thread, or if the tag
// is not `vthread`: threads of other tags share no memory.
Pass InjectVirtualThread();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_INJECT_VIRTUAL_THREAD_H_
