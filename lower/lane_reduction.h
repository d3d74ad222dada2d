// Reductions over axes, with the partial results ("lanes") and the order of the
// kernels (runtime/kernels/reduce_kernels.cc).

#ifndef BATON_LOWER_LANE_REDUCTION_H_
#define BATON_LOWER_LANE_REDUCTION_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/lower/computation.h"
#include "baton/tir/ir/expr.h"

namespace baton::lower {

// The reduced axes of an array of `shape`.
struct ReducedAxes {
  ReducedAxes(std::vector<int64_t> shape_of_data,
              absl::Span<const int64_t> axes, bool exclude, bool keeps);

  std::vector<int64_t> shape;
  std::vector<bool> reduced;  // for each axis
  bool keepdims = false;
  // The extents of the reduced axes.
  std::vector<int64_t> extents;

  int64_t count() const { return NumElementsOf(extents); }
  std::vector<int64_t> ResultShape() const;
  // The index of the element at `k`, of the reduced axes, for the result `at`.
  Indices IndexOf(const Indices& at, const Indices& k) const;
};

struct Fold {
  // Has the data type of the fold.
  tir::PrimExpr start;
  std::function<tir::PrimExpr(const Indices& at)> load;
  std::function<tir::PrimExpr(const tir::PrimExpr& x, const tir::PrimExpr& sum)>
      add;
  // The value that is stored; null: the fold itself.
  std::function<tir::PrimExpr(const tir::PrimExpr& sum)> finish = nullptr;
};

// Fills `to` with the fold of the elements along `axes`, in the order of the
// kernels.
void Reduce(LoopBuilder& loops, const ReducedAxes& axes, const Fold& fold,
            const tir::Buffer& to);

// Folds for elements of `dtype`, which `load` gives; half floats are float32.
Fold SumFold(DType dtype, std::function<tir::PrimExpr(const Indices& at)> load);
Fold MeanFold(DType dtype, int64_t count,
              std::function<tir::PrimExpr(const Indices& at)> load);
// The largest (or smallest) element; NaN if one is NaN.
Fold ExtremumFold(DType dtype, bool largest,
                  std::function<tir::PrimExpr(const Indices& at)> load);

// The least number of `dtype`, or the greatest: infinite for floats.
tir::PrimExpr Extreme(DType dtype, bool greatest);

}  // namespace baton::lower

#endif  // BATON_LOWER_LANE_REDUCTION_H_
