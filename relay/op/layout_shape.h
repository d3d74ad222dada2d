// Shapes of tensors in data layouts.

#ifndef BATON_RELAY_OP_LAYOUT_SHAPE_H_
#define BATON_RELAY_OP_LAYOUT_SHAPE_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/layout.h"
#include "baton/ir/type.h"

namespace baton::relay {

// Converts the shape `shape` of a tensor in layout `from` to layout `to`. The
// extent of a primal axis that its sub-axes do not divide is rounded up.
//
//   ConvertShape({1, 32, 224, 224}, nchw, nchw16c);  // (1, 2, 224, 224, 16)
absl::StatusOr<Dims> ConvertShape(absl::Span<const Dim> shape,
                                  const Layout& from, const Layout& to);

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_LAYOUT_SHAPE_H_
