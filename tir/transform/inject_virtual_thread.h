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

// Statements that depend on the thread are repeated, as near to the inside as
// possible: by a loop where they have loops or where there are 16 threads or
// more. Buffers that are allocated inside and depend on the thread get a part
// for each thread; those of threads that share nothing (tags other than
// `vthread`) all do.
Pass InjectVirtualThread();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_INJECT_VIRTUAL_THREAD_H_
