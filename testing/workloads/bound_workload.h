// Workloads with their weights as constants.

#ifndef BATON_TESTING_WORKLOADS_BOUND_WORKLOAD_H_
#define BATON_TESTING_WORKLOADS_BOUND_WORKLOAD_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"

namespace baton::testing {

// The workload that `spec` names (workload.h). The constants have types, the
// calls of operators do not: InferTypes makes the module typed.
absl::StatusOr<IRModule> BoundWorkload(absl::string_view spec);

}  // namespace baton::testing

#endif  // BATON_TESTING_WORKLOADS_BOUND_WORKLOAD_H_
