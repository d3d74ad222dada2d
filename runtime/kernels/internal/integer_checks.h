// Checks of integer operands for which an operator has no result: zero
// divisors, negative exponents, shifts by too many bits.

#ifndef BATON_RUNTIME_KERNELS_INTERNAL_INTEGER_CHECKS_H_
#define BATON_RUNTIME_KERNELS_INTERNAL_INTEGER_CHECKS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "baton/base/tensor.h"

namespace baton::kernels::internal {

// Each returns an error if an element of the right operand `b` is invalid. It
// is OK if `b` is no tensor of integers, or if the left operand `a` has no
// elements.

absl::Status CheckDivisors(absl::string_view kernel, absl::string_view error,
                           const Tensor& a, const Tensor& b);
absl::Status CheckExponents(absl::string_view kernel, const Tensor& a,
                            const Tensor& b);

// Also checks that `a` is a tensor of integers. Amounts are less than the bits
// of an element of `b`.
absl::Status CheckShiftAmounts(absl::string_view kernel, const Tensor& a,
                               const Tensor& b);

}  // namespace baton::kernels::internal

#endif  // BATON_RUNTIME_KERNELS_INTERNAL_INTEGER_CHECKS_H_
