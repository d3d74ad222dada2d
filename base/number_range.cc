#include "baton/base/number_range.h"

#include <cmath>
#include <limits>
#include <optional>

#include "baton/base/dtype.h"

namespace baton {

std::optional<NumberRange> FiniteRange(DType dtype) {
  if (dtype.is_int()) {
    const double end = std::ldexp(1.0, dtype.bits() - 1);
    return NumberRange{-end, end - 1};
  }
  if (dtype.is_uint()) {
    return NumberRange{0, std::ldexp(1.0, dtype.bits()) - 1};
  }
  if (!dtype.is_float()) return std::nullopt;
  double high = 0;
  if (dtype.code() == DType::Code::kBFloat) {
    high = 0x1.fep127;
  } else if (dtype.bits() == 16) {
    high = 65504;
  } else if (dtype.bits() == 32) {
    high = std::numeric_limits<float>::max();
  } else if (dtype.bits() == 64) {
    high = std::numeric_limits<double>::max();
  } else {
    return std::nullopt;
  }
  return NumberRange{-high, high};
}

double LowestFinite(DType dtype) {
  std::optional<NumberRange> range = FiniteRange(dtype);
  if (!range.has_value()) range = FiniteRange(DType::Float(32));
  return range->low;
}

}  // namespace baton
