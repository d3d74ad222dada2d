#include "baton/relay/op/nn/sparse.h"

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/registry.h"
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

// The rows of a sparse matrix.
absl::StatusOr<Dim> SparseRows(const TypeRelationContext& context,
                               const TensorTypeNode& values,
                               const TensorTypeNode& indptr) {
  if (indptr.rank() != 1) {
    return context.Error("the row pointers must have 1 dimension");
  }
  const Dim rows = indptr.dim(0) - Dim(1);
  if (values.rank() == 1) return rows;
  if (values.rank() == 3) return rows * values.dim(1);
  return context.Error(
      "the values must have 1 (CSR) or 3 (BSR) dimensions, "
      "but their shape is ",
      ShapeToString(values.shape()));
}

absl::StatusOr<Type> SparseDenseRel(TypeRelationContext& context) {
  const TensorTypeNode* dense = context.Tensor(0);
  const TensorTypeNode* values = context.Tensor(1);
  const TensorTypeNode* indptr = context.Tensor(3);
  if (dense == nullptr || values == nullptr || indptr == nullptr) {
    return Type();
  }
  if (dense->rank() == 0) return context.Error("the dense data is a scalar");
  BATON_ASSIGN_OR_RETURN(const Dim rows, SparseRows(context, *values, *indptr));
  if (context.attrs<SparseDenseAttrs>().sparse_lhs) {
    return Type(TensorType({rows, dense->dim(0)}, dense->dtype()));
  }
  return Type(TensorType({dense->dim(0), rows}, dense->dtype()));
}

OpRegistration SparseDense(absl::string_view name, absl::string_view doc,
                           CodeLocation location = CodeLocation::Current()) {
  return OpRegistration(name, location)
      .Describe(doc)
      .Arguments({{"dense_data", "The dense operand."},
                  {"sparse_data", "The values of the sparse operand."},
                  {"sparse_indices", "Its column indices."},
                  {"sparse_indptr", "Its row pointers."}})
      .TakesAttrs<SparseDenseAttrs>()
      .TypeRelation(SparseDenseRel)
      .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable);
}

[[maybe_unused]] const OpRegistration kSparseDenseOps[] = {
    SparseDense("nn.sparse_dense",
                "The product of a dense and a sparse matrix."),
    SparseDense("nn.internal.sparse_dense_padded",
                "nn.sparse_dense with padded rows."),
};

absl::StatusOr<Type> SparseTransposeRel(TypeRelationContext& context) {
  for (int i = 0; i < 3; ++i) {
    const TensorTypeNode* type = context.Tensor(i);
    if (type == nullptr) return Type();
    if (i < 2) BATON_RETURN_IF_ERROR(ExpectRank(context, i, *type, 1));
  }
  return Type(TupleType({context.arg(0), context.arg(1), context.arg(2)}));
}

BATON_REGISTER_OP("nn.sparse_transpose")
    .Describe("The transpose of a square sparse matrix.")
    .Arguments({{"sparse_data", "The values."},
                {"sparse_indices", "The column indices."},
                {"sparse_indptr", "The row pointers."}})
    .TakesAttrs<SparseTransposeAttrs>()
    .TypeRelation(SparseTransposeRel)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable);

absl::StatusOr<Type> SparseAddRel(TypeRelationContext& context) {
  const TensorTypeNode* dense = context.Tensor(0);
  const TensorTypeNode* values = context.Tensor(1);
  const TensorTypeNode* indices = context.Tensor(2);
  if (dense == nullptr || values == nullptr || indices == nullptr) {
    return Type();
  }
  if (dense->dtype() != values->dtype()) {
    return context.Error("the element types ", dense->dtype().ToString(),
                         " and ", values->dtype().ToString(), " do not match");
  }
  BATON_RETURN_IF_ERROR(ExpectRank(context, 1, *values, 1));
  BATON_RETURN_IF_ERROR(ExpectRank(context, 2, *indices, 1));
  return context.arg(0);
}

BATON_REGISTER_OP("nn.sparse_add")
    .Describe("The sum of a dense and a sparse matrix.")
    .Arguments({{"dense_data", "The dense operand."},
                {"sparse_data", "The values of the sparse operand."},
                {"sparse_indices", "Its column indices."},
                {"sparse_indptr", "Its row pointers."}})
    .TypeRelation(SparseAddRel)
    .Set(FusionPatterns(), FusionPattern::kOpaque);

absl::StatusOr<Type> SparseConv2DRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  const TensorTypeNode* values = context.Tensor(1);
  const TensorTypeNode* indptr = context.Tensor(3);
  if (data == nullptr || values == nullptr || indptr == nullptr) {
    return Type();
  }
  BATON_RETURN_IF_ERROR(ExpectRank(context, 0, *data, 4));
  BATON_RETURN_IF_ERROR(ExpectRank(context, 3, *indptr, 1));
  if (values->rank() != 2 && values->rank() != 3) {
    return context.Error(
        "the values must have 2 or 3 dimensions, but their "
        "shape is ",
        ShapeToString(values->shape()));
  }
  const std::string& layout = context.attrs<SparseConv2DAttrs>().layout;
  if (layout != "NHWC" && layout != "NCHW") {
    return context.Error("layout=\"", layout, "\" is neither NHWC nor NCHW");
  }
  Dims shape(data->shape().begin(), data->shape().end());
  shape[layout == "NHWC" ? 3 : 1] = (indptr->dim(0) - Dim(1)) * values->dim(1);
  return TensorLike(context, 0, shape, data->dtype());
}

BATON_REGISTER_OP("nn.sparse_conv2d")
    .Describe("Convolution with a sparse kernel.")
    .Arguments({{"dense_data", "The input."},
                {"sparse_data", "The values of the kernel."},
                {"sparse_indices", "Its column indices."},
                {"sparse_indptr", "Its row pointers."}})
    .TakesAttrs<SparseConv2DAttrs>()
    .TypeRelation(SparseConv2DRel)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable);

}  // namespace

}  // namespace baton::relay
