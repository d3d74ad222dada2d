#include "baton/relay/op/nn/activation.h"

#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/kernels/kernel_adapters.h"
#include "baton/relay/runtime/kernel.h"
#include "baton/relay/runtime/value.h"
#include "baton/runtime/kernels/elementwise_kernels.h"
#include "baton/runtime/kernels/normalize_kernels.h"

namespace baton::relay {
namespace {

BATON_EXTEND_OP("nn.relu").Set(Kernels(), KernelOf<kernels::Relu>);
BATON_EXTEND_OP("nn.leaky_relu")
    .Set(Kernels(), KernelOf<kernels::LeakyRelu, &LeakyReluAttrs::alpha>);
BATON_EXTEND_OP("nn.prelu")
    .Set(Kernels(), KernelOf<kernels::Prelu, &PReluAttrs::axis>);
BATON_EXTEND_OP("nn.bias_add")
    .Set(Kernels(), KernelOf<kernels::BiasAdd, &BiasAddAttrs::axis>);
BATON_EXTEND_OP("nn.softmax")
    .Set(Kernels(), KernelOf<kernels::Softmax, &SoftmaxAttrs::axis>);
BATON_EXTEND_OP("nn.fast_softmax")
    .Set(Kernels(), KernelOf<kernels::Softmax, &SoftmaxAttrs::axis>);
BATON_EXTEND_OP("nn.log_softmax")
    .Set(Kernels(), KernelOf<kernels::LogSoftmax, &SoftmaxAttrs::axis>);

// Drops nothing: programs are run for inference.
absl::StatusOr<Value> ComputeDropout(const CallNode& /*call*/,
                                     absl::Span<const Value> args) {
  const Tensor& x = args[0].tensor();
  BATON_ASSIGN_OR_RETURN(Tensor mask, Tensor::Ones(x.dtype(), x.shape()));
  return Value::MakeTuple({args[0], std::move(mask)});
}

BATON_EXTEND_OP("nn.dropout").Set(Kernels(), ComputeDropout);

}  // namespace

}  // namespace baton::relay
