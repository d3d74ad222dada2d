// Transposition and changes of data layout.

#ifndef BATON_RUNTIME_KERNELS_LAYOUT_KERNELS_H_
#define BATON_RUNTIME_KERNELS_LAYOUT_KERNELS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/layout.h"
#include "baton/base/tensor.h"

namespace baton::kernels {

// Transposes `x`: dimension i of the result is dimension axes[i] of `x`. `axes`
// is a permutation; negative values count from the end; empty reverses all
// dimensions. Any dtype. Shares the buffer if the order of the elements does
// not change.
absl::StatusOr<Tensor> Transpose(const Tensor& x,
                                 absl::Span<const int64_t> axes);

// Converts `x` from layout `from` to layout `to` (base/layout.h). Any dtype.
//
// Several sub-axes of one axis are nested, the first outermost. Both layouts
// must have the same primal axes. An axis that is not a multiple of its
// sub-axes in `to` is padded with zeros. Shares the buffer if the layouts are
// the same.
absl::StatusOr<Tensor> LayoutTransform(const Tensor& x, const Layout& from,
                                       const Layout& to);
// As above, with the layouts as text.
absl::StatusOr<Tensor> LayoutTransform(const Tensor& x, absl::string_view from,
                                       absl::string_view to);

// Computes fn(x) in the layout `canonical`. `x` and the result are in `layout`.
template <typename Fn>
absl::StatusOr<Tensor> InLayout(const Tensor& x, absl::string_view layout,
                                absl::string_view canonical, const Fn& fn) {
  if (layout.empty() || layout == canonical) return fn(x);
  absl::StatusOr<Tensor> moved = LayoutTransform(x, layout, canonical);
  if (!moved.ok()) return moved;
  absl::StatusOr<Tensor> result = fn(*moved);
  if (!result.ok()) return result;
  return LayoutTransform(*result, canonical, layout);
}

}  // namespace baton::kernels

#endif  // BATON_RUNTIME_KERNELS_LAYOUT_KERNELS_H_
