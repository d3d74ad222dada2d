// Distances between floats, counted in floats.

#ifndef BATON_BASE_ULP_H_
#define BATON_BASE_ULP_H_

#include <cstdint>

#include "baton/base/tensor.h"

namespace baton {

// How many floats of their dtype lie between element `i` (row-major) of `a` and
// of `b`, plus one; 0 if they are equal (as 0 and -0 are). Of integers and
// bools, the difference. The tensors have one dtype; neither element is NaN.
double UlpDistance(const Tensor& a, const Tensor& b, int64_t i);

}  // namespace baton

#endif  // BATON_BASE_ULP_H_
