#include "baton/relay/op/nn/loss.h"

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/ir/type_relation.h"
#include "baton/relay/op/dim_math.h"
#include "baton/relay/op/fusion_pattern.h"
#include "baton/relay/op/type_relations.h"

namespace baton::relay {
namespace {

absl::StatusOr<Type> CrossEntropyRel(TypeRelationContext& context) {
  const TensorTypeNode* x = context.Tensor(0);
  const TensorTypeNode* y = context.Tensor(1);
  if (x == nullptr || y == nullptr) return Type();
  if (x->rank() != 2 || y->rank() != 2 ||
      ProvablyDiffer(x->dim(0), y->dim(0)) ||
      ProvablyDiffer(x->dim(1), y->dim(1))) {
    return context.Error("the shapes ", ShapeToString(x->shape()), " and ",
                         ShapeToString(y->shape()),
                         " must be equal and have 2 dimensions");
  }
  return Type(TensorType::Scalar(x->dtype()));
}

BATON_REGISTER_OP("nn.cross_entropy")
    .Describe("The mean cross entropy of predictions and targets.")
    .Arguments({{"x", "The predictions."}, {"y", "The targets."}})
    .TypeRelation(CrossEntropyRel)
    .Set(FusionPatterns(), FusionPattern::kOpaque);

BATON_REGISTER_OP("nn.cross_entropy_with_logits")
    .Describe("The mean cross entropy of logarithmic predictions.")
    .Arguments({{"x", "The predictions."}, {"y", "The targets."}})
    .TypeRelation(CrossEntropyRel)
    .Set(FusionPatterns(), FusionPattern::kOpaque);

absl::StatusOr<Type> NLLLossRel(TypeRelationContext& context) {
  const TensorTypeNode* predictions = context.Tensor(0);
  const TensorTypeNode* targets = context.Tensor(1);
  const TensorTypeNode* weights = context.Tensor(2);
  if (predictions == nullptr || targets == nullptr || weights == nullptr) {
    return Type();
  }
  if (predictions->rank() != targets->rank() + 1 || targets->rank() == 0) {
    return context.Error("the predictions, of shape ",
                         ShapeToString(predictions->shape()),
                         ", must have one dimension more than the targets, of "
                         "shape ",
                         ShapeToString(targets->shape()));
  }
  BATON_RETURN_IF_ERROR(ExpectRank(context, 2, *weights, 1));
  if (ProvablyDiffer(predictions->dim(1), weights->dim(0))) {
    return context.Error("there are ", predictions->dim(1).value(),
                         " classes, but ", weights->dim(0).value(), " weights");
  }
  if (predictions->dtype() != weights->dtype() ||
      !predictions->dtype().is_float()) {
    return context.Error(
        "predictions and weights must have one floating "
        "type, but have ",
        predictions->dtype().ToString(), " and ", weights->dtype().ToString());
  }
  if (!targets->dtype().is_int()) {
    return context.Error("the targets must be integers, but are ",
                         targets->dtype().ToString());
  }
  return Type(TensorType(context.attrs<NLLLossAttrs>().reduction == "none"
                             ? targets->shape()
                             : absl::Span<const Dim>(),
                         predictions->dtype()));
}

BATON_REGISTER_OP("nn.nll_loss")
    .Describe("The negative log likelihood of targets.")
    .Arguments({{"predictions", "Logarithmic predictions, by class."},
                {"targets", "The class of each."},
                {"weights", "The weight of each class."}})
    .TakesAttrs<NLLLossAttrs>()
    .TypeRelation(NLLLossRel)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable);

}  // namespace

}  // namespace baton::relay
