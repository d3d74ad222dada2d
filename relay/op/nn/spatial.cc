#include "baton/relay/op/nn/spatial.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/layout.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/type_relation.h"
#include "baton/relay/op/dim_math.h"
#include "baton/relay/op/fusion_pattern.h"
#include "baton/relay/op/kernel_adapters.h"
#include "baton/relay/op/layout_relation.h"
#include "baton/relay/op/layout_rules.h"
#include "baton/relay/op/op_flags.h"
#include "baton/relay/op/type_relations.h"
#include "baton/relay/op/window_math.h"
#include "baton/relay/runtime/kernel.h"
#include "baton/relay/runtime/value.h"
#include "baton/runtime/kernels/correlation.h"
#include "baton/runtime/kernels/layout.h"
#include "baton/runtime/kernels/rearrange.h"
#include "baton/runtime/kernels/resize.h"
#include "baton/runtime/kernels/shape.h"

namespace baton::relay {
namespace {

// An error unless there are `count` pairs, all non-negative if the caller asks
// for it.
absl::Status ExpectPairs(const TypeRelationContext& context,
                         absl::string_view what,
                         absl::Span<const std::vector<int64_t>> pairs,
                         size_t count, bool not_negative = false) {
  if (pairs.size() != count) {
    return context.Error(what, " must have ", count, " pairs, but has ",
                         pairs.size());
  }
  for (size_t i = 0; i < count; ++i) {
    if (pairs[i].size() != 2) {
      return context.Error(what, "[", i, "] must be a pair, but has ",
                           pairs[i].size(), " elements");
    }
    if (not_negative && (pairs[i][0] < 0 || pairs[i][1] < 0)) {
      return context.Error(what, "[", i, "]=[", pairs[i][0], ", ", pairs[i][1],
                           "] is negative");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Type> PadResult(const TypeRelationContext& context,
                               const TensorTypeNode& data,
                               absl::Span<const std::vector<int64_t>> widths) {
  BATON_RETURN_IF_ERROR(
      ExpectPairs(context, "pad_width", widths, data.shape().size()));
  Dims shape;
  for (int i = 0; i < data.rank(); ++i) {
    shape.push_back(data.dim(i) + Dim(widths[i][0]) + Dim(widths[i][1]));
    if (shape[i].is_const() && shape[i].value() < 0) {
      return context.Error("axis ", i, " would have ", shape[i].value(),
                           " elements");
    }
  }
  return TensorLike(context, 0, shape, data.dtype());
}

absl::StatusOr<Type> PadRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const auto& attrs = context.attrs<PadAttrs>();
  if (attrs.pad_mode != "constant" && attrs.pad_mode != "edge" &&
      attrs.pad_mode != "reflect") {
    return context.Error("pad_mode=\"", attrs.pad_mode,
                         "\" is none of constant, edge and reflect");
  }
  return PadResult(context, *data, attrs.pad_width);
}

absl::StatusOr<Type> MirrorPadRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const auto& widths = context.attrs<MirrorPadAttrs>().pad_width;
  for (const std::vector<int64_t>& pair : widths) {
    for (const int64_t width : pair) {
      if (width < 0) {
        return context.Error("the padding ", width, " is negative");
      }
    }
  }
  return PadResult(context, *data, widths);
}

Dim Scaled(const Dim& extent, double scale) {
  if (extent.is_const()) {
    const double scaled =
        std::nearbyint(static_cast<double>(extent.value()) * scale);
    if (std::abs(scaled) < 4e18) return static_cast<int64_t>(scaled);
    return Dim::Any();
  }
  if (scale == std::floor(scale) && std::abs(scale) < 1e9) {
    return extent * Dim(static_cast<int64_t>(scale));
  }
  return Dim::Any();
}

absl::StatusOr<Type> UpSamplingRel(TypeRelationContext& context) {
  const auto& attrs = context.attrs<UpSamplingAttrs>();
  return InLayoutRel(context, attrs.layout, CanonicalLayout(2),
                     [&](Dims& shape) -> absl::Status {
                       shape[2] = Scaled(shape[2], attrs.scale_h);
                       shape[3] = Scaled(shape[3], attrs.scale_w);
                       return absl::OkStatus();
                     });
}

absl::StatusOr<Type> UpSampling3DRel(TypeRelationContext& context) {
  const auto& attrs = context.attrs<UpSampling3DAttrs>();
  return InLayoutRel(context, attrs.layout, CanonicalLayout(3),
                     [&](Dims& shape) -> absl::Status {
                       shape[2] = Scaled(shape[2], attrs.scale_d);
                       shape[3] = Scaled(shape[3], attrs.scale_h);
                       shape[4] = Scaled(shape[4], attrs.scale_w);
                       return absl::OkStatus();
                     });
}

// Extents times factors, as UpSamplingRel gives them.
absl::StatusOr<Tensor> Upsample(const Tensor& x, absl::string_view layout,
                                absl::string_view canonical,
                                absl::Span<const double> scales,
                                kernels::ResizeParams params) {
  return kernels::InLayout(
      x, layout, canonical, [&](const Tensor& data) -> absl::StatusOr<Tensor> {
        for (size_t i = 0; i < scales.size(); ++i) {
          const Dim extent = Scaled(data.shape()[i + 2], scales[i]);
          if (!extent.is_const()) {
            return absl::InvalidArgumentError("the result is too large");
          }
          params.size.push_back(extent.value());
        }
        return kernels::Resize(data, params);
      });
}

kernels::ResizeParams UpSamplingParams(const UpSamplingAttrs& attrs) {
  kernels::ResizeParams params;
  params.method = attrs.method == "bilinear"  ? "linear"
                  : attrs.method == "bicubic" ? "cubic"
                                              : attrs.method;
  params.coordinates = attrs.align_corners ? "align_corners" : "asymmetric";
  return params;
}

kernels::ResizeParams UpSampling3DParams(const UpSampling3DAttrs& attrs) {
  kernels::ResizeParams params;
  params.method = attrs.method == "trilinear" ? "linear" : attrs.method;
  params.coordinates = attrs.coordinate_transformation_mode;
  return params;
}

}  // namespace

absl::StatusOr<Tensor> ComputeUpSampling(const UpSamplingAttrs& attrs,
                                         absl::Span<const Value> args) {
  return Upsample(args[0].tensor(), attrs.layout, "NCHW",
                  {attrs.scale_h, attrs.scale_w}, UpSamplingParams(attrs));
}

absl::StatusOr<Tensor> ComputeUpSampling3D(const UpSampling3DAttrs& attrs,
                                           absl::Span<const Value> args) {
  return Upsample(args[0].tensor(), attrs.layout, "NCDHW",
                  {attrs.scale_d, attrs.scale_h, attrs.scale_w},
                  UpSampling3DParams(attrs));
}

namespace {

absl::StatusOr<Type> DilateRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const Dims& strides = context.attrs<DilateAttrs>().strides;
  BATON_RETURN_IF_ERROR(
      ExpectPositive(context, "strides", strides, data->rank()));
  Dims shape;
  for (int i = 0; i < data->rank(); ++i) {
    shape.push_back(DilatedExtent(data->dim(i), strides[i]));
  }
  return TensorLike(context, 0, shape, data->dtype());
}

// Moves blocks of block_size^2 elements between channels and spatial axes.
template <bool kToSpace>
absl::StatusOr<Type> SubPixelRel(TypeRelationContext& context) {
  const auto& attrs = context.attrs<SubPixelAttrs>();
  if (attrs.block_size <= 0) {
    return context.Error("block_size=", attrs.block_size, " is not positive");
  }
  const Dim block = attrs.block_size;
  return InLayoutRel(context, attrs.layout, CanonicalLayout(2),
                     [&](Dims& shape) -> absl::Status {
                       if (kToSpace) {
                         shape[1] = FloorDiv(shape[1], block * block);
                         shape[2] = shape[2] * block;
                         shape[3] = shape[3] * block;
                       } else {
                         shape[1] = shape[1] * (block * block);
                         shape[2] = FloorDiv(shape[2], block);
                         shape[3] = FloorDiv(shape[3], block);
                       }
                       return absl::OkStatus();
                     });
}

absl::Status ExpectBlocks(const TypeRelationContext& context,
                          const TensorTypeNode& data,
                          absl::Span<const int64_t> blocks) {
  if (static_cast<int>(blocks.size()) >= data.rank()) {
    return context.Error("block_shape has ", blocks.size(),
                         " elements, too many for the shape ",
                         ShapeToString(data.shape()));
  }
  for (const int64_t block : blocks) {
    if (block <= 0) return context.Error("block_shape must be positive");
  }
  return absl::OkStatus();
}

absl::StatusOr<Type> SpaceToBatchNDRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const auto& attrs = context.attrs<SpaceToBatchNDAttrs>();
  const auto& blocks = attrs.block_shape;
  BATON_RETURN_IF_ERROR(ExpectBlocks(context, *data, blocks));
  BATON_RETURN_IF_ERROR(ExpectPairs(context, "paddings", attrs.paddings,
                                    blocks.size(),
                                    /*not_negative=*/true));
  Dims shape(data->shape().begin(), data->shape().end());
  for (size_t i = 0; i < blocks.size(); ++i) {
    const auto& padding = attrs.paddings[i];
    shape[0] = shape[0] * Dim(blocks[i]);
    shape[i + 1] =
        FloorDiv(shape[i + 1] + Dim(padding[0]) + Dim(padding[1]), blocks[i]);
  }
  return TensorLike(context, 0, shape, data->dtype());
}

absl::StatusOr<Type> BatchToSpaceNDRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const auto& attrs = context.attrs<BatchToSpaceNDAttrs>();
  const auto& blocks = attrs.block_shape;
  BATON_RETURN_IF_ERROR(ExpectBlocks(context, *data, blocks));
  BATON_RETURN_IF_ERROR(ExpectPairs(context, "crops", attrs.crops,
                                    blocks.size(),
                                    /*not_negative=*/true));
  Dims shape(data->shape().begin(), data->shape().end());
  for (size_t i = 0; i < blocks.size(); ++i) {
    const auto& crop = attrs.crops[i];
    shape[0] = FloorDiv(shape[0], blocks[i]);
    shape[i + 1] = shape[i + 1] * Dim(blocks[i]) - Dim(crop[0]) - Dim(crop[1]);
    BATON_RETURN_IF_ERROR(
        ExpectNotNegative(context, shape[i + 1], static_cast<int>(i)));
  }
  return TensorLike(context, 0, shape, data->dtype());
}

