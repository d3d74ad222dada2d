#include "baton/runtime/kernels/internal/convert.h"

#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/internal/util.h"

namespace baton::kernels::internal {
namespace {

template <typename To, typename From>
To ConvertElement(From x) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    using Wide =
        std::conditional_t<std::is_same_v<To, uint64_t>, uint64_t, int64_t>;
    // The bounds as floats: the upper one is 2^63 or 2^64, exactly.
    constexpr From kLow = static_cast<From>(std::numeric_limits<Wide>::min());
    constexpr From kHigh = static_cast<From>(std::numeric_limits<Wide>::max());
    if (x != x) return 0;
    if constexpr (std::is_same_v<To, uint64_t>) {
      // A negative value wraps as it does for the narrower types.
      if (x < 0) return static_cast<To>(ConvertElement<int64_t>(x));
    }
    const Wide wide = x >= kHigh  ? std::numeric_limits<Wide>::max()
                      : x <= kLow ? std::numeric_limits<Wide>::min()
                                  : static_cast<Wide>(x);
    return static_cast<To>(wide);
  } else if constexpr (std::is_same_v<To, float> &&
                       std::is_same_v<From, double>) {
    // Out of range is undefined in the language, infinite by IEEE 754, which
    // all our platforms follow.
    return static_cast<float>(x);
  } else {
    return static_cast<To>(x);
  }
}

// Calls fn<T>() for the types that elements are stored as, half floats aside.
template <typename Fn>
absl::StatusOr<Tensor> VisitStored(absl::string_view kernel, DType dtype,
                                   Fn&& fn) {
  if (dtype.is_bool()) return fn.template operator()<uint8_t>();
  return VisitNumeric(kernel, dtype, std::forward<Fn>(fn));
}

}  // namespace

absl::StatusOr<Tensor> Convert(absl::string_view kernel, const Tensor& x,
                               DType dtype) {
  if (x.dtype() == dtype) return x;
  if (!dtype.IsStorable()) return UnsupportedDType(kernel, dtype);
  if (IsHalf(x.dtype()) && dtype != DType::Float(32)) {
    BATON_ASSIGN_OR_RETURN(const Tensor wide, WidenHalf(kernel, x));
    return Convert(kernel, wide, dtype);
  }
  if (IsHalf(dtype) && x.dtype() != DType::Float(32)) {
    BATON_ASSIGN_OR_RETURN(const Tensor wide,
                           Convert(kernel, x, DType::Float(32)));
    return Convert(kernel, wide, dtype);
  }
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Create(dtype, x.shape()));
  const int64_t n = x.num_elements();
  if (IsHalf(x.dtype()) || IsHalf(dtype)) {
    const auto copy = [n](const auto* from, auto* to) {
      using To = std::remove_reference_t<decltype(*to)>;
      for (int64_t i = 0; i < n; ++i) {
        to[i] = static_cast<To>(static_cast<float>(from[i]));
      }
    };
    if (x.dtype() == DType::Float(16)) {
      copy(Data<Float16>(x), static_cast<float*>(result.data()));
    } else if (x.dtype() == DType::BFloat(16)) {
      copy(Data<BFloat16>(x), static_cast<float*>(result.data()));
    } else if (dtype == DType::Float(16)) {
      copy(Data<float>(x), static_cast<Float16*>(result.data()));
    } else {
      copy(Data<float>(x), static_cast<BFloat16*>(result.data()));
    }
    return std::move(result).Freeze();
  }
  return VisitStored(
      kernel, x.dtype(), [&]<typename From>() -> absl::StatusOr<Tensor> {
        const From* from = static_cast<const From*>(x.data());
        if (dtype.is_bool()) {
          uint8_t* to = static_cast<uint8_t*>(result.data());
          for (int64_t i = 0; i < n; ++i) to[i] = from[i] != From(0);
          return std::move(result).Freeze();
        }
        return VisitNumeric(kernel, dtype,
                            [&]<typename To>() -> absl::StatusOr<Tensor> {
                              To* to = static_cast<To*>(result.data());
                              if (x.dtype().is_bool()) {
                                for (int64_t i = 0; i < n; ++i)
                                  to[i] = from[i] != From(0);
                              } else {
                                for (int64_t i = 0; i < n; ++i) {
                                  to[i] = ConvertElement<To>(from[i]);
                                }
                              }
                              return std::move(result).Freeze();
                            });
      });
}

absl::StatusOr<Tensor> WidenHalf(absl::string_view kernel, const Tensor& x) {
  if (!IsHalf(x.dtype())) return x;
  return Convert(kernel, x, DType::Float(32));
}

}  // namespace baton::kernels::internal
