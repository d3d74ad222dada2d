#include "baton/relay/op/tensor/reduce.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/registry.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/ir/type_relation.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/fusion_pattern.h"
#include "baton/relay/op/layout_rules.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/op/type_relations.h"

namespace baton::relay {
namespace {

// Returns, for each axis, whether it is reduced. No axes, or an empty list of
// them, stand for all.
absl::StatusOr<absl::InlinedVector<bool, 8>> ReducedAxes(
    const TypeRelationContext& context, int rank,
    const std::optional<std::vector<int64_t>>& axes, bool exclude) {
  if (!axes.has_value() || axes->empty()) {
    return absl::InlinedVector<bool, 8>(rank, true);
  }
  absl::InlinedVector<bool, 8> named(rank, false);
  for (const int64_t value : *axes) {
    BATON_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(context, value, rank));
    if (named[axis]) return context.Error("axis ", value, " is given twice");
    named[axis] = true;
  }
  if (exclude) {
    for (bool& axis : named) axis = !axis;
  }
  return named;
}

template <typename A>
absl::StatusOr<Dims> ReducedShape(const TypeRelationContext& context,
                                  absl::Span<const Dim> shape, const A& attrs) {
  BATON_ASSIGN_OR_RETURN(const auto reduced,
                         ReducedAxes(context, static_cast<int>(shape.size()),
                                     attrs.axis, attrs.exclude));
  Dims result;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!reduced[i]) {
      result.push_back(shape[i]);
    } else if (attrs.keepdims) {
      result.push_back(1);
    }
  }
  return result;
}

absl::StatusOr<Type> ReduceRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  BATON_ASSIGN_OR_RETURN(
      const Dims shape,
      ReducedShape(context, data->shape(), context.attrs<ReduceAttrs>()));
  return TensorLike(context, 0, shape, data->dtype());
}

absl::StatusOr<Type> ArgReduceRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  if (data->rank() == 0) return context.Error("the data is a scalar");
  BATON_ASSIGN_OR_RETURN(
      const Dims shape,
      ReducedShape(context, data->shape(), context.attrs<ArgReduceAttrs>()));
  return TensorLike(context, 0, shape, DType::Int(32));
}

absl::StatusOr<Type> VarianceRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  const TensorTypeNode* mean = context.Tensor(1);
  if (data == nullptr || mean == nullptr) return Type();
  if (data->rank() == 0) return context.Error("the data is a scalar");
  BATON_RETURN_IF_ERROR(ExpectRank(context, 1, *mean, data->rank()));
  BATON_ASSIGN_OR_RETURN(
      const Dims shape,
      ReducedShape(context, data->shape(), context.attrs<VarianceAttrs>()));
  return TensorLike(context, 0, shape, data->dtype());
}

OpRegistration Reduction(absl::string_view name, absl::string_view doc,
                         CodeLocation location = CodeLocation::Current()) {
  return OpRegistration(name, location)
      .Describe(doc)
      .Arguments({{"data", "The input."}})
      .TakesAttrs<ReduceAttrs>()
      .TypeRelation(ReduceRel)
      .Set(FusionPatterns(), FusionPattern::kCommReduce)
      .Set(LayoutInferenceRules(), InferReduceLayouts<ReduceAttrs>);
}

[[maybe_unused]] const OpRegistration kReductions[] = {
    Reduction("sum", "The sum over some axes."),
    Reduction("prod", "The product over some axes."),
    Reduction("mean", "The mean over some axes."),
    Reduction("max", "The maximum over some axes."),
    Reduction("min", "The minimum over some axes."),
    Reduction("all", "Whether all are true, over some axes."),
    Reduction("any", "Whether one is true, over some axes."),
};

OpRegistration ArgReduction(absl::string_view name, absl::string_view doc,
                            CodeLocation location = CodeLocation::Current()) {
  return OpRegistration(name, location)
      .Describe(doc)
      .Arguments({{"data", "The input."}})
      .TakesAttrs<ArgReduceAttrs>()
      .TypeRelation(ArgReduceRel)
      .Set(FusionPatterns(), FusionPattern::kCommReduce)
      .Set(LayoutInferenceRules(), InferReduceLayouts<ArgReduceAttrs>);
}

[[maybe_unused]] const OpRegistration kArgReductions[] = {
    ArgReduction("argmax", "The index of the maximum over some axes."),
    ArgReduction("argmin", "The index of the minimum over some axes."),
};

BATON_REGISTER_OP("variance")
    .Describe("The variance over some axes, for a given mean.")
    .Arguments({{"data", "The input."}, {"mean", "The mean."}})
    .TakesAttrs<VarianceAttrs>()
    .TypeRelation(VarianceRel)
    .Set(FusionPatterns(), FusionPattern::kCommReduce)
    .Set(LayoutInferenceRules(), InferReduceLayouts<VarianceAttrs>);

}  // namespace

// Builders.

Expr All(Expr data, ReduceAttrs attrs) {
  return Call(BATON_OP("all"), {std::move(data)},
              Attrs::Make(std::move(attrs)));
}

Expr Any(Expr data, ReduceAttrs attrs) {
  return Call(BATON_OP("any"), {std::move(data)},
              Attrs::Make(std::move(attrs)));
}

Expr ArgMax(Expr data, ArgReduceAttrs attrs) {
  return Call(BATON_OP("argmax"), {std::move(data)},
              Attrs::Make(std::move(attrs)));
}

Expr ArgMin(Expr data, ArgReduceAttrs attrs) {
  return Call(BATON_OP("argmin"), {std::move(data)},
              Attrs::Make(std::move(attrs)));
}

Expr Max(Expr data, ReduceAttrs attrs) {
  return Call(BATON_OP("max"), {std::move(data)},
              Attrs::Make(std::move(attrs)));
}

Expr Mean(Expr data, ReduceAttrs attrs) {
  return Call(BATON_OP("mean"), {std::move(data)},
              Attrs::Make(std::move(attrs)));
}

Expr Min(Expr data, ReduceAttrs attrs) {
  return Call(BATON_OP("min"), {std::move(data)},
              Attrs::Make(std::move(attrs)));
}

Expr Prod(Expr data, ReduceAttrs attrs) {
  return Call(BATON_OP("prod"), {std::move(data)},
              Attrs::Make(std::move(attrs)));
}

Expr Sum(Expr data, ReduceAttrs attrs) {
  return Call(BATON_OP("sum"), {std::move(data)},
              Attrs::Make(std::move(attrs)));
}

Expr Variance(Expr data, VarianceAttrs attrs) {
  Expr mean = Mean(
      data, {.axis = attrs.axis, .keepdims = true, .exclude = attrs.exclude});
  return Variance(std::move(data), std::move(mean), std::move(attrs));
}

Expr Variance(Expr data, Expr mean, VarianceAttrs attrs) {
  return Call(BATON_OP("variance"), {std::move(data), std::move(mean)},
              Attrs::Make(std::move(attrs)));
}

Expr Std(Expr data, VarianceAttrs attrs) {
  return Sqrt(Variance(std::move(data), std::move(attrs)));
}

}  // namespace baton::relay
