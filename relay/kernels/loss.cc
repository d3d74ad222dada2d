#include "baton/relay/op/nn/loss.h"

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/relay/kernels/kernel_adapters.h"
#include "baton/relay/runtime/kernel.h"
#include "baton/relay/runtime/value.h"
#include "baton/runtime/kernels/loss_kernels.h"

namespace baton::relay {
namespace {

template <bool kIsLog>
absl::StatusOr<Tensor> CrossEntropyOf(const Tensor& x, const Tensor& y) {
  return kernels::CrossEntropy(x, y, kIsLog);
}

absl::StatusOr<Tensor> ComputeNLLLoss(const NLLLossAttrs& attrs,
                                      absl::Span<const Value> args) {
  kernels::Reduction reduction = kernels::Reduction::kNone;
  if (attrs.reduction == "mean") reduction = kernels::Reduction::kMean;
  if (attrs.reduction == "sum") reduction = kernels::Reduction::kSum;
  return kernels::NllLoss(args[0].tensor(), args[1].tensor(), args[2].tensor(),
                          attrs.ignore_index, reduction);
}

BATON_EXTEND_OP("nn.cross_entropy")
    .Set(Kernels(), KernelOf<CrossEntropyOf</*kIsLog=*/false>>);
BATON_EXTEND_OP("nn.cross_entropy_with_logits")
    .Set(Kernels(), KernelOf<CrossEntropyOf</*kIsLog=*/true>>);
BATON_EXTEND_OP("nn.nll_loss").Set(Kernels(), KernelOf<ComputeNLLLoss>);

}  // namespace

}  // namespace baton::relay
