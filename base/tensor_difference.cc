#include "baton/base/tensor_difference.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "baton/base/tensor.h"

namespace baton {

std::optional<int64_t> FirstDifferentElement(const Tensor& a, const Tensor& b) {
  if (a == b) return std::nullopt;
  const auto size = static_cast<size_t>(a.dtype().bytes());
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    const size_t at = static_cast<size_t>(i) * size;
    if (a.bytes().substr(at, size) == b.bytes().substr(at, size)) continue;
    if (a.dtype().is_float() && std::isnan(a.AtAsDouble(i)) &&
        std::isnan(b.AtAsDouble(i))) {
      continue;
    }
    return i;
  }
  return std::nullopt;
}

bool HaveSameElements(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         !FirstDifferentElement(a, b).has_value();
}

}  // namespace baton
