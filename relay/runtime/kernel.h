// Kernels: functions that compute calls of operators.

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
// are those that depend on values (an index out of range, an integer division
// by zero).
using KernelFn = absl::StatusOr<Value> (*)(const CallNode& call,
                                           absl::Span<const Value> args);

// The kernels of all operators that have one.
OpAttrMap<KernelFn>& Kernels();

// Computes the result of the kernel, bit-exact, but may write it to the buffer
// of an argument without other users (MutableTensor::Reuse). This saves memory
// and the time to fill it. Moves from `args`.
using InPlaceKernelFn = absl::StatusOr<Value> (*)(const CallNode& call,
                                                  absl::Span<Value> args);

// The in-place kernels of some operators: elementwise ones, whose result has
// the shape and dtype of an argument.
OpAttrMap<InPlaceKernelFn>& InPlaceKernels();

}  // namespace baton

#endif  // BATON_RELAY_RUNTIME_KERNEL_H_
