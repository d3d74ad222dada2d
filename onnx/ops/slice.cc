// Converters of operators that join, cut and pad tensors.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/onnx/converter.h"
#include "baton/onnx/ops/expect_shape.h"
#include "baton/onnx/ops/extents.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/dim_math.h"
#include "baton/relay/op/nn/spatial.h"
#include "baton/relay/op/tensor/create.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/op/tensor/indexing.h"
#include "baton/relay/op/tensor/reduce.h"
#include "baton/relay/op/tensor/sequence.h"
#include "baton/relay/op/tensor/shape.h"

namespace baton::onnx {
namespace {

using relay::Call;
using relay::Tuple;
using relay::TupleGetItem;

using Ints = std::vector<int64_t>;

// The largest extent of an axis that is the sum of others.
constexpr int64_t kMaxExtent = int64_t{1} << 60;

absl::StatusOr<Outputs> Concat(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(node.Input(0)));
  const int64_t otherwise = node.opset() < 4 ? 1 : 0;
  BATON_ASSIGN_OR_RETURN(const int axis,
                         NormalAxis(node.Int("axis", otherwise), rank));
  std::vector<Expr> parts;
  for (int i = 0; i < node.num_inputs(); ++i) parts.push_back(node.Input(i));
  if (parts.size() == 1) return One(std::move(parts[0]));
  return One(relay::Concatenate(std::move(parts), axis));
}

// The parts of `x` of these sizes.
absl::StatusOr<Outputs> SplitInto(NodeContext& node, const Expr& x, int axis,
                                  const Ints& sizes) {
  if (sizes.size() == 1) return One(x);
  // Relay's split has no empty parts.
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) {
    Outputs slices;
    int64_t begin = 0;
    for (int64_t size : sizes) {
      if (size < 0) return absl::InvalidArgumentError("a part is negative");
      slices.push_back(relay::StridedSlice(x, {begin}, {begin + size},
                                           {.axes = Ints{axis}}));
      begin += size;
    }
    return slices;
  }
  Ints indices;
  int64_t at = 0;
  for (size_t i = 0; i + 1 < sizes.size(); ++i) {
    if (sizes[i] < 0) return absl::InvalidArgumentError("a part is negative");
    indices.push_back(at += sizes[i]);
  }
  BATON_ASSIGN_OR_RETURN(const Expr parts, node.Typed(relay::SplitAt(
                                               x, std::move(indices), axis)));
  Outputs result;
  for (size_t i = 0; i < sizes.size(); ++i) {
    result.push_back(TupleGetItem(parts, static_cast<int>(i)));
  }
  return result;
}

// `parts` parts of an axis of unknown extent, as long as each other as far as
// there are elements.
Outputs EvenParts(const Expr& x, int axis, int64_t parts) {
  const auto number = [](int64_t value) {
    return relay::Const(Tensor::Scalar<int64_t>(value));
  };
  const Expr extent = ExtentOf(x, axis);
  const Expr size =
      relay::FloorDivide(relay::Add(extent, number(parts - 1)), number(parts));
  Outputs result;
  for (int64_t i = 0; i < parts; ++i) {
    const auto bound = [&](int64_t k) {
      return relay::Minimum(relay::Multiply(size, number(k)), extent);
    };
    const Expr places =
        relay::Arange(bound(i), bound(i + 1), number(1), DType::Int(64));
    result.push_back(relay::Take(x, places, {.axis = axis}));
  }
  return result;
}

// `parts` parts whose sizes input 1 computes.
absl::StatusOr<Outputs> ComputedParts(NodeContext& node, const Expr& x,
                                      int axis, int64_t parts) {
  const auto number = [](int64_t value) {
    return relay::Const(Tensor::Scalar<int64_t>(value));
  };
  BATON_ASSIGN_OR_RETURN(
      const Expr ends,
      node.Typed(relay::CumSum(AsInt64(node.Input(1)),
                               {.axis = 0, .dtype = DType::Int(64)})));
  Outputs result;
  Expr begin = number(0);
  for (int64_t i = 0; i < parts; ++i) {
    const Expr end = relay::Take(ends, number(i), {.axis = 0});
    result.push_back(
        relay::Take(x, relay::Arange(begin, end, number(1), DType::Int(64)),
                    {.axis = axis}));
    begin = end;
  }
  return result;
}

