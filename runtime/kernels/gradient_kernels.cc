#include "baton/runtime/kernels/gradient_kernels.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/string_view.h"
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

// `x`, of `layout`, as a float in `to`.
absl::StatusOr<Tensor> RealIn(absl::string_view kernel, const Tensor& x,
                              absl::string_view layout, absl::string_view to) {
  BATON_ASSIGN_OR_RETURN(const Tensor real,
                         x.dtype() == DType::Float(64)
                             ? absl::StatusOr<Tensor>(x)
                             : internal::Convert(kernel, x, DType::Float(32)));
  return LayoutTransform(real, layout.empty() ? to : layout, to);
}

// Adds what each window of `x` (NCHW) gives back of `grad` to the result:
// visit(plane of x, plane of the result, windows, row, column, gradient).
template <typename VisitFn>
absl::StatusOr<Tensor> PoolGrad(absl::string_view kernel, const Tensor& grad,
                                const Tensor& x, const Pool2dParams& params,
                                const VisitFn& visit) {
  constexpr absl::string_view kLayout = "NCHW";
  BATON_ASSIGN_OR_RETURN(const Tensor data,
                         RealIn(kernel, x, params.layout, kLayout));
  BATON_ASSIGN_OR_RETURN(const Tensor given,
                         RealIn(kernel, grad, params.layout, kLayout));
  if (data.rank() != 4 || given.rank() != 4 || data.dtype() != given.dtype()) {
    return Error(kernel, "data ", x.TypeToString(), " and gradient ",
                 grad.TypeToString(), " do not fit");
  }
  BATON_ASSIGN_OR_RETURN(
      const auto windows,
      internal::Windows2d(kernel, params.ceil_mode, data.shape().subspan(2),
                          params.pool_size, params.strides, params.dilation,
                          params.padding));
  const int64_t planes = data.shape()[0] * data.shape()[1];
  const bool fits = given.shape()[0] == data.shape()[0] &&
                    given.shape()[1] == data.shape()[1] &&
                    given.shape()[2] == windows[0].out &&
                    given.shape()[3] == windows[1].out;
  if (!fits) {
    return Error(kernel, "the gradient ", grad.TypeToString(),
                 " has not the shape of the result");
  }
  BATON_ASSIGN_OR_RETURN(
      const Tensor result,
      internal::VisitFloat(
          kernel, data.dtype(), [&]<typename T>() -> absl::StatusOr<Tensor> {
            BATON_ASSIGN_OR_RETURN(
                MutableTensor out,
                MutableTensor::Create(data.dtype(), data.shape()));
            if (given.num_elements() == 0) return std::move(out).Freeze();
            const T* from = data.span<T>().data();
            T* to = out.span<T>().data();
            const T* gradient = given.span<T>().data();
            for (int64_t plane = 0; plane < planes; ++plane) {
              for (int64_t i = 0; i < windows[0].out; ++i) {
                for (int64_t j = 0; j < windows[1].out; ++j) {
                  visit(from, to, windows, i, j, *gradient++);
                }
              }
              from += windows[0].in * windows[1].in;
              to += windows[0].in * windows[1].in;
            }
            return std::move(out).Freeze();
          }));
  BATON_ASSIGN_OR_RETURN(
      const Tensor stored,
      LayoutTransform(
          result, kLayout,
          params.layout.empty() ? kLayout : absl::string_view(params.layout)));
  return internal::Convert(kernel, stored, x.dtype());
}

// Calls fn(index in the plane) for each element that window (i, j) covers.
template <typename Fn>
void ForEachCovered(const std::array<Window, 2>& windows, int64_t i, int64_t j,
                    const Fn& fn) {
  const Window::Range rows = windows[0].ValidTaps(i);
  const Window::Range columns = windows[1].ValidTaps(j);
  for (int64_t a = rows.first; a < rows.last; ++a) {
    const int64_t row = windows[0].Input(i, a) * windows[1].in;
    for (int64_t b = columns.first; b < columns.last; ++b) {
      fn(row + windows[1].Input(j, b));
    }
  }
}

}  // namespace

absl::StatusOr<Tensor> MaxPool2dGrad(const Tensor& grad, const Tensor& x,
                                     const Pool2dParams& params) {
  return PoolGrad(
      "max_pool2d_grad", grad, x, params,
      [](const auto* plane, auto* out, const std::array<Window, 2>& windows,
         int64_t i, int64_t j, auto gradient) {
        int64_t largest = -1;
        ForEachCovered(windows, i, j, [&](int64_t at) {
          if (largest < 0 || plane[at] > plane[largest]) largest = at;
        });
        if (largest >= 0) out[largest] += gradient;
      });
}

