#include "baton/relay/op/nn/sparse.h"

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/kernels/kernel_adapters.h"
#include "baton/relay/runtime/kernel.h"
#include "baton/relay/runtime/value.h"
#include "baton/runtime/kernels/layout_kernels.h"
#include "baton/runtime/kernels/sparse_kernels.h"

namespace baton::relay {
namespace {

// The arguments after the dense one.
kernels::SparseMatrix SparseArgument(absl::Span<const Value> args) {
  return {args[1].tensor(), args[2].tensor(), args[3].tensor()};
}

absl::StatusOr<Tensor> ComputeSparseDense(const SparseDenseAttrs& attrs,
                                          absl::Span<const Value> args) {
  return kernels::SparseDense(args[0].tensor(), SparseArgument(args),
                              attrs.sparse_lhs);
}

absl::StatusOr<Value> ComputeSparseTranspose(const CallNode& /*call*/,
                                             absl::Span<const Value> args) {
  BATON_ASSIGN_OR_RETURN(
      kernels::SparseMatrix result,
      kernels::SparseTranspose(
          {args[0].tensor(), args[1].tensor(), args[2].tensor()}));
  return Value::MakeTuple({std::move(result.values), std::move(result.indices),
                           std::move(result.row_begins)});
}

absl::StatusOr<Tensor> ComputeSparseAdd(const Tensor& dense,
                                        const Tensor& values,
                                        const Tensor& indices,
                                        const Tensor& row_begins) {
  return kernels::SparseAdd(dense, {values, indices, row_begins});
}

// With a kernel of one tap, a matrix product for each position.
absl::StatusOr<Tensor> ComputeSparseConv2D(const SparseConv2DAttrs& attrs,
                                           absl::Span<const Value> args) {
  for (const Dim& taps : attrs.kernel_size) {
    if (taps.is_const(1)) continue;
    return absl::UnimplementedError("kernels of more than one tap");
  }
  return kernels::InLayout(
      args[0].tensor(), attrs.layout, "NHWC",
      [&](const Tensor& data) -> absl::StatusOr<Tensor> {
        const absl::Span<const int64_t> shape = data.shape();
        BATON_ASSIGN_OR_RETURN(const int64_t count,
                               NumElements(DType::Int(8), shape.first(3)));
        BATON_ASSIGN_OR_RETURN(const Tensor rows,
                               data.Reshaped({count, shape[3]}));
        BATON_ASSIGN_OR_RETURN(
            const Tensor product,
            kernels::SparseDense(rows, SparseArgument(args), false));
        return product.Reshaped(
            {shape[0], shape[1], shape[2], product.shape()[1]});
      });
}

BATON_EXTEND_OP("nn.sparse_dense").Set(Kernels(), KernelOf<ComputeSparseDense>);
BATON_EXTEND_OP("nn.internal.sparse_dense_padded")
    .Set(Kernels(), KernelOf<ComputeSparseDense>);
BATON_EXTEND_OP("nn.sparse_transpose").Set(Kernels(), ComputeSparseTranspose);
BATON_EXTEND_OP("nn.sparse_add").Set(Kernels(), KernelOf<ComputeSparseAdd>);
BATON_EXTEND_OP("nn.sparse_conv2d")
    .Set(Kernels(), KernelOf<ComputeSparseConv2D>);

}  // namespace

}  // namespace baton::relay
