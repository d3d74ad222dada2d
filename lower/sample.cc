// The computation of images sampled at points that an argument gives.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "baton/base/dtype.h"
#include "baton/ir/op.h"
#include "baton/lower/computation.h"
#include "baton/lower/double_math.h"
#include "baton/relay/op/image/image.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/intrinsics.h"

namespace baton::lower {
namespace {

using relay::GridSampleAttrs;
using tir::BinaryOp;
using tir::PrimExpr;

PrimExpr Floor(const PrimExpr& x) { return tir::CallIntrinsic("floor", {x}); }
PrimExpr Abs(const PrimExpr& x) { return tir::CallIntrinsic("fabs", {x}); }

// The elements that a point reads along one axis of the data, and their weights:
// see GridSampler of runtime/kernels/resize.cc.
class Axis {
 public:
  Axis(const GridSampleAttrs& attrs, int64_t extent)
      : attrs_(attrs), size_(static_cast<double>(extent)) {}

  int64_t num_taps() const {
    return attrs_.method == "nearest" ? 1 : IsCubic() ? 4 : 2;
  }

  // The place of a coordinate between the elements.
  PrimExpr Place(const PrimExpr& coordinate) const {
    const PrimExpr from_edge = Plus(coordinate, Real(1));
    const PrimExpr exact =
        attrs_.align_corners
            ? Half(Times(from_edge, Real(size_ - 1)))
            : Minus(Half(Times(from_edge, Real(size_))), Real(0.5));
    PrimExpr place = tir::Select(Less(Abs(exact), Real(1e15)), exact, Real(-8));
    if (!IsCubic()) place = Inside(place);
    if (attrs_.padding_mode == "reflection") return place;
    return tir::Select(
        Less(Real(-8), place),
        tir::Select(Less(place, Real(size_ + 8)), place, Real(size_ + 8)),
        Real(-8));
  }

  // The element of tap `k`, which is the number of a tap; -1 reads zero.
  PrimExpr Element(const PrimExpr& place, const PrimExpr& k) const {
    PrimExpr element;
    if (attrs_.method == "nearest") {
      element = tir::CallIntrinsic("nearbyint", {place});
    } else if (IsCubic()) {
      element = Inside(Plus(Minus(Floor(place), Real(1)), Number(k)));
    } else {
      element = Plus(Floor(place), Number(k));
    }
    return tir::Select(
        And(AtMost(Real(0), element), Less(element, Real(size_))),
        Cast(tir::kInt32, element), Index(-1));
  }

  PrimExpr Weight(const PrimExpr& place, const PrimExpr& k) const {
    if (attrs_.method == "nearest") return Real(1);
    const PrimExpr t = Minus(place, Floor(place));
    if (!IsCubic()) return Choice({Minus(Real(1), t), t}, k);
    constexpr double kAlpha = -0.75;
    const PrimExpr t2 = Times(t, t);
    const PrimExpr t3 = Times(t2, t);
    return Choice(
        {Times(Real(kAlpha), Plus(Minus(t3, Times(Real(2), t2)), t)),
         Plus(Minus(Times(Real(kAlpha + 2), t3), Times(Real(kAlpha + 3), t2)),
              Real(1)),
         Minus(Plus(Times(Real(-(kAlpha + 2)), t3),
                    Times(Real(2 * kAlpha + 3), t2)),
               Times(Real(kAlpha), t)),
         Times(Real(kAlpha), Minus(t2, t3))},
        k);
  }

 private:
  bool IsCubic() const { return attrs_.method == "bicubic"; }
  static PrimExpr Half(const PrimExpr& x) { return Over(x, Real(2)); }
  static PrimExpr Number(const PrimExpr& k) { return Cast(kDouble, k); }
  static PrimExpr Choice(const std::vector<PrimExpr>& choices,
                         const PrimExpr& k) {
    PrimExpr choice = choices.back();
    for (size_t i = choices.size() - 1; i-- > 0;) {
      choice =
          tir::Select(Op2(BinaryOp::kEQ, k, Index(static_cast<int64_t>(i))),
                      choices[i], choice);
    }
    return choice;
  }

  // The coordinate inside of the data that stands for `x`; `x` itself where the
  // padding is zeros.
  PrimExpr Inside(PrimExpr x) const {
    if (attrs_.padding_mode == "zeros") return x;
    if (attrs_.padding_mode == "reflection") {
      x = attrs_.align_corners ? Reflected(x, size_ - 1, 0)
                               : Reflected(x, size_, -0.5);
    }
    const PrimExpr low = tir::Select(Less(x, Real(0)), Real(0), x);
    return tir::Select(Less(Real(size_ - 1), low), Real(size_ - 1), low);
  }