absl::StatusOr<Type> CorrelationRel(TypeRelationContext& context) {
  const TensorTypeNode* data1 = context.Tensor(0);
  const TensorTypeNode* data2 = context.Tensor(1);
  if (data1 == nullptr || data2 == nullptr) return Type();
  BATON_RETURN_IF_ERROR(ExpectRank(context, 0, *data1, 4));
  BATON_RETURN_IF_ERROR(ExpectRank(context, 1, *data2, 4));
  const auto& attrs = context.attrs<CorrelationAttrs>();
  if (attrs.layout != "NCHW") {
    return context.Error("layout=\"", attrs.layout, "\" must be NCHW");
  }
  if (attrs.stride1 <= 0 || attrs.stride2 <= 0) {
    return context.Error("stride1=", attrs.stride1,
                         " and stride2=", attrs.stride2, " must be positive");
  }
  BATON_ASSIGN_OR_RETURN(const Dims pad,
                         TotalPadding(context, attrs.padding, 2));
  const Dim border = Dim(2) * (Dim(attrs.max_displacement) +
                               FloorDiv(Dim(attrs.kernel_size) - Dim(1), 2));
  const Dim displacements =
      Dim(2) * FloorDiv(attrs.max_displacement, attrs.stride2) + Dim(1);
  return Type(
      TensorType({data1->dim(0), displacements * displacements,
                  CeilDiv(data1->dim(2) + pad[0] - border, attrs.stride1),
                  CeilDiv(data2->dim(3) + pad[1] - border, attrs.stride1)},
                 data1->dtype()));
}

