// Runs functions of loops on small integers, to compare values before and after
// a pass.

#ifndef BATON_TESTING_LOOPS_VALUES_H_
#define BATON_TESTING_LOOPS_VALUES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/tir/interpreter/interpreter.h"
#include "baton/tir/ir/function.h"

namespace baton::testing {

// A tensor of integers from -2 to 2, or from 0 to 2 if unsigned, whose sums of
// products are exact in any order.
absl::StatusOr<Tensor> SmallIntegers(DType dtype,
                                     absl::Span<const int64_t> shape);

// The contents of the buffers and pointers of parameters after a run on small
// integers. Dimensions that are variables are 3.
absl::StatusOr<std::vector<Tensor>> RunOnSmallIntegers(
    const tir::PrimFunc& function, const tir::InterpretOptions& options = {});

// Describes the first buffer whose numbers in `a` and `b` differ; nullopt if
// none does. Floats may differ by `tolerance`, relative to 1 and to the number.
// Zeros of both signs are equal, and so are NaNs.
std::optional<std::string> FirstOtherNumber(absl::Span<const Tensor> a,
                                            absl::Span<const Tensor> b,
                                            double tolerance = 0);

}  // namespace baton::testing

#endif  // BATON_TESTING_LOOPS_VALUES_H_
