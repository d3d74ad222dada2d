// LineSort: loops that sort the lines of an argument along an axis.
//
//   const LineSort sort(loops, 0, axis, /*is_ascending=*/true);
//   loops.Run(written, ForEach("line", lines, [&](const Indices& line) {
//     return InOrder({sort.Sort(line), ... sort.Position(i) ...});
//   }));

#ifndef BATON_LOWER_LINE_SORT_H_
#define BATON_LOWER_LINE_SORT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "baton/lower/computation.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/stmt.h"

namespace baton::lower {

// True if `a` is before `b` in the order of sorted elements. A NaN is behind
// all others, and equal to itself.
tir::PrimExpr IsBefore(const tir::PrimExpr& a, const tir::PrimExpr& b,
                       bool is_ascending);

// The positions of the elements of a line in the order of IsBefore; equal ones
// keep their order. Runs of 1, 2, 4, ... positions are merged two by two, from
// one half of a buffer to the other.
class LineSort {
 public:
  // Sorts lines of input `input` along `axis`. `loops` must outlive this
  // object.
  LineSort(LoopBuilder& loops, int input, size_t axis, bool is_ascending);

  // An error from NoLoops() if the lines of the input are too long.
  static absl::Status Check(const LoopBuilder& loops, int input, size_t axis);

  // The buffers that the statements write, for LoopBuilder::Run.
  std::vector<tir::Buffer> buffers() const { return {positions_, heads_}; }

  // Sorts the line with the indices `line`, of which that along the axis may be
  // any.
  tir::Stmt Sort(const Indices& line) const;

  // The position of the i-th element of the line that was sorted last.
  tir::PrimExpr Position(const tir::PrimExpr& i) const;

 private:
  // Merges runs of `width` positions of half `from`.
  tir::Stmt Merge(const Indices& line, const tir::PrimExpr& from,
                  const tir::PrimExpr& width) const;

  LoopBuilder& loops_;
  int input_;
  size_t axis_;
  bool is_ascending_;
  int64_t extent_;
  int64_t num_rounds_ = 0;
  tir::Buffer positions_;  // [2, extent]
  tir::Buffer heads_;      // The next positions of the runs that are merged.
};

}  // namespace baton::lower

#endif  // BATON_LOWER_LINE_SORT_H_
