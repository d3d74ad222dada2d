#include "baton/relay/kernels/dynamic_forms.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/type.h"
#include "baton/relay/op/image/image.h"
#include "baton/relay/op/nn/spatial.h"
#include "baton/relay/op/tensor/indexing.h"
#include "baton/relay/op/tensor/sequence.h"
#include "baton/relay/op/tensor/strided_slice.h"
#include "baton/relay/op/tensor/topk.h"
#include "baton/relay/op/window_math.h"
#include "baton/relay/runtime/value.h"
#include "baton/runtime/kernels/layout_kernels.h"
#include "baton/runtime/kernels/resize.h"
#include "baton/runtime/kernels/scatter.h"
#include "baton/runtime/kernels/shape_kernels.h"
#include "baton/runtime/kernels/sort.h"

namespace baton::relay {

template <typename A>
absl::StatusOr<Tensor> ResizeTo(const A& attrs, const Tensor& data,
                                std::vector<int64_t> size,
                                std::vector<double> roi) {
  kernels::ResizeParams params;
  const size_t spatial = size.size();
  params.size = std::move(size);
  params.roi = std::move(roi);
  params.method = attrs.method;
  params.coordinates = attrs.coordinate_transformation_mode;
  params.rounding = attrs.rounding_method;
  params.cubic_alpha = attrs.cubic_alpha;
  params.cubic_exclude = attrs.cubic_exclude != 0;
  params.extrapolation_value = attrs.extrapolation_value;
  constexpr absl::string_view kCanonical[] = {"NCW", "NCHW", "NCDHW"};
  if (spatial < 1 || spatial > 3) {
    return absl::InvalidArgumentError("there are no such layouts");
  }
  BATON_ASSIGN_OR_RETURN(
      const Tensor result,
      kernels::InLayout(
          data, attrs.layout, kCanonical[spatial - 1],
          [&params](const Tensor& x) { return kernels::Resize(x, params); }));
  return attrs.out_dtype.is_void() ? result
                                   : kernels::Cast(result, attrs.out_dtype);
}

template absl::StatusOr<Tensor> ResizeTo(const Resize1DAttrs&, const Tensor&,
                                         std::vector<int64_t>,
                                         std::vector<double>);
template absl::StatusOr<Tensor> ResizeTo(const Resize2DAttrs&, const Tensor&,
                                         std::vector<int64_t>,
                                         std::vector<double>);
template absl::StatusOr<Tensor> ResizeTo(const Resize3DAttrs&, const Tensor&,
                                         std::vector<int64_t>,
                                         std::vector<double>);

namespace {

// Extents times factors, as UpSamplingRel gives them.
absl::StatusOr<Tensor> Upsample(const Tensor& x, absl::string_view layout,
                                absl::string_view canonical,
                                absl::Span<const double> scales,
                                kernels::ResizeParams params) {
  return kernels::InLayout(
      x, layout, canonical, [&](const Tensor& data) -> absl::StatusOr<Tensor> {
        for (size_t i = 0; i < scales.size(); ++i) {
          const Dim extent = ScaledExtent(data.shape()[i + 2], scales[i]);
          if (!extent.is_const()) {
            return absl::InvalidArgumentError("the result is too large");
          }
          params.size.push_back(extent.value());
        }
        return kernels::Resize(data, params);
      });
}

kernels::ResizeParams UpSamplingParams(const UpSamplingAttrs& attrs) {
  kernels::ResizeParams params;
  params.method = attrs.method == "bilinear"  ? "linear"
                  : attrs.method == "bicubic" ? "cubic"
                                              : attrs.method;
  params.coordinates = attrs.align_corners ? "align_corners" : "asymmetric";
  return params;
}

kernels::ResizeParams UpSampling3DParams(const UpSampling3DAttrs& attrs) {
  kernels::ResizeParams params;
  params.method = attrs.method == "trilinear" ? "linear" : attrs.method;
  params.coordinates = attrs.coordinate_transformation_mode;
  return params;
}

}  // namespace

absl::StatusOr<Tensor> ComputeUpSampling(const UpSamplingAttrs& attrs,
                                         absl::Span<const Value> args) {
  return Upsample(args[0].tensor(), attrs.layout, "NCHW",
                  {attrs.scale_h, attrs.scale_w}, UpSamplingParams(attrs));
}

absl::StatusOr<Tensor> ComputeUpSampling3D(const UpSampling3DAttrs& attrs,
                                           absl::Span<const Value> args) {
  return Upsample(args[0].tensor(), attrs.layout, "NCDHW",
                  {attrs.scale_d, attrs.scale_h, attrs.scale_w},
                  UpSampling3DParams(attrs));
}

absl::StatusOr<Tensor> ComputeSparseToDense(const SparseToDenseAttrs& attrs,
                                            absl::Span<const Value> args) {
  const Tensor& coordinates = args[0].tensor();
  const Tensor& values = args[1].tensor();
  BATON_ASSIGN_OR_RETURN(
      const Tensor background,
      kernels::Full(args[2].tensor(), attrs.output_shape, values.dtype()));
  // As scatter_nd takes them: one column a value.
  TensorShape shape = {static_cast<int64_t>(attrs.output_shape.size())};
  const int64_t count =
      coordinates.num_elements() / std::max<int64_t>(shape[0], 1);
  shape.push_back(count);
  BATON_ASSIGN_OR_RETURN(const Tensor rows,
                         coordinates.Reshaped({count, shape[0]}));
  BATON_ASSIGN_OR_RETURN(const Tensor columns,
                         kernels::Transpose(rows, {1, 0}));
  BATON_ASSIGN_OR_RETURN(const Tensor updates,
                         kernels::BroadcastTo(values, {count}));
  return kernels::ScatterNd(background, columns, updates,
                            kernels::ScatterMode::kUpdate);
}

absl::StatusOr<Tensor> SliceOf(const Tensor& data,
                               const StridedSliceAttrs& attrs) {
  const Dims shape(data.shape().begin(), data.shape().end());
  BATON_ASSIGN_OR_RETURN(const auto slices,
                         SlicesOf(shape, attrs, CrossedEnds::kEmpty));
  kernels::StridedSliceParams params;
  params.axes.emplace();
  for (const AxisSlice& slice : slices) {
    params.axes->push_back(slice.axis);
    if (slice.begin == slice.end) {
      // Nothing. A begin before the first element would count from the end.
      params.begin.push_back(0);
      params.end.push_back(0);
      params.strides.push_back(1);
      continue;
    }
    params.begin.push_back(slice.begin);
    // Before the first element: written so that it does not count from the end.
    params.end.push_back(slice.end < 0 ? std::numeric_limits<int64_t>::min() / 2
                                       : slice.end);
    params.strides.push_back(slice.stride);
  }
  return kernels::StridedSlice(data, params);
}

absl::StatusOr<Value> TopKOf(const Tensor& data, const TopKAttrs& attrs) {
  if (!attrs.k.has_value()) {
    return absl::InvalidArgumentError("k must be given");
  }
  BATON_ASSIGN_OR_RETURN(
      kernels::TopKResult result,
      kernels::TopK(data, *attrs.k, attrs.axis, attrs.is_ascend,
                    attrs.dtype.is_void() ? DType::Int(32) : attrs.dtype));
  if (attrs.ret_type == "values") return Value(std::move(result.values));
  if (attrs.ret_type == "indices") return Value(std::move(result.indices));
  return Value::MakeTuple(
      {std::move(result.values), std::move(result.indices)});
}

}  // namespace baton::relay
