// Kernels on blocked maps and packed matrices, compiled for several widths of
// vectors. All widths give the same bytes, except for the bits of a NaN.
//
// A call computes the items [begin, end) of the work (ConvItems and the like)
// and writes only these parts of `y`; the bytes do not depend on how the work
// is divided. `workspace` is aligned to 64 bytes and used by one call at a
// time. If `resumes`, the previous call with this workspace had the same
// parameters and the same `x`, so that its copy of parts of `x` in the
// workspace can be used again. `y` may be `x` for `apply`, and the residual for
// all kernels with an epilogue; otherwise memory must not overlap.

#ifndef BATON_RUNTIME_KERNELS_BLOCKED_KERNELS_H_
#define BATON_RUNTIME_KERNELS_BLOCKED_KERNELS_H_

#include <cstdint>

#include "baton/runtime/kernels/blocked/blocked_conv.h"
#include "baton/runtime/kernels/blocked/blocked_pool.h"
#include "baton/runtime/kernels/blocked/channels.h"
#include "baton/runtime/kernels/blocked/epilogue.h"
#include "baton/runtime/kernels/blocked/map.h"
#include "baton/runtime/kernels/blocked/matmul.h"

namespace baton::kernels::blocked {

struct Kernels {
  // Convolves with packed weights, for any groups, strides, dilation and
  // padding. Depthwise convolutions, whose groups have one channel of the map
  // and one of the result, have a separate loop.
  void (*conv)(const ConvParams& params, const float* x, const float* packed,
               const Epilogue& epilogue, float* y, void* workspace,
               bool resumes, int64_t begin, int64_t end);
  void (*matmul)(const MatmulParams& params, const float* x,
                 const float* packed, const Epilogue& epilogue, float* y,
                 void* workspace, bool resumes, int64_t begin, int64_t end);

  // As runtime/kernels/pool_kernels.h on planar maps.
  void (*max_pool)(const PoolParams& params, const float* x, float* y,
                   int64_t begin, int64_t end);
  void (*avg_pool)(const PoolParams& params, const float* x, float* y,
                   int64_t begin, int64_t end);
  void (*global_max_pool)(const PoolParams& params, const float* x, float* y,
                          int64_t begin, int64_t end);
  void (*global_avg_pool)(const PoolParams& params, const float* x, float* y,
                          int64_t begin, int64_t end);

  // From planar to blocked and back.
  void (*to_blocked)(const MapParams& params, const float* x, float* y,
                     int64_t begin, int64_t end);
  void (*to_planar)(const MapParams& params, const float* x, float* y,
                    int64_t begin, int64_t end);
  // Applies an epilogue to a blocked map: biases, scales, sums of two maps,
  // relu.
  void (*apply)(const MapParams& params, const float* x,
                const Epilogue& epilogue, float* y, int64_t begin, int64_t end);

  // Copies channels of several maps to one map.
  void (*gather)(const GatherParams& params, const float* const* xs, float* y,
                 int64_t begin, int64_t end);
  void (*lrn)(const BlockedLrnParams& params, const float* x, float* y,
              int64_t begin, int64_t end);
};

// Vectors of 128 bits for any processor, and of three widths for those with
// AVX2 and FMA, and with AVX-512; kHalves512 is 512 bits as two vectors of 256.
// All widths with FMA give the same bytes.
enum class Width { kPlain128, k128, k256, k512, kHalves512 };

// True if this processor has the instructions of the width.
bool IsSupported(Width width);

// The widest of the supported ones.
Width BestWidth();

// The kernels of a width; null if there are none on this architecture.
const Kernels* KernelsOf(Width width);

}  // namespace baton::kernels::blocked

#endif  // BATON_RUNTIME_KERNELS_BLOCKED_KERNELS_H_
