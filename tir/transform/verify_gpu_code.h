// VerifyGPUCode: checks that kernels do not exceed the limits of a device.
//
//   --passes=tir.VerifyGPUCode{max_threads_per_block=1024}

#ifndef BATON_TIR_TRANSFORM_VERIFY_GPU_CODE_H_
#define BATON_TIR_TRANSFORM_VERIFY_GPU_CODE_H_

#include <cstdint>
#include <limits>

#include "baton/base/fields.h"
#include "baton/transform/pass.h"

namespace baton::tir {

struct VerifyGPUCodeOptions {
  static constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

  int64_t max_local_memory_per_block = kNoLimit;
  int64_t max_shared_memory_per_block = kNoLimit;
  int64_t max_threads_per_block = kNoLimit;
  int64_t max_thread_x = kNoLimit;
  int64_t max_thread_y = kNoLimit;
  int64_t max_thread_z = kNoLimit;
  int64_t max_vthread = kNoLimit;
  int64_t max_vector_bytes = kNoLimit;
  int64_t max_kernels = kNoLimit;

  template <typename V>
  static void VisitFields(V& v) {
    using O = VerifyGPUCodeOptions;
    v("max_local_memory_per_block", &O::max_local_memory_per_block,
      "Bytes of local memory of a kernel.");
    v("max_shared_memory_per_block", &O::max_shared_memory_per_block,
      "Bytes of shared memory of a kernel.");
    v("max_threads_per_block", &O::max_threads_per_block,
      "Threads of a block, virtual ones included.");
    v("max_thread_x", &O::max_thread_x, "Extent of threadIdx.x.");
    v("max_thread_y", &O::max_thread_y, "Extent of threadIdx.y.");
    v("max_thread_z", &O::max_thread_z, "Extent of threadIdx.z.");
    v("max_vthread", &O::max_vthread, "Extent of virtual threads.");
    v("max_vector_bytes", &O::max_vector_bytes, "Bytes of a vector.");
    v("max_kernels", &O::max_kernels, "Kernels of a function.");
  }
};

// The error lists all numbers that exceed a limit, and all thread indices that
// have two extents.
Pass VerifyGPUCode(VerifyGPUCodeOptions options = {});

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_VERIFY_GPU_CODE_H_
