#include "baton/runtime/kernels/internal/convert.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/internal/half.h"
#include "baton/runtime/kernels/internal/math.h"
#include "baton/runtime/kernels/internal/util.h"
#include "baton/runtime/kernels/internal/vectorize.h"

namespace baton::kernels::internal {
namespace {

// `x` without its fraction, bounded by what int64 (or uint64) holds, then
// wrapped to To. 0 for NaN.
template <typename To, typename From>
To TruncateElement(From x) {
  using Wide =
      std::conditional_t<std::is_same_v<To, uint64_t>, uint64_t, int64_t>;
  // The bounds as floats: the upper one is 2^63 or 2^64, exactly.
  constexpr From kLow = static_cast<From>(std::numeric_limits<Wide>::min());
  constexpr From kHigh = static_cast<From>(std::numeric_limits<Wide>::max());
  if (x != x) return 0;
  if constexpr (std::is_same_v<To, uint64_t>) {
    // A negative value wraps as it does for the narrower types.
    if (x < 0) return static_cast<To>(TruncateElement<int64_t>(x));
  }
  const Wide wide = x >= kHigh  ? std::numeric_limits<Wide>::max()
                    : x <= kLow ? std::numeric_limits<Wide>::min()
                                : static_cast<Wide>(x);
  return static_cast<To>(wide);
}

// Elements at a time, of which one that does not fit into int32 makes all take
// the slow way.
constexpr int64_t kBlock = 1024;

template <typename From, typename To>
void Truncate(const From* from, int64_t n, To* to) {
  RunLoop([=]() BATON_LOOP {
    for (int64_t start = 0; start < n; start += kBlock) {
      const From* in = from + start;
      To* out = to + start;
      const int64_t count = n - start < kBlock ? n - start : kBlock;
      // As wide as an element.
      std::conditional_t<sizeof(From) == 8, int64_t, int32_t> outside = 0;
      for (int64_t i = 0; i < count; ++i) {
        outside |= std::abs(in[i]) < From(0x1p31) ? 0 : 1;
      }
      if (outside == 0) {
        for (int64_t i = 0; i < count; ++i) {
          out[i] = static_cast<To>(static_cast<int32_t>(in[i]));
        }
      } else {
        for (int64_t i = 0; i < count; ++i) {
          out[i] = TruncateElement<To>(in[i]);
        }
      }
    }
  });
}

#if BATON_HAS_WIDE_LOOPS

// The last ones are converted among zeros, for all to become the same bytes.
template <typename Some, typename From, typename To>
BATON_LOOP inline void ConvertSome(const From* from, int64_t n, To* to) {
  int64_t i = 0;
  for (; i + Some::kWidth <= n; i += Some::kWidth) Some::Run(from + i, to + i);
  if (i == n) return;
  From last[Some::kWidth] = {};
  To converted[Some::kWidth];
  std::copy(from + i, from + n, last);
  Some::Run(last, converted);
  std::copy(converted, converted + (n - i), to + i);
}

template <typename Some, typename From, typename To>
[[gnu::target("avx,f16c")]] void Convert256(const From* from, int64_t n,
                                            To* to) {
  ConvertSome<Some>(from, n, to);
}

template <typename Some, typename From, typename To>
[[gnu::target("avx512f")]] void Convert512(const From* from, int64_t n,
                                           To* to) {
  ConvertSome<Some>(from, n, to);
}

#endif  // BATON_HAS_WIDE_LOOPS

// The unsigned integer of the size of T; floats as they are.
template <typename T, bool kIntegral = std::is_integral_v<T>>
struct UnsignedOf {
  using Type = T;
};
template <typename T>
struct UnsignedOf<T, true> {
  using Type = std::make_unsigned_t<T>;
};
template <typename T>
using Unsigned = typename UnsignedOf<T>::Type;

// Conversions between integers that give the same bits share a loop: those to
// integers of one size, and from wider integers of one size.
template <typename From, typename To>
constexpr bool kKeepsBits = std::is_integral_v<From>&& std::is_integral_v<To> &&
                            sizeof(To) <= sizeof(From);

template <typename From, typename To>
void MapCast(const From* from, int64_t n, To* to) {
  MapRun(from, n, to, [](From v) BATON_LOOP { return static_cast<To>(v); });
}

template <typename From, typename To>
void ConvertElements(const void* from, int64_t n, void* to) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    using Target =
        std::conditional_t<std::is_same_v<To, int64_t>, To, Unsigned<To>>;
    Truncate(static_cast<const From*>(from), n, static_cast<Target*>(to));
  } else if constexpr (!std::is_same_v<From, To>) {
    // A float64 out of the range of float32 is undefined in the language,
    // infinite by IEEE 754, which all our platforms follow.
    using Source =
        std::conditional_t<kKeepsBits<From, To>, Unsigned<From>, From>;
    MapCast(static_cast<const Source*>(from), n,
            static_cast<Unsigned<To>*>(to));
  }
}

template <typename T>
void MapToBool(const T* from, int64_t n, uint8_t* to) {
  MapRun(from, n, to,
         [](T v) BATON_LOOP { return static_cast<uint8_t>(v != T(0)); });
}

template <typename From>
void ConvertToBool(const void* from, int64_t n, void* to) {
  MapToBool(static_cast<const Unsigned<From>*>(from), n,
            static_cast<uint8_t*>(to));
}

