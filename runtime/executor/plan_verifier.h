// Verifies a plan of untrusted origin, such as one from a file.

#ifndef BATON_RUNTIME_EXECUTOR_PLAN_VERIFIER_H_
#define BATON_RUNTIME_EXECUTOR_PLAN_VERIFIER_H_

#include "absl/status/status.h"
#include "baton/runtime/executor/plan.h"

namespace baton::executor {

// Follows each byte of the arena through the steps. An error names the step and
// the value:
// - a step reads bytes that were not written, or that hold another value;
// - an operand, a workspace or a value leaves its memory or is misaligned;
// - a step writes over what it reads, other than an input that it may
//   overwrite, or over its other results or its workspace, or writes a constant
//   or an input;
// - an output is not written;
// - arena_lower_bound is not the largest sum of live bytes, arena_bytes is not
//   the end of the last value, or a lifetime is not that of the value's uses;
// - the outputs are not the functions of inputs and constants that they were
//   when the plan was made (dataflow_digest.h).
// So an accepted plan may differ from the planner's only in the order of
// independent steps and in offsets in the arena. It gives the same bytes.
absl::Status VerifyPlan(const Plan& plan);

}  // namespace baton::executor

#endif  // BATON_RUNTIME_EXECUTOR_PLAN_VERIFIER_H_
