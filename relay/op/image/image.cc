#include "baton/relay/op/image/image.h"

#include <cstddef>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/base/layout.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/ir/type_relation.h"
#include "baton/relay/op/dim_math.h"
#include "baton/relay/op/fusion_pattern.h"
#include "baton/relay/op/layout_relation.h"
#include "baton/relay/op/layout_rules.h"
#include "baton/relay/op/type_relations.h"
#include "baton/relay/op/window_math.h"

namespace baton::relay {
namespace {

template <typename A, int kNumSpatial>
absl::StatusOr<Type> ResizeRel(TypeRelationContext& context) {
  const A& attrs = context.attrs<A>();
  return InLayoutRel(
      context, attrs.layout, CanonicalLayout(kNumSpatial),
      [&](Dims& shape) -> absl::Status {
        const size_t roi = attrs.roi.has_value() ? attrs.roi->size() : 0;
        if (attrs.size.size() != kNumSpatial || roi != 2 * kNumSpatial) {
          return context.Error("size must have ", kNumSpatial, " and roi ",
                               2 * kNumSpatial, " elements, but they have ",
                               attrs.size.size(), " and ", roi);
        }
        for (int i = 0; i < kNumSpatial; ++i) shape[i + 2] = attrs.size[i];
        return absl::OkStatus();
      },
      attrs.out_dtype);
}

absl::StatusOr<Type> CropAndResizeRel(TypeRelationContext& context) {
  const TensorTypeNode* boxes = context.Tensor(1);
  if (boxes == nullptr || context.Tensor(2) == nullptr) return Type();
  BATON_RETURN_IF_ERROR(ExpectRank(context, 1, *boxes, 2));
  const auto& attrs = context.attrs<CropAndResizeAttrs>();
  return InLayoutRel(
      context, attrs.layout, CanonicalLayout(2),
      [&](Dims& shape) -> absl::Status {
        if (attrs.crop_size.size() != 2) {
          return context.Error("crop_size must have 2 elements, but has ",
                               attrs.crop_size.size());
        }
        shape = {boxes->dim(0), shape[1], attrs.crop_size[0],
                 attrs.crop_size[1]};
        return absl::OkStatus();
      },
      attrs.out_dtype);
}

absl::StatusOr<Type> Dilation2DRel(TypeRelationContext& context) {
  const TensorTypeNode* weight = context.Tensor(1);
  if (weight == nullptr) return Type();
  static const Layout& kKernel = *new Layout(*Layout::Parse("IHW"));
  const auto& attrs = context.attrs<Dilation2DAttrs>();
  Layout parsed;
  BATON_ASSIGN_OR_RETURN(const Layout* kernel_layout,
                         ParseLayout(context, "kernel_layout",
                                     attrs.kernel_layout, kKernel, parsed));
  BATON_ASSIGN_OR_RETURN(
      const Dims kernel,
      ConvertArgShape(context, 1, *weight, *kernel_layout, kKernel));
  BATON_RETURN_IF_ERROR(ExpectPositive(context, "strides", attrs.strides, 2));
  BATON_RETURN_IF_ERROR(
      ExpectPositive(context, "dilations", attrs.dilations, 2));
  BATON_ASSIGN_OR_RETURN(const Dims pad,
                         TotalPadding(context, attrs.padding, 2));
  return InLayoutRel(
      context, attrs.data_layout, CanonicalLayout(2),
      [&](Dims& shape) -> absl::Status {
        shape[1] = kernel[0];
        for (int i = 0; i < 2; ++i) {
          shape[i + 2] =
              WindowCount(shape[i + 2], pad[i],
                          DilatedExtent(kernel[i + 1], attrs.dilations[i]),
                          attrs.strides[i], /*ceil=*/false);
          BATON_RETURN_IF_ERROR(ExpectNotNegative(context, shape[i + 2], i));
        }
        return absl::OkStatus();
      },
      attrs.out_dtype);
}

absl::StatusOr<Type> AffineGridRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  if (data->rank() != 3 || ProvablyDiffer(data->dim(1), 2) ||
      ProvablyDiffer(data->dim(2), 3)) {
    return context.Error("the data must have the shape (batch, 2, 3), but has ",
                         ShapeToString(data->shape()));
  }
  const Dims& target = context.attrs<AffineGridAttrs>().target_shape;
  if (target.size() != 2) {
    return context.Error("target_shape must have 2 elements, but has ",
                         target.size());
  }
  return Type(
      TensorType({data->dim(0), 2, target[0], target[1]}, data->dtype()));
}

absl::StatusOr<Type> GridSampleRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  const TensorTypeNode* grid = context.Tensor(1);
  if (data == nullptr || grid == nullptr) return Type();
  if (data->rank() != 4 && data->rank() != 5) {
    return context.Error(
        "the data must have 4 or 5 dimensions, but its shape "
        "is ",
        ShapeToString(data->shape()));
  }
  BATON_RETURN_IF_ERROR(ExpectRank(context, 1, *grid, data->rank()));
  return InLayoutRel(context, context.attrs<GridSampleAttrs>().layout,
                     CanonicalLayout(data->rank() - 2),
                     [&](Dims& shape) -> absl::Status {
                       for (int i = 2; i < grid->rank(); ++i) {
                         shape[i] = grid->dim(i);
                       }
                       return absl::OkStatus();
                     });
}

