// Computations of resized images. Positions and weights are tables: the
// taps of the kernel (runtime/kernels/resize.h).

#include "baton/runtime/kernels/resize.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/lower/computation.h"
#include "baton/relay/op/image/image.h"
#include "baton/relay/op/nn/spatial.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"

namespace baton::lower {
namespace {

using kernels::ResizeParams;
using kernels::ResizeTaps;
using tir::BinaryOp;
using tir::PrimExpr;

// The places of the spatial axes; none for a layout that is split.
std::vector<size_t> SpatialPlaces(absl::string_view layout, size_t rank) {
  std::vector<size_t> places;
  if (layout.size() != rank) return places;
  for (const char axis : {'D', 'H', 'W'}) {
    const size_t place = layout.find(axis);
    if (place != absl::string_view::npos) places.push_back(place);
  }
  return places.size() + 2 == rank ? places : std::vector<size_t>();
}

// The sampled elements along one axis.
class Axis {
 public:
  Axis(LoopBuilder& loops, DType dtype, size_t place,
       const std::vector<ResizeTaps>& taps)
      : dtype_(dtype), place_(place), count_(taps[0].count) {
    std::vector<int32_t> indices;
    std::vector<double> weights;
    for (const ResizeTaps& tap : taps) {
      for (int k = 0; k < count_; ++k) {
        indices.push_back(static_cast<int32_t>(tap.index[k]));
        weights.push_back(tap.weight[k]);
      }
    }
    const std::vector<int64_t> shape = {static_cast<int64_t>(indices.size())};
    indices_ =
        loops.Table("indices", *Tensor::FromValues<int32_t>(shape, indices));
    if (count_ == 1) return;
    // As the kernel rounds them.
    if (dtype == DType::Float(64)) {
      weights_ =
          loops.Table("weights", *Tensor::FromValues<double>(shape, weights));
    } else {
      const std::vector<float> rounded(weights.begin(), weights.end());
      weights_ =
          loops.Table("weights", *Tensor::FromValues<float>(shape, rounded));
    }
  }

  size_t place() const { return place_; }
  bool has_one_tap() const { return count_ == 1; }

  // The element of the data of tap `k`.
  Indices From(Indices at, int k = 0) const {
    at[place_] = tir::BufferLoad(indices_, {TapAt(at, k)});
    return at;
  }

  // 0 + weight * element + ...
  template <typename Load>
  PrimExpr Sum(const Indices& at, const Load& load) const {
    PrimExpr sum = FromBits(*tir::FloatImm(dtype_, 0).get());
    for (int k = 0; k < count_; ++k) {
      PrimExpr term = load(From(at, k));
      if (count_ > 1) {
        term = Op2(BinaryOp::kMul, tir::BufferLoad(weights_, {TapAt(at, k)}),
                   std::move(term));
      }
      sum = Op2(BinaryOp::kAdd, std::move(sum), std::move(term));
    }
    return sum;
  }

 private:
  PrimExpr TapAt(const Indices& at, int k) const {
    return tir::Add(tir::Mul(at[place_], Index(count_)), Index(k));
  }

