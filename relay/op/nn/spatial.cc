#include "baton/relay/op/nn/spatial.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/layout.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/ir/type_relation.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/dim_math.h"
#include "baton/relay/op/fusion_pattern.h"
#include "baton/relay/op/layout_relation.h"
#include "baton/relay/op/layout_rules.h"
#include "baton/relay/op/op_flags.h"
#include "baton/relay/op/type_relations.h"
#include "baton/relay/op/window_math.h"

namespace baton::relay {
namespace {

// An error unless there are `count` pairs, all non-negative if `not_negative`.
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

absl::StatusOr<Type> UpSamplingRel(TypeRelationContext& context) {
  const auto& attrs = context.attrs<UpSamplingAttrs>();
  return InLayoutRel(context, attrs.layout, CanonicalLayout(2),
                     [&](Dims& shape) -> absl::Status {
                       shape[2] = ScaledExtent(shape[2], attrs.scale_h);
                       shape[3] = ScaledExtent(shape[3], attrs.scale_w);
                       return absl::OkStatus();
                     });
}

absl::StatusOr<Type> UpSampling3DRel(TypeRelationContext& context) {
  const auto& attrs = context.attrs<UpSampling3DAttrs>();
  return InLayoutRel(context, attrs.layout, CanonicalLayout(3),
                     [&](Dims& shape) -> absl::Status {
                       shape[2] = ScaledExtent(shape[2], attrs.scale_d);
                       shape[3] = ScaledExtent(shape[3], attrs.scale_h);
                       shape[4] = ScaledExtent(shape[4], attrs.scale_w);
                       return absl::OkStatus();
                     });
}

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
    .Arguments({{"data", "The input."},
                {"pad_val", "The value of the padding."}})
    .TakesAttrs<PadAttrs>()
    .TypeRelation(PadRel)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(LayoutInferenceRules(), InferPadLayouts);

BATON_REGISTER_OP("nn.mirror_pad")
    .Describe("Adds mirrored elements around a tensor.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<MirrorPadAttrs>()
    .TypeRelation(MirrorPadRel)
    .Set(FusionPatterns(), FusionPattern::kInjective);

BATON_REGISTER_OP("nn.upsampling")
    .Describe("Enlarges height and width.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<UpSamplingAttrs>()
    .TypeRelation(UpSamplingRel)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(LayoutInferenceRules(), InferUpSamplingLayouts<UpSamplingAttrs>);

BATON_REGISTER_OP("nn.upsampling3d")
    .Describe("Enlarges depth, height and width.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<UpSampling3DAttrs>()
    .TypeRelation(UpSampling3DRel)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(LayoutInferenceRules(), InferUpSamplingLayouts<UpSampling3DAttrs>);

BATON_REGISTER_OP("nn.dilate")
    .Describe("Moves the elements apart.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<DilateAttrs>()
    .TypeRelation(DilateRel)
    .Set(FusionPatterns(), FusionPattern::kInjective);

BATON_REGISTER_OP("nn.depth_to_space")
    .Describe("Moves channels into blocks of height and width.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<SubPixelAttrs>()
    .TypeRelation(SubPixelRel</*kToSpace=*/true>)
    .Set(FusionPatterns(), FusionPattern::kInjective);

BATON_REGISTER_OP("nn.space_to_depth")
    .Describe("Moves blocks of height and width into channels.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<SubPixelAttrs>()
    .TypeRelation(SubPixelRel</*kToSpace=*/false>)
    .Set(FusionPatterns(), FusionPattern::kInjective);

BATON_REGISTER_OP("nn.space_to_batch_nd")
    .Describe("Moves blocks of spatial axes into the batch.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<SpaceToBatchNDAttrs>()
    .TypeRelation(SpaceToBatchNDRel)
    .Set(FusionPatterns(), FusionPattern::kInjective);

BATON_REGISTER_OP("nn.batch_to_space_nd")
    .Describe("Moves parts of the batch into blocks of spatial axes.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<BatchToSpaceNDAttrs>()
    .TypeRelation(BatchToSpaceNDRel)
    .Set(FusionPatterns(), FusionPattern::kInjective);

BATON_REGISTER_OP("nn.correlation")
    .Describe("Compares patches of two feature maps.")
    .Arguments({{"data1", "The first input."}, {"data2", "The second."}})
    .TakesAttrs<CorrelationAttrs>()
    .TypeRelation(CorrelationRel)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable)
    .Set(LayoutInferenceRules(), InferCorrelationLayouts);

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
    .Set(ReshapeOps(), true);

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

BATON_REGISTER_OP("nn.fifo_buffer")
    .Describe("Appends data to a queue of fixed length.")
    .Arguments({{"data", "The tensor to append."}, {"buffer", "The queue."}})
    .TakesAttrs<FIFOBufferAttrs>()
    .TypeRelation(FIFOBufferRel)
    .Set(FusionPatterns(), FusionPattern::kOpaque);

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
