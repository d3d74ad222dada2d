// Splits a model of which only a part has known sizes.

#ifndef BATON_BACKEND_CPU_KNOWN_SIZES_H_
#define BATON_BACKEND_CPU_KNOWN_SIZES_H_

#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/ir/type.h"

namespace baton::cpu {

// True if `type` is a tensor, or a tuple of tensors, whose sizes are numbers.
bool HasKnownSizes(const Type& type);

// A module in two parts: `planned.main(x...)` is a tuple of tensors of known
// sizes, and `rest.main(tensors..., x...)` is what the module's main gives.
struct SplitModule {
  IRModule planned;
  IRModule rest;
};

// Splits a typed module whose @main has no plan, since values decide about
// sizes: boxes that a suppression leaves, say. All that needs none of these
// values is planned. NotFound if nothing is.
absl::StatusOr<SplitModule> SplitByKnownSizes(const IRModule& module);

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_KNOWN_SIZES_H_