absl::StatusOr<Tensor> ComputePad(const PadAttrs& attrs,
                                  absl::Span<const Value> args) {
  kernels::PadMode mode = kernels::PadMode::kConstant;
  if (attrs.pad_mode == "edge") {
    mode = kernels::PadMode::kEdge;
  } else if (attrs.pad_mode == "reflect") {
    mode = kernels::PadMode::kReflect;
  } else if (attrs.pad_mode != "constant") {
    return absl::InvalidArgumentError(
        absl::StrCat("pad_mode=\"", attrs.pad_mode,
                     "\" is none of constant, edge and reflect"));
  }
  std::vector<int64_t> before, after;
  for (const std::vector<int64_t>& width : attrs.pad_width) {
    before.push_back(width[0]);
    after.push_back(width[1]);
  }
  return kernels::Pad(args[0].tensor(), before, after, mode, args[1].tensor());
}

absl::StatusOr<Tensor> MirrorPad(const MirrorPadAttrs& attrs,
                                 absl::Span<const Value> args) {
  return kernels::MirrorPad(args[0].tensor(), attrs.pad_width,
                            attrs.mode == "SYMMETRIC");
}

absl::StatusOr<Tensor> Dilate(const DilateAttrs& attrs,
                              absl::Span<const Value> args) {
  BATON_ASSIGN_OR_RETURN(const auto strides, ConcreteDims(attrs.strides));
  return kernels::Dilate(args[0].tensor(), strides, attrs.dilation_value);
}

