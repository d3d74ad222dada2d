// Data layouts: `NCHW`, `NHWC`, `NCHW16c`, `OIHW16i16o`.
//
// An upper-case letter is a primal axis. A lower-case letter after a number is
// a sub-axis: a part of the primal axis of the same letter, of that many
// elements. In `NCHW16c`, channel 35 is at C = 2, c = 3.
//
//   BATON_ASSIGN_OR_RETURN(Layout layout, Layout::Parse("NCHW16c"));
//   layout.IndexOf('C');   // 1
//   layout.FactorOf('C');  // 16

#ifndef BATON_BASE_LAYOUT_H_
#define BATON_BASE_LAYOUT_H_

#include <memory>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace baton {

// Copies of a layout share the axes and are cheap.
class Layout {
 public:
  struct Axis {
    char letter;
    int factor;  // the extent of a sub-axis; 0 for a primal axis

    friend bool operator==(const Axis& a, const Axis& b) {
      return a.letter == b.letter && a.factor == b.factor;
    }
  };

  // The limit of the product of the factors of all sub-axes of one axis.
  static constexpr int kMaxFactor = 1 << 20;

  // The undefined layout, also written as the empty text.
  Layout() = default;
  // The error names the text and what is wrong with it.
  static absl::StatusOr<Layout> Parse(absl::string_view text);
  // Returns the layout with `axes`. Returns the undefined layout if `axes` is
  // empty, an axis appears twice, or a sub-axis has no primal axis.
  static Layout FromAxes(absl::Span<const Axis> axes);

  bool defined() const { return data_ != nullptr; }
  const std::string& ToString() const;
  int ndim() const { return static_cast<int>(axes().size()); }
  int ndim_primal() const;
  absl::Span<const Axis> axes() const {
    return data_ == nullptr ? absl::Span<const Axis>() : data_->axes;
  }
  const Axis& axis(int i) const { return data_->axes[i]; }

  static bool IsPrimal(char letter) { return letter >= 'A' && letter <= 'Z'; }
  static char ToPrimal(char letter) {
    return IsPrimal(letter) ? letter : static_cast<char>(letter - 'a' + 'A');
  }
  static char ToSub(char letter) {
    return IsPrimal(letter) ? static_cast<char>(letter - 'A' + 'a') : letter;
  }

  // The position of the axis `letter`; -1 if the layout does not have it.
  int IndexOf(char letter) const;
  bool Contains(char letter) const { return IndexOf(letter) >= 0; }
  // The product of the factors of the sub-axes of `letter` (either case); -1 if
  // `letter` has no sub-axis.
  int FactorOf(char letter) const;

  // The axes [pos, pos + len), cut off at the last axis.
  Layout SubLayout(int pos, int len) const;
  // Adds the sub-axis of `letter`, a primal axis not split yet, at `pos`.
  absl::StatusOr<Layout> Split(char letter, int pos, int factor) const;
  // The primal axes of `other` that this layout lacks, followed by the axes of
  // this layout.
  Layout ExpandPrimal(const Layout& other) const;
  // This layout without its sub-axes.
  Layout Primal() const;

  // True if both are defined and have the same primal axes, so that shapes and
  // indices can be converted between them.
  bool ConvertibleTo(const Layout& dst) const;

  friend bool operator==(const Layout& a, const Layout& b) {
    return a.data_ == b.data_ || a.ToString() == b.ToString();
  }
  friend bool operator!=(const Layout& a, const Layout& b) { return !(a == b); }

 private:
  using Axes = absl::InlinedVector<Axis, 8>;
  struct Data {
    Axes axes;  // not empty
    std::string name;
  };

  explicit Layout(Axes axes);
  static absl::StatusOr<Layout> ParseNew(absl::string_view text);

  std::shared_ptr<const Data> data_;  // null if it is undefined
};

}  // namespace baton

#endif  // BATON_BASE_LAYOUT_H_
