// Makes parameters of the weights of a function that plans need in packed form
// alone, so that the weights as they were can be freed.

#ifndef BATON_BACKEND_CPU_LIFTED_WEIGHTS_H_
#define BATON_BACKEND_CPU_LIFTED_WEIGHTS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/backend/cpu/shared_weights.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"

namespace baton::cpu {

// Parameters, and what they stand for.
using LiftedWeights = std::vector<std::pair<Var, Tensor>>;

// Replaces constants of `function` by parameters behind the others. They are
// weights of convolutions and products that have one packed form in `shared`,
// and that nothing else in the module uses. In `shared`, a tensor that has their
// type and the address of the packed form takes their place; results are these
// tensors, whose elements must not be read.
absl::StatusOr<LiftedWeights> LiftWeights(const std::string& function,
                                          SharedWeights& shared,
                                          IRModule& module);

// Replaces the parameters by constants. The result has types.
absl::StatusOr<IRModule> BindWeights(const std::string& function,
                                     const LiftedWeights& weights,
                                     IRModule module);

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_LIFTED_WEIGHTS_H_
