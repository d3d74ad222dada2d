#include "baton/relay/op/nn/spatial.h"

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/relay/kernels/dynamic_forms.h"
#include "baton/relay/kernels/kernel_adapters.h"
#include "baton/relay/runtime/kernel.h"
#include "baton/relay/runtime/value.h"
#include "baton/runtime/kernels/correlation.h"
#include "baton/runtime/kernels/rearrange.h"
#include "baton/runtime/kernels/shape_kernels.h"

namespace baton::relay {
namespace {

absl::StatusOr<Tensor> ComputePad(const PadAttrs& attrs,
                                  absl::Span<const Value> args) {
  kernels::PadMode mode = kernels::PadMode::kConstant;
  if (attrs.pad_mode == "edge") {
    mode = kernels::PadMode::kEdge;
  } else if (attrs.pad_mode == "reflect") {
    mode = kernels::PadMode::kReflect;
  } else if (attrs.pad_mode != "constant") {
    return absl::InvalidArgumentError(
        absl::StrCat("pad_mode=\"", attrs.pad_mode,
                     "\" is none of constant, edge and reflect"));
  }
  std::vector<int64_t> before, after;
  for (const std::vector<int64_t>& width : attrs.pad_width) {
    before.push_back(width[0]);
    after.push_back(width[1]);
  }
  return kernels::Pad(args[0].tensor(), before, after, mode, args[1].tensor());
}

absl::StatusOr<Tensor> MirrorPad(const MirrorPadAttrs& attrs,
                                 absl::Span<const Value> args) {
  return kernels::MirrorPad(args[0].tensor(), attrs.pad_width,
                            attrs.mode == "SYMMETRIC");
}

absl::StatusOr<Tensor> Dilate(const DilateAttrs& attrs,
                              absl::Span<const Value> args) {
  BATON_ASSIGN_OR_RETURN(const auto strides, ConcreteDims(attrs.strides));
  return kernels::Dilate(args[0].tensor(), strides, attrs.dilation_value);
}

absl::StatusOr<Tensor> DepthToSpace(const SubPixelAttrs& attrs,
                                    absl::Span<const Value> args) {
  return kernels::DepthToSpace(args[0].tensor(), attrs.block_size, attrs.layout,
                               attrs.mode == "CDR");
}

absl::StatusOr<Tensor> ComputeCorrelation(const CorrelationAttrs& attrs,
                                          absl::Span<const Value> args) {
  kernels::CorrelationParams params;
  params.kernel_size = attrs.kernel_size;
  params.max_displacement = attrs.max_displacement;
  params.stride1 = attrs.stride1;
  params.stride2 = attrs.stride2;
  BATON_RETURN_IF_ERROR(CopyPadding<2>(attrs.padding, params.padding));
  params.is_multiply = attrs.is_multiply;
  return kernels::Correlation(args[0].tensor(), args[1].tensor(), params);
}

BATON_EXTEND_OP("nn.pad").Set(Kernels(), KernelOf<ComputePad>);
BATON_EXTEND_OP("nn.mirror_pad").Set(Kernels(), KernelOf<MirrorPad>);
BATON_EXTEND_OP("nn.upsampling").Set(Kernels(), KernelOf<ComputeUpSampling>);
BATON_EXTEND_OP("nn.upsampling3d")
    .Set(Kernels(), KernelOf<ComputeUpSampling3D>);
BATON_EXTEND_OP("nn.dilate").Set(Kernels(), KernelOf<Dilate>);
BATON_EXTEND_OP("nn.depth_to_space").Set(Kernels(), KernelOf<DepthToSpace>);
BATON_EXTEND_OP("nn.space_to_depth")
    .Set(Kernels(), KernelOf<kernels::SpaceToDepth, &SubPixelAttrs::block_size,
                             &SubPixelAttrs::layout>);
BATON_EXTEND_OP("nn.space_to_batch_nd")
    .Set(Kernels(),
         KernelOf<kernels::SpaceToBatchNd, &SpaceToBatchNDAttrs::block_shape,
                  &SpaceToBatchNDAttrs::paddings,
                  &SpaceToBatchNDAttrs::pad_value>);
BATON_EXTEND_OP("nn.batch_to_space_nd")
    .Set(Kernels(),
         KernelOf<kernels::BatchToSpaceNd, &BatchToSpaceNDAttrs::block_shape,
                  &BatchToSpaceNDAttrs::crops>);
BATON_EXTEND_OP("nn.correlation").Set(Kernels(), KernelOf<ComputeCorrelation>);
BATON_EXTEND_OP("nn.batch_flatten")
    .Set(Kernels(), KernelOf<kernels::BatchFlatten>);

// Drops as many old elements as new ones come.
absl::StatusOr<Tensor> ComputeFIFOBuffer(const FIFOBufferAttrs& attrs,
                                         absl::Span<const Value> args) {
  const Tensor& data = args[0].tensor();
  const Tensor& buffer = args[1].tensor();
  const int64_t axis = attrs.axis < 0 ? attrs.axis + buffer.rank() : attrs.axis;
  const int64_t extent = buffer.shape()[axis];
  const std::vector<Tensor> both = {buffer, data};
  BATON_ASSIGN_OR_RETURN(const Tensor all, kernels::Concatenate(both, axis));
  kernels::StridedSliceParams last;
  last.begin = {all.shape()[axis] - extent};
  last.end = {all.shape()[axis]};
  last.axes = std::vector<int64_t>{axis};
  return kernels::StridedSlice(all, last);
}

BATON_EXTEND_OP("nn.fifo_buffer").Set(Kernels(), KernelOf<ComputeFIFOBuffer>);

}  // namespace

}  // namespace baton::relay
