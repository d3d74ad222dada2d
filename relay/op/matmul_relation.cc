#include "baton/relay/op/matmul_relation.h"

#include <optional>

#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/relay/op/dim_math.h"
#include "baton/relay/op/nn_attrs.h"
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

}  // namespace baton::relay
