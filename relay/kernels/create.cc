#include "baton/relay/op/tensor/create.h"

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/relay/kernels/kernel_adapters.h"
#include "baton/relay/runtime/kernel.h"
#include "baton/relay/runtime/value.h"
#include "baton/runtime/kernels/shape_kernels.h"

namespace baton::relay {
namespace {

absl::StatusOr<Tensor> MakeZeros(const InitOpAttrs& attrs,
                                 absl::Span<const Value> /*args*/) {
  return Tensor::Zeros(attrs.dtype, *attrs.shape);
}

absl::StatusOr<Tensor> MakeOnes(const InitOpAttrs& attrs,
                                absl::Span<const Value> /*args*/) {
  return Tensor::Ones(attrs.dtype, *attrs.shape);
}

absl::StatusOr<Tensor> MakeFull(const InitOpAttrs& attrs,
                                absl::Span<const Value> args) {
  return kernels::Full(args[0].tensor(), *attrs.shape, attrs.dtype);
}

absl::StatusOr<Tensor> MakeFullLike(const Tensor& data, const Tensor& value) {
  return kernels::Full(value, data.shape(), data.dtype());
}

absl::StatusOr<Tensor> ComputeBroadcastTo(const InitOpAttrs& attrs,
                                          absl::Span<const Value> args) {
  return kernels::BroadcastTo(args[0].tensor(), *attrs.shape);
}

absl::StatusOr<Tensor> ComputeBroadcastToLike(const Tensor& data,
                                              const Tensor& like) {
  return kernels::BroadcastTo(data, like.shape());
}

absl::StatusOr<Tensor> ComputeCollapseSumLike(const Tensor& data,
                                              const Tensor& like) {
  return kernels::CollapseSumTo(data, like.shape());
}

absl::StatusOr<Tensor> CollapseSumTo(const Tensor& data, const Tensor& shape) {
  TensorShape extents;
  for (int64_t i = 0; i < shape.num_elements(); ++i) {
    extents.push_back(shape.AtAsInt64(i));
  }
  return kernels::CollapseSumTo(data, extents);
}

DType IntegerOr(DType dtype) {
  return dtype.is_void() ? DType::Int(32) : dtype;
}

absl::StatusOr<Tensor> ComputeShapeOf(const ShapeOfAttrs& attrs,
                                      absl::Span<const Value> args) {
  const absl::Span<const int64_t> shape = args[0].tensor().shape();
  const TensorShape result_shape(shape.empty() ? 0 : 1,
                                 static_cast<int64_t>(shape.size()));
  if (shape.empty()) {
    return Tensor::Zeros(IntegerOr(attrs.dtype), result_shape);
  }
  BATON_ASSIGN_OR_RETURN(const Tensor extents,
                         Tensor::FromValues<int64_t>(result_shape, shape));
  return kernels::Cast(extents, IntegerOr(attrs.dtype));
}

absl::StatusOr<Tensor> ComputeNdarraySize(const NdarraySizeAttrs& attrs,
                                          absl::Span<const Value> args) {
  return kernels::Cast(Tensor::Scalar(args[0].tensor().num_elements()),
                       IntegerOr(attrs.dtype));
}

BATON_EXTEND_OP("zeros").Set(Kernels(), KernelOf<MakeZeros>);
BATON_EXTEND_OP("ones").Set(Kernels(), KernelOf<MakeOnes>);
BATON_EXTEND_OP("full").Set(Kernels(), KernelOf<MakeFull>);
BATON_EXTEND_OP("full_like").Set(Kernels(), KernelOf<MakeFullLike>);
BATON_EXTEND_OP("arange").Set(Kernels(),
                              KernelOf<kernels::Arange, &ArangeAttrs::dtype>);
BATON_EXTEND_OP("broadcast_to").Set(Kernels(), KernelOf<ComputeBroadcastTo>);
BATON_EXTEND_OP("broadcast_to_like")
    .Set(Kernels(), KernelOf<ComputeBroadcastToLike>);
BATON_EXTEND_OP("collapse_sum_like")
    .Set(Kernels(), KernelOf<ComputeCollapseSumLike>);
BATON_EXTEND_OP("collapse_sum_to").Set(Kernels(), KernelOf<CollapseSumTo>);
BATON_EXTEND_OP("shape_of").Set(Kernels(), KernelOf<ComputeShapeOf>);
BATON_EXTEND_OP("ndarray_size").Set(Kernels(), KernelOf<ComputeNdarraySize>);

}  // namespace

}  // namespace baton::relay
