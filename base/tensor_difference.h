// Compares the bits of two tensors.

#ifndef BATON_BASE_TENSOR_DIFFERENCE_H_
#define BATON_BASE_TENSOR_DIFFERENCE_H_

#include <cstdint>
#include <optional>

#include "baton/base/tensor.h"

namespace baton {

// The number, in row-major order, of the first element whose bits differ;
// nullopt if there is none. A NaN equals any other NaN. The tensors have equal
// dtypes and shapes.
std::optional<int64_t> FirstDifferentElement(const Tensor& a, const Tensor& b);

// True if dtypes, shapes and elements are equal, as above.
bool HaveSameElements(const Tensor& a, const Tensor& b);

}  // namespace baton

#endif  // BATON_BASE_TENSOR_DIFFERENCE_H_
