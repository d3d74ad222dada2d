#include "baton/onnx/ops/matrix_products.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/ir/type.h"
#include "baton/onnx/converter.h"
#include "baton/onnx/ops/extents.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/dim_math.h"
#include "baton/relay/op/nn/dense.h"
#include "baton/relay/op/tensor/create.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/op/tensor/indexing.h"
#include "baton/relay/op/tensor/shape.h"

namespace baton::onnx {

using Ints = std::vector<int64_t>;

namespace {

// The batch of `x`, the axes before the last two, broadcast with that of
// `other`; `rank`: of the batches.
absl::StatusOr<Expr> WithBatchOf(NodeContext& node, const Expr& x,
                                 const Expr& other, int rank) {
  const absl::Span<const Dim> shape = x->tensor_type()->shape();
  const absl::Span<const Dim> theirs = other->tensor_type()->shape();
  const int own = static_cast<int>(shape.size()) - 2;
  const int missing = static_cast<int>(theirs.size()) - 2 - own;
  bool is_same = own == rank;
  for (int i = 0; i < own && is_same; ++i) {
    is_same = i + missing < 0 || theirs[i + missing].is_const(1) ||
              relay::ProvablyEqual(shape[i], theirs[i + missing]);
  }
  if (is_same) return x;
  const Expr extents =
      missing + own == 0
          ? VectorConstant({1, 1})
          : relay::Concatenate(
                {relay::StridedSlice(ShapeVector(other), {0}, {own + missing}),
                 VectorConstant({1, 1})},
                0);
  BATON_ASSIGN_OR_RETURN(const Expr wanted, node.Typed(extents));
  return node.Typed(BroadcastWith(x, wanted));
}

// The product of matrices whose shapes are not all known.
absl::StatusOr<Expr> BatchProduct(NodeContext& node, const Expr& a,
                                  const Expr& b, DType out_dtype) {
  BATON_ASSIGN_OR_RETURN(const int a_rank, RankOf(a));
  BATON_ASSIGN_OR_RETURN(const int b_rank, RankOf(b));
  const int rank = std::max(a_rank, b_rank) - 2;
  BATON_ASSIGN_OR_RETURN(const Expr lhs, WithBatchOf(node, a, b, rank));
  BATON_ASSIGN_OR_RETURN(const Expr rhs, WithBatchOf(node, b, a, rank));
  Expr result = relay::nn::BatchMatmul(
      MergeAxes(lhs, rank + 2, 0, rank), MergeAxes(rhs, rank + 2, 0, rank),
      {.out_dtype = out_dtype, .transpose_b = false});
  // An operand that was broadcast knows less of its shape.
  return rank == 1
             ? result
             : SplitFirstAxis(std::move(result), lhs == a ? lhs : rhs, rank);
}

// The product of the last axis of `a` and the first axis of a matrix.
Expr RowsTimes(NodeContext& node, Expr a, Expr b, DType out_dtype) {
  if (node.graphs().keeps_weights() && relay::ConstantTensor(b) != nullptr) {
    return relay::nn::Matmul(std::move(a), std::move(b),
                             {.out_dtype = out_dtype});
  }
  return relay::nn::Dense(std::move(a),
                          relay::Transpose(std::move(b), Ints{1, 0}),
                          {.out_dtype = out_dtype});
}

// Refuses factors whose axes `i` and `k`, which are summed over, differ.
absl::Status CheckInner(const Expr& a, int i, const Expr& b, int k) {
  const TensorTypeNode& lhs = *a->tensor_type();
  const TensorTypeNode& rhs = *b->tensor_type();
  if (!relay::ProvablyDiffer(lhs.dim(i), rhs.dim(k))) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("factors of the shapes ", relay::ShapeToString(lhs.shape()),
                   " and ", relay::ShapeToString(rhs.shape()), ": the extents ",
                   lhs.dim(i).ToString(), " and ", rhs.dim(k).ToString(),
                   " that are summed over differ"));
}

}  // namespace