  DType dtype_;
  size_t place_;
  int count_;
  tir::Buffer indices_;
  tir::Buffer weights_;
};

absl::Status LowerTo(LoopBuilder& loops, absl::string_view layout,
                     ResizeParams params) {
  const std::vector<size_t> places =
      SpatialPlaces(layout, loops.shape().size());
  if (places.empty()) return NoLoops("a layout that is split");
  std::vector<int64_t> extents;
  params.size.clear();
  for (const size_t place : places) {
    extents.push_back(loops.shape()[place]);
    params.size.push_back(ShapeOf(loops.output())[place]);
  }
  BATON_ASSIGN_OR_RETURN(const std::vector<std::vector<ResizeTaps>> taps,
                         kernels::ResizeTapsOf(extents, params));
  const DType dtype =
      loops.dtype() == DType::Float(64) ? DType::Float(64) : DType::Float(32);
  std::vector<Axis> axes;
  bool is_nearest = true;
  for (const size_t i : kernels::ResizeOrder(extents, taps)) {
    if (std::any_of(taps[i].begin(), taps[i].end(),
                    [](const ResizeTaps& tap) { return tap.outside; })) {
      return NoLoops("positions outside of the data");
    }
    if (taps[i].size() > std::numeric_limits<int32_t>::max() / 4) {
      return NoLoops("an axis whose taps int32 cannot count");
    }
    axes.emplace_back(loops, dtype, places[i], taps[i]);
    is_nearest = is_nearest && axes.back().has_one_tap();
  }
  // Converts to the data's type first, as the kernel does.
  const auto result = [&](const PrimExpr& value) {
    return Convert(loops.output()->dtype(), Convert(loops.dtype(), value));
  };
  const auto load = [&](const Indices& at) {
    return Cast(dtype, loops.Load(0, at));
  };
  if (is_nearest) {
    loops.Store(loops.output(), [&](const Indices& at) {
      Indices from = at;
      for (const Axis& axis : axes) from = axis.From(std::move(from));
      return result(Op2(BinaryOp::kAdd,
                        FromBits(*tir::FloatImm(dtype, 0).get()), load(from)));
    });
    return absl::OkStatus();
  }
  std::vector<int64_t> shape = loops.shape();
  tir::Buffer data;  // null: the argument
  for (size_t i = 0; i < axes.size(); ++i) {
    const Axis& axis = axes[i];
    shape[axis.place()] = ShapeOf(loops.output())[axis.place()];
    const bool is_last = i + 1 == axes.size();
    const tir::Buffer to =
        is_last ? loops.output() : loops.Temporary("resized", dtype, shape);
    loops.Store(to, [&](const Indices& at) {
      const PrimExpr sum = axis.Sum(at, [&](const Indices& from) {
        return data.defined() ? PrimExpr(tir::BufferLoad(data, from))
                              : load(from);
      });
      return is_last ? result(sum) : sum;
    });
    data = to;
  }
  return absl::OkStatus();
}

template <typename A>
absl::Status LowerResize(LoopBuilder& loops) {
  const A& attrs = loops.attrs<A>();
  ResizeParams params;
  if (attrs.roi.has_value()) params.roi = *attrs.roi;
  params.method = attrs.method;
  params.coordinates = attrs.coordinate_transformation_mode;
  params.rounding = attrs.rounding_method;
  params.cubic_alpha = attrs.cubic_alpha;
  params.cubic_exclude = attrs.cubic_exclude != 0;
  return LowerTo(loops, attrs.layout, std::move(params));
}

absl::Status LowerUpSampling(LoopBuilder& loops) {
  const auto& attrs = loops.attrs<relay::UpSamplingAttrs>();
  ResizeParams params;
  params.method = attrs.method == "bilinear"  ? "linear"
                  : attrs.method == "bicubic" ? "cubic"
                                              : attrs.method;
  params.coordinates = attrs.align_corners ? "align_corners" : "asymmetric";
  return LowerTo(loops, attrs.layout, std::move(params));
}

absl::Status LowerUpSampling3D(LoopBuilder& loops) {
  const auto& attrs = loops.attrs<relay::UpSampling3DAttrs>();
  ResizeParams params;
  params.method = attrs.method == "trilinear" ? "linear" : attrs.method;
  params.coordinates = attrs.coordinate_transformation_mode;
  return LowerTo(loops, attrs.layout, std::move(params));
}

BATON_EXTEND_OP("image.resize1d")
    .Set(Computations(), LowerResize<relay::Resize1DAttrs>);
BATON_EXTEND_OP("image.resize2d")
    .Set(Computations(), LowerResize<relay::Resize2DAttrs>);
BATON_EXTEND_OP("image.resize3d")
    .Set(Computations(), LowerResize<relay::Resize3DAttrs>);
BATON_EXTEND_OP("nn.upsampling").Set(Computations(), LowerUpSampling);
BATON_EXTEND_OP("nn.upsampling3d").Set(Computations(), LowerUpSampling3D);

}  // namespace
}  // namespace baton::lower