template <typename T>
void MapBool(const uint8_t* from, int64_t n, T* to) {
  MapRun(from, n, to,
         [](uint8_t v) BATON_LOOP { return static_cast<T>(v != 0); });
}

template <typename To>
void ConvertBool(const void* from, int64_t n, void* to) {
  MapBool(static_cast<const uint8_t*>(from), n, static_cast<Unsigned<To>*>(to));
}

// Calls fn<T>() for the types that elements are stored as, half floats aside.
template <typename Fn>
absl::Status VisitStored(absl::string_view kernel, DType dtype, Fn&& fn) {
  if (dtype.is_bool()) return fn.template operator()<uint8_t>();
  return VisitNumeric(kernel, dtype, std::forward<Fn>(fn));
}

}  // namespace

absl::StatusOr<Tensor> Convert(absl::string_view kernel, const Tensor& x,
                               DType dtype) {
  if (x.dtype() == dtype) return x;
  if (!dtype.IsStorable()) return UnsupportedDType(kernel, dtype);
  if (x.dtype().is_half() && dtype != DType::Float(32)) {
    BATON_ASSIGN_OR_RETURN(const Tensor wide, WidenHalf(kernel, x));
    return Convert(kernel, wide, dtype);
  }
  if (dtype.is_half() && x.dtype() != DType::Float(32)) {
    BATON_ASSIGN_OR_RETURN(const Tensor wide,
                           Convert(kernel, x, DType::Float(32)));
    return Convert(kernel, wide, dtype);
  }
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Uninitialized(dtype, x.shape()));
  const int64_t n = x.num_elements();
  if (x.dtype().is_half()) {
    WidenHalves(x.dtype(), static_cast<const uint16_t*>(x.data()), n,
                static_cast<float*>(result.data()));
    return std::move(result).Freeze();
  }
  if (dtype.is_half()) {
    NarrowToHalves(dtype, static_cast<const float*>(x.data()), n,
                   static_cast<uint16_t*>(result.data()));
    return std::move(result).Freeze();
  }
  ConvertElements(x.dtype(), x.data(), n, dtype, result.data());
  return std::move(result).Freeze();
}

void ConvertElements(DType from_type, const void* from, int64_t n,
                     DType to_type, void* to) {
  // All storable dtypes are visited.
  VisitStored("convert", from_type, [&]<typename From>() -> absl::Status {
    if (to_type.is_bool()) {
      ConvertToBool<From>(from, n, to);
      return absl::OkStatus();
    }
    return VisitNumeric("convert", to_type, [&]<typename To>() -> absl::Status {
      if constexpr (std::is_same_v<From, uint8_t>) {
        if (from_type.is_bool()) {
          ConvertBool<To>(from, n, to);
          return absl::OkStatus();
        }
      }
      ConvertElements<From, To>(from, n, to);
      return absl::OkStatus();
    });
  }).IgnoreError();
}

void ConvertRun(const int32_t* from, int64_t n, float* to) {
  ConvertElements<int32_t, float>(from, n, to);
}
void ConvertRun(const uint8_t* from, int64_t n, float* to) {
  ConvertElements<uint8_t, float>(from, n, to);
}
void ConvertRun(const int8_t* from, int64_t n, float* to) {
  ConvertElements<int8_t, float>(from, n, to);
}
void ConvertRun(const float* from, int64_t n, int32_t* to) {
  ConvertElements<float, int32_t>(from, n, to);
}
void ConvertRun(const float* from, int64_t n, uint8_t* to) {
  ConvertElements<float, uint8_t>(from, n, to);
}
void ConvertRun(const float* from, int64_t n, int8_t* to) {
  ConvertElements<float, int8_t>(from, n, to);
}

absl::StatusOr<Tensor> WidenHalf(absl::string_view kernel, const Tensor& x) {
  if (!x.dtype().is_half()) return x;
  return Convert(kernel, x, DType::Float(32));
}

void WidenHalves(DType dtype, const uint16_t* from, int64_t n, float* to) {
  if (dtype == DType::BFloat(16)) {
    MapRun(from, n, to, [](uint16_t v) BATON_LOOP { return FromBFloat(v); });
    return;
  }
#if BATON_HAS_WIDE_LOOPS
  if (WidestVectors() == Vectors::k512) {
    return Convert512<FromHalf512>(from, n, to);
  }
  if (HasF16C()) return Convert256<FromHalf256>(from, n, to);
#endif
  MapRun(from, n, to, [](uint16_t v) BATON_LOOP { return FromHalf(v); });
}

void NarrowToHalves(DType dtype, const float* from, int64_t n, uint16_t* to) {
  if (dtype == DType::BFloat(16)) {
    MapRun(from, n, to, [](float v) BATON_LOOP { return ToBFloat(v); });
    return;
  }
#if BATON_HAS_WIDE_LOOPS
  if (WidestVectors() == Vectors::k512) {
    return Convert512<ToHalf512>(from, n, to);
  }
  if (HasF16C()) return Convert256<ToHalf256>(from, n, to);
#endif
  MapRun(from, n, to, [](float v) BATON_LOOP { return ToHalf(v); });
}

}  // namespace baton::kernels::internal
