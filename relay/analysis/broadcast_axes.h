// Finds the axes along which one operand is broadcast to another, and reshapes
// vectors to be broadcast along given axes.

#ifndef BATON_RELAY_ANALYSIS_BROADCAST_AXES_H_
#define BATON_RELAY_ANALYSIS_BROADCAST_AXES_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>

#include "absl/numeric/bits.h"
#include "absl/types/span.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

// A set of axes of a tensor, iterated in ascending order. Axes outside
// [0, kMaxAxes) are ignored.
class AxisSet {
 public:
  static constexpr int kMaxAxes = 32;

  constexpr AxisSet() = default;
  constexpr AxisSet(std::initializer_list<int> axes) {
    for (const int axis : axes) Insert(axis);
  }

  constexpr void Insert(int axis) {
    if (axis >= 0 && axis < kMaxAxes) bits_ |= uint32_t{1} << axis;
  }
  constexpr bool empty() const { return bits_ == 0; }
  int size() const { return absl::popcount(bits_); }
  constexpr bool contains(int axis) const {
    return axis >= 0 && axis < kMaxAxes && ((bits_ >> axis) & 1u) != 0;
  }

  class const_iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = int;
    using difference_type = std::ptrdiff_t;
    using pointer = const int*;
    using reference = int;

    const_iterator() = default;
    explicit const_iterator(uint32_t bits) : bits_(bits) {}
    int operator*() const { return absl::countr_zero(bits_); }
    const_iterator& operator++() {
      bits_ &= bits_ - 1;
      return *this;
    }
    const_iterator operator++(int) {
      const const_iterator old = *this;
      ++*this;
      return old;
    }
    friend bool operator==(const_iterator a, const_iterator b) {
      return a.bits_ == b.bits_;
    }
    friend bool operator!=(const_iterator a, const_iterator b) {
      return a.bits_ != b.bits_;
    }

   private:
    uint32_t bits_ = 0;
  };
  const_iterator begin() const { return const_iterator(bits_); }
  const_iterator end() const { return const_iterator(0); }

  friend constexpr AxisSet operator&(AxisSet a, AxisSet b) {
    a.bits_ &= b.bits_;
    return a;
  }
  friend constexpr bool operator==(AxisSet a, AxisSet b) {
    return a.bits_ == b.bits_;
  }
  friend constexpr bool operator!=(AxisSet a, AxisSet b) {
    return a.bits_ != b.bits_;
  }

 private:
  uint32_t bits_ = 0;
};

// True if, in a broadcast of `rhs` to `lhs`, `rhs` has the extents of `lhs`
// along `axes` and extent 1 along all other axes.
bool MatchBroadcastToLeftAxes(const TensorTypeNode& lhs,
                              const TensorTypeNode& rhs, AxisSet axes);

// Removes from `value`, of type `rhs`, all axes other than `axes`. Repeats a
// scalar along `axes`. Returns null if MatchBroadcastToLeftAxes is false.
Expr SqueezeToLeftAxes(const TensorTypeNode& lhs, const TensorTypeNode& rhs,
                       AxisSet axes, const Expr& value);

// The reverse: inserts axes of extent 1 into `value`, a tensor with exactly the
// axes `axes`, so that it is broadcast along `axes` of a tensor of rank
// `target_rank`.
Expr ExpandBiasToMatchAxis(Expr value, int target_rank, AxisSet axes);

// Prepares `args`, a tensor and vectors along its `axis`, for arithmetic with
// one another. If the extent of some is a number and that of others symbolic,
// reshapes the others to the number, so that types can be inferred. Returns
// false if two extents are different symbols, which cannot be broadcast.
// `typed` has an expression of the type of each of `args`, which may be
// untyped.
bool MatchExtents(absl::Span<const Expr> typed, int axis,
                  absl::Span<Expr> args);

// As ExpandBiasToMatchAxis, by a reshape to the full rank of `shape`. Returns
// null if an extent of `shape` along `axes` is not a number.
Expr ReshapeToMatchAxis(const Expr& value, absl::Span<const Dim> shape,
                        AxisSet axes);

// ExpandBiasToMatchAxis for one axis, otherwise ReshapeToMatchAxis.
Expr ReshapeOrExpandToMatchAxis(const Expr& value, absl::Span<const Dim> shape,
                                AxisSet axes);

// True if the extents of `shape` along `axes` are all numbers.
bool IsStaticAlong(absl::Span<const Dim> shape, AxisSet axes);

// A copy of `call` with the arguments `args`.
Expr WithArgs(const CallNode& call, absl::Span<const Expr> args);

// True for a constant of float32, float64 or an integer type of 8 or 32 bits
// whose elements are all non-negative (and none is NaN), possibly reshaped,
// transposed or repeated.
bool IsNonNegativeConstant(const Expr& expr);

}  // namespace baton::relay

#endif  // BATON_RELAY_ANALYSIS_BROADCAST_AXES_H_
