// Splits a model of which only a part can have a plan.

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

// Splits a typed module whose @main has no plan: the sizes of some tensors
// depend on values, such as the number of boxes that non-maximum suppression
// selects, or there are branches, references or recursion. `planned` computes
// all that does not depend on such values. NotFound if that is nothing, or if
// @main has a match.
absl::StatusOr<SplitModule> SplitByKnownSizes(const IRModule& module);

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_KNOWN_SIZES_H_