std::optional<InferredLayouts> InferDilation2DLayouts(
    const LayoutQuery& query) {
  const auto& attrs = AttrsOrDefaults<Dilation2DAttrs>(query.attrs);
  const Layout data = layouts::LayoutOf(attrs.data_layout);
  return layouts::IfDefined(
      {{data, layouts::LayoutOf(attrs.kernel_layout)}, {data}, query.attrs});
}

BATON_REGISTER_OP("image.resize1d")
    .Describe("Resizes along one axis.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<Resize1DAttrs>()
    .TypeRelation(ResizeRel<Resize1DAttrs, 1>)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(LayoutInferenceRules(), InferResizeLayouts<Resize1DAttrs>)
    .Set(ConvertLayoutRules(),
         ConvertLayoutRule{{"data"}, ConvertResize<Resize1DAttrs>});

BATON_REGISTER_OP("image.resize2d")
    .Describe("Resizes along two axes.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<Resize2DAttrs>()
    .TypeRelation(ResizeRel<Resize2DAttrs, 2>)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(LayoutInferenceRules(), InferResizeLayouts<Resize2DAttrs>)
    .Set(ConvertLayoutRules(),
         ConvertLayoutRule{{"data"}, ConvertResize<Resize2DAttrs>});

BATON_REGISTER_OP("image.resize3d")
    .Describe("Resizes along three axes.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<Resize3DAttrs>()
    .TypeRelation(ResizeRel<Resize3DAttrs, 3>)
    .Set(FusionPatterns(), FusionPattern::kInjective);

BATON_REGISTER_OP("image.crop_and_resize")
    .Describe("Cuts boxes out and resizes them.")
    .Arguments({{"data", "The input."},
                {"boxes", "The boxes."},
                {"box_indices", "The image of each box."}})
    .TakesAttrs<CropAndResizeAttrs>()
    .TypeRelation(CropAndResizeRel)
    .Set(FusionPatterns(), FusionPattern::kInjective);

BATON_REGISTER_OP("image.dilation2d")
    .Describe("Morphological dilation.")
    .Arguments({{"data", "The input."}, {"weight", "The kernel."}})
    .TakesAttrs<Dilation2DAttrs>()
    .TypeRelation(Dilation2DRel)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable)
    .Set(LayoutInferenceRules(), InferDilation2DLayouts);

BATON_REGISTER_OP("image.affine_grid")
    .Describe("Sampling points of an affine transformation.")
    .Arguments({{"data", "The matrices."}})
    .TakesAttrs<AffineGridAttrs>()
    .TypeRelation(AffineGridRel)
    .Set(FusionPatterns(), FusionPattern::kInjective);

BATON_REGISTER_OP("image.grid_sample")
    .Describe("Samples images at given points.")
    .Arguments({{"data", "The input."}, {"grid", "The points."}})
    .TakesAttrs<GridSampleAttrs>()
    .TypeRelation(GridSampleRel)
    .Set(FusionPatterns(), FusionPattern::kInjective);

}  // namespace

}  // namespace baton::relay
