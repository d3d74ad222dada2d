#include "baton/runtime/kernels/morphology.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/strings/string_view.h"
#include "baton/base/status_macros.h"
#include "baton/runtime/kernels/internal/convert.h"
#include "baton/runtime/kernels/internal/util.h"
#include "baton/runtime/kernels/internal/window.h"

namespace baton::kernels {

using ::baton::kernels::internal::Window;

absl::StatusOr<Tensor> Dilation2d(const Tensor& x, const Tensor& kernel,
                                  const Conv2dParams& params) {
  constexpr absl::string_view kKernel = "dilation2d";
  if (x.rank() != 4 || kernel.rank() != 3 ||
      x.shape()[1] != kernel.shape()[0]) {
    return internal::Error(kKernel, "data ", x.TypeToString(), " and kernel ",
                           kernel.TypeToString(), " do not fit");
  }
  BATON_ASSIGN_OR_RETURN(
      const auto windows,
      internal::Windows2d(kKernel, /*ceil_mode=*/false, x.shape().subspan(2),
                          kernel.shape().subspan(1), params.strides,
                          params.dilation, params.padding));
  BATON_ASSIGN_OR_RETURN(const Tensor data, internal::WidenHalf(kKernel, x));
  BATON_ASSIGN_OR_RETURN(const Tensor weights,
                         internal::Convert(kKernel, kernel, data.dtype()));
  BATON_ASSIGN_OR_RETURN(
      const Tensor result,
      internal::VisitNumeric(
          kKernel, data.dtype(), [&]<typename T>() -> absl::StatusOr<Tensor> {
            BATON_ASSIGN_OR_RETURN(
                MutableTensor out,
                MutableTensor::Create(
                    data.dtype(), {x.shape()[0], x.shape()[1], windows[0].out,
                                   windows[1].out}));
            if (out.num_elements() == 0) return std::move(out).Freeze();
            const int64_t channels = x.shape()[1];
            const int64_t taps = windows[0].kernel * windows[1].kernel;
            const int64_t size = windows[0].in * windows[1].in;
            T* to = out.span<T>().data();
            for (int64_t p = 0; p < x.shape()[0] * channels; ++p) {
              const T* const plane = data.span<T>().data() + p * size;
              const T* const tap =
                  weights.span<T>().data() + p % channels * taps;
              for (int64_t i = 0; i < windows[0].out; ++i) {
                for (int64_t j = 0; j < windows[1].out; ++j) {
                  T largest = std::numeric_limits<T>::lowest();
                  for (int64_t a = 0; a < windows[0].kernel; ++a) {
                    const int64_t row = windows[0].Input(i, a);
                    for (int64_t b = 0; b < windows[1].kernel; ++b) {
                      const int64_t column = windows[1].Input(j, b);
                      const bool inside = row >= 0 && row < windows[0].in &&
                                          column >= 0 && column < windows[1].in;
                      const T value =
                          inside ? plane[row * windows[1].in + column] : T{0};
                      const T weight = tap[a * windows[1].kernel + b];
                      if constexpr (std::numeric_limits<T>::is_integer) {
                        using W = internal::Wrapping<T>;
                        largest = std::max(
                            largest, static_cast<T>(static_cast<W>(value) +
                                                    static_cast<W>(weight)));
                      } else {
                        largest = std::max(largest, value + weight);
                      }
                    }
                  }
                  *to++ = largest;
                }
              }
            }
            return std::move(out).Freeze();
          }));
  return internal::Convert(
      kKernel, result,
      params.out_dtype.is_void() ? x.dtype() : params.out_dtype);
}

}  // namespace baton::kernels
