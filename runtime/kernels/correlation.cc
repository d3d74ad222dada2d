#include "baton/runtime/kernels/correlation.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/runtime/kernels/internal/convert.h"
#include "baton/runtime/kernels/internal/util.h"

namespace baton::kernels {
namespace {

using ::baton::kernels::internal::Error;

constexpr absl::string_view kKernel = "correlation";

// Each number is at most this, so that sums and products of two fit.
constexpr int64_t kMaxParam = int64_t{1} << 30;

absl::Status CheckParams(const Tensor& x, const Tensor& y,
                         const CorrelationParams& params) {
  if (!x.dtype().is_float()) {
    return internal::UnsupportedDType(kKernel, x.dtype());
  }
  if (x.rank() != 4 || x.shape() != y.shape() || x.dtype() != y.dtype()) {
    return Error(kKernel, x.TypeToString(), " and ", y.TypeToString(),
                 " are not of one type with 4 dimensions");
  }
  if (params.kernel_size % 2 != 1 || params.kernel_size <= 0 ||
      params.kernel_size > kMaxParam) {
    return Error(kKernel, "kernel_size=", params.kernel_size,
                 " is not positive and odd, or too large");
  }
  for (const int64_t stride : {params.stride1, params.stride2}) {
    if (stride <= 0 || stride > kMaxParam) {
      return Error(kKernel, "the stride ", stride,
                   " is not positive, or too large");
    }
  }
  if (params.max_displacement < 0 || params.max_displacement > kMaxParam) {
    return Error(kKernel, "max_displacement=", params.max_displacement,
                 " is negative or too large");
  }
  for (const int64_t padding : params.padding) {
    if (padding < 0 || padding > kMaxParam) {
      return Error(kKernel, "the padding ", padding,
                   " is negative or too large");
    }
  }
  return absl::OkStatus();
}

// The patches along one axis.
struct Axis {
  int64_t extent;
  int64_t padding;
  int64_t size;  // of a patch

  // Calls fn(a, b) for the elements of the patches that begin at `a` and `b` in
  // the padded maps, unless both are outside.
  template <typename Fn>
  void ForEachPair(int64_t a, int64_t b, const Fn& fn) const {
    a -= padding;
    b -= padding;
    const auto first = [&](int64_t begin) {
      return std::clamp<int64_t>(-begin, 0, size);
    };
    const auto last = [&](int64_t begin) {
      return std::clamp<int64_t>(extent - begin, first(begin), size);
    };
    for (int64_t k = first(a); k < last(a); ++k) fn(a + k, b + k);
    for (int64_t k = first(b); k < last(b); ++k) {
      if (!Inside(a + k)) fn(a + k, b + k);
    }
  }
  bool Inside(int64_t i) const { return i >= 0 && i < extent; }
};

}  // namespace

absl::StatusOr<Tensor> Correlation(const Tensor& x, const Tensor& y,
                                   const CorrelationParams& params) {
  BATON_RETURN_IF_ERROR(CheckParams(x, y, params));
  const int64_t channels = x.shape()[1];
  const int64_t size = params.kernel_size;
  const int64_t reach = params.max_displacement / params.stride2;
  const int64_t side = 2 * reach + 1;
  const int64_t border = params.max_displacement + (size - 1) / 2;
  const Axis down = {x.shape()[2], params.padding[0], size};
  const Axis across = {x.shape()[3], params.padding[1], size};
  const auto outputs = [&](const Axis& axis, int64_t after) {
    const int64_t room = axis.extent + axis.padding + after - 2 * border;
    return room <= 0 ? 0 : (room - 1) / params.stride1 + 1;
  };
  const TensorShape shape = {x.shape()[0], side * side,
                             outputs(down, params.padding[2]),
                             outputs(across, params.padding[3])};
  BATON_ASSIGN_OR_RETURN(const Tensor wide_x,
                         internal::Convert(kKernel, x, DType::Float(64)));
  BATON_ASSIGN_OR_RETURN(const Tensor wide_y,
                         internal::Convert(kKernel, y, DType::Float(64)));
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Create(DType::Float(64), shape));
  // Extents of 0 do not bound the others.
  if (result.num_elements() == 0) {
    return internal::Convert(kKernel, std::move(result).Freeze(), x.dtype());
  }
  const int64_t plane = down.extent * across.extent;
  const double count = static_cast<double>(size) * static_cast<double>(size) *
                       static_cast<double>(channels);
  double* out = result.span<double>().data();
  for (int64_t image = 0; image < shape[0]; ++image) {
    const double* const xs =
        wide_x.span<double>().data() + image * channels * plane;
    const double* const ys =
        wide_y.span<double>().data() + image * channels * plane;
    for (int64_t q = 0; q < shape[1]; ++q) {
      for (int64_t i = 0; i < shape[2]; ++i) {
        for (int64_t j = 0; j < shape[3]; ++j) {
          const int64_t top = i * params.stride1 + params.max_displacement;
          const int64_t left = j * params.stride1 + params.max_displacement;
          double sum = 0;
          down.ForEachPair(
              top, top + (q / side - reach) * params.stride2,
              [&](int64_t y1, int64_t y2) {
                across.ForEachPair(
                    left, left + (q % side - reach) * params.stride2,
                    [&](int64_t x1, int64_t x2) {
                      const bool in1 = down.Inside(y1) && across.Inside(x1);
                      const bool in2 = down.Inside(y2) && across.Inside(x2);
                      for (int64_t c = 0; c < channels; ++c) {
                        const double a =
                            in1 ? xs[c * plane + y1 * across.extent + x1] : 0;
                        const double b =
                            in2 ? ys[c * plane + y2 * across.extent + x2] : 0;
                        sum += params.is_multiply ? a * b : std::abs(a - b);
                      }
                    });
              });
          *out++ = sum / count;
        }
      }
    }
  }
  return internal::Convert(kKernel, std::move(result).Freeze(), x.dtype());
}

}  // namespace baton::kernels
