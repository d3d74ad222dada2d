// Parses modules and binds random weights, for tests of this package.

#ifndef BATON_BACKEND_CPU_BOUND_WEIGHTS_H_
#define BATON_BACKEND_CPU_BOUND_WEIGHTS_H_

#include <string>

#include "absl/status/statusor.h"
#include "baton/ir/module.h"

namespace baton::cpu {

// Parses a module. Parameters of @main whose names begin with w become random
// constants. The result has types.
absl::StatusOr<IRModule> WithWeights(const std::string& text);

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_BOUND_WEIGHTS_H_
