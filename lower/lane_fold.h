// Folds of runs in the order in which kernels compute them: in lanes, of which
// each takes every 16th element, or every 32nd; then lanes are merged.

#ifndef BATON_LOWER_LANE_FOLD_H_
#define BATON_LOWER_LANE_FOLD_H_

#include <cstdint>
#include <functional>

#include "baton/lower/computation.h"
#include "baton/tir/ir/expr.h"

namespace baton::lower {

// How many lanes take the run, and how many take what is left of it, one step
// of these lanes after another. The last elements go to the first lane.
struct LaneOrder {
  int64_t lanes;
  int64_t few;
};
// Sums and maxima of softmax and of normalizations
// (runtime/kernels/internal/math.h).
inline constexpr LaneOrder kPartialLanes = {16, 16};
// Reductions (runtime/kernels/reduce.cc).
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
