// The semantics of reshape: the special values in a new shape.

#ifndef BATON_RELAY_OP_TENSOR_RESHAPE_H_
#define BATON_RELAY_OP_TENSOR_RESHAPE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/ir/type.h"
#include "baton/relay/op/tensor/shape.h"

namespace baton::relay {

// The shape that reshape with `newshape` gives a tensor of `shape`. Both are
// read from the left. A positive number is an extent; the other numbers mean:
//    0  the next old axis (the extent 0 if `allowzero`),
//   -1  the remaining extent (at most once),
//   -2  all remaining old axes,
//   -3  the product of the next two old axes,
//   -4  the next old axis, split into the two numbers after the -4; one of
//       them may be -1.
// An error if the number of elements would change.
absl::StatusOr<Dims> ReshapedShape(absl::Span<const Dim> shape,
                                   absl::Span<const int64_t> newshape,
                                   bool allowzero);

// As ReshapedShape, with both read from the right.
absl::StatusOr<Dims> ReverseReshapedShape(absl::Span<const Dim> shape,
                                          absl::Span<const int64_t> newshape,
                                          bool allowzero);

// The result shape of reshape_like: `shape` with some axes replaced by axes of
// `like`.
absl::StatusOr<Dims> ReshapedLikeShape(absl::Span<const Dim> shape,
                                       absl::Span<const Dim> like,
                                       const ReshapeLikeAttrs& attrs);

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_TENSOR_RESHAPE_H_
