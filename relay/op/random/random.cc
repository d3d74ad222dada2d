#include "baton/relay/op/random/random.h"

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/ir/type_relation.h"
#include "baton/relay/op/fusion_pattern.h"
#include "baton/relay/op/type_relations.h"

namespace baton::relay {
namespace {

// States that argument 0 is a key; gives its type.
absl::StatusOr<Type> ExpectKey(TypeRelationContext& context) {
  const Dims shape = {10};
  BATON_RETURN_IF_ERROR(ExpectArg(context, 0, shape, DType::UInt(64)));
  return TensorLike(context, 0, shape, DType::UInt(64));
}

Dims ToDims(const std::vector<int64_t>& shape) {
  return Dims(shape.begin(), shape.end());
}

absl::StatusOr<Type> GenerateRel(TypeRelationContext& context) {
  BATON_ASSIGN_OR_RETURN(const Type key, ExpectKey(context));
  const Dims shape = ToDims(context.attrs<ThreefryGenerateAttrs>().out_shape);
  return Type(TupleType({key, TensorType(shape, DType::UInt(64))}));
}

absl::StatusOr<Type> SplitKeyRel(TypeRelationContext& context) {
  BATON_ASSIGN_OR_RETURN(const Type key, ExpectKey(context));
  return Type(TupleType({key, key}));
}

// A distribution with two parameters, scalars of the result's element type.
template <typename A>
absl::StatusOr<Type> DistributionRel(TypeRelationContext& context) {
  const A& attrs = context.attrs<A>();
  if (attrs.out_dtype != DType::Float(32) &&
      attrs.out_dtype != DType::Float(64)) {
    return context.Error("out_dtype=", attrs.out_dtype.ToString(),
                         " is neither float32 nor float64");
  }
  BATON_ASSIGN_OR_RETURN(const Type key, ExpectKey(context));
  BATON_RETURN_IF_ERROR(ExpectArg(context, 1, {}, attrs.out_dtype));
  BATON_RETURN_IF_ERROR(ExpectArg(context, 2, {}, attrs.out_dtype));
  return Type(
      TupleType({key, TensorType(ToDims(attrs.out_shape), attrs.out_dtype)}));
}

absl::StatusOr<Type> MultinomialRel(TypeRelationContext& context) {
  const TensorTypeNode* probs = context.Tensor(1);
  if (probs == nullptr) return Type();
  if (probs->rank() == 0) return context.Error("probs is a scalar");
  BATON_ASSIGN_OR_RETURN(const Type key, ExpectKey(context));
  Dims shape(probs->shape().begin(), probs->shape().end());
  shape.back() = context.attrs<MultinomialAttrs>().num_samples;
  return Type(TupleType({key, TensorType(shape, DType::Int(32))}));
}

BATON_REGISTER_OP("random.threefry_generate")
    .Describe("Random bits; gives a new key and the bits.")
    .Arguments({{"key", "The state of the generator."}})
    .TakesAttrs<ThreefryGenerateAttrs>()
    .TypeRelation(GenerateRel)
    .Set(FusionPatterns(), FusionPattern::kOpaque);

BATON_REGISTER_OP("random.threefry_split")
    .Describe("Two independent keys from one.")
    .Arguments({{"key", "The state of the generator."}})
    .TypeRelation(SplitKeyRel)
    .Set(FusionPatterns(), FusionPattern::kOpaque);

BATON_REGISTER_OP("random.uniform")
    .Describe("Uniformly distributed numbers; gives a new key and them.")
    .Arguments({{"key", "The state of the generator."},
                {"low", "The lower bound."},
                {"high", "The upper bound."}})
    .TakesAttrs<UniformAttrs>()
    .TypeRelation(DistributionRel<UniformAttrs>)
    .Set(FusionPatterns(), FusionPattern::kOpaque);

BATON_REGISTER_OP("random.normal")
    .Describe("Normally distributed numbers; gives a new key and them.")
    .Arguments({{"key", "The state of the generator."},
                {"mean", "The mean."},
                {"scale", "The standard deviation."}})
    .TakesAttrs<NormalAttrs>()
    .TypeRelation(DistributionRel<NormalAttrs>)
    .Set(FusionPatterns(), FusionPattern::kOpaque);

BATON_REGISTER_OP("random.multinomial")
    .Describe("Samples of categories; gives a new key and the samples.")
    .Arguments({{"key", "The state of the generator."},
                {"probs", "The probability of each category."}})
    .TakesAttrs<MultinomialAttrs>()
    .TypeRelation(MultinomialRel)
    .Set(FusionPatterns(), FusionPattern::kOpaque);

}  // namespace

}  // namespace baton::relay
