#include "baton/relay/op/image/image.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/layout.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/type_relation.h"
#include "baton/relay/op/dim_math.h"
#include "baton/relay/op/fusion_pattern.h"
#include "baton/relay/op/kernel_adapters.h"
#include "baton/relay/op/layout_relation.h"
#include "baton/relay/op/layout_rules.h"
#include "baton/relay/op/type_relations.h"
#include "baton/relay/op/window_math.h"
#include "baton/relay/runtime/kernel.h"
#include "baton/relay/runtime/value.h"
#include "baton/runtime/kernels/conv.h"
#include "baton/runtime/kernels/layout.h"
#include "baton/runtime/kernels/morphology.h"
#include "baton/runtime/kernels/resize.h"
#include "baton/runtime/kernels/shape.h"

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

template <typename A>
absl::StatusOr<Tensor> ComputeResize(const A& attrs,
                                     absl::Span<const Value> args) {
  BATON_ASSIGN_OR_RETURN(const auto size, ConcreteDims(attrs.size));
  return ResizeTo(attrs, args[0].tensor(),
                  std::vector<int64_t>(size.begin(), size.end()),
                  attrs.roi.value_or(std::vector<double>()));
}

absl::StatusOr<Tensor> ComputeCropAndResize(const CropAndResizeAttrs& attrs,
                                            absl::Span<const Value> args) {
  std::array<int64_t, 2> size;
  BATON_RETURN_IF_ERROR(CopyDims(attrs.crop_size, size));
  BATON_ASSIGN_OR_RETURN(
      const Tensor result,
      kernels::InLayout(args[0].tensor(), attrs.layout, "NCHW",
                        [&](const Tensor& data) {
                          return kernels::CropAndResize(
                              data, args[1].tensor(), args[2].tensor(), size[0],
                              size[1], attrs.method, attrs.extrapolation_value);
                        }));
  return attrs.out_dtype.is_void() ? result
                                   : kernels::Cast(result, attrs.out_dtype);
}

absl::StatusOr<Tensor> ComputeDilation2D(const Dilation2DAttrs& attrs,
                                         absl::Span<const Value> args) {
  kernels::Conv2dParams params;
  BATON_RETURN_IF_ERROR(CopyDims(attrs.strides, params.strides));
  BATON_RETURN_IF_ERROR(CopyDims(attrs.dilations, params.dilation));
  BATON_RETURN_IF_ERROR(CopyPadding<2>(attrs.padding, params.padding));
  params.out_dtype = attrs.out_dtype;
  BATON_ASSIGN_OR_RETURN(
      const Tensor weight,
      kernels::LayoutTransform(args[1].tensor(), attrs.kernel_layout, "IHW"));
  return kernels::InLayout(args[0].tensor(), attrs.data_layout, "NCHW",
                           [&](const Tensor& data) {
                             return kernels::Dilation2d(data, weight, params);
                           });
}

absl::StatusOr<Tensor> ComputeAffineGrid(const AffineGridAttrs& attrs,
                                         absl::Span<const Value> args) {
  std::array<int64_t, 2> shape;
  BATON_RETURN_IF_ERROR(CopyDims(attrs.target_shape, shape));
  return kernels::AffineGrid(args[0].tensor(), shape[0], shape[1]);
}

absl::StatusOr<Tensor> ComputeGridSample(const GridSampleAttrs& attrs,
                                         absl::Span<const Value> args) {
  kernels::GridSampleParams params;
  params.method = attrs.method == "trilinear" ? "bilinear" : attrs.method;
  params.padding = attrs.padding_mode;
  params.align_corners = attrs.align_corners;
  return kernels::InLayout(
      args[0].tensor(), attrs.layout,
      args[0].tensor().rank() == 5 ? "NCDHW" : "NCHW", [&](const Tensor& data) {
        return kernels::GridSample(data, args[1].tensor(), params);
      });
}

