// Parses modules and binds random weights, for tests of this package.

#ifndef BATON_BACKEND_CPU_BOUND_WEIGHTS_H_
#define BATON_BACKEND_CPU_BOUND_WEIGHTS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"

namespace baton::cpu {

// Random bytes of the shape and dtype of `x`, over the whole range; many are
// the least and the greatest byte. Returns `x` if its elements are not bytes.
Tensor WithAllBytes(const Tensor& x, uint32_t seed);

// Replaces some elements of `x` by numbers that arithmetic treats apart: zeros
// of both signs, infinities, NaN, the smallest and the largest numbers;
// integers at the ends of the ranges of 8, 16 and 32 bits.
Tensor WithSpecialNumbers(const Tensor& x, uint32_t seed);

// Parses a module. Parameters of @main whose names begin with w become random
// constants; bytes have their whole range, and some numbers are special if
// `special`. The result has types.
absl::StatusOr<IRModule> WithWeights(const std::string& text,
                                     bool special = false);

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_BOUND_WEIGHTS_H_
