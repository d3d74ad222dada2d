#include "baton/relay/op/tensor/reduce.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/registry.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/type_relation.h"
#include "baton/relay/op/fusion_pattern.h"
#include "baton/relay/op/kernel_adapters.h"
#include "baton/relay/op/layout_rules.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/op/type_relations.h"
#include "baton/relay/runtime/kernel.h"
#include "baton/relay/runtime/value.h"
#include "baton/runtime/kernels/elementwise.h"
#include "baton/runtime/kernels/reduce.h"

namespace baton::relay {
namespace {

// Which axes are reduced. No axes, or an empty list of them: all.
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

template <typename A>
kernels::ReduceParams ReduceParamsOf(const A& attrs) {
  kernels::ReduceParams params;
  if (attrs.axis.has_value()) {
    params.axes.assign(attrs.axis->begin(), attrs.axis->end());
  }
  params.keepdims = attrs.keepdims;
  params.exclude = attrs.exclude;
  return params;
}

template <auto kFunction>
absl::StatusOr<Tensor> Reduce(const ReduceAttrs& attrs,
                              absl::Span<const Value> args) {
  return kFunction(args[0].tensor(), ReduceParamsOf(attrs));
}

template <auto kFunction>
absl::StatusOr<Tensor> ArgReduce(const ArgReduceAttrs& attrs,
                                 absl::Span<const Value> args) {
  return kFunction(args[0].tensor(), ReduceParamsOf(attrs),
                   attrs.select_last_index, DType::Int(32));
}

// The mean squared distance to the given mean.
absl::StatusOr<Tensor> ComputeVariance(const VarianceAttrs& attrs,
                                       absl::Span<const Value> args) {
  BATON_ASSIGN_OR_RETURN(const Tensor distance,
                         kernels::Subtract(args[0].tensor(), args[1].tensor()));
  if (distance.shape() != args[0].tensor().shape()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the mean, ", args[1].tensor().TypeToString(),
                     ", is not one of the data, ",
                     args[0].tensor().TypeToString()));
  }
  BATON_ASSIGN_OR_RETURN(const Tensor square,
                         kernels::Multiply(distance, distance));
  const kernels::ReduceParams params = ReduceParamsOf(attrs);
  if (!attrs.unbiased) return kernels::Mean(square, params);
  BATON_ASSIGN_OR_RETURN(const Tensor sum, kernels::Sum(square, params));
  const int64_t count =
      sum.num_elements() == 0 ? 1 : square.num_elements() / sum.num_elements();
  return kernels::Divide(
      sum, Tensor::ScalarOf(sum.dtype(), static_cast<double>(count - 1)));
}

OpRegistration Reduction(absl::string_view name, absl::string_view doc,
                         KernelFn kernel,
                         CodeLocation location = CodeLocation::Current()) {
  return OpRegistration(name, location)
      .Describe(doc)
      .Arguments({{"data", "The input."}})
      .TakesAttrs<ReduceAttrs>()
      .TypeRelation(ReduceRel)
      .Set(FusionPatterns(), FusionPattern::kCommReduce)
      .Set(LayoutInferenceRules(), InferReduceLayouts<ReduceAttrs>)
      .Set(Kernels(), kernel);
}

[[maybe_unused]] const OpRegistration kReductions[] = {
    Reduction("sum", "The sum over some axes.",
              KernelWith<ReduceAttrs, Reduce<kernels::Sum>>),
    Reduction("prod", "The product over some axes.",
              KernelWith<ReduceAttrs, Reduce<kernels::Prod>>),
    Reduction("mean", "The mean over some axes.",
              KernelWith<ReduceAttrs, Reduce<kernels::Mean>>),
    Reduction("max", "The maximum over some axes.",
              KernelWith<ReduceAttrs, Reduce<kernels::Max>>),
    Reduction("min", "The minimum over some axes.",
              KernelWith<ReduceAttrs, Reduce<kernels::Min>>),
    Reduction("all", "Whether all are true, over some axes.",
              KernelWith<ReduceAttrs, Reduce<kernels::All>>),
    Reduction("any", "Whether one is true, over some axes.",
              KernelWith<ReduceAttrs, Reduce<kernels::Any>>),
};

OpRegistration ArgReduction(absl::string_view name, absl::string_view doc,
                            KernelFn kernel,
                            CodeLocation location = CodeLocation::Current()) {
  return OpRegistration(name, location)
      .Describe(doc)
      .Arguments({{"data", "The input."}})
      .TakesAttrs<ArgReduceAttrs>()
      .TypeRelation(ArgReduceRel)
      .Set(FusionPatterns(), FusionPattern::kCommReduce)
      .Set(LayoutInferenceRules(), InferReduceLayouts<ArgReduceAttrs>)
      .Set(Kernels(), kernel);
}

[[maybe_unused]] const OpRegistration kArgReductions[] = {
    ArgReduction("argmax", "The index of the maximum over some axes.",
                 KernelWith<ArgReduceAttrs, ArgReduce<kernels::ArgMax>>),
    ArgReduction("argmin", "The index of the minimum over some axes.",
                 KernelWith<ArgReduceAttrs, ArgReduce<kernels::ArgMin>>),
};

BATON_REGISTER_OP("variance")
    .Describe("The variance over some axes, for a given mean.")
    .Arguments({{"data", "The input."}, {"mean", "The mean."}})
    .TakesAttrs<VarianceAttrs>()
    .TypeRelation(VarianceRel)
    .Set(FusionPatterns(), FusionPattern::kCommReduce)
    .Set(LayoutInferenceRules(), InferReduceLayouts<VarianceAttrs>)
    .Set(Kernels(), KernelWith<VarianceAttrs, ComputeVariance>);

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
