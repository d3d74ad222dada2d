#include "baton/testing/inputs.h"

#include <cstdint>
#include <utility>

#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"

namespace baton::testing {

absl::StatusOr<Tensor> GoldenImage(absl::Span<const int64_t> shape) {
  BATON_ASSIGN_OR_RETURN(MutableTensor image,
                         MutableTensor::Create(DType::Float(32), shape));
  uint32_t word = 0;
  for (float& x : image.span<float>()) {
    x = static_cast<float>(word / 4294967296.0 - 0.5);
    word += 2654435761u;
  }
  return std::move(image).Freeze();
}

}  // namespace baton::testing