BATON_REGISTER_OP("image.resize1d")
    .Describe("Resizes along one axis.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<Resize1DAttrs>()
    .TypeRelation(ResizeRel<Resize1DAttrs, 1>)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(LayoutInferenceRules(), InferResizeLayouts<Resize1DAttrs>)
    .Set(ConvertLayoutRules(),
         ConvertLayoutRule{{"data"}, ConvertResize<Resize1DAttrs>})
    .Set(Kernels(), KernelWith<Resize1DAttrs, ComputeResize<Resize1DAttrs>>);

BATON_REGISTER_OP("image.resize2d")
    .Describe("Resizes along two axes.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<Resize2DAttrs>()
    .TypeRelation(ResizeRel<Resize2DAttrs, 2>)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(LayoutInferenceRules(), InferResizeLayouts<Resize2DAttrs>)
    .Set(ConvertLayoutRules(),
         ConvertLayoutRule{{"data"}, ConvertResize<Resize2DAttrs>})
    .Set(Kernels(), KernelWith<Resize2DAttrs, ComputeResize<Resize2DAttrs>>);

BATON_REGISTER_OP("image.resize3d")
    .Describe("Resizes along three axes.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<Resize3DAttrs>()
    .TypeRelation(ResizeRel<Resize3DAttrs, 3>)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(Kernels(), KernelWith<Resize3DAttrs, ComputeResize<Resize3DAttrs>>);

BATON_REGISTER_OP("image.crop_and_resize")
    .Describe("Cuts boxes out and resizes them.")
    .Arguments({{"data", "The input."},
                {"boxes", "The boxes."},
                {"box_indices", "The image of each box."}})
    .TakesAttrs<CropAndResizeAttrs>()
    .TypeRelation(CropAndResizeRel)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(Kernels(), KernelWith<CropAndResizeAttrs, ComputeCropAndResize>);

BATON_REGISTER_OP("image.dilation2d")
    .Describe("Morphological dilation.")
    .Arguments({{"data", "The input."}, {"weight", "The kernel."}})
    .TakesAttrs<Dilation2DAttrs>()
    .TypeRelation(Dilation2DRel)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable)
    .Set(LayoutInferenceRules(), InferDilation2DLayouts)
    .Set(Kernels(), KernelWith<Dilation2DAttrs, ComputeDilation2D>);

BATON_REGISTER_OP("image.affine_grid")
    .Describe("Sampling points of an affine transformation.")
    .Arguments({{"data", "The matrices."}})
    .TakesAttrs<AffineGridAttrs>()
    .TypeRelation(AffineGridRel)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(Kernels(), KernelWith<AffineGridAttrs, ComputeAffineGrid>);

BATON_REGISTER_OP("image.grid_sample")
    .Describe("Samples images at given points.")
    .Arguments({{"data", "The input."}, {"grid", "The points."}})
    .TakesAttrs<GridSampleAttrs>()
    .TypeRelation(GridSampleRel)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(Kernels(), KernelWith<GridSampleAttrs, ComputeGridSample>);

}  // namespace

template <typename A>
absl::StatusOr<Tensor> ResizeTo(const A& attrs, const Tensor& data,
                                std::vector<int64_t> size,
                                std::vector<double> roi) {
  kernels::ResizeParams params;
  const size_t spatial = size.size();
  params.size = std::move(size);
  params.roi = std::move(roi);
  params.method = attrs.method;
  params.coordinates = attrs.coordinate_transformation_mode;
  params.rounding = attrs.rounding_method;
  params.cubic_alpha = attrs.cubic_alpha;
  params.cubic_exclude = attrs.cubic_exclude != 0;
  params.extrapolation_value = attrs.extrapolation_value;
  constexpr absl::string_view kCanonical[] = {"NCW", "NCHW", "NCDHW"};
  if (spatial < 1 || spatial > 3) {
    return absl::InvalidArgumentError("there are no such layouts");
  }
  BATON_ASSIGN_OR_RETURN(
      const Tensor result,
      kernels::InLayout(
          data, attrs.layout, kCanonical[spatial - 1],
          [&params](const Tensor& x) { return kernels::Resize(x, params); }));
  return attrs.out_dtype.is_void() ? result
                                   : kernels::Cast(result, attrs.out_dtype);
}

template absl::StatusOr<Tensor> ResizeTo(const Resize1DAttrs&, const Tensor&,
                                         std::vector<int64_t>,
                                         std::vector<double>);
template absl::StatusOr<Tensor> ResizeTo(const Resize2DAttrs&, const Tensor&,
                                         std::vector<int64_t>,
                                         std::vector<double>);
template absl::StatusOr<Tensor> ResizeTo(const Resize3DAttrs&, const Tensor&,
                                         std::vector<int64_t>,
                                         std::vector<double>);

}  // namespace baton::relay