absl::StatusOr<Expr> MatrixProduct(NodeContext& node, Expr a, Expr b,
                                   DType out_dtype) {
  BATON_ASSIGN_OR_RETURN(int a_rank, RankOf(a));
  BATON_ASSIGN_OR_RETURN(int b_rank, RankOf(b));
  if (a_rank == 0 || b_rank == 0) {
    return absl::InvalidArgumentError("an operand is a scalar");
  }
  // A vector is a row on the left, a column on the right.
  const bool drop_row = a_rank == 1;
  const bool drop_column = b_rank == 1;
  if (drop_row) {
    BATON_ASSIGN_OR_RETURN(a, node.Typed(relay::ExpandDims(a, 0)));
    a_rank = 2;
  }
  if (drop_column) {
    BATON_ASSIGN_OR_RETURN(b, node.Typed(relay::ExpandDims(b, 1)));
    b_rank = 2;
  }
  BATON_RETURN_IF_ERROR(CheckInner(a, a_rank - 1, b, b_rank - 2));
  const absl::StatusOr<Ints> a_known = ShapeOf(a);
  const absl::StatusOr<Ints> b_known = ShapeOf(b);
  Expr result;
  if (b_rank == 2) {
    result = RowsTimes(node, std::move(a), std::move(b), out_dtype);
  } else if (!a_known.ok() || !b_known.ok()) {
    BATON_ASSIGN_OR_RETURN(result, BatchProduct(node, a, b, out_dtype));
  } else {
    const Ints& a_shape = *a_known;
    const Ints& b_shape = *b_known;
    const size_t batch_rank = static_cast<size_t>(std::max(a_rank, b_rank)) - 2;
    const auto batch_dim = [batch_rank](const Ints& shape, size_t i) {
      const size_t missing = batch_rank - (shape.size() - 2);
      return i < missing ? int64_t{1} : shape[i - missing];
    };
    Ints batch(batch_rank);
    for (size_t i = 0; i < batch_rank; ++i) {
      const int64_t x = batch_dim(a_shape, i);
      const int64_t y = batch_dim(b_shape, i);
      if (x != y && x != 1 && y != 1) {
        return absl::InvalidArgumentError(absl::StrCat(
            "axis ", i, " of the batches has ", x, " and ", y, " elements"));
      }
      batch[i] = x == 1 ? y : x;
    }
    const int64_t m = a_shape[a_rank - 2];
    const int64_t k = a_shape[a_rank - 1];
    const int64_t n = b_shape[b_rank - 1];
    int64_t batches = 1;
    for (int64_t dim : batch) batches *= dim;
    const auto with = [&batch](int64_t rows, int64_t columns) {
      Ints shape = batch;
      shape.push_back(rows);
      shape.push_back(columns);
      return shape;
    };
    const auto flat = [&](Expr x, const Ints& shape, int64_t rows,
                          int64_t columns) {
      Ints wanted = with(rows, columns);
      if (shape != wanted) x = relay::BroadcastTo(x, wanted);
      return batch_rank == 1 ? x : ReshapeTo(x, {batches, rows, columns});
    };
    result = relay::nn::BatchMatmul(
        flat(a, a_shape, m, k), flat(b, b_shape, b_shape[b_rank - 2], n),
        {.out_dtype = out_dtype, .transpose_b = false});
    if (batch_rank != 1) result = ReshapeTo(result, with(m, n));
  }
  // The axes of the two vectors, counted from the end.
  Ints axes;
  if (drop_row) axes.push_back(-2);
  if (drop_column) axes.push_back(-1);
  return axes.empty() ? result : relay::Squeeze(result, std::move(axes));
}

absl::StatusOr<Expr> GemmProduct(NodeContext& node) {
  Expr a = node.Input(0);
  Expr b = node.Input(1);
  const Expr like = a;
  for (const Expr& factor : {a, b}) {
    BATON_ASSIGN_OR_RETURN(const int rank, RankOf(factor));
    if (rank == 2) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("a factor has ", rank, " axes, not 2"));
  }
  BATON_RETURN_IF_ERROR(CheckInner(a, node.Int("transA", 0) != 0 ? 0 : 1, b,
                                   node.Int("transB", 0) != 0 ? 1 : 0));
  const double alpha = node.Float("alpha", 1);
  const double beta = node.Float("beta", 1);
  if (node.Int("transA", 0) != 0) {
    a = relay::Transpose(std::move(a), Ints{1, 0});
  }
  if (alpha != 1) a = relay::Multiply(ScalarLike(alpha, like), std::move(a));
  Expr result = node.Int("transB", 0) == 0
                    ? RowsTimes(node, std::move(a), std::move(b), DType())
                    : relay::nn::Dense(std::move(a), std::move(b));
  // As in BLAS, a factor of 0 leaves out what is not a number, too.
  if (!node.HasInput(2) || beta == 0) return result;
  Expr c = node.Input(2);
  if (beta != 1) c = relay::Multiply(ScalarLike(beta, like), std::move(c));
  return relay::Add(std::move(result), std::move(c));
}

}  // namespace baton::onnx