absl::StatusOr<Outputs> Split(NodeContext& node) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(x));
  BATON_ASSIGN_OR_RETURN(const int axis,
                         NormalAxis(node.Int("axis", 0), type->rank()));
  Ints sizes;
  if (node.opset() < 13) {
    sizes = node.Ints("split").value_or(Ints());
  }
  if ((node.opset() >= 13 || node.opset() < 2) && node.HasInput(1)) {
    absl::StatusOr<Ints> given = node.ConstantInts(1);
    if (!given.ok()) {
      return ComputedParts(node, x, axis, node.num_outputs());
    }
    sizes = *std::move(given);
    if (static_cast<int>(sizes.size()) != node.num_outputs()) {
      return absl::InvalidArgumentError(
          absl::StrCat("there are ", sizes.size(), " parts, but ",
                       node.num_outputs(), " outputs"));
    }
    int64_t total = 0;
    for (const int64_t size : sizes) {
      if (size < 0 || size > kMaxExtent - total) {
        return absl::InvalidArgumentError(
            absl::StrCat("a part of ", size, " elements"));
      }
      total += size;
    }
    if (const Dim& dim = type->dim(axis);
        dim.is_const() && dim.value() != total) {
      return absl::InvalidArgumentError(
          absl::StrCat("the parts have ", total,
                       " elements in all, but the axis has ", dim.value()));
    }
  }
  if (sizes.empty()) {
    const int64_t parts = node.Int("num_outputs", node.num_outputs());
    if (parts <= 0 || parts > 1 << 20) {
      return absl::InvalidArgumentError(
          "num_outputs must be from 1 to 1048576");
    }
    if (!type->dim(axis).is_const()) {
      // The last parts may be smaller.
      if (node.HasAttr("num_outputs")) return EvenParts(x, axis, parts);
      BATON_ASSIGN_OR_RETURN(const Expr split,
                             node.Typed(relay::Split(x, parts, axis)));
      Outputs result;
      for (int64_t i = 0; i < parts; ++i) {
        result.push_back(TupleGetItem(split, static_cast<int>(i)));
      }
      return result;
    }
    const int64_t extent = type->dim(axis).value();
    if (extent % parts != 0 && !node.HasAttr("num_outputs")) {
      return absl::InvalidArgumentError(absl::StrCat("an axis of ", extent,
                                                     " elements has no ", parts,
                                                     " parts of one size"));
    }
    const int64_t size = (extent + parts - 1) / parts;
    for (int64_t i = 0; i < parts; ++i) {
      sizes.push_back(std::clamp<int64_t>(extent - i * size, 0, size));
    }
  }
  return SplitInto(node, x, axis, sizes);
}

// `values` at the places `axes` of a vector of `count` elements `otherwise`.
Expr AtAxes(const Expr& axes, const Expr& values, int64_t count,
            int64_t otherwise) {
  return Call(BATON_OP("scatter_elements"),
              {VectorConstant(Ints(count, otherwise)), axes, values},
              Attrs::Make(relay::ScatterElementsAttrs{.axis = 0,
                                                      .reduction = "update"}));
}

// Starts of slices, of which those with a negative step are not before the
// first element.
Expr StartsInside(const Expr& starts, const Expr& steps, const Expr& extents) {
  return relay::Where(
      relay::Less(steps, relay::Const(Tensor::Scalar<int64_t>(0))),
      relay::Maximum(starts, relay::Negative(extents)), starts);
}