absl::StatusOr<Tensor> DepthToSpace(const SubPixelAttrs& attrs,
                                    absl::Span<const Value> args) {
  return kernels::DepthToSpace(args[0].tensor(), attrs.block_size, attrs.layout,
                               attrs.mode == "CDR");
}

absl::StatusOr<Tensor> SpaceToDepth(const SubPixelAttrs& attrs,
                                    absl::Span<const Value> args) {
  return kernels::SpaceToDepth(args[0].tensor(), attrs.block_size,
                               attrs.layout);
}

absl::StatusOr<Tensor> SpaceToBatchNd(const SpaceToBatchNDAttrs& attrs,
                                      absl::Span<const Value> args) {
  return kernels::SpaceToBatchNd(args[0].tensor(), attrs.block_shape,
                                 attrs.paddings, attrs.pad_value);
}

absl::StatusOr<Tensor> BatchToSpaceNd(const BatchToSpaceNDAttrs& attrs,
                                      absl::Span<const Value> args) {
  return kernels::BatchToSpaceNd(args[0].tensor(), attrs.block_shape,
                                 attrs.crops);
}

absl::StatusOr<Tensor> ComputeCorrelation(const CorrelationAttrs& attrs,
                                          absl::Span<const Value> args) {
  kernels::CorrelationParams params;
  params.kernel_size = attrs.kernel_size;
  params.max_displacement = attrs.max_displacement;
  params.stride1 = attrs.stride1;
  params.stride2 = attrs.stride2;
  BATON_RETURN_IF_ERROR(CopyPadding<2>(attrs.padding, params.padding));
  params.is_multiply = attrs.is_multiply;
  return kernels::Correlation(args[0].tensor(), args[1].tensor(), params);
}

// Layout rules.

