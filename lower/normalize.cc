// Computations of softmax and of normalizations. Statistics are summed in
// double, in the order of the kernels (runtime/kernels/normalize_kernels.cc).

#include "baton/relay/op/nn/normalize.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "baton/base/dtype.h"
#include "baton/ir/op.h"
#include "baton/lower/computation.h"
#include "baton/lower/double_math.h"
#include "baton/lower/lane_fold.h"
#include "baton/relay/op/nn/activation.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/intrinsics.h"

namespace baton::lower {
namespace {

using tir::BinaryOp;
using tir::PrimExpr;

PrimExpr Sqrt(const PrimExpr& x) { return tir::CallIntrinsic("sqrt", {x}); }
// A function of the C library.
PrimExpr CLibrary(const char* name, std::vector<PrimExpr> args) {
  args.insert(args.begin(), tir::StringImm(name));
  return tir::Call(kDouble, tir::IntrinsicOp("call_pure_extern"),
                   std::move(args));
}

std::vector<int64_t> Without(std::vector<int64_t> shape, int axis) {
  shape.erase(shape.begin() + axis);
  return shape;
}
Indices Without(Indices at, int axis) {
  at.erase(at.begin() + axis);
  return at;
}
Indices With(Indices at, int axis, const PrimExpr& index) {
  at.insert(at.begin() + axis, index);
  return at;
}

int64_t InnerOf(const std::vector<int64_t>& shape, int axis) {
  int64_t inner = 1;
  for (size_t i = static_cast<size_t>(axis) + 1; i < shape.size(); ++i) {
    inner *= shape[i];
  }
  return inner;
}

absl::Status LowerSoftmaxAs(LoopBuilder& loops, bool log) {
  const tir::Buffer& out = loops.output();
  const int axis =
      NormalAxis(loops.attrs<relay::SoftmaxAttrs>().axis, loops.rank());
  const std::vector<int64_t>& shape = loops.shape();
  const std::vector<int64_t> rows = Without(shape, axis);
  const DType dtype = WideDType(loops.dtype());
  const int64_t extent = shape[static_cast<size_t>(axis)];
  // Runs of adjacent elements are folded in lanes.
  const bool in_lanes = InnerOf(shape, axis) == 1;
  const auto fold_rows = in_lanes ? FoldInLanes : FoldInOrder;
  const auto load = [&](const Indices& at) {
    return Cast(dtype, loops.Load(0, at));
  };
  const tir::Buffer max =
      loops.Temporary(absl::StrCat(out->name(), "_maxelem"), dtype, rows);
  fold_rows(loops,
            {.count = extent,
             .start = Number(dtype, -std::numeric_limits<double>::infinity()),
             .term = [&](const Indices& at,
                         const PrimExpr& k) { return load(With(at, axis, k)); },
             .add = [&](const PrimExpr& x, const PrimExpr& best) -> PrimExpr {
               const PrimExpr larger = Op2(BinaryOp::kMax, best, x);
               if (!in_lanes) return larger;
               return tir::Select(tir::CallIntrinsic("isnan", {x}), x, larger);
             }},
            max);
  const tir::Buffer exp =
      loops.Temporary(absl::StrCat(out->name(), "_exp"), dtype, shape);
  loops.Store(exp, [&](const Indices& at) {
    return tir::CallIntrinsic(
        "exp", {Minus(load(at), tir::BufferLoad(max, Without(at, axis)))});
  });
  const tir::Buffer scale =
      loops.Temporary(absl::StrCat(out->name(), "_expsum"), kDouble, rows);
  fold_rows(loops,
            {.count = extent,
             .start = Real(0),
             .term =
                 [&](const Indices& at, const PrimExpr& k) {
                   return Cast(kDouble,
                               tir::BufferLoad(exp, With(at, axis, k)));
                 },
             .add = [](const PrimExpr& x,
                       const PrimExpr& sum) { return Plus(sum, x); },
             .finish =
                 [&](const PrimExpr& sum) {
                   return log ? CLibrary("log", {sum}) : Over(Real(1), sum);
                 }},
            scale);
  loops.Store(out, [&](const Indices& at) {
    const Indices row = Without(at, axis);
    const PrimExpr factor = tir::BufferLoad(scale, row);
    const PrimExpr value =
        log ? Minus(Minus(Cast(kDouble, load(at)),
                          Cast(kDouble, tir::BufferLoad(max, row))),
                    factor)
            : Times(Cast(kDouble, tir::BufferLoad(exp, at)), factor);
    return Cast(out.dtype(), Cast(dtype, value));
  });
  return absl::OkStatus();
}

absl::Status LowerSoftmax(LoopBuilder& loops) {
  return LowerSoftmaxAs(loops, /*log=*/false);
}
absl::Status LowerLogSoftmax(LoopBuilder& loops) {
  return LowerSoftmaxAs(loops, /*log=*/true);
}

// value + beta, where value + 0 of -0 is +0.
PrimExpr Shifted(const LoopBuilder& loops, const PrimExpr& value, bool center,
                 const PrimExpr& channel) {
  if (center) return Plus(value, Cast(kDouble, loops.Load(2, {channel})));
  return tir::Select(Op2(BinaryOp::kEQ, value, Real(0)), Real(0), value);
}

// From double to the type of the kernel, and to that of the result.
PrimExpr Narrow(const LoopBuilder& loops, const PrimExpr& value) {
  const DType dtype = loops.output().dtype();
  return Cast(dtype, Cast(WideDType(dtype), value));
}

absl::Status LowerBatchNorm(LoopBuilder& loops) {
  const auto& attrs = loops.attrs<relay::BatchNormAttrs>();
  const tir::Buffer& out = loops.output();
  const int axis = NormalAxis(attrs.axis, loops.rank());
  const auto vector = [&](int i, const PrimExpr& channel) {
    return Cast(kDouble, loops.Load(i, {channel}));
  };
  const tir::Buffer scale =
      loops.Temporary(absl::StrCat(out->name(), "_scale"), kDouble,
                      {loops.shape()[static_cast<size_t>(axis)]});
  loops.Store(scale, [&](const Indices& at) {
    return Over(attrs.scale ? vector(1, at[0]) : Real(1),
                Sqrt(Plus(vector(4, at[0]), Real(attrs.epsilon))));
  });
  loops.Store(out, [&](const Indices& at) {
    const PrimExpr channel = at[static_cast<size_t>(axis)];
    const PrimExpr value =
        Times(Minus(Cast(kDouble, loops.Load(0, at)), vector(3, channel)),
              tir::BufferLoad(scale, {channel}));
    return Narrow(loops, Shifted(loops, value, attrs.center, channel));
  });
  for (int i = 1; i < loops.num_outputs(); ++i) {
    loops.Store(loops.output(i),
                [&](const Indices& at) { return loops.Load(2 + i, at); });
  }
  return absl::OkStatus();
}

LaneFold SumOf(int64_t count,
               std::function<PrimExpr(const Indices&, const PrimExpr&)> term) {
  return {.count = count,
          .start = Real(0),
          .term = std::move(term),
          .add = [](const PrimExpr& x, const PrimExpr& sum) {
            return Plus(sum, x);
          }};
}

// Fills buffers of `shape` with the mean and the inverse deviation of `count`
// values each, whose sums `sum` makes.
struct Moments {
  tir::Buffer mean;
  tir::Buffer inverse;
};
template <typename Sum, typename Term>
Moments MakeMoments(LoopBuilder& loops, const std::vector<int64_t>& shape,
                    int64_t count, double epsilon, const Sum& sum,
                    const Term& term) {
  const std::string& name = loops.output()->name();
  Moments moments = {
      loops.Temporary(absl::StrCat(name, "_mean"), kDouble, shape),
      loops.Temporary(absl::StrCat(name, "_inverse"), kDouble, shape)};
  const PrimExpr n = Real(static_cast<double>(count));
  sum(
      term, [&](const PrimExpr& total) { return Over(total, n); },
      moments.mean);
  sum(
      [&](const Indices& at, const PrimExpr& k) {
        const PrimExpr d =
            Minus(term(at, k), tir::BufferLoad(moments.mean, at));
        return Times(d, d);
      },
      [&](const PrimExpr& total) {
        return Over(Real(1), Sqrt(Plus(Over(total, n), Real(epsilon))));
      },
      moments.inverse);
  return moments;
}

PrimExpr Normalized(const LoopBuilder& loops, const Moments& moments,
                    const Indices& row, const Indices& at,
                    const PrimExpr& channel, bool scale, bool center) {
  PrimExpr value = Times(Minus(Cast(kDouble, loops.Load(0, at)),
                               tir::BufferLoad(moments.mean, row)),
                         tir::BufferLoad(moments.inverse, row));
  if (scale) value = Times(value, Cast(kDouble, loops.Load(1, {channel})));
  return Narrow(loops, Shifted(loops, value, center, channel));
}

absl::Status LowerLayerNorm(LoopBuilder& loops) {
  const auto& attrs = loops.attrs<relay::LayerNormAttrs>();
  const int axis = NormalAxis(attrs.axis, loops.rank());
  const std::vector<int64_t>& shape = loops.shape();
  const int64_t extent = shape[static_cast<size_t>(axis)];
  const auto term = [&](const Indices& at, const PrimExpr& k) {
    return Cast(kDouble, loops.Load(0, With(at, axis, k)));
  };
  const Moments moments = MakeMoments(
      loops, Without(shape, axis), extent, attrs.epsilon,
      [&](auto value, auto finish, const tir::Buffer& to) {
        LaneFold fold = SumOf(extent, value);
        fold.finish = finish;
        FoldInLanes(loops, fold, to);
      },
      term);
  loops.Store(loops.output(), [&](const Indices& at) {
    return Normalized(loops, moments, Without(at, axis), at,
                      at[static_cast<size_t>(axis)], attrs.scale, attrs.center);
  });
  return absl::OkStatus();
}

absl::Status LowerGroups(LoopBuilder& loops, int axis, int64_t groups,
                         double epsilon, bool scale, bool center) {
  const std::vector<int64_t>& shape = loops.shape();
  if (axis == 0) return NoLoops("axis 0 is the batch");
  const size_t a = static_cast<size_t>(axis);
  const int64_t group = shape[a] / groups;
  // Axes between the batch and the channels, and behind the channels.
  const std::vector<int64_t> middle(shape.begin() + 1, shape.begin() + axis);
  const std::vector<int64_t> last(shape.begin() + axis + 1, shape.end());
  const int64_t outer = NumElementsOf(middle);
  const int64_t inner = NumElementsOf(last);
  const int64_t run = group * inner;
  // The element at `k` of a run.
  const auto load = [&](const PrimExpr& batch, const PrimExpr& number,
                        const PrimExpr& o, const PrimExpr& k) {
    Indices at = {batch};
    for (const PrimExpr& index : Unflatten(o, middle)) at.push_back(index);
    at.push_back(tir::Add(
        tir::Mul(number, Index(group)),
        group == 1 ? Index(0)
                   : tir::MakeBinary(BinaryOp::kFloorDiv, k, Index(inner))));
    const PrimExpr rest =
        group == 1 ? k : tir::MakeBinary(BinaryOp::kFloorMod, k, Index(inner));
    for (const PrimExpr& index : Unflatten(rest, last)) at.push_back(index);
    return Cast(kDouble, loops.Load(0, at));
  };
  // `k` counts the elements of all runs.
  const auto term = [&](const Indices& at, const PrimExpr& k) {
    if (outer == 1) return load(at[0], at[1], Index(0), k);
    return load(at[0], at[1],
                tir::MakeBinary(BinaryOp::kFloorDiv, k, Index(run)),
                tir::MakeBinary(BinaryOp::kFloorMod, k, Index(run)));
  };
  const Moments moments = MakeMoments(
      loops, {shape[0], groups}, outer * run, epsilon,
      [&](auto value, auto finish, const tir::Buffer& to) {
        LaneFold fold = SumOf(outer * run, value);
        fold.finish = finish;
        FoldInLanes(loops, fold, to);
      },
      term);
  loops.Store(loops.output(), [&](const Indices& at) {
    const PrimExpr& channel = at[a];
    const PrimExpr number = group == 1 ? channel
                                       : tir::MakeBinary(BinaryOp::kFloorDiv,
                                                         channel, Index(group));
    return Normalized(loops, moments, {at[0], number}, at, channel, scale,
                      center);
  });
  return absl::OkStatus();
}

absl::Status LowerGroupNorm(LoopBuilder& loops) {
  const auto& attrs = loops.attrs<relay::GroupNormAttrs>();
  return LowerGroups(loops, NormalAxis(attrs.axis, loops.rank()),
                     attrs.num_groups, attrs.epsilon, attrs.scale,
                     attrs.center);
}

absl::Status LowerInstanceNorm(LoopBuilder& loops) {
  const auto& attrs = loops.attrs<relay::InstanceNormAttrs>();
  const int axis = NormalAxis(attrs.axis, loops.rank());
  return LowerGroups(loops, axis, loops.shape()[static_cast<size_t>(axis)],
                     attrs.epsilon, attrs.scale, attrs.center);
}

absl::Status LowerLrn(LoopBuilder& loops) {
  const auto& attrs = loops.attrs<relay::LRNAttrs>();
  const tir::Buffer& out = loops.output();
  const int axis = NormalAxis(attrs.axis, loops.rank());
  const size_t a = static_cast<size_t>(axis);
  const int64_t extent = loops.shape()[a];
  const int64_t reach = std::min<int64_t>(attrs.size / 2, extent);
  const tir::Buffer squares = loops.Temporary(
      absl::StrCat(out->name(), "_squares"), kDouble, loops.shape());
  loops.Fold(
      squares, {2 * reach + 1}, [](const Indices&) { return Real(0); },
      [&](const Indices& at, const Indices& k, const PrimExpr& sum) {
        Indices from = at;
        from[a] = tir::Sub(tir::Add(at[a], k[0]), Index(reach));
        const PrimExpr inside =
            Op2(BinaryOp::kAnd, Op2(BinaryOp::kLE, Index(0), from[a]),
                Op2(BinaryOp::kLT, from[a], Index(extent)));
        const PrimExpr value = Cast(kDouble, loops.Load(0, from));
        return IfThenElse(inside, Plus(sum, Times(value, value)), sum);
      });
  const double alpha = attrs.alpha / static_cast<double>(attrs.size);
  loops.Store(out, [&](const Indices& at) {
    const PrimExpr sum = Plus(Real(attrs.bias),
                              Times(Real(alpha), tir::BufferLoad(squares, at)));
    const PrimExpr power =
        attrs.beta == 0.75
            ? Sqrt(Times(sum, Sqrt(sum)))  // as in nearly all networks
            : CLibrary("pow", {sum, Real(attrs.beta)});
    return Narrow(loops, Over(Cast(kDouble, loops.Load(0, at)), power));
  });
  return absl::OkStatus();
}

BATON_EXTEND_OP("nn.softmax").Set(Computations(), LowerSoftmax);
BATON_EXTEND_OP("nn.log_softmax").Set(Computations(), LowerLogSoftmax);
BATON_EXTEND_OP("nn.fast_softmax").Set(Computations(), LowerSoftmax);
BATON_EXTEND_OP("nn.batch_norm").Set(Computations(), LowerBatchNorm);
BATON_EXTEND_OP("nn.layer_norm").Set(Computations(), LowerLayerNorm);
BATON_EXTEND_OP("nn.group_norm").Set(Computations(), LowerGroupNorm);
BATON_EXTEND_OP("nn.instance_norm").Set(Computations(), LowerInstanceNorm);
BATON_EXTEND_OP("nn.lrn").Set(Computations(), LowerLrn);

}  // namespace
}  // namespace baton::lower