// Slice along axes that are computed.
absl::StatusOr<Outputs> SliceOfComputedAxes(NodeContext& node) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(x));
  const Expr axes = AxesFromFront(node.Input(3), rank);
  Expr starts = AtAxes(axes, AsInt64(node.Input(1)), rank, 0);
  Expr steps = VectorConstant(Ints(rank, 1));
  if (node.HasInput(4)) {
    steps = AtAxes(axes, AsInt64(node.Input(4)), rank, 1);
    starts = StartsInside(starts, steps, ShapeVector(x));
  }
  const Expr ends = AtAxes(axes, AsInt64(node.Input(2)), rank,
                           std::numeric_limits<int64_t>::max());
  return One(Call(BATON_OP("dyn.strided_slice"), {x, starts, ends, steps},
                  Attrs::Make(relay::StridedSliceAttrs{})));
}

// Slice, since opset 10, with starts or ends that are not known.
absl::StatusOr<Outputs> SliceDynamic(NodeContext& node) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(x));
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* starts_type,
                         TensorTypeOf(node.Input(1)));
  if (starts_type->rank() != 1 || !starts_type->dim(0).is_const()) {
    return absl::UnimplementedError("the number of starts must be known");
  }
  if (starts_type->dim(0).value() > type->rank()) {
    return absl::InvalidArgumentError("there are more starts than axes");
  }
  const size_t count = static_cast<size_t>(starts_type->dim(0).value());
  Ints axes = Iota(static_cast<int64_t>(count));
  if (node.HasInput(3)) {
    absl::StatusOr<Ints> known = node.ConstantInts(3);
    if (!known.ok()) return SliceOfComputedAxes(node);
    axes = *std::move(known);
  }
  BATON_ASSIGN_OR_RETURN(axes, DistinctAxes(std::move(axes), type->rank()));
  // Starts, ends and steps: of the given axes, and as vectors of all axes up to
  // the last that dyn.strided_slice cuts.
  constexpr int64_t kWhole[] = {0, std::numeric_limits<int64_t>::max(), 1};
  Dims given[3];
  Expr vectors[3];
  std::vector<Expr> parts[3];
  for (int i = 0; i < 3; ++i) {
    const int input = i == 2 ? 4 : i + 1;
    if (i == 2 && !node.HasInput(input)) {
      given[i] = Dims(count, 1);
      continue;
    }
    given[i] = node.Elements(input).value_or(Dims(count, Dim::Any()));
    BATON_ASSIGN_OR_RETURN(vectors[i], node.Typed(AsInt64(node.Input(input))));
  }
  if (axes.size() != count || given[0].size() != count ||
      given[1].size() != count || given[2].size() != count) {
    return absl::InvalidArgumentError(
        "starts, ends, axes and steps differ in length");
  }
  size_t cut = 0;
  std::vector<bool> is_kept;
  for (int axis = 0; axis < type->rank(); ++axis) {
    const auto found = std::find(axes.begin(), axes.end(), axis);
    const int64_t k = found - axes.begin();
    const bool is_whole = found == axes.end() ||
                          (given[2][k].is_const(1) && given[0][k].is_const(0) &&
                           relay::ProvablyEqual(given[1][k], type->dim(axis)));
    is_kept.push_back(is_whole);
    for (int i = 0; i < 3; ++i) {
      parts[i].push_back(is_whole || !vectors[i].defined()
                             ? VectorConstant({kWhole[i]})
                             : relay::StridedSlice(vectors[i], {k}, {k + 1}));
    }
    if (!is_whole && vectors[2].defined() &&
        !(given[2][k].is_const() && given[2][k].value() > 0)) {
      parts[0].back() =
          StartsInside(parts[0].back(), parts[2].back(), ExtentOf(x, axis));
    }
    if (!is_whole) cut = parts[0].size();
  }
  if (cut == 0) return One(x);
  for (int i = 0; i < 3; ++i) {
    parts[i].resize(cut);
    vectors[i] =
        cut == 1 ? parts[i][0] : relay::Concatenate(std::move(parts[i]), 0);
  }
  Expr result = Call(BATON_OP("dyn.strided_slice"),
                     {x, vectors[0], vectors[1], vectors[2]},
                     Attrs::Make(relay::StridedSliceAttrs{}));
  // The extents behind `cut` are the extents of `x` already.
  return One(WithExtentsOf(std::move(result), x, static_cast<int>(cut),
                           [&](int axis) { return is_kept[axis]; }));
}

