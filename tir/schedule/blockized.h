// Puts a loop and the block in it into an outer block: the step `blockize`, and
// the first part of steps that need a block in place of a loop.

#ifndef BATON_TIR_SCHEDULE_BLOCKIZED_H_
#define BATON_TIR_SCHEDULE_BLOCKIZED_H_

#include "absl/status/statusor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/schedule/state.h"

namespace baton::tir {

// The statement that can take the place of `loop`, which must have one block in
// it: a block around the loop, with the variables' values divided between both
// blocks. With `preserve_unit_iters`, variables of extent 1 stay variables.
absl::StatusOr<BlockRealize> MakeBlockized(const ScheduleState& state,
                                           const Site* loop,
                                           bool preserve_unit_iters);

}  // namespace baton::tir

#endif  // BATON_TIR_SCHEDULE_BLOCKIZED_H_
