// Random arguments for functions.

#ifndef BATON_RELAY_RUNTIME_RANDOM_INPUTS_H_
#define BATON_RELAY_RUNTIME_RANDOM_INPUTS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/runtime/value.h"

namespace baton::relay {

// The distribution of random floats; that of other dtypes is fixed.
enum class RandomRange {
  // Floats in [-1, 1).
  kPlain,
  // Floats for which deep networks neither overflow nor take roots of negative
  // numbers: in [0.5, 1.5) for vectors and scalars (scales, variances). Other
  // tensors have mean zero and the variance 1 / (product of all extents but the
  // first), so that a dense layer keeps the variance of its input.
  kMild,
};

// A tensor of random elements: floats in [-1, 1), integers in [-8, 8) ([0, 16)
// if unsigned), bools. Equal arguments give equal tensors on every machine.
absl::StatusOr<Tensor> RandomTensor(DType dtype,
                                    absl::Span<const int64_t> shape,
                                    uint32_t seed);

// Random values for the parameters of a typed function. An error if a parameter
// is neither a tensor of static shape nor a tuple of such tensors.
absl::StatusOr<std::vector<Value>> RandomInputs(
    const Function& function, uint32_t seed,
    RandomRange range = RandomRange::kPlain);

}  // namespace baton::relay

#endif  // BATON_RELAY_RUNTIME_RANDOM_INPUTS_H_