// Starts, ends, axes and steps are vectors of one length.
absl::Status CheckSliceInputs(NodeContext& node) {
  constexpr const char* kNames[] = {"starts", "ends", "axes", "steps"};
  Dim length = Dim::Any();
  for (int i = 1; i <= 4; ++i) {
    BATON_RETURN_IF_ERROR(ExpectShape(node, i, kNames[i - 1], {length}));
    if (node.HasInput(i) && !length.is_const()) {
      length = node.Input(i)->tensor_type()->dim(0);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Outputs> Slice(NodeContext& node) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(x));
  Ints begin;
  Ints end;
  Ints axes;
  Ints steps;
  if (node.opset() < 10) {
    begin = node.Ints("starts").value_or(Ints());
    end = node.Ints("ends").value_or(Ints());
    axes = node.Ints("axes").value_or(Iota(begin.size()));
  } else {
    BATON_RETURN_IF_ERROR(CheckSliceInputs(node));
    absl::StatusOr<Ints> starts = node.ConstantInts(1);
    absl::StatusOr<Ints> ends = node.ConstantInts(2);
    for (const int i : {3, 4}) {
      if (node.HasInput(i) && !node.ConstantInts(i).ok()) {
        return SliceDynamic(node);
      }
    }
    if (!starts.ok() || !ends.ok()) return SliceDynamic(node);
    BATON_ASSIGN_OR_RETURN(begin, std::move(starts));
    BATON_ASSIGN_OR_RETURN(end, std::move(ends));
    axes = Iota(begin.size());
    if (node.HasInput(3)) {
      BATON_ASSIGN_OR_RETURN(axes, node.ConstantInts(3));
    }
    if (node.HasInput(4)) {
      BATON_ASSIGN_OR_RETURN(steps, node.ConstantInts(4));
    }
  }
  if (steps.empty()) steps.assign(begin.size(), 1);
  if (end.size() != begin.size() || axes.size() != begin.size() ||
      steps.size() != begin.size()) {
    return absl::InvalidArgumentError(
        "starts, ends, axes and steps differ in length");
  }
  BATON_ASSIGN_OR_RETURN(axes, DistinctAxes(std::move(axes), type->rank()));
  // Inside of the data, as far as its extent is known. An end before the first
  // element, where steps are negative, is -1 - extent.
  for (size_t i = 0; i < begin.size(); ++i) {
    if (steps[i] == 0) return absl::InvalidArgumentError("a step is zero");
    const Dim& dim = type->dim(static_cast<int>(axes[i]));
    if (!dim.is_const()) continue;
    const int64_t extent = dim.value();
    const auto inside = [&](int64_t at, int64_t low, int64_t high) {
      return std::clamp(at < 0 ? at + extent : at, low, high);
    };
    if (steps[i] > 0) {
      begin[i] = inside(begin[i], 0, extent);
      end[i] = std::max(begin[i], inside(end[i], 0, extent));
    } else {
      // Unlike NumPy, a start in front of the first element is that element.
      begin[i] = inside(begin[i], extent == 0 ? -1 : 0, extent - 1);
      end[i] = std::min(begin[i], inside(end[i], -1, extent - 1));
      if (begin[i] < 0) begin[i] = -1 - extent;
      if (end[i] < 0) end[i] = -1 - extent;
    }
  }
  return One(relay::StridedSlice(
      x, std::move(begin), std::move(end),
      {.strides = std::move(steps), .axes = std::move(axes)}));
}

// `x` with `before` elements more in front of axis `axis` and `after` behind
// it, scalars of int64: those of the positions from `-before` to `extent +
// after` that the mode moves into the tensor. Negative numbers cut off, before
// others add.
Expr PaddedByPositions(const Expr& x, int axis, const std::string& mode,
                       const Expr& before, const Expr& after) {
  const auto number = [](int64_t value) {
    return relay::Const(Tensor::Scalar<int64_t>(value));
  };
  const Expr zero = number(0);
  const Expr extent = ExtentOf(x, axis);
  Expr at = relay::Arange(relay::Negative(before), relay::Add(extent, after),
                          number(1), DType::Int(64));
  const Expr last = relay::Subtract(extent, number(1));
  if (mode == "edge") {
    at = relay::Minimum(relay::Maximum(std::move(at), zero), last);
  } else if (mode == "reflect") {
    at = relay::Subtract(
        last, relay::Abs(relay::Subtract(last, relay::Abs(std::move(at)))));
  } else {  // wrap
    const Expr first = relay::Maximum(relay::Negative(before), zero);
    const Expr behind = relay::Add(extent, relay::Minimum(after, zero));
    at =
        relay::Add(first, relay::FloorMod(relay::Subtract(std::move(at), first),
                                          relay::Subtract(behind, first)));
  }
  return relay::Take(x, std::move(at), {.axis = axis});
}

// Padding with the data from the other end. `pads`: all begins, then all ends.
absl::StatusOr<Outputs> Wrapped(NodeContext& node, const Ints& axes,
                                const Ints& pads) {
  Expr x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(x));
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t before = pads[i];
    const int64_t after = pads[i + axes.size()];
    if (before == 0 && after == 0) continue;
    const Dim& dim = type->dim(static_cast<int>(axes[i]));
    if (!dim.is_const()) {
      BATON_ASSIGN_OR_RETURN(x, node.Typed(std::move(x)));
      x = PaddedByPositions(x, static_cast<int>(axes[i]), "wrap",
                            relay::Const(Tensor::Scalar<int64_t>(before)),
                            relay::Const(Tensor::Scalar<int64_t>(after)));
      continue;
    }
    const int64_t extent = dim.value();
    const int64_t first = std::max<int64_t>(-before, 0);
    const int64_t rest = extent - first + std::min<int64_t>(after, 0);
    constexpr int64_t kMost = 1 << 24;
    if (rest < 1 || std::max(std::abs(before), std::abs(after)) > kMost ||
        extent > kMost) {
      return absl::UnimplementedError(
          "padding of an axis that is or becomes empty, or so large, is not "
          "supported");
    }
    Ints places;
    for (int64_t k = -before - first; k < extent + after - first; ++k) {
      places.push_back(first + (k % rest + rest) % rest);
    }
    x = relay::Take(std::move(x), VectorConstant(places), {.axis = axes[i]});
  }
  return One(std::move(x));
}

