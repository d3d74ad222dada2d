#include "baton/relay/op/nn/normalize.h"

#include <cstdint>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/kernels/kernel_adapters.h"
#include "baton/relay/runtime/kernel.h"
#include "baton/relay/runtime/value.h"
#include "baton/runtime/kernels/normalize_kernels.h"

namespace baton::relay {
namespace {

template <typename A>
kernels::NormParams NormParamsOf(const A& attrs) {
  kernels::NormParams params;
  params.axis = attrs.axis;
  params.epsilon = attrs.epsilon;
  params.center = attrs.center;
  params.scale = attrs.scale;
  return params;
}

// At run time the statistics are given; they are returned as they are.
absl::StatusOr<Value> ComputeBatchNorm(const CallNode& call,
                                       absl::Span<const Value> args) {
  const auto* attrs = call.attrs_as<BatchNormAttrs>();
  BATON_ASSIGN_OR_RETURN(
      Tensor result,
      kernels::BatchNorm(
          args[0].tensor(), args[1].tensor(), args[2].tensor(),
          args[3].tensor(), args[4].tensor(),
          NormParamsOf(attrs == nullptr ? BatchNormAttrs() : *attrs)));
  return Value::MakeTuple({std::move(result), args[3], args[4]});
}

BATON_EXTEND_OP("nn.batch_norm").Set(Kernels(), ComputeBatchNorm);

absl::StatusOr<Tensor> ComputeInstanceNorm(const InstanceNormAttrs& attrs,
                                           absl::Span<const Value> args) {
  return kernels::InstanceNorm(args[0].tensor(), args[1].tensor(),
                               args[2].tensor(), NormParamsOf(attrs));
}

absl::StatusOr<Tensor> ComputeLayerNorm(const LayerNormAttrs& attrs,
                                        absl::Span<const Value> args) {
  return kernels::LayerNorm(args[0].tensor(), args[1].tensor(),
                            args[2].tensor(), NormParamsOf(attrs));
}

absl::StatusOr<Tensor> ComputeGroupNorm(const GroupNormAttrs& attrs,
                                        absl::Span<const Value> args) {
  return kernels::GroupNorm(args[0].tensor(), args[1].tensor(),
                            args[2].tensor(), attrs.num_groups,
                            NormParamsOf(attrs));
}

BATON_EXTEND_OP("nn.instance_norm")
    .Set(Kernels(), KernelOf<ComputeInstanceNorm>);
BATON_EXTEND_OP("nn.layer_norm").Set(Kernels(), KernelOf<ComputeLayerNorm>);
BATON_EXTEND_OP("nn.group_norm").Set(Kernels(), KernelOf<ComputeGroupNorm>);

absl::StatusOr<Tensor> ComputeLrn(const LRNAttrs& attrs,
                                  absl::Span<const Value> args) {
  kernels::LrnParams params;
  params.size = attrs.size;
  params.axis = attrs.axis;
  params.bias = attrs.bias;
  params.alpha = attrs.alpha;
  params.beta = attrs.beta;
  return kernels::Lrn(args[0].tensor(), params);
}

BATON_EXTEND_OP("nn.lrn").Set(Kernels(), KernelOf<ComputeLrn>);

absl::StatusOr<Tensor> ComputeL2Normalize(const L2NormalizeAttrs& attrs,
                                          absl::Span<const Value> args) {
  return kernels::L2Normalize(
      args[0].tensor(), attrs.eps,
      absl::InlinedVector<int64_t, 6>(attrs.axis.begin(), attrs.axis.end()));
}

BATON_EXTEND_OP("nn.l2_normalize").Set(Kernels(), KernelOf<ComputeL2Normalize>);

}  // namespace

}  // namespace baton::relay
