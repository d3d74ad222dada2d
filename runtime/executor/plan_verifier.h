// Checks a plan without trust in who made it.

#ifndef BATON_RUNTIME_EXECUTOR_PLAN_VERIFIER_H_
#define BATON_RUNTIME_EXECUTOR_PLAN_VERIFIER_H_

#include "absl/status/status.h"
#include "baton/runtime/executor/plan.h"

namespace baton::executor {

// Follows each byte of the arena through the steps. An error names the step and
// the value:
// - a step reads bytes that were not written, or that hold another value;
// - an operand, a workspace or a value leaves its memory or is misaligned;
// - a step writes over what it reads, other than a value that overwrites
//   another, or over its other results or its workspace, or writes a constant
//   or an input;
// - an output is not written;
// - arena_lower_bound is not the largest sum of live bytes, or a lifetime is
//   not that of the value's uses.
absl::Status VerifyPlan(const Plan& plan);

}  // namespace baton::executor

#endif  // BATON_RUNTIME_EXECUTOR_PLAN_VERIFIER_H_