// CenterCropPad where extents are computed: those of `axes` from input 1.
absl::StatusOr<Outputs> CenterCropPadDynamic(NodeContext& node,
                                             const Ints& axes) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(x));
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* wanted,
                         TensorTypeOf(node.Input(1)));
  if (wanted->rank() != 1 ||
      (wanted->dim(0).is_const() &&
       wanted->dim(0).value() != static_cast<int64_t>(axes.size()))) {
    return absl::InvalidArgumentError(
        absl::StrCat("the shape must have one extent for each of the ",
                     axes.size(), " axes"));
  }
  // The extents of the result, of all axes: places in those of `x`, behind
  // which there are those of input 1.
  Ints places = Iota(rank);
  for (size_t i = 0; i < axes.size(); ++i) {
    places[axes[i]] = rank + static_cast<int64_t>(i);
  }
  const Expr extents = ShapeVector(x);
  BATON_ASSIGN_OR_RETURN(
      const Expr result,
      node.Typed(
          relay::Take(relay::Concatenate({extents, AsInt64(node.Input(1))}, 0),
                      VectorConstant(places), {.axis = 0})));
  const Expr zero = relay::Const(Tensor::Scalar<int64_t>(0));
  const Expr two = relay::Const(Tensor::Scalar<int64_t>(2));
  const auto half = [&](const Expr& value) {
    return relay::FloorDivide(value, two);
  };
  const Expr less = relay::Maximum(relay::Subtract(extents, result), zero);
  const Expr more = relay::Maximum(relay::Subtract(result, extents), zero);
  const Expr begin = half(less);
  BATON_ASSIGN_OR_RETURN(
      const Expr cut,
      node.Typed(
          Call(BATON_OP("dyn.strided_slice"),
               {x, begin, relay::Add(begin, relay::Minimum(extents, result)),
                VectorConstant(Ints(rank, 1))},
               Attrs::Make(relay::StridedSliceAttrs{}))));
  const Expr before = half(more);
  return One(
      Call(BATON_OP("dyn.nn.pad"),
           {cut, relay::Stack({before, relay::Subtract(more, before)}, 1),
            ScalarLike(0, x)},
           Attrs::Make(relay::PadAttrs{})));
}

