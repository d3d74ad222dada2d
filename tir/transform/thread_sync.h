// ThreadSync: puts barriers between threads where one needs what another wrote.
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

// An access conflicts with one before, also of the step before of a loop, if
// one of both writes, unless both are at one index that depends on the
// innermost thread. All dynamic shared memory counts as one buffer. Barriers
// within conditions are an error.
Pass ThreadSync(ThreadSyncOptions options);

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_THREAD_SYNC_H_
