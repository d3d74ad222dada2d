// Makes values for the parameters of a function.

#ifndef BATON_TESTING_INPUTS_H_
#define BATON_TESTING_INPUTS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/tensor.h"
#include "baton/relay/runtime/random_inputs.h"

namespace baton::testing {

// See relay/runtime/random_inputs.h.
using baton::relay::RandomInputs;
using baton::relay::RandomTensor;

// The input image for which the logits of ResNet-18 are recorded: element i is
// ((i * 2654435761) mod 2^32) / 2^32 - 0.5 as float32.
absl::StatusOr<Tensor> GoldenImage(absl::Span<const int64_t> shape);

}  // namespace baton::testing

#endif  // BATON_TESTING_INPUTS_H_
