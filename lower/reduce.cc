// Computations of reductions.

#include "baton/relay/op/tensor/reduce.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/ir/op.h"
#include "baton/lower/computation.h"
#include "baton/lower/lane_reduction.h"
#include "baton/relay/op/nn/normalize.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/intrinsics.h"

namespace baton::lower {
namespace {

using tir::BinaryOp;
using tir::PrimExpr;

template <typename A>
ReducedAxes AxesOf(const LoopBuilder& loops) {
  const A& attrs = loops.attrs<A>();
  absl::Span<const int64_t> axes;
  if (attrs.axis.has_value()) axes = *attrs.axis;
  return ReducedAxes(loops.shape(), axes, attrs.exclude, attrs.keepdims);
}

absl::Status LowerSum(LoopBuilder& loops) {
  Reduce(loops, AxesOf<relay::ReduceAttrs>(loops),
         SumFold(loops.dtype(),
                 [&](const Indices& at) { return loops.Load(0, at); }),
         loops.output());
  return absl::OkStatus();
}

absl::Status LowerMean(LoopBuilder& loops) {
  const ReducedAxes axes = AxesOf<relay::ReduceAttrs>(loops);
  Reduce(loops, axes,
         MeanFold(loops.dtype(), axes.count(),
                  [&](const Indices& at) { return loops.Load(0, at); }),
         loops.output());
  return absl::OkStatus();
}

absl::Status LowerProd(LoopBuilder& loops) {
  Fold fold = SumFold(loops.dtype(),
                      [&](const Indices& at) { return loops.Load(0, at); });
  fold.start = Number(fold.start.dtype(), 1);
  fold.add = [](const PrimExpr& x, const PrimExpr& product) {
    return Op2(BinaryOp::kMul, product, x);
  };
  Reduce(loops, AxesOf<relay::ReduceAttrs>(loops), fold, loops.output());
  return absl::OkStatus();
}

template <bool kLargest>
absl::Status LowerExtremum(LoopBuilder& loops) {
  Reduce(loops, AxesOf<relay::ReduceAttrs>(loops),
         ExtremumFold(loops.dtype(), kLargest,
                      [&](const Indices& at) { return loops.Load(0, at); }),
         loops.output());
  return absl::OkStatus();
}

template <bool kAll>
absl::Status LowerLogic(LoopBuilder& loops) {
  const ReducedAxes axes = AxesOf<relay::ReduceAttrs>(loops);
  loops.Fold(
      loops.output(), axes.extents,
      [](const Indices&) -> PrimExpr { return tir::IntImm::Bool(kAll); },
      [&](const Indices& at, const Indices& k, const PrimExpr& sum) {
        return Op2(kAll ? BinaryOp::kAnd : BinaryOp::kOr, sum,
                   loops.Load(0, axes.IndexOf(at, k)));
      });
  return absl::OkStatus();
}

// The extremum, and then where it is.
template <bool kLargest>
absl::Status LowerArg(LoopBuilder& loops) {
  const auto& attrs = loops.attrs<relay::ArgReduceAttrs>();
  const ReducedAxes axes = AxesOf<relay::ArgReduceAttrs>(loops);
  const tir::Buffer& to = loops.output();
  const DType dtype = to.dtype();
  const DType wide = WideDType(loops.dtype());
  const auto load = [&](const Indices& at) {
    return Cast(wide, loops.Load(0, at));
  };
  const tir::Buffer best = loops.Temporary(absl::StrCat(to->name(), "_value"),
                                           wide, axes.ResultShape());
  const Fold fold = ExtremumFold(wide, kLargest, load);
  loops.Fold(
      best, axes.extents, [&](const Indices&) { return fold.start; },
      [&](const Indices& at, const Indices& k, const PrimExpr& sum) {
        return fold.add(fold.load(axes.IndexOf(at, k)), sum);
      });
  const int64_t none = attrs.select_last_index ? -1 : axes.count();
  loops.Fold(
      to, axes.extents,
      [&](const Indices&) -> PrimExpr { return tir::IntImm(dtype, none); },
      [&](const Indices& at, const Indices& k, const PrimExpr& where) {
        const PrimExpr x = load(axes.IndexOf(at, k));
        const PrimExpr sought = tir::BufferLoad(best, at);
        PrimExpr is_here = Op2(BinaryOp::kEQ, x, sought);
        if (wide.is_float()) {
          is_here = Op2(BinaryOp::kOr, is_here,
                        Op2(BinaryOp::kAnd, tir::CallIntrinsic("isnan", {x}),
                            tir::CallIntrinsic("isnan", {sought})));
        }
        const PrimExpr position = Cast(dtype, Flatten(k, axes.extents));
        return Op2(attrs.select_last_index ? BinaryOp::kMax : BinaryOp::kMin,
                   where,
                   tir::Select(is_here, position, tir::IntImm(dtype, none)));
      });
  return absl::OkStatus();
}

// The mean squared distance to the given mean.
absl::Status LowerVariance(LoopBuilder& loops) {
  const auto& attrs = loops.attrs<relay::VarianceAttrs>();
  const ReducedAxes axes = AxesOf<relay::VarianceAttrs>(loops);
  const tir::Buffer& to = loops.output();
  const DType dtype = loops.dtype();
  const DType wide = WideDType(dtype);
  const std::vector<int64_t>& mean = loops.shape(1);
  const tir::Buffer squares = loops.Temporary(
      absl::StrCat(to->name(), "_squares"), dtype, loops.shape());
  loops.Store(squares, [&](const Indices& at) {
    const size_t skipped = at.size() - mean.size();
    Indices from;
    for (size_t i = 0; i < mean.size(); ++i) {
      from.push_back(mean[i] == 1 ? Index(0) : at[skipped + i]);
    }
    // Each operation is rounded to the type of the data.
    const PrimExpr d = Cast(
        wide, Cast(dtype, Op2(BinaryOp::kSub, Cast(wide, loops.Load(0, at)),
                              Cast(wide, loops.Load(1, from)))));
    return Cast(dtype, Op2(BinaryOp::kMul, d, d));
  });
  const auto load = [&](const Indices& at) -> PrimExpr {
    return tir::BufferLoad(squares, at);
  };
  if (!attrs.unbiased) {
    Reduce(loops, axes, MeanFold(dtype, axes.count(), load), to);
    return absl::OkStatus();
  }
  const tir::Buffer sums =
      loops.Temporary(absl::StrCat(to->name(), "_sum"), dtype, ShapeOf(to));
  Reduce(loops, axes, SumFold(dtype, load), sums);
  const double divisor = static_cast<double>(axes.count() - 1);
  loops.Store(to, [&](const Indices& at) {
    return Cast(dtype,
                Op2(BinaryOp::kDiv, Cast(wide, tir::BufferLoad(sums, at)),
                    Number(wide, divisor)));
  });
  return absl::OkStatus();
}

absl::Status LowerL2Normalize(LoopBuilder& loops) {
  const auto& attrs = loops.attrs<relay::L2NormalizeAttrs>();
  const DType real = DType::Float(64);
  const tir::Buffer& to = loops.output();
  // The axes as they are given, and in ascending order: squares are stored so
  // that those are added in the given order.
  std::vector<size_t> given;
  for (const int64_t axis : attrs.axis) {
    const auto normal = static_cast<size_t>(NormalAxis(axis, loops.rank()));
    if (!absl::c_linear_search(given, normal)) given.push_back(normal);
  }
  std::vector<size_t> ascending = given;
  absl::c_sort(ascending);
  std::vector<int64_t> shape = loops.shape();
  for (size_t i = 0; i < given.size(); ++i) {
    shape[ascending[i]] = loops.shape()[given[i]];
  }
  const ReducedAxes axes(shape, attrs.axis, /*exclude=*/false, /*keeps=*/true);
  const tir::Buffer squares =
      loops.Temporary(absl::StrCat(to->name(), "_squares"), real, shape);
  loops.Store(squares, [&](const Indices& at) {
    Indices from = at;
    for (size_t i = 0; i < given.size(); ++i) from[given[i]] = at[ascending[i]];
    const PrimExpr x = Cast(real, loops.Load(0, from));
    return Op2(BinaryOp::kMul, x, x);
  });
  const tir::Buffer norms = loops.Temporary(absl::StrCat(to->name(), "_norm"),
                                            real, axes.ResultShape());
  Fold fold = SumFold(real, [&](const Indices& at) -> PrimExpr {
    return tir::BufferLoad(squares, at);
  });
  fold.finish = [&](const PrimExpr& sum) {
    return tir::CallIntrinsic(
        "sqrt", {Op2(BinaryOp::kMax, sum, Number(real, attrs.eps))});
  };
  Reduce(loops, axes, fold, norms);
  loops.Store(to, [&](const Indices& at) {
    Indices row;
    for (size_t i = 0; i < at.size(); ++i) {
      row.push_back(axes.reduced[i] ? Index(0) : at[i]);
    }
    return Convert(to.dtype(),
                   Op2(BinaryOp::kDiv, Cast(real, loops.Load(0, at)),
                       tir::BufferLoad(norms, row)));
  });
  return absl::OkStatus();
}

BATON_EXTEND_OP("sum").Set(Computations(), LowerSum);
BATON_EXTEND_OP("mean").Set(Computations(), LowerMean);
BATON_EXTEND_OP("prod").Set(Computations(), LowerProd);
BATON_EXTEND_OP("max").Set(Computations(), LowerExtremum<true>);
BATON_EXTEND_OP("min").Set(Computations(), LowerExtremum<false>);
BATON_EXTEND_OP("all").Set(Computations(), LowerLogic<true>);
BATON_EXTEND_OP("any").Set(Computations(), LowerLogic<false>);
BATON_EXTEND_OP("argmax").Set(Computations(), LowerArg<true>);
BATON_EXTEND_OP("argmin").Set(Computations(), LowerArg<false>);
BATON_EXTEND_OP("variance").Set(Computations(), LowerVariance);
BATON_EXTEND_OP("nn.l2_normalize").Set(Computations(), LowerL2Normalize);

}  // namespace
}  // namespace baton::lower
