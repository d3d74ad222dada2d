// Converters of loss functions.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/status_macros.h"
#include "baton/onnx/converter.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/tensor/create.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/op/tensor/indexing.h"
#include "baton/relay/op/tensor/reduce.h"
#include "baton/relay/op/tensor/shape.h"

namespace baton::onnx {
namespace {

// The negative log-likelihood of `target` under `log_probs`, which have the
// classes along axis 1. Input 2 of the node is the weight of each class.
absl::StatusOr<Expr> LikelihoodLoss(NodeContext& node, const Expr& log_probs,
                                    const Expr& target) {
  Expr index = target;
  std::optional<Expr> is_ignored;
  if (node.HasAttr("ignore_index")) {
    is_ignored = relay::Equal(
        target,
        ScalarLike(static_cast<double>(node.Int("ignore_index", 0)), target));
    index = relay::Where(*is_ignored, ScalarLike(0, target), target);
  }
  const Expr picked =
      relay::Squeeze(relay::Gather(log_probs, 1, relay::ExpandDims(index, 1)),
                     std::vector<int64_t>{1});
  const Expr zero = ScalarLike(0, node.Input(0));
  Expr weight;
  if (node.HasInput(2)) {
    weight = relay::Take(node.Input(2), index, {.axis = 0});
  } else if (is_ignored.has_value()) {
    weight = relay::OnesLike(picked);
  }
  if (is_ignored.has_value()) {
    weight = relay::Where(*is_ignored, zero, weight);
  }
  Expr loss = relay::Negative(picked);
  if (weight.defined()) loss = relay::Multiply(loss, weight);
  const std::string reduction = node.String("reduction", "mean");
  if (reduction == "none") return loss;
  if (reduction == "sum") return relay::Sum(loss);
  if (reduction != "mean") {
    return absl::InvalidArgumentError(absl::StrCat(
        "the reduction '", reduction, "' is none of none, sum and mean"));
  }
  if (!weight.defined()) return relay::Mean(loss);
  return relay::Divide(relay::Sum(loss), relay::Sum(weight));
}

absl::StatusOr<Outputs> NegativeLogLikelihoodLoss(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(Expr loss,
                         LikelihoodLoss(node, node.Input(0), node.Input(1)));
  return One(std::move(loss));
}

absl::StatusOr<Outputs> SoftmaxCrossEntropyLoss(NodeContext& node) {
  const Expr& scores = node.Input(0);
  const relay::ReduceAttrs over = {.axis = std::vector<int64_t>{1},
                                   .keepdims = true};
  const Expr shifted = relay::Subtract(scores, relay::Max(scores, over));
  BATON_ASSIGN_OR_RETURN(
      const Expr log_probs,
      node.Typed(relay::Subtract(
          shifted, relay::Log(relay::Sum(relay::Exp(shifted), over)))));
  BATON_ASSIGN_OR_RETURN(Expr loss,
                         LikelihoodLoss(node, log_probs, node.Input(1)));
  return Outputs{std::move(loss), log_probs};
}

BATON_ONNX_CONVERTERS({
    {"NegativeLogLikelihoodLoss", NegativeLogLikelihoodLoss, 12},
    {"SoftmaxCrossEntropyLoss", SoftmaxCrossEntropyLoss, 12},
});

}  // namespace
}  // namespace baton::onnx
