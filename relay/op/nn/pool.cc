#include "baton/relay/op/nn/pool.h"

#include <cstddef>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/layout.h"
#include "baton/base/registry.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/ir/type_relation.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/dim_math.h"
#include "baton/relay/op/fusion_pattern.h"
#include "baton/relay/op/layout_rules.h"
#include "baton/relay/op/type_relations.h"
#include "baton/relay/op/window_math.h"

namespace baton::relay {
namespace {

// The letters of the spatial axes: W, HW or DHW.
constexpr absl::string_view SpatialLetters(int num_spatial) {
  return absl::string_view("DHW").substr(3 - num_spatial);
}

// The positions of the spatial axes of `data`, which must not be split.
absl::StatusOr<absl::InlinedVector<int, 3>> SpatialAxes(
    const TypeRelationContext& context, const TensorTypeNode& data,
    absl::string_view layout_text, int num_spatial) {
  absl::StatusOr<Layout> layout = Layout::Parse(layout_text);
  if (!layout.ok()) return context.Error(layout.status().message());
  absl::InlinedVector<int, 3> axes;
  for (const char letter : SpatialLetters(num_spatial)) {
    const int axis = layout->IndexOf(letter);
    if (axis < 0 || layout->FactorOf(letter) > 0) {
      return context.Error("layout=\"", layout_text, "\" must have an axis ",
                           absl::string_view(&letter, 1), " that is not split");
    }
    if (axis >= data.rank()) {
      return context.Error("the data has shape ", ShapeToString(data.shape()),
                           ", which does not fit layout=\"", layout_text, "\"");
    }
    axes.push_back(axis);
  }
  return axes;
}

// Maximum and average pooling.
template <typename A, int kNumSpatial>
absl::StatusOr<Type> PoolRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const A& attrs = context.attrs<A>();
  BATON_ASSIGN_OR_RETURN(
      const auto axes, SpatialAxes(context, *data, attrs.layout, kNumSpatial));
  BATON_RETURN_IF_ERROR(
      ExpectPositive(context, "pool_size", attrs.pool_size, kNumSpatial));
  BATON_RETURN_IF_ERROR(
      ExpectPositive(context, "strides", attrs.strides, kNumSpatial));
  BATON_RETURN_IF_ERROR(
      ExpectPositive(context, "dilation", attrs.dilation, kNumSpatial));
  BATON_ASSIGN_OR_RETURN(const Dims pad,
                         TotalPadding(context, attrs.padding, kNumSpatial));
  Dims shape(data->shape().begin(), data->shape().end());
  for (int i = 0; i < kNumSpatial; ++i) {
    Dim& extent = shape[axes[i]];
    extent = WindowCount(extent, pad[i],
                         DilatedExtent(attrs.pool_size[i], attrs.dilation[i]),
                         attrs.strides[i], attrs.ceil_mode);
    BATON_RETURN_IF_ERROR(ExpectNotNegative(context, extent, i));
  }
  return TensorLike(context, 0, shape, data->dtype());
}

absl::StatusOr<Type> GlobalPool2DRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  BATON_ASSIGN_OR_RETURN(
      const auto axes,
      SpatialAxes(context, *data, context.attrs<GlobalPool2DAttrs>().layout,
                  2));
  Dims shape(data->shape().begin(), data->shape().end());
  for (const int axis : axes) shape[axis] = 1;
  return TensorLike(context, 0, shape, data->dtype());
}

template <typename A, int kNumSpatial>
absl::StatusOr<Type> AdaptivePoolRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const A& attrs = context.attrs<A>();
  BATON_ASSIGN_OR_RETURN(
      const auto axes, SpatialAxes(context, *data, attrs.layout, kNumSpatial));
  Dims shape(data->shape().begin(), data->shape().end());
  const size_t size = attrs.output_size.size();
  if (size != 0 && size != 1 && size != kNumSpatial) {
    return context.Error("output_size must have 1 or ", kNumSpatial,
                         " elements, but has ", size);
  }
  for (int i = 0; i < kNumSpatial && size != 0; ++i) {
    shape[axes[i]] = attrs.output_size[size == 1 ? 0 : i];
  }
  return TensorLike(context, 0, shape, data->dtype());
}

