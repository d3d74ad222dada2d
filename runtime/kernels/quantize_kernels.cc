#include "baton/runtime/kernels/quantize_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/number_range.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/internal/convert.h"
#include "baton/runtime/kernels/internal/math.h"
#include "baton/runtime/kernels/internal/util.h"
#include "baton/runtime/kernels/internal/vectorize.h"

namespace baton::kernels {
namespace {

using ::baton::kernels::internal::AxisView;
using ::baton::kernels::internal::Convert;
using ::baton::kernels::internal::Error;

// Scales and zero points as numbers, one for each index along an axis.
struct Channels {
  AxisView view;
  std::vector<float> scales;
  std::vector<int64_t> zero_points;
};

absl::StatusOr<Channels> ChannelsOf(absl::string_view kernel, const Tensor& x,
                                    const Quantization& q) {
  Channels result;
  const int64_t count =
      std::max(q.scale.num_elements(), q.zero_point.num_elements());
  if (count == 1) {
    result.view = {1, 1, x.num_elements()};
  } else {
    BATON_ASSIGN_OR_RETURN(const int axis,
                           internal::NormalizeAxis(kernel, q.axis, x.rank()));
    result.view = internal::ViewAround(x.shape(), axis);
  }
  for (const Tensor* t : {&q.scale, &q.zero_point}) {
    if (t->num_elements() != 1 && t->num_elements() != result.view.extent) {
      return Error(kernel, t->TypeToString(), " does not fit ",
                   result.view.extent, " channels");
    }
  }
  for (int64_t i = 0; i < result.view.extent; ++i) {
    const auto at = [&](const Tensor& t) {
      return t.num_elements() == 1 ? 0 : i;
    };
    result.scales.push_back(
        static_cast<float>(q.scale.AtAsDouble(at(q.scale))));
    result.zero_points.push_back(q.zero_point.AtAsInt64(at(q.zero_point)));
  }
  return result;
}

// Calls fn(element, channel) for all elements.
template <typename Fn>
void ForEach(const AxisView& view, const Fn& fn) {
  // Extents of 0 do not bound the others.
  if (view.extent == 0 || view.inner == 0) return;
  int64_t i = 0;
  for (int64_t outer = 0; outer < view.outer; ++outer) {
    for (int64_t channel = 0; channel < view.extent; ++channel) {
      for (int64_t inner = 0; inner < view.inner; ++inner) fn(i++, channel);
    }
  }
}

struct Range {
  int64_t low;
  int64_t high;
};

absl::StatusOr<Range> RangeOf(absl::string_view kernel, DType dtype) {
  if (!dtype.is_integral() || dtype.is_bool() || dtype.bits() > 32) {
    return internal::UnsupportedDType(kernel, dtype);
  }
  const NumberRange range = *FiniteRange(dtype);
  return Range{static_cast<int64_t>(range.low),
               static_cast<int64_t>(range.high)};
}

absl::StatusOr<MutableTensor> Int64Like(const Tensor& x) {
  return MutableTensor::Create(DType::Int(64), x.shape());
}

// A ratio as multiplier / 2^shift, where the multiplier has 31 bits.
struct FixedPoint {
  int64_t multiplier;
  int shift;
};

FixedPoint ToFixedPoint(double ratio) {
  if (ratio == 0) return {0, 31};
  int exponent;
  const double significand = std::frexp(ratio, &exponent);
  int64_t multiplier = std::llround(significand * 2147483648.0);
  if (multiplier == int64_t{1} << 31) {
    multiplier /= 2;
    ++exponent;
  }
  return {multiplier, 31 - exponent};
}

int64_t Scale(int64_t x, const FixedPoint& ratio,
              RequantizeParams::Rounding rounding) {
  const __int128 product = static_cast<__int128>(x) * ratio.multiplier;
  if (ratio.shift <= 0) {
    // Beyond what any type holds, of the sign that it has.
    constexpr __int128 kEnd = __int128{1} << 62;
    const __int128 scaled =
        product * (__int128{1} << std::min(-ratio.shift, 32));
    return static_cast<int64_t>(std::clamp(scaled, -kEnd, kEnd));
  }
  if (ratio.shift > 100) return 0;
  __int128 half = static_cast<__int128>(1) << (ratio.shift - 1);
  // An arithmetic shift rounds down: ties of negative numbers go up.
  if (rounding == RequantizeParams::Rounding::kToNearest && product < 0) {
    --half;
  }
  return static_cast<int64_t>((product + half) >> ratio.shift);
}

// (x - from) * ratio + to, rounded, in F as qnn.CanonicalizeOps writes it; 0
// for NaN.
template <typename F>
int64_t ScaleFloat(int64_t x, int64_t from, double ratio, int64_t to,
                   RequantizeParams::Rounding rounding) {
  F value = static_cast<F>(x);
  if (from != 0) value -= static_cast<F>(from);
  if (ratio != 1) value *= static_cast<F>(ratio);
  if (to != 0) value += static_cast<F>(to);
  if (std::isnan(value)) return 0;
  // Half is added before what is behind the point is cut off.
  const F rounded = rounding == RequantizeParams::Rounding::kUpward
                        ? std::floor(value + F{0.5})
                    : value < 0 ? -std::floor(F{0.5} - value)
                                : std::floor(value + F{0.5});
  return static_cast<int64_t>(std::clamp(rounded, F{-5e9}, F{5e9}));
}

}  // namespace

absl::StatusOr<Tensor> Quantize(const Tensor& x, const Quantization& q,
                                DType dtype) {
  constexpr absl::string_view kKernel = "quantize";
  if (x.dtype() != DType::Float(32)) {
    return internal::UnsupportedDType(kKernel, x.dtype());
  }
  BATON_ASSIGN_OR_RETURN(const Range range, RangeOf(kKernel, dtype));
  BATON_ASSIGN_OR_RETURN(const Channels channels, ChannelsOf(kKernel, x, q));
  const AxisView view = channels.view;
  const float* in = x.span<float>().data();
  const float* scales = channels.scales.data();
  const int64_t* zero_points = channels.zero_points.data();
  const double low = static_cast<double>(range.low);
  const double high = static_cast<double>(range.high);
  return internal::VisitNumeric(
      kKernel, dtype, [&]<typename To>() -> absl::StatusOr<Tensor> {
        BATON_ASSIGN_OR_RETURN(MutableTensor result,
                               MutableTensor::Uninitialized(dtype, x.shape()));
        To* out = static_cast<To*>(result.data());
        internal::RunLoop([=]() BATON_LOOP {
          // There are vectors of int32 for doubles everywhere.
          using Wide = std::conditional_t<sizeof(To) < 4, int32_t, int64_t>;
          for (int64_t run = 0; run < view.outer * view.extent; ++run) {
            const float scale = scales[run % view.extent];
            const float zero =
                static_cast<float>(zero_points[run % view.extent]);
            const float* from = in + run * view.inner;
            To* to = out + run * view.inner;
            for (int64_t i = 0; i < view.inner; ++i) {
              const double value =
                  static_cast<double>(internal::Round(from[i] / scale) + zero);
              const double above = value > low ? value : low;
              const double bounded = above < high ? above : high;
              // NaN becomes 0, as in a cast.
              const double number = value == value ? bounded : 0.0;
              to[i] = static_cast<To>(static_cast<Wide>(number));
            }
          }
        });
        return std::move(result).Freeze();
      });
}

absl::StatusOr<Tensor> Dequantize(const Tensor& x, const Quantization& q,
                                  DType dtype) {
  constexpr absl::string_view kKernel = "dequantize";
  BATON_RETURN_IF_ERROR(RangeOf(kKernel, x.dtype()).status());
  BATON_ASSIGN_OR_RETURN(const Channels channels, ChannelsOf(kKernel, x, q));
  BATON_ASSIGN_OR_RETURN(
      MutableTensor result,
      MutableTensor::Uninitialized(DType::Float(32), x.shape()));
  const AxisView view = channels.view;
  const float* scales = channels.scales.data();
  const int64_t* zero_points = channels.zero_points.data();
  float* out = result.span<float>().data();
  BATON_RETURN_IF_ERROR(internal::VisitNumeric(
      kKernel, x.dtype(), [&]<typename From>() -> absl::Status {
        const From* in = internal::Data<From>(x);
        internal::RunLoop([=]() BATON_LOOP {
          for (int64_t run = 0; run < view.outer * view.extent; ++run) {
            const float scale = scales[run % view.extent];
            const int64_t zero = zero_points[run % view.extent];
            const From* from = in + run * view.inner;
            float* to = out + run * view.inner;
            const auto scale_all = [=]<typename Wide>(
                                       Wide wide_zero) BATON_LOOP {
              for (int64_t i = 0; i < view.inner; ++i) {
                const Wide distance = static_cast<Wide>(from[i]) - wide_zero;
                to[i] = static_cast<float>(distance) * scale;
              }
            };
            // There are vectors of int32 everywhere.
            if (sizeof(From) < 4 && zero > -0x40000000 && zero < 0x40000000) {
              scale_all(static_cast<int32_t>(zero));
            } else {
              scale_all(zero);
            }
          }
        });
        return absl::OkStatus();
      }));
  if (dtype != DType::Float(32)) {
    // As qnn.CanonicalizeOps writes it; NaN stays.
    constexpr float kMaxFloat16 = 65504;
    for (float& value : result.span<float>()) {
      if (std::abs(value) > kMaxFloat16) {
        value = std::copysign(kMaxFloat16, value);
      }
    }
  }
  return Convert(kKernel, std::move(result).Freeze(), dtype);
}

absl::StatusOr<Tensor> Requantize(const Tensor& x, const Quantization& from,
                                  const Quantization& to,
                                  const RequantizeParams& params) {
  constexpr absl::string_view kKernel = "requantize";
  if (!x.dtype().is_integral()) {
    return internal::UnsupportedDType(kKernel, x.dtype());
  }
  BATON_ASSIGN_OR_RETURN(const Range range, RangeOf(kKernel, params.dtype));
  BATON_ASSIGN_OR_RETURN(const Channels channels, ChannelsOf(kKernel, x, from));
  if (to.scale.num_elements() != 1 || to.zero_point.num_elements() != 1) {
    return Error(kKernel,
                 "the scale and the zero point of the result must be scalars");
  }
  const double new_scale = to.scale.AtAsDouble(0);
  const int64_t new_zero_point = to.zero_point.AtAsInt64(0);
  if (new_scale == 0) return Error(kKernel, "the scale of the result is 0");
  std::vector<double> ratios;
  std::vector<FixedPoint> fixed;
  for (const float scale : channels.scales) {
    ratios.push_back(static_cast<double>(scale) / new_scale);
    fixed.push_back(ToFixedPoint(ratios.back()));
  }
  BATON_ASSIGN_OR_RETURN(MutableTensor result, Int64Like(x));
  const absl::Span<int64_t> out = result.span<int64_t>();
  ForEach(channels.view, [&](int64_t i, int64_t channel) {
    const int64_t element = x.AtAsInt64(i);
    const int64_t zero_point = channels.zero_points[channel];
    int64_t value = 0;
    if (params.float_bits == 32) {
      value = ScaleFloat<float>(element, zero_point, ratios[channel],
                                new_zero_point, params.rounding);
    } else if (params.float_bits == 64) {
      value = ScaleFloat<double>(element, zero_point, ratios[channel],
                                 new_zero_point, params.rounding);
    } else {
      value = element - zero_point;
      if (ratios[channel] != 1) {
        value = Scale(value, fixed[channel], params.rounding);
      }
      value += new_zero_point;
    }
    out[i] = std::min(std::max(value, range.low), range.high);
  });
  return Convert(kKernel, std::move(result).Freeze(), params.dtype);
}

namespace {

// fn(element, scale, zero point) for every element, in the type of `x`.
template <typename Fn>
absl::StatusOr<Tensor> Simulate(absl::string_view kernel, const Tensor& x,
                                const Quantization& q, const Fn& fn) {
  if (!x.dtype().is_float()) {
    return internal::UnsupportedDType(kernel, x.dtype());
  }
  const int64_t scales = q.scale.num_elements();
  const int64_t zero_points = q.zero_point.num_elements();
  if (scales == 0 || zero_points == 0) {
    return Error(kernel, "there is no scale or no zero point");
  }
  AxisView view = {1, 1, x.num_elements()};
  if (x.rank() > 0) {
    BATON_ASSIGN_OR_RETURN(const int axis,
                           internal::NormalizeAxis(kernel, q.axis, x.rank()));
    view = internal::ViewAround(x.shape(), axis);
  }
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Create(DType::Float(64), x.shape()));
  const absl::Span<double> out = result.span<double>();
  ForEach(view, [&](int64_t i, int64_t channel) {
    out[i] = fn(x.AtAsDouble(i), q.scale.AtAsDouble(channel % scales),
                q.zero_point.AtAsDouble(channel % zero_points));
  });
  return Convert(kernel, std::move(result).Freeze(), x.dtype());
}

}  // namespace

