// RunApart: runs a pass inside of an instrument.

#ifndef BATON_TRANSFORM_RUN_APART_H_
#define BATON_TRANSFORM_RUN_APART_H_

#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"

namespace baton {

// Runs `pass` in `context` as on a thread of its own: its executions have
// numbers of their own, from 1, are part of no other execution, and do not
// change the numbers of later ones. `context` should have no instruments.
absl::StatusOr<IRModule> RunApart(const Pass& pass, IRModule module,
                                  const PassContext& context);

}  // namespace baton

#endif  // BATON_TRANSFORM_RUN_APART_H_
