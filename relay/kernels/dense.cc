#include "baton/relay/op/nn/dense.h"

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/relay/kernels/kernel_adapters.h"
#include "baton/relay/runtime/kernel.h"
#include "baton/relay/runtime/value.h"
#include "baton/runtime/kernels/layout_kernels.h"
#include "baton/runtime/kernels/linear.h"

namespace baton::relay {
namespace {

template <typename A>
kernels::MatmulParams MatmulParamsOf(const A& attrs) {
  kernels::MatmulParams params;
  params.transpose_a = attrs.transpose_a;
  params.transpose_b = attrs.transpose_b;
  params.out_dtype = attrs.out_dtype;
  return params;
}

absl::StatusOr<Tensor> ComputeMatmul(const MatmulAttrs& attrs,
                                     absl::Span<const Value> args) {
  return kernels::Matmul(args[0].tensor(), args[1].tensor(),
                         MatmulParamsOf(attrs));
}

absl::StatusOr<Tensor> ComputeBatchMatmul(const BatchMatmulAttrs& attrs,
                                          absl::Span<const Value> args) {
  return kernels::BatchMatmul(args[0].tensor(), args[1].tensor(),
                              MatmulParamsOf(attrs));
}

BATON_EXTEND_OP("nn.dense")
    .Set(Kernels(), KernelOf<kernels::Dense, &DenseAttrs::out_dtype>);
BATON_EXTEND_OP("nn.matmul").Set(Kernels(), KernelOf<ComputeMatmul>);
BATON_EXTEND_OP("nn.batch_matmul").Set(Kernels(), KernelOf<ComputeBatchMatmul>);

// The weight (blocks, inputs, units of a block), or with the inputs in blocks
// too, in the order (blocks, input blocks, units, inputs).
absl::StatusOr<Tensor> ComputeDensePack(const DensePackAttrs& attrs,
                                        absl::Span<const Value> args) {
  const Tensor& data = args[0].tensor();
  const Tensor& weight = args[1].tensor();
  const bool in_blocks = weight.rank() == 4;
  BATON_ASSIGN_OR_RETURN(const Tensor moved,
                         in_blocks ? kernels::Transpose(weight, {0, 2, 1, 3})
                                   : kernels::Transpose(weight, {0, 2, 1}));
  const absl::Span<const int64_t> shape = moved.shape();
  BATON_ASSIGN_OR_RETURN(
      const Tensor rows,
      moved.Reshaped(
          {shape[0] * shape[1], in_blocks ? shape[2] * shape[3] : shape[2]}));
  return kernels::Dense(data, rows, attrs.out_dtype);
}

BATON_EXTEND_OP("nn.contrib_dense_pack")
    .Set(Kernels(), KernelOf<ComputeDensePack>);

}  // namespace

}  // namespace baton::relay
