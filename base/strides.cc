#include "baton/base/strides.h"

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "baton/base/tensor.h"

namespace baton {

TensorShape RowMajorStrides(absl::Span<const int64_t> shape) {
  TensorShape strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    if (shape[i] != 0) stride *= shape[i];
  }
  return strides;
}

}  // namespace baton
