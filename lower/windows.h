// Windows that slide over spatial axes, and layouts of data and weights: for
// pools and convolutions.

#ifndef BATON_LOWER_WINDOWS_H_
#define BATON_LOWER_WINDOWS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/layout.h"
#include "baton/ir/type.h"
#include "baton/lower/computation.h"
#include "baton/relay/op/window_math.h"
#include "baton/tir/ir/expr.h"

namespace baton::lower {

// The window along one axis.
struct AxisWindow {
  int64_t in = 1;
  int64_t out = 1;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t before = 0;  // padding in front

  // The position that tap `k` of output `o` reads.
  tir::PrimExpr Position(const tir::PrimExpr& o, const tir::PrimExpr& k) const;
  // The condition under which a position is one of the data; null if each is.
  tir::PrimExpr Inside(const tir::PrimExpr& position) const;
  // True if each tap reads inside of the data.
  bool IsInside() const;
};

// The windows of N spatial axes; `in`, `out` and, for convolutions, `kernel`
// are set later. An error if an attribute is not a number.
template <typename A>
absl::StatusOr<std::vector<AxisWindow>> WindowsOf(const A& attrs, size_t n) {
  Dims padding = attrs.padding;
  relay::SpellOutPadding(n, padding);
  const auto strides = ConstDims(attrs.strides);
  const auto dilation = ConstDims(attrs.dilation);
  const auto pads = ConstDims(padding);
  if (!strides.has_value() || !dilation.has_value() || !pads.has_value() ||
      strides->size() != n || dilation->size() != n || pads->size() != 2 * n) {
    return NoLoops("an attribute is not a number");
  }
  std::vector<AxisWindow> windows(n);
  for (size_t i = 0; i < n; ++i) {
    windows[i].stride = (*strides)[i];
    windows[i].dilation = (*dilation)[i];
    windows[i].before = (*pads)[i];
  }
  return windows;
}

// Converts indices of an array in a layout to positions along the letters of
// the layout, and back. Blocks and the axis that they divide are one position:
// that of C is the channel, in NCHW16c as well.
class LayoutIndex {
 public:
  static absl::StatusOr<LayoutIndex> Parse(absl::string_view layout, int rank);

  bool Has(char letter) const { return layout_.IndexOf(letter) >= 0; }
  // The extent of an axis of an array of `shape`; 1 if there is none.
  int64_t ExtentOf(char letter, absl::Span<const int64_t> shape) const;
  // The position along `letter` of the element at the index `at`.
  tir::PrimExpr PositionOf(char letter, const Indices& at) const;
  // The index of the element with `positions`, one for each of `letters`.
  Indices IndexOf(absl::string_view letters, const Indices& positions) const;

 private:
  int64_t FactorOf(char letter) const;
  Layout layout_;
};

}  // namespace baton::lower

#endif  // BATON_LOWER_WINDOWS_H_
