#include "baton/relay/op/nn/dense.h"

#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "baton/base/dtype.h"
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

absl::StatusOr<Type> MatrixProductRel(TypeRelationContext& context,
                                      const std::optional<Dim>& units,
                                      DType out_dtype, bool transpose_a,
                                      bool transpose_b) {
  const TensorTypeNode* a = context.Tensor(0);
  if (a == nullptr) return Type();
  const TensorTypeNode* b = context.Tensor(1);
  BATON_RETURN_IF_ERROR(context.status());
  const int rank = a->rank();
  if (rank < (transpose_a ? 2 : 1)) {
    return context.Error("the left operand has shape ",
                         ShapeToString(a->shape()),
                         ", which has too few dimensions");
  }
  Dims shape(a->shape().begin(), a->shape().end());
  Dim reduced = shape[rank - 1];
  if (transpose_a) {
    reduced = shape[rank - 2];
    shape[rank - 2] = shape[rank - 1];
  }
  if (units.has_value()) {
    BATON_RETURN_IF_ERROR(ExpectArg(
        context, 1, transpose_b ? Dims{*units, reduced} : Dims{reduced, *units},
        b == nullptr ? a->dtype() : b->dtype()));
    shape[rank - 1] = *units;
  } else {
    if (b == nullptr) return Type();
    BATON_RETURN_IF_ERROR(ExpectRank(context, 1, *b, 2));
    // The reduced dimensions are not compared: as in the reference, only
    // `units` ties the operands to each other.
    shape[rank - 1] = b->dim(transpose_b ? 0 : 1);
  }
  return TensorLike(context, 0, shape,
                    out_dtype.is_void() ? a->dtype() : out_dtype);
}

}  // namespace

absl::StatusOr<Type> DenseRel(TypeRelationContext& context) {
  const auto& attrs = context.attrs<DenseAttrs>();
  return MatrixProductRel(context, attrs.units, attrs.out_dtype,
                          /*transpose_a=*/false, /*transpose_b=*/true);
}

absl::StatusOr<Type> MatmulRel(TypeRelationContext& context) {
  const auto& attrs = context.attrs<MatmulAttrs>();
  return MatrixProductRel(context, attrs.units, attrs.out_dtype,
                          attrs.transpose_a, attrs.transpose_b);
}

absl::StatusOr<Type> BatchMatmulRel(TypeRelationContext& context) {
  const TensorTypeNode* a = context.Tensor(0);
  const TensorTypeNode* b = context.Tensor(1);
  if (a == nullptr || b == nullptr) return Type();
  BATON_RETURN_IF_ERROR(ExpectRank(context, 0, *a, 3));
  BATON_RETURN_IF_ERROR(ExpectRank(context, 1, *b, 3));
  const auto& attrs = context.attrs<BatchMatmulAttrs>();
  const auto mismatch = [&](const char* what) {
    return context.Error("the ", what, " of the shapes ",
                         ShapeToString(a->shape()), " and ",
                         ShapeToString(b->shape()), " do not match");
  };
  Dim batch = a->dim(0);
  const Dim& other_batch = b->dim(0);
  if (batch.is_const(1)) {
    batch = other_batch;
  } else if (!other_batch.is_const(1)) {
    if (ProvablyDiffer(batch, other_batch)) return mismatch("batches");
    if (!ProvablyEqual(batch, other_batch)) batch = Dim::Any();
  }
  if (ProvablyDiffer(a->dim(attrs.transpose_a ? 1 : 2),
                     b->dim(attrs.transpose_b ? 2 : 1))) {
    return mismatch("inner dimensions");
  }
  return TensorLike(context, 0,
                    {batch, a->dim(attrs.transpose_a ? 2 : 1),
                     b->dim(attrs.transpose_b ? 1 : 2)},
                    attrs.out_dtype.is_void() ? a->dtype() : attrs.out_dtype);
}

namespace {
// Layout rules.

}  // namespace

std::optional<InferredLayouts> InferDenseLayouts(const LayoutQuery& query) {
  static const Layout& kLayout = *new Layout(layouts::LayoutOf("NC"));
  return InferredLayouts{{kLayout, kLayout}, {kLayout}, query.attrs};
}

std::optional<InferredLayouts> InferDensePackLayouts(const LayoutQuery& query) {
  const Layout data = layouts::LayoutOf("NC");
  return layouts::IfDefined(
      {{data, layouts::LayoutOf(
                  AttrsOrDefaults<DensePackAttrs>(query.attrs).weight_layout)},
       {data},
       query.attrs});
}

namespace {

BATON_REGISTER_OP("nn.dense")
    .Describe("data * weight^T, over the last axis of the data.")
    .Arguments({{"data", "The input."}, {"weight", "(units, in)."}})
    .TakesAttrs<DenseAttrs>()
    .TypeRelation(DenseRel)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable)
    .Set(LayoutInferenceRules(), InferDenseLayouts);

BATON_REGISTER_OP("nn.matmul")
    .Describe("The product of a tensor, over its last axis, and a matrix.")
    .Arguments({{"tensor_a", "The left operand."},
                {"tensor_b", "The right operand, a matrix."}})
    .TakesAttrs<MatmulAttrs>()
    .TypeRelation(MatmulRel)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable);

BATON_REGISTER_OP("nn.batch_matmul")
    .Describe("The products of two batches of matrices.")
    .Arguments({{"tensor_a", "The left operands."},
                {"tensor_b", "The right operands."}})
    .TakesAttrs<BatchMatmulAttrs>()
    .TypeRelation(BatchMatmulRel)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable);

absl::StatusOr<Type> DensePackRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  const TensorTypeNode* weight = context.Tensor(1);
  if (data == nullptr || weight == nullptr) return Type();
  BATON_RETURN_IF_ERROR(ExpectRank(context, 0, *data, 2));
  if (weight->rank() != 3 && weight->rank() != 4) {
    return context.Error("the weight must have 3 or 4 dimensions, but has ",
                         weight->rank());
  }
  const DType dtype = context.attrs<DensePackAttrs>().out_dtype;
  return TensorLike(context, 0, {data->dim(0), weight->dim(0) * weight->dim(2)},
                    dtype.is_void() ? data->dtype() : dtype);
}

BATON_REGISTER_OP("nn.contrib_dense_pack")
    .Describe("nn.dense with a blocked weight.")
    .Arguments({{"data", "The input, a matrix."},
                {"weight", "The weight, in blocks."}})
    .TakesAttrs<DensePackAttrs>()
    .TypeRelation(DensePackRel)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable)
    .Set(LayoutInferenceRules(), InferDensePackLayouts);

}  // namespace

}  // namespace baton::relay

namespace baton::relay::nn {

Expr Dense(Expr data, Expr weight, DenseAttrs attrs) {
  return Call(BATON_OP("nn.dense"), {std::move(data), std::move(weight)},
              Attrs::Make(std::move(attrs)));
}

Expr Matmul(Expr tensor_a, Expr tensor_b, MatmulAttrs attrs) {
  return Call(BATON_OP("nn.matmul"), {std::move(tensor_a), std::move(tensor_b)},
              Attrs::Make(std::move(attrs)));
}

Expr BatchMatmul(Expr tensor_a, Expr tensor_b, BatchMatmulAttrs attrs) {
  return Call(BATON_OP("nn.batch_matmul"),
              {std::move(tensor_a), std::move(tensor_b)},
              Attrs::Make(std::move(attrs)));
}

}  // namespace baton::relay::nn
