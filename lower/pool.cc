// Computations of pools. They fold over all spatial axes but the last first,
// and then over the last, as the kernels do (runtime/kernels/pool_kernels.cc).

#include "baton/relay/op/nn/pool.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/number_range.h"
#include "baton/base/status_macros.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/lower/computation.h"
#include "baton/lower/lane_reduction.h"
#include "baton/lower/windows.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/intrinsics.h"

namespace baton::lower {
namespace {

using tir::BinaryOp;
using tir::PrimExpr;

enum class Mode { kMax, kAvg };

// The first of the spatial axes of a layout and their number.
struct SpatialAxes {
  size_t first = 0;
  size_t count = 0;
};

SpatialAxes SpatialAxesOf(absl::string_view layout) {
  SpatialAxes axes;
  size_t rank = 0;
  for (const char c : layout) {
    if (!absl::ascii_isalpha(static_cast<unsigned char>(c))) continue;
    if (c == 'D' || c == 'H' || c == 'W') {
      if (axes.count == 0) axes.first = rank;
      ++axes.count;
    }
    ++rank;
  }
  return axes;
}

// The fold of a pool over elements of `dtype`, without `load` and `finish`.
struct PoolFold {
  DType dtype;  // of the fold
  PrimExpr start;
  PrimExpr Add(const PrimExpr& x, const PrimExpr& sum) const {
    if (is_sum) return Op2(BinaryOp::kAdd, sum, x);
    const PrimExpr larger = Op2(BinaryOp::kMax, sum, x);
    if (!dtype.is_float()) return larger;
    return tir::Select(tir::CallIntrinsic("isnan", {x}), x, larger);
  }
  bool is_sum = false;
};

PoolFold FoldOf(Mode mode, DType dtype) {
  if (mode == Mode::kAvg) {
    const DType sum = dtype.is_float()  ? DType::Float(64)
                      : dtype.is_uint() ? DType::UInt(64)
                                        : DType::Int(64);
    return {sum, Number(sum, 0), true};
  }
  const DType wide = WideDType(dtype);
  if (!dtype.is_float()) return {wide, Extreme(wide, /*greatest=*/false)};
  // The maximum of no elements is a number.
  return {wide, tir::FloatImm(wide, LowestFinite(dtype))};
}

// The value that is stored: the fold, divided by `count` if it is a sum.
PrimExpr Finish(Mode mode, DType dtype, const PrimExpr& sum,
                const PrimExpr& count) {
  PrimExpr value = sum;
  if (mode == Mode::kAvg) {
    value = Op2(BinaryOp::kDiv, sum, tir::CastTo(sum.dtype(), count));
  }
  return Cast(dtype, Cast(WideDType(dtype), value));
}

PrimExpr ConditionalAdd(const PoolFold& fold, const PrimExpr& inside,
                        const PrimExpr& x, const PrimExpr& sum) {
  const PrimExpr added = fold.Add(Cast(fold.dtype, x), sum);
  return inside.defined() ? IfThenElse(inside, added, sum) : added;
}

// Returns the number of taps of output `o` that read inside of the data.
PrimExpr CountInside(const AxisWindow& window, const PrimExpr& o) {
  if (window.IsInside()) return Index(window.kernel);
  const auto divide = [&](const PrimExpr& a) {
    return tir::MakeBinary(BinaryOp::kFloorDiv, a, Index(window.dilation));
  };
  const PrimExpr offset =
      tir::Sub(tir::Mul(o, Index(window.stride)), Index(window.before));
  const PrimExpr first =
      tir::MakeBinary(BinaryOp::kMax, Index(0),
                      divide(tir::Sub(Index(window.dilation - 1), offset)));
  const PrimExpr last = tir::MakeBinary(
      BinaryOp::kMin, Index(window.kernel),
      tir::Add(divide(tir::Sub(Index(window.in - 1), offset)), Index(1)));
  return tir::MakeBinary(BinaryOp::kMax, Index(0), tir::Sub(last, first));
}

absl::Status LowerWindows(LoopBuilder& loops, Mode mode,
                          const SpatialAxes& axes,
                          const std::vector<AxisWindow>& windows,
                          bool count_include_pad) {
  const tir::Buffer& out = loops.output();
  const DType dtype = out.dtype();
  const PoolFold fold = FoldOf(mode, dtype);
  const size_t last = axes.count - 1;
  const auto load = [&](const Indices& at) { return loops.Load(0, at); };
  LoopBuilder::Value columns_of = load;
  tir::Buffer columns;
  if (last > 0) {
    std::vector<int64_t> shape = ShapeOf(out);
    shape[axes.first + last] = windows[last].in;
    columns = loops.Temporary(absl::StrCat(out->name(), "_columns"), fold.dtype,
                              shape);
    std::vector<int64_t> extents;
    for (size_t i = 0; i < last; ++i) extents.push_back(windows[i].kernel);
    loops.Fold(
        columns, extents, [&](const Indices&) { return fold.start; },
        [&](const Indices& at, const Indices& k, const PrimExpr& sum) {
          Indices from = at;
          PrimExpr inside;
          for (size_t i = 0; i < last; ++i) {
            PrimExpr& index = from[axes.first + i];
            index = windows[i].Position(index, k[i]);
            inside = And(inside, windows[i].Inside(index));
          }
          return ConditionalAdd(fold, inside, load(from), sum);
        });
    columns_of = [&](const Indices& at) -> PrimExpr {
      return tir::BufferLoad(columns, at);
    };
  }
  const bool is_last = mode == Mode::kMax && fold.dtype == dtype;
  const tir::Buffer sums =
      is_last ? out
              : loops.Temporary(absl::StrCat(out->name(), "_sum"), fold.dtype,
                                ShapeOf(out));
  loops.Fold(
      sums, {windows[last].kernel}, [&](const Indices&) { return fold.start; },
      [&](const Indices& at, const Indices& k, const PrimExpr& sum) {
        Indices from = at;
        PrimExpr& index = from[axes.first + last];
        index = windows[last].Position(index, k[0]);
        return ConditionalAdd(fold, windows[last].Inside(index),
                              columns_of(from), sum);
      });
  if (is_last) return absl::OkStatus();
  loops.Store(out, [&](const Indices& at) {
    PrimExpr count = Index(1);
    for (size_t i = 0; i < windows.size(); ++i) {
      count =
          tir::Mul(count, count_include_pad
                              ? PrimExpr(Index(windows[i].kernel))
                              : CountInside(windows[i], at[axes.first + i]));
    }
    count = tir::MakeBinary(BinaryOp::kMax, Index(1), count);
    return Finish(mode, dtype, tir::BufferLoad(sums, at), count);
  });
  return absl::OkStatus();
}

template <size_t kSpatial, typename A, Mode kMode>
absl::Status LowerPool(LoopBuilder& loops) {
  const A& attrs = loops.attrs<A>();
  const SpatialAxes axes = SpatialAxesOf(attrs.layout);
  if (axes.count != kSpatial) return NoLoops("the layout does not fit");
  BATON_ASSIGN_OR_RETURN(std::vector<AxisWindow> windows,
                         WindowsOf(attrs, kSpatial));
  const auto size = ConstDims(attrs.pool_size);
  if (!size.has_value() || size->size() != kSpatial) {
    return NoLoops("the pool size is not a number");
  }
  for (size_t i = 0; i < kSpatial; ++i) {
    windows[i].kernel = (*size)[i];
    windows[i].in = loops.shape()[axes.first + i];
    windows[i].out = ShapeOf(loops.output())[axes.first + i];
  }
  bool count_include_pad = false;
  if constexpr (requires { attrs.count_include_pad; }) {
    count_include_pad = attrs.count_include_pad;
  }
  return LowerWindows(loops, kMode, axes, windows, count_include_pad);
}

template <typename A, Mode kMode>
absl::Status LowerAdaptive(LoopBuilder& loops) {
  const SpatialAxes axes = SpatialAxesOf(loops.attrs<A>().layout);
  const tir::Buffer& to = loops.output();
  const std::vector<int64_t> to_shape = ShapeOf(to);
  const DType dtype = to.dtype();
  const PoolFold fold = FoldOf(kMode, dtype);
  struct Axis {
    int64_t in;
    int64_t out;
    int64_t longest = 0;
    bool is_even = false;  // all ranges are equally long
    PrimExpr First(const PrimExpr& o) const {
      if (is_even) return tir::Mul(o, Index(in / out));
      return tir::MakeBinary(BinaryOp::kFloorDiv, tir::Mul(o, Index(in)),
                             Index(out));
    }
    PrimExpr Length(const PrimExpr& o) const {
      if (is_even) return Index(in / out);
      const PrimExpr end = tir::MakeBinary(
          BinaryOp::kFloorDiv,
          tir::Add(tir::Mul(o, Index(in)), Index(in + out - 1)), Index(out));
      return tir::Sub(end, First(o));
    }
  };
  std::vector<Axis> all;
  std::vector<int64_t> extents;
  for (size_t i = 0; i < axes.count; ++i) {
    Axis axis = {loops.shape()[axes.first + i], to_shape[axes.first + i]};
    if (axis.in > (int64_t{1} << 30) / (axis.out + 1)) {
      return NoLoops("the indices are no int32");
    }
    axis.is_even = axis.in % axis.out == 0;
    for (int64_t o = 0; o < axis.out; ++o) {
      axis.longest =
          std::max(axis.longest, ((o + 1) * axis.in + axis.out - 1) / axis.out -
                                     o * axis.in / axis.out);
    }
    extents.push_back(axis.longest);
    all.push_back(axis);
  }
  const bool is_last = kMode == Mode::kMax && fold.dtype == dtype;
  const tir::Buffer sums =
      is_last ? to
              : loops.Temporary(absl::StrCat(to->name(), "_sum"), fold.dtype,
                                to_shape);
  loops.Fold(
      sums, extents, [&](const Indices&) { return fold.start; },
      [&](const Indices& at, const Indices& k, const PrimExpr& sum) {
        Indices from = at;
        PrimExpr inside;
        for (size_t i = 0; i < all.size(); ++i) {
          const PrimExpr& o = at[axes.first + i];
          from[axes.first + i] = tir::Add(all[i].First(o), k[i]);
          if (all[i].is_even) continue;
          inside = And(inside, Op2(BinaryOp::kLT, k[i], all[i].Length(o)));
        }
        return ConditionalAdd(fold, inside, loops.Load(0, from), sum);
      });
  if (is_last) return absl::OkStatus();
  loops.Store(to, [&](const Indices& at) {
    PrimExpr count = Index(1);
    for (size_t i = 0; i < all.size(); ++i) {
      count = tir::Mul(count, all[i].Length(at[axes.first + i]));
    }
    return Finish(kMode, dtype, tir::BufferLoad(sums, at), count);
  });
  return absl::OkStatus();
}

template <Mode kMode>
absl::Status LowerGlobal(LoopBuilder& loops) {
  const SpatialAxes spatial =
      SpatialAxesOf(loops.attrs<relay::GlobalPool2DAttrs>().layout);
  std::vector<int64_t> which;
  for (size_t i = 0; i < spatial.count; ++i) {
    which.push_back(static_cast<int64_t>(spatial.first + i));
  }
  if (which.empty()) return NoLoops("the layout does not fit");
  const ReducedAxes axes(loops.shape(), which, /*exclude=*/false,
                         /*keeps=*/true);
  const auto load = [&](const Indices& at) { return loops.Load(0, at); };
  Reduce(loops, axes,
         kMode == Mode::kMax
             ? ExtremumFold(loops.dtype(), /*largest=*/true, load)
             : MeanFold(loops.dtype(), axes.count(), load),
         loops.output());
  return absl::OkStatus();
}

#define BATON_ROW(name, computation) \
  BATON_EXTEND_OP(name).Set(Computations(), computation)

BATON_ROW("nn.max_pool1d", (LowerPool<1, relay::MaxPool1DAttrs, Mode::kMax>));
BATON_ROW("nn.max_pool2d", (LowerPool<2, relay::MaxPool2DAttrs, Mode::kMax>));
BATON_ROW("nn.max_pool3d", (LowerPool<3, relay::MaxPool3DAttrs, Mode::kMax>));
BATON_ROW("nn.avg_pool1d", (LowerPool<1, relay::AvgPool1DAttrs, Mode::kAvg>));
BATON_ROW("nn.avg_pool2d", (LowerPool<2, relay::AvgPool2DAttrs, Mode::kAvg>));
BATON_ROW("nn.avg_pool3d", (LowerPool<3, relay::AvgPool3DAttrs, Mode::kAvg>));
BATON_ROW("nn.global_max_pool2d", LowerGlobal<Mode::kMax>);
BATON_ROW("nn.global_avg_pool2d", LowerGlobal<Mode::kAvg>);
BATON_ROW("nn.adaptive_max_pool1d",
          (LowerAdaptive<relay::AdaptivePool1DAttrs, Mode::kMax>));
BATON_ROW("nn.adaptive_max_pool2d",
          (LowerAdaptive<relay::AdaptivePool2DAttrs, Mode::kMax>));
BATON_ROW("nn.adaptive_max_pool3d",
          (LowerAdaptive<relay::AdaptivePool3DAttrs, Mode::kMax>));
BATON_ROW("nn.adaptive_avg_pool1d",
          (LowerAdaptive<relay::AdaptivePool1DAttrs, Mode::kAvg>));
BATON_ROW("nn.adaptive_avg_pool2d",
          (LowerAdaptive<relay::AdaptivePool2DAttrs, Mode::kAvg>));
BATON_ROW("nn.adaptive_avg_pool3d",
          (LowerAdaptive<relay::AdaptivePool3DAttrs, Mode::kAvg>));

}  // namespace
}  // namespace baton::lower