// Gradients have the shape of the data, the second argument.
absl::StatusOr<Type> PoolGradRel(TypeRelationContext& context) {
  if (context.Tensor(1) == nullptr) return Type();
  return context.arg(1);
}

}  // namespace

absl::StatusOr<Type> AvgPool2DRel(TypeRelationContext& context) {
  return PoolRel<AvgPool2DAttrs, 2>(context);
}

namespace {
// A pool with the attributes `A`, which takes any layout.
template <typename A>
OpRegistration PoolOp(absl::string_view name, absl::string_view doc,
                      TypeRelationFn relation,
                      CodeLocation location = CodeLocation::Current()) {
  return OpRegistration(name, location)
      .Describe(doc)
      .Arguments({{"data", "The input."}})
      .TakesAttrs<A>()
      .TypeRelation(relation)
      .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable)
      .Set(LayoutInferenceRules(), InferPoolLayouts<A>);
}

// A pool that ConvertLayout converts.
template <typename A>
OpRegistration ConvertiblePoolOp(
    absl::string_view name, absl::string_view doc, TypeRelationFn relation,
    CodeLocation location = CodeLocation::Current()) {
  return PoolOp<A>(name, doc, relation, location)
      .Set(ConvertLayoutRules(), ConvertLayoutRule{{"data"}, ConvertPool<A>});
}

[[maybe_unused]] const OpRegistration kPools[] = {
    PoolOp<MaxPool1DAttrs>("nn.max_pool1d",
                           "Maximum over a window that slides along one axis.",
                           PoolRel<MaxPool1DAttrs, 1>),
    ConvertiblePoolOp<MaxPool2DAttrs>(
        "nn.max_pool2d", "Maximum over a window that slides along two axes.",
        PoolRel<MaxPool2DAttrs, 2>),
    PoolOp<MaxPool3DAttrs>(
        "nn.max_pool3d", "Maximum over a window that slides along three axes.",
        PoolRel<MaxPool3DAttrs, 3>),
    PoolOp<AvgPool1DAttrs>("nn.avg_pool1d",
                           "Mean over a window that slides along one axis.",
                           PoolRel<AvgPool1DAttrs, 1>),
    ConvertiblePoolOp<AvgPool2DAttrs>(
        "nn.avg_pool2d", "Mean over a window that slides along two axes.",
        AvgPool2DRel),
    PoolOp<AvgPool3DAttrs>("nn.avg_pool3d",
                           "Mean over a window that slides along three axes.",
                           PoolRel<AvgPool3DAttrs, 3>),
    ConvertiblePoolOp<GlobalPool2DAttrs>("nn.global_max_pool2d",
                                         "Maximum over height and width.",
                                         GlobalPool2DRel),
    ConvertiblePoolOp<GlobalPool2DAttrs>(
        "nn.global_avg_pool2d", "Mean over height and width.", GlobalPool2DRel),
};

template <typename A, int kSpatialRank>
OpRegistration AdaptivePoolOp(absl::string_view name, absl::string_view doc,
                              CodeLocation location = CodeLocation::Current()) {
  return PoolOp<A>(name, doc, AdaptivePoolRel<A, kSpatialRank>, location);
}

constexpr char kAdaptiveMax[] =
    "Maximum over windows chosen to give a result of a size.";
constexpr char kAdaptiveAvg[] =
    "Mean over windows chosen to give a result of a size.";

