// Splits a model of which only a part has sizes that are known.

#ifndef BATON_BACKEND_CPU_KNOWN_SIZES_H_
#define BATON_BACKEND_CPU_KNOWN_SIZES_H_

#include "absl/status/statusor.h"
#include "baton/ir/module.h"

namespace baton::cpu {

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
