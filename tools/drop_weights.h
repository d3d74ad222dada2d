// Programs without most of what a failure does not need, after few tests;
// triage/reduce.h takes its time and leaves less.

#ifndef BATON_TOOLS_DROP_WEIGHTS_H_
#define BATON_TOOLS_DROP_WEIGHTS_H_

#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "baton/ir/module.h"

namespace baton {

struct DropWeightsOptions {
  // Constants of fewer bytes stay.
  int64_t min_bytes = 256;
  int max_tests = 12;
};

// `module` with parameters of `main` in the place of its large constants: of
// all, or else of as many as a search by halves finds, so that `fails` is true
// of it. `module` itself if there are none, or no test says so.
absl::StatusOr<IRModule> DropWeights(
    const IRModule& module,
    const std::function<absl::StatusOr<bool>(const IRModule&)>& fails,
    const DropWeightsOptions& options = {});

// The typed `module` with a `main` that returns one of its nodes, the first of
// which `fails` is true, and gets as parameters the values of as many nodes as
// it can be given: two searches by halves. `module` itself if no test says so.
absl::StatusOr<IRModule> CutToFailure(
    const IRModule& module,
    const std::function<absl::StatusOr<bool>(const IRModule&)>& fails);

}  // namespace baton

#endif  // BATON_TOOLS_DROP_WEIGHTS_H_
