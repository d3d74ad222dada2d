// Computations of matrix products.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/ir/op.h"
#include "baton/lower/computation.h"
#include "baton/lower/products.h"
#include "baton/relay/op/nn/dense.h"
#include "baton/tir/ir/expr.h"

namespace baton::lower {
namespace {

using tir::PrimExpr;

// The products of the last two axes of both operands; `b` has as many axes
// before these as `a`, of which those of extent 1 are repeated, or none.
absl::Status LowerProduct(LoopBuilder& loops, bool transpose_a,
                          bool transpose_b) {
  const tir::Buffer& out = loops.output();
  BATON_ASSIGN_OR_RETURN(
      const DType dtype,
      ProductDType(loops.dtype(0), loops.dtype(1), out.dtype()));
  const std::vector<int64_t>& a = loops.shape(0);
  const std::vector<int64_t>& b = loops.shape(1);
  const int64_t k = b[b.size() - (transpose_b ? 1 : 2)];
  if (k == 0) return NoLoops("there is nothing to sum");
  const std::vector<int64_t> result = ShapeOf(out);
  if (b.size() == 3 && result[0] > 1 && result[1] == 1 && result[2] == 1 &&
      dtype == DType::Float(64)) {
    return NoLoops("float64 products of vectors have no defined order of sums");
  }
  const auto batch = [](const std::vector<int64_t>& shape, const Indices& at,
                        size_t count) {
    Indices result;
    for (size_t i = 0; i < count; ++i) {
      result.push_back(shape[i] == 1 ? Index(0) : at[i]);
    }
    return result;
  };
  ProductTerms terms;
  terms.channels = k;
  terms.dtype = dtype;
  terms.left = [&](const Indices& at, const PrimExpr& p, const PrimExpr&) {
    // A vector times a matrix has no row.
    if (a.size() == 1) return Cast(dtype, loops.Load(0, {p}));
    Indices from = batch(a, at, a.size() - 2);
    PrimExpr row = at[a.size() - 2];
    PrimExpr column = p;
    if (transpose_a) std::swap(row, column);
    from.push_back(row);
    from.push_back(column);
    return Cast(dtype, loops.Load(0, from));
  };
  terms.right = [&](const Indices& at, const PrimExpr& p, const PrimExpr&) {
    Indices from = batch(b, at, b.size() - 2);
    PrimExpr row = p;
    PrimExpr column = at[result.size() - 1];
    if (transpose_b) std::swap(row, column);
    from.push_back(row);
    from.push_back(column);
    return Cast(dtype, loops.Load(1, from));
  };
  SumProducts(loops, terms, out);
  return absl::OkStatus();
}

absl::Status LowerDense(LoopBuilder& loops) {
  if (loops.rank(1) != 2) return NoLoops("the weight is no matrix");
  return LowerProduct(loops, /*transpose_a=*/false, /*transpose_b=*/true);
}

absl::Status LowerMatmul(LoopBuilder& loops) {
  if (loops.rank(1) != 2) return NoLoops("the second operand is no matrix");
  const auto& attrs = loops.attrs<relay::MatmulAttrs>();
  return LowerProduct(loops, attrs.transpose_a, attrs.transpose_b);
}

absl::Status LowerBatchMatmul(LoopBuilder& loops) {
  const auto& attrs = loops.attrs<relay::BatchMatmulAttrs>();
  return LowerProduct(loops, attrs.transpose_a, attrs.transpose_b);
}

BATON_EXTEND_OP("nn.dense").Set(Computations(), LowerDense);
BATON_EXTEND_OP("nn.matmul").Set(Computations(), LowerMatmul);
BATON_EXTEND_OP("nn.batch_matmul").Set(Computations(), LowerBatchMatmul);

}  // namespace
}  // namespace baton::lower
