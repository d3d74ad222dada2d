// Distances between floats in units in the last place (ULP).

#ifndef BATON_BASE_ULP_H_
#define BATON_BASE_ULP_H_

#include <cstdint>

#include "baton/base/tensor.h"

namespace baton {

// The number of floats of their dtype between element `i` (row-major) of `a`
// and of `b`, plus one; 0 if the elements are equal (0 equals -0). For integers
// and bools, the difference. `a` and `b` must have one dtype; neither element
// may be NaN.
double UlpDistance(const Tensor& a, const Tensor& b, int64_t i);

}  // namespace baton

#endif  // BATON_BASE_ULP_H_
