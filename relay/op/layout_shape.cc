#include "baton/relay/op/layout_shape.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "baton/relay/op/dim_math.h"

namespace baton::relay {

absl::StatusOr<Dims> ConvertShape(absl::Span<const Dim> shape,
                                  const Layout& from, const Layout& to) {
  if (static_cast<int>(shape.size()) != from.ndim()) {
    return absl::InvalidArgumentError(
        absl::StrCat("layout \"", from.ToString(), "\" has ", from.ndim(),
                     " axes, but the tensor has ", shape.size()));
  }
  if (from == to) return Dims(shape.begin(), shape.end());
  if (!from.ConvertibleTo(to)) {
    return absl::InvalidArgumentError(
        absl::StrCat("layout \"", from.ToString(),
                     "\" cannot be converted to \"", to.ToString(), "\""));
  }
  for (int i = 0; i < from.ndim(); ++i) {
    if (from.axis(i).factor > 0 &&
        ProvablyDiffer(shape[i], from.axis(i).factor)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "layout \"", from.ToString(), "\" requires ", from.axis(i).factor,
          " elements on axis ", i, ", but the tensor has ", shape[i].value()));
    }
  }
  Dims result;
  for (const Layout::Axis& axis : to.axes()) {
    if (axis.factor > 0) {
      result.push_back(axis.factor);
      continue;
    }
    Dim extent = shape[from.IndexOf(axis.letter)];
    if (const int factor = from.FactorOf(axis.letter); factor > 0) {
      extent = extent * Dim(factor);
    }
    if (const int factor = to.FactorOf(axis.letter); factor > 0) {
      extent = CeilDiv(extent, factor);
    }
    result.push_back(std::move(extent));
  }
  return result;
}

}  // namespace baton::relay