  static PrimExpr Reflected(const PrimExpr& x, double size, double start) {
    if (!(size > 0)) return Real(start);
    const PrimExpr distance = Abs(Minus(Real(start), x));
    const PrimExpr times = Floor(Over(distance, Real(size)));
    const PrimExpr extra = Minus(distance, Times(times, Real(size)));
    // Whole numbers, of which halves are exact.
    const PrimExpr is_even = Op2(
        BinaryOp::kEQ, Times(Floor(Times(times, Real(0.5))), Real(2)), times);
    return tir::Select(
        And(AtMost(Real(start), x), AtMost(x, Real(size + start))), x,
        tir::Select(is_even, Plus(extra, Real(start)),
                    Plus(Minus(Real(size), extra), Real(start))));
  }

  const GridSampleAttrs& attrs_;
  double size_;
};

absl::Status LowerGridSample(LoopBuilder& loops) {
  const auto& attrs = loops.attrs<GridSampleAttrs>();
  const size_t spatial = loops.shape().size() - 2;
  if (attrs.layout != (spatial == 3 ? "NCDHW" : "NCHW")) {
    return NoLoops(absl::StrCat("the layout ", attrs.layout));
  }
  const bool is_known =
      (attrs.method == "nearest" || attrs.method == "bilinear" ||
       attrs.method == "trilinear" ||
       (attrs.method == "bicubic" && spatial == 2)) &&
      (attrs.padding_mode == "zeros" || attrs.padding_mode == "border" ||
       attrs.padding_mode == "reflection");
  if (!is_known) {
    return NoLoops(absl::StrCat("the method ", attrs.method, " with padding ",
                                attrs.padding_mode));
  }
  const std::vector<int64_t>& shape = loops.shape();
  // The points of a batch, and the taps of each.
  std::vector<int64_t> points = loops.shape(1);
  points.erase(points.begin() + 1);
  std::vector<tir::Buffer> elements;
  std::vector<tir::Buffer> weights;
  std::vector<int64_t> taps;
  for (size_t i = 0; i < spatial; ++i) {
    const Axis axis(attrs, shape[2 + i]);
    taps.push_back(axis.num_taps());
    const tir::Buffer places = loops.Temporary("T_places", kDouble, points);
    loops.Store(places, [&](const Indices& at) {
      // The last coordinate of the grid is the first axis.
      Indices from = at;
      from.insert(from.begin() + 1,
                  Index(static_cast<int64_t>(spatial - 1 - i)));
      return axis.Place(Cast(kDouble, loops.Load(1, from)));
    });
    std::vector<int64_t> all = points;
    all.push_back(taps.back());
    const auto place_of = [&](const Indices& at) {
      return tir::BufferLoad(places, Indices(at.begin(), at.end() - 1));
    };
    elements.push_back(loops.Temporary("T_elements", tir::kInt32, all));
    loops.Store(elements.back(), [&](const Indices& at) {
      return axis.Element(place_of(at), at.back());
    });
    weights.push_back(loops.Temporary("T_weights", kDouble, all));
    loops.Store(weights.back(), [&](const Indices& at) {
      return axis.Weight(place_of(at), at.back());
    });
  }
  const tir::Buffer& out = loops.output();
  const tir::Buffer sums =
      loops.Temporary(absl::StrCat(out->name(), "_sum"), kDouble, ShapeOf(out));
  // The first axis varies fastest.
  const std::vector<int64_t> order(taps.rbegin(), taps.rend());
  loops.Fold(
      sums, order, [](const Indices&) { return Real(0); },
      [&](const Indices& at, const Indices& k, const PrimExpr& sum) {
        PrimExpr is_inside;
        PrimExpr weight;
        Indices from = {at[0], at[1]};
        for (size_t i = 0; i < spatial; ++i) {
          Indices tap = {at[0]};
          tap.insert(tap.end(), at.begin() + 2, at.end());
          tap.push_back(k[spatial - 1 - i]);
          const PrimExpr element = tir::BufferLoad(elements[i], tap);
          const PrimExpr own = tir::BufferLoad(weights[i], tap);
          const PrimExpr is_there = AtMost(Index(0), element);
          is_inside = i == 0 ? is_there : And(is_inside, is_there);
          weight = i == 0 ? own : Times(weight, own);
          from.push_back(element);
        }
        // Sums are never -0: adding +0 changes none.
        return Plus(
            sum, IfThenElse(is_inside,
                            Times(weight, Cast(kDouble, loops.Load(0, from))),
                            Real(0)));
      });
  const DType real = loops.dtype() == kDouble ? kDouble : DType::Float(32);
  loops.Store(out, [&](const Indices& at) {
    return Convert(
        out->dtype(),
        Convert(loops.dtype(), Cast(real, tir::BufferLoad(sums, at))));
  });
  return absl::OkStatus();
}

BATON_EXTEND_OP("image.grid_sample").Set(Computations(), LowerGridSample);

}  // namespace
}  // namespace baton::lower