[[maybe_unused]] const OpRegistration kAdaptivePools[] = {
    AdaptivePoolOp<AdaptivePool1DAttrs, 1>("nn.adaptive_max_pool1d",
                                           kAdaptiveMax),
    AdaptivePoolOp<AdaptivePool2DAttrs, 2>("nn.adaptive_max_pool2d",
                                           kAdaptiveMax),
    AdaptivePoolOp<AdaptivePool3DAttrs, 3>("nn.adaptive_max_pool3d",
                                           kAdaptiveMax),
    AdaptivePoolOp<AdaptivePool1DAttrs, 1>("nn.adaptive_avg_pool1d",
                                           kAdaptiveAvg),
    AdaptivePoolOp<AdaptivePool2DAttrs, 2>("nn.adaptive_avg_pool2d",
                                           kAdaptiveAvg),
    AdaptivePoolOp<AdaptivePool3DAttrs, 3>("nn.adaptive_avg_pool3d",
                                           kAdaptiveAvg),
};

BATON_REGISTER_OP("nn.max_pool2d_grad")
    .Describe("The gradient of nn.max_pool2d.")
    .Arguments({{"grad", "The gradient of the output."},
                {"data", "The input."}})
    .TakesAttrs<MaxPool2DAttrs>()
    .TypeRelation(PoolGradRel)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable);

BATON_REGISTER_OP("nn.avg_pool2d_grad")
    .Describe("The gradient of nn.avg_pool2d.")
    .Arguments({{"grad", "The gradient of the output."},
                {"data", "The input."}})
    .TakesAttrs<AvgPool2DAttrs>()
    .TypeRelation(PoolGradRel)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable);

}  // namespace

}  // namespace baton::relay

namespace baton::relay::nn {

namespace {

template <typename A>
Attrs PoolAttrs(int num_spatial, A attrs) {
  SpellOutAxes(num_spatial, attrs.pool_size);
  SpellOutAxes(num_spatial, attrs.strides);
  SpellOutAxes(num_spatial, attrs.dilation);
  SpellOutPadding(num_spatial, attrs.padding);
  return Attrs::Make(std::move(attrs));
}

}  // namespace

Expr MaxPool1D(Expr data, MaxPool1DAttrs attrs) {
  return Call(BATON_OP("nn.max_pool1d"), {std::move(data)},
              PoolAttrs(1, std::move(attrs)));
}

Expr MaxPool2D(Expr data, MaxPool2DAttrs attrs) {
  return Call(BATON_OP("nn.max_pool2d"), {std::move(data)},
              PoolAttrs(2, std::move(attrs)));
}

Expr MaxPool3D(Expr data, MaxPool3DAttrs attrs) {
  return Call(BATON_OP("nn.max_pool3d"), {std::move(data)},
              PoolAttrs(3, std::move(attrs)));
}

Expr AvgPool1D(Expr data, AvgPool1DAttrs attrs) {
  return Call(BATON_OP("nn.avg_pool1d"), {std::move(data)},
              PoolAttrs(1, std::move(attrs)));
}

Expr AvgPool2D(Expr data, AvgPool2DAttrs attrs) {
  return Call(BATON_OP("nn.avg_pool2d"), {std::move(data)},
              PoolAttrs(2, std::move(attrs)));
}

Expr AvgPool3D(Expr data, AvgPool3DAttrs attrs) {
  return Call(BATON_OP("nn.avg_pool3d"), {std::move(data)},
              PoolAttrs(3, std::move(attrs)));
}

Expr GlobalMaxPool2D(Expr data, GlobalPool2DAttrs attrs) {
  return Call(BATON_OP("nn.global_max_pool2d"), {std::move(data)},
              Attrs::Make(std::move(attrs)));
}

Expr GlobalAvgPool2D(Expr data, GlobalPool2DAttrs attrs) {
  return Call(BATON_OP("nn.global_avg_pool2d"), {std::move(data)},
              Attrs::Make(std::move(attrs)));
}

Expr AdaptiveMaxPool2D(Expr data, AdaptivePool2DAttrs attrs) {
  return Call(BATON_OP("nn.adaptive_max_pool2d"), {std::move(data)},
              Attrs::Make(std::move(attrs)));
}

Expr AdaptiveAvgPool2D(Expr data, AdaptivePool2DAttrs attrs) {
  return Call(BATON_OP("nn.adaptive_avg_pool2d"), {std::move(data)},
              Attrs::Make(std::move(attrs)));
}

}  // namespace baton::relay::nn
