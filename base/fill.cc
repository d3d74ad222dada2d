#include "baton/base/fill.h"

#include <cstddef>
#include <cstring>
#include <memory>

#include "absl/strings/string_view.h"
#include "baton/base/tensor.h"

namespace baton {

bool IsFill(const Tensor& value) {
  const absl::string_view bytes = value.bytes();
  const auto element = static_cast<size_t>(value.dtype().bytes());
  return element > 0 && bytes.size() >= element &&
         std::memcmp(bytes.data(), bytes.data() + element,
                     bytes.size() - element) == 0;
}

Tensor FirstElement(const Tensor& value, const TensorShape& shape) {
  const auto owner = std::make_shared<const Tensor>(value);
  return *Tensor::FromUnaligned(
      value.dtype(), shape,
      value.bytes().substr(0, static_cast<size_t>(value.dtype().bytes())),
      owner, /*is_mapped=*/false);
}

}  // namespace baton
