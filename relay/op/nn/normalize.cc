#include "baton/relay/op/nn/normalize.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
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
#include "baton/relay/op/layout_rules.h"
#include "baton/relay/op/type_relations.h"

namespace baton::relay {
namespace {
absl::StatusOr<Type> BatchNormRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  int axis = context.attrs<BatchNormAttrs>().axis;
  if (axis < -1 || axis >= data->rank() || data->rank() == 0) {
    return context.Error("axis=", axis, " is out of range for the shape ",
                         ShapeToString(data->shape()));
  }
  if (axis == -1) axis = data->rank() - 1;
  const Dim& channels = data->dim(axis);
  Type statistics;
  for (int i = 1; i < 5; ++i) {
    BATON_RETURN_IF_ERROR(ExpectArg(context, i, {channels}, data->dtype()));
    const auto* known = context.arg(i).As<TensorTypeNode>();
    if (!statistics.defined() && known != nullptr &&
        known->dim(0) == channels) {
      statistics = context.arg(i);
    }
  }
  if (!statistics.defined()) {
    statistics = TensorType({channels}, data->dtype());
  }
  std::vector<Type> fields;
  fields.reserve(3);
  fields.push_back(context.arg(0));
  fields.push_back(statistics);
  fields.push_back(std::move(statistics));
  return Type(TupleType(std::move(fields)));
}

// Layout rules.

std::optional<InferredLayouts> InferBatchNormLayouts(const LayoutQuery& query) {
  std::optional<InferredLayouts> result;
  if (!query.old_inputs[0].defined()) return result;
  layouts::LayoutAndAttrs data = layouts::FollowWithAxis<BatchNormAttrs>(query);
  const Layout& c = layouts::ChannelLayout();
  result.emplace();
  result->inputs.assign(5, c);
  result->inputs[0] = data.layout;
  result->outputs.assign(3, c);
  result->outputs[0] = std::move(data.layout);
  result->attrs = std::move(data.attrs);
  return result;
}

// Instance normalization follows a layout as other normalizations do, if the
// batch stays in front and the elements of an instance, which are added, keep
// their order.
std::optional<InferredLayouts> InferInstanceNormLayouts(
    const LayoutQuery& query) {
  const Layout& old = query.old_inputs[0];
  if (!query.changed || query.new_inputs[0] == old) {
    return InferNormLayouts<InstanceNormAttrs>(query);
  }
  const Layout& arrived = query.new_inputs[0];
  const std::optional<char> channels = layouts::LetterAt(
      old, AttrsOrDefaults<InstanceNormAttrs>(query.attrs).axis);
  std::vector<int64_t> added;
  for (int i = 1; i < old.ndim(); ++i) {
    if (old.axis(i).letter != channels) added.push_back(i);
  }
  const bool follows =
      !layouts::HasSubAxes(old) && arrived.axis(0) == old.axis(0) &&
      arrived.FactorOf(old.axis(0).letter) < 0 &&
      layouts::KeepsOrder(old, added, layouts::ShapeOfArg(query, 0), arrived);
  return InferNormLayouts<InstanceNormAttrs>({.call = query.call,
                                              .attrs = query.attrs,
                                              .old_inputs = query.old_inputs,
                                              .changed = follows,
                                              .new_inputs = query.new_inputs});
}

std::optional<InferredLayouts> InferL2NormalizeLayouts(
    const LayoutQuery& query) {
  const Layout& old = query.old_inputs[0];
  const std::vector<int64_t>& given =
      AttrsOrDefaults<L2NormalizeAttrs>(query.attrs).axis;
  // The axes that are given say in which order squares are added; without any,
  // it is that of the layout.
  const bool may_follow =
      query.changed &&
      (!given.empty() || query.new_inputs[0] == old ||
       (!layouts::HasSubAxes(old) &&
        layouts::KeepsOrder(old, layouts::ReducedAxes({}, false, old.ndim()),
                            layouts::ShapeOfArg(query, 0),
                            query.new_inputs[0])));
  if (may_follow) {
    std::optional<std::vector<int64_t>> axes =
        layouts::FollowAxes(old, given, query.new_inputs[0]);
    if (axes.has_value()) {
      return layouts::Same(
          query.new_inputs[0],
          layouts::WithField(query.attrs, &L2NormalizeAttrs::axis,
                             *std::move(axes)));
    }
  }
  return layouts::Same(old, query.attrs);
}

BATON_REGISTER_OP("nn.batch_norm")
    .Describe("Normalizes each channel with given mean and variance.")
    .Arguments({{"data", "The input."},
                {"gamma", "The scale of each channel."},
                {"beta", "The offset of each channel."},
                {"moving_mean", "The mean of each channel."},
                {"moving_var", "The variance of each channel."}})
    .TakesAttrs<BatchNormAttrs>()
    .TypeRelation(BatchNormRel)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable)
    .Set(LayoutInferenceRules(), InferBatchNormLayouts);

