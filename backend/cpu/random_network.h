// Random networks of the operators that models have, as text, for comparisons
// of the executor with the evaluator.
//
//   BATON_ASSERT_OK_AND_ASSIGN(const RandomNetwork network,
//                              MakeRandomNetwork(seed, {}));
//   BATON_ASSERT_OK_AND_ASSIGN(const IRModule module,
//                              cpu::WithWeights(network.text));
//
// Tensors have few elements, of odd extents. Operators must be linked in
// (//relay/op:all_ops).

#ifndef BATON_BACKEND_CPU_RANDOM_NETWORK_H_
#define BATON_BACKEND_CPU_RANDOM_NETWORK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace baton::cpu {

struct RandomNetworkOptions {
  // The spatial dimensions of the first tensor, of shape (batch, channels,
  // spatial...): 1 to 3, or 0 for a sequence of vectors (batch, length, width).
  int spatial_dims = 2;
  // If true, the first tensor has bytes, and convolutions and products of bytes
  // and quantizations are among the operators.
  bool has_bytes = false;
  // The type of floats.
  std::string float_type = "float32";
  // The number of operators that are tried; some of them do not fit.
  int size = 16;
};

struct RandomNetwork {
  // A module whose @main has weights %w0, %w1, ... among its parameters
  // (bound_weights.h).
  std::string text;
  // The forms of calls in the module, as `conv` or `pool`, each as often as it
  // is there.
  std::vector<std::string> forms;
};

// Equal arguments give equal networks on every machine.
absl::StatusOr<RandomNetwork> MakeRandomNetwork(
    uint32_t seed, const RandomNetworkOptions& options);

// The names of all forms of calls for the options.
std::vector<std::string> RandomNetworkForms(
    const RandomNetworkOptions& options);

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_RANDOM_NETWORK_H_
