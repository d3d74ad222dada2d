#include "baton/runtime/kernels/deformable_conv.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/runtime/kernels/internal/convert.h"
#include "baton/runtime/kernels/internal/util.h"
#include "baton/runtime/kernels/internal/window.h"
#include "baton/runtime/kernels/layout_kernels.h"

namespace baton::kernels {
namespace {

using ::baton::kernels::internal::Error;
using ::baton::kernels::internal::Window;

constexpr absl::string_view kKernel = "deformable_conv2d";

// `x` as doubles in the layout `canonical`.
absl::StatusOr<Tensor> Canonical(const Tensor& x, const std::string& layout,
                                 absl::string_view canonical) {
  BATON_RETURN_IF_ERROR(internal::CheckRank(kKernel, "each argument", x, 4));
  BATON_ASSIGN_OR_RETURN(const Tensor wide,
                         internal::Convert(kKernel, x, DType::Float(64)));
  if (layout.empty()) return wide;
  return LayoutTransform(wide, layout, canonical);
}

// The element at (y, x) of a plane, interpolated; 0 outside.
double Sample(const double* plane, const Window& down, const Window& across,
              double y, double x) {
  // False for NaN.
  const bool inside = y >= 0 && y < static_cast<double>(down.in) && x >= 0 &&
                      x < static_cast<double>(across.in);
  if (!inside) return 0;
  const auto top = static_cast<int64_t>(y);
  const auto left = static_cast<int64_t>(x);
  const double part_down = y - static_cast<double>(top);
  const double part_right = x - static_cast<double>(left);
  double sum = 0;
  for (int64_t i = 0; i < 2 && top + i < down.in; ++i) {
    for (int64_t j = 0; j < 2 && left + j < across.in; ++j) {
      sum += (i == 0 ? 1 - part_down : part_down) *
             (j == 0 ? 1 - part_right : part_right) *
             plane[(top + i) * across.in + left + j];
    }
  }
  return sum;
}

}  // namespace

absl::StatusOr<Tensor> DeformableConv2d(const Tensor& data,
                                        const Tensor& offset,
                                        const Tensor& kernel,
                                        const DeformableConv2dParams& params) {
  BATON_ASSIGN_OR_RETURN(const Tensor xs,
                         Canonical(data, params.data_layout, "NCHW"));
  BATON_ASSIGN_OR_RETURN(const Tensor offsets,
                         Canonical(offset, params.data_layout, "NCHW"));
  BATON_ASSIGN_OR_RETURN(const Tensor weights,
                         Canonical(kernel, params.kernel_layout, "OIHW"));
  const absl::Span<const int64_t> shape = weights.shape();
  const int64_t channels = xs.shape()[1];
  const int64_t groups = params.groups;
  if (groups <= 0 || channels % groups != 0 || shape[0] % groups != 0 ||
      shape[1] != channels / groups) {
    return Error(kKernel, "data ", data.TypeToString(), " and kernel ",
                 kernel.TypeToString(), " do not fit ", groups, " groups");
  }
  if (params.deformable_groups <= 0 ||
      channels % params.deformable_groups != 0) {
    return Error(kKernel, params.deformable_groups,
                 " deformable groups do not divide ", channels, " channels");
  }
  BATON_ASSIGN_OR_RETURN(
      const auto windows,
      internal::Windows2d(kKernel, /*ceil_mode=*/false, xs.shape().subspan(2),
                          shape.subspan(2), params.strides, params.dilation,
                          params.padding));
  const Window& down = windows[0];
  const Window& across = windows[1];
  const int64_t taps = down.kernel * across.kernel;
  const bool fits = offsets.shape()[0] == xs.shape()[0] &&
                    offsets.shape()[2] == down.out &&
                    offsets.shape()[3] == across.out &&
                    offsets.shape()[1] % params.deformable_groups == 0 &&
                    offsets.shape()[1] / params.deformable_groups == 2 * taps;
  if (!fits) {
    return Error(kKernel, "offset ", offset.TypeToString(),
                 " does not have two channels for each of ", taps,
                 " taps and the size of the result, ", down.out, " by ",
                 across.out);
  }
  BATON_ASSIGN_OR_RETURN(
      MutableTensor result,
      MutableTensor::Create(DType::Float(64),
                            {xs.shape()[0], shape[0], down.out, across.out}));
  const std::string& layout =
      params.out_layout.empty() ? params.data_layout : params.out_layout;
  const auto stored = [&](const Tensor& wide) -> absl::StatusOr<Tensor> {
    BATON_ASSIGN_OR_RETURN(
        const Tensor narrow,
        internal::Convert(
            kKernel, wide,
            params.out_dtype.is_void() ? data.dtype() : params.out_dtype));
    if (layout.empty()) return narrow;
    return LayoutTransform(narrow, "NCHW", layout);
  };
  // Extents of 0 do not bound the others.
  if (result.num_elements() == 0) return stored(std::move(result).Freeze());
  const int64_t plane = down.in * across.in;
  const int64_t out_plane = down.out * across.out;
  const int64_t group_inputs = shape[1] * taps;
  // The samples of the taps of all channels for one output position.
  std::vector<double> samples(static_cast<size_t>(channels * taps));
  for (int64_t image = 0; image < xs.shape()[0]; ++image) {
    const double* const from =
        xs.span<double>().data() + image * channels * plane;
    const double* const moved =
        offsets.span<double>().data() + image * offsets.shape()[1] * out_plane;
    double* const to =
        result.span<double>().data() + image * shape[0] * out_plane;
    for (int64_t p = 0; p < out_plane; ++p) {
      for (int64_t c = 0; c < channels; ++c) {
        const int64_t group = c / (channels / params.deformable_groups);
        for (int64_t tap = 0; tap < taps; ++tap) {
          const double* const by =
              moved + (group * taps + tap) * 2 * out_plane + p;
          const int64_t y = down.Input(p / across.out, tap / across.kernel);
          const int64_t x = across.Input(p % across.out, tap % across.kernel);
          samples[c * taps + tap] = Sample(
              from + c * plane, down, across, static_cast<double>(y) + by[0],
              static_cast<double>(x) + by[out_plane]);
        }
      }
      for (int64_t o = 0; o < shape[0]; ++o) {
        const double* const w =
            weights.span<double>().data() + o * group_inputs;
        const double* const in =
            samples.data() + o / (shape[0] / groups) * group_inputs;
        double sum = 0;
        for (int64_t k = 0; k < group_inputs; ++k) sum += w[k] * in[k];
        to[o * out_plane + p] = sum;
      }
    }
  }
  return stored(std::move(result).Freeze());
}

}  // namespace baton::kernels
