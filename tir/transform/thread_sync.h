// ThreadSync: inserts barriers between conflicting accesses of threads.
//
//   B[threadIdx_x] = A[i]          B[threadIdx_x] = A[i]
//   C[i] = B[31 - threadIdx_x]     T.tvm_storage_sync("shared")
//                                  C[i] = B[31 - threadIdx_x]

#ifndef BATON_TIR_TRANSFORM_THREAD_SYNC_H_
#define BATON_TIR_TRANSFORM_THREAD_SYNC_H_

#include <string>

#include "baton/base/fields.h"
#include "baton/transform/pass.h"

namespace baton::tir {

struct ThreadSyncOptions {
  std::string storage_scope;

  template <typename V>
  static void VisitFields(V& v) {
    v("storage_scope", &ThreadSyncOptions::storage_scope,
      "The scope of the memory: `shared`, `shared.dyn`, `global`.", kRequired);
  }
};

// An access conflicts with an earlier access of the same buffer if one of them
// writes, also if the earlier one is of the previous iteration of a loop.
// Accesses with equal indices that depend on the innermost thread do not
// conflict. All dynamic shared memory counts as one buffer. A barrier within a
// condition is an error.
Pass ThreadSync(ThreadSyncOptions options);

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_THREAD_SYNC_H_
