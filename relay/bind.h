// Binds the parameters of a function to values.

#ifndef BATON_RELAY_BIND_H_
#define BATON_RELAY_BIND_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "baton/base/tensor.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

// Returns `function` without the parameters that `params` names; a constant in
// the body replaces each. The tensors share their buffers with `params`.
// Errors: a name of no parameter or of several; a tensor that does not have the
// type of its parameter.
absl::StatusOr<Function> BindParamsByName(const Function& function,
                                          const NamedTensors& params);

// Returns `function` without the parameters in `values`, which replace their
// uses.
Function Bind(const Function& function,
              const absl::flat_hash_map<const VarNode*, Expr>& values);

}  // namespace baton::relay

#endif  // BATON_RELAY_BIND_H_
