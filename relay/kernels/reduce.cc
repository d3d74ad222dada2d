#include "baton/relay/op/tensor/reduce.h"

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/relay/kernels/kernel_adapters.h"
#include "baton/relay/runtime/kernel.h"
#include "baton/relay/runtime/value.h"
#include "baton/runtime/kernels/elementwise_kernels.h"
#include "baton/runtime/kernels/reduce_kernels.h"

namespace baton::relay {
namespace {

template <typename A>
kernels::ReduceParams ReduceParamsOf(const A& attrs) {
  kernels::ReduceParams params;
  if (attrs.axis.has_value()) {
    params.axes.assign(attrs.axis->begin(), attrs.axis->end());
  }
  params.keepdims = attrs.keepdims;
  params.exclude = attrs.exclude;
  return params;
}

template <auto kFunction>
absl::StatusOr<Tensor> Reduce(const ReduceAttrs& attrs,
                              absl::Span<const Value> args) {
  return kFunction(args[0].tensor(), ReduceParamsOf(attrs));
}

template <auto kFunction>
absl::StatusOr<Tensor> ArgReduce(const ArgReduceAttrs& attrs,
                                 absl::Span<const Value> args) {
  return kFunction(args[0].tensor(), ReduceParamsOf(attrs),
                   attrs.select_last_index, DType::Int(32));
}

// The mean squared distance to the given mean.
absl::StatusOr<Tensor> ComputeVariance(const VarianceAttrs& attrs,
                                       absl::Span<const Value> args) {
  BATON_ASSIGN_OR_RETURN(const Tensor distance,
                         kernels::Subtract(args[0].tensor(), args[1].tensor()));
  if (distance.shape() != args[0].tensor().shape()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the mean, ", args[1].tensor().TypeToString(),
        ", does not fit the data, ", args[0].tensor().TypeToString()));
  }
  BATON_ASSIGN_OR_RETURN(const Tensor square,
                         kernels::Multiply(distance, distance));
  const kernels::ReduceParams params = ReduceParamsOf(attrs);
  if (!attrs.unbiased) return kernels::Mean(square, params);
  BATON_ASSIGN_OR_RETURN(const Tensor sum, kernels::Sum(square, params));
  const int64_t count =
      sum.num_elements() == 0 ? 1 : square.num_elements() / sum.num_elements();
  return kernels::Divide(
      sum, Tensor::ScalarOf(sum.dtype(), static_cast<double>(count - 1)));
}

BATON_EXTEND_OP("sum").Set(Kernels(), KernelOf<Reduce<kernels::Sum>>);
BATON_EXTEND_OP("prod").Set(Kernels(), KernelOf<Reduce<kernels::Prod>>);
BATON_EXTEND_OP("mean").Set(Kernels(), KernelOf<Reduce<kernels::Mean>>);
BATON_EXTEND_OP("max").Set(Kernels(), KernelOf<Reduce<kernels::Max>>);
BATON_EXTEND_OP("min").Set(Kernels(), KernelOf<Reduce<kernels::Min>>);
BATON_EXTEND_OP("all").Set(Kernels(), KernelOf<Reduce<kernels::All>>);
BATON_EXTEND_OP("any").Set(Kernels(), KernelOf<Reduce<kernels::Any>>);
BATON_EXTEND_OP("argmax").Set(Kernels(), KernelOf<ArgReduce<kernels::ArgMax>>);
BATON_EXTEND_OP("argmin").Set(Kernels(), KernelOf<ArgReduce<kernels::ArgMin>>);
BATON_EXTEND_OP("variance").Set(Kernels(), KernelOf<ComputeVariance>);

}  // namespace

}  // namespace baton::relay