absl::StatusOr<Tensor> AvgPool2dGrad(const Tensor& grad, const Tensor& x,
                                     const Pool2dParams& params) {
  return PoolGrad(
      "avg_pool2d_grad", grad, x, params,
      [&params](const auto*, auto* out, const std::array<Window, 2>& windows,
                int64_t i, int64_t j, auto gradient) {
        // In double: the elements of a window may be too many for an integer.
        double count = 1;
        for (size_t axis = 0; axis < 2; ++axis) {
          const Window::Range taps = windows[axis].ValidTaps(axis == 0 ? i : j);
          count *= static_cast<double>(params.count_include_pad
                                           ? windows[axis].kernel
                                           : taps.last - taps.first);
        }
        const auto share =
            gradient / static_cast<decltype(gradient)>(std::max(count, 1.0));
        ForEachCovered(windows, i, j, [&](int64_t at) { out[at] += share; });
      });
}

absl::StatusOr<Tensor> Conv2dBackwardWeight(const Tensor& grad, const Tensor& x,
                                            const std::array<int64_t, 2>& taps,
                                            const Conv2dParams& params) {
  constexpr absl::string_view kKernel = "conv2d_backward_weight";
  BATON_ASSIGN_OR_RETURN(const Tensor data,
                         RealIn(kKernel, x, params.data_layout, "NCHW"));
  BATON_ASSIGN_OR_RETURN(const Tensor given,
                         RealIn(kKernel, grad, params.out_layout, "NCHW"));
  bool fits = data.rank() == 4 && given.rank() == 4 &&
              data.dtype() == given.dtype() &&
              data.shape()[0] == given.shape()[0] && params.groups > 0 &&
              data.shape()[1] % params.groups == 0 &&
              given.shape()[1] % params.groups == 0;
  std::array<Window, 2> windows;
  if (fits) {
    BATON_ASSIGN_OR_RETURN(
        windows, internal::Windows2d(
                     kKernel, /*ceil_mode=*/false, data.shape().subspan(2),
                     taps, params.strides, params.dilation, params.padding));
    fits = given.shape()[2] == windows[0].out &&
           given.shape()[3] == windows[1].out;
  }
  if (!fits) {
    return Error(kKernel, "data ", x.TypeToString(), ", gradient ",
                 grad.TypeToString(), " and a kernel of ", taps[0], " by ",
                 taps[1], " in ", params.groups, " groups do not fit");
  }
  const int64_t in_channels = data.shape()[1] / params.groups;
  const int64_t out_channels = given.shape()[1];
  const int64_t by_group = out_channels / params.groups;
  BATON_ASSIGN_OR_RETURN(
      const Tensor result,
      internal::VisitFloat(
          kKernel, data.dtype(), [&]<typename T>() -> absl::StatusOr<Tensor> {
            BATON_ASSIGN_OR_RETURN(
                MutableTensor out,
                MutableTensor::Create(data.dtype(), {out_channels, in_channels,
                                                     taps[0], taps[1]}));
            if (out.num_elements() == 0 || given.num_elements() == 0) {
              return std::move(out).Freeze();
            }
            const int64_t plane = windows[0].in * windows[1].in;
            const int64_t out_plane = windows[0].out * windows[1].out;
            T* to = out.span<T>().data();
            for (int64_t o = 0; o < out_channels; ++o) {
              for (int64_t c = 0; c < in_channels; ++c) {
                const int64_t channel = o / by_group * in_channels + c;
                for (int64_t a = 0; a < taps[0]; ++a) {
                  const Window::Range rows = windows[0].ValidOutputs(a);
                  for (int64_t b = 0; b < taps[1]; ++b) {
                    const Window::Range columns = windows[1].ValidOutputs(b);
                    double sum = 0;
                    for (int64_t n = 0; n < data.shape()[0]; ++n) {
                      const T* const from =
                          data.span<T>().data() +
                          (n * data.shape()[1] + channel) * plane;
                      const T* const gradient =
                          given.span<T>().data() +
                          (n * out_channels + o) * out_plane;
                      for (int64_t i = rows.first; i < rows.last; ++i) {
                        const T* const row =
                            from + windows[0].Input(i, a) * windows[1].in;
                        const T* const weights = gradient + i * windows[1].out;
                        for (int64_t j = columns.first; j < columns.last; ++j) {
                          sum +=
                              static_cast<double>(weights[j]) *
                              static_cast<double>(row[windows[1].Input(j, b)]);
                        }
                      }
                    }
                    *to++ = static_cast<T>(sum);
                  }
                }
              }
            }
            return std::move(out).Freeze();
          }));
  BATON_ASSIGN_OR_RETURN(
      const Tensor stored,
      LayoutTransform(result, "OIHW",
                      params.kernel_layout.empty()
                          ? absl::string_view("OIHW")
                          : absl::string_view(params.kernel_layout)));
  return internal::Convert(
      kKernel, stored,
      params.out_dtype.is_void() ? grad.dtype() : params.out_dtype);
}

}  // namespace baton::kernels
