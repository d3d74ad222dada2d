// Computations of convolutions and transposed convolutions.

#include "baton/relay/op/nn/conv.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/ir/op.h"
#include "baton/lower/computation.h"
#include "baton/lower/products.h"
#include "baton/lower/windows.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"

namespace baton::lower {
namespace {

using tir::BinaryOp;
using tir::PrimExpr;

// The letters of N spatial axes.
absl::string_view SpatialLetters(size_t n) {
  return absl::string_view("DHW").substr(3 - n);
}

// The two operands and the result of a convolution over the axes `spatial`.
struct Operands {
  std::string spatial;
  LayoutIndex data;
  LayoutIndex weight;
  LayoutIndex out;
  DType dtype;  // of products
  std::vector<AxisWindow> windows;

  std::vector<int64_t> kernel() const {
    std::vector<int64_t> extents;
    for (const AxisWindow& window : windows) extents.push_back(window.kernel);
    return extents;
  }
};

template <size_t kSpatial, typename A>
absl::StatusOr<Operands> OperandsOf(const LoopBuilder& loops, const A& attrs) {
  Operands result;
  const tir::Buffer& out = loops.output();
  const std::vector<int64_t> out_shape = ShapeOf(out);
  result.spatial = std::string(SpatialLetters(kSpatial));
  BATON_ASSIGN_OR_RETURN(result.data,
                         LayoutIndex::Parse(attrs.data_layout, loops.rank(0)));
  BATON_ASSIGN_OR_RETURN(
      result.weight, LayoutIndex::Parse(attrs.kernel_layout, loops.rank(1)));
  BATON_ASSIGN_OR_RETURN(
      result.out,
      LayoutIndex::Parse(
          attrs.out_layout.empty() ? attrs.data_layout : attrs.out_layout,
          static_cast<int>(out_shape.size())));
  BATON_ASSIGN_OR_RETURN(
      result.dtype, ProductDType(loops.dtype(0), loops.dtype(1), out.dtype()));
  BATON_ASSIGN_OR_RETURN(result.windows, WindowsOf(attrs, kSpatial));
  for (size_t i = 0; i < kSpatial; ++i) {
    const char letter = result.spatial[i];
    AxisWindow& window = result.windows[i];
    window.in = result.data.ExtentOf(letter, loops.shape(0));
    window.kernel = result.weight.ExtentOf(letter, loops.shape(1));
    window.out = result.out.ExtentOf(letter, out_shape);
  }
  return result;
}

template <size_t kSpatial, typename A>
absl::Status LowerConv(LoopBuilder& loops) {
  const A& attrs = loops.attrs<A>();
  const tir::Buffer& out = loops.output();
  BATON_ASSIGN_OR_RETURN(const Operands ops,
                         (OperandsOf<kSpatial>(loops, attrs)));
  if (ops.dtype == DType::Float(64)) {
    return NoLoops("float64 convolutions have no defined order of sums");
  }
  const int64_t channels = ops.data.ExtentOf('C', loops.shape(0));
  const int64_t outs = ops.out.ExtentOf('C', ShapeOf(out));
  const int64_t groups = attrs.groups;
  const int64_t in_group = channels / groups;
  const int64_t out_group = outs / groups;
  // The weight of a depthwise convolution may have the outputs of a channel
  // where others have the inputs of a group.
  const int64_t weight_out = ops.weight.ExtentOf('O', loops.shape(1));
  const int64_t weight_in = ops.weight.ExtentOf('I', loops.shape(1));
  const bool is_depthwise =
      groups == channels && channels > 1 && weight_out == channels;
  if (!is_depthwise && (weight_out != outs || weight_in != in_group)) {
    return NoLoops("the layout of the weight pads its channels");
  }
  const std::vector<int64_t> kernel = ops.kernel();
  ProductTerms terms;
  terms.channels = in_group;
  terms.taps = NumElementsOf(kernel);
  terms.dtype = ops.dtype;
  const auto positions = [&](const Indices& at, const PrimExpr& tap) {
    const Indices k = Unflatten(tap, kernel);
    Indices result;
    for (size_t i = 0; i < kSpatial; ++i) {
      result.push_back(ops.windows[i].Position(
          ops.out.PositionOf(ops.spatial[i], at), k[i]));
    }
    return result;
  };
  terms.left = [&](const Indices& at, const PrimExpr& channel,
                   const PrimExpr& tap) {
    const PrimExpr group = Divide(ops.out.PositionOf('C', at), out_group);
    Indices from = {ops.out.PositionOf('N', at),
                    groups == 1
                        ? channel
                        : tir::Add(tir::Mul(group, Index(in_group)), channel)};
    for (const PrimExpr& index : positions(at, tap)) from.push_back(index);
    return Cast(
        ops.dtype,
        loops.Load(0, ops.data.IndexOf(absl::StrCat("NC", ops.spatial), from)));
  };
  terms.right = [&](const Indices& at, const PrimExpr& channel,
                    const PrimExpr& tap) {
    const PrimExpr o = ops.out.PositionOf('C', at);
    Indices from = {is_depthwise ? Divide(o, out_group) : o,
                    is_depthwise ? Rest(o, out_group) : channel};
    for (const PrimExpr& index : Unflatten(tap, kernel)) from.push_back(index);
    return Cast(ops.dtype,
                loops.Load(1, ops.weight.IndexOf(
                                  absl::StrCat("OI", ops.spatial), from)));
  };
  if (!std::all_of(
          ops.windows.begin(), ops.windows.end(),
          [](const AxisWindow& window) { return window.IsInside(); })) {
    terms.included = [&](const Indices& at, const PrimExpr& /*channel*/,
                         const PrimExpr& tap) {
      PrimExpr inside;
      const Indices from = positions(at, tap);
      for (size_t i = 0; i < kSpatial; ++i) {
        inside = And(inside, ops.windows[i].Inside(from[i]));
      }
      return inside;
    };
  }
  SumProducts(loops, terms, out);
  return absl::OkStatus();
}

// The products of each position of the data with each tap, of which the taps
// are then added in order.
template <size_t kSpatial, typename A>
absl::Status LowerConvTranspose(LoopBuilder& loops) {
  const A& attrs = loops.attrs<A>();
  const tir::Buffer& out = loops.output();
  BATON_ASSIGN_OR_RETURN(const Operands ops,
                         (OperandsOf<kSpatial>(loops, attrs)));
  const int64_t batch = ops.data.ExtentOf('N', loops.shape(0));
  const int64_t channels = ops.data.ExtentOf('C', loops.shape(0));
  const int64_t outs = ops.out.ExtentOf('C', ShapeOf(out));
  const int64_t groups = attrs.groups;
  const int64_t in_group = channels / groups;
  const int64_t out_group = outs / groups;
  const std::vector<int64_t> kernel = ops.kernel();
  std::vector<int64_t> in;
  for (const AxisWindow& window : ops.windows) in.push_back(window.in);
  // The kernel computes this many bytes of products at a time; where there are
  // more, it adds in another order.
  constexpr int64_t kUnfoldedBytes = int64_t{1} << 20;
  const int64_t depth = out_group * NumElementsOf(kernel);
  const int64_t fit = kUnfoldedBytes / ops.dtype.bytes() / depth;
  if (ops.dtype.is_float() && NumElementsOf(in) > std::max<int64_t>(32, fit)) {
    return NoLoops("the order of sums depends on the size");
  }
  std::vector<int64_t> shape = {batch, outs};
  shape.insert(shape.end(), kernel.begin(), kernel.end());
  shape.insert(shape.end(), in.begin(), in.end());
  const tir::Buffer unfolded =
      loops.Temporary(absl::StrCat(out->name(), "_unfolded"), ops.dtype, shape);
  ProductTerms terms;
  terms.channels = in_group;
  terms.dtype = ops.dtype;
  const auto channel_of = [&](const Indices& at, const PrimExpr& channel) {
    return groups == 1
               ? channel
               : tir::Add(tir::Mul(Divide(at[1], out_group), Index(in_group)),
                          channel);
  };
  terms.left = [&](const Indices& at, const PrimExpr& channel,
                   const PrimExpr& /*tap*/) {
    Indices from = {at[0], channel_of(at, channel)};
    from.insert(from.end(), at.end() - kSpatial, at.end());
    return Cast(
        ops.dtype,
        loops.Load(0, ops.data.IndexOf(absl::StrCat("NC", ops.spatial), from)));
  };
  terms.right = [&](const Indices& at, const PrimExpr& channel,
                    const PrimExpr& /*tap*/) {
    Indices from = {channel_of(at, channel),
                    groups == 1 ? at[1] : Rest(at[1], out_group)};
    from.insert(from.end(), at.begin() + 2, at.begin() + 2 + kSpatial);
    return Cast(ops.dtype,
                loops.Load(1, ops.weight.IndexOf(
                                  absl::StrCat("IO", ops.spatial), from)));
  };
  SumProducts(loops, terms, unfolded);
  const bool converts = out.dtype() != ops.dtype;
  const tir::Buffer sums =
      converts ? loops.Temporary(absl::StrCat(out->name(), "_sum"), ops.dtype,
                                 ShapeOf(out))
               : out;
  loops.Fold(
      sums, kernel, [&](const Indices&) { return Number(ops.dtype, 0); },
      [&](const Indices& at, const Indices& k, const PrimExpr& sum) {
        Indices from = {ops.out.PositionOf('N', at),
                        ops.out.PositionOf('C', at)};
        from.insert(from.end(), k.begin(), k.end());
        PrimExpr included;
        for (size_t i = 0; i < kSpatial; ++i) {
          const AxisWindow& window = ops.windows[i];
          // stride * position of the data.
          const PrimExpr scaled =
              tir::Sub(tir::Add(ops.out.PositionOf(ops.spatial[i], at),
                                Index(window.before)),
                       tir::Mul(k[i], Index(window.dilation)));
          included = And(included, Op2(BinaryOp::kLE, Index(0), scaled));
          included = And(included, Op2(BinaryOp::kLT, scaled,
                                       Index(window.in * window.stride)));
          if (window.stride != 1) {
            included =
                And(included,
                    Op2(BinaryOp::kEQ, Rest(scaled, window.stride), Index(0)));
          }
          from.push_back(Divide(scaled, window.stride));
        }
        return IfThenElse(
            included, Op2(BinaryOp::kAdd, sum, tir::BufferLoad(unfolded, from)),
            sum);
      });
  if (converts) {
    loops.Store(out, [&](const Indices& at) {
      return Convert(out.dtype(), tir::BufferLoad(sums, at));
    });
  }
  return absl::OkStatus();
}

#define BATON_ROW(name, computation) \
  BATON_EXTEND_OP(name).Set(Computations(), computation)

BATON_ROW("nn.conv1d", (LowerConv<1, relay::Conv1DAttrs>));
BATON_ROW("nn.conv2d", (LowerConv<2, relay::Conv2DAttrs>));
BATON_ROW("nn.conv3d", (LowerConv<3, relay::Conv3DAttrs>));
BATON_ROW("nn.contrib_conv2d_NCHWc", (LowerConv<2, relay::Conv2DAttrs>));
BATON_ROW("nn.contrib_depthwise_conv2d_NCHWc",
          (LowerConv<2, relay::Conv2DAttrs>));
BATON_ROW("nn.conv1d_transpose",
          (LowerConvTranspose<1, relay::Conv1DTransposeAttrs>));
BATON_ROW("nn.conv2d_transpose",
          (LowerConvTranspose<2, relay::Conv2DTransposeAttrs>));
BATON_ROW("nn.conv3d_transpose",
          (LowerConvTranspose<3, relay::Conv3DTransposeAttrs>));

}  // namespace
}  // namespace baton::lower
