// The step that puts an intrinsic in the place of a block.

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/schedule/conditions.h"
#include "baton/tir/schedule/state.h"
#include "baton/tir/schedule/steps.h"

namespace baton::tir {

absl::Status Tensorize(ScheduleState& /*state*/, const Site* site,
                       const PrimFunc& /*desc*/, const PrimFunc& /*impl*/,
                       bool /*preserve_unit_iters*/) {
  return SiteError(
      site, absl::StrCat("no intrinsic can take the place of ",
                         site->Describe(), ": tensorize is not written yet"));
}

}  // namespace baton::tir
