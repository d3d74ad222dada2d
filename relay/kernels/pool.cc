#include "baton/relay/op/nn/pool.h"

#include <cstddef>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/relay/kernels/kernel_adapters.h"
#include "baton/relay/runtime/kernel.h"
#include "baton/relay/runtime/value.h"
#include "baton/runtime/kernels/gradient_kernels.h"
#include "baton/runtime/kernels/pool_kernels.h"

namespace baton::relay {
namespace {

// The attributes as the kernels take them.
template <size_t N, typename A>
absl::StatusOr<kernels::PoolParams<N>> PoolParamsOf(const A& attrs) {
  kernels::PoolParams<N> params;
  BATON_RETURN_IF_ERROR(CopyDims(attrs.pool_size, params.pool_size));
  BATON_RETURN_IF_ERROR(CopyDims(attrs.strides, params.strides));
  BATON_RETURN_IF_ERROR(CopyDims(attrs.dilation, params.dilation));
  BATON_RETURN_IF_ERROR(CopyPadding<N>(attrs.padding, params.padding));
  params.ceil_mode = attrs.ceil_mode;
  if constexpr (requires { attrs.count_include_pad; }) {
    params.count_include_pad = attrs.count_include_pad;
  }
  params.layout = attrs.layout;
  return params;
}

template <size_t N, typename A, auto kFunction>
absl::StatusOr<Tensor> Pool(const A& attrs, absl::Span<const Value> args) {
  BATON_ASSIGN_OR_RETURN(const auto params, (PoolParamsOf<N, A>(attrs)));
  return kFunction(args[0].tensor(), params);
}

template <typename A, auto kFunction>
absl::StatusOr<Tensor> PoolGrad(const A& attrs, absl::Span<const Value> args) {
  BATON_ASSIGN_OR_RETURN(const auto params, (PoolParamsOf<2, A>(attrs)));
  return kFunction(args[0].tensor(), args[1].tensor(), params);
}

template <typename A, auto kFunction>
absl::StatusOr<Tensor> AdaptivePool(const A& attrs,
                                    absl::Span<const Value> args) {
  BATON_ASSIGN_OR_RETURN(const auto size, ConcreteDims(attrs.output_size));
  return kFunction(args[0].tensor(), size, attrs.layout);
}

BATON_EXTEND_OP("nn.max_pool1d")
    .Set(Kernels(), KernelOf<Pool<1, MaxPool1DAttrs, kernels::MaxPool1d>>);
BATON_EXTEND_OP("nn.max_pool2d")
    .Set(Kernels(), KernelOf<Pool<2, MaxPool2DAttrs, kernels::MaxPool2d>>);
BATON_EXTEND_OP("nn.max_pool3d")
    .Set(Kernels(), KernelOf<Pool<3, MaxPool3DAttrs, kernels::MaxPool3d>>);
BATON_EXTEND_OP("nn.avg_pool1d")
    .Set(Kernels(), KernelOf<Pool<1, AvgPool1DAttrs, kernels::AvgPool1d>>);
BATON_EXTEND_OP("nn.avg_pool2d")
    .Set(Kernels(), KernelOf<Pool<2, AvgPool2DAttrs, kernels::AvgPool2d>>);
BATON_EXTEND_OP("nn.avg_pool3d")
    .Set(Kernels(), KernelOf<Pool<3, AvgPool3DAttrs, kernels::AvgPool3d>>);
BATON_EXTEND_OP("nn.global_max_pool2d")
    .Set(Kernels(),
         KernelOf<kernels::GlobalMaxPool2d, &GlobalPool2DAttrs::layout>);
BATON_EXTEND_OP("nn.global_avg_pool2d")
    .Set(Kernels(),
         KernelOf<kernels::GlobalAvgPool2d, &GlobalPool2DAttrs::layout>);
BATON_EXTEND_OP("nn.adaptive_max_pool1d")
    .Set(Kernels(),
         KernelOf<AdaptivePool<AdaptivePool1DAttrs, kernels::AdaptiveMaxPool>>);
BATON_EXTEND_OP("nn.adaptive_max_pool2d")
    .Set(Kernels(),
         KernelOf<AdaptivePool<AdaptivePool2DAttrs, kernels::AdaptiveMaxPool>>);
BATON_EXTEND_OP("nn.adaptive_max_pool3d")
    .Set(Kernels(),
         KernelOf<AdaptivePool<AdaptivePool3DAttrs, kernels::AdaptiveMaxPool>>);
BATON_EXTEND_OP("nn.adaptive_avg_pool1d")
    .Set(Kernels(),
         KernelOf<AdaptivePool<AdaptivePool1DAttrs, kernels::AdaptiveAvgPool>>);
BATON_EXTEND_OP("nn.adaptive_avg_pool2d")
    .Set(Kernels(),
         KernelOf<AdaptivePool<AdaptivePool2DAttrs, kernels::AdaptiveAvgPool>>);
BATON_EXTEND_OP("nn.adaptive_avg_pool3d")
    .Set(Kernels(),
         KernelOf<AdaptivePool<AdaptivePool3DAttrs, kernels::AdaptiveAvgPool>>);
BATON_EXTEND_OP("nn.max_pool2d_grad")
    .Set(Kernels(), KernelOf<PoolGrad<MaxPool2DAttrs, kernels::MaxPool2dGrad>>);
BATON_EXTEND_OP("nn.avg_pool2d_grad")
    .Set(Kernels(), KernelOf<PoolGrad<AvgPool2DAttrs, kernels::AvgPool2dGrad>>);

}  // namespace

}  // namespace baton::relay
