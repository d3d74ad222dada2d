// The rules of reshape: what the special values in a new shape stand for.

#ifndef BATON_RELAY_OP_TENSOR_RESHAPE_H_
#define BATON_RELAY_OP_TENSOR_RESHAPE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/ir/type.h"
#include "baton/relay/op/tensor/shape.h"

namespace baton::relay {

// The shape that `newshape` gives to a tensor of `shape`. Both are read from
// the left; a positive number stands for itself, and
//    0  for the next old axis (for itself if `allowzero`),
//   -1  for what the other axes leave over (once only),
//   -2  for all old axes that are left,
//   -3  for the product of the next two old axes,
//   -4  for the two numbers after it, into which the next old axis is split;
//       one of them may be -1.
// An error if the number of elements would change.
absl::StatusOr<Dims> ReshapedShape(absl::Span<const Dim> shape,
                                   absl::Span<const int64_t> newshape,
                                   bool allowzero);

// The same, with both read from the right.
absl::StatusOr<Dims> ReverseReshapedShape(absl::Span<const Dim> shape,
                                          absl::Span<const int64_t> newshape,
                                          bool allowzero);

// The shape of reshape_like: `shape` with some axes replaced by some of
// `like`.
absl::StatusOr<Dims> ReshapedLikeShape(absl::Span<const Dim> shape,
                                       absl::Span<const Dim> like,
                                       const ReshapeLikeAttrs& attrs);

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_TENSOR_RESHAPE_H_
