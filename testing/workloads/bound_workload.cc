#include "baton/testing/workloads/bound_workload.h"

#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/relay/bind.h"
#include "baton/relay/ir/expr.h"
#include "baton/testing/workloads/workload.h"

namespace baton::testing {

absl::StatusOr<IRModule> BoundWorkload(absl::string_view spec) {
  BATON_ASSIGN_OR_RETURN(Workload workload, GetWorkload(spec));
  BATON_ASSIGN_OR_RETURN(
      relay::Function bound,
      relay::BindParamsByName(workload.module.Find<relay::Function>("main"),
                              workload.params));
  workload.module.Set("main", std::move(bound));
  return std::move(workload.module);
}

}  // namespace baton::testing
