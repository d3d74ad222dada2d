// Builds loops that reduce runs of elements in the order in which kernels do:
// in 16 or 32 lanes, where lane i reduces the elements i, i + 16, i + 32 ...;
// then the lanes are merged.

#ifndef BATON_LOWER_LANE_FOLD_H_
#define BATON_LOWER_LANE_FOLD_H_

#include <cstdint>
#include <functional>

#include "baton/lower/computation.h"
#include "baton/tir/ir/expr.h"

namespace baton::lower {

// The order of a reduction: as many whole steps of `lanes` elements as the run
// has, then steps of `few` elements into the first `few` lanes, then the last
// elements into the first lane.
struct LaneOrder {
  int64_t lanes;
  int64_t few;
};
// Sums and maxima of softmax and of normalizations
// (runtime/kernels/internal/math.h).
inline constexpr LaneOrder kPartialLanes = {16, 16};
// Reductions (runtime/kernels/reduce_kernels.cc).
inline constexpr LaneOrder kReductionLanes = {32, 8};

struct LaneFold {
  int64_t count = 0;  // not 0
  LaneOrder order = kPartialLanes;
  tir::PrimExpr start;
  // The k-th element of the run for `at`.
  std::function<tir::PrimExpr(const Indices& at, const tir::PrimExpr& k)> term;
  // The fold of `x` into `sum`; also merges lanes.
  std::function<tir::PrimExpr(const tir::PrimExpr& x, const tir::PrimExpr& sum)>
      add;
  // The value that is stored; null: the fold itself.
  std::function<tir::PrimExpr(const tir::PrimExpr& sum)> finish = nullptr;
};

// Fills `to` with the folds.
void FoldInLanes(LoopBuilder& loops, const LaneFold& fold,
                 const tir::Buffer& to);

// As FoldInLanes, one element after the other.
void FoldInOrder(LoopBuilder& loops, const LaneFold& fold,
                 const tir::Buffer& to);

}  // namespace baton::lower

#endif  // BATON_LOWER_LANE_FOLD_H_