// Gamma and beta lie along the axis; the result is like the data.
template <typename A>
absl::StatusOr<Type> NormRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  BATON_ASSIGN_OR_RETURN(
      const int axis,
      NormalizeAxis(context, context.attrs<A>().axis, data->rank()));
  for (int i = 1; i < 3; ++i) {
    BATON_RETURN_IF_ERROR(
        ExpectArg(context, i, {data->dim(axis)}, data->dtype()));
  }
  return context.arg(0);
}

absl::StatusOr<Type> InstanceNormRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data != nullptr && data->rank() <= 2) {
    return context.Error(
        "the data must have more than 2 dimensions, but its "
        "shape is ",
        ShapeToString(data->shape()));
  }
  return NormRel<InstanceNormAttrs>(context);
}

BATON_REGISTER_OP("nn.instance_norm")
    .Describe("Normalizes each channel of each instance.")
    .Arguments({{"data", "The input."},
                {"gamma", "The scale of each channel."},
                {"beta", "The offset of each channel."}})
    .TakesAttrs<InstanceNormAttrs>()
    .TypeRelation(InstanceNormRel)
    .Set(LayoutInferenceRules(), InferInstanceNormLayouts);

BATON_REGISTER_OP("nn.layer_norm")
    .Describe("Normalizes along an axis.")
    .Arguments({{"data", "The input."},
                {"gamma", "The scale along the axis."},
                {"beta", "The offset along the axis."}})
    .TakesAttrs<LayerNormAttrs>()
    .TypeRelation(NormRel<LayerNormAttrs>)
    .Set(LayoutInferenceRules(), InferNormLayouts<LayerNormAttrs>);

BATON_REGISTER_OP("nn.group_norm")
    .Describe("Normalizes each group of channels of each instance.")
    .Arguments({{"data", "The input."},
                {"gamma", "The scale of each channel."},
                {"beta", "The offset of each channel."}})
    .TakesAttrs<GroupNormAttrs>()
    .TypeRelation(NormRel<GroupNormAttrs>);

BATON_REGISTER_OP("nn.lrn")
    .Describe("Normalizes each element by those of the nearest channels.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<LRNAttrs>()
    .TypeRelation(TensorIdentityRel)
    .Set(FusionPatterns(), FusionPattern::kOpaque);

BATON_REGISTER_OP("nn.l2_normalize")
    .Describe("Divides by the Euclidean norm over some axes.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<L2NormalizeAttrs>()
    .TypeRelation(TensorIdentityRel)
    .Set(LayoutInferenceRules(), InferL2NormalizeLayouts);

}  // namespace

}  // namespace baton::relay

namespace baton::relay::nn {

Expr BatchNorm(Expr data, Expr gamma, Expr beta, Expr moving_mean,
               Expr moving_var, BatchNormAttrs attrs) {
  return Call(BATON_OP("nn.batch_norm"),
              {std::move(data), std::move(gamma), std::move(beta),
               std::move(moving_mean), std::move(moving_var)},
              Attrs::Make(std::move(attrs)));
}

Expr InstanceNorm(Expr data, Expr gamma, Expr beta, InstanceNormAttrs attrs) {
  return Call(BATON_OP("nn.instance_norm"),
              {std::move(data), std::move(gamma), std::move(beta)},
              Attrs::Make(std::move(attrs)));
}

Expr LayerNorm(Expr data, Expr gamma, Expr beta, LayerNormAttrs attrs) {
  return Call(BATON_OP("nn.layer_norm"),
              {std::move(data), std::move(gamma), std::move(beta)},
              Attrs::Make(std::move(attrs)));
}

Expr GroupNorm(Expr data, Expr gamma, Expr beta, GroupNormAttrs attrs) {
  return Call(BATON_OP("nn.group_norm"),
              {std::move(data), std::move(gamma), std::move(beta)},
              Attrs::Make(std::move(attrs)));
}

Expr Lrn(Expr data, LRNAttrs attrs) {
  return Call(BATON_OP("nn.lrn"), {std::move(data)},
              Attrs::Make(std::move(attrs)));
}

Expr L2Normalize(Expr data, double eps, std::vector<int64_t> axis) {
  return Call(
      BATON_OP("nn.l2_normalize"), {std::move(data)},
      Attrs::Make(L2NormalizeAttrs{.eps = eps, .axis = std::move(axis)}));
}

}  // namespace baton::relay::nn
