// StorageFlatten: allocates the buffers that a schedule of tensor expressions
// realizes, and accesses buffers by one index.
//
//   with T.realize(B[i * 4:i * 4 + 4, 0:8], "shared"):
//       B[i * 4 + j, k] = A[i * 4 + j, k]
//
// becomes
//
//   B = T.allocate([32], "float32", "shared")
//   B[j * 8 + k] = A[i * 32 + j * 8 + k]

#ifndef BATON_TIR_TRANSFORM_STORAGE_FLATTEN_H_
#define BATON_TIR_TRANSFORM_STORAGE_FLATTEN_H_

#include <cstdint>

#include "baton/transform/pass.h"

namespace baton::tir {

struct StorageFlattenOptions {
  int64_t cache_line_size = 64;
  bool create_bound_attributes = false;

  template <typename V>
  static void VisitFields(V& v) {
    v("cache_line_size", &StorageFlattenOptions::cache_line_size,
      "Bytes that a prefetch loads.");
    v("create_bound_attributes",
      &StorageFlattenOptions::create_bound_attributes,
      "If true, stores and allocations have the attribute `buffer_bound` of "
      "each buffer that they access.");
  }
};

// Functions without the attribute `from_legacy_te_schedule` stay: see
// FlattenBuffer. Layouts are applied first, as ApplyLayoutTransforms does it.
// Elements of type bool are int8 in memory. Assertions that are proved are
// removed. A buffer that is bound to a region of another one
// (`buffer_bind_scope`) is an error.
Pass StorageFlatten(StorageFlattenOptions options = {});

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_STORAGE_FLATTEN_H_
