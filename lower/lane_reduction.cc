#include "baton/lower/lane_reduction.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/lower/computation.h"
#include "baton/lower/lane_fold.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/intrinsics.h"

namespace baton::lower {

using tir::BinaryOp;
using tir::PrimExpr;

ReducedAxes::ReducedAxes(std::vector<int64_t> shape_of_data,
                         absl::Span<const int64_t> axes, bool exclude,
                         bool keeps)
    : shape(std::move(shape_of_data)),
      reduced(shape.size(), axes.empty()),
      keepdims(keeps) {
  for (const int64_t axis : axes) {
    reduced[static_cast<size_t>(
        NormalAxis(axis, static_cast<int>(shape.size())))] = true;
  }
  if (exclude && !axes.empty()) reduced.flip();
  for (size_t i = 0; i < shape.size(); ++i) {
    if (reduced[i]) extents.push_back(shape[i]);
  }
}

std::vector<int64_t> ReducedAxes::ResultShape() const {
  std::vector<int64_t> result;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!reduced[i]) result.push_back(shape[i]);
    if (reduced[i] && keepdims) result.push_back(1);
  }
  return result;
}

Indices ReducedAxes::IndexOf(const Indices& at, const Indices& k) const {
  Indices index;
  size_t next = 0;
  size_t next_reduced = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    index.push_back(reduced[i] ? k[next_reduced++] : at[next]);
    if (!reduced[i] || keepdims) ++next;
  }
  return index;
}

void Reduce(LoopBuilder& loops, const ReducedAxes& axes, const Fold& fold,
            const tir::Buffer& to) {
  const int64_t count = axes.count();
  if (count >= kReductionLanes.few) {
    FoldInLanes(
        loops,
        {.count = count,
         .order = kReductionLanes,
         .start = fold.start,
         .term =
             [&](const Indices& at, const PrimExpr& k) {
               return fold.load(axes.IndexOf(at, Unflatten(k, axes.extents)));
             },
         .add = fold.add,
         .finish = fold.finish},
        to);
    return;
  }
  const bool is_last = fold.finish == nullptr;
  const tir::Buffer sums =
      is_last ? to
              : loops.Temporary(absl::StrCat(to->name(), "_red"),
                                fold.start.dtype(), ShapeOf(to));
  loops.Fold(
      sums, axes.extents, [&](const Indices&) { return fold.start; },
      [&](const Indices& at, const Indices& k, const PrimExpr& sum) {
        return fold.add(fold.load(axes.IndexOf(at, k)), sum);
      });
  if (is_last) return;
  loops.Store(to, [&](const Indices& at) {
    return fold.finish(tir::BufferLoad(sums, at));
  });
}

namespace {

// From the type of the fold to that of the kernel, and of the result.
std::function<PrimExpr(const PrimExpr&)> Narrowing(DType dtype) {
  return [dtype](const PrimExpr& sum) {
    return Cast(dtype, Cast(WideDType(dtype), sum));
  };
}

PrimExpr Plus(const PrimExpr& x, const PrimExpr& sum) {
  return Op2(BinaryOp::kAdd, sum, x);
}

}  // namespace

Fold SumFold(DType dtype, std::function<PrimExpr(const Indices& at)> load) {
  // Integers wrap.
  const DType sum = dtype.is_float() ? DType::Float(64) : dtype;
  Fold fold = {.start = Number(sum, 0),
               .load = [load = std::move(load),
                        sum](const Indices& at) { return Cast(sum, load(at)); },
               .add = Plus};
  if (sum != dtype) fold.finish = Narrowing(dtype);
  return fold;
}

Fold MeanFold(DType dtype, int64_t count,
              std::function<PrimExpr(const Indices& at)> load) {
  const DType sum = dtype.is_float()  ? DType::Float(64)
                    : dtype.is_uint() ? DType::UInt(64)
                                      : DType::Int(64);
  Fold fold = {.start = Number(sum, 0),
               .load = [load = std::move(load),
                        sum](const Indices& at) { return Cast(sum, load(at)); },
               .add = Plus};
  const PrimExpr n = Number(sum, static_cast<double>(count));
  fold.finish = [n, narrow = Narrowing(dtype)](const PrimExpr& total) {
    return narrow(Op2(BinaryOp::kDiv, total, n));
  };
  return fold;
}

Fold ExtremumFold(DType dtype, bool largest,
                  std::function<PrimExpr(const Indices& at)> load) {
  const DType wide = WideDType(dtype);
  Fold fold = {
      .start = Extreme(wide, !largest),
      .load = [load = std::move(load),
               wide](const Indices& at) { return Cast(wide, load(at)); },
      .add = [largest](const PrimExpr& x, const PrimExpr& best) -> PrimExpr {
        const PrimExpr better =
            Op2(largest ? BinaryOp::kMax : BinaryOp::kMin, best, x);
        if (!x.dtype().is_float()) return better;
        return tir::Select(tir::CallIntrinsic("isnan", {x}), x, better);
      }};
  if (wide != dtype) fold.finish = Narrowing(dtype);
  return fold;
}

PrimExpr Extreme(DType dtype, bool greatest) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (dtype.is_float()) {
    return tir::FloatImm(dtype, greatest ? kInfinity : -kInfinity);
  }
  if (dtype.is_uint()) {
    if (!greatest) return tir::IntImm(dtype, 0);
    if (dtype.bits() == 64) return Cast(dtype, tir::IntImm(DType::Int(64), -1));
    return tir::IntImm(dtype, (int64_t{1} << dtype.bits()) - 1);
  }
  const int64_t most =
      std::numeric_limits<int64_t>::max() >> (64 - dtype.bits());
  return tir::IntImm(dtype, greatest ? most : -most - 1);
}

}  // namespace baton::lower
