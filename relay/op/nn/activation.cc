#include "baton/relay/op/nn/activation.h"

#include <optional>
#include <utility>

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
#include "baton/relay/op/op_flags.h"
#include "baton/relay/op/type_relations.h"

namespace baton::relay {
namespace {

std::optional<InferredLayouts> InferPReluLayouts(const LayoutQuery& query) {
  const Layout& data = query.old_inputs[0];
  return layouts::IfDefined(
      {{data, layouts::ChannelLayout()}, {data}, query.attrs});
}

BATON_REGISTER_OP("nn.relu")
    .Describe("max(x, 0).")
    .Arguments({{"data", "The input."}})
    .TypeRelation(TensorIdentityRel)
    .Set(FusionPatterns(), FusionPattern::kElemWise)
    .Set(LayoutInferenceRules(), InferElemwiseLayouts);

BATON_REGISTER_OP("nn.leaky_relu")
    .Describe("x where it is positive, else alpha * x.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<LeakyReluAttrs>()
    .TypeRelation(TensorIdentityRel)
    .Set(FusionPatterns(), FusionPattern::kElemWise)
    .Set(LayoutInferenceRules(), InferElemwiseLayouts);

absl::StatusOr<Type> PReluRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const int axis = context.attrs<PReluAttrs>().axis;
  if (axis < 0 || axis >= data->rank()) {
    return context.Error("axis=", axis, " is out of range for the shape ",
                         ShapeToString(data->shape()));
  }
  BATON_RETURN_IF_ERROR(
      ExpectArg(context, 1, {data->dim(axis)}, data->dtype()));
  return context.arg(0);
}

BATON_REGISTER_OP("nn.prelu")
    .Describe("x where it is positive, else alpha * x, alpha by channel.")
    .Arguments({{"data", "The input."}, {"alpha", "One slope a channel."}})
    .TakesAttrs<PReluAttrs>()
    .TypeRelation(PReluRel)
    .Set(FusionPatterns(), FusionPattern::kBroadcast)
    .Set(LayoutInferenceRules(), InferPReluLayouts);

absl::StatusOr<Type> BiasAddRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const int axis = context.attrs<BiasAddAttrs>().axis;
  const int rank = data->rank();
  if (axis < -rank || axis >= rank) {
    return context.Error("axis=", axis, " is out of range for the shape ",
                         ShapeToString(data->shape()));
  }
  BATON_RETURN_IF_ERROR(ExpectArg(
      context, 1, {data->dim(axis < 0 ? axis + rank : axis)}, data->dtype()));
  return context.arg(0);
}

BATON_REGISTER_OP("nn.bias_add")
    .Describe("Adds a number to each channel.")
    .Arguments({{"data", "The input."}, {"bias", "One number a channel."}})
    .TakesAttrs<BiasAddAttrs>()
    .TypeRelation(BiasAddRel)
    .Set(FusionPatterns(), FusionPattern::kBroadcast);

absl::StatusOr<Type> SoftmaxRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  BATON_RETURN_IF_ERROR(
      NormalizeAxis(context, context.attrs<SoftmaxAttrs>().axis, data->rank())
          .status());
  return context.arg(0);
}

BATON_REGISTER_OP("nn.softmax")
    .Describe("exp(x) divided by its sum along an axis.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<SoftmaxAttrs>()
    .TypeRelation(SoftmaxRel)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable);

BATON_REGISTER_OP("nn.fast_softmax")
    .Describe("nn.softmax; may be approximate.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<SoftmaxAttrs>()
    .TypeRelation(SoftmaxRel)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable);

BATON_REGISTER_OP("nn.log_softmax")
    .Describe("The logarithm of nn.softmax.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<SoftmaxAttrs>()
    .TypeRelation(SoftmaxRel)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable);

absl::StatusOr<Type> DropoutRel(TypeRelationContext& context) {
  if (context.Tensor(0) == nullptr) return Type();
  return Type(TupleType({context.arg(0), context.arg(0)}));
}

BATON_REGISTER_OP("nn.dropout")
    .Describe("In training, drops elements at random; gives data and mask.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<DropoutAttrs>()
    .TypeRelation(DropoutRel)
    .Set(FusionPatterns(), FusionPattern::kOpaque)
    .Set(LayoutInferenceRules(), InferElemwiseLayouts)
    .Set(StatefulOps(), true);

}  // namespace

}  // namespace baton::relay

namespace baton::relay::nn {

Expr BiasAdd(Expr data, Expr bias, int axis) {
  return Call(BATON_OP("nn.bias_add"), {std::move(data), std::move(bias)},
              Attrs::Make(BiasAddAttrs{.axis = axis}));
}

Expr Relu(Expr data) { return Call(BATON_OP("nn.relu"), {std::move(data)}); }

Expr LeakyRelu(Expr data, double alpha) {
  return Call(BATON_OP("nn.leaky_relu"), {std::move(data)},
              Attrs::Make(LeakyReluAttrs{.alpha = alpha}));
}

Expr PRelu(Expr data, Expr alpha, int axis) {
  return Call(BATON_OP("nn.prelu"), {std::move(data), std::move(alpha)},
              Attrs::Make(PReluAttrs{.axis = axis}));
}

Expr Softmax(Expr data, int axis) {
  return Call(BATON_OP("nn.softmax"), {std::move(data)},
              Attrs::Make(SoftmaxAttrs{.axis = axis}));
}

Expr LogSoftmax(Expr data, int axis) {
  return Call(BATON_OP("nn.log_softmax"), {std::move(data)},
              Attrs::Make(SoftmaxAttrs{.axis = axis}));
}

Expr Dropout(Expr data, double rate) {
  return TupleGetItem(Call(BATON_OP("nn.dropout"), {std::move(data)},
                           Attrs::Make(DropoutAttrs{.rate = rate})),
                      0);
}

}  // namespace baton::relay::nn
