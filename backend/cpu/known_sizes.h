// Splits a model of which only a part has tensors of constant sizes.

#ifndef BATON_BACKEND_CPU_KNOWN_SIZES_H_
#define BATON_BACKEND_CPU_KNOWN_SIZES_H_

#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/ir/type.h"

namespace baton::cpu {

// True if `type` is a tensor, or a tuple of tensors, of constant sizes.
bool HasKnownSizes(const Type& type);

// A module in two parts: `planned.main(x...)` is a tuple of tensors of constant
// sizes, and `rest.main(tensors..., x...)` is the result of the module's main.
struct SplitModule {
  IRModule planned;
  IRModule rest;
};

// Splits a typed module whose @main has no plan, since the sizes of some
// tensors depend on values, such as the number of boxes that non-maximum
// suppression selects. `planned` computes all that does not depend on such
// tensors. NotFound if that is nothing.
absl::StatusOr<SplitModule> SplitByKnownSizes(const IRModule& module);

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_KNOWN_SIZES_H_
