#include "baton/relay/op/image/image.h"

#include <array>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/relay/kernels/dynamic_forms.h"
#include "baton/relay/kernels/kernel_adapters.h"
#include "baton/relay/runtime/kernel.h"
#include "baton/relay/runtime/value.h"
#include "baton/runtime/kernels/conv_kernels.h"
#include "baton/runtime/kernels/layout_kernels.h"
#include "baton/runtime/kernels/morphology.h"
#include "baton/runtime/kernels/resize.h"
#include "baton/runtime/kernels/shape_kernels.h"

namespace baton::relay {
namespace {

template <typename A>
absl::StatusOr<Tensor> ComputeResize(const A& attrs,
                                     absl::Span<const Value> args) {
  BATON_ASSIGN_OR_RETURN(const auto size, ConcreteDims(attrs.size));
  return ResizeTo(attrs, args[0].tensor(),
                  std::vector<int64_t>(size.begin(), size.end()),
                  attrs.roi.value_or(std::vector<double>()));
}

absl::StatusOr<Tensor> ComputeCropAndResize(const CropAndResizeAttrs& attrs,
                                            absl::Span<const Value> args) {
  std::array<int64_t, 2> size;
  BATON_RETURN_IF_ERROR(CopyDims(attrs.crop_size, size));
  BATON_ASSIGN_OR_RETURN(
      const Tensor result,
      kernels::InLayout(args[0].tensor(), attrs.layout, "NCHW",
                        [&](const Tensor& data) {
                          return kernels::CropAndResize(
                              data, args[1].tensor(), args[2].tensor(), size[0],
                              size[1], attrs.method, attrs.extrapolation_value);
                        }));
  return attrs.out_dtype.is_void() ? result
                                   : kernels::Cast(result, attrs.out_dtype);
}

absl::StatusOr<Tensor> ComputeDilation2D(const Dilation2DAttrs& attrs,
                                         absl::Span<const Value> args) {
  kernels::Conv2dParams params;
  BATON_RETURN_IF_ERROR(CopyDims(attrs.strides, params.strides));
  BATON_RETURN_IF_ERROR(CopyDims(attrs.dilations, params.dilation));
  BATON_RETURN_IF_ERROR(CopyPadding<2>(attrs.padding, params.padding));
  params.out_dtype = attrs.out_dtype;
  BATON_ASSIGN_OR_RETURN(
      const Tensor weight,
      kernels::LayoutTransform(args[1].tensor(), attrs.kernel_layout, "IHW"));
  return kernels::InLayout(args[0].tensor(), attrs.data_layout, "NCHW",
                           [&](const Tensor& data) {
                             return kernels::Dilation2d(data, weight, params);
                           });
}

absl::StatusOr<Tensor> ComputeAffineGrid(const AffineGridAttrs& attrs,
                                         absl::Span<const Value> args) {
  std::array<int64_t, 2> shape;
  BATON_RETURN_IF_ERROR(CopyDims(attrs.target_shape, shape));
  return kernels::AffineGrid(args[0].tensor(), shape[0], shape[1]);
}

absl::StatusOr<Tensor> ComputeGridSample(const GridSampleAttrs& attrs,
                                         absl::Span<const Value> args) {
  kernels::GridSampleParams params;
  params.method = attrs.method == "trilinear" ? "bilinear" : attrs.method;
  params.padding = attrs.padding_mode;
  params.align_corners = attrs.align_corners;
  return kernels::InLayout(
      args[0].tensor(), attrs.layout,
      args[0].tensor().rank() == 5 ? "NCDHW" : "NCHW", [&](const Tensor& data) {
        return kernels::GridSample(data, args[1].tensor(), params);
      });
}

BATON_EXTEND_OP("image.resize1d")
    .Set(Kernels(), KernelOf<ComputeResize<Resize1DAttrs>>);
BATON_EXTEND_OP("image.resize2d")
    .Set(Kernels(), KernelOf<ComputeResize<Resize2DAttrs>>);
BATON_EXTEND_OP("image.resize3d")
    .Set(Kernels(), KernelOf<ComputeResize<Resize3DAttrs>>);
BATON_EXTEND_OP("image.crop_and_resize")
    .Set(Kernels(), KernelOf<ComputeCropAndResize>);
BATON_EXTEND_OP("image.dilation2d").Set(Kernels(), KernelOf<ComputeDilation2D>);
BATON_EXTEND_OP("image.affine_grid")
    .Set(Kernels(), KernelOf<ComputeAffineGrid>);
BATON_EXTEND_OP("image.grid_sample")
    .Set(Kernels(), KernelOf<ComputeGridSample>);

}  // namespace

}  // namespace baton::relay