std::optional<InferredLayouts> InferPadLayouts(const LayoutQuery& query) {
  const auto& attrs = AttrsOrDefaults<PadAttrs>(query.attrs);
  const Layout& old = query.old_inputs[0];
  if (!old.defined()) return std::nullopt;
  // The value that is padded with is a scalar.
  InferredLayouts result{{old, Layout()}, {old}, query.attrs};
  if (!query.changed || query.new_inputs[0] == old) return result;

  const Layout& arrived = query.new_inputs[0];
  std::vector<std::vector<int64_t>> pad_width;
  for (const Layout::Axis& axis : arrived.axes()) {
    const int old_axis = old.IndexOf(Layout::ToPrimal(axis.letter));
    if (old_axis < 0 || old_axis >= static_cast<int>(attrs.pad_width.size())) {
      return result;
    }
    const std::vector<int64_t>& width = attrs.pad_width[old_axis];
    // An axis that is split cannot be padded.
    if (axis.factor > 0 &&
        std::any_of(width.begin(), width.end(),
                    [](int64_t count) { return count != 0; })) {
      return result;
    }
    pad_width.push_back(width);
  }
  result.inputs[0] = arrived;
  result.outputs[0] = arrived;
  result.attrs = layouts::WithField(query.attrs, &PadAttrs::pad_width,
                                    std::move(pad_width));
  return result;
}

std::optional<InferredLayouts> InferCorrelationLayouts(
    const LayoutQuery& query) {
  const Layout layout =
      layouts::LayoutOf(AttrsOrDefaults<CorrelationAttrs>(query.attrs).layout);
  return layouts::IfDefined({{layout, layout}, {layout}, query.attrs});
}

BATON_REGISTER_OP("nn.pad")
    .Describe("Adds elements around a tensor.")
    .Arguments({{"data", "The input."}, {"pad_val", "What is added."}})
    .TakesAttrs<PadAttrs>()
    .TypeRelation(PadRel)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(LayoutInferenceRules(), InferPadLayouts)
    .Set(Kernels(), KernelWith<PadAttrs, ComputePad>);

