// Copies between strided views: for transpose, layout transforms, slicing,
// concatenation, padding and broadcasting.

#ifndef BATON_RUNTIME_KERNELS_INTERNAL_STRIDED_COPY_H_
#define BATON_RUNTIME_KERNELS_INTERNAL_STRIDED_COPY_H_

#include <cstdint>

#include "absl/types/span.h"

namespace baton::kernels::internal {

// Copies the elements of `shape`, of `element_size` bytes (1, 2, 4 or 8), from
// `src` to `dst`. Strides count elements; those of `src` may be zero or
// negative, those of `dst` must be positive and must not make elements overlap.
// The buffers must not overlap.
//
// Dimensions are merged where both sides allow it. Contiguous runs are copied
// whole. A swap of the fastest dimensions is copied in tiles.
void StridedCopy(int element_size, absl::Span<const int64_t> shape,
                 const void* src, absl::Span<const int64_t> src_strides,
                 void* dst, absl::Span<const int64_t> dst_strides);

}  // namespace baton::kernels::internal

#endif  // BATON_RUNTIME_KERNELS_INTERNAL_STRIDED_COPY_H_
