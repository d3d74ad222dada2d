#include "baton/relay/op/window_math.h"

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "baton/relay/op/dim_math.h"

namespace baton::relay {

absl::StatusOr<Dims> TotalPadding(const TypeRelationContext& context,
                                  absl::Span<const Dim> padding,
                                  int num_spatial) {
  const int n = num_spatial;
  const int size = static_cast<int>(padding.size());
  Dims total(n);
  if (size == 2 * n) {
    for (int i = 0; i < n; ++i) total[i] = padding[i] + padding[n + i];
  } else if (size == n || size == 1) {
    for (int i = 0; i < n; ++i) {
      total[i] = padding[size == 1 ? 0 : i] * Dim(2);
    }
  } else {
    return context.Error("padding must have 1, ", n, " or ", 2 * n,
                         " elements, but has ", size);
  }
  return total;
}

void SpellOutAxes(size_t num_axes, Dims& values) {
  if (values.size() == 1) values.assign(num_axes, Dim(values[0]));
}

void SpellOutPadding(size_t num_axes, Dims& padding) {
  SpellOutAxes(num_axes, padding);
  if (padding.size() == num_axes) {
    for (size_t i = 0; i < num_axes; ++i) padding.push_back(Dim(padding[i]));
  }
}

Dim DilatedExtent(const Dim& kernel, const Dim& dilation) {
  return (kernel - Dim(1)) * dilation + Dim(1);
}

Dim WindowCount(const Dim& extent, const Dim& pad, const Dim& window,
                const Dim& stride, bool ceil) {
  if (extent.is_any()) return extent;
  const Dim room = extent + pad - window;
  return (ceil ? CeilDiv(room, stride) : FloorDiv(room, stride)) + Dim(1);
}

Dim ScaledExtent(const Dim& extent, double factor) {
  if (extent.is_const()) {
    const double scaled =
        std::nearbyint(static_cast<double>(extent.value()) * factor);
    if (std::abs(scaled) < 4e18) return static_cast<int64_t>(scaled);
    return Dim::Any();
  }
  if (factor == std::floor(factor) && std::abs(factor) < 1e9) {
    return extent * Dim(static_cast<int64_t>(factor));
  }
  return Dim::Any();
}

absl::Status ExpectPositive(const TypeRelationContext& context,
                            absl::string_view what,
                            absl::Span<const Dim> values, int count) {
  if (static_cast<int>(values.size()) != count) {
    return context.Error(what, " must have ", count, " elements, but has ",
                         values.size());
  }
  for (const Dim& value : values) {
    if (value.is_const() && value.value() <= 0) {
      return context.Error(what, "=", ShapeToString(values),
                           " must be positive");
    }
  }
  return absl::OkStatus();
}

absl::Status ExpectNotNegative(const TypeRelationContext& context,
                               const Dim& extent, int axis) {
  if (!extent.is_const() || extent.value() >= 0) return absl::OkStatus();
  return context.Error("the result would have ", extent.value(),
                       " elements on spatial axis ", axis);
}

}  // namespace baton::relay
