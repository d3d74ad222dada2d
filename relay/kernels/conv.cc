#include "baton/relay/op/nn/conv.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/relay/kernels/kernel_adapters.h"
#include "baton/relay/runtime/kernel.h"
#include "baton/relay/runtime/value.h"
#include "baton/runtime/kernels/bitserial.h"
#include "baton/runtime/kernels/conv_kernels.h"
#include "baton/runtime/kernels/deformable_conv.h"
#include "baton/runtime/kernels/gradient_kernels.h"
#include "baton/runtime/kernels/layout_kernels.h"
#include "baton/runtime/kernels/transformed_weight.h"

namespace baton::relay {
namespace {

// The attributes as the kernels take them.
template <size_t N, typename A>
absl::Status SetConvParams(const A& attrs, kernels::ConvParams<N>& params) {
  BATON_RETURN_IF_ERROR(CopyDims(attrs.strides, params.strides));
  BATON_RETURN_IF_ERROR(CopyDims(attrs.dilation, params.dilation));
  BATON_RETURN_IF_ERROR(CopyPadding<N>(attrs.padding, params.padding));
  params.groups = attrs.groups;
  params.data_layout = attrs.data_layout;
  params.kernel_layout = attrs.kernel_layout;
  params.out_layout = attrs.out_layout;
  params.out_dtype = attrs.out_dtype;
  return absl::OkStatus();
}

template <size_t N, typename A, auto kFunction>
absl::StatusOr<Tensor> Convolve(const A& attrs, absl::Span<const Value> args) {
  kernels::ConvParams<N> params;
  BATON_RETURN_IF_ERROR(SetConvParams(attrs, params));
  return kFunction(args[0].tensor(), args[1].tensor(), params);
}

template <size_t N, typename A, auto kFunction>
absl::StatusOr<Tensor> ConvolveTransposed(const A& attrs,
                                          absl::Span<const Value> args) {
  kernels::ConvTransposeParams<N> params;
  BATON_RETURN_IF_ERROR(SetConvParams<N>(attrs, params));
  BATON_RETURN_IF_ERROR(CopyDims(attrs.output_padding, params.output_padding));
  return kFunction(args[0].tensor(), args[1].tensor(), params);
}

// The attributes name the layouts of the gradient, the data and the weight, in
// this order.
absl::StatusOr<Tensor> BackwardWeight(const Conv2DAttrs& attrs,
                                      absl::Span<const Value> args) {
  kernels::Conv2dParams params;
  BATON_RETURN_IF_ERROR(SetConvParams(attrs, params));
  params.out_layout = attrs.data_layout;
  params.data_layout = attrs.kernel_layout;
  params.kernel_layout = attrs.out_layout;
  std::array<int64_t, 2> taps;
  BATON_RETURN_IF_ERROR(CopyDims(attrs.kernel_size, taps));
  return kernels::Conv2dBackwardWeight(args[0].tensor(), args[1].tensor(), taps,
                                       params);
}

// nn.conv2d of data and weight in blocked layouts.
absl::StatusOr<Tensor> ConvolveBlocked(const Conv2DAttrs& attrs,
                                       absl::Span<const Value> args) {
  kernels::Conv2dParams params;
  BATON_RETURN_IF_ERROR(SetConvParams(attrs, params));
  BATON_ASSIGN_OR_RETURN(
      const Tensor data,
      kernels::LayoutTransform(args[0].tensor(), attrs.data_layout, "NCHW"));
  BATON_ASSIGN_OR_RETURN(
      const Tensor weight,
      kernels::LayoutTransform(args[1].tensor(), attrs.kernel_layout, "OIHW"));
  params.data_layout = "NCHW";
  params.kernel_layout = "OIHW";
  params.out_layout = "NCHW";
  BATON_ASSIGN_OR_RETURN(const Tensor result,
                         kernels::Conv2d(data, weight, params));
  return kernels::LayoutTransform(
      result, "NCHW",
      attrs.out_layout.empty() ? attrs.data_layout : attrs.out_layout);
}

absl::StatusOr<Tensor> ConvolveDeformable(const DeformableConv2DAttrs& attrs,
                                          absl::Span<const Value> args) {
  kernels::DeformableConv2dParams params;
  BATON_RETURN_IF_ERROR(SetConvParams<2>(attrs, params));
  params.deformable_groups = attrs.deformable_groups;
  return kernels::DeformableConv2d(args[0].tensor(), args[1].tensor(),
                                   args[2].tensor(), params);
}

absl::StatusOr<Tensor> ComputeBitPack(const BitPackAttrs& attrs,
                                      absl::Span<const Value> args) {
  return kernels::BitPack(args[0].tensor(), {attrs.bits, attrs.pack_axis,
                                             attrs.bit_axis, attrs.pack_type});
}

absl::StatusOr<Tensor> ComputeBitserialDense(const BinaryDenseAttrs& attrs,
                                             absl::Span<const Value> args) {
  const Tensor& data = args[0].tensor();
  return kernels::BitserialDense(
      data, args[1].tensor(),
      {attrs.data_bits, attrs.weight_bits, attrs.pack_dtype,
       attrs.out_dtype.is_void() ? data.dtype() : attrs.out_dtype,
       attrs.unipolar});
}

absl::StatusOr<Tensor> ConvolveBitserial(const BinaryConv2DAttrs& attrs,
                                         absl::Span<const Value> args) {
  kernels::BitserialConvParams params;
  params.data_bits = attrs.activation_bits;
  params.weight_bits = attrs.weight_bits;
  params.pack_dtype = attrs.pack_dtype;
  params.out_dtype = attrs.out_dtype;
  params.signed_weights = attrs.unipolar;
  BATON_RETURN_IF_ERROR(CopyDims(attrs.strides, params.strides));
  BATON_RETURN_IF_ERROR(CopyPadding<2>(attrs.padding, params.padding));
  Tensor weight = args[1].tensor();
  if (weight.rank() != 5) {
    BATON_ASSIGN_OR_RETURN(
        weight, kernels::LayoutTransform(weight, attrs.kernel_layout, "OIHW"));
  } else if (attrs.kernel_layout == "HWIO") {
    // The bits of a packed weight are its last axis in both layouts.
    BATON_ASSIGN_OR_RETURN(weight, kernels::Transpose(weight, {3, 2, 0, 1, 4}));
  } else if (attrs.kernel_layout != "OIHW") {
    return absl::UnimplementedError(
        absl::StrCat("a packed weight in ", attrs.kernel_layout,
                     " is not supported: only OIHW and HWIO are"));
  }
  return kernels::InLayout(
      args[0].tensor(), attrs.data_layout, "NCHW", [&](const Tensor& data) {
        return kernels::BitserialConv2d(data, weight, params);
      });
}

// nn.conv2d with a weight that kernels::TiledWeight made.
absl::StatusOr<Tensor> ConvolveTiled(const Conv2DAttrs& attrs,
                                     absl::Span<const Value> args) {
  const Tensor& data = args[0].tensor();
  if (attrs.data_layout != "NHWC" || data.rank() != 4) {
    return absl::UnimplementedError("a tiled weight of data that is not NHWC");
  }
  kernels::Conv2dParams params;
  BATON_RETURN_IF_ERROR(SetConvParams(attrs, params));
  params.kernel_layout = "HWIO";
  std::array<int64_t, 2> taps;
  BATON_RETURN_IF_ERROR(CopyDims(attrs.kernel_size, taps));
  if (!attrs.channels.has_value() || !attrs.channels->is_const()) {
    return absl::InvalidArgumentError("channels must be given");
  }
  BATON_ASSIGN_OR_RETURN(
      const Tensor weight,
      kernels::UntiledWeight(
          args[1].tensor(),
          {taps[0], taps[1], data.shape()[3], attrs.channels->value()}));
  return kernels::Conv2d(data, weight, params);
}

BATON_EXTEND_OP("nn.conv1d")
    .Set(Kernels(), KernelOf<Convolve<1, Conv1DAttrs, kernels::Conv1d>>);
BATON_EXTEND_OP("nn.conv2d")
    .Set(Kernels(), KernelOf<Convolve<2, Conv2DAttrs, kernels::Conv2d>>);
BATON_EXTEND_OP("nn.conv3d")
    .Set(Kernels(), KernelOf<Convolve<3, Conv3DAttrs, kernels::Conv3d>>);
BATON_EXTEND_OP("nn.conv1d_transpose")
    .Set(Kernels(), KernelOf<ConvolveTransposed<1, Conv1DTransposeAttrs,
                                                kernels::Conv1dTranspose>>);
BATON_EXTEND_OP("nn.conv2d_transpose")
    .Set(Kernels(), KernelOf<ConvolveTransposed<2, Conv2DTransposeAttrs,
                                                kernels::Conv2dTranspose>>);
BATON_EXTEND_OP("nn.conv3d_transpose")
    .Set(Kernels(), KernelOf<ConvolveTransposed<3, Conv3DTransposeAttrs,
                                                kernels::Conv3dTranspose>>);
BATON_EXTEND_OP("nn.deformable_conv2d")
    .Set(Kernels(), KernelOf<ConvolveDeformable>);
BATON_EXTEND_OP("nn.conv2d_backward_weight")
    .Set(Kernels(), KernelOf<BackwardWeight>);
BATON_EXTEND_OP("nn.contrib_conv2d_NCHWc")
    .Set(Kernels(), KernelOf<ConvolveBlocked>);
BATON_EXTEND_OP("nn.contrib_depthwise_conv2d_NCHWc")
    .Set(Kernels(), KernelOf<ConvolveBlocked>);
BATON_EXTEND_OP("nn.contrib_conv2d_winograd_weight_transform")
    .Set(Kernels(), KernelOf<kernels::WinogradWeight2d,
                             &ConvWinogradWeightTransformAttrs::tile_size>);
BATON_EXTEND_OP("nn.contrib_conv3d_winograd_weight_transform")
    .Set(Kernels(), KernelOf<kernels::WinogradWeight3d,
                             &ConvWinogradWeightTransformAttrs::tile_size>);
BATON_EXTEND_OP("nn.contrib_conv2d_gemm_without_weight_transform")
    .Set(Kernels(), KernelOf<ConvolveTiled>);
BATON_EXTEND_OP("nn.contrib_conv2d_gemm_weight_transform")
    .Set(
        Kernels(),
        KernelOf<kernels::TiledWeight, &ConvGemmWeightTransformAttrs::tile_rows,
                 &ConvGemmWeightTransformAttrs::tile_cols>);
BATON_EXTEND_OP("nn.bitpack").Set(Kernels(), KernelOf<ComputeBitPack>);
BATON_EXTEND_OP("nn.bitserial_conv2d")
    .Set(Kernels(), KernelOf<ConvolveBitserial>);
BATON_EXTEND_OP("nn.bitserial_dense")
    .Set(Kernels(), KernelOf<ComputeBitserialDense>);

}  // namespace

}  // namespace baton::relay
