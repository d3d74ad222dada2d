// Kernels: the functions that compute calls of operators.

#ifndef BATON_RELAY_RUNTIME_KERNEL_H_
#define BATON_RELAY_RUNTIME_KERNEL_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/runtime/value.h"

namespace baton {

// Computes one call of an operator from the values of its arguments. The
// arguments have the types that the operator's type relation accepts. Errors
// are those that only values show (an index out of range, an integer division
// by zero).
using KernelFn = absl::StatusOr<Value> (*)(const CallNode& call,
                                           absl::Span<const Value> args);

// The kernels of all operators that have one.
OpAttrMap<KernelFn>& Kernels();

}  // namespace baton

#endif  // BATON_RELAY_RUNTIME_KERNEL_H_
