#include "baton/base/all_finite.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"

namespace baton {

bool AllFinite(const Tensor& tensor) {
  if (tensor.dtype() == DType::Float(32)) {
    const absl::Span<const float> values = tensor.span<float>();
    return std::all_of(values.begin(), values.end(),
                       [](float x) { return std::isfinite(x); });
  }
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    if (!std::isfinite(tensor.AtAsDouble(i))) return false;
  }
  return true;
}

}  // namespace baton
