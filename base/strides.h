// Strides of dense tensors.

#ifndef BATON_BASE_STRIDES_H_
#define BATON_BASE_STRIDES_H_

#include <cstdint>

#include "absl/types/span.h"
#include "baton/base/tensor.h"

namespace baton {

// The strides, in elements, of a dense tensor of the shape `shape`, whose last
// axis runs fastest. An extent of 0 counts as 1.
TensorShape RowMajorStrides(absl::Span<const int64_t> shape);

}  // namespace baton

#endif  // BATON_BASE_STRIDES_H_