BATON_REGISTER_OP("nn.mirror_pad")
    .Describe("Adds mirrored elements around a tensor.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<MirrorPadAttrs>()
    .TypeRelation(MirrorPadRel)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(Kernels(), KernelWith<MirrorPadAttrs, MirrorPad>);

BATON_REGISTER_OP("nn.upsampling")
    .Describe("Enlarges height and width.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<UpSamplingAttrs>()
    .TypeRelation(UpSamplingRel)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(LayoutInferenceRules(), InferUpSamplingLayouts<UpSamplingAttrs>)
    .Set(Kernels(), KernelWith<UpSamplingAttrs, ComputeUpSampling>);

BATON_REGISTER_OP("nn.upsampling3d")
    .Describe("Enlarges depth, height and width.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<UpSampling3DAttrs>()
    .TypeRelation(UpSampling3DRel)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(LayoutInferenceRules(), InferUpSamplingLayouts<UpSampling3DAttrs>)
    .Set(Kernels(), KernelWith<UpSampling3DAttrs, ComputeUpSampling3D>);

BATON_REGISTER_OP("nn.dilate")
    .Describe("Moves the elements apart.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<DilateAttrs>()
    .TypeRelation(DilateRel)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(Kernels(), KernelWith<DilateAttrs, Dilate>);

BATON_REGISTER_OP("nn.depth_to_space")
    .Describe("Moves channels into blocks of height and width.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<SubPixelAttrs>()
    .TypeRelation(SubPixelRel</*kToSpace=*/true>)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(Kernels(), KernelWith<SubPixelAttrs, DepthToSpace>);

BATON_REGISTER_OP("nn.space_to_depth")
    .Describe("Moves blocks of height and width into channels.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<SubPixelAttrs>()
    .TypeRelation(SubPixelRel</*kToSpace=*/false>)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(Kernels(), KernelWith<SubPixelAttrs, SpaceToDepth>);

BATON_REGISTER_OP("nn.space_to_batch_nd")
    .Describe("Moves blocks of spatial axes into the batch.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<SpaceToBatchNDAttrs>()
    .TypeRelation(SpaceToBatchNDRel)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(Kernels(), KernelWith<SpaceToBatchNDAttrs, SpaceToBatchNd>);

BATON_REGISTER_OP("nn.batch_to_space_nd")
    .Describe("Moves parts of the batch into blocks of spatial axes.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<BatchToSpaceNDAttrs>()
    .TypeRelation(BatchToSpaceNDRel)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(Kernels(), KernelWith<BatchToSpaceNDAttrs, BatchToSpaceNd>);

BATON_REGISTER_OP("nn.correlation")
    .Describe("Compares patches of two feature maps.")
    .Arguments({{"data1", "The first input."}, {"data2", "The second."}})
    .TakesAttrs<CorrelationAttrs>()
    .TypeRelation(CorrelationRel)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable)
    .Set(LayoutInferenceRules(), InferCorrelationLayouts)
    .Set(Kernels(), KernelWith<CorrelationAttrs, ComputeCorrelation>);

absl::StatusOr<Type> BatchFlattenRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  if (data->rank() == 0) return context.Error("the data is a scalar");
  return TensorLike(context, 0,
                    {data->dim(0), Product(data->shape().subspan(1))},
                    data->dtype());
}

BATON_REGISTER_OP("nn.batch_flatten")
    .Describe("Joins all axes but the first into one.")
    .Arguments({{"data", "The input."}})
    .TypeRelation(BatchFlattenRel)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(ReshapeOps(), true)
    .Set(Kernels(), Kernel1<kernels::BatchFlatten>);

absl::StatusOr<Type> FIFOBufferRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  const TensorTypeNode* buffer = context.Tensor(1);
  if (data == nullptr || buffer == nullptr) return Type();
  BATON_RETURN_IF_ERROR(ExpectRank(context, 0, *data, buffer->rank()));
  BATON_RETURN_IF_ERROR(NormalizeAxis(context,
                                      context.attrs<FIFOBufferAttrs>().axis,
                                      buffer->rank())
                            .status());
  return context.arg(1);
}

// Drops as many old elements as new ones come.
absl::StatusOr<Tensor> ComputeFIFOBuffer(const FIFOBufferAttrs& attrs,
                                         absl::Span<const Value> args) {
  const Tensor& data = args[0].tensor();
  const Tensor& buffer = args[1].tensor();
  const int64_t axis = attrs.axis < 0 ? attrs.axis + buffer.rank() : attrs.axis;
  const int64_t extent = buffer.shape()[axis];
  const std::vector<Tensor> both = {buffer, data};
  BATON_ASSIGN_OR_RETURN(const Tensor all, kernels::Concatenate(both, axis));
  kernels::StridedSliceParams last;
  last.begin = {all.shape()[axis] - extent};
  last.end = {all.shape()[axis]};
  last.axes = std::vector<int64_t>{axis};
  return kernels::StridedSlice(all, last);
}

BATON_REGISTER_OP("nn.fifo_buffer")
    .Describe("Appends data to a queue of fixed length.")
    .Arguments({{"data", "What is appended."}, {"buffer", "The queue."}})
    .TakesAttrs<FIFOBufferAttrs>()
    .TypeRelation(FIFOBufferRel)
    .Set(FusionPatterns(), FusionPattern::kOpaque)
    .Set(Kernels(), KernelWith<FIFOBufferAttrs, ComputeFIFOBuffer>);

}  // namespace

}  // namespace baton::relay

namespace baton::relay::nn {

Expr BatchFlatten(Expr data) {
  return Call(BATON_OP("nn.batch_flatten"), {std::move(data)});
}

Expr Pad(Expr data, std::vector<std::vector<int64_t>> pad_width, Expr pad_value,
         std::string pad_mode) {
  return Call(BATON_OP("nn.pad"), {std::move(data), std::move(pad_value)},
              Attrs::Make(PadAttrs{.pad_width = std::move(pad_width),
                                   .pad_mode = std::move(pad_mode)}));
}

Expr UpSampling(Expr data, UpSamplingAttrs attrs) {
  return Call(BATON_OP("nn.upsampling"), {std::move(data)},
              Attrs::Make(std::move(attrs)));
}

}  // namespace baton::relay::nn