// Cuts off or adds zeros on both sides, so that axes get the extents of input
// 1; of an odd number one more behind the data.
absl::StatusOr<Outputs> CenterCropPad(NodeContext& node) {
  Expr x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(x));
  BATON_ASSIGN_OR_RETURN(
      const Ints axes,
      DistinctAxes(node.Ints("axes").value_or(Iota(rank)), rank));
  const absl::StatusOr<Ints> known_shape = ShapeOf(x);
  const absl::StatusOr<Ints> known_extents = node.ConstantInts(1);
  if (!known_shape.ok() || !known_extents.ok()) {
    return CenterCropPadDynamic(node, axes);
  }
  const Ints& shape = *known_shape;
  const Ints& wanted = *known_extents;
  if (wanted.size() != axes.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the shape must have one extent for each of the ",
                     axes.size(), " axes"));
  }
  Ints begin(rank, 0);
  Ints end = shape;
  std::vector<Ints> widths(rank, Ints{0, 0});
  bool cuts = false;
  bool adds = false;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = axes[i];
    if (wanted[i] < 0 || wanted[i] > std::numeric_limits<int32_t>::max()) {
      return absl::InvalidArgumentError("an extent is out of range");
    }
    const int64_t more = wanted[i] - shape[axis];
    if (more < 0) {
      begin[axis] = -more / 2;
      end[axis] = begin[axis] + wanted[i];
      cuts = true;
    } else if (more > 0) {
      widths[axis] = {more / 2, more - more / 2};
      adds = true;
    }
  }
  if (cuts) x = relay::StridedSlice(std::move(x), begin, end);
  if (adds) {
    const Expr zero = ScalarLike(0, node.Input(0));
    x = relay::nn::Pad(std::move(x), std::move(widths), zero);
  }
  return One(std::move(x));
}

// Elements of other places in place of those that padding by computed numbers
// adds, of each axis in `axes`.
absl::StatusOr<Expr> PaddedByComputedPositions(NodeContext& node,
                                               const std::string& mode,
                                               const Ints& axes,
                                               const Expr& pads) {
  const auto number = [](int64_t value) {
    return relay::Const(Tensor::Scalar<int64_t>(value));
  };
  Expr x = node.Input(0);
  const std::optional<Dims> known =
      pads == node.Input(1) ? node.Elements(1) : std::nullopt;
  const auto count = static_cast<int64_t>(axes.size());
  for (int64_t i = 0; i < count; ++i) {
    if (known.has_value() && (*known)[i].is_const(0) &&
        (*known)[i + count].is_const(0)) {
      continue;
    }
    BATON_ASSIGN_OR_RETURN(x, node.Typed(std::move(x)));
    x = PaddedByPositions(x, static_cast<int>(axes[i]), mode,
                          relay::Take(pads, number(i), {.axis = 0}),
                          relay::Take(pads, number(i + count), {.axis = 0}));
  }
  return x;
}

