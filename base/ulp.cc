#include "baton/base/ulp.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "baton/base/dtype.h"
#include "baton/base/tensor.h"

namespace baton {
namespace {

// The number of a float in the order of all floats of its type.
template <typename Bits, typename T>
int64_t Ordinal(T value) {
  const Bits bits = std::bit_cast<Bits>(value);
  constexpr Bits kSign = Bits{1} << (8 * sizeof(Bits) - 1);
  const auto magnitude = static_cast<int64_t>(bits & ~kSign);
  return (bits & kSign) != 0 ? -magnitude : magnitude;
}

}  // namespace

double UlpDistance(const Tensor& a, const Tensor& b, int64_t i) {
  const auto distance = [](int64_t x, int64_t y) {
    return std::abs(static_cast<double>(x) - static_cast<double>(y));
  };
  return VisitDType(a.dtype(), [&]<typename T>() {
    const T x = a.span<T>()[i];
    const T y = b.span<T>()[i];
    if constexpr (std::is_same_v<T, float>) {
      return distance(Ordinal<uint32_t>(x), Ordinal<uint32_t>(y));
    } else if constexpr (std::is_same_v<T, double>) {
      return distance(Ordinal<uint64_t>(x), Ordinal<uint64_t>(y));
    } else if constexpr (std::is_same_v<T, Float16> ||
                         std::is_same_v<T, BFloat16>) {
      return distance(Ordinal<uint16_t>(x.bits), Ordinal<uint16_t>(y.bits));
    } else {
      return std::abs(static_cast<double>(x) - static_cast<double>(y));
    }
  });
}

}  // namespace baton
