// Quickly removes large constants and unneeded nodes from a failing program.
// triage/reduce.h takes more tests and leaves a smaller program.

#ifndef BATON_TOOLS_DROP_WEIGHTS_H_
#define BATON_TOOLS_DROP_WEIGHTS_H_

#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "baton/ir/module.h"

namespace baton {

struct DropWeightsOptions {
  // Constants with fewer bytes are kept.
  int64_t min_bytes = 256;
  int max_tests = 12;
};

// Replaces large constants of `module` by parameters of `main`, so that `fails`
// is still true: all of them, otherwise as many as a binary search finds.
// Returns `module` itself if there are no large constants, or every test fails
// to reproduce.
absl::StatusOr<IRModule> DropWeights(
    const IRModule& module,
    const std::function<absl::StatusOr<bool>(const IRModule&)>& fails,
    const DropWeightsOptions& options = {});

// Returns the typed `module` with a new `main` that returns one of its nodes:
// the first for which `fails` is true. As many other nodes as possible become
// parameters, with their values. Two binary searches. Returns `module` itself
// if no test reproduces the failure.
absl::StatusOr<IRModule> CutToFailure(
    const IRModule& module,
    const std::function<absl::StatusOr<bool>(const IRModule&)>& fails);

}  // namespace baton

#endif  // BATON_TOOLS_DROP_WEIGHTS_H_