// Padding by `pads`, typed numbers that are not known when the model is
// imported, for the axes `axes`.
absl::StatusOr<Outputs> PaddedByComputed(NodeContext& node,
                                         const std::string& mode,
                                         const Ints& axes, const Expr& value,
                                         const Expr& pads) {
  const Expr& x = node.Input(0);
  const auto count = static_cast<int64_t>(axes.size());
  BATON_ASSIGN_OR_RETURN(const Ints pads_shape, ShapeOf(pads));
  if (pads_shape != Ints{2 * count}) {
    return absl::InvalidArgumentError(absl::StrCat(
        "pads must have two numbers for each of the ", axes.size(), " axes"));
  }
  if (mode != "constant") {
    BATON_ASSIGN_OR_RETURN(Expr result,
                           PaddedByComputedPositions(node, mode, axes, pads));
    return One(std::move(result));
  }
  // The positions in `pads`, which has a zero behind it, of the two numbers of
  // each axis of `x`.
  const int rank = x->tensor_type()->rank();
  Ints places(2 * static_cast<size_t>(rank), 2 * count);
  for (int64_t i = 0; i < count; ++i) {
    places[2 * axes[i]] = i;
    places[2 * axes[i] + 1] = i + count;
  }
  Expr numbers = AsInt64(pads);
  if (count < rank) {
    numbers = relay::Concatenate({std::move(numbers), VectorConstant({0})}, 0);
  }
  BATON_ASSIGN_OR_RETURN(Tensor matrix,
                         Tensor::FromValues<int64_t>({rank, 2}, places));
  Expr result = Call(BATON_OP("dyn.nn.pad"),
                     {x,
                      relay::Take(std::move(numbers),
                                  relay::Const(std::move(matrix)), {.axis = 0}),
                      value},
                     Attrs::Make(relay::PadAttrs{}));
  // The operator's result has no extent that is known; of axes that are not
  // padded they are those of `x`.
  const std::optional<Dims> known =
      pads == node.Input(1) ? node.Elements(1) : std::nullopt;
  const auto is_kept = [&](int axis) {
    for (const int64_t place : {places[2 * axis], places[2 * axis + 1]}) {
      const bool is_zero = place == 2 * count ||
                           (known.has_value() && (*known)[place].is_const(0));
      if (!is_zero) return false;
    }
    return true;
  };
  result = WithExtentsOf(std::move(result), x, rank, is_kept);
  return One(std::move(result));
}

