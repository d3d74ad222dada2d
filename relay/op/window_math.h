// Arithmetic of windows that slide over spatial axes, for the type relations
// of convolutions and pooling.

#ifndef BATON_RELAY_OP_WINDOW_MATH_H_
#define BATON_RELAY_OP_WINDOW_MATH_H_

#include <cstddef>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/ir/type.h"
#include "baton/ir/type_relation.h"

namespace baton::relay {

// The total padding, begin plus end, of each of `num_spatial` axes. `padding`
// has one number for all axes, one for each axis, or all begins followed by all
// ends.
absl::StatusOr<Dims> TotalPadding(const TypeRelationContext& context,
                                  absl::Span<const Dim> padding,
                                  int num_spatial);

// Expands a single value to one for each of `num_axes` axes.
void SpellOutAxes(size_t num_axes, Dims& values);
// Expands padding, as for TotalPadding, to all begins followed by all ends.
void SpellOutPadding(size_t num_axes, Dims& padding);

// The extent of a kernel whose elements are `dilation` apart.
Dim DilatedExtent(const Dim& kernel, const Dim& dilation);

// The number of positions of a window, `stride` apart, in `extent` plus the
// total padding `pad`. If `ceil`, counts a last window that is partly outside.
Dim WindowCount(const Dim& extent, const Dim& pad, const Dim& window,
                const Dim& stride, bool ceil);

// The extent times a factor, as upsampling rounds it; Any if it is not known.
Dim ScaledExtent(const Dim& extent, double factor);

// An error unless `values` (attribute `what`) has `count` elements and none is
// zero or a negative number.
absl::Status ExpectPositive(const TypeRelationContext& context,
                            absl::string_view what,
                            absl::Span<const Dim> values, int count);

// An error if `extent`, of spatial axis `axis` of the result, is negative.
absl::Status ExpectNotNegative(const TypeRelationContext& context,
                               const Dim& extent, int axis);

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_WINDOW_MATH_H_
