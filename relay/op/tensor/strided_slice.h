// The semantics of strided_slice: normalized begins and ends.

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
  int64_t end;     // exclusive
  int64_t stride;  // not 0
};
// The number of elements that a slice of an axis of known extent has.
int64_t NumElements(const AxisSlice& slice);

// The meaning of a slice whose end is before its begin: an error in a program,
// where it can only be a mistake; no elements at run time, where the numbers
// are computed or the extent was unknown.
enum class CrossedEnds { kRefused, kEmpty };

// The slices of a tensor of `shape` that `attrs` describes, at most one for
// each axis. If an extent is known, begin and end are element numbers counted
// from the front; otherwise they are as written. Errors: the attributes do not
// fit each other or the shape, an axis is repeated.
absl::StatusOr<absl::InlinedVector<AxisSlice, 6>> SlicesOf(
    absl::Span<const Dim> shape, const StridedSliceAttrs& attrs,
    CrossedEnds crossed = CrossedEnds::kRefused);

// The shape of the result of strided_slice.
absl::StatusOr<Dims> StridedSliceShape(absl::Span<const Dim> shape,
                                       const StridedSliceAttrs& attrs);

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_TENSOR_STRIDED_SLICE_H_