absl::StatusOr<Outputs> Pad(NodeContext& node) {
  Expr x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(x));
  const std::string mode = node.String("mode", "constant");
  if (mode != "constant" && mode != "edge" && mode != "reflect" &&
      mode != "wrap") {
    return absl::UnimplementedError(
        absl::StrCat("the mode '", mode, "' is not supported"));
  }
  Ints pads;
  Expr value = ScalarLike(0, x);
  Ints axes = Iota(rank);
  if (node.opset() < 11) {
    pads = node.Ints(node.opset() < 2 ? "paddings" : "pads").value_or(Ints());
    value = ScalarLike(node.Float("value", 0), x);
  } else {
    if (node.HasInput(2)) {
      BATON_ASSIGN_OR_RETURN(value, ScalarInput(node, 2));
    }
    if (node.HasInput(3)) {
      absl::StatusOr<Ints> known = node.ConstantInts(3);
      if (!known.ok()) {
        // The numbers of all axes, begins and then ends.
        const Expr places = AxesFromFront(node.Input(3), rank);
        const Expr ends =
            relay::Add(places, relay::Const(Tensor::Scalar<int64_t>(rank)));
        BATON_ASSIGN_OR_RETURN(
            const Expr all,
            node.Typed(AtAxes(relay::Concatenate({places, ends}, 0),
                              AsInt64(node.Input(1)), 2 * rank, 0)));
        return PaddedByComputed(node, mode, Iota(rank), value, all);
      }
      BATON_ASSIGN_OR_RETURN(axes, DistinctAxes(*std::move(known), rank));
    }
    absl::StatusOr<Ints> known = node.ConstantInts(1);
    if (absl::IsUnimplemented(known.status())) {
      return PaddedByComputed(node, mode, axes, value, node.Input(1));
    }
    BATON_ASSIGN_OR_RETURN(pads, std::move(known));
  }
  if (pads.size() != 2 * axes.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        pads.size(), " numbers of padding for ", axes.size(), " axes"));
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    const Dim& dim = x->tensor_type()->dim(static_cast<int>(axes[i]));
    const int64_t before = std::min<int64_t>(pads[i], 0);
    const int64_t after = std::min<int64_t>(pads[i + axes.size()], 0);
    if (dim.is_const() &&
        (before < -dim.value() || after < -dim.value() - before)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "padding by ", pads[i], " and ", pads[i + axes.size()],
          " cuts more than the ", dim.value(), " elements of axis ", axes[i]));
    }
  }
  if (mode == "wrap") return Wrapped(node, axes, pads);
  std::vector<Ints> widths(rank, Ints{0, 0});
  // Negative padding cuts off.
  Ints begin(rank, 0);
  Ints end(rank, std::numeric_limits<int32_t>::max());
  bool cuts = false;
  bool adds = false;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t before = pads[i];
    const int64_t after = pads[i + axes.size()];
    widths[axes[i]] = {std::max<int64_t>(before, 0),
                       std::max<int64_t>(after, 0)};
    if (before < 0) begin[axes[i]] = -before;
    if (after < 0) end[axes[i]] = after;
    cuts = cuts || before < 0 || after < 0;
    adds = adds || before > 0 || after > 0;
  }
  if (cuts) x = relay::StridedSlice(x, std::move(begin), std::move(end));
  if (adds) x = relay::nn::Pad(x, std::move(widths), std::move(value), mode);
  return One(std::move(x));
}

absl::StatusOr<Outputs> SplitToSequence(NodeContext& node) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(x));
  BATON_ASSIGN_OR_RETURN(const int axis,
                         NormalAxis(node.Int("axis", 0), type->rank()));
  if (!type->dim(axis).is_const()) {
    return absl::UnimplementedError("the extent of the axis must be known");
  }
  const int64_t extent = type->dim(axis).value();
  Ints sizes;
  bool squeeze = false;
  if (node.HasInput(1)) {
    BATON_ASSIGN_OR_RETURN(const Tensor split, node.Constant(1));
    if (split.rank() == 0) {
      const int64_t size = split.AtAsInt64(0);
      if (size <= 0) return absl::InvalidArgumentError("a part is empty");
      if (extent / size > 1 << 20) {
        return absl::UnimplementedError("the sequence would be too long");
      }
      for (int64_t at = 0; at < extent; at += size) {
        sizes.push_back(std::min(size, extent - at));
      }
    } else {
      BATON_ASSIGN_OR_RETURN(sizes, node.ConstantInts(1));
    }
  } else {
    if (extent > 1 << 20) {
      return absl::UnimplementedError("the sequence would be too long");
    }
    sizes.assign(extent, 1);
    squeeze = node.Int("keepdims", 1) == 0;
  }
  BATON_ASSIGN_OR_RETURN(Outputs parts, SplitInto(node, x, axis, sizes));
  if (squeeze) {
    for (Expr& part : parts) {
      part = relay::Squeeze(std::move(part), Ints{axis});
    }
  }
  return One(Tuple(std::move(parts)));
}

BATON_ONNX_CONVERTERS({
    {"CenterCropPad", CenterCropPad, 18},
    {"Concat", Concat},
    {"Pad", Pad},
    {"Slice", Slice},
    {"Split", Split},
    {"SplitToSequence", SplitToSequence, 11},
});

}  // namespace
}  // namespace baton::onnx
