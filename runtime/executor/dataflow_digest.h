// Hashes what a plan computes, regardless of where it keeps values.

#ifndef BATON_RUNTIME_EXECUTOR_DATAFLOW_DIGEST_H_
#define BATON_RUNTIME_EXECUTOR_DATAFLOW_DIGEST_H_

#include <cstdint>

#include "baton/runtime/executor/plan.h"

namespace baton::executor {

// A hash of the terms of the outputs. A term applies a step's function, with
// its parameters and items, to terms, inputs and constants. In one process, two
// plans with equal digests compute equal outputs, provided that no step's
// operand is overwritten before the step reads it. The digest ignores offsets,
// lifetimes, aliases and the order of independent steps. Malformed plans have a
// digest, too.
uint64_t DataflowDigest(const Plan& plan);

}  // namespace baton::executor

#endif  // BATON_RUNTIME_EXECUTOR_DATAFLOW_DIGEST_H_
