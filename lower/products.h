// Sums of products in the order that kernels define
// (runtime/kernels/blocked/sums.h): the loops of matrix products and
// convolutions.
//
//   with T.block("T_dense_chunk"):   chains of fused multiply-adds, 128 terms
//   with T.block("T_dense"):         their sum, in order

#ifndef BATON_LOWER_PRODUCTS_H_
#define BATON_LOWER_PRODUCTS_H_

#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "baton/base/dtype.h"
#include "baton/lower/computation.h"
#include "baton/tir/ir/expr.h"

namespace baton::lower {

// The terms of a sum: a product for each channel and tap. A matrix product has
// one tap.
struct ProductTerms {
  int64_t channels = 1;
  int64_t taps = 1;
  // float32, float64, int32 or int64.
  DType dtype;
  using Factor = std::function<tir::PrimExpr(const Indices& at,
                                             const tir::PrimExpr& channel,
                                             const tir::PrimExpr& tap)>;
  Factor left;
  Factor right;
  // The condition under which a term is added; null if each is.
  Factor included = nullptr;
};

// The data type in which products of `a` and `b` are summed, as kernels choose
// it.
absl::StatusOr<DType> ProductDType(DType a, DType b, DType out);

// Fills `to` with the sums, converted to its data type.
void SumProducts(LoopBuilder& loops, const ProductTerms& terms,
                 const tir::Buffer& to);

}  // namespace baton::lower

#endif  // BATON_LOWER_PRODUCTS_H_
