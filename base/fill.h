// IsFill: finds tensors whose elements are all the same.

#ifndef BATON_BASE_FILL_H_
#define BATON_BASE_FILL_H_

#include "baton/base/tensor.h"

namespace baton {

// Returns true if `value` has elements, and all have the same bits.
bool IsFill(const Tensor& value);

// Returns the first element of `value`, which must have one, as a tensor of
// `shape`, which must have one element. Shares the memory of `value`.
Tensor FirstElement(const Tensor& value, const TensorShape& shape);

}  // namespace baton

#endif  // BATON_BASE_FILL_H_
