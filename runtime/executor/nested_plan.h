// Runs a plan inside of a step of another plan.

#ifndef BATON_RUNTIME_EXECUTOR_NESTED_PLAN_H_
#define BATON_RUNTIME_EXECUTOR_NESTED_PLAN_H_

#include <cstddef>
#include <cstdint>

#include "baton/runtime/executor/plan.h"

namespace baton::executor {

// The memory that RunNested needs.
int64_t NestedBytes(const Plan& plan);

// Runs all steps of `plan`, at one thread, in `memory` of NestedBytes() bytes,
// which is aligned to kAlignment. Allocates nothing. Returns 0, or the number
// that a step returned.
int RunNested(const Plan& plan, const void* const* inputs, void* const* outputs,
              std::byte* memory, void* user);

}  // namespace baton::executor

#endif  // BATON_RUNTIME_EXECUTOR_NESTED_PLAN_H_
