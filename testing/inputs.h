// Values for the parameters of a function.

#ifndef BATON_TESTING_INPUTS_H_
#define BATON_TESTING_INPUTS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/ir/dtype.h"
#include "baton/ir/expr.h"
#include "baton/ir/tensor.h"
#include "baton/runtime/value.h"

namespace baton::testing {

// A tensor of random elements: floats uniform in [-1, 1), integers in
// [-8, 8) ([0, 16) if unsigned), bools. The same for the same arguments.
absl::StatusOr<Tensor> RandomTensor(DType dtype,
                                    absl::Span<const int64_t> shape,
                                    uint32_t seed);

// Random values for the parameters of a typed function whose parameters are
// tensors (or tuples of tensors) of static shape.
absl::StatusOr<std::vector<Value>> RandomInputs(const Function& function,
                                                uint32_t seed);

// The image that the recorded logits of ResNet-18 belong to: element i is
// ((i * 2654435761) mod 2^32) / 2^32 - 0.5 as float32.
absl::StatusOr<Tensor> GoldenImage(absl::Span<const int64_t> shape);

}  // namespace baton::testing

#endif  // BATON_TESTING_INPUTS_H_