absl::StatusOr<Tensor> SimulatedQuantize(const Tensor& x, const Quantization& q,
                                         DType dtype) {
  constexpr absl::string_view kKernel = "simulated_quantize";
  BATON_ASSIGN_OR_RETURN(const Range range, RangeOf(kKernel, dtype));
  return Simulate(kKernel, x, q, [&](double x, double scale, double zero) {
    const double steps =
        std::nearbyint(static_cast<float>(x) / static_cast<float>(scale)) +
        zero;
    return std::max(std::min(steps, static_cast<double>(range.high)),
                    static_cast<double>(range.low));
  });
}

absl::StatusOr<Tensor> SimulatedDequantize(const Tensor& x,
                                           const Quantization& q) {
  return Simulate(
      "simulated_dequantize", x, q,
      [](double x, double scale, double zero) { return (x - zero) * scale; });
}

absl::StatusOr<Tensor> ShiftSoftmax(const Tensor& x, double scale,
                                    int64_t axis) {
  constexpr absl::string_view kKernel = "softmax";
  if (!x.dtype().is_integral() || x.dtype().is_bool()) {
    return internal::UnsupportedDType(kKernel, x.dtype());
  }
  if (!(scale > 0 && scale <= 1)) {
    return Error(kKernel, "the scale ", scale, " is not in (0, 1]");
  }
  BATON_ASSIGN_OR_RETURN(const int normalized,
                         internal::NormalizeAxis(kKernel, axis, x.rank()));
  const AxisView view = internal::ViewAround(x.shape(), normalized);
  const float steps = std::round(1.0f / static_cast<float>(scale));
  const int64_t one =
      std::min(static_cast<int64_t>(std::min(steps, 4e9f)), int64_t{INT32_MAX});
  const auto wrapped = [](int64_t x) {
    return static_cast<int64_t>(static_cast<int32_t>(x));
  };
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Create(DType::Int(32), x.shape()));
  if (x.num_elements() == 0) return std::move(result).Freeze();
  const absl::Span<int32_t> out = result.span<int32_t>();
  // exp(x) is about power * 2^-quotient / one.
  std::vector<int64_t> quotients(static_cast<size_t>(view.extent));
  std::vector<int64_t> powers(static_cast<size_t>(view.extent));
  for (int64_t outer = 0; outer < view.outer; ++outer) {
    for (int64_t inner = 0; inner < view.inner; ++inner) {
      const auto at = [&](int64_t i) {
        return (outer * view.extent + i) * view.inner + inner;
      };
      int64_t largest = INT64_MIN;
      for (int64_t i = 0; i < view.extent; ++i) {
        largest = std::max(largest, wrapped(x.AtAsInt64(at(i))));
      }
      int64_t max_quotient = 0;
      for (int64_t i = 0; i < view.extent; ++i) {
        const int64_t less = wrapped(wrapped(x.AtAsInt64(at(i))) - largest);
        const int64_t log2 = wrapped(less + (less >> 1) - (less >> 4));
        quotients[i] = std::clamp<int64_t>(log2 / -one, 0, 20);
        powers[i] = wrapped(((log2 + quotients[i] * one) >> 1) + one);
        max_quotient = std::max(max_quotient, quotients[i]);
      }
      int64_t sum = 0;
      for (int64_t i = 0; i < view.extent; ++i) {
        powers[i] =
            wrapped(powers[i] * (int64_t{1} << (max_quotient - quotients[i])));
        sum = wrapped(sum + powers[i]);
      }
      if (sum == 0) {
        return Error(kKernel, "the exponentials overflow");
      }
      for (int64_t i = 0; i < view.extent; ++i) {
        constexpr int kSumBits = 30;
        constexpr int kBits = 7;
        out[at(i)] = static_cast<int32_t>(
            wrapped((int64_t{1} << kSumBits) / sum * powers[i]) >>
            (kSumBits - kBits));
      }
    }
  }
  return std::move(result).Freeze();
}

}  // namespace baton::kernels
