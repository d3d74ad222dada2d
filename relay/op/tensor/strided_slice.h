// The rules of strided_slice: what its begins and ends stand for.

#ifndef BATON_RELAY_OP_TENSOR_STRIDED_SLICE_H_
#define BATON_RELAY_OP_TENSOR_STRIDED_SLICE_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/ir/type.h"
#include "baton/relay/op/tensor/indexing.h"

namespace baton::relay {

// The slice on one axis.
struct AxisSlice {
  int axis;
  int64_t begin;
  int64_t end;     // not included
  int64_t stride;  // not zero
};

// The slices that `attrs` asks for of a tensor of `shape`, at most one an axis.
// Begins and ends are numbers of elements counted from the front where the
// extent is known, and as written where it is not.
absl::StatusOr<absl::InlinedVector<AxisSlice, 6>> SlicesOf(
    absl::Span<const Dim> shape, const StridedSliceAttrs& attrs);

// The shape of the result.
absl::StatusOr<Dims> StridedSliceShape(absl::Span<const Dim> shape,
                                       const StridedSliceAttrs& attrs);

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_TENSOR_STRIDED_SLICE_H_
