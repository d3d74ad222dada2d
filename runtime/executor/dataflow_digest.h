// Hashes the functions that a plan computes, without regard to places.

#ifndef BATON_RUNTIME_EXECUTOR_DATAFLOW_DIGEST_H_
#define BATON_RUNTIME_EXECUTOR_DATAFLOW_DIGEST_H_

#include <cstdint>

#include "baton/runtime/executor/plan.h"

namespace baton::executor {

// A hash of the term of each output: applications of step functions, with their
// parameters and items, to inputs and constants. Two plans of one process with
// equal digests compute equal outputs if every step finds its operands in
// memory. Offsets, lifetimes, aliases and the order of independent steps do not
// count. Malformed plans have a digest, too.
uint64_t DataflowDigest(const Plan& plan);

}  // namespace baton::executor

#endif  // BATON_RUNTIME_EXECUTOR_DATAFLOW_DIGEST_H_
